import { dayMs, hourMs } from '../base/calendar.ts';
import type { Database, Transaction, Statement, Row } from '../storage/database.ts';
import {
  jsonRows,
  noStatementTimeout,
  sqlHour,
  SqlParameters,
  textColumn,
} from '../storage/sql.ts';
import { forgetAllAccounts, sumAllAccounts, sumHourAgain } from './all-accounts.ts';
import { firstByteClass, speedSums } from './histogram.ts';
import {
  anyChargedWithin,
  recordsOf,
  rolledUntil,
  totalsUntil,
  type TimeRange,
  firstChargeAt,
  firstChargeOfAll,
  lockFigures,
  startOfHour,
  startOfUtcDay,
  chargedWithin,
} from './ranges.ts';
import { lineCostSql, lineMeasureSql, lineMicrosSql } from './record.ts';

/** A more recent charge may not be committed yet. */
export const settledAfterMs = 120_000;
/** The least that is rolled up at a time: smaller steps would be more work. */
const stepMsMin = 300_000;

/**
 * Adds the records charged since the last time to the hourly figures, at most an hour of them.
 * Returns the time it has reached, undefined when nothing is left to do. The figures and that time
 * are one transaction: a crash in it changes nothing, and of two runs at once the second waits and
 * goes on where the first ended.
 */
export function rollUp(database: Database, now: number): Promise<number | undefined> {
  return database.transact(() => rolling(database, now));
}

function* rolling(database: Database, now: number): Transaction<number | undefined> {
  yield* noStatementTimeout(database);
  yield lockFigures;
  const until = yield* rolledUntil();
  const from = until === 0 ? yield* firstHour() : until;
  if (from === undefined) return undefined;
  const to = Math.min(now - settledAfterMs, startOfHour(from) + hourMs);
  // The rest of an hour is rolled up even when it is short; a short beginning waits.
  if (to <= from || (to - from < stepMsMin && to % hourMs !== 0)) return undefined;
  if (until === 0) yield { sql: 'UPDATE usage_rolled SET totals_until=$1', params: [from] };
  for (const one of additions(database)) yield addition(one, { from, to });
  if (to % hourMs === 0) {
    const hour = { from: to - hourMs, to };
    for (const statement of addToDay(hour)) yield statement;
    // Without the sums of the hours before, the hour waits for `catchUpAllAccounts`.
    if ((yield* totalsUntil()) === hour.from) yield* sumAllAccounts(hour);
  }
  yield { sql: 'UPDATE usage_rolled SET until=$1', params: [to] };
  return to;
}

/** The hour of the very first record; undefined when there is none. */
function* firstHour(): Transaction<number | undefined> {
  const first = yield* firstChargeOfAll();
  return first === undefined ? undefined : startOfHour(first);
}

const dayTables = ['usage_day', 'usage_day_line'];
/** The columns that tell the requests of an hour or a day apart. */
const kinds = 'key_id, model, capability, status, estimated';

/** Adds complete hours, all of one day, to that day. `account`: only this account's. */
function addToDay({ from, to }: TimeRange, account?: string): readonly Statement[] {
  const day = startOfUtcDay(from);
  const adding = (table: string, keys: string, sums: readonly string[]): Statement => {
    const values = new SqlParameters();
    const whose = account === undefined ? '' : ` AND u.id=${values.place(account)}`;
    const added = sums
      .map((column) => `${column}=${table}.${column}+excluded.${column}`)
      .join(', ');
    const columns = keys.split(', ');
    return {
      sql: `INSERT INTO ${table} (account, day, ${keys}, ${sums.join(', ')})
        SELECT h.account, CAST(${values.place(day)} AS BIGINT), ${columns.map((column) => `h.${column}`).join(', ')}, ${sums.map((column) => `SUM(h.${column})`).join(', ')}
        FROM users u CROSS JOIN ${table.replace('usage_day', 'usage_hour')} h
        WHERE h.account=u.id AND h.hour>=${values.place(from)} AND h.hour<${values.place(to)}${whose}
        GROUP BY h.account, ${columns.map((column) => `h.${column}`).join(', ')}
        ON CONFLICT (account, day, ${keys}) DO UPDATE SET ${added}`,
      params: values.params,
    };
  };
  return [
    adding('usage_day', kinds, ['requests', 'cost']),
    adding('usage_day_line', `${kinds}, measure`, ['quantity', 'cost']),
  ];
}

const kindColumns = `account, hour, ${kinds}`;
const kindOfRecord = (hour: () => string): string =>
  `r.account, ${hour()}, r.key_id, r.model, r.capability, r.status, r.estimated`;

/** What the records of an hour add to one table of figures. */
interface Addition {
  readonly table: string;
  readonly keys: string;
  readonly of: (hour: () => string) => string;
  readonly sums: Readonly<Record<string, string>>;
  readonly most?: Readonly<Record<string, string>>;
  readonly join?: string;
}

