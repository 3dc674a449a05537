import { isDeepStrictEqual } from 'node:util';
import type { Nano } from '../base/money.ts';
import type { Migration, Transaction } from '../storage/database.ts';
import { containing, placeholders } from '../storage/sql.ts';
import {
  constraintsOf,
  type KeyTerms,
  termColumns,
  termValues,
  type Principal,
} from './principal.ts';
import {
  createKey,
  type Key,
  keyColumns,
  keyOf,
  type KeyStatus,
  type NewKey,
  nextKeysVersion,
} from './keys.ts';

export const userKeysMigrations: readonly Migration[] = [
  {
    id: '0023-user-keys',
    statements: [
      'ALTER TABLE api_keys ADD COLUMN made_with TEXT',
      'CREATE UNIQUE INDEX api_keys_made_with ON api_keys (user_id, made_with) WHERE made_with IS NOT NULL',
    ],
  },
];

/** How many keys one user may have that are not deleted. */
export const keysMax = 1_000;

/**
 * Makes one key for each `madeWith` of a user: a repeated call returns the key without its secret,
 * which is not stored. `full`: the user has `keysMax` keys. `other`: the same `madeWith` has made a
 * different key.
 */
export function* createKeyOnce(
  request: NewKey,
  madeWith: string,
): Transaction<
  { readonly key: Key; readonly secret: string | undefined } | 'full' | 'other' | undefined
> {
  const [before] = yield {
    sql: `SELECT ${keyColumns} FROM api_keys WHERE user_id=$1 AND made_with=$2`,
    params: [request.userId, madeWith],
  };
  if (before !== undefined)
    return isLike(keyOf(before), request) ? { key: keyOf(before), secret: undefined } : 'other';
  const [count] = yield {
    sql: "SELECT COUNT(*) AS n FROM api_keys WHERE user_id=$1 AND status<>'deleted'",
    params: [request.userId],
  };
  if (Number(count?.['n']) >= keysMax) return 'full';
  const made = yield* createKey(request);
  if (made !== undefined)
    yield { sql: 'UPDATE api_keys SET made_with=$2 WHERE id=$1', params: [made.key.id, madeWith] };
  return made;
}

function isLike(key: Key, request: NewKey): boolean {
  const members = ['name', 'group', 'limit', 'dailyLimit', 'monthlyLimit', 'expiresAt'] as const;
  return (
    members.every((member) => key[member] === request[member]) &&
    isDeepStrictEqual(termValues(key), termValues(request))
  );
}

/** The most keys that a list of one user's keys reads. */
const keysReadMax = 10_000;

/**
 * Keys of a user, newest first, that are not deleted; with `text`, those with it as a part of the
 * name, as the id or as the last four characters.
 */
export function* userKeys(
  ownerId: string,
  { text = '', limit = keysReadMax }: { readonly text?: string; readonly limit?: number } = {},
): Transaction<readonly Key[]> {
  const found =
    text === '' ? '' : " AND (LOWER(name) LIKE LOWER($3) ESCAPE '!' OR id=$4 OR last4=$4)";
  const rows = yield {
    sql: `SELECT ${keyColumns} FROM api_keys WHERE user_id=$1 AND status<>'deleted'${found} ORDER BY id DESC LIMIT $2`,
    params: [ownerId, limit, ...(text === '' ? [] : [containing(text), text])],
  };
  return rows.map(keyOf);
}

/** Undefined when this user has no such key, or it is deleted. */
export function* userKey(ownerId: string, id: string): Transaction<Key | undefined> {
  const [row] = yield {
    sql: `SELECT ${keyColumns} FROM api_keys WHERE id=$1 AND user_id=$2 AND status<>'deleted'`,
    params: [id, ownerId],
  };
  return row && keyOf(row);
}

/**
 * Absent members stay. A change of limits belongs in one transaction with `changeKeyLimits`, which
 * changes them in the ledger.
 */
