import type { Measure, Quantities } from '../../base/quantities.ts';
import { countOf, type JsonObject, listOf, objectOf } from './json.ts';

/** Tokens of one modality in a list of details. */
function modality(details: unknown, name: string): number {
  const detail = listOf(details)
    .map(objectOf)
    .find((one) => one?.['modality'] === name);
  return countOf(detail?.['tokenCount']) ?? 0;
}

/**
 * What `usageMetadata` counts, in disjoint measures. Its traps (wire-formats §4.6): the prompt
 * holds what came from the cache and lacks what tools read, the candidates lack the thoughts, and
 * the details by modality count cached tokens once more.
 */
export function geminiQuantities(usage: JsonObject): Quantities {
  const count = (member: string): number => countOf(usage[member]) ?? 0;
  const into: Partial<Record<Measure, number>> = {};
  const take = (measure: Measure, tokens: number, left: number): number => {
    const taken = Math.max(0, Math.min(tokens, left));
    if (taken > 0) into[measure] = taken;
    return left - taken;
  };
  const fresh = (name: string): number =>
    modality(usage['promptTokensDetails'], name) - modality(usage['cacheTokensDetails'], name);
  let input = count('promptTokenCount');
  input = take('cached_input', count('cachedContentTokenCount'), input);
  input = take('audio_input', fresh('AUDIO'), input);
  input = take('image_input', fresh('IMAGE'), input);
  take('input', input + count('toolUsePromptTokenCount'), Number.POSITIVE_INFINITY);
  let output = count('candidatesTokenCount');
  output = take('audio_output', modality(usage['candidatesTokensDetails'], 'AUDIO'), output);
  output = take('image_output', modality(usage['candidatesTokensDetails'], 'IMAGE'), output);
  take('output', output, output);
  take('reasoning', count('thoughtsTokenCount'), Number.POSITIVE_INFINITY);
  return into;
}
