import type { Adapter, Call } from '../adapter.ts';
import { ChatCollector } from './chat-collect.ts';
import { readAnswer } from './openai-chat-answer.ts';
import { tableOf } from '../takes/rules.ts';
import { untakenInChat } from '../takes/untaken.ts';
import { watchedStops } from '../takes/chat.ts';
import { askChat } from './openai-chat-ask.ts';
import { faultOf } from './openai-chat-fault.ts';
import type { Quirks } from './openai-chat-quirks.ts';
import { ChatStream } from './openai-chat-stream.ts';

/**
 * The wire format `openai-chat`: OpenAI's chat completions (wire-formats §1.1) with a vendor's
 * departures as data.
 */
export function openaiChat(quirks: Quirks = {}): Adapter {
  const rulesOf = tableOf(quirks.takes ?? [], untakenInChat);
  const stops = (call: Call) =>
    call.body['stop'] == null
      ? undefined
      : watchedStops(call.body, rulesOf(call.upstreamModel).stops);
  const stream = (call: Call): ChatStream => new ChatStream(call, quirks, stops(call));
  const { readsAddresses = ['image', 'video'] } = quirks;
  return {
    ask: (call) => askChat(call, quirks, rulesOf(call.upstreamModel)),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readAnswer(reply, call, quirks, stops(call));
      // A vendor that streams unasked.
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
