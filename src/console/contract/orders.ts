import type { BalanceView, WalletName } from './session.ts';
import type { Instant, Yuan } from './shapes.ts';

/**
 * `waiting` → `scanned` → `credited`, or `expired` (its code), `closed` (at the wallet), `failed`
 * (the wallet did not take it). A payment that arrives after closing is credited, with
 * `late: true`.
 */
export type OrderState = 'waiting' | 'scanned' | 'credited' | 'expired' | 'closed' | 'failed';

/** GET `orders`, `orders/:id`; the event `order`. */
export interface OrderView {
  readonly id: string;
  readonly amount: Yuan;
  readonly wallet: WalletName;
  readonly state: OrderState;
  readonly late: boolean;
  /** What the QR code says, while it waits. */
  readonly qr: string | null;
  /** The wallet's page, where it has one. */
  readonly pay_url: string | null;
  readonly expires_at: Instant;
  readonly created_at: Instant;
  readonly credited_at: Instant | null;
  /** The wallet's own number. */
  readonly wallet_no: string | null;
  readonly transfer: string | null;
  readonly refunded: Yuan;
  readonly refunds: readonly RefundView[];
}

export interface RefundView {
  readonly id: string;
  readonly amount: Yuan;
  readonly state: 'held' | 'asked' | 'refunded' | 'failed';
  readonly reason: string;
  readonly at: Instant;
}

/** POST `orders`, with `idempotency-key`. `amount`: from 1.00, at most two decimals. */
export interface NewOrderBody {
  readonly amount: Yuan;
  readonly wallet: WalletName;
  readonly page?: 'qr' | 'web';
}

/** POST `orders`, `orders/:id/check`, `orders/:id/close`. */
export interface OrderAnswer {
  readonly order: OrderView;
  readonly balance: BalanceView;
}
