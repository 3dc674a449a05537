import { dayMs, hourMs } from '../base/calendar.ts';
import type { Nano } from '../base/money.ts';
import type { Statement, Transaction } from '../storage/database.ts';
import { optionalNumber, SqlParameters } from '../storage/sql.ts';

/** The beginning of the hour, or of the day (UTC), in which `at` (wall clock, ms) lies. */
export const startOfHour = (at: number): number => Math.floor(at / hourMs) * hourMs;
export const startOfUtcDay = (at: number): number => Math.floor(at / dayMs) * dayMs;
/** The beginnings of `count` hours, the first of which is `from`. */
export const hoursFrom = (from: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index * hourMs);
/**
 * Longer than any request or task takes: on PostgreSQL a record lies in the month in which its
 * request began, at most this long before the charge.
 */
export const longestMs = 7 * dayMs;

export interface TimeRange {
  /** Wall clock, ms: from (inclusive) and to (exclusive), by time of charge. */
  readonly from: number;
  readonly to: number;
}

/** `count` whole hours (UTC) up to the end of the current one. */
export function hoursUpTo(now: number, count: number): TimeRange {
  const to = Math.ceil(now / hourMs) * hourMs;
  return { from: to - count * hourMs, to };
}

/**
 * The sources of a range's figures: whole days and hours (UTC) that are rolled up, and records for
 * the rest.
 */
export interface SplitRange {
  readonly days: readonly TimeRange[];
  readonly hours: readonly TimeRange[];
  readonly records: readonly TimeRange[];
}

/**
 * `until`: hours cover the records charged before it, not later ones. A day counts only when all
 * its hours are rolled up; with `unit` hour there are no days.
 */
export function splitRange(
  { from, to }: TimeRange,
  until: number,
  unit: 'hour' | 'day' = 'day',
): SplitRange {
  const first = Math.ceil(from / hourMs) * hourMs;
  const last = startOfHour(to);
  const rolled = Math.max(first, Math.min(last, until));
  if (rolled <= first) return { days: [], hours: [], records: [{ from, to }].filter(notEmpty) };
  const whole = { from: first, to: last };
  return {
    // The hour that contains `until` is rolled up in part: its rest is in records.
    ...(unit === 'hour' ? { days: [], hours: [whole] } : daysAndHours(whole, until)),
    records: [
      { from, to: first },
      { from: rolled, to },
    ].filter(notEmpty),
  };
}

/** Rolled-up days where a range has whole ones (UTC) that are complete, and hours for the rest. */
export function daysAndHours({ from, to }: TimeRange, until: number): Omit<SplitRange, 'records'> {
  const firstDay = Math.ceil(from / dayMs) * dayMs;
  const lastDay = Math.max(firstDay, startOfUtcDay(Math.min(to, until)));
  const days = [{ from: firstDay, to: lastDay }].filter(notEmpty);
  return {
    days,
    hours:
      days.length === 0
        ? [{ from, to }]
        : [
            { from, to: firstDay },
            { from: lastDay, to },
          ].filter(notEmpty),
  };
}

const notEmpty = ({ from, to }: TimeRange): boolean => from < to;

/** Every change of figures begins with this lock, so that changes take turns. */
export const lockFigures: Statement = { sql: 'UPDATE usage_rolled SET until=until', params: [] };

/**
 * The time up to which records are rolled up. Yield it in the snapshot of the figures themselves.
 */
export function* rolledUntil(): Transaction<number> {
  const [row] = yield { sql: 'SELECT until FROM usage_rolled', params: [] };
  return Number(row?.['until'] ?? 0);
}

/** The same for the sums over all accounts (all-accounts.ts): complete hours before this time. */
export function* totalsUntil(): Transaction<number> {
  const [row] = yield { sql: 'SELECT totals_until FROM usage_rolled', params: [] };
  return Number(row?.['totals_until'] ?? 0);
}

/** The condition for records (table `r`) of one account that were charged within the range. */
export const chargedWithin = (values: SqlParameters, account: string, span: TimeRange): string =>
  `r.account=${values.place(account)} AND ${anyChargedWithin(values, span)}`;

/**
 * The condition for records of all accounts that were charged within the range. Lets PostgreSQL
 * skip the months that cannot have such records.
 */
export const anyChargedWithin = (values: SqlParameters, { from, to }: TimeRange): string =>
  `r.finished_at>=${values.place(from)} AND r.finished_at<${values.place(to)}
    AND r.reserved_at>=${values.place(from - longestMs)} AND r.reserved_at<${values.place(to + hourMs)}`;

/** Selects some of an account's records. */
export interface UsageFilter {
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
  readonly capability?: string | undefined;
  readonly status?: string | undefined;
  readonly estimated?: boolean | undefined;
  /** Records that cost at least this much. */
  readonly costMin?: Nano | undefined;
}

