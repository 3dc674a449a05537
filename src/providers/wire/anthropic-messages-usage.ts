import type { Quantities } from '../../base/quantities.ts';
import { countOf, type JsonObject, objectOf } from './json.ts';

/** A message's `usage` as the vendor tells it, in pieces while it streams. */
export interface Counts {
  input: number | undefined;
  cacheRead: number;
  cacheWrite: number;
  /** The part of `cacheWrite` that stays for an hour. */
  cacheWriteHour: number;
  output: number | undefined;
  thinking: number;
}

export const counts = (): Counts => ({
  input: undefined,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWriteHour: 0,
  output: undefined,
  thinking: 0,
});

/** Takes what this `usage` tells; a later one of the same message overrides an earlier one (platform.claude.com/docs/en/build-with-claude/streaming, 2026-11). */
export function note(into: Counts, usage: JsonObject | undefined): void {
  if (!usage) return;
  into.input = countOf(usage['input_tokens']) ?? into.input;
  into.cacheRead = countOf(usage['cache_read_input_tokens']) ?? into.cacheRead;
  into.cacheWrite = countOf(usage['cache_creation_input_tokens']) ?? into.cacheWrite;
  into.cacheWriteHour =
    countOf(objectOf(usage['cache_creation'])?.['ephemeral_1h_input_tokens']) ??
    into.cacheWriteHour;
  into.output = countOf(usage['output_tokens']) ?? into.output;
  into.thinking =
    countOf(objectOf(usage['output_tokens_details'])?.['thinking_tokens']) ?? into.thinking;
}

/** Disjoint: `input_tokens` leaves the cache out, `output_tokens` holds the thinking. Undefined while the vendor has not counted the output. */
export function quantitiesOf({
  input,
  cacheRead,
  cacheWrite,
  cacheWriteHour,
  output,
  thinking,
}: Counts): Quantities | undefined {
  if (output === undefined) return undefined;
  const hour = Math.min(cacheWrite, cacheWriteHour);
  const thought = Math.min(output, thinking);
  return withoutZeros({
    input: input ?? 0,
    cached_input: cacheRead,
    cache_write_5m: cacheWrite - hour,
    cache_write_1h: hour,
    output: output - thought,
    reasoning: thought,
  });
}

function withoutZeros(quantities: Quantities): Quantities {
  return Object.fromEntries(Object.entries(quantities).filter(([, count]) => count > 0));
}
