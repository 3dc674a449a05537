import type { Script } from '../storage/database.ts';

export const hourMs = 3_600_000;
export const dayMs = 24 * hourMs;
/** Later than any record, and small enough for sums. */
export const endOfTime = 2 ** 52;
/**
 * Longer than any request or task takes: on PostgreSQL a record lies in the month in which it
 * began, which is at most so long before it was charged.
 */
const longestMs = 7 * 86_400_000;

export interface Span {
  /** Wall clock, ms: from (inclusive) and to (exclusive), by when it was charged. */
  readonly from: number;
  readonly to: number;
}

/**
 * Where a span's figures are: in whole days and hours (UTC) that are rolled up, and in records for
 * the rest.
 */
export interface Cover {
  readonly days: readonly Span[];
  readonly hours: readonly Span[];
  readonly records: readonly Span[];
}

/**
 * `until`: records charged before it are in the hours, later ones are not. Days are those whose
 * hours are all rolled up; with `unit` hour there are none.
 */
export function coverOf({ from, to }: Span, until: number, unit: 'hour' | 'day' = 'day'): Cover {
  const first = Math.ceil(from / hourMs) * hourMs;
  const last = Math.floor(to / hourMs) * hourMs;
  const rolled = Math.max(first, Math.min(last, until));
  if (rolled <= first) return { days: [], hours: [], records: [{ from, to }].filter(notEmpty) };
  const firstDay = Math.ceil(first / dayMs) * dayMs;
  const lastDay =
    unit === 'hour'
      ? firstDay
      : Math.max(firstDay, Math.floor(Math.min(last, until) / dayMs) * dayMs);
  const days = [{ from: firstDay, to: lastDay }].filter(notEmpty);
  return {
    days,
    // The hour in which `until` lies is rolled up in part: the rest of it is in records.
    hours:
      days.length === 0
        ? [{ from: first, to: last }]
        : [
            { from: first, to: firstDay },
            { from: lastDay, to: last },
          ].filter(notEmpty),
    records: [
      { from, to: first },
      { from: rolled, to },
    ].filter(notEmpty),
  };
}

const notEmpty = ({ from, to }: Span): boolean => from < to;

/** Up to when records are rolled up. To be yielded in the snapshot of the figures themselves. */
export function* rolledUntil(): Script<number> {
  const [row] = yield { sql: 'SELECT until FROM usage_rolled', params: [] };
  return Number(row?.['until'] ?? 0);
}

/** Places in a statement: what is added gets the next number. */
export class Places {
  readonly params: (string | number | bigint)[] = [];

  add(value: string | number | bigint): string {
    this.params.push(value);
    return `$${this.params.length}`;
  }
}

/** The condition for records (table `r`) of one account that were charged within the span. */
export function chargedWithin(places: Places, account: string, { from, to }: Span): string {
  return `r.account=${places.add(account)} AND r.finished_at>=${places.add(from)} AND r.finished_at<${places.add(to)} AND ${begunWithin(places, { from, to })}`;
}

/** Said for PostgreSQL, which leaves out the months that cannot have any. */
export function begunWithin(places: Places, { from, to }: Span): string {
  return `r.reserved_at>=${places.add(from - longestMs)} AND r.reserved_at<${places.add(to + hourMs)}`;
}
