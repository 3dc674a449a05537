import type { Measure, Quantities } from '../../base/quantities.ts';

const inputs: readonly Measure[] = [
  'input',
  'cached_input',
  'cache_write_5m',
  'cache_write_1h',
  'audio_input',
  'image_input',
];
const outputs: readonly Measure[] = ['output', 'reasoning', 'audio_output', 'image_output'];

/** The client's `usage` for quantities that we counted ourselves. */
export function usageText(quantities: Quantities): string {
  const sum = (of: readonly Measure[]): number =>
    of.reduce((total, measure) => total + (quantities[measure] ?? 0), 0);
  const prompt = sum(inputs);
  const completion = sum(outputs);
  const writes = sum(['cache_write_5m', 'cache_write_1h']);
  return JSON.stringify({
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: quantities.cached_input ?? 0,
      ...(writes > 0 ? { cache_write_tokens: writes } : {}),
      audio_tokens: quantities.audio_input ?? 0,
    },
    completion_tokens_details: {
      reasoning_tokens: quantities.reasoning ?? 0,
      audio_tokens: quantities.audio_output ?? 0,
    },
  });
}
