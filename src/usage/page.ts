import { hourMs } from '../base/calendar.ts';
import type { Row, Statement, Transaction } from '../storage/database.ts';
import { SqlParameters } from '../storage/sql.ts';
import {
  chargedWithin,
  rolledUntil,
  startOfHour,
  type TimeRange,
  type UsageFilter,
  hoursCondition,
  recordsCondition,
  accountHoursWithin,
  isFiltered,
} from './ranges.ts';

/** A position in an account's records: the last record of the previous page. */
export interface UsagePosition {
  readonly chargedAt: number;
  readonly id: string;
}

export interface UsageQuery extends TimeRange {
  readonly account: string;
  readonly filter?: UsageFilter;
  readonly order?: 'newest' | 'oldest';
  readonly after?: UsagePosition;
  readonly limit: number;
}

export interface UsagePage {
  readonly rows: readonly Row[];
  /**
   * The start of the next page; undefined: there is none. A page may have fewer records than the
   * limit and yet not be the last one.
   */
  readonly next: UsagePosition | undefined;
}

/**
 * The most records read for one page: a filter with few matches shows them over several pages
 * instead of making its reader wait.
 */
const lookedThroughMax = 30_000;

/**
 * One page of an account's usage records by time of charge. The last page is as fast as the first,
 * however many records other accounts have. Run it in a snapshot.
 */
export function* usagePage(question: UsageQuery): Transaction<UsagePage> {
  const { filter = {}, limit } = question;
  const left = spanFrom(question);
  const { windows, more } = isFiltered(filter)
    ? yield* matching(question, left)
    : { windows: [{ ...left, requests: 0 }], more: false };
  const rows: Row[] = [];
  let through = 0;
  for (const window of windows) {
    if (through > 0 && through + window.requests > lookedThroughMax)
      return { rows, next: beforeAll(question.order === 'oldest' ? window.from : window.to) };
    through += window.requests;
    rows.push(...(yield pageOf({ ...question, limit: limit - rows.length }, window)));
    if (rows.length > limit)
      return { rows: rows.slice(0, limit), next: positionOf(rows[limit - 1]) };
  }
  const last = more ? windows.at(-1) : undefined;
  return {
    rows,
    next: last && beforeAll(question.order === 'oldest' ? last.to : last.from),
  };
}

/** The position before the first record of a moment: the empty id sorts before every other. */
const beforeAll = (chargedAt: number): UsagePosition => ({ chargedAt, id: '' });

const positionOf = (row: Row | undefined): UsagePosition => ({
  chargedAt: Number(row?.['finished_at']),
  id: String(row?.['id']),
});

/**
 * The rest of the range after the position. Before the empty id there is no record of its time:
 * with it, the hour that was read last would count once more, and the search not get on.
 */
function spanFrom({ from, to, after, order }: UsageQuery): TimeRange {
  if (after === undefined) return { from, to };
  if (order === 'oldest') return { from: Math.max(from, after.chargedAt), to };
  return { from, to: Math.min(to, after.id === '' ? after.chargedAt : after.chargedAt + 1) };
}

function pageOf(
  { account, filter = {}, order = 'newest', after, limit }: UsageQuery,
  span: TimeRange,
): Statement {
  const values = new SqlParameters();
  const down = order === 'newest' ? ' DESC' : '';
  const behind =
    after === undefined
      ? ''
      : ` AND (r.finished_at, r.id)${order === 'newest' ? '<' : '>'}(${values.place(after.chargedAt)}, ${values.place(after.id)})`;
  const sql = `SELECT r.* FROM usage r WHERE ${chargedWithin(values, account, span)}${behind}${recordsCondition(values, filter)}
    ORDER BY r.finished_at${down}, r.id${down} LIMIT ${values.place(limit + 1)}`;
  return { sql, params: values.params };
}

interface SearchWindow extends TimeRange {
  /** Number of records in it, matching or not. */
  readonly requests: number;
}

/** Hours searched for one page. */
const hoursMax = 399;

/**
 * The hours that contain matching records, by the hourly figures, and the time that is not rolled
 * up yet as a whole. In the order of the page. `more`: there may be others beyond them.
 */
function* matching(
  { account, filter = {}, order }: UsageQuery,
  left: TimeRange,
): Transaction<{ readonly windows: readonly SearchWindow[]; readonly more: boolean }> {
  const recent = startOfHour(yield* rolledUntil());
  const values = new SqlParameters();
  const within = accountHoursWithin(values, account, {
    from: left.from - hourMs + 1,
    to: Math.min(left.to, recent),
  });
  const rows = yield {
    sql: `SELECT m.hour, s.requests FROM (SELECT DISTINCT h.hour FROM usage_hour h WHERE ${within}${hoursCondition(values, filter)}) m
      JOIN spend_hour s ON s.account=${values.place(account)} AND s.hour=m.hour ORDER BY m.hour${order === 'oldest' ? '' : ' DESC'} LIMIT ${hoursMax}`,
    params: values.params,
  };
  const hours = rows.map((row) =>
    searchWindowOf(
      left,
      Number(row['hour']),
      Number(row['hour']) + hourMs,
      Number(row['requests']),
    ),
  );
  const rest = left.to > recent ? [searchWindowOf(left, recent, left.to, 0)] : [];
  const more = hours.length === hoursMax;
  const windows = order === 'oldest' ? [...hours, ...(more ? [] : rest)] : [...rest, ...hours];
  return { windows, more };
}

const searchWindowOf = (
  within: TimeRange,
  from: number,
  to: number,
  requests: number,
): SearchWindow => ({
  from: Math.max(from, within.from),
  to: Math.min(to, within.to),
  requests,
});

/** The amount paid for the requests charged at `at` whose ids come before `id`. */
export function* paidBefore(account: string, at: number, id: string): Transaction<bigint> {
  const [row] = yield {
    sql: 'SELECT CAST(COALESCE(SUM(cost-shortfall), 0) AS BIGINT) AS cost FROM usage WHERE account=$1 AND finished_at=$2 AND id<$3',
    params: [account, at, id],
  };
  return BigInt(row?.['cost'] ?? 0);
}

/** One record of this account; undefined also when it is another account's. */
export function* usageRecord(account: string, id: string): Transaction<Row | undefined> {
  const [row] = yield {
    sql: 'SELECT * FROM usage WHERE id=$1 AND account=$2',
    params: [id, account],
  };
  return row;
}

/** One record of any account. */
export function* usageRecordOfAny(id: string): Transaction<Row | undefined> {
  const [row] = yield { sql: 'SELECT * FROM usage WHERE id=$1', params: [id] };
  return row;
}
