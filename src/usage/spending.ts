import { endOfTime, hourMs } from '../base/calendar.ts';
import type { Nano } from '../base/money.ts';
import type { Measure } from '../base/quantities.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import {
  type JsonRows,
  jsonRows,
  optionalNumber,
  sqlHour,
  SqlParameters,
  WhereClause,
} from '../storage/sql.ts';
import { meetAt, spanIndex, sqlSpanIndex } from './spans.ts';
import {
  chargedWithin,
  type SplitRange,
  splitRange,
  rolledUntil,
  type TimeRange,
  type UsageFilter,
  hoursCondition,
  recordsCondition,
  accountHoursWithin,
  anyChargedWithin,
  hoursWithin,
  selectEach,
} from './ranges.ts';
import { lineCostSql, lineMeasureSql, lineMicrosSql } from './record.ts';
import { type Revenue, revenueOf, revenueSums } from './totals.ts';

/** The columns to group figures by; `span` is the index of one of the query's spans. */
export type SpendingGroup = 'span' | 'key_id' | 'model' | 'capability' | 'status' | 'estimated';

export interface SpendingQuery extends TimeRange {
  readonly account: string;
  readonly filter?: UsageFilter;
  /** For the group `span`: they follow each other and meet at full hours (`meetAt`). */
  readonly spans?: readonly TimeRange[];
}

/** The amount paid and the number of requests of one group; `of` holds the group's values. */
export interface SpendingRow extends Revenue {
  readonly of: Readonly<Partial<Record<SpendingGroup, string>>>;
}

/** The metered quantity of one measure, in millionths of its unit, and its price. */
export interface Metered {
  readonly of: Readonly<Partial<Record<SpendingGroup, string>>>;
  readonly measure: Measure;
  readonly micros: bigint;
  readonly cost: Nano;
}

/**
 * Spending from rolled-up days and hours where they are whole, and from records for the rest: exact
 * to this moment. Run it in a snapshot.
 */
export function* spending(
  question: SpendingQuery,
  by: readonly SpendingGroup[],
): Transaction<readonly SpendingRow[]> {
  const cover = splitRange(question, yield* rolledUntil(), unitOf(question, by));
  const values = new SqlParameters();
  const columns = groupColumns(values, question, by);
  const rolled = (span: TimeRange, unit: 'hour' | 'day') =>
    `SELECT ${columns('h', `h.${unit}`)} h.requests AS requests, h.cost AS cost FROM usage_${unit} h
    WHERE ${groupHoursWithin(values, question, span, unit)}`;
  const records = (
    span: TimeRange,
  ) => `SELECT ${columns('r', 'r.finished_at')} 1 AS requests, r.cost-r.shortfall AS cost FROM usage r
    WHERE ${recordsWithin(values, question, span)}`;
  const parts = partsOf(cover, question, rolled, records);
  if (parts.length === 0) return [];
  const rows = yield {
    sql: `SELECT ${[...by.map((name) => `p.${name}`), ''].join(', ')} ${revenueSums}
      FROM (${parts.join(' UNION ALL ')}) p ${grouped(by)}`,
    params: values.params,
  };
  return rows
    .filter((row) => row['requests'] !== null)
    .map((row) => ({ of: groupValuesOf(row, by), ...revenueOf(row) }));
}

