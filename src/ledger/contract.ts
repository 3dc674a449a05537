import type { Nano } from '../base/money.ts';
import type { SqlValue } from '../storage/database.ts';

/**
 * A spending window of a key: an account of kind `limit`, made by its first draw. `id` is
 * `key:K:total`, `key:K:day:2026-11-21`, …
 */
export interface LimitWindow {
  readonly id: string;
  readonly amount: Nano;
}

export interface ReserveRequest {
  /** The user's account. */
  readonly account: string;
  readonly limits: readonly LimitWindow[];
  /** Worst case: the amount this request should have in reserve before it starts. */
  readonly want: Nano;
  /** Below this the request makes no sense and is refused. `minimum ≤ want`. */
  readonly minimum: Nano;
  /**
   * `stream`: begins small and grows by `extend` while it runs · `whole`: takes a fair share, and
   * grows only where the gateway collects the answer from a stream · `fixed`: `want` or nothing.
   * Decides how long a request waits for money before it is refused.
   */
  readonly shape: 'stream' | 'whole' | 'fixed';
  /** Tries one draw and does not wait after it: a request with a better estimate follows. */
  readonly once?: true;
  /**
   * How long ago the same request was refused with a rougher estimate. If a draw that was made
   * since then got nothing, this request is refused without another draw. It waits for no longer
   * than if it had begun to wait then.
   */
  readonly requestedMsAgo?: number;
}

/**
 * `insufficient`: 429 insufficient_quota. `unavailable`: the database does not answer, or the
 * process is draining: 503. `crowded`: too many of the account's requests wait already: 503 too.
 * `left`: the client's signal fired while waiting.
 */
export type ReserveRefusal = 'insufficient' | 'unavailable' | 'crowded' | 'left';

export interface Charge {
  /** The request's id: the transfer's and the usage record's primary key. */
  readonly id: string;
  readonly cost: Nano;
  /**
   * The part of the vendor's reported usage beyond what the request can have cost: the operator
   * bears it. Absent: nothing.
   */
  readonly loss?: Nano | undefined;
  /** The transfer's code: `chat`, `image`, … */
  readonly code: string;
  readonly at: number;
  /**
   * The usage record's columns, in the order of the `RecordTable` that the till was opened with.
   */
  readonly record: readonly SqlValue[];
  /**
   * The answer waits for the outcome, and the gateway withholds it when that is not `paid`: it then
   * costs nothing in the end. Absent: the client has what is charged.
   */
  readonly withheld?: true | undefined;
}

/**
 * `paid`: committed, the last byte may leave. `unavailable`: not known to be committed within
 * `settleWaitMs`; the till keeps trying. `refused`: the database will never take the charge.
 */
export interface SettleResult {
  readonly outcome: 'paid' | 'unavailable' | 'refused';
  readonly amount: Nano;
  readonly shortfall: Nano;
}

/** Money set aside for one running request. Ended exactly once, by `settle` or `release`. */
export interface Reservation {
  /** The amount that is backed now; only grows. */
  readonly amount: Nano;
  /** Takes up to `more` from the free money in memory, at once; returns how much it got. */
  extend(more: Nano): Nano;
  /**
   * Like `extend`, but waits up to `waitMs` for at least `minimum`. Returns the amount it got, 0n
   * for nothing.
   */
  extendOrWait(more: Nano, minimum: Nano, waitMs: number): Promise<Nano>;
  /** Charges a request that delivered something or finished. Resolves after the commit. */
  settle(charge: Charge): Promise<SettleResult>;
  /** Ends a request that delivered nothing: nothing is charged. */
  release(): void;
}

export interface Till {
  /** The fast path: reserves from memory, or returns undefined. */
  tryReserve(ask: ReserveRequest): Reservation | undefined;
  /** The slow path: draws from the database, calls in idle floats, waits in the queue. */
  reserve(ask: ReserveRequest, signal: AbortSignal): Promise<Reservation | ReserveRefusal>;
  /**
   * False while the database does not answer or is far behind, and after `close`: no reservation is
   * made then.
   */
  readonly admitting: boolean;
  /** Stops admission, waits for settlements, returns every float. */
  close(): Promise<void>;
}

/**
 * Why nothing more is committed under a process's id. `fenced`: another process took its floats
 * back · `behind`: the database has forgotten batches · `broken`: memory and database disagree,
 * which is a bug.
 */
export type IdentityLoss = 'fenced' | 'behind' | 'broken';

/** Events that the operator should see, once each. */
export type TillEvent =
  | {
      readonly event: IdentityLoss;
      readonly process: string;
      readonly unsettled: number;
      readonly error: unknown;
    }
  | { readonly event: 'refused'; readonly id: string; readonly error: unknown }
  | { readonly event: 'stuck'; readonly account: string; readonly error: unknown }
  | { readonly event: 'unknown_outcome'; readonly error: unknown }
  /** Call-ins or other processes cannot be read, and not because the database is away. */
  | { readonly event: 'look_failed'; readonly error: unknown };

export interface RecordTable {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'bigint' }[];
}
