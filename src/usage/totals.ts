import type { Measure } from '../base/quantities.ts';
import type { Database, Row } from '../storage/database.ts';
import type { Span } from './cover.ts';

/** What all accounts together were sold of a model, of one measure, in millionths of its unit. As far as it is rolled up: hours, and not the last minutes. */
export interface Sold {
  readonly model: string;
  readonly measure: Measure;
  readonly micros: bigint;
}

// Every user's own stretch of the key, so that nothing else is read.
const hoursOfAll = 'FROM users u CROSS JOIN usage_hour_line h WHERE h.account=u.id AND h.hour>=$1 AND h.hour<$2';
const quantity = 'CAST(SUM(h.quantity) AS BIGINT) AS quantity';

export async function soldByModel(database: Database, { from, to }: Span): Promise<readonly Sold[]> {
  const sql = `SELECT h.model, h.measure, ${quantity} ${hoursOfAll} GROUP BY h.model, h.measure`;
  return (await database.query(sql, [from, to])).map((row) => ({ model: String(row['model']), ...meteredOf(row) }));
}

/** The same of one model, by who bought it in which group. */
export interface SoldTo extends Omit<Sold, 'model'> {
  readonly account: string;
  readonly group: string;
}

export async function soldTo(database: Database, model: string, { from, to }: Span): Promise<readonly SoldTo[]> {
  const sql = `SELECT s.account, k.group_name, s.measure, CAST(SUM(s.quantity) AS BIGINT) AS quantity
    FROM (SELECT h.account, h.key_id, h.measure, ${quantity} ${hoursOfAll} AND h.model=$3 GROUP BY h.account, h.key_id, h.measure) s
    JOIN api_keys k ON k.id=s.key_id GROUP BY s.account, k.group_name, s.measure`;
  const rows = await database.query(sql, [from, to, model]);
  return rows.map((row) => ({ account: String(row['account']), group: String(row['group_name']), ...meteredOf(row) }));
}

/** What the keys of a group bought on whole days (UTC), by who bought it. */
export async function soldInGroup(
  database: Database,
  group: string,
  { from, to }: Span,
): Promise<readonly (Sold & { readonly account: string })[]> {
  const sql = `SELECT h.account, h.model, h.measure, ${quantity} FROM api_keys k CROSS JOIN usage_day_line h
    WHERE k.group_name=$3 AND h.account=k.user_id AND h.key_id=k.id AND h.day>=$1 AND h.day<$2 GROUP BY h.account, h.model, h.measure`;
  const rows = await database.query(sql, [from, to, group]);
  return rows.map((row) => ({ account: String(row['account']), model: String(row['model']), ...meteredOf(row) }));
}

const meteredOf = (row: Row): Pick<Sold, 'measure' | 'micros'> => ({
  // Written by `rollUp`.
  measure: String(row['measure']) as Measure,
  micros: BigInt(row['quantity'] ?? 0),
});

/** What was paid, and for how many requests, of all accounts. */
export async function takenWithin(database: Database, { from, to }: Span): Promise<{ readonly requests: number; readonly cost: bigint }> {
  const sql = `SELECT CAST(SUM(h.requests) AS BIGINT) AS requests, CAST(SUM(h.cost) AS BIGINT) AS cost
    FROM users u CROSS JOIN spend_hour h WHERE h.account=u.id AND h.hour>=$1 AND h.hour<$2`;
  const [row] = await database.query(sql, [from, to]);
  return { requests: Number(row?.['requests'] ?? 0), cost: BigInt(row?.['cost'] ?? 0) };
}

/** By model, how many of its requests each channel has served. */
export async function sharesOfChannels(
  database: Database,
  { from, to }: Span,
): Promise<readonly { readonly model: string; readonly channel: string; readonly share: number }[]> {
  const sql = `SELECT model, channel, CAST(SUM(requests) AS BIGINT) AS requests FROM speed_hour WHERE hour>=$1 AND hour<$2 GROUP BY model, channel`;
  const rows = await database.query(sql, [from, to]);
  const totals = new Map<string, number>();
  for (const row of rows) totals.set(String(row['model']), (totals.get(String(row['model'])) ?? 0) + Number(row['requests']));
  return rows.map((row) => {
    const model = String(row['model']);
    return { model, channel: String(row['channel']), share: Number(row['requests']) / (totals.get(model) ?? 1) };
  });
}
