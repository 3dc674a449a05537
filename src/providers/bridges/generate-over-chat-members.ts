import { type Documented, type JsonObject, objectOf, objectsOf, textOf } from '../../base/json.ts';
import type { Citation } from '../conversation/citations.ts';
import type { ChatLogprobs } from '../formats/openai-chat/types.ts';

/**
 * Citations as `groundingMetadata`, whose offsets count bytes of the text
 * (ai.google.dev/api/generate-content#GroundingMetadata, 2026-11). Undefined without citations.
 */
export function groundingOf(cited: readonly Citation[], text: string): JsonObject | undefined {
  if (cited.length === 0) return undefined;
  const pages = [...new Map(cited.map(({ url, title }) => [url, title]))];
  const points = [...text];
  const bytesTo = (end: number): number => Buffer.byteLength(points.slice(0, end).join(''));
  return {
    groundingChunks: pages.map(([uri, title]) => ({ web: { uri, title } })),
    groundingSupports: cited.map(({ url, start, end }) => ({
      segment: {
        startIndex: bytesTo(start),
        endIndex: bytesTo(end),
        text: points.slice(start, end).join(''),
      },
      groundingChunkIndices: [pages.findIndex(([uri]) => uri === url)],
    })),
  };
}

/** Chat's logprobs as `logprobsResult`; undefined without any. */
export function logprobsResultOf(value: unknown): JsonObject | undefined {
  const told: Documented<ChatLogprobs> | undefined = objectOf(value);
  const tokens = objectsOf(told?.content);
  if (tokens.length === 0) return undefined;
  const candidate = (token: unknown, logprob: unknown): JsonObject => ({
    token: textOf(token) ?? '',
    logProbability: logprob,
  });
  return {
    chosenCandidates: tokens.map(({ token, logprob }) => candidate(token, logprob)),
    topCandidates: tokens.map(({ top_logprobs: top }) => ({
      candidates: objectsOf(top).map(({ token, logprob }) => candidate(token, logprob)),
    })),
  };
}