/** The same by measure. */
export function* metered(
  database: Pick<Database, 'dialect'>,
  question: SpendingQuery,
  by: readonly SpendingGroup[],
): Transaction<readonly Metered[]> {
  const cover = splitRange(question, yield* rolledUntil(), unitOf(question, by));
  const values = new SqlParameters();
  const columns = groupColumns(values, question, by);
  const lines = jsonRows(database, 'r.lines');
  const rolled = (span: TimeRange, unit: 'hour' | 'day') =>
    `SELECT ${columns('h', `h.${unit}`)} h.measure AS measure, h.quantity AS quantity, h.cost AS cost
    FROM usage_${unit}_line h WHERE ${groupHoursWithin(values, question, span, unit)}`;
  const records = (
    span: TimeRange,
  ) => `SELECT ${columns('r', 'r.finished_at')} ${lineColumns(lines)} FROM usage r CROSS JOIN ${lines.from}
    WHERE ${recordsWithin(values, question, span)}`;
  const parts = partsOf(cover, question, rolled, records);
  if (parts.length === 0) return [];
  const names = [...by, 'measure'].map((name) => `p.${name}`).join(', ');
  const rows = yield {
    sql: `SELECT ${names}, CAST(SUM(p.quantity) AS BIGINT) AS quantity, CAST(SUM(p.cost) AS BIGINT) AS cost
      FROM (${parts.join(' UNION ALL ')}) p GROUP BY ${names}`,
    params: values.params,
  };
  return rows.map((row) => ({
    of: groupValuesOf(row, by),
    measure: String(row['measure']) as Measure,
    micros: BigInt(row['quantity'] ?? 0),
    cost: BigInt(row['cost'] ?? 0),
  }));
}

const idsAtOnce = 1_000;

/** Those of these records that the query is about. */
export function* recordsAmong(
  question: SpendingQuery,
  ids: readonly string[],
): Transaction<ReadonlySet<string>> {
  const found = new Set<string>();
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const values = new SqlParameters();
    const some = values.placeAll(ids.slice(from, from + idsAtOnce));
    const sql = `SELECT r.id FROM usage r
      WHERE r.id IN (${some}) AND ${recordsWithin(values, question, question)}`;
    for (const row of yield { sql, params: values.params }) found.add(String(row['id']));
  }
  return found;
}

const lineColumns = (lines: JsonRows): string =>
  `${lineMeasureSql(lines)} AS measure, ${lineMicrosSql(lines)} AS quantity, ${lineCostSql(lines)} AS cost`;

function partsOf(
  cover: SplitRange,
  { filter, from, to }: SpendingQuery,
  rolled: (span: TimeRange, unit: 'hour' | 'day') => string,
  ofRecords: (span: TimeRange) => string,
): readonly string[] {
  // Only records have the cost of single requests.
  if (filter?.costMin !== undefined) return from < to ? [ofRecords({ from, to })] : [];
  return [...selectEach(cover, rolled), ...cover.records.map(ofRecords)];
}

const groupHoursWithin = (
  values: SqlParameters,
  { account, filter = {} }: SpendingQuery,
  span: TimeRange,
  unit: 'hour' | 'day',
): string => accountHoursWithin(values, account, span, unit) + hoursCondition(values, filter);

const recordsWithin = (
  values: SqlParameters,
  { account, filter = {} }: SpendingQuery,
  span: TimeRange,
): string => chargedWithin(values, account, span) + recordsCondition(values, filter);

/** Days (UTC) serve where none has parts of two spans. */
const unitOf = ({ spans = [] }: SpendingQuery, by: readonly SpendingGroup[]): 'hour' | 'day' =>
  by.includes('span') && !meetAt(spans, 'day') ? 'hour' : 'day';

/** SQL: the groups of a row of `table` that counts for `time`. */
const groupColumns =
  (values: SqlParameters, { spans = [] }: SpendingQuery, by: readonly SpendingGroup[]) =>
  (table: string, time: string): string =>
    by
      .map((name) =>
        name === 'span'
          ? `${sqlSpanIndex(values, spans, time)} AS span, `
          : `${table}.${name} AS ${name}, `,
      )
      .join('');

const grouped = (by: readonly SpendingGroup[]): string =>
  by.length === 0 ? '' : `GROUP BY ${by.map((name) => `p.${name}`).join(', ')}`;

const groupValuesOf = (row: Row, by: readonly SpendingGroup[]): SpendingRow['of'] =>
  Object.fromEntries(by.map((name) => [name, String(row[name])]));

/**
 * The total of an account's charges within a range, from the shortest table that has it. Run it in
 * a snapshot.
 */
