import type { Measure, Quantities } from '../../base/quantities.ts';
import type { JsonObject } from './json.ts';

const inputs: readonly Measure[] = [
  'input',
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'audio_input',
  'image_input',
];
const outputs: readonly Measure[] = ['output', 'reasoning', 'audio_output', 'image_output'];

/** The `usage` of a response for quantities. */
export function responsesUsage(quantities: Quantities): JsonObject {
  const sum = (of: readonly Measure[]): number =>
    of.reduce((total, measure) => total + (quantities[measure] ?? 0), 0);
  const input = sum(inputs);
  const output = sum(outputs);
  const written = (quantities.cache_write_5m ?? 0) + (quantities.cache_write_1h ?? 0);
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: quantities.cached_input ?? 0,
      cache_write_tokens: written,
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: quantities.reasoning ?? 0 },
    total_tokens: input + output,
  };
}
