import type { Clock } from '../base/clock.ts';
import { payBack } from '../ledger/ledger.ts';
import { payBackTx } from '../ledger/transactions/account.ts';
import {
  type IdempotencyStore,
  type StoredAnswer,
  openIdempotencyStore,
  type IdempotentRequest,
} from '../memory/idempotency.ts';
import type { Database } from '../storage/database.ts';
import { type OnError, WorkOutcomes } from '../storage/repeat.ts';

/**
 * A claimed idempotency key, held by the request that answers it. Ends with `keep` or `forget`, or
 * some time after its last renewal.
 */
export interface OpenIdempotentRequest {
  /** Never rejects, as `forget`. */
  renew(): Promise<void>;
  /** Remembers the answer. One charge remains for it, even if another process answered too. */
  keep(answer: StoredAnswer): Promise<void>;
  /**
   * For a request without a whole answer. What it was charged for a part stays, unless another
   * process has taken the key over.
   */
  forget(): Promise<void>;
}

export type ClaimedKey =
  | { readonly kind: 'mine'; readonly claim: OpenIdempotentRequest }
  | { readonly kind: 'running' }
  | { readonly kind: 'other' }
  | { readonly kind: 'answered'; readonly answer: StoredAnswer };

/** Requests of one account that wait in this process for another request's answer. */
const waitersMax = 100;

/**
 * Requests that happen once, however often clients send them: one charge and one answer for each of
 * an account's idempotency keys.
 */
export class IdempotentRequests {
  readonly #store: IdempotencyStore;
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, number>();
  readonly #renewing: WorkOutcomes;
  readonly #forgetting: WorkOutcomes;

  constructor(database: Database, clock: Clock, onError: OnError) {
    this.#store = openIdempotencyStore(database, clock);
    this.#renewing = new WorkOutcomes('renewal of Idempotency-Keys', onError);
    this.#forgetting = new WorkOutcomes('release of Idempotency-Keys', onError);
    this.#database = database;
    this.#clock = clock;
  }

  /** Whether a request has claimed this key, however long ago. Throws a `DatabaseError`. */
  known(keyed: IdempotentRequest): Promise<boolean> {
    return this.#store.has(keyed);
  }

  /**
   * Claims the key for a request. Throws a `DatabaseError`. When an earlier request died while it
   * held the key, it is unknown how far it came. What it was charged is paid back with the claim,
   * since the next try needs the money and nothing else remembers the earlier request, and again
   * after it, because a process that only seemed dead may have charged meanwhile.
   */
  async enter(keyed: IdempotentRequest): Promise<ClaimedKey> {
    const claim = await this.#store.claim(keyed, payBackTx);
    if (claim.kind !== 'mine') return claim;
    const { orphan } = claim;
    const end = async (wasMine: Promise<boolean>): Promise<void> => {
      if (!(await wasMine)) await this.#payBack(keyed.id);
      if (orphan !== undefined) await this.#payBack(orphan);
    };
    return {
      kind: 'mine',
      claim: {
        renew: () => this.#renewing.of(this.#store.renew(keyed)),
        forget: () => this.#forgetting.of(end(this.#store.forget(keyed))),
        keep: (answer) => end(this.#store.keep(keyed, answer)),
      },
    };
  }

  /**
   * Runs `work`, which takes long, for one of this account's waiting requests. Returns undefined,
   * and does nothing, when too many of them wait.
   */
  async waiting<T>(account: string, work: () => Promise<T>): Promise<T | undefined> {
    const others = this.#waiting.get(account) ?? 0;
    if (others >= waitersMax) return undefined;
    this.#waiting.set(account, others + 1);
    try {
      return await work();
    } finally {
      const left = (this.#waiting.get(account) ?? 1) - 1;
      if (left === 0) this.#waiting.delete(account);
      else this.#waiting.set(account, left);
    }
  }

  /** Frees all claimed keys. Call it only when no other process is alive. */
  release(): Promise<void> {
    return this.#store.release();
  }

  expire(): Promise<number> {
    return this.#store.expire();
  }

  #payBack(id: string): Promise<void> {
    return payBack(this.#database, id, this.#clock.now());
  }
}
