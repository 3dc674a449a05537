import type { Adapter, VendorCall } from '../../adapter.ts';
import { faultReader } from '../fault.ts';
import { readStreamed } from '../reply.ts';
import { readCompletion, CompletionCollector, completionParts } from './response.ts';
import { completionRequest, type CompletionQuirks } from './request.ts';
import { CompletionsStream } from './stream.ts';

/**
 * The wire format of OpenAI's text completions (developers.openai.com/api/reference/completions,
 * 2026-08): the client's bytes, except for the model and members that metering needs.
 */
export function openaiCompletions(quirks: CompletionQuirks = {}): Adapter {
  const { faults } = quirks;
  const stream = (call: VendorCall): CompletionsStream => new CompletionsStream(call, faults);
  return {
    ask: (call) => completionRequest(call, quirks),
    read(reply, contentType, call) {
      if (!/event-stream/i.test(contentType)) return readCompletion(reply, call, faults);
      return readStreamed(reply, new CompletionCollector(call, stream));
    },
    stream,
    split: quirks.onePrompt === true ? completionParts : undefined,
    collect: (call) => new CompletionCollector(call, stream),
    fault: faultReader(faults),
  };
}
