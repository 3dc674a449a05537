import type { Adapter, Call } from '../adapter.ts';
import { faultOf } from './openai-chat-fault.ts';
import { readCompletion } from './openai-completions-answer.ts';
import { askCompletion, type CompletionQuirks } from './openai-completions-ask.ts';
import { CompletionCollector } from './openai-completions-collect.ts';
import { completionParts } from './openai-completions-parts.ts';
import { CompletionStream } from './openai-completions-stream.ts';

/**
 * The wire format of OpenAI's text completions (wire-formats §1.2): the client's bytes but for the
 * model and what metering needs.
 */
export function openaiCompletions(quirks: CompletionQuirks = {}): Adapter {
  const faults = quirks.faults ? { faults: quirks.faults } : {};
  const stream = (call: Call): CompletionStream => new CompletionStream(call, faults);
  return {
    ask: (call) => askCompletion(call, quirks),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readCompletion(reply, call, faults);
      // A vendor that streams unasked.
      const collector = new CompletionCollector(call, stream);
      collector.push(reply);
      const answer = collector.answer();
      return collector.meter.fault ?? answer;
    },
    stream,
    parts: quirks.onePrompt === true ? completionParts : undefined,
    collect: (call) => new CompletionCollector(call, stream),
    fault: (status, headers, reply) => faultOf(status, headers, reply, faults),
  };
}
