import type { IncomingHttpHeaders } from 'node:http';
import type { Nano } from '../base/money.ts';

export const walletIds = ['wechat_pay', 'alipay'] as const;
export type WalletId = (typeof walletIds)[number];

/**
 * The payer's way to the wallet: a code to scan, a page of the wallet's own, or the wallet's app on
 * the phone that shows our page.
 */
export const payMethods = ['qr', 'page', 'mobile'] as const;
export type PayMethod = (typeof payMethods)[number];

/** An order as the wallet gets it, before anybody can pay it. */
export interface OrderRequest {
  /** Our order's id, and the wallet's `out_trade_no`. */
  readonly id: string;
  readonly amount: Nano;
  readonly method: PayMethod;
  /** Wall clock, ms: the wallet takes no money for it later. */
  readonly expiresAt: number;
  readonly subject: string;
  /** The address for the wallet's notifications. */
  readonly notifyUrl: string;
  /** The address to which the wallet's page returns the payer. */
  readonly returnUrl: string;
  /** The payer's own address, IPv4 or IPv6: for the method `mobile`. */
  readonly payerIp: string | undefined;
}

/** A payment that a wallet reports for an order of ours. */
export interface Payment {
  readonly orderId: string;
  /** The wallet's own number: it makes the credit happen once. */
  readonly number: string;
  readonly amount: Nano;
  readonly currency: string;
  /** Wall clock, ms. */
  readonly paidAt: number;
}

/**
 * `sure`: the wallet itself refused, and nothing happened. Otherwise the outcome is unknown: no
 * answer, one that cannot be believed, or an internal error of the wallet.
 */
export interface WalletFault {
  readonly kind: 'fault';
  readonly sure: boolean;
  /** The reason, for the operator. */
  readonly why: string;
}

/** The outcome of a call is unknown: what it asked for may have happened. */
export const unclearFault = (why: string): WalletFault => ({ kind: 'fault', sure: false, why });

/** `code`: the content of the QR code, or the address of the page. */
export type CreatedOrder = { readonly kind: 'made'; readonly code: string } | WalletFault;

/**
 * `absent`: the wallet has no such order (yet). `returned`: it was paid, and refunded at the wallet
 * itself, in whole or in part. `payment` is undefined when the wallet does not describe it.
 */
export type PaymentStatus =
  | { readonly kind: 'paid'; readonly payment: Payment }
  | { readonly kind: 'returned'; readonly payment: Payment | undefined }
  | { readonly kind: 'waiting'; readonly scanned: boolean }
  | { readonly kind: 'closed' | 'absent' }
  | WalletFault;

export type CloseResult = { readonly kind: 'closed' } | WalletFault;

export interface RefundRequest {
  /** Our refund's id: the wallet pays the same id once. */
  readonly id: string;
  readonly orderId: string;
  readonly amount: Nano;
  /** The amount of the whole order. */
  readonly total: Nano;
  readonly reason: string;
  readonly notifyUrl: string;
}

/**
 * `pending`: the wallet is processing it. `stuck`: it needs the operator's action at the wallet.
 * `failed`: the wallet will never do it.
 */
export type RefundStatus =
  | { readonly kind: 'done'; readonly number: string | undefined }
  | { readonly kind: 'pending' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed' }
  | { readonly kind: 'stuck'; readonly why: string }
  | WalletFault;

/** A wallet's notification, after its signature was checked. `other`: nothing that concerns us. */
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
  /** Our refund's id as the wallet got it. Only for refunds. */
  readonly refundId: string | undefined;
  readonly amount: Nano;
  readonly at: number;
}

/**
 * `not yet`: the wallet is still making it. `none`: there was no trade on that day. `absent`: one of
 * the two, and the wallet does not say which.
 */
export type WalletBill =
  | { readonly kind: 'bill'; readonly lines: readonly BillLine[] }
  | { readonly kind: 'not yet' | 'none' | 'absent' }
  | WalletFault;

export interface NotificationReply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/**
 * One wallet: all requests to it and everything read from it. It uses no database and no ledger.
 */
export interface Wallet {
  readonly id: WalletId;
  readonly methods: readonly PayMethod[];
  /** The same order again has the same payment, with a new code where codes do not last. */
  createOrder(order: OrderRequest): Promise<CreatedOrder>;
  orderStatus(orderId: string): Promise<PaymentStatus>;
  close(orderId: string): Promise<CloseResult>;
  refund(refund: RefundRequest): Promise<RefundStatus>;
  refundStatus(refund: Pick<RefundRequest, 'id' | 'orderId'>): Promise<RefundStatus>;
  readNotification(headers: IncomingHttpHeaders, body: Buffer): Promise<WalletNotification>;
  /** `date`: a day in China, `2026-11-20`. */
  bill(date: string): Promise<WalletBill>;
  /** The response that acknowledges a notification: the wallet then stops sending it. */
  readonly taken: NotificationReply;
  readonly refused: NotificationReply;
}

/** The path for a wallet's notifications, below the public address. */
export const notificationPath = (wallet: WalletId): string => `/pay/${wallet}/notify`;
