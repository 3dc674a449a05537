import { hourMs } from '../base/calendar.ts';
import type { Transaction } from '../storage/database.ts';
import { optionalNumber, SqlParameters } from '../storage/sql.ts';
import {
  accountHoursWithin,
  chargedWithin,
  hoursCondition,
  isFiltered,
  recordsCondition,
  rolledUntil,
  type TimeRange,
  type UsageFilter,
} from './ranges.ts';
import { spanIndex } from './spans.ts';

/** How long one request took; `firstByteMs` is undefined where no byte was streamed. */
export interface Timing {
  readonly firstByteMs: number | undefined;
  readonly totalMs: number;
}

export interface TimingsQuery {
  readonly account: string;
  readonly filter: UsageFilter;
  /** They follow each other. */
  readonly spans: readonly TimeRange[];
  /** The records that are read for each span: its latest, whether they match or not. */
  readonly most: number;
}

/**
 * The times of requests in each span, of at most `most` records each, so that the longest period
 * costs no more than a short one. With a filter they are the latest before the end of the last hour
 * in which any matches. Run it in a snapshot.
 */
export function* sampledTimings(
  question: TimingsQuery,
): Transaction<readonly (readonly Timing[])[]> {
  const { account, filter, most } = question;
  const spans = isFiltered(filter) ? yield* spansWithMatches(question) : question.spans;
  const values = new SqlParameters();
  const parts = spans.flatMap((span, index) =>
    span.from >= span.to
      ? []
      : [
          `SELECT * FROM (SELECT ${index} AS span, r.first_byte_ms, r.duration_ms FROM (
            SELECT * FROM usage r WHERE ${chargedWithin(values, account, span)}
            ORDER BY r.finished_at DESC LIMIT ${values.place(most)}) r
          WHERE 1=1${recordsCondition(values, filter)}) s${index}`,
        ],
  );
  const found: Timing[][] = spans.map(() => []);
  if (parts.length === 0) return found;
  for (const row of yield { sql: parts.join(' UNION ALL '), params: values.params })
    found[Number(row['span'])]?.push({
      firstByteMs: optionalNumber(row, 'first_byte_ms'),
      totalMs: Number(row['duration_ms']),
    });
  return found;
}

/** Each span up to the end of its last hour with a match; without one it is empty. */
function* spansWithMatches({
  account,
  filter,
  spans,
}: TimingsQuery): Transaction<readonly TimeRange[]> {
  const whole = { from: spans[0]?.from ?? 0, to: spans.at(-1)?.to ?? 0 };
  const until = yield* rolledUntil();
  const values = new SqlParameters();
  const within = accountHoursWithin(values, account, {
    from: whole.from - hourMs + 1,
    to: whole.to,
  });
  const rows = yield {
    sql: `SELECT DISTINCT h.hour FROM usage_hour h WHERE ${within}${hoursCondition(values, filter)}`,
    params: values.params,
  };
  const ends = spans.map((span) => (span.to > until ? span.to : span.from));
  for (const row of rows) {
    const hour = Number(row['hour']);
    const index = spanIndex(spans, Math.max(hour, whole.from));
    const span = spans[index];
    if (span !== undefined)
      ends[index] = Math.max(ends[index] ?? 0, Math.min(span.to, hour + hourMs));
  }
  return spans.map(({ from }, index) => ({ from, to: ends[index] ?? from }));
}