export interface KeyPatch {
  readonly name?: string | undefined;
  readonly group?: string | undefined;
  readonly status?: KeyStatus | undefined;
  /** Null: none from now on. */
  readonly limit?: Nano | null | undefined;
  readonly dailyLimit?: Nano | null | undefined;
  readonly monthlyLimit?: Nano | null | undefined;
  /** Null: never. */
  readonly expiresAt?: number | null | undefined;
  /** Replaces all terms. */
  readonly terms?: KeyTerms | undefined;
}

/**
 * Writes the change whatever the key was before: to be yielded after `userKey`, in one transaction.
 * Effective in every process within a second.
 */
export function* changeKey({ id }: Key, change: KeyPatch): Transaction<Key | undefined> {
  // The lock makes requests that change a key take turns: the second sees the change of the first.
  const version = yield* nextKeysVersion();
  const columns: Readonly<Record<string, string | bigint | number | null | undefined>> = {
    name: change.name,
    group_name: change.group,
    status: change.status,
    spend_limit: change.limit,
    daily_limit: change.dailyLimit,
    monthly_limit: change.monthlyLimit,
    expires_at: change.expiresAt,
    ...(change.terms &&
      Object.fromEntries(termValues(change.terms).map((value, i) => [termColumns[i], value]))),
  };
  const set = Object.entries(columns).flatMap(([column, value]) =>
    value === undefined ? [] : [{ column, value }],
  );
  const [row] = yield {
    sql: `UPDATE api_keys SET version=$2${set.map(({ column }, index) => `, ${column}=$${index + 3}`).join('')} WHERE id=$1 RETURNING ${keyColumns}`,
    params: [id, version, ...set.map(({ value }) => value)],
  };
  return row && keyOf(row);
}

/**
 * The principal of a user's own key, found by its id instead of its secret; undefined when the user
 * has no such key, or it is no longer active.
 */
export function* principalOfKey(
  ownerId: string,
  id: string,
  now: number,
): Transaction<Principal | undefined> {
  const key = yield* userKey(ownerId, id);
  if (key?.status !== 'active' || (key.expiresAt ?? now + 1) <= now) return undefined;
  const { group, limit, dailyLimit, monthlyLimit, expiresAt } = key;
  return {
    keyId: id,
    userId: ownerId,
    group,
    limit,
    ...(dailyLimit !== undefined && { dailyLimit }),
    ...(monthlyLimit !== undefined && { monthlyLimit }),
    expiresAt,
    ...constraintsOf(key),
  };
}

/** The names of keys of one user, deleted ones included. */
export function* keyNamesOf(
  ownerId: string,
  ids: readonly string[],
): Transaction<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return new Map();
  const rows = yield {
    sql: `SELECT id, name FROM api_keys WHERE user_id=$1 AND id IN (${placeholders(wanted, 2)})`,
    params: [ownerId, ...wanted],
  };
  return new Map(rows.map((row) => [String(row['id']), String(row['name'])]));
}

/** The group of the user's active key that was used last; undefined without such a key. */
export function* groupOfLatestKey(ownerId: string): Transaction<string | undefined> {
  const [row] = yield {
    sql: `SELECT group_name FROM api_keys WHERE user_id=$1 AND status='active'
      ORDER BY COALESCE(last_used_at, 0) DESC, id DESC LIMIT 1`,
    params: [ownerId],
  };
  return row && String(row['group_name']);
}

/** The user's newest key that works now (wall clock, ms); undefined: there is none. */
export function* newestActiveKey(ownerId: string, now: number): Transaction<Key | undefined> {
  const [row] = yield {
    sql: `SELECT ${keyColumns} FROM api_keys WHERE user_id=$1 AND status='active'
      AND (expires_at IS NULL OR expires_at>$2) ORDER BY id DESC LIMIT 1`,
    params: [ownerId, now],
  };
  return row && keyOf(row);
}

/** The number of active keys in each group that has any. */
export function* activeKeysByGroup(): Transaction<ReadonlyMap<string, number>> {
  const rows = yield {
    sql: "SELECT group_name, COUNT(*) AS keys FROM api_keys WHERE status='active' GROUP BY group_name",
    params: [],
  };
  return new Map(rows.map((row) => [String(row['group_name']), Number(row['keys'])]));
}
