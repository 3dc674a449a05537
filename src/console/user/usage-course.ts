import { dayMs, hourMs, type ZoneDay, zoneTimeAt } from '../../base/calendar.ts';
import { failedByHour, loggedSince } from '../../request-log/queries.ts';
import type { Transaction } from '../../storage/database.ts';
import { hoursFrom, startOfHour, type TimeRange, type UsageFilter } from '../../usage/ranges.ts';
import { spanIndex } from '../../usage/spans.ts';
import { sampledTimings, type Timing } from '../../usage/timings.ts';
import type { LatencyView, UsageCourse } from '../contract.ts';
import { instant, instantOrNull } from '../format.ts';
import { daily, daysWithin } from './series.ts';

/** Records read for the latencies of a whole chart. */
const timingsMax = 12_000;
/** A longer period is shown by days. */
const hourlyMsMax = 2 * dayMs;

interface CourseQuery extends TimeRange {
  readonly account: string;
  readonly zone: string;
  readonly filter: UsageFilter;
  readonly now: number;
}

/** How long requests took, and how many failed, hour by hour or day by day. */
export function* usageCourse(question: CourseQuery): Transaction<UsageCourse> {
  const { account, filter, zone, from, now } = question;
  const to = Math.max(from, Math.min(question.to, now + 1));
  const unit = to - from > hourlyMsMax ? 'day' : 'hour';
  const spans = unit === 'day' ? daysWithin(zone, { from, to }, now) : hoursOf({ from, to });
  const most = Math.max(1, Math.floor(timingsMax / spans.length));
  const timings = yield* sampledTimings({ account, filter, spans, most });
  const charged = yield* daily({ account, days: spans, by: 'status', filter });
  const failed = yield* failedIn(question, spans);
  const countOf = (index: number, wanted?: readonly string[]): number =>
    charged
      .filter(({ id }) => wanted?.includes(id) ?? true)
      .reduce((sum, { counts }) => sum + (counts[index] ?? 0), 0);
  return {
    unit,
    zone,
    points: spans.map((span, index) => ({
      at: instant(span.from),
      requests: countOf(index),
      interrupted: countOf(index, ['cut', 'error']),
      failed: failed?.counts[index] ?? null,
      first_byte: latencyOf(timings[index]?.flatMap(({ firstByteMs }) => firstByteMs ?? []) ?? []),
      total: latencyOf(timings[index]?.map((one: Timing) => one.totalMs) ?? []),
    })),
    failed_since: instantOrNull(failed?.since),
    as_of: instant(now),
  };
}

/** Whole hours but for the ends of the range. */
function hoursOf({ from, to }: TimeRange): readonly ZoneDay[] {
  const first = startOfHour(from);
  const count = Math.max(1, Math.ceil((to - first) / hourMs));
  return hoursFrom(first, count).map((start) => ({
    day: zoneTimeAt('UTC', start).time,
    from: Math.max(start, from),
    to: Math.min(start + hourMs, to),
  }));
}

/**
 * The requests of each span that got an error instead of an answer; undefined when the filter asks
 * for what only charges have.
 */
function* failedIn(
  { account, filter, from, to, now }: CourseQuery,
  spans: readonly TimeRange[],
): Transaction<
  { readonly since: number; readonly counts: readonly (number | null)[] } | undefined
> {
  const { keyId, model, ...others } = filter;
  if (Object.values(others).some((value) => value !== undefined)) return undefined;
  const since = yield* loggedSince(account, now);
  const counts = spans.map((span): number | null => (span.to <= since ? null : 0));
  for (const { hour, requests } of yield* failedByHour({ account, keyId, model, from, to })) {
    // The hour in which the range begins counts for its first span.
    const index = spanIndex(spans, Math.max(hour, spans[0]?.from ?? hour));
    const known = counts[index];
    if (known !== undefined) counts[index] = (known ?? 0) + requests;
  }
  return { since, counts };
}

/** Null without any request. */
function latencyOf(times: readonly number[]): LatencyView | null {
  if (times.length === 0) return null;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
  return { median_ms: at(0.5), p95_ms: at(0.95) };
}
