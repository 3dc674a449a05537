import type { Clock, Timers } from '../base/clock.ts';
import type { Database } from '../storage/database.ts';
import type { Wallet, WalletId } from './wallet.ts';

/** What happened to money, for the operator's log. No secret, no payer. */
export interface PaymentLogLine {
  readonly event: 'credited' | 'refunded' | 'refused' | 'unmatched' | 'trouble' | 'reconciled';
  readonly wallet: WalletId;
  readonly id?: string;
  readonly why?: string;
}

/** What the room works with. */
export interface PaymentContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly wallets: ReadonlyMap<WalletId, Wallet>;
  readonly limits: PaymentLimits;
  /** How wallets and browsers reach us, without `/` at its end. */
  readonly publicUrl: () => string;
  readonly log: (line: PaymentLogLine) => void;
  /** What must not happen. */
  readonly bug: (error: unknown) => void;
}

/** Limits of what is asked of wallets. */
export interface PaymentLimits {
  /** How long an order can be paid. */
  readonly expiryMs: number;
  /** Orders of one account that wait for their payer. */
  readonly waitingMax: number;
  /** Orders of one account that nobody paid and nobody asks for any more, which are remembered. */
  readonly unpaidKept: number;
  /** The most of one order, nano-yuan. */
  readonly amountMost: bigint;
  /**
   * The first question after an order was made, and the most that lies between two. In between they
   * grow with its age.
   */
  readonly askMsLeast: number;
  readonly askMsMost: number;
  /** The most that lies between two questions of which the first was not answered. */
  readonly backoffMsMost: number;
  /** An order that was closed is asked for so long: a payment may have been on its way. */
  readonly closedAskedMs: number;
  /** One order is asked for at somebody's wish so often at most. */
  readonly userAskEveryMs: number;
  /** Questions of this process that are under way to one wallet. */
  readonly atOnceMax: number;
  /** How often is looked for what is to be asked. */
  readonly lookEveryMs: number;
  /** Whoever asks has it to himself for so long: beyond the longest that his questions can take. */
  readonly leaseMs: number;
  /** A wallet's no to a refund is believed when nothing has been unclear for so long. */
  readonly quietMs: number;
  /** How long a refund waits for money that others have and do not use. */
  readonly moneyWaitMs: number;
  /** How often is looked whether a bill is to be compared. */
  readonly billLookEveryMs: number;
  /**
   * When the bill of the day before is asked for, milliseconds after midnight in China: wallets
   * make it until 10 o'clock.
   */
  readonly billAtMs: number;
}

export const paymentLimits: PaymentLimits = {
  expiryMs: 900_000,
  waitingMax: 20,
  unpaidKept: 1_000,
  amountMost: 50_000n * 1_000_000_000n,
  askMsLeast: 4_000,
  askMsMost: 30_000,
  backoffMsMost: 600_000,
  closedAskedMs: 86_400_000,
  userAskEveryMs: 2_000,
  atOnceMax: 8,
  lookEveryMs: 1_000,
  leaseMs: 60_000,
  quietMs: 300_000,
  moneyWaitMs: 3_000,
  billLookEveryMs: 60_000,
  billAtMs: 37_800_000,
};

/** When something that went wrong so often in a row is tried again. */
export const backoffMs = ({ askMsLeast, backoffMsMost }: PaymentLimits, faults: number): number =>
  Math.min(backoffMsMost, askMsLeast * 2 ** Math.min(faults, 20));