export function* charged(account: string, span: TimeRange): Transaction<Revenue> {
  const values = new SqlParameters();
  const hourly = yield* hourlyOf(values, account, span);
  if (hourly === '') return { requests: 0, cost: 0n };
  const sql = `SELECT ${revenueSums} FROM (${hourly}) p`;
  const [row] = yield { sql, params: values.params };
  return revenueOf(row);
}

/**
 * SQL: selects requests and costs of an account, and their hours; empty for an empty range. An hour
 * may have several rows.
 */
function* hourlyOf(values: SqlParameters, account: string, span: TimeRange): Transaction<string> {
  const { hours, records } = splitRange(span, yield* rolledUntil(), 'hour');
  return [
    ...hours.map(
      (part) => `SELECT h.hour AS hour, h.requests AS requests, h.cost AS cost FROM spend_hour h
        WHERE ${accountHoursWithin(values, account, part)}`,
    ),
    ...records.map(
      (part) => `SELECT ${sqlHour('r.finished_at')} AS hour, 1 AS requests,
          r.cost-r.shortfall AS cost FROM usage r
        WHERE ${chargedWithin(values, account, part)}`,
    ),
  ].join(' UNION ALL ');
}

/** `charged` for several accounts in one query, by account; those without charges are left out. */
export function* chargedByAccount(
  accounts: readonly string[],
  span: TimeRange,
): Transaction<ReadonlyMap<string, Nano>> {
  const { hours, records } = splitRange(span, yield* rolledUntil(), 'hour');
  const values = new SqlParameters();
  const parts = [
    ...hours.map(
      (part) => `SELECT h.account AS account, h.cost AS cost FROM spend_hour h
        WHERE h.account IN (${values.placeAll(accounts)}) AND ${hoursWithin(values, part)}`,
    ),
    ...records.map(
      (part) => `SELECT r.account AS account, r.cost-r.shortfall AS cost FROM usage r
        WHERE r.account IN (${values.placeAll(accounts)}) AND ${anyChargedWithin(values, part)}`,
    ),
  ];
  if (accounts.length === 0 || parts.length === 0) return new Map();
  const rows = yield {
    sql: `SELECT p.account, CAST(SUM(p.cost) AS BIGINT) AS cost
      FROM (${parts.join(' UNION ALL ')}) p GROUP BY p.account`,
    params: values.params,
  };
  return new Map(rows.map((row) => [String(row['account']), BigInt(row['cost'] ?? 0)]));
}

export interface KeySpending extends Revenue {
  /** When its last request began; undefined: before the records that are not rolled up. */
  readonly lastAt: number | undefined;
}

/** The spending of each of an account's keys since it was made. Run it in a snapshot. */
export function* spentByKey(account: string): Transaction<ReadonlyMap<string, KeySpending>> {
  const values = new SqlParameters();
  const later = { from: yield* rolledUntil(), to: endOfTime };
  const rows = yield {
    sql: `SELECT p.key_id, ${revenueSums}, MAX(p.begun) AS begun FROM (
      SELECT k.key_id AS key_id, k.requests AS requests, k.cost AS cost, CAST(NULL AS BIGINT) AS begun FROM spend_key k WHERE k.account=${values.place(account)}
      UNION ALL SELECT r.key_id, 1, r.cost-r.shortfall, r.reserved_at FROM usage r WHERE ${chargedWithin(values, account, later)}) p GROUP BY p.key_id`,
    params: values.params,
  };
  return new Map(
    rows.map((row) => [
      String(row['key_id']),
      {
        ...revenueOf(row),
        lastAt: optionalNumber(row, 'begun'),
      },
    ]),
  );
}

