import { assert } from '../base/assert.ts';
import { bump } from '../storage/changes.ts';
import type { Database, Row, Script } from '../storage/database.ts';
import { keysTopic, orderedId } from './keys.ts';

export type Role = 'user' | 'operator';

/** `id` is also the id of the user's ledger account. `createdAt` is wall clock, ms. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly frozen: boolean;
  readonly createdAt: number;
}

export interface NewUser {
  readonly name: string;
  readonly role: Role;
  /** Wall clock, ms. */
  readonly at: number;
}

const columns = 'id, name, role, frozen, created_at';

function userOf(row: Row): User {
  return {
    id: String(row['id']),
    name: String(row['name']),
    role: row['role'] === 'operator' ? 'operator' : 'user',
    frozen: row['frozen'] === 1n,
    createdAt: Number(row['created_at']),
  };
}

/** Part of a transaction: whoever makes a user makes the ledger account of the same id in it. */
export function* createUser({ name, role, at }: NewUser): Script<User> {
  const sql = `INSERT INTO users (id, name, role, created_at) VALUES ($1, $2, $3, $4) RETURNING ${columns}`;
  const [row] = yield { sql, params: [orderedId('user_', at), name, role, at] };
  assert(row !== undefined, 'an INSERT returns its row');
  return userOf(row);
}

export async function findUser(database: Database, id: string): Promise<User | undefined> {
  const [row] = await database.query(`SELECT ${columns} FROM users WHERE id = $1`, [id]);
  return row && userOf(row);
}

/** In the order in which they were made, beginning after the user `after`; at most `limit`. */
export async function listUsers(
  database: Database,
  { after = '', limit }: { readonly after?: string; readonly limit: number },
): Promise<readonly User[]> {
  const rows = await database.query(`SELECT ${columns} FROM users WHERE id > $1 ORDER BY id LIMIT $2`, [after, limit]);
  return rows.map(userOf);
}

/** A frozen user's keys are unknown in every process within a second. False when there is no such user. */
export function* setFrozen(userId: string, frozen: boolean): Script<boolean> {
  const [change] = yield bump(keysTopic);
  const changed = yield { sql: 'UPDATE users SET frozen = $1 WHERE id = $2 RETURNING id', params: [frozen ? 1 : 0, userId] };
  yield { sql: 'UPDATE api_keys SET version = $1 WHERE user_id = $2', params: [change?.['version'] ?? 0n, userId] };
  return changed.length > 0;
}
