import type { Clock } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';

const forgottenAtOnce = 500;
const tables = [
  ['sessions', 'id'],
  ['sign_in_links', 'hash'],
  ['sign_in_attempts', 'state'],
] as const;

/**
 * Forgets sessions, links and attempts that are over: at most 500 of each at a time. Gives the most
 * of any.
 */
export async function expireSignIns(database: Database, clock: Clock): Promise<number> {
  let most = 0;
  for (const [table, key] of tables) {
    const sql = `DELETE FROM ${table} WHERE ${key} IN (SELECT ${key} FROM ${table} WHERE expires_at <= $1 LIMIT ${forgottenAtOnce}) RETURNING ${key}`;
    most = Math.max(most, (await database.query(sql, [clock.now()])).length);
  }
  return most;
}
