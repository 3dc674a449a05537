import { dayMs } from '../base/calendar.ts';
import type { Nano } from '../base/money.ts';
import type { Measure } from '../base/quantities.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import { jsonRows, sqlHour, SqlParameters } from '../storage/sql.ts';
import {
  columnsCondition,
  daysAndHours,
  hoursWithin,
  recordsOf,
  selectEach,
  rolledUntil,
  totalsUntil,
  splitRange,
  type SplitRange,
  type TimeRange,
} from './ranges.ts';
import { lineMeasureSql, lineMicrosSql } from './record.ts';

/**
 * Whole hours as far as they are rolled up, and the records of `tail`, which are not (`recentOf` in
 * ranges.ts).
 */
export interface RangeWithTail extends TimeRange {
  readonly tail?: TimeRange | undefined;
}

/** The quantity of one measure sold of a model to all accounts, in millionths of its unit. */
export interface SoldQuantity {
  readonly model: string;
  readonly measure: Measure;
  readonly micros: bigint;
}

const quantity = 'CAST(SUM(h.quantity) AS BIGINT) AS quantity';

export function* soldByModel(
  database: Pick<Database, 'dialect'>,
  { tail, ...span }: RangeWithTail,
): Transaction<readonly SoldQuantity[]> {
  const values = new SqlParameters();
  const lines = jsonRows(database, 'r.lines');
  const records = (tail: TimeRange) =>
    `SELECT r.model, ${lineMeasureSql(lines)} AS measure, ${lineMicrosSql(lines)} AS quantity
      ${recordsOf(values, tail, ` CROSS JOIN ${lines.from}`)}`;
  const rolled = yield* modelParts(values, span, {
    columns: 'h.model, h.measure, h.quantity',
    lines: true,
  });
  const sql = `SELECT h.model, h.measure, ${quantity}
    FROM (${union([...rolled, tail && records(tail)])}) h GROUP BY h.model, h.measure`;
  return (yield { sql, params: values.params }).map((row) => ({
    model: String(row['model']),
    ...meteredOf(row),
  }));
}

/** Selects rows of all accounts from rolled-up days and hours, one SELECT for each stretch. */
function rolledParts(
  values: SqlParameters,
  stretches: Omit<SplitRange, 'records'>,
  { columns, lines = false, only = () => '' }: RolledColumns,
): readonly string[] {
  const part = (span: TimeRange, unit: 'day' | 'hour') =>
    `SELECT ${columns} FROM users u CROSS JOIN usage_${unit}${lines ? '_line' : ''} h
      WHERE h.account=u.id AND ${hoursWithin(values, span, unit)}${only()}`;
  return selectEach(stretches, part);
}

interface RolledColumns {
  readonly columns: string;
  /** By measure: the tables of lines. */
  readonly lines?: boolean;
  /** Further conditions, with placeholders of their own for each SELECT. */
  readonly only?: () => string;
}

