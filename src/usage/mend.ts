import type { Database, Row, Script } from '../storage/database.ts';
import { patiently } from '../storage/patient.ts';
import {
  begunWithin,
  chargedWithin,
  dayMs,
  hourMs,
  Places,
  rolledUntil,
  type Span,
} from './cover.ts';
import { additions, intoDay } from './hours.ts';

/**
 * So much is compared in one transaction: on SQLite nobody else writes meanwhile. A day has some of
 * them.
 */
const stepMs = 6 * hourMs;
/** Figures of one account that a late record changes; `speed_hour` is everybody's, and no money. */
const tables = ['usage_hour', 'usage_hour_line', 'spend_hour'] as const;

/**
 * Makes an account's hourly figures say again what its records say; how many hours were wrong. A
 * record that is committed hours after it was charged (its database was away meanwhile) comes too
 * late to be rolled up with the others of its hour. Whoever finds that an account's figures and its
 * ledger differ asks for this.
 */
export async function mendHours(database: Database, account: string): Promise<number> {
  const [bounds] = await database.query(
    'SELECT MIN(finished_at) AS first FROM usage WHERE account=$1',
    [account],
  );
  const first = bounds?.['first'] ?? null;
  if (first === null) return 0;
  const until = await database.snapshot(rolledUntil);
  let mended = 0;
  for (let from = Math.floor(Number(first) / stepMs) * stepMs; from < until; from += stepMs)
    mended += await database.transact(() =>
      mending(database, account, { from, to: Math.min(from + stepMs, until) }),
    );
  if (mended > 0) await database.transact(() => sumKeys(account));
  return mended;
}

/** The same for one hour of all accounts that have records in it; how many were wrong. */
export async function lookAgain(database: Database, hour: number): Promise<number> {
  const span = { from: hour, to: hour + hourMs };
  const wrong = await database.snapshot(() => differing(database, span));
  for (const account of wrong) {
    await database.transact(() => mending(database, account, span));
    await database.transact(() => sumKeys(account));
  }
  return wrong.length;
}

function* differing(database: Database, span: Span): Script<readonly string[]> {
  yield* patiently(database);
  const places = new Places();
  const within = `r.finished_at>=${places.add(span.from)} AND r.finished_at<${places.add(span.to)} AND ${begunWithin(places, span)}`;
  const recorded = yield {
    sql: `SELECT r.account, COUNT(*) AS requests, CAST(SUM(r.cost-r.shortfall) AS BIGINT) AS cost FROM users u CROSS JOIN usage r
      WHERE r.account=u.id AND ${within} GROUP BY r.account`,
    params: places.params,
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

function* mending(database: Database, account: string, span: Span): Script<number> {
  yield* patiently(database);
  // Nobody rolls up meanwhile.
  yield { sql: 'UPDATE usage_rolled SET until=until', params: [] };
  const places = new Places();
  const recorded = yield {
    sql: `SELECT r.finished_at-r.finished_at%${hourMs} AS hour, COUNT(*) AS requests, CAST(SUM(r.cost-r.shortfall) AS BIGINT) AS cost FROM usage r
      WHERE ${chargedWithin(places, account, span)} GROUP BY 1`,
    params: places.params,
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
    for (const table of tables)
      yield { sql: `DELETE FROM ${table} WHERE account=$1 AND hour=$2`, params: [account, hour] };
    const whole = { from: hour, to: Math.min(hour + hourMs, span.to) };
    for (const [table, statement] of Object.entries(additions(database, whole, account)))
      if (tables.some((one) => one === table)) yield statement;
    mended++;
  }
  if (mended > 0) yield* sumDay(account, span.from);
  return mended;
}

/** A day's figures are the sum of its complete hours. */
function* sumDay(account: string, at: number): Script<void> {
  const from = Math.floor(at / dayMs) * dayMs;
  const complete = Math.floor((yield* rolledUntil()) / hourMs) * hourMs;
  for (const table of ['usage_day', 'usage_day_line'])
    yield { sql: `DELETE FROM ${table} WHERE account=$1 AND day=$2`, params: [account, from] };
  for (const statement of intoDay({ from, to: Math.min(from + dayMs, complete) }, account))
    yield statement;
}

/** A key's figures are the sum of its hours. */
function* sumKeys(account: string): Script<void> {
  yield { sql: 'UPDATE usage_rolled SET until=until', params: [] };
  yield { sql: 'DELETE FROM spend_key WHERE account=$1', params: [account] };
  yield {
    sql: 'INSERT INTO spend_key (account, key_id, requests, cost) SELECT account, key_id, SUM(requests), SUM(cost) FROM usage_hour WHERE account=$1 GROUP BY account, key_id',
    params: [account],
  };
}
