import { dayMs, hourMs } from '../base/calendar.ts';
import type { SqlParameters } from '../storage/sql.ts';
import type { TimeRange } from './ranges.ts';

/** The index of the range that contains `at`; -1: none. */
export function spanIndex(spans: readonly TimeRange[], at: number): number {
  let [low, high] = [0, spans.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const span = spans[middle];
    if (span === undefined) break;
    if (at < span.from) high = middle - 1;
    else if (at >= span.to) low = middle + 1;
    else return middle;
  }
  return -1;
}

/** Whether whole hours (or days, UTC) belong to one span each: only the ends are cut elsewhere. */
export const meetAt = (spans: readonly TimeRange[], unit: 'hour' | 'day'): boolean =>
  spans.slice(1).every(({ from }) => from % (unit === 'hour' ? hourMs : dayMs) === 0);

/**
 * SQL: the index of the span that contains a time, for spans that follow each other: hours, or the
 * days of a zone. The database adds up by it, which returns a row a day in place of one an hour.
 */
export function sqlSpanIndex(
  values: SqlParameters,
  spans: readonly TimeRange[],
  time: string,
): string {
  const stepMs = spans.every(({ from, to }) => to - from <= hourMs) ? hourMs : dayMs;
  const [first, ...later] = shiftsOf(spans, stepMs);
  if (first === undefined || spans.length === 1) return '0';
  const add = (value: number): string => `CAST(${values.place(value)} AS BIGINT)`;
  const shift =
    later.length === 0
      ? add(first.shiftMs)
      : `CASE ${later
          .toReversed()
          .map(({ from, shiftMs }) => `WHEN ${time}>=${add(from)} THEN ${add(shiftMs)}`)
          .join(' ')} ELSE ${add(first.shiftMs)} END`;
  return `(${time}+${shift})/${stepMs}`;
}

interface Shift {
  /** From this time on. */
  readonly from: number;
  /** Time and shift, divided by the step, are the index. */
  readonly shiftMs: number;
}

/** One shift, and another where a day has 23 or 25 hours. */
function shiftsOf(spans: readonly TimeRange[], stepMs: number): readonly Shift[] {
  const shifts: Shift[] = [];
  const add = (from: number, shiftMs: number): void => {
    if (shifts.at(-1)?.shiftMs !== shiftMs) shifts.push({ from, shiftMs });
  };
  for (const [index, { from, to }] of spans.entries()) {
    // The first one may be cut: its end is whole.
    const whole = index === 0 ? Math.min(from, to - stepMs) : from;
    const longerMs = index === 0 && to - from <= stepMs ? 0 : Math.max(0, to - from - stepMs);
    add(from, index * stepMs - whole);
    if (longerMs > 0) add(whole + stepMs, index * stepMs - whole - longerMs);
  }
  return shifts;
}
