import { hash } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { orderedId, randomText } from '../base/random.ts';
import type { Nano } from '../base/money.ts';
import { Semaphore } from '../base/semaphore.ts';
import { bump, readVersion } from '../storage/changes.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import { type OnError, repeat, type Repeated, WorkOutcomes } from '../storage/repeat.ts';
import { integerColumn, optionalInteger, optionalNumber } from '../storage/sql.ts';
import {
  type KeyTerms,
  termColumns,
  termsOf,
  termValues,
  constraintsOf,
  type Keyring,
  type Principal,
} from './principal.ts';

/** The topic of changes to keys and to their users. */
export const keysTopic = 'keys';

/** The version of a change under `keysTopic`, which stays locked until the transaction ends. */
export function* nextKeysVersion(): Transaction<bigint> {
  const [row] = yield bump(keysTopic);
  return integerColumn(row, 'version');
}

export type KeyStatus = 'active' | 'disabled' | 'deleted';

/** An API key without its secret, which is not stored. Times are wall clock, ms. */
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

/**
 * Tollgate's secrets have 48 letters and digits; secrets imported from other gateways have fewer or
 * more, and may have `-` and `_`.
 */
const secretPattern = /^sk-[A-Za-z0-9_-]{16,125}$/;
export const keyColumns = `id, user_id, name, group_name, prefix, last4, status, spend_limit, daily_limit, monthly_limit, expires_at, created_at, last_used_at,
  version, ${termColumns.join()}`;

export function looksLikeKey(secret: string): boolean {
  return secretPattern.test(secret);
}

/**
 * The stored form of a secret: SHA-256, hexadecimal. It needs no salt: a secret has 285 random
 * bits.
 */
export function hashOf(secret: string): string {
  return hash('sha256', secret);
}

export const newKeySecret = (): string => `sk-${randomText(48)}`;

/** What is stored of a key's secret: `hash`, `prefix` and `last4`. */
export const storedOf = (secret: string): readonly [string, string, string] => [
  hashOf(secret),
  secret.slice(0, 5),
  secret.slice(-4),
];

/** Reads a row with the columns `keyColumns`. */
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
    limit: optionalInteger(row, 'spend_limit'),
    dailyLimit: optionalInteger(row, 'daily_limit'),
    monthlyLimit: optionalInteger(row, 'monthly_limit'),
    expiresAt: optionalNumber(row, 'expires_at'),
    createdAt: Number(row['created_at']),
    lastUsedAt: optionalNumber(row, 'last_used_at'),
    version: Number(row['version']),
    ...termsOf(row),
  };
}

/** Makes a key. Only this call returns its `secret`. Undefined when there is no such user. */
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
  const secret = newKeySecret();
  const sql = `INSERT INTO api_keys (id, user_id, name, group_name, hash, prefix, last4, status, spend_limit, daily_limit, monthly_limit, expires_at, created_at,
      ${termColumns.join()})
    SELECT $1, id, $3, $4, $5, $6, $7, 'active', $8, $9, $10, $11, $12, $13, $14, $15, $16, $17 FROM users WHERE id = $2 RETURNING ${keyColumns}`;
  const [row] = yield {
    sql,
    params: [
      ...[orderedId('key_', at), userId, name, group, ...storedOf(secret)],
      ...[limit ?? null, dailyLimit ?? null, monthlyLimit ?? null, expiresAt ?? null, at],
      ...termValues(terms),
    ],
  };
  return row && { key: keyOf(row), secret };
}

export interface KeyPage {
  /** Undefined: the keys of all users. */
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

/** Finds a key of any user. Undefined when there is no such key, or it is deleted. */
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
  const version = yield* nextKeysVersion();
  const sql = `UPDATE api_keys SET status = $1, version = $2 WHERE id = $3 AND status <> 'deleted' RETURNING ${keyColumns}`;
  const [row] = yield { sql, params: [status, version, id] };
  return row && keyOf(row);
}

/** A key that another gateway made, and that its owner keeps using. */
interface ImportedKey extends NewKey {
  readonly secret: string;
  readonly enabled: boolean;
  /** Wall clock, ms. */
  readonly lastUsedAt: number | undefined;
}

/**
 * Stores the hash of a key that was made elsewhere. `there`: it was imported before, as this
 * user's; `others`: it belongs to another user here; `shapeless`: it does not look like a key, and
 * the gateway would refuse it.
 */
