import type { Measure, Quantities } from '../../base/quantities.ts';
import { type JsonObject, objectOf } from './json.ts';
import { readUsage } from './openai-chat-usage.ts';

/** A response's `usage` (wire-formats §1.7). It counts as chat does under other names, so that the same corrections hold. */
export function responsesQuantities(usage: JsonObject | undefined): Quantities | undefined {
  if (usage === undefined) return undefined;
  const input = usage['input_tokens_details'] ?? usage['prompt_tokens_details'];
  const output = usage['output_tokens_details'] ?? usage['completion_tokens_details'];
  const asChat = {
    prompt_tokens: usage['input_tokens'],
    completion_tokens: usage['output_tokens'],
    total_tokens: usage['total_tokens'],
    ...(objectOf(input) && { prompt_tokens_details: input }),
    ...(objectOf(output) && { completion_tokens_details: output }),
  };
  return readUsage(JSON.stringify(asChat))?.quantities;
}

const inputs: readonly Measure[] = ['input', 'cached_input', 'cache_write_5m', 'cache_write_1h', 'audio_input', 'image_input'];
const outputs: readonly Measure[] = ['output', 'reasoning', 'audio_output', 'image_output'];

/** The `usage` of a response for quantities. */
export function responsesUsage(quantities: Quantities): JsonObject {
  const sum = (of: readonly Measure[]): number => of.reduce((total, measure) => total + (quantities[measure] ?? 0), 0);
  const input = sum(inputs);
  const output = sum(outputs);
  const written = (quantities.cache_write_5m ?? 0) + (quantities.cache_write_1h ?? 0);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: quantities.cached_input ?? 0, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: quantities.reasoning ?? 0 },
    total_tokens: input + output,
  };
}
