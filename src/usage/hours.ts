import type { Database, Script, Statement } from '../storage/database.ts';
import { jsonRows } from '../storage/json-rows.ts';
import { patiently } from '../storage/patient.ts';
import { begunWithin, dayMs, hourMs, Places, rolledUntil, type Span } from './cover.ts';
import { firstByteClass } from './speeds.ts';
import { firstChargeOfAll } from './tail.ts';

/** What was charged so lately may not be committed yet. */
export const settledAfterMs = 120_000;
/** Rolled up at least so much at a time, once it is there: less would be more work. */
const stepMsMin = 300_000;

/**
 * Adds the records that were charged since the last time to the hourly figures, at most an hour of
 * them; gives up to when it has come, undefined when there is nothing left to do. The figures and
 * how far they go are one transaction: whoever dies in it has done nothing, and of two who do it at
 * once one waits and goes on where the other ended.
 */
export function rollUp(database: Database, now: number): Promise<number | undefined> {
  return database.transact(() => rolling(database, now));
}

/** Forgets all hourly figures; `rollUp` makes them again from the records. */
export function forgetHours(database: Database): Promise<void> {
  return database.transact(function* (): Script<void> {
    yield { sql: 'UPDATE usage_rolled SET until=0', params: [] };
    for (const table of [
      'usage_hour',
      'usage_hour_line',
      'spend_hour',
      'spend_key',
      'speed_hour',
      'usage_day',
      'usage_day_line',
    ])
      yield { sql: `DELETE FROM ${table}`, params: [] };
  });
}

function* rolling(database: Database, now: number): Script<number | undefined> {
  yield* patiently(database);
  yield { sql: 'UPDATE usage_rolled SET until=until', params: [] };
  const until = yield* rolledUntil();
  const from = until === 0 ? yield* firstHour() : until;
  if (from === undefined) return undefined;
  const to = Math.min(now - settledAfterMs, (Math.floor(from / hourMs) + 1) * hourMs);
  // The rest of an hour is done even when it is short; the beginning of one waits.
  if (to <= from || (to - from < stepMsMin && to % hourMs !== 0)) return undefined;
  for (const statement of Object.values(additions(database, { from, to }))) yield statement;
  if (to % hourMs === 0)
    for (const statement of intoDay({ from: to - hourMs, to })) yield statement;
  yield { sql: 'UPDATE usage_rolled SET until=$1', params: [to] };
  return to;
}

/** The hour of the first record ever; undefined when there is none. */
function* firstHour(): Script<number | undefined> {
  const first = yield* firstChargeOfAll();
  return first === undefined ? undefined : Math.floor(first / hourMs) * hourMs;
}

/**
 * Adds complete hours to their days. `account`: of this one alone. All of the span is one day's.
 */
export function intoDay({ from, to }: Span, account?: string): readonly Statement[] {
  const day = Math.floor(from / dayMs) * dayMs;
  const adding = (table: string, keys: string, sums: readonly string[]): Statement => {
    const places = new Places();
    const whose = account === undefined ? '' : ` AND u.id=${places.add(account)}`;
    const added = sums
      .map((column) => `${column}=${table}.${column}+excluded.${column}`)
      .join(', ');
    const columns = keys.split(', ');
    return {
      sql: `INSERT INTO ${table} (account, day, ${keys}, ${sums.join(', ')})
        SELECT h.account, CAST(${places.add(day)} AS BIGINT), ${columns.map((column) => `h.${column}`).join(', ')}, ${sums.map((column) => `SUM(h.${column})`).join(', ')}
        FROM users u CROSS JOIN ${table.replace('usage_day', 'usage_hour')} h
        WHERE h.account=u.id AND h.hour>=${places.add(from)} AND h.hour<${places.add(to)}${whose}
        GROUP BY h.account, ${columns.map((column) => `h.${column}`).join(', ')}
        ON CONFLICT (account, day, ${keys}) DO UPDATE SET ${added}`,
      params: places.params,
    };
  };
  const kinds = 'key_id, model, capability, status, estimated';
  return [
    adding('usage_day', kinds, ['requests', 'cost']),
    adding('usage_day_line', `${kinds}, measure`, ['quantity', 'cost']),
  ];
}

