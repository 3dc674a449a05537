import type { Database, Transaction } from '../storage/database.ts';
import { placeholders } from '../storage/sql.ts';

/** The names of those ids that are users. */
export const userNames = (database: Database, ids: readonly string[]) =>
  namesOf(database, 'users', ids);

/** The names of keys of any users, deleted ones included. */
export const keyNames = (database: Database, ids: readonly string[]) =>
  namesOf(database, 'api_keys', ids);

async function namesOf(
  database: Database,
  table: 'users' | 'api_keys',
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const sql = `SELECT id, name FROM ${table} WHERE id IN (${placeholders(wanted)})`;
  const rows = await database.query(sql, wanted);
  return new Map(rows.map((row) => [String(row['id']), String(row['name'])]));
}

/** The account that a key belongs to, deleted or not; undefined: there is no such key. */
export function* accountOfKey(id: string): Transaction<string | undefined> {
  const [row] = yield { sql: 'SELECT user_id FROM api_keys WHERE id=$1', params: [id] };
  return row === undefined ? undefined : String(row['user_id']);
}
