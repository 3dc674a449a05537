/** An order in a simulated wallet. Amounts are fen, times milliseconds. */
export interface Trade {
  readonly wallet: 'wechat_pay' | 'alipay';
  /** A code to scan, a page on a desk, or a page on the payer's phone. */
  readonly way: 'qr' | 'page' | 'mobile';
  readonly orderId: string;
  readonly fen: number;
  readonly subject: string;
  readonly notifyUrl: string;
  readonly expiresAt: number;
  readonly createdAt: number;
  /** The request that created the order, to tell a repetition from another order. */
  readonly requestText: string;
  /** The text of the QR code. */
  readonly code: string;
  /** The addresses that lead the payer back from Alipay's pages: when it is paid, and unpaid. */
  readonly returnUrl: string | undefined;
  readonly quitUrl: string | undefined;
  state: 'waiting' | 'scanned' | 'paid' | 'closed';
  number: string | undefined;
  paidAt: number | undefined;
  readonly refunds: TradeRefund[];
}

export interface TradeRefund {
  readonly id: string;
  readonly number: string;
  readonly fen: number;
  readonly reason: string;
  readonly notifyUrl: string | undefined;
  readonly at: number;
  state: 'processing' | 'success' | 'abnormal' | 'closed';
  endedAt: number | undefined;
}

export const refundedFen = ({ refunds }: Trade): number =>
  refunds.reduce((sum, { fen, state }) => sum + (state === 'closed' ? 0 : fen), 0);

/**
 * A fault, and the call that it affects: `native`, `h5`, `query`, `close`, `refund`,
 * `refund-query`, `bill`, `precreate`, …, or all.
 */
export interface WalletTrouble {
  readonly call?: string;
  /**
   * `lost`: the call succeeds, and its response never arrives. `late`: it succeeds at once, and the
   * response comes after `ms`. `unsigned`: the response has a signature of another text.
   */
  readonly kind: 'down' | 'hang' | 'html' | 'error' | 'lost' | 'late' | 'unsigned';
  readonly ms?: number;
}

/** The shared state of the simulated wallets: clock, orders and faults. */
export class Counter {
  now: () => number = () => Date.now();
  trouble: WalletTrouble | undefined;
  /** Sends no notifications: then only a query shows a payment. */
  silent = false;
  /** The result of refunds. */
  refunding: 'success' | 'processing' | 'not enough' | 'abnormal' | 'closed' = 'success';
  readonly trades = new Map<string, Trade>();
  /** The last call, by the names of `WalletTrouble`. */
  called = '';
  #count = 0;

  troubled(call: string): WalletTrouble | undefined {
    const { trouble } = this;
    return trouble?.call === undefined || trouble.call === call ? trouble : undefined;
  }

  /** 28 digits that begin with `prefix` and the day, like the numbers of both wallets. */
  number(prefix: string): string {
    this.#count += 1;
    const day = chinaTime(this.now()).slice(0, 10).replaceAll('-', '');
    return (
      `${prefix}${day}${String(Math.floor(Math.random() * 1e9))}`.padEnd(22, '7') +
      String(this.#count).padStart(6, '0')
    );
  }

  byCode(code: string): Trade | undefined {
    return [...this.trades.values()].find((trade) => trade.code === code || trade.orderId === code);
  }

  /** Closes an order that nobody paid in time. */
  expire(trade: Trade): Trade {
    if (trade.state !== 'paid' && trade.expiresAt <= this.now()) trade.state = 'closed';
    return trade;
  }
}

/** `2026-11-21 10:00:00` in China. */
export const chinaTime = (at: number): string =>
  new Date(at + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
export const chinaInstant = (at: number): string => `${chinaTime(at).replace(' ', 'T')}+08:00`;
export const yuanOf = (fen: number): string => (fen / 100).toFixed(2);
