import { dayMs, hourMs } from '../base/calendar.ts';
import type { Database, Statement, Transaction } from '../storage/database.ts';
import { noStatementTimeout } from '../storage/sql.ts';
import {
  firstChargeOfAll,
  lockFigures,
  rolledUntil,
  startOfHour,
  startOfUtcDay,
  type TimeRange,
  totalsUntil,
} from './ranges.ts';

/**
 * Sums complete hours of one day, and that day when they end it. The sums of an hour or a day are
 * always computed as a whole, so that computing them again is right at any time. Run it under the
 * lock of the roll-up.
 */
export function* sumAllAccounts({ from, to }: TimeRange): Transaction<void> {
  for (const statement of hourSums({ from, to })) yield statement;
  if (to % dayMs === 0) for (const statement of daySums(to - dayMs)) yield statement;
  yield { sql: 'UPDATE usage_rolled SET totals_until=$1', params: [to] };
}

/** Sums again what contains an hour (its beginning) of which an account's figures have changed. */
export function* sumHourAgain(hour: number): Transaction<void> {
  const until = yield* totalsUntil();
  if (hour >= until) return;
  for (const statement of hourSums({ from: hour, to: hour + hourMs })) yield statement;
  const day = startOfUtcDay(hour);
  if (day + dayMs <= until) for (const statement of daySums(day)) yield statement;
}

/** Takes the sums back to `until`, which is `hour` or earlier. Run it under the same lock. */
export function* forgetAllAccounts(hour: number, until: number): Transaction<void> {
  const day = startOfUtcDay(hour);
  for (const table of ['model_hour', 'model_hour_line'])
    yield { sql: `DELETE FROM ${table} WHERE hour>=$1`, params: [hour] };
  for (const table of ['model_day', 'model_day_line', 'spend_day', 'channel_day'])
    yield { sql: `DELETE FROM ${table} WHERE day>=$1`, params: [day] };
  yield { sql: 'UPDATE usage_rolled SET totals_until=$1 WHERE totals_until>$1', params: [until] };
}

/**
 * Computes a day of the sums that a database lacks which an older version has rolled up. Returns
 * the time that they have reached; undefined when none is missing.
 */
export function catchUpAllAccounts(database: Database): Promise<number | undefined> {
  return database.transact(function* (): Transaction<number | undefined> {
    yield* noStatementTimeout(database);
    yield lockFigures;
    const complete = startOfHour(yield* rolledUntil());
    const summed = yield* totalsUntil();
    if (summed >= complete) return undefined;
    const first = summed === 0 ? ((yield* firstChargeOfAll()) ?? complete) : summed;
    const from = startOfHour(first);
    const to = Math.min(complete, startOfUtcDay(from) + dayMs);
    yield* sumAllAccounts({ from, to });
    return to;
  });
}

/** Reads each user's part of the keys of the hours, and nothing else. */
const hourSums = ({ from, to }: TimeRange): readonly Statement[] =>
  [
    'DELETE FROM model_hour WHERE hour>=$1 AND hour<$2',
    `INSERT INTO model_hour (hour, model, requests, cost)
      SELECT h.hour, h.model, SUM(h.requests), SUM(h.cost) FROM users u CROSS JOIN usage_hour h
      WHERE h.account=u.id AND h.hour>=$1 AND h.hour<$2 GROUP BY h.hour, h.model`,
    'DELETE FROM model_hour_line WHERE hour>=$1 AND hour<$2',
    `INSERT INTO model_hour_line (hour, model, measure, quantity)
      SELECT h.hour, h.model, h.measure, SUM(h.quantity)
      FROM users u CROSS JOIN usage_hour_line h
      WHERE h.account=u.id AND h.hour>=$1 AND h.hour<$2 GROUP BY h.hour, h.model, h.measure`,
  ].map((sql) => ({ sql, params: [from, to] }));

const daySums = (day: number): readonly Statement[] => [
  ...[
    'DELETE FROM model_day WHERE day=$1',
    'DELETE FROM model_day_line WHERE day=$1',
    'DELETE FROM spend_day WHERE day=$1',
    'DELETE FROM channel_day WHERE day=$1',
  ].map((sql) => ({ sql, params: [day] })),
  ...[
    `INSERT INTO model_day (day, model, requests, cost)
      SELECT CAST($1 AS BIGINT), model, SUM(requests), SUM(cost) FROM model_hour
      WHERE hour>=$1 AND hour<$2 GROUP BY model`,
    `INSERT INTO model_day_line (day, model, measure, quantity)
      SELECT CAST($1 AS BIGINT), model, measure, SUM(quantity) FROM model_hour_line
      WHERE hour>=$1 AND hour<$2 GROUP BY model, measure`,
    `INSERT INTO spend_day (day, account, requests, cost)
      SELECT CAST($1 AS BIGINT), h.account, SUM(h.requests), SUM(h.cost)
      FROM users u CROSS JOIN spend_hour h
      WHERE h.account=u.id AND h.hour>=$1 AND h.hour<$2 GROUP BY h.account`,
    `INSERT INTO channel_day (day, model, channel, requests)
      SELECT CAST($1 AS BIGINT), model, channel, SUM(requests) FROM speed_hour
      WHERE hour>=$1 AND hour<$2 GROUP BY model, channel`,
  ].map((sql) => ({ sql, params: [day, day + dayMs] })),
];