/** Whether the filter leaves anything out. */
export const isFiltered = (filter: UsageFilter): boolean =>
  Object.values(filter).some((value) => value !== undefined);

/** The condition for records or hours whose columns have the filter's values. */
export function columnsCondition(
  values: SqlParameters,
  table: string,
  { keyId, model, capability, status, estimated }: UsageFilter,
): string {
  const equal = {
    key_id: keyId,
    model,
    capability,
    status,
    estimated: estimated === undefined ? undefined : Number(estimated),
  };
  return Object.entries(equal)
    .map(([column, value]) =>
      value === undefined ? '' : ` AND ${table}.${column}=${values.place(value)}`,
    )
    .join('');
}

/** The condition for records (table `r`). */
export function recordsCondition(values: SqlParameters, filter: UsageFilter): string {
  return (
    columnsCondition(values, 'r', filter) +
    (filter.costMin === undefined ? '' : ` AND r.cost>=${values.place(filter.costMin)}`)
  );
}

/** The condition for hours (table `h`) that contain matching records. */
export function hoursCondition(values: SqlParameters, filter: UsageFilter): string {
  return (
    columnsCondition(values, 'h', filter) +
    (filter.costMin === undefined ? '' : ` AND h.dearest>=${values.place(filter.costMin)}`)
  );
}

/** The condition for hours or days (table `h`) within a range. */
export const hoursWithin = (
  values: SqlParameters,
  { from, to }: TimeRange,
  unit: 'hour' | 'day' = 'hour',
): string => `h.${unit}>=${values.place(from)} AND h.${unit}<${values.place(to)}`;

/** The condition for hours or days (table `h`) of one account within a range. */
export const accountHoursWithin = (
  values: SqlParameters,
  account: string,
  span: TimeRange,
  unit: 'hour' | 'day' = 'hour',
): string => `h.account=${values.place(account)} AND ${hoursWithin(values, span, unit)}`;

/** One SELECT for each stretch of days or hours. */
export const selectEach = (
  { days, hours }: Omit<SplitRange, 'records'>,
  select: (span: TimeRange, unit: 'day' | 'hour') => string,
): readonly string[] => [
  ...days.map((span) => select(span, 'day')),
  ...hours.map((span) => select(span, 'hour')),
];

/**
 * Twice as long as records usually wait for the roll-up; and as many records as can be read in a
 * tenth of a second.
 */
const tailMsMax = 15 * 60_000;
const tailRecordsMax = 4_000;

/**
 * The end of the figures of all accounts: they reach to `until` (wall clock, ms) if the records of
 * `tail` are added to the rolled-up hours.
 */
interface RecentRange {
  readonly until: number;
  readonly tail: TimeRange | undefined;
}

/**
 * The records of a range that are in no hour yet, when they are few enough to read. Yield it in the
 * snapshot of the figures themselves.
 */
export function* recentOf({ from, to }: TimeRange, now: number): Transaction<RecentRange> {
  const rolled = yield* rolledUntil();
  const until = rolled === 0 ? ((yield* firstChargeOfAll()) ?? now) : rolled;
  const tail = { from: Math.max(from, until), to };
  if (now - until > tailMsMax || !(yield* areFewRecords(tail))) return { until, tail: undefined };
  return { until: now, tail };
}

/** Whether the records of a range are few enough to read; counts no further. */
export function* areFewRecords(span: TimeRange): Transaction<boolean> {
  const values = new SqlParameters();
  const counted = `SELECT 1 AS one ${recordsOf(values, span)} LIMIT ${values.place(tailRecordsMax + 1)}`;
  const [row] = yield {
    sql: `SELECT COUNT(*) AS count FROM (${counted}) c`,
    params: values.params,
  };
  return Number(row?.['count'] ?? 0) <= tailRecordsMax;
}

/** The time of an account's first charge; undefined: never charged. */
export function* firstChargeAt(account: string): Transaction<number | undefined> {
  const [row] = yield {
    sql: 'SELECT MIN(finished_at) AS first FROM usage WHERE account=$1',
    params: [account],
  };
  return optionalNumber(row, 'first');
}

/** The time of the first charge of all; undefined when there is none. */
export function* firstChargeOfAll(): Transaction<number | undefined> {
  const [row] = yield {
    sql: 'SELECT MIN((SELECT MIN(r.finished_at) FROM usage r WHERE r.account=u.id)) AS first FROM users u',
    params: [],
  };
  return optionalNumber(row, 'first');
}

/**
 * SQL: all records of a range, read per user from that user's part of the index, so that nothing
 * else is read. `join` joins a table to each record.
 */
export function recordsOf(values: SqlParameters, span: TimeRange, join = ''): string {
  return `FROM users u CROSS JOIN usage r${join} WHERE r.account=u.id
    AND ${anyChargedWithin(values, span)}`;
}