const paidSums = { requests: 'COUNT(*)', cost: 'SUM(r.cost-r.shortfall)' };

function additions(database: Pick<Database, 'dialect'>): readonly Addition[] {
  const lines = jsonRows(database, 'r.lines');
  return [
    {
      table: 'usage_hour',
      keys: kindColumns,
      of: kindOfRecord,
      sums: paidSums,
      most: { dearest: 'MAX(r.cost)' },
    },
    {
      table: 'usage_hour_line',
      keys: `${kindColumns}, measure`,
      of: (hour) => `${kindOfRecord(hour)}, ${lineMeasureSql(lines)}`,
      sums: { quantity: `SUM(${lineMicrosSql(lines)})`, cost: `SUM(${lineCostSql(lines)})` },
      join: lines.from,
    },
    {
      table: 'spend_hour',
      keys: 'account, hour',
      of: (hour) => `r.account, ${hour()}`,
      sums: paidSums,
    },
    {
      table: 'spend_key',
      keys: 'account, key_id',
      of: () => 'r.account, r.key_id',
      sums: paidSums,
    },
    {
      table: 'speed_hour',
      keys: 'model, hour, channel, first_byte',
      of: (hour) =>
        `r.model, ${hour()}, COALESCE(r.channel, ''), ${firstByteClass('r.first_byte_ms')}`,
      sums: speedSums,
    },
  ];
}

/**
 * The statement that adds the range's records to a table. `account`: only this account's.
 *
 * Reads each user's part of the index, and nothing else. SQLite keeps the order of the join;
 * PostgreSQL may choose another.
 */
function addition(
  { table, keys, of, sums, most = {}, join }: Addition,
  span: TimeRange,
  account?: string,
): Statement {
  const values = new SqlParameters();
  const whose = account === undefined ? '' : ` AND u.id=${values.place(account)}`;
  const within = anyChargedWithin(values, span);
  // A span lies within one hour.
  const hour = () => `CAST(${values.place(startOfHour(span.from))} AS BIGINT)`;
  const figures = { ...sums, ...most };
  const add = Object.keys(sums).map((column) => `${column}=${table}.${column}+excluded.${column}`);
  const raise = Object.keys(most).map(
    (column) =>
      `${column}=CASE WHEN ${table}.${column}<excluded.${column} THEN excluded.${column} ELSE ${table}.${column} END`,
  );
  const grouped = keys.split(', ').map((_, index) => index + 1);
  return {
    sql: `INSERT INTO ${table} (${keys}, ${Object.keys(figures).join(', ')})
      SELECT ${of(hour)}, ${Object.values(figures).join(', ')}
      FROM users u CROSS JOIN usage r${join === undefined ? '' : ` CROSS JOIN ${join}`}
      WHERE r.account=u.id${whose} AND ${within} GROUP BY ${grouped.join(', ')}
      ON CONFLICT (${keys}) DO UPDATE SET ${[...add, ...raise].join(', ')}`,
    params: values.params,
  };
}

/**
 * The most that is compared in one transaction: on SQLite it blocks all other writes. A day has
 * several such steps.
 */
const rebuildStepMs = 6 * hourMs;
/**
 * The figures of one account that a late record changes; `speed_hour` belongs to no account, and is
 * no money.
 */
const rebuiltTables: readonly string[] = ['usage_hour', 'usage_hour_line', 'spend_hour'];

/**
 * Corrects an account's hourly figures from its records; returns how many hours were wrong. A
 * record that is committed hours after its charge (its database did not answer meanwhile) comes too
 * late for the roll-up of its hour. Called when an account's figures and its ledger differ.
 */
export async function rebuildHours(database: Database, account: string): Promise<number> {
  const first = await database.snapshot(() => firstChargeAt(account));
  if (first === undefined) return 0;
  const until = await database.snapshot(rolledUntil);
  let mended = 0;
  for (
    let from = Math.floor(first / rebuildStepMs) * rebuildStepMs;
    from < until;
    from += rebuildStepMs
  )
    mended += await database.transact(() =>
      rebuilding(database, account, { from, to: from + rebuildStepMs }),
    );
  if (mended > 0) await database.transact(() => sumKeys(account));
  return mended;
}

/** The same for one hour of all accounts that have records in it; returns how many were wrong. */
export async function recheckHour(database: Database, hour: number): Promise<number> {
  const span = { from: hour, to: hour + hourMs };
  const wrong = await database.snapshot(() => differing(database, span));
  for (const account of wrong) {
    await database.transact(() => rebuilding(database, account, span));
    await database.transact(() => sumKeys(account));
  }
  return wrong.length;
}

