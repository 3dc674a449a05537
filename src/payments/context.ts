import type { Clock, Timers } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import type { Wallet, WalletId } from './wallet.ts';

/** A line of the operator's log about money. Contains no secret and no payer. */
export interface PaymentLogLine {
  readonly event: 'credited' | 'refunded' | 'refused' | 'unmatched' | 'trouble' | 'reconciled';
  readonly wallet: WalletId;
  readonly id?: string;
  readonly why?: string;
}

/** Everything that the payments code needs from outside. */
export interface PaymentContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly wallets: ReadonlyMap<WalletId, Wallet>;
  readonly limits: PaymentLimits;
  /** The public address of this gateway for wallets and browsers, without `/` at its end. */
  readonly publicUrl: () => string;
  readonly log: (line: PaymentLogLine) => void;
  /** Receives errors that must not happen. */
  readonly bug: (error: unknown) => void;
}

/** Limits of the requests to wallets. */
export interface PaymentLimits {
  /** How long an order can be paid. */
  readonly expiryMs: number;
  /** Unpaid orders that one account may have at a time. */
  readonly waitingMax: number;
  /** Ended unpaid orders of one account that are kept. */
  readonly unpaidKept: number;
  /** The largest amount of one order, nano-yuan. */
  readonly amountMax: bigint;
  /**
   * The delay of the first status query after an order was made, and the longest delay between two.
   * The delays between grow with the order's age.
   */
  readonly queryMsMin: number;
  readonly queryMsMax: number;
  /** The longest delay after a query that the wallet did not answer, and of a pending refund. */
  readonly backoffMsMax: number;
  /** How long a closed order is still queried: a payment may have been on its way. */
  readonly closedQueriedMs: number;
  /** The shortest time between two queries of one order that a user or operator asks for. */
  readonly userQueryEveryMs: number;
  /**
   * A notification credits a payment that is not older than this. An older payment may have been
   * given back since: the wallet is queried.
   */
  readonly notifiedWithinMs: number;
  /** Queries of this process that are in flight to one wallet. */
  readonly atOnceMax: number;
  /** How often the collector looks for orders and refunds that are due. */
  readonly lookEveryMs: number;
  /** How long a claim lasts: longer than the longest query can take. */
  readonly leaseMs: number;
  /**
   * The wallet's refusal of a refund counts only when no query has been unanswered for this long.
   */
  readonly quietMs: number;
  /** How long a refund waits for money in other processes' idle floats. */
  readonly moneyWaitMs: number;
  /** How often the collector looks for a bill that is due. */
  readonly billLookEveryMs: number;
  /**
   * When the bill of the day before is fetched, milliseconds after midnight in China: wallets make
   * it until 10 o'clock.
   */
  readonly billAtMs: number;
}

export const paymentLimits: PaymentLimits = {
  expiryMs: 900_000,
  waitingMax: 20,
  unpaidKept: 1_000,
  amountMax: 50_000n * 1_000_000_000n,
  queryMsMin: 4_000,
  queryMsMax: 30_000,
  backoffMsMax: 600_000,
  closedQueriedMs: 86_400_000,
  userQueryEveryMs: 2_000,
  notifiedWithinMs: 300_000,
  atOnceMax: 8,
  lookEveryMs: 1_000,
  leaseMs: 60_000,
  quietMs: 300_000,
  moneyWaitMs: 3_000,
  billLookEveryMs: 60_000,
  billAtMs: 37_800_000,
};

/** The delay before the next try, after this many failures in a row. */
export const backoffMs = ({ queryMsMin, backoffMsMax }: PaymentLimits, faults: number): number =>
  Math.min(backoffMsMax, queryMsMin * 2 ** Math.min(faults, 20));