export function* importKey(key: ImportedKey): Transaction<Key | 'there' | 'others' | 'shapeless'> {
  const { secret, userId, name, group, limit, enabled, expiresAt, at, lastUsedAt } = key;
  if (!looksLikeKey(secret)) return 'shapeless';
  const hash = hashOf(secret);
  const [old] = yield {
    sql: 'SELECT user_id FROM old_secrets o JOIN api_keys k ON k.id=o.key_id WHERE o.hash=$1',
    params: [hash],
  };
  if (old !== undefined) return old['user_id'] === userId ? 'there' : 'others';
  const [row] = yield {
    sql: `INSERT INTO api_keys (id, user_id, name, group_name, hash, prefix, last4, status, spend_limit, expires_at, created_at, last_used_at, ${termColumns.join()})
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT (hash) DO NOTHING RETURNING ${keyColumns}`,
    params: [
      orderedId('key_', at),
      userId,
      name,
      group,
      ...storedOf(secret),
      enabled ? 'active' : 'disabled',
      limit ?? null,
      expiresAt ?? null,
      at,
      lastUsedAt ?? null,
      ...termValues(key),
    ],
  };
  if (row !== undefined) return keyOf(row);
  const [known] = yield { sql: 'SELECT user_id FROM api_keys WHERE hash=$1', params: [hash] };
  return known?.['user_id'] === userId ? 'there' : 'others';
}

/**
 * The most keys in the memory of one process. The least recently used are dropped first, and looked
 * up again when they return.
 */
const keysHeldMax = 100_000;
/** Secrets that the database lately did not know. */
const unknownHeldMax = 10_000;
const unknownLifeMs = 500;
/** The most key lookups that one process has open at the database. */
const lookUpsMax = 100;
/** The most that wait for a place there, and for how long: after a start, many keys come at once. */
const lookUpsWaitingMax = 5_000;
const lookUpWaitMs = 1_000;
const noWait = new AbortController().signal;
/** If more keys than this changed at once, the whole memory is dropped instead. */
const forgetMax = 10_000;
const recordUseEveryMs = 60_000;
const recording = 'last use of keys';
const recordUseBatch = 100;
/** Each key has the time of its own last request, not that of the writing. */
const recordUses = `UPDATE api_keys SET last_used_at = u.used_at
  FROM (${Array.from(
    { length: recordUseBatch },
    (_, n) => `SELECT CAST($${2 * n + 1} AS TEXT) AS id, CAST($${2 * n + 2} AS BIGINT) AS used_at`,
  ).join(' UNION ALL ')}) u
  WHERE api_keys.id = u.id AND (last_used_at IS NULL OR last_used_at < u.used_at)`;

/** The key of a secret, or of the secret that it had before, with the end of that one. */
const keyOfHash = `SELECT k.id, user_id, group_name, spend_limit, daily_limit, monthly_limit, expires_at, works_until, ${termColumns.join()}
  FROM (SELECT id AS key_id, CAST(NULL AS BIGINT) AS works_until FROM api_keys WHERE hash = $1
    UNION ALL SELECT key_id, works_until FROM old_secrets WHERE hash = $1) s
  JOIN api_keys k ON k.id = s.key_id JOIN users ON users.id = user_id WHERE status = 'active' AND frozen = 0`;
/** The secrets, old ones too, of the keys that have changed since a version. */
const changedHashes = `SELECT hash FROM api_keys WHERE version > $1
  UNION ALL SELECT o.hash FROM api_keys k JOIN old_secrets o ON o.key_id = k.id WHERE k.version > $1 LIMIT $2`;

interface CachedKey {
  readonly principal: Principal;
  /** Wall clock, ms. */
  usedAt: number;
  /** `usedAt` at the time when the entry was last put at the end of `#held`. */
  since: number;
}

export interface LiveKeyring extends Keyring {
  /**
   * Drops the keys that have changed in the database; to be called on changes under `keysTopic`.
   */
  refresh(): Promise<void>;
  /** Stores when keys were last used, if that has changed. Runs by itself every minute. */
  recordUse(): Promise<void>;
  close(): Promise<void>;
}

class DatabaseKeyring implements LiveKeyring {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #heldMax: number;
  /** By hash; the entries to be dropped first are in front. */
  readonly #held = new Map<string, CachedKey>();
  /** By hash: until when (steady clock) no lookup is needed. */
  readonly #unknown = new Map<string, number>();
  readonly #pending = new Map<string, Promise<Principal | 'unknown' | 'unavailable'>>();
  readonly #lookUps = new Semaphore(lookUpsMax);
  readonly #recording: Repeated;
  readonly #onError: OnError;
  #seenVersion: bigint | undefined;
  /**
   * Counts refreshes: a lookup that began before a refresh may return what the refresh has dropped.
   */
  #refreshes = 0;
  #useRecordedAt = 0;

  constructor(database: Database, clock: Clock, onError: OnError, heldMax: number) {
    this.#database = database;
    this.#clock = clock;
    this.#heldMax = heldMax;
    const rhythm = { firstMs: recordUseEveryMs, everyMs: recordUseEveryMs };
    this.#recording = repeat(recording, () => this.recordUse(), rhythm, onError);
    this.#onError = onError;
  }

  known(secret: string): Principal | 'unknown' | undefined {
    if (!looksLikeKey(secret)) return 'unknown';
    const hash = hashOf(secret);
    const held = this.#held.get(hash);
    if (held === undefined) return this.#isUnknown(hash) ? 'unknown' : undefined;
    held.usedAt = this.#clock.now();
    return unlessExpired(held.principal, held.usedAt);
  }

