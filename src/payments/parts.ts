import type { Clock } from '../base/clock.ts';
import type { Timers } from '../base/timers.ts';
import type { Database } from '../storage/database.ts';
import type { PaymentLimits } from './limits.ts';
import type { Wallet, WalletId } from './wallet.ts';

/** What happened to money, for the operator's log. No secret, no payer. */
export interface PaymentLine {
  readonly event: 'credited' | 'refunded' | 'refused' | 'unmatched' | 'trouble' | 'reconciled';
  readonly wallet: WalletId;
  readonly id?: string;
  readonly why?: string;
}

/** What the room works with. */
export interface PaymentParts {
  readonly database: Database;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly wallets: ReadonlyMap<WalletId, Wallet>;
  readonly limits: PaymentLimits;
  /** How wallets and browsers reach us, without `/` at its end. */
  readonly publicUrl: () => string;
  readonly log: (line: PaymentLine) => void;
  /** What must not happen. */
  readonly bug: (error: unknown) => void;
}
