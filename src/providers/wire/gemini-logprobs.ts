import { isObject, type JsonObject, listOf, objectOf, textOf } from './json.ts';

function token(candidate: JsonObject): object {
  const text = textOf(candidate['token']) ?? '';
  const logprob = candidate['logProbability'];
  return {
    token: text,
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: [...Buffer.from(text)],
  };
}

/**
 * `logprobsResult` as a choice's `logprobs` (developers.openai.com/api/reference/chat-completions,
 * 2026-08).
 */
export function logprobsOf(result: JsonObject | undefined): object | undefined {
  const chosen = listOf(result?.['chosenCandidates']).filter(isObject);
  if (chosen.length === 0) return undefined;
  const top = listOf(result?.['topCandidates']);
  const content = chosen.map((candidate, i) => ({
    ...token(candidate),
    top_logprobs: listOf(objectOf(top[i])?.['candidates']).filter(isObject).map(token),
  }));
  return { content, refusal: null };
}
