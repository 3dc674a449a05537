import type { Measure, Quantities } from '../../base/quantities.ts';
import { countOf, isObject, listOf, objectOf } from './json.ts';

/**
 * Converse counts what was read from and written to the cache outside `inputTokens`
 * (docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html, 2026-08). Undefined
 * when it counts nothing.
 */
export function converseQuantities(value: unknown): Quantities | undefined {
  const usage = objectOf(value);
  if (!usage) return undefined;
  const input = countOf(usage['inputTokens']);
  const output = countOf(usage['outputTokens']);
  if (input === undefined && output === undefined) return undefined;
  const written = countOf(usage['cacheWriteInputTokens']) ?? 0;
  const long = listOf(usage['cacheDetails'])
    .filter(isObject)
    .filter(({ ttl }) => ttl === '1h');
  const hour = Math.min(
    written,
    long.reduce((sum, { inputTokens }) => sum + (countOf(inputTokens) ?? 0), 0),
  );
  const counts: [Measure, number][] = [
    ['input', input ?? 0],
    ['cached_input', countOf(usage['cacheReadInputTokens']) ?? 0],
    ['cache_write_5m', written - hour],
    ['cache_write_1h', hour],
    ['output', output ?? 0],
  ];
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
