import type { Call, Inquiry } from '../adapter.ts';
import { countOf, objectOf, parse } from '../wire/json.ts';
import { protocolFault } from '../wire/openai-chat-fault.ts';
import type { ChatCount } from '../wire/chat-count.ts';
import { messagesAsChat } from './messages-over-chat.ts';
import { responsesAsChat } from './responses-over-chat.ts';

/**
 * What clients of other formats are told of a vendor that counts the tokens of its own. `marks`: it
 * reads `cache_control`.
 */
export function countsOverChat(
  count: ChatCount,
  marks = false,
): Readonly<Record<'messages' | 'responses', Inquiry>> {
  return {
    messages: inquiry(
      count,
      (call) => messagesAsChat(call, marks),
      (tokens) => ({ input_tokens: tokens }),
    ),
    responses: inquiry(count, responsesAsChat, (tokens) => ({
      object: 'response.input_tokens',
      input_tokens: tokens,
    })),
  };
}

function inquiry(
  count: ChatCount,
  toChat: (call: Call) => Call,
  render: (tokens: number) => object,
): Inquiry {
  return {
    ask: (call) => count.ask(toChat(call)),
    read(reply) {
      const tokens = countOf(objectOf(parse(reply.toString('utf8')))?.[count.member]);
      if (tokens === undefined) return protocolFault('a count that tells no tokens');
      return {
        body: Buffer.from(JSON.stringify(render(tokens))),
        quantities: undefined,
        upstreamId: undefined,
        outputText: '',
      };
    },
    fault: count.fault,
  };
}
