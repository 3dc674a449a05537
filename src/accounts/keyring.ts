import type { Clock } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import { constraintsOf, termColumns, termsOf, type Keyring, type Principal } from './principal.ts';
import { hashOf, keysTopic, looksLikeKey } from './keys.ts';

/**
 * Keys that one process remembers; those used longest ago are forgotten first, and looked up again
 * when they come back.
 */
export const keysHeldMax = 100_000;
/** Secrets that the database lately did not know. */
const unknownHeldMax = 10_000;
const unknownLifeMs = 500;
/** Questions about keys that one process has open at the database. */
const lookUpsMax = 100;
/** More changed keys at once than this: everything is forgotten instead. */
const forgetMax = 10_000;
const recordUseEveryMs = 60_000;
const recordUseBatch = 100;

interface CachedKey {
  readonly principal: Principal;
  /** Wall clock, ms. */
  usedAt: number;
  /** `usedAt` when it was last put at the end of the row of those to be forgotten. */
  since: number;
}

export interface LiveKeyring extends Keyring {
  /** Forgets what has changed in the database; to be called on changes under `keysTopic`. */
  refresh(): Promise<void>;
  /** Writes down when keys were used last, if that has changed. Happens by itself every minute. */
  recordUse(): Promise<void>;
  close(): Promise<void>;
}

class DatabaseKeyring implements LiveKeyring {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #heldMax: number;
  /** By hash, those to be forgotten first in front. */
  readonly #held = new Map<string, CachedKey>();
  /** By hash: until when (steady clock) the database need not be asked again. */
  readonly #unknown = new Map<string, number>();
  readonly #asking = new Map<string, Promise<Principal | 'unknown' | 'unavailable'>>();
  readonly #timer: NodeJS.Timeout;
  #seenVersion: bigint | undefined;
  /**
   * Counts refreshes: an answer that was asked before one may be older than what the refresh
   * forgot.
   */
  #refreshes = 0;
  #useRecordedAt = 0;

  constructor(database: Database, clock: Clock, heldMax: number) {
    this.#database = database;
    this.#clock = clock;
    this.#heldMax = heldMax;
    this.#timer = setInterval(() => void this.recordUse().catch(() => undefined), recordUseEveryMs);
    this.#timer.unref();
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
    const asking = this.#asking.get(hash);
    if (asking !== undefined) return asking;
    if (this.#asking.size >= lookUpsMax) return Promise.resolve('unavailable');
    const answer = this.#ask(hash)
      .catch(() => 'unavailable' as const)
      .finally(() => this.#asking.delete(hash));
    this.#asking.set(hash, answer);
    return answer;
  }

  async refresh(): Promise<void> {
    const [topic] = await this.#database.query('SELECT version FROM change WHERE topic = $1', [
      keysTopic,
    ]);
    const version = BigInt(topic?.['version'] ?? 0n);
    const changed =
      this.#seenVersion === undefined
        ? []
        : await this.#database.query('SELECT hash FROM api_keys WHERE version > $1 LIMIT $2', [
            this.#seenVersion,
            forgetMax,
          ]);
    if (this.#seenVersion === undefined || changed.length >= forgetMax) this.#held.clear();
    for (const { hash } of changed) this.#held.delete(String(hash));
    this.#unknown.clear();
    this.#seenVersion = version;
    this.#refreshes++;
  }

  async recordUse(): Promise<void> {
    const since = this.#useRecordedAt;
    this.#useRecordedAt = this.#clock.now();
    const used = [...this.#held.values()]
      .filter(({ usedAt }) => usedAt > since)
      .map(({ principal }) => principal.keyId);
    const places = Array.from({ length: recordUseBatch }, (_, i) => `$${i + 2}`).join();
    const sql = `UPDATE api_keys SET last_used_at = $1 WHERE id IN (${places}) AND (last_used_at IS NULL OR last_used_at < $1)`;
    for (let i = 0; i < used.length; i += recordUseBatch) {
      const batch = used.slice(i, i + recordUseBatch);
      await this.#database.query(sql, [
        this.#useRecordedAt,
        ...batch,
        ...Array<string>(recordUseBatch - batch.length).fill(''),
      ]);
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.recordUse().catch(() => undefined);
  }

  async #ask(hash: string): Promise<Principal | 'unknown' | 'unavailable'> {
    const refreshes = this.#refreshes;
    const sql = `SELECT api_keys.id, user_id, group_name, spend_limit, daily_limit, monthly_limit, expires_at, ${termColumns.join()} FROM api_keys JOIN users ON users.id = user_id
      WHERE hash = $1 AND status = 'active' AND frozen = 0`;
    const [row] = await this.#database.query(sql, [hash]);
    if (row === undefined) {
      this.#rememberUnknown(hash);
      return 'unknown';
    }
    const {
      spend_limit: limit,
      daily_limit: daily,
      monthly_limit: monthly,
      expires_at: expiresAt,
    } = row;
    const principal: Principal = {
      keyId: String(row['id']),
      userId: String(row['user_id']),
      group: String(row['group_name']),
      limit: typeof limit === 'bigint' ? limit : undefined,
      ...(typeof daily === 'bigint' && { dailyLimit: daily }),
      ...(typeof monthly === 'bigint' && { monthlyLimit: monthly }),
      expiresAt: typeof expiresAt === 'bigint' ? Number(expiresAt) : undefined,
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
   * Second chance: who was used since it last stood in front goes to the end, so that a use costs
   * no reordering.
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
 * The keys of `database`, remembered as they are used. Wire `refresh` to changes under `keysTopic`.
 */
export function openKeyring(
  database: Database,
  clock: Clock,
  heldMax: number = keysHeldMax,
): LiveKeyring {
  return new DatabaseKeyring(database, clock, heldMax);
}
