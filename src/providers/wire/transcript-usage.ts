import type { Quantities } from '../../base/quantities.ts';
import { countOf, type JsonObject, numberOf, objectOf } from './json.ts';

/**
 * Longer than any recording that is taken: a figure beyond it is a vendor's mistake, and money must
 * not move by it.
 */
const secondsMax = 7 * 24 * 3600;

export const secondsOf = (value: unknown): number | undefined => {
  const seconds = numberOf(value);
  return seconds !== undefined && seconds >= 0 && seconds <= secondsMax ? seconds : undefined;
};

/**
 * What an answer in OpenAI's shape tells of its cost: `usage` in tokens or seconds (OpenAI;
 * Mistral's `prompt_audio_seconds`, recorded 2026-08), or the length of the recording beside the
 * text (Groq, Venice, recorded 2026-08). Undefined when it tells nothing.
 */
export function transcriptQuantities(answer: JsonObject): Quantities | undefined {
  const usage = objectOf(answer['usage']) ?? {};
  const second =
    secondsOf(usage['seconds']) ??
    secondsOf(usage['prompt_audio_seconds']) ??
    secondsOf(answer['duration']);
  const all = countOf(usage['input_tokens']) ?? countOf(usage['prompt_tokens']);
  const output = countOf(usage['output_tokens']) ?? countOf(usage['completion_tokens']);
  const details =
    objectOf(usage['input_token_details']) ?? objectOf(usage['prompt_tokens_details']) ?? {};
  // Mistral counts its audio tokens beside the prompt's, OpenAI within them.
  const audio = countOf(details['audio_tokens']) ?? 0;
  const told = {
    ...(second === undefined ? {} : { second }),
    ...(all === undefined ? {} : { input: all >= audio ? all - audio : all, audio_input: audio }),
    ...(output === undefined ? {} : { output }),
  };
  return Object.keys(told).length === 0 ? undefined : told;
}
