import type { Adapter, Call, Medium } from '../adapter.ts';
import { readMessage } from './anthropic-messages-answer.ts';
import {
  askMessages,
  type MessagesHost,
  unsignedMessages,
  usesHiddenTool,
} from './anthropic-messages-ask.ts';
import { messagesFault } from './anthropic-messages-fault.ts';
import { MessagesReader } from './anthropic-messages-stream.ts';
import { ChatCollector } from './chat-collect.ts';
import { TranslatedStream } from './chat-stream.ts';
import { blankStops } from './stop-text.ts';

/**
 * The wire format `anthropic-messages` (wire-formats §4.1 to §4.3) for clients of OpenAI's chat.
 */
export function anthropicMessages(host: MessagesHost = {}): Adapter {
  const stream = (call: Call): TranslatedStream =>
    new TranslatedStream(
      call,
      (_, chunks, meter) => new MessagesReader(chunks, meter, usesHiddenTool(call, host)),
      undefined,
      blankStops(call.body['stop']),
    );
  return {
    ask: (call) => askMessages(call, host),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType))
        return readMessage(reply, call, usesHiddenTool(call, host));
      const collector = new ChatCollector(call, stream);
      collector.push(reply);
      const answer = collector.answer();
      return collector.meter.fault ?? answer;
    },
    stream,
    collect: (call) => new ChatCollector(call, stream),
    reads: ['budget'],
    needsBytes: (medium) => host.fetches === false || !isFetched(medium),
    unsigned: (call) => unsignedMessages(call, host),
    fault: messagesFault,
  };
}

/**
 * Nothing without TLS, and of files only PDFs: an address that says that it is none is not fetched
 * (platform.claude.com/docs/en/build-with-claude/pdf-support and /vision, 2026-11).
 */
const noPdf = /\.(?:txt|md|csv|json|xml|html?|ya?ml|docx?|xlsx?|png|jpe?g|gif|webp)(?:[?#].*)?$/i;

const isFetched = ({ url, kind, name }: Medium): boolean =>
  /^https:/i.test(url) && (kind !== 'file' || !noPdf.test(name ?? url));