  lookUp(secret: string): Promise<Principal | 'unknown' | 'unavailable'> {
    const hash = hashOf(secret);
    const pending = this.#pending.get(hash);
    if (pending !== undefined) return pending;
    const ahead = this.#pending.size;
    if (ahead >= lookUpsMax + lookUpsWaitingMax) return Promise.resolve('unavailable');
    const patience = ahead < lookUpsMax ? noWait : AbortSignal.timeout(lookUpWaitMs);
    const answer = this.#lookUps
      .run(patience, () => this.#load(hash))
      .catch(() => 'unavailable' as const)
      .finally(() => this.#pending.delete(hash));
    this.#pending.set(hash, answer);
    return answer;
  }

  async refresh(): Promise<void> {
    const { sql, params } = readVersion(keysTopic);
    const [topic] = await this.#database.query(sql, params);
    const version = BigInt(topic?.['version'] ?? 0n);
    const changed =
      this.#seenVersion === undefined
        ? []
        : await this.#database.query(changedHashes, [this.#seenVersion, forgetMax]);
    if (this.#seenVersion === undefined || changed.length >= forgetMax) this.#held.clear();
    for (const { hash } of changed) this.#held.delete(String(hash));
    this.#unknown.clear();
    this.#seenVersion = version;
    this.#refreshes++;
  }

  async recordUse(): Promise<void> {
    const since = this.#useRecordedAt;
    this.#useRecordedAt = this.#clock.now();
    // A rotated key has two secrets for a while, and the statement takes one time for each key.
    const latest = new Map<string, number>();
    for (const { principal, usedAt } of this.#held.values())
      if (usedAt > (latest.get(principal.keyId) ?? since)) latest.set(principal.keyId, usedAt);
    const used = [...latest];
    for (let i = 0; i < used.length; i += recordUseBatch) {
      await this.#database.query(
        recordUses,
        Array.from({ length: recordUseBatch }, (_, n) => used[i + n] ?? ['', 0]).flat(),
      );
    }
  }

  async close(): Promise<void> {
    await this.#recording.stop();
    await new WorkOutcomes(recording, this.#onError).of(this.recordUse());
  }

  async #load(hash: string): Promise<Principal | 'unknown' | 'unavailable'> {
    const refreshes = this.#refreshes;
    const [row] = await this.#database.query(keyOfHash, [hash]);
    if (row === undefined) {
      this.#rememberUnknown(hash);
      return 'unknown';
    }
    const daily = optionalInteger(row, 'daily_limit');
    const monthly = optionalInteger(row, 'monthly_limit');
    const ends = ['expires_at', 'works_until'].flatMap((end) => optionalNumber(row, end) ?? []);
    const principal: Principal = {
      keyId: String(row['id']),
      userId: String(row['user_id']),
      group: String(row['group_name']),
      limit: optionalInteger(row, 'spend_limit'),
      ...(daily !== undefined && { dailyLimit: daily }),
      ...(monthly !== undefined && { monthlyLimit: monthly }),
      expiresAt: ends.length === 0 ? undefined : Math.min(...ends),
      ...constraintsOf(termsOf(row)),
    };
    if (refreshes === this.#refreshes) this.#hold(hash, principal);
    return unlessExpired(principal, this.#clock.now());
  }

  #hold(hash: string, principal: Principal): void {
    if (this.#held.size >= this.#heldMax) this.#forgetOne();
    const now = this.#clock.now();
    this.#held.set(hash, { principal, usedAt: now, since: now });
  }

  /**
   * Second chance: an entry that was used since it was last moved goes to the end, so that a use
   * costs no reordering.
   */
  #forgetOne(): void {
    for (const [hash, held] of this.#held) {
      this.#held.delete(hash);
      if (held.usedAt <= held.since) return;
      held.since = held.usedAt;
      this.#held.set(hash, held);
    }
  }

  #rememberUnknown(hash: string): void {
    if (this.#unknown.size >= unknownHeldMax) this.#unknown.clear();
    this.#unknown.set(hash, this.#clock.monotonicMs() + unknownLifeMs);
  }

  #isUnknown(hash: string): boolean {
    const until = this.#unknown.get(hash);
    return until !== undefined && this.#clock.monotonicMs() < until;
  }
}

function unlessExpired(principal: Principal, now: number): Principal | 'unknown' {
  return principal.expiresAt !== undefined && principal.expiresAt <= now ? 'unknown' : principal;
}

/**
 * The keys of `database`, kept in memory as they are used. The caller runs `refresh` on changes
 * under `keysTopic`.
 */
export function openKeyring(
  database: Database,
  clock: Clock,
  onError: OnError,
  heldMax: number = keysHeldMax,
): LiveKeyring {
  return new DatabaseKeyring(database, clock, onError, heldMax);
}