const kindColumns = 'account, hour, key_id, model, capability, status, estimated';
const kindOfRecord = (hour: () => string): string =>
  `r.account, ${hour()}, r.key_id, r.model, r.capability, r.status, r.estimated`;

/** `account`: of this one alone. */
export function additions(
  database: Pick<Database, 'dialect'>,
  span: Span,
  account?: string,
): Readonly<Record<string, Statement>> {
  const lines = jsonRows(database, 'r.lines');
  const { from } = lines;
  return {
    usage_hour: addition(span, account, {
      table: 'usage_hour',
      keys: kindColumns,
      of: kindOfRecord,
      sums: { requests: 'COUNT(*)', cost: 'SUM(r.cost-r.shortfall)' },
      most: { dearest: 'MAX(r.cost)' },
    }),
    usage_hour_line: addition(span, account, {
      table: 'usage_hour_line',
      keys: `${kindColumns}, measure`,
      of: (hour) => `${kindOfRecord(hour)}, ${lines.text(0)}`,
      sums: {
        quantity: `SUM(CAST(ROUND(${lines.number(1)}*1000000) AS BIGINT))`,
        cost: `SUM(CAST(${lines.text(3)} AS BIGINT))`,
      },
      join: from,
    }),
    spend_hour: addition(span, account, {
      table: 'spend_hour',
      keys: 'account, hour',
      of: (hour) => `r.account, ${hour()}`,
      sums: { requests: 'COUNT(*)', cost: 'SUM(r.cost-r.shortfall)' },
    }),
    spend_key: addition(span, account, {
      table: 'spend_key',
      keys: 'account, key_id',
      of: () => 'r.account, r.key_id',
      sums: { requests: 'COUNT(*)', cost: 'SUM(r.cost-r.shortfall)' },
    }),
    speed_hour: addition(span, account, {
      table: 'speed_hour',
      keys: 'model, hour, channel, first_byte',
      of: (hour) =>
        `r.model, ${hour()}, COALESCE(r.channel, ''), ${firstByteClass('r.first_byte_ms')}`,
      sums: {
        requests: 'COUNT(*)',
        cut: "SUM(CASE WHEN r.status='cut' THEN 1 ELSE 0 END)",
        cost: 'SUM(r.cost-r.shortfall)',
        duration: 'SUM(r.duration_ms)',
      },
    }),
  };
}

interface Addition {
  readonly table: string;
  readonly keys: string;
  readonly of: (hour: () => string) => string;
  readonly sums: Readonly<Record<string, string>>;
  readonly most?: Readonly<Record<string, string>>;
  readonly join?: string;
}

/**
 * From every user's own stretch of the index: nothing else is read. The order of the join is
 * SQLite's to keep, and PostgreSQL's to choose.
 */
function addition(
  span: Span,
  account: string | undefined,
  { table, keys, of, sums, most = {}, join }: Addition,
): Statement {
  const places = new Places();
  const whose = account === undefined ? '' : ` AND u.id=${places.add(account)}`;
  const within = `r.finished_at>=${places.add(span.from)} AND r.finished_at<${places.add(span.to)} AND ${begunWithin(places, span)}`;
  // A span lies within one hour.
  const hour = () => `CAST(${places.add(Math.floor(span.from / hourMs) * hourMs)} AS BIGINT)`;
  const values = { ...sums, ...most };
  const add = Object.keys(sums).map((column) => `${column}=${table}.${column}+excluded.${column}`);
  const raise = Object.keys(most).map(
    (column) =>
      `${column}=CASE WHEN ${table}.${column}<excluded.${column} THEN excluded.${column} ELSE ${table}.${column} END`,
  );
  const grouped = keys.split(', ').map((_, index) => index + 1);
  return {
    sql: `INSERT INTO ${table} (${keys}, ${Object.keys(values).join(', ')})
      SELECT ${of(hour)}, ${Object.values(values).join(', ')}
      FROM users u CROSS JOIN usage r${join === undefined ? '' : ` CROSS JOIN ${join}`}
      WHERE r.account=u.id${whose} AND ${within} GROUP BY ${grouped.join(', ')}
      ON CONFLICT (${keys}) DO UPDATE SET ${[...add, ...raise].join(', ')}`,
    params: places.params,
  };
}
