import { dayMs } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import { type OnError, WorkOutcomes } from '../storage/repeat.ts';
import type { Sealer } from '../storage/seal.ts';
import { placeholders } from '../storage/sql.ts';
import { expiredAtOnceMax } from './expiry.ts';

/** Tool call → its signature. */
type Signatures = ReadonlyMap<string, string>;

/**
 * Signatures that vendors put on their tool calls, for clients that do not bring them back. A
 * signature belongs to an account and a signer: callers pass both. It may hold a model's thoughts,
 * so it is sealed at rest.
 */
export interface SignatureStore {
  /**
   * The remembered signatures of these calls: without a promise where this process knows them, else
   * from the database.
   */
  find(account: string, signer: string, calls: readonly string[]): Signatures | Promise<Signatures>;
  /** Never rejects: signatures that cannot be kept are missing later. */
  keep(account: string, signer: string, signatures: Signatures): Promise<void>;
  /** Deletes expired signatures; returns how many. */
  expire(): Promise<number>;
}

export interface SignatureLimits {
  /** A conversation that rests longer goes on without its signatures. */
  readonly keptForMs: number;
  /** The most characters of one answer's signatures; more are not remembered. */
  readonly answerCharsMax: number;
  /** The most characters that this process keeps in memory. */
  readonly nearCharsMax: number;
  /**
   * How long a process trusts that a signature is absent: another process may be about to write it.
   */
  readonly absentForMs: number;
}

export const signatureLimits: SignatureLimits = {
  keptForMs: dayMs,
  answerCharsMax: 1024 * 1024,
  nearCharsMax: 32 * 1024 * 1024,
  absentForMs: 60_000,
};

export function openSignatureStore(
  database: Database,
  clock: Clock,
  sealer: Sealer,
  onError: OnError,
  limits: SignatureLimits = signatureLimits,
): SignatureStore {
  return new DatabaseSignatureStore(database, clock, sealer, onError, limits);
}

const purpose = 'signatures';

class DatabaseSignatureStore implements SignatureStore {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #sealer: Sealer;
  readonly #limits: SignatureLimits;
  readonly #near: SignatureCache;
  readonly #keeping: WorkOutcomes;

  constructor(
    database: Database,
    clock: Clock,
    sealer: Sealer,
    onError: OnError,
    limits: SignatureLimits,
  ) {
    this.#keeping = new WorkOutcomes('signatures of answers', onError);
    this.#database = database;
    this.#clock = clock;
    this.#sealer = sealer;
    this.#limits = limits;
    this.#near = new SignatureCache(limits.nearCharsMax);
  }

  find(
    account: string,
    signer: string,
    calls: readonly string[],
  ): Signatures | Promise<Signatures> {
    const found = new Map<string, string>();
    const now = this.#clock.now();
    const missing = calls.filter((call) => {
      const known = this.#near.get(placeOf(account, signer, call), now);
      if (known) found.set(call, known);
      return known === undefined;
    });
    return missing.length === 0 ? found : this.#load(account, signer, missing, found);
  }

  async #load(
    account: string,
    signer: string,
    missing: readonly string[],
    found: Map<string, string>,
  ): Promise<Signatures> {
    const now = this.#clock.now();
    const rows = await this.#database.query(
      `SELECT call, sealed, expires_at FROM signature WHERE account=$1 AND signer=$2 AND expires_at>$3 AND call IN (${placeholders(missing, 4)})`,
      [account, signer, now, ...missing],
    );
    for (const call of missing)
      this.#near.set(placeOf(account, signer, call), '', now + this.#limits.absentForMs);
    for (const row of rows) {
      const call = String(row['call']);
      const signature = this.#sealer.unseal(purpose, String(row['sealed']));
      found.set(call, signature);
      this.#near.set(placeOf(account, signer, call), signature, Number(row['expires_at']));
    }
    return found;
  }

  async keep(account: string, signer: string, signatures: Signatures): Promise<void> {
    await this.#keeping.of(this.#keep(account, signer, signatures));
  }

  async #keep(account: string, signer: string, signatures: Signatures): Promise<void> {
    let chars = 0;
    for (const signature of signatures.values()) chars += signature.length;
    if (chars > this.#limits.answerCharsMax) return;
    const expiresAt = this.#clock.now() + this.#limits.keptForMs;
    const rows = [...signatures].map(
      ([call, signature]) => [call, this.#sealer.seal(purpose, signature)] as const,
    );
    const values = rows.map((_, i) => `($1, $2, $${2 * i + 4}, $${2 * i + 5}, $3)`).join(', ');
    await this.#database.query(
      `INSERT INTO signature (account, signer, call, sealed, expires_at) VALUES ${values}
        ON CONFLICT (account, signer, call) DO UPDATE SET sealed=excluded.sealed, expires_at=excluded.expires_at`,
      [account, signer, expiresAt, ...rows.flat()],
    );
    for (const [call, signature] of signatures)
      this.#near.set(placeOf(account, signer, call), signature, expiresAt);
  }

  async expire(): Promise<number> {
    const rows = await this.#database.query(
      `DELETE FROM signature WHERE (account, signer, call) IN
        (SELECT account, signer, call FROM signature WHERE expires_at<=$1 ORDER BY expires_at LIMIT ${expiredAtOnceMax}) RETURNING call`,
      [this.#clock.now()],
    );
    return rows.length;
  }
}

const placeOf = (account: string, signer: string, call: string): string =>
  `${account} ${signer} ${call}`;

interface CachedSignatures {
  /** `''`: no signature. */
  readonly signature: string;
  readonly until: number;
}

/** The signatures that this process used lately, as many as fit. */
class SignatureCache {
  readonly #charsMax: number;
  readonly #kept = new Map<string, CachedSignatures>();
  #chars = 0;

  constructor(charsMax: number) {
    this.#charsMax = charsMax;
  }

  /** Undefined when this process does not know it. */
  get(place: string, now: number): string | undefined {
    const known = this.#kept.get(place);
    if (known === undefined || known.until <= now) return undefined;
    this.#kept.delete(place);
    this.#kept.set(place, known);
    return known.signature;
  }

  set(place: string, signature: string, until: number): void {
    this.#forget(place);
    this.#kept.set(place, { signature, until });
    this.#chars += place.length + signature.length;
    for (const oldest of this.#kept.keys()) {
      if (this.#chars <= this.#charsMax) return;
      this.#forget(oldest);
    }
  }

  #forget(place: string): void {
    const known = this.#kept.get(place);
    if (known === undefined) return;
    this.#kept.delete(place);
    this.#chars -= place.length + known.signature.length;
  }
}
