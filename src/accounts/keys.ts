import { hash } from 'node:crypto';
import { randomText } from '../base/id.ts';
import type { Nano } from '../base/money.ts';
import { bump } from '../storage/changes.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import { type KeyTerms, termColumns, termsOf, termValues } from './principal.ts';

/** What changes here is heard under this topic. */
export const keysTopic = 'keys';

export type KeyStatus = 'active' | 'disabled' | 'deleted';

/** An API key without its secret, which nobody can show again. Times are wall clock, ms. */
export interface Key extends KeyTerms {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  readonly group: string;
  /** `sk-ab`: with `last4` enough to tell keys apart. */
  readonly prefix: string;
  readonly last4: string;
  readonly status: KeyStatus;
  /** Total spend limit; undefined = unlimited. */
  readonly limit: Nano | undefined;
  readonly dailyLimit: Nano | undefined;
  readonly monthlyLimit: Nano | undefined;
  readonly expiresAt: number | undefined;
  readonly createdAt: number;
  readonly lastUsedAt: number | undefined;
  /** Grows with each change. */
  readonly version: number;
}

export interface NewKey extends KeyTerms {
  readonly userId: string;
  readonly name: string;
  readonly group: string;
  readonly limit: Nano | undefined;
  readonly dailyLimit?: Nano | undefined;
  readonly monthlyLimit?: Nano | undefined;
  readonly expiresAt: number | undefined;
  readonly at: number;
}

/** Limits of a key to be changed; those left out stay. */
export interface NewLimits {
  readonly limit?: Nano | undefined;
  readonly dailyLimit?: Nano | undefined;
  readonly monthlyLimit?: Nano | undefined;
}

/**
 * Ours have 48 letters and digits; those that other gateways made, and that were brought here,
 * fewer or more, `-` and `_` among them.
 */
const secretPattern = /^sk-[A-Za-z0-9_-]{16,125}$/;
export const keyColumns = `id, user_id, name, group_name, prefix, last4, status, spend_limit, daily_limit, monthly_limit, expires_at, created_at, last_used_at,
  version, ${termColumns.join()}`;

/**
 * `prefix`, the time in nine digits of base 36, and chance: sorted by id is sorted by time, so that
 * pages go on where they ended.
 */
export function orderedId(prefix: string, at: number): string {
  return prefix + at.toString(36).padStart(9, '0') + randomText(13);
}

export function looksLikeKey(secret: string): boolean {
  return secretPattern.test(secret);
}

/**
 * What is stored of a secret: SHA-256, hexadecimal. It needs no salt, having 285 bits of chance.
 */
export function hashOf(secret: string): string {
  return hash('sha256', secret);
}

/** `sk-ab****wxyz`, for messages and logs. */
export function maskKey(secret: string): string {
  return secret.length < 16 ? '****' : `${secret.slice(0, 5)}****${secret.slice(-4)}`;
}

/** Of a row with these columns. */
export function keyOf(row: Row): Key {
  const { status } = row;
  return {
    id: String(row['id']),
    userId: String(row['user_id']),
    name: String(row['name']),
    group: String(row['group_name']),
    prefix: String(row['prefix']),
    last4: String(row['last4']),
    status: status === 'active' || status === 'disabled' ? status : 'deleted',
    limit: moneyOf(row['spend_limit']),
    dailyLimit: moneyOf(row['daily_limit']),
    monthlyLimit: moneyOf(row['monthly_limit']),
    expiresAt: timeOf(row['expires_at']),
    createdAt: Number(row['created_at']),
    lastUsedAt: timeOf(row['last_used_at']),
    version: Number(row['version']),
    ...termsOf(row),
  };
}

function moneyOf(value: Row[string] | undefined): Nano | undefined {
  return typeof value === 'bigint' ? value : undefined;
}

function timeOf(value: Row[string] | undefined): number | undefined {
  return typeof value === 'bigint' ? Number(value) : undefined;
}

/** Makes a key; `secret` is the only time that it is seen. Undefined when there is no such user. */
export function* createKey({
  userId,
  name,
  group,
  limit,
  dailyLimit,
  monthlyLimit,
  expiresAt,
  at,
  ...terms
}: NewKey): Transaction<{ readonly key: Key; readonly secret: string } | undefined> {
  const secret = `sk-${randomText(48)}`;
  const sql = `INSERT INTO api_keys (id, user_id, name, group_name, hash, prefix, last4, status, spend_limit, daily_limit, monthly_limit, expires_at, created_at,
      ${termColumns.join()})
    SELECT $1, id, $3, $4, $5, $6, $7, 'active', $8, $9, $10, $11, $12, $13, $14, $15, $16, $17 FROM users WHERE id = $2 RETURNING ${keyColumns}`;
  const shown = [secret.slice(0, 5), secret.slice(-4)];
  const [row] = yield {
    sql,
    params: [
      ...[orderedId('key_', at), userId, name, group, hashOf(secret), ...shown],
      ...[limit ?? null, dailyLimit ?? null, monthlyLimit ?? null, expiresAt ?? null, at],
      ...termValues(terms),
    ],
  };
  return row && { key: keyOf(row), secret };
}

