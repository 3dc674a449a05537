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
  /** Worst case: what this request should have in reserve before it starts. */
  readonly want: Nano;
  /** Below this the request makes no sense and is refused. `minimum ≤ want`. */
  readonly minimum: Nano;
  /**
   * `stream`: grows by `extend` while it runs · `whole`: takes a fair share now, cannot grow ·
   * `fixed`: `want` or nothing. Decides how long a request waits for money before it is refused
   * (till.md §5).
   */
  readonly shape: 'stream' | 'whole' | 'fixed';
  /** One draw, and no wait after it: a better estimate follows. */
  readonly once?: true;
  /**
   * So long ago it was asked with a rougher estimate and refused: a draw that got nothing since
   * then has answered this, too.
   */
  readonly askedMsAgo?: number;
}

/**
 * `insufficient`: 429 insufficient_quota. `unavailable`: the database is away, or draining: 503.
 * `crowded`: too many of the account's requests wait already: 503, too. `left`: the client's signal
 * fired while waiting.
 */
export type ReserveRefusal = 'insufficient' | 'unavailable' | 'crowded' | 'left';

export interface Charge {
  /** The request's id: the transfer's and the usage record's primary key. */
  readonly id: string;
  readonly cost: Nano;
  /**
   * What the vendor reported beyond what the request can have cost: the house bears it. Absent:
   * nothing.
   */
  readonly loss?: Nano | undefined;
  /** Why, for the transfer: `chat`, `image`, … */
  readonly code: string;
  readonly at: number;
  /**
   * The usage record's columns, in the order of the `RecordTable` that the till was opened with.
   */
  readonly record: readonly SqlValue[];
  /**
   * A whole answer that is withheld when the outcome is not `paid`: then nothing is charged for it
   * in the end. Undefined: the client has it.
   */
  readonly delivered?: false | undefined;
}

/**
 * `paid`: committed, the last byte may leave. `unavailable`: not known to be committed within
 * `settleWaitMs`; the till goes on with it. `refused`: the database will never take it.
 */
export interface SettleResult {
  readonly outcome: 'paid' | 'unavailable' | 'refused';
  readonly amount: Nano;
  readonly shortfall: Nano;
}

/** Money set aside for one running request. Ended exactly once, by `settle` or `release`. */
export interface Reservation {
  /** What is backed now; only grows. */
  readonly amount: Nano;
  /** Takes up to `more` from what is free in memory, at once; returns how much it got. */
  extend(more: Nano): Nano;
  /**
   * Like `extend`, but waits up to `waitMs` for at least `minimum`; returns what it got, 0n when
   * there was nothing.
   */
  extendOrWait(more: Nano, minimum: Nano, waitMs: number): Promise<Nano>;
  /** Something was delivered (or finished): charge it. Resolves after the commit. */
  settle(charge: Charge): Promise<SettleResult>;
  /** Nothing was delivered and nothing is charged. */
  release(): void;
}

export interface Till {
  /** The fast path: from memory or not at all. */
  tryReserve(ask: ReserveRequest): Reservation | undefined;
  /** The slow path: draws, calls in, waits its turn. */
  reserve(ask: ReserveRequest, signal: AbortSignal): Promise<Reservation | ReserveRefusal>;
  /**
   * False while the database is away or far behind, and after `close`: then there are no
   * reservations.
   */
  readonly admitting: boolean;
  /** Stops admission, waits for settlements, returns every float. */
  close(): Promise<void>;
}

export interface RecordTable {
  readonly table: string;
  readonly columns: readonly { readonly name: string; readonly type: 'text' | 'bigint' }[];
}
