import type { Adapter, VendorCall } from '../../adapter.ts';
import { ChatCollector } from '../../conversation/chat-collector.ts';
import { readChatResponse } from './response.ts';
import { supportTable } from '../../support/rules.ts';
import { unsupportedInChat } from '../../support/unsupported.ts';
import { stopsToWatch } from '../../support/fit.ts';
import { chatRequest } from './request.ts';
import { faultOf } from '../fault.ts';
import type { ChatQuirks } from './quirks.ts';
import { ChatStream } from './stream.ts';

/**
 * The wire format `openai-chat`: OpenAI's chat completions (wire-formats §1.1) with a vendor's
 * departures as data.
 */
export function openaiChat(quirks: ChatQuirks = {}): Adapter {
  const rulesOf = supportTable(quirks.takes ?? [], unsupportedInChat);
  const stops = (call: VendorCall) =>
    call.body['stop'] == null
      ? undefined
      : stopsToWatch(call.body, rulesOf(call.upstreamModel).stops);
  const stream = (call: VendorCall): ChatStream => new ChatStream(call, quirks, stops(call));
  const { readsAddresses = ['image', 'video'] } = quirks;
  return {
    ask: (call) => chatRequest(call, quirks, rulesOf(call.upstreamModel)),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType))
        return readChatResponse(reply, call, quirks, stops(call));
      // The vendor streamed although the request did not ask for it.
      const collector = new ChatCollector(call, stream);
      collector.push(reply);
      const answer = collector.answer();
      return collector.meter.fault ?? answer;
    },
    stream,
    collect: (call) => new ChatCollector(call, stream),
    needsBytes: ({ kind }) => !readsAddresses.includes(kind),
    fault: (status, headers, reply) => faultOf(status, headers, reply, quirks),
  };
}