const union = (parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join(' UNION ALL ');

/** The amount paid for requests, refunded or not, and their number. */
export interface Revenue {
  readonly requests: number;
  readonly cost: Nano;
}

/** SQL: the columns of `revenueOf`, of a group of rows. */
export const revenueSums =
  'CAST(SUM(requests) AS BIGINT) AS requests, CAST(SUM(cost) AS BIGINT) AS cost';

export const revenueOf = (row: Row | undefined): Revenue => ({
  requests: Number(row?.['requests'] ?? 0),
  cost: BigInt(row?.['cost'] ?? 0),
});

/**
 * Selects rows of all accounts by model: from the sums over all accounts as far as they reach, else
 * from the accounts' own days and hours.
 */
function* modelParts(
  values: SqlParameters,
  span: TimeRange,
  { columns, lines = false }: Omit<RolledColumns, 'only'>,
): Transaction<readonly string[]> {
  const { summed, rest } = splitAt(span, yield* totalsUntil());
  const part = (stretch: TimeRange, unit: 'day' | 'hour') =>
    `SELECT ${columns} FROM model_${unit}${lines ? '_line' : ''} h
      WHERE ${hoursWithin(values, stretch, unit)}`;
  const unsummed = daysAndHours(rest, yield* rolledUntil());
  return [
    ...selectEach(daysAndHours(summed, summed.to), part),
    ...rolledParts(values, unsummed, { columns, lines }),
  ];
}

/** The stretch of a range that the sums over all accounts cover, and what follows. */
function splitAt(
  { from, to }: TimeRange,
  until: number,
): { readonly summed: TimeRange; readonly rest: TimeRange } {
  const end = Math.max(from, Math.min(to, until));
  return { summed: { from, to: end }, rest: { from: end, to } };
}

/** The revenue with each model. */
export function* revenueByModel({
  tail,
  ...span
}: RangeWithTail): Transaction<readonly (Revenue & { readonly id: string })[]> {
  const values = new SqlParameters();
  const rolled = yield* modelParts(values, span, { columns: 'h.model AS id, h.requests, h.cost' });
  return yield* revenueById(values, [...rolled, tail && recordsById('model', values, tail)]);
}

/** The revenue from each account. */
export function* revenueByAccount({
  tail,
  ...span
}: RangeWithTail): Transaction<readonly (Revenue & { readonly id: string })[]> {
  const values = new SqlParameters();
  const { days, hours } = daysAndHours(span, yield* totalsUntil());
  const rolled = [
    ...days.map(
      (part) => `SELECT h.account AS id, h.requests, h.cost FROM spend_day h
        WHERE ${hoursWithin(values, part, 'day')}`,
    ),
    ...hours.map(
      (part) => `SELECT h.account AS id, h.requests, h.cost
        FROM users u CROSS JOIN spend_hour h
        WHERE h.account=u.id AND ${hoursWithin(values, part)}`,
    ),
  ];
  return yield* revenueById(values, [...rolled, tail && recordsById('account', values, tail)]);
}

const recordsById = (column: 'account' | 'model', values: SqlParameters, tail: TimeRange) =>
  `SELECT r.${column}, 1, r.cost-r.shortfall ${recordsOf(values, tail)}`;

function* revenueById(
  values: SqlParameters,
  parts: readonly (string | undefined)[],
): Transaction<readonly (Revenue & { readonly id: string })[]> {
  const sql = `SELECT t.id, ${revenueSums} FROM (${union(parts)}) t GROUP BY t.id`;
  const rows = yield { sql, params: values.params };
  return rows.map((row) => ({ id: String(row['id']), ...revenueOf(row) }));
}

/** The revenue of each hour (its beginning, wall clock, ms) that has any. */
export function* revenueByHour({
  tail,
  ...span
}: RangeWithTail): Transaction<readonly (Revenue & { readonly hour: number })[]> {
  const values = new SqlParameters();
  const { summed, rest } = splitAt(span, yield* totalsUntil());
  const parts = [
    `SELECT h.hour, h.requests, h.cost FROM model_hour h
      WHERE ${hoursWithin(values, summed)}`,
    `SELECT h.hour, h.requests, h.cost FROM users u CROSS JOIN spend_hour h
      WHERE h.account=u.id AND ${hoursWithin(values, rest)}`,
    tail &&
      `SELECT ${sqlHour('r.finished_at')}, 1, r.cost-r.shortfall
        ${recordsOf(values, tail)}`,
  ];
  const sql = `SELECT t.hour, ${revenueSums} FROM (${union(parts)}) t GROUP BY t.hour`;
  const rows = yield { sql, params: values.params };
  return rows.map((row) => ({ hour: Number(row['hour']), ...revenueOf(row) }));
}

/** The quantity of one measure of a model that an account bought with keys of a group. */
export interface SoldToAccount extends Omit<SoldQuantity, 'model'> {
  readonly account: string;
  readonly group: string;
}

export function* soldTo(
  database: Pick<Database, 'dialect'>,
  model: string,
  { tail, from, to }: RangeWithTail,
): Transaction<readonly SoldToAccount[]> {
  const values = new SqlParameters();
  const lines = jsonRows(database, 'r.lines');
  const records = (span: TimeRange) =>
    `SELECT r.account, r.key_id, ${lineMeasureSql(lines)} AS measure, ${lineMicrosSql(lines)} AS quantity
      ${recordsOf(values, span, ` CROSS JOIN ${lines.from}`)} AND r.model=${values.place(model)}`;
  const rolled = rolledParts(values, daysAndHours({ from, to }, yield* rolledUntil()), {
    columns: 'h.account, h.key_id, h.measure, h.quantity',
    lines: true,
    only: () => ` AND h.model=${values.place(model)}`,
  });
  const sql = `SELECT s.account, k.group_name, s.measure, CAST(SUM(s.quantity) AS BIGINT) AS quantity
    FROM (SELECT h.account, h.key_id, h.measure, ${quantity}
      FROM (${union([...rolled, tail && records(tail)])}) h GROUP BY h.account, h.key_id, h.measure) s
    JOIN api_keys k ON k.id=s.key_id GROUP BY s.account, k.group_name, s.measure`;
  return (yield { sql, params: values.params }).map((row) => ({
    account: String(row['account']),
    group: String(row['group_name']),
    ...meteredOf(row),
  }));
}

/** The quantities that the keys of a group bought on whole days (UTC), by account. */
export async function soldInGroup(
  database: Database,
  group: string,
  { from, to }: TimeRange,
): Promise<readonly (SoldQuantity & { readonly account: string })[]> {
  const values = new SqlParameters();
  const days: string[] = [];
  for (let day = from; day < to; day += dayMs) days.push(values.place(day));
  if (days.length === 0) return [];
  // Named days make each key's rows one place of the index; a range would read the account's rows.
  const sql = `SELECT h.account, h.model, h.measure, ${quantity} FROM api_keys k CROSS JOIN usage_day_line h
    WHERE k.group_name=${values.place(group)} AND h.account=k.user_id AND h.key_id=k.id
      AND h.day IN (${days.join()}) GROUP BY h.account, h.model, h.measure`;
  const rows = await database.query(sql, values.params);
  return rows.map((row) => ({
    account: String(row['account']),
    model: String(row['model']),
    ...meteredOf(row),
  }));
}

const meteredOf = (row: Row): Pick<SoldQuantity, 'measure' | 'micros'> => ({
  // Written by `rollUp`.
  measure: String(row['measure']) as Measure,
  micros: BigInt(row['quantity'] ?? 0),
});

/** The columns by which the spending of all accounts is added up. */
export type TotalsGroup = 'model' | 'key_id' | 'account';

export interface TotalsQuery extends TimeRange {
  readonly account?: string | undefined;
  readonly keyId?: string | undefined;
  readonly model?: string | undefined;
}

export interface TotalsRow extends Revenue {
  readonly of: string;
  /** The account that paid; with keys alone. */
  readonly account: string | undefined;
}

/**
 * The spending of all accounts, or of some, by one column, the largest first: from rolled-up days
 * and hours, and from records for the rest. Run it in a snapshot.
 */
export function* spendingOfAll(
  { account, keyId, model, ...span }: TotalsQuery,
  by: TotalsGroup,
): Transaction<readonly TotalsRow[]> {
  const stretches = splitRange(span, yield* rolledUntil());
  const values = new SqlParameters();
  const only = (table: string): string =>
    (account === undefined ? '' : ` AND u.id=${values.place(account)}`) +
    columnsCondition(values, table, { keyId, model });
  const columns = (table: string): string =>
    `${table}.${by} AS part, ${by === 'key_id' ? `${table}.account` : "''"} AS account`;
  const recorded = (part: TimeRange) =>
    `SELECT ${columns('r')}, 1 AS requests, r.cost-r.shortfall AS cost
      ${recordsOf(values, part)}${only('r')}`;
  const rolled = rolledParts(values, stretches, {
    columns: `${columns('h')}, h.requests, h.cost`,
    only: () => only('h'),
  });
  const parts = [...rolled, ...stretches.records.map(recorded)];
  if (parts.length === 0) return [];
  const rows = yield {
    sql: `SELECT t.part, t.account, ${revenueSums} FROM (${union(parts)}) t
      GROUP BY t.part, t.account ORDER BY 4 DESC, 3 DESC, 1`,
    params: values.params,
  };
  return rows.map((row) => ({
    of: String(row['part']),
    account: String(row['account']) || undefined,
    ...revenueOf(row),
  }));
}

/** A channel's requests with one model, and their share of all requests with that model. */
export interface ChannelShare {
  readonly model: string;
  readonly channel: string;
  readonly requests: number;
  readonly share: number;
}

export function* channelShares({
  tail,
  ...span
}: RangeWithTail): Transaction<readonly ChannelShare[]> {
  const values = new SqlParameters();
  const rolled = selectEach(
    daysAndHours(span, yield* totalsUntil()),
    (part, unit) =>
      `SELECT h.model, h.channel, h.requests FROM ${unit === 'day' ? 'channel_day' : 'speed_hour'} h
      WHERE ${hoursWithin(values, part, unit)}`,
  );
  const records = (span: TimeRange) =>
    `SELECT r.model, COALESCE(r.channel, '') AS channel, 1 AS requests ${recordsOf(values, span)}`;
  const sql = `SELECT t.model, t.channel, CAST(SUM(t.requests) AS BIGINT) AS requests
    FROM (${union([...rolled, tail && records(tail)])}) t GROUP BY t.model, t.channel`;
  const rows = yield { sql, params: values.params };
  const shares = rows.map((row) => ({
    model: String(row['model']),
    channel: String(row['channel']),
    requests: Number(row['requests']),
  }));
  const totals = new Map<string, number>();
  for (const { model, requests } of shares) totals.set(model, (totals.get(model) ?? 0) + requests);
  return shares.map((one) => ({ ...one, share: one.requests / (totals.get(one.model) ?? 1) }));
}

const idsAtOnce = 1_000;

/** The model of each of these charges. */
export function* modelsOfCharges(ids: readonly string[]): Transaction<ReadonlyMap<string, string>> {
  const models = new Map<string, string>();
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const values = new SqlParameters();
    const some = values.placeAll(ids.slice(from, from + idsAtOnce));
    const sql = `SELECT id, model FROM usage WHERE id IN (${some})`;
    for (const row of yield { sql, params: values.params })
      models.set(String(row['id']), String(row['model']));
  }
  return models;
}

/**
 * The cost that a channel's vendor reported beyond the bounds of requests. The operator bore it.
 */
export interface ChannelLoss {
  readonly answers: number;
  readonly amount: Nano;
  /** When the last of the answers ended: wall clock, ms. */
  readonly last: number;
}

/** The losses by channel since `from`. An index of records with an excess serves it. */
export function* lossesByChannel(from: number): Transaction<ReadonlyMap<string, ChannelLoss>> {
  const rows = yield {
    sql: `SELECT COALESCE(channel, '') AS channel, COUNT(*) AS answers, SUM(excess) AS amount, MAX(finished_at) AS last FROM usage
      WHERE excess IS NOT NULL AND finished_at>=$1 GROUP BY COALESCE(channel, '')`,
    params: [from],
  };
  return new Map(
    rows.map((row) => [
      String(row['channel']),
      {
        answers: Number(row['answers']),
        amount: BigInt(row['amount'] ?? 0),
        last: Number(row['last']),
      },
    ]),
  );
}
