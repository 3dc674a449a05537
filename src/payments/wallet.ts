import type { IncomingHttpHeaders } from 'node:http';
import type { Nano } from '../base/money.ts';

export const walletIds = ['wechat_pay', 'alipay'] as const;
export type WalletId = (typeof walletIds)[number];

/** How the payer gets to the wallet: by scanning a code, or on a page of the wallet's own. */
export type PayMethod = 'qr' | 'page';

/** What a wallet must know of an order before anybody can pay it. */
export interface OrderRequest {
  /** Ours, and the wallet's `out_trade_no`. */
  readonly id: string;
  readonly amount: Nano;
  readonly method: PayMethod;
  /** Wall clock, ms: later the wallet takes no money for it. */
  readonly expiresAt: number;
  readonly subject: string;
  /** Where the wallet tells us. */
  readonly notifyUrl: string;
  /** Where the wallet's page leads back to. */
  readonly returnUrl: string;
}

/** Money that a wallet says it has, for an order of ours. */
export interface Payment {
  readonly orderId: string;
  /** The wallet's own number: with it the money is credited once. */
  readonly number: string;
  readonly amount: Nano;
  readonly currency: string;
  /** Wall clock, ms. */
  readonly paidAt: number;
}

/**
 * `sure`: the wallet itself said no, and nothing happened. Else nobody knows whether it did: no
 * answer, none that can be believed, an error of its own.
 */
export interface WalletFault {
  readonly kind: 'fault';
  readonly sure: boolean;
  /** For the operator. */
  readonly why: string;
}

/** `code`: what the QR code says, or the address of the page. */
export type CreatedOrder = { readonly kind: 'made'; readonly code: string } | WalletFault;

/**
 * `absent`: the wallet knows of no such order (yet). `returned`: it was paid, and the money went
 * back without us.
 */
export type PaymentStatus =
  | { readonly kind: 'paid'; readonly payment: Payment }
  | { readonly kind: 'waiting'; readonly scanned: boolean }
  | { readonly kind: 'closed' | 'absent' | 'returned' }
  | WalletFault;

export type CloseResult = { readonly kind: 'closed' } | WalletFault;

export interface RefundRequest {
  /** Ours: the same id is paid back once. */
  readonly id: string;
  readonly orderId: string;
  readonly amount: Nano;
  /** Of the whole order. */
  readonly total: Nano;
  readonly reason: string;
  readonly notifyUrl: string;
}

/**
 * `pending`: the wallet has it and is at it. `stuck`: it cannot go on without the operator, at the
 * wallet. `failed`: it will not, for good.
 */
export type RefundStatus =
  | { readonly kind: 'done'; readonly number: string | undefined }
  | { readonly kind: 'pending' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'stuck'; readonly why: string }
  | WalletFault;

/** What a wallet told us by itself, once it is believed. `other`: nothing that concerns us. */
export type WalletNotification =
  | { readonly kind: 'payment'; readonly payment: Payment }
  | { readonly kind: 'refund'; readonly refundId: string }
  | { readonly kind: 'other' }
  | { readonly kind: 'refused'; readonly why: string };

/** A line of a wallet's bill of one day. */
export interface BillLine {
  readonly kind: 'payment' | 'refund';
  /** The wallet's number of the payment. */
  readonly number: string;
  readonly orderId: string;
  /** Ours, as we told it to the wallet. Only of refunds. */
  readonly refundId: string | undefined;
  readonly amount: Nano;
  readonly at: number;
}

/** `not yet`: it is being made; `none`: there was no trade on that day. */
export type WalletBill =
  | { readonly kind: 'bill'; readonly lines: readonly BillLine[] }
  | { readonly kind: 'not yet' }
  | { readonly kind: 'none' }
  | WalletFault;

export interface NotificationReply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** One wallet: everything that is said to it and read from it. Knows no database and no ledger. */
export interface Wallet {
  readonly id: WalletId;
  readonly methods: readonly PayMethod[];
  createOrder(order: OrderRequest): Promise<CreatedOrder>;
  orderStatus(orderId: string): Promise<PaymentStatus>;
  close(orderId: string): Promise<CloseResult>;
  refund(refund: RefundRequest): Promise<RefundStatus>;
  refundStatus(refund: Pick<RefundRequest, 'id' | 'orderId'>): Promise<RefundStatus>;
  readNotification(headers: IncomingHttpHeaders, body: Buffer): Promise<WalletNotification>;
  /** `date`: a day of China's, `2026-11-20`. */
  bill(date: string): Promise<WalletBill>;
  /** What a notification is answered with: by `taken` the wallet stops telling. */
  readonly taken: NotificationReply;
  readonly refused: NotificationReply;
}

/** Where a wallet tells us, below the public address. */
export const notificationPath = (wallet: WalletId): string => `/pay/${wallet}/notify`;
