import type { Adapter, VendorCall, MediaReference } from '../../adapter.ts';
import { readMessage } from './response.ts';
import {
  messagesRequest,
  type MessagesHost,
  unsignedMessages,
  messagesUsesHiddenTool,
} from './request.ts';
import type { ChatRequest } from '../openai-chat/types.ts';
import { messagesFault } from './fault.ts';
import { MessagesReader } from './stream.ts';
import { ChatCollector } from '../../conversation/chat-collector.ts';
import { TranslatedStream } from '../../conversation/chat-stream.ts';
import { blankStops } from '../../conversation/stop-text.ts';
import { readStreamed } from '../reply.ts';

/**
 * The wire format `anthropic-messages` (platform.claude.com/docs/en/api/messages, 2026-11) for
 * clients of OpenAI's chat.
 */
export function anthropicMessages(host: MessagesHost = {}): Adapter {
  const stream = (call: VendorCall<ChatRequest>): TranslatedStream =>
    new TranslatedStream(
      call,
      (_, chunks, meter) => new MessagesReader(chunks, meter, messagesUsesHiddenTool(call, host)),
      undefined,
      blankStops(call.body.stop),
    );
  return {
    ask: (call) => messagesRequest(call, host),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType))
        return readMessage(reply, call, messagesUsesHiddenTool(call, host));
      return readStreamed(reply, new ChatCollector(call, stream));
    },
    stream,
    collect: (call) => new ChatCollector(call, stream),
    readsMessagesOptions: ['budget'],
    readsResultErrors: () => true,
    needsBytes: (medium) => host.fetches === false || !isFetched(medium),
    unsigned: (call) => unsignedMessages(call, host),
    fault: messagesFault,
  };
}

/**
 * Claude fetches https addresses only, and of files only PDFs: an address or name that ends
 * otherwise is not fetched (platform.claude.com/docs/en/build-with-claude/pdf-support and /vision,
 * 2026-11).
 */
const noPdf = /\.(?:txt|md|csv|json|xml|html?|ya?ml|docx?|xlsx?|png|jpe?g|gif|webp)(?:[?#].*)?$/i;

const isFetched = ({ url, kind, name }: MediaReference): boolean =>
  /^https:/i.test(url) && (kind !== 'file' || !noPdf.test(name ?? url));
