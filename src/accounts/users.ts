import { assert } from '../base/assert.ts';
import type { Nano } from '../base/money.ts';
import { bump } from '../storage/changes.ts';
import type { Database, Row, Script, SqlValue } from '../storage/database.ts';
import { keysTopic, orderedId } from './keys.ts';

export type Role = 'user' | 'operator';

/** Whoever is suspended has no console, and keys that nobody knows. */
export type UserState = 'active' | 'suspended';

export type Language = 'zh' | 'en';

/** `id` is also the id of the user's ledger account. `createdAt` is wall clock, ms. */
export interface User {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly state: UserState;
  /** IANA name: where the user's days begin. */
  readonly zone: string;
  /** Undefined: the browser's. */
  readonly language: Language | undefined;
  /** Below it the user is told that the balance is low; undefined: never. */
  readonly lowBalance: Nano | undefined;
  /** Where that is told; undefined: nowhere but in the console. */
  readonly email: string | undefined;
  /** Whether single letters are shortcuts in the console. */
  readonly shortcuts: boolean;
  /** Counts changes, so that nobody overwrites one that he has not seen. */
  readonly version: number;
  readonly createdAt: number;
}

/** What users say about themselves; what is left out stays, and null takes it away. */
export interface UserChange {
  readonly name?: string;
  readonly zone?: string;
  readonly language?: Language | null;
  readonly lowBalance?: Nano | null;
  readonly email?: string | null;
  readonly shortcuts?: boolean;
}

export interface NewUser {
  readonly name: string;
  readonly role: Role;
  /** Wall clock, ms. */
  readonly at: number;
}

const columns =
  'id, name, role, frozen, zone, language, low_balance, email, shortcuts, version, created_at';

/** Of a row with the columns of `users`. */
export function userOf(row: Row): User {
  const { language, low_balance: lowBalance, email } = row;
  return {
    id: String(row['id']),
    name: String(row['name']),
    role: row['role'] === 'operator' ? 'operator' : 'user',
    state: row['frozen'] === 1n ? 'suspended' : 'active',
    zone: String(row['zone']),
    language: language === 'zh' || language === 'en' ? language : undefined,
    lowBalance: typeof lowBalance === 'bigint' ? lowBalance : undefined,
    email: typeof email === 'string' ? email : undefined,
    shortcuts: row['shortcuts'] === 1n,
    version: Number(row['version']),
    createdAt: Number(row['created_at']),
  };
}

/** Part of a transaction: whoever makes a user makes the ledger account of the same id in it. */
export function* createUser({ name, role, at }: NewUser): Script<User> {
  const sql = `INSERT INTO users (id, name, role, created_at) VALUES ($1, $2, $3, $4) RETURNING ${columns}`;
  const [row] = yield { sql, params: [orderedId('usr_', at), name, role, at] };
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
  const rows = await database.query(
    `SELECT ${columns} FROM users WHERE id > $1 ORDER BY id LIMIT $2`,
    [after, limit],
  );
  return rows.map(userOf);
}

/** Undefined: there is no such user, or it has changed since `version`. */
export function* changeUser(
  userId: string,
  version: number,
  change: UserChange,
): Script<User | undefined> {
  const { name, zone, language, lowBalance, email, shortcuts } = change;
  const given: readonly (readonly [column: string, value: SqlValue | undefined])[] = [
    ['name', name],
    ['zone', zone],
    ['language', language],
    ['low_balance', lowBalance],
    ['email', email],
    ['shortcuts', shortcuts === undefined ? undefined : Number(shortcuts)],
  ];
  const set = given.flatMap(([column, value]) => (value === undefined ? [] : [{ column, value }]));
  const sql = `UPDATE users SET version = version + 1${set.map(({ column }, i) => `, ${column} = $${i + 3}`).join('')}
    WHERE id = $1 AND version = $2 RETURNING ${columns}`;
  const [row] = yield { sql, params: [userId, version, ...set.map(({ value }) => value)] };
  return row && userOf(row);
}

/**
 * A suspended user's keys are unknown in every process within a second. Undefined when there is no
 * such user.
 */
export function* setUserState(userId: string, state: UserState): Script<User | undefined> {
  const [change] = yield bump(keysTopic);
  const sql = `UPDATE users SET frozen = $1, version = version + 1 WHERE id = $2 RETURNING ${columns}`;
  const [row] = yield { sql, params: [state === 'suspended' ? 1 : 0, userId] };
  yield {
    sql: 'UPDATE api_keys SET version = $1 WHERE user_id = $2',
    params: [change?.['version'] ?? 0n, userId],
  };
  return row && userOf(row);
}

/** Undefined when there is no such user. */
export function* setUserRole(userId: string, role: Role): Script<User | undefined> {
  const sql = `UPDATE users SET role = $1, version = version + 1 WHERE id = $2 RETURNING ${columns}`;
  const [row] = yield { sql, params: [role, userId] };
  return row && userOf(row);
}