function* differing(database: Database, span: TimeRange): Transaction<readonly string[]> {
  yield* noStatementTimeout(database);
  const values = new SqlParameters();
  const recorded = yield {
    sql: `SELECT r.account, COUNT(*) AS requests, CAST(SUM(r.cost-r.shortfall) AS BIGINT) AS cost
      ${recordsOf(values, span)} GROUP BY r.account`,
    params: values.params,
  };
  const rolled = yield {
    sql: 'SELECT s.account, s.requests, s.cost FROM users u CROSS JOIN spend_hour s WHERE s.account=u.id AND s.hour=$1',
    params: [span.from],
  };
  const known = new Map(rolled.map((row) => [row['account'], figureText(row)]));
  return recorded
    .filter((row) => known.get(row['account'] ?? '') !== figureText(row))
    .map((row) => String(row['account']));
}

const figureText = ({ requests = null, cost = null }: Row): string => `${requests} ${cost}`;

function* rebuilding(
  database: Database,
  account: string,
  { from, to }: TimeRange,
): Transaction<number> {
  yield* noStatementTimeout(database);
  // Locks out a concurrent roll-up, so that the figures end where it says from here on.
  yield lockFigures;
  const span = { from, to: Math.min(to, yield* rolledUntil()) };
  const values = new SqlParameters();
  const recorded = yield {
    sql: `SELECT ${sqlHour('r.finished_at')} AS hour, COUNT(*) AS requests, CAST(SUM(r.cost-r.shortfall) AS BIGINT) AS cost FROM usage r
      WHERE ${chargedWithin(values, account, span)} GROUP BY 1`,
    params: values.params,
  };
  const rolled = yield {
    sql: 'SELECT hour, requests, cost FROM spend_hour WHERE account=$1 AND hour>=$2 AND hour<$3',
    params: [account, span.from, span.to],
  };
  const known = new Map(rolled.map((row) => [Number(row['hour']), figureText(row)]));
  let mended = 0;
  for (const row of recorded) {
    const hour = Number(row['hour']);
    if (known.get(hour) === figureText(row)) continue;
    for (const table of rebuiltTables)
      yield { sql: `DELETE FROM ${table} WHERE account=$1 AND hour=$2`, params: [account, hour] };
    const whole = { from: hour, to: Math.min(hour + hourMs, span.to) };
    for (const one of additions(database))
      if (rebuiltTables.includes(one.table)) yield addition(one, whole, account);
    yield* sumHourAgain(hour);
    mended++;
  }
  if (mended > 0) yield* sumDay(account, span.from);
  return mended;
}

/** A day's figures are the sum of its complete hours. */
function* sumDay(account: string, at: number): Transaction<void> {
  const from = startOfUtcDay(at);
  const complete = startOfHour(yield* rolledUntil());
  for (const table of dayTables)
    yield { sql: `DELETE FROM ${table} WHERE account=$1 AND day=$2`, params: [account, from] };
  for (const statement of addToDay({ from, to: Math.min(from + dayMs, complete) }, account))
    yield statement;
}

/** A key's figures are the sum of its hours. */
function* sumKeys(account: string): Transaction<void> {
  yield lockFigures;
  yield { sql: 'DELETE FROM spend_key WHERE account=$1', params: [account] };
  yield {
    sql: 'INSERT INTO spend_key (account, key_id, requests, cost) SELECT account, key_id, SUM(requests), SUM(cost) FROM usage_hour WHERE account=$1 GROUP BY account, key_id',
    params: [account],
  };
}

/**
 * Takes the figures of all accounts back to the hour's beginning, from which `rollUp` makes them
 * again, unless they reach to another time than `until` by now.
 */
export function rewind(database: Database, { from: hour, to: until }: TimeRange): Promise<void> {
  return database.transact(function* (): Transaction<void> {
    yield* noStatementTimeout(database);
    yield lockFigures;
    if ((yield* rolledUntil()) !== until) return;
    const first = yield* firstHour();
    const left = first === undefined || first >= hour ? 0 : hour;
    yield { sql: 'UPDATE usage_rolled SET until=$1', params: [left] };
    const accounts = yield {
      sql: `SELECT u.id FROM users u
        WHERE EXISTS (SELECT 1 FROM spend_hour s WHERE s.account=u.id AND s.hour>=$1)`,
      params: [hour],
    };
    for (const row of accounts) {
      const account = textColumn(row, 'id');
      for (const table of rebuiltTables)
        yield {
          sql: `DELETE FROM ${table} WHERE account=$1 AND hour>=$2`,
          params: [account, hour],
        };
      for (const table of dayTables)
        yield { sql: `DELETE FROM ${table} WHERE account=$1 AND day>$2`, params: [account, hour] };
      yield* sumDay(account, hour);
      yield* sumKeys(account);
    }
    yield { sql: 'DELETE FROM speed_hour WHERE hour>=$1', params: [hour] };
    yield* forgetAllAccounts(hour, left);
  });
}