/** The last rolled-up hour with a request of each key (wall clock, ms). A key without is absent. */
export function* lastHourByKey(
  account: string,
  keyIds: readonly string[],
): Transaction<ReadonlyMap<string, number>> {
  if (keyIds.length === 0) return new Map();
  const where = new WhereClause();
  where.add('account=?', account);
  where.addOneOf('key_id', keyIds);
  const rows = yield {
    sql: `SELECT key_id, MAX(hour) AS hour FROM usage_hour${where.text} GROUP BY key_id`,
    params: where.params,
  };
  return new Map(rows.map((row) => [String(row['key_id']), Number(row['hour'])]));
}

/**
 * `charged` for each of several ranges that follow each other, such as days. One query when all
 * begin at full hours.
 */
export function* chargedBySpan(
  account: string,
  spans: readonly TimeRange[],
): Transaction<readonly Revenue[]> {
  const [first, last] = [spans[0], spans.at(-1)];
  if (first === undefined || last === undefined) return [];
  if (!spans.every(({ from }) => from % hourMs === 0)) {
    const figures = [];
    for (const span of spans) figures.push(yield* charged(account, span));
    return figures;
  }
  const values = new SqlParameters();
  const hourly = yield* hourlyOf(values, account, { from: first.from, to: last.to });
  const sql = `SELECT p.hour, ${revenueSums} FROM (${hourly}) p GROUP BY p.hour`;
  return spreadOverSpans(spans, yield { sql, params: values.params });
}

function spreadOverSpans(spans: readonly TimeRange[], rows: readonly Row[]): readonly Revenue[] {
  const figures = spans.map(() => ({ requests: 0, cost: 0n }));
  for (const row of rows) {
    const figure = figures[spanIndex(spans, Number(row['hour']))];
    if (figure === undefined) continue;
    const { requests, cost } = revenueOf(row);
    figure.requests += requests;
    figure.cost += cost;
  }
  return figures;
}

/**
 * The beginning, to the hour, of the newest `most` requests of the range: figures that only records
 * have are not added up beyond it.
 */
export function* startOfNewest(
  account: string,
  { from, to }: TimeRange,
  most: number,
): Transaction<number> {
  const rows = yield {
    sql: 'SELECT hour, requests FROM spend_hour WHERE account=$1 AND hour>=$2 AND hour<$3 ORDER BY hour DESC',
    params: [account, from, to],
  };
  let requests = 0;
  for (const row of rows) {
    requests += Number(row['requests']);
    if (requests > most) return Math.max(from, Number(row['hour']) + hourMs);
  }
  return from;
}

/** Longer than all but the oddest requests take. */
const longMs = 24 * hourMs;

/**
 * The amount that a key paid for requests that began within the current day or month. Run it in a
 * snapshot.
 */
export function* paidSince(
  { account, keyId }: { readonly account: string; readonly keyId: string },
  from: number,
  now: number,
): Transaction<Nano> {
  const [all] = yield* spending({ account, from, to: now + hourMs, filter: { keyId } }, []);
  const values = new SqlParameters();
  const [earlier] = yield {
    sql: `SELECT CAST(SUM(r.cost-r.shortfall) AS BIGINT) AS cost FROM usage r
      WHERE ${chargedWithin(values, account, { from, to: from + longMs })} AND r.key_id=${values.place(keyId)} AND r.reserved_at<${values.place(from)}`,
    params: values.params,
  };
  return (all?.cost ?? 0n) - BigInt(earlier?.['cost'] ?? 0);
}

/** The same since any time, from the records alone: it reads all of the account's since then. */
export function* paidInRecords(
  { account, keyId }: { readonly account: string; readonly keyId: string },
  from: number,
): Transaction<Nano> {
  const values = new SqlParameters();
  const [row] = yield {
    sql: `SELECT CAST(SUM(r.cost-r.shortfall) AS BIGINT) AS cost FROM usage r
      WHERE ${chargedWithin(values, account, { from, to: endOfTime })} AND r.key_id=${values.place(keyId)} AND r.reserved_at>=${values.place(from)}`,
    params: values.params,
  };
  return BigInt(row?.['cost'] ?? 0);
}