export interface KeyPage {
  /** Of one user, or of all. */
  readonly userId?: string;
  readonly after?: string;
  readonly limit: number;
}

/**
 * In the order in which they were made, beginning after the key `after`; deleted ones are left out.
 */
export async function listKeys(
  database: Database,
  { userId, after = '', limit }: KeyPage,
): Promise<readonly Key[]> {
  const query = (which: string, params: readonly string[]) =>
    database.query(
      `SELECT ${keyColumns} FROM api_keys WHERE id > $1 AND status <> 'deleted' ${which} ORDER BY id LIMIT $2`,
      [after, limit, ...params],
    );
  const rows =
    userId === undefined ? await query('', []) : await query('AND user_id = $3', [userId]);
  return rows.map(keyOf);
}

/** Whoever's it is. Undefined when there is no such key, or it is deleted. */
export function* keyById(id: string): Transaction<Key | undefined> {
  const [row] = yield {
    sql: `SELECT ${keyColumns} FROM api_keys WHERE id = $1 AND status <> 'deleted'`,
    params: [id],
  };
  return row && keyOf(row);
}

/**
 * Effective in every process within a second. Undefined when there is no such key, or it is
 * deleted, which is for ever.
 */
export function* setKeyStatus(id: string, status: KeyStatus): Transaction<Key | undefined> {
  const [change] = yield bump(keysTopic);
  const sql = `UPDATE api_keys SET status = $1, version = $2 WHERE id = $3 AND status <> 'deleted' RETURNING ${keyColumns}`;
  const [row] = yield { sql, params: [status, change?.['version'] ?? 0n, id] };
  return row && keyOf(row);
}

/**
 * Changes limits that the key was made with; another it does not get, since what it spent before is
 * in no window. Effective in every process within a second. Undefined when there is no such key, or
 * it lacks one of these limits.
 */
export function* setKeyLimits(
  id: string,
  { limit, dailyLimit, monthlyLimit }: NewLimits,
): Transaction<Key | undefined> {
  const [change] = yield bump(keysTopic);
  const wanted = [limit ?? null, dailyLimit ?? null, monthlyLimit ?? null];
  const sql = `UPDATE api_keys SET version=$2, spend_limit=COALESCE($3, spend_limit), daily_limit=COALESCE($4, daily_limit), monthly_limit=COALESCE($5, monthly_limit)
    WHERE id=$1 AND status<>'deleted' AND (spend_limit IS NOT NULL OR CAST($3 AS BIGINT) IS NULL) AND (daily_limit IS NOT NULL OR CAST($4 AS BIGINT) IS NULL)
      AND (monthly_limit IS NOT NULL OR CAST($5 AS BIGINT) IS NULL) RETURNING ${keyColumns}`;
  const [row] = yield { sql, params: [id, change?.['version'] ?? 0n, ...wanted] };
  return row && keyOf(row);
}

/** A key that another gateway made, and that its owner goes on using. */
interface ImportedKey extends NewKey {
  readonly secret: string;
  readonly enabled: boolean;
  /** Wall clock, ms. */
  readonly lastUsedAt: number | undefined;
}

/**
 * Keeps the hash of a key that was made elsewhere. `there`: it was brought before, as this user's;
 * `others`: it is somebody else's here; `shapeless`: no key looks like this, and the door would not
 * let it in.
 */
export function* importKey(key: ImportedKey): Transaction<Key | 'there' | 'others' | 'shapeless'> {
  const { secret, userId, name, group, limit, enabled, expiresAt, at, lastUsedAt } = key;
  if (!looksLikeKey(secret)) return 'shapeless';
  const hash = hashOf(secret);
  const [row] = yield {
    sql: `INSERT INTO api_keys (id, user_id, name, group_name, hash, prefix, last4, status, spend_limit, expires_at, created_at, last_used_at, ${termColumns.join()})
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT (hash) DO NOTHING RETURNING ${keyColumns}`,
    params: [
      ...[
        orderedId('key_', at),
        userId,
        name,
        group,
        hash,
        secret.slice(0, 5),
        secret.slice(-4),
        enabled ? 'active' : 'disabled',
      ],
      ...[limit ?? null, expiresAt ?? null, at, lastUsedAt ?? null, ...termValues(key)],
    ],
  };
  if (row !== undefined) return keyOf(row);
  const [known] = yield { sql: 'SELECT user_id FROM api_keys WHERE hash=$1', params: [hash] };
  return known?.['user_id'] === userId ? 'there' : 'others';
}
