import type { Adapter } from '../adapter.ts';
import { readAnswer } from './openai-chat-answer.ts';
import { askChat } from './openai-chat-ask.ts';
import { ChatCollector } from './openai-chat-collect.ts';
import { faultOf } from './openai-chat-fault.ts';
import type { Quirks } from './openai-chat-quirks.ts';
import { ChatStream } from './openai-chat-stream.ts';

/** The wire format `openai-chat`: OpenAI's chat completions (wire-formats §1.1) with a vendor's departures as data. */
export function openaiChat(quirks: Quirks = {}): Adapter {
  return {
    ask: (call) => askChat(call, quirks),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readAnswer(reply, call, quirks);
      // A vendor that streams unasked.
      const collector = new ChatCollector(call, quirks);
      collector.push(reply);
      const answer = collector.answer();
      return collector.meter.fault ?? answer;
    },
    stream: (call) => new ChatStream(call, quirks),
    collect: (call) => new ChatCollector(call, quirks),
    fault: (status, headers, reply) => faultOf(status, headers, reply, quirks),
  };
}
