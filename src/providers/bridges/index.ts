import { countOf, objectOf, parse } from '../../base/json.ts';
import type { VendorCall, BaseAdapter } from '../adapter.ts';
import type { ChatCount } from '../formats/adapters.ts';
import { protocolFault } from '../formats/fault.ts';
import type { VendorAdapters, Vendor } from '../vendor.ts';
import { compactOverResponses } from './compact-over-responses.ts';
import { completionsOverChat } from './completions-over-chat.ts';
import { embedOverEmbeddings } from './embed-over-embeddings.ts';
import { generateAsChat, generateOverChat } from './generate-over-chat.ts';
import { messagesOverChat, messagesAsChat } from './messages-over-chat.ts';
import { responsesOverChat, responsesAsChat } from './responses-over-chat.ts';

/**
 * The vendor's own adapters, and bridges over its chat for the other formats. Made once per
 * channel.
 */
export function adaptersOf({ adapters: speaks, readsCacheMarks = false }: Vendor): VendorAdapters {
  const { chat, embeddings } = speaks;
  const vectors = embeddings && { embed_content: embedOverEmbeddings(embeddings) };
  if (chat === undefined) return vectors === undefined ? speaks : { ...vectors, ...speaks };
  const responses = speaks.responses ?? responsesOverChat(chat, readsCacheMarks);
  return {
    messages: messagesOverChat(chat, readsCacheMarks),
    responses,
    compact: compactOverResponses(responses),
    completions: completionsOverChat(chat),
    generate_content: generateOverChat(chat),
    ...vectors,
    ...speaks,
  };
}

/**
 * Token counts in other client formats, for a vendor that counts the tokens of its own format.
 * `marks`: the vendor reads `cache_control`.
 */
export function countsOverChat(
  count: ChatCount,
  marks = false,
): Readonly<Record<'messages' | 'responses' | 'generate_content', BaseAdapter>> {
  return {
    messages: counterOver(
      count,
      (call) => messagesAsChat(call, marks),
      (tokens) => ({ input_tokens: tokens }),
    ),
    responses: counterOver(
      count,
      (call) => responsesAsChat(call, marks),
      (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
    ),
    generate_content: counterOver(count, generateAsChat, (tokens) => ({ totalTokens: tokens })),
  };
}

function counterOver(
  count: ChatCount,
  toChat: (call: VendorCall) => VendorCall,
  render: (tokens: number) => object,
): BaseAdapter {
  return {
    ask: (call) => count.ask(toChat(call)),
    read(reply) {
      const tokens = countOf(objectOf(parse(reply.toString('utf8')))?.[count.member]);
      if (tokens === undefined) return protocolFault('a count that tells no tokens');
      const body = Buffer.from(JSON.stringify(render(tokens)));
      return { body, quantities: undefined, upstreamId: undefined, outputText: '' };
    },
    fault: count.fault,
  };
}
