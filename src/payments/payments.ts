import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { pause } from '../base/clock.ts';
import type { Nano } from '../base/money.ts';
import { orderedId } from '../base/random.ts';
import { createAccount } from '../ledger/ledger.ts';
import type { Transaction } from '../storage/database.ts';
import { pollOrder, creditPayment, Collector, pollRefund } from './collector.ts';
import {
  type Order,
  orderAmountMin,
  claimOrder,
  closeUnasked,
  endOrder,
  findOrder,
  insertOrder,
  keepCode,
  type NewOrder,
  walletAccount,
} from './orders.ts';
import type { PaymentContext } from './context.ts';
import { reconcileDaily, type ReconcileRun, runReconciliation } from './reconciliation.ts';
import {
  beginRefund,
  claimRefund,
  findRefund,
  hastenRefund,
  type NewRefund,
  type BeginRefundResult,
} from './refunds.ts';
import { isWholeFen } from './wallet-formats.ts';
import {
  notificationPath,
  type NotificationReply,
  type OrderRequest,
  type Payment,
  type PayMethod,
  type Wallet,
  type WalletId,
} from './wallet.ts';

export interface NewOrderRequest {
  readonly account: string;
  readonly wallet: WalletId;
  readonly method: PayMethod;
  readonly amount: Nano;
  readonly idempotencyKey: string;
  /** The text that the payer reads. */
  readonly subject: string;
  /** The payer's own address, for the method `mobile`; it goes to the wallet and is not kept. */
  readonly payerIp?: string;
}

/**
 * `unavailable`: the wallet does not answer; the same request again finds the same order. Its
 * `order` has the state `failed` when the wallet refused it.
 */
export type NewOrderResult =
  | { readonly kind: 'order' | 'unavailable'; readonly order: Order }
  | { readonly kind: 'no such wallet' }
  | { readonly kind: 'no payer' }
  | { readonly kind: 'wrong amount' }
  | { readonly kind: 'key reused' }
  | { readonly kind: 'too many' };

/** `url`: where the payer pays; undefined when the order has no page or is not open any more. */
export type OpenPaymentResult =
  | { readonly kind: 'order'; readonly order: Order; readonly url: string | undefined }
  | { readonly kind: 'no such order' }
  | { readonly kind: 'no payer' }
  | { readonly kind: 'unavailable' };

export interface NewRefundRequest {
  readonly orderId: string;
  readonly amount: Nano;
  readonly reason: string;
  readonly idempotencyKey: string;
  /** Runs in the same transaction: the record of the person who made the refund. */
  readonly beside?: (order: Order, refundId: string) => Transaction<unknown>;
}

export type NewRefundResult =
  | BeginRefundResult
  | { readonly kind: 'wrong amount' | 'no such wallet' };

const nothing: NotificationReply = { status: 404, type: 'text/plain', body: '' };
const moneyLookMs = 100;

/**
 * Top-ups of all accounts: ordered here, paid at a wallet, credited when the wallet confirms them;
 * refunded the same way; compared with the wallets' bills every day.
 */
export class Payments {
  readonly #parts: PaymentContext;
  readonly #collector: Collector;

  constructor(parts: PaymentContext) {
    this.#parts = parts;
    this.#collector = new Collector(parts, () => reconcileDaily(parts));
  }

  /** The configured wallets, and the ways to pay with each. */
  get offers(): readonly { readonly wallet: WalletId; readonly methods: readonly PayMethod[] }[] {
    return [...this.#parts.wallets.values()].map(({ id, methods }) => ({ wallet: id, methods }));
  }

  /** The least and the most of one order, nano-yuan. */
  get amounts(): { readonly least: bigint; readonly most: bigint } {
    return { least: orderAmountMin, most: this.#parts.limits.amountMax };
  }

  async start(): Promise<void> {
    const { database, clock, wallets } = this.#parts;
    for (const wallet of wallets.keys())
      await createAccount(database, walletAccount(wallet), 'operator');
    await closeUnasked(database, [...wallets.keys()], clock.now());
    if (wallets.size > 0) this.#collector.start();
  }

  /** Waits for requests in flight; the caller who opened the wallets aborts them. */
  close(): Promise<void> {
    return this.#collector.close();
  }

  /** Queries everything that is due at once, and waits for the answers. */
  async look(): Promise<void> {
    await this.#collector.look();
    await this.#collector.idle();
  }

  /**
   * Makes an order and the code that its payer scans. The order is stored before the wallet gets
   * it, because a notification may arrive before the wallet's answer.
   */
  async order({
    account,
    wallet,
    method,
    amount,
    idempotencyKey,
    subject,
    payerIp,
  }: NewOrderRequest): Promise<NewOrderResult> {
    const { database, clock, limits, wallets } = this.#parts;
    if (wallets.get(wallet)?.methods.includes(method) !== true) return { kind: 'no such wallet' };
    if (method === 'mobile' && isIP(payerIp ?? '') === 0) return { kind: 'no payer' };
    if (amount < orderAmountMin || amount > limits.amountMax || !isWholeFen(amount))
      return { kind: 'wrong amount' };
    const now = clock.now();
    const times = {
      createdAt: now,
      expiresAt: now + limits.expiryMs,
      nextLookAt: now + limits.queryMsMin,
    };
    const order: NewOrder = {
      id: orderedId('ord_', now),
      account,
      wallet,
      method,
      amount,
      idempotencyKey,
      subject,
      ...times,
    };
    const ordered = await database.transact(() => insertOrder(order, limits, database));
    if (ordered.kind === 'key reused' || ordered.kind === 'too many') return ordered;
    return this.#withCode(ordered.order, payerIp);
  }

  /**
   * The wallet's page for an open order of this account. On a phone it is a new one each time: the
   * address of the page lasts some minutes and belongs to the payer's own address. It never makes
   * another order, and ends none.
   */
  async openPayment(id: string, account: string, payerIp: string): Promise<OpenPaymentResult> {
    const { database, clock, wallets, log } = this.#parts;
    const order = await findOrder(database, id, account);
    if (order === undefined) return { kind: 'no such order' };
    const wallet = wallets.get(order.wallet);
    if (order.state !== 'waiting' || clock.now() >= order.expiresAt)
      return { kind: 'order', order, url: undefined };
    if (wallet === undefined) return { kind: 'unavailable' };
    if (order.method !== 'mobile')
      return { kind: 'order', order, url: order.method === 'page' ? order.code : undefined };
    if (isIP(payerIp) === 0) return { kind: 'no payer' };
    const made = await wallet.createOrder(this.#requestOf(order, payerIp));
    if (made.kind === 'made') return { kind: 'order', order, url: made.code };
    log({ event: 'trouble', wallet: wallet.id, id, why: made.why });
    // The wallet refuses what it knows to be paid or closed.
    const now = await this.check(id, account);
    return now === undefined || now.state === 'waiting'
      ? { kind: 'unavailable' }
      : { kind: 'order', order: now, url: undefined };
  }

  /**
   * Queries the wallet for an order's status, unless that happened just now. Undefined when there
   * is no such order of this account (of any account, when none is given).
   */
  async check(id: string, account?: string): Promise<Order | undefined> {
    return this.#query(id, account, this.#parts.limits.userQueryEveryMs, false);
  }

  /**
   * Closes an order before its time; an order paid meanwhile is credited instead. The order may
   * stay open when the wallet does not answer.
   */
  async closeOrder(id: string, account?: string): Promise<Order | undefined> {
    return this.#query(id, account, 0, true);
  }

  /**
   * Refunds the payer, up to what is left of the order and of the balance. Tries the wallet at
   * once; the refund goes on in the background.
   */
  async refund(request: NewRefundRequest): Promise<NewRefundResult> {
    const { database, clock, limits, wallets } = this.#parts;
    if (request.amount <= 0n || !isWholeFen(request.amount)) return { kind: 'wrong amount' };
    const now = clock.now();
    const { beside, ...rest } = request;
    const refund = { ...rest, id: orderedId('rfd_', now), at: now, nextLookAt: now };
    const order = await findOrder(database, request.orderId);
    const wallet = order && wallets.get(order.wallet);
    if (order !== undefined && wallet === undefined) return { kind: 'no such wallet' };
    const begun = await this.#begin(refund, beside);
    if (wallet === undefined || (begun.kind !== 'new' && begun.kind !== 'known')) return begun;
    const claimed = await claimRefund(database, begun.refund.id, clock.now() + limits.leaseMs);
    if (claimed !== undefined) await pollRefund(this.#parts, wallet, claimed);
    return {
      kind: begun.kind,
      refund: (await findRefund(database, begun.refund.id)) ?? begun.refund,
    };
  }

  /**
   * Handles a wallet's notification. It is acknowledged only when it is believed and its effect is
   * committed.
   */
  async receiveNotification(
    id: WalletId,
    headers: IncomingHttpHeaders,
    body: Buffer,
  ): Promise<NotificationReply> {
    const { database, clock, wallets, log } = this.#parts;
    const wallet = wallets.get(id);
    if (wallet === undefined) return nothing;
    const notification = await wallet.readNotification(headers, body);
    if (notification.kind === 'refused') {
      log({ event: 'refused', wallet: id, why: notification.why });
      return wallet.refused;
    }
    if (notification.kind === 'payment')
      return (await this.#notified(wallet, notification.payment)) ? wallet.taken : wallet.refused;
    // The notification brings the next query forward; only the query's answer counts.
    if (notification.kind === 'refund')
      await hastenRefund(database, notification.refundId, clock.now());
    return wallet.taken;
  }

  /** False: the wallet is to send the notification again. */
  async #notified(wallet: Wallet, payment: Payment): Promise<boolean> {
    const { database, clock, limits } = this.#parts;
    const now = clock.now();
    const outcome = await creditPayment(
      this.#parts,
      wallet,
      payment,
      now - limits.notifiedWithinMs,
    );
    if (outcome !== 'unconfirmed') return outcome !== 'differs';
    const order = await claimOrder(database, payment.orderId, now, 0, now + limits.leaseMs);
    const status = order && (await pollOrder(this.#parts, wallet, order));
    const known = await findOrder(database, payment.orderId);
    return status === 'returned' || known?.state === 'credited';
  }

  /**
   * Compares the wallet's bill of a day with our books. `day`: a past day in China, `2026-11-20`.
   */
  async reconcile(
    id: WalletId,
    day: string,
  ): Promise<ReconcileRun | { readonly kind: 'no such wallet' }> {
    const wallet = this.#parts.wallets.get(id);
    return wallet === undefined
      ? { kind: 'no such wallet' }
      : runReconciliation(this.#parts, wallet, day);
  }

  /** The same for each call about one order, but for the payer's address. */
  #requestOf(order: Order, payerIp: string | undefined): OrderRequest {
    const { id, wallet, amount, method, expiresAt, subject } = order;
    const base = this.#parts.publicUrl();
    const urls = { notifyUrl: base + notificationPath(wallet), returnUrl: `${base}/top-up/${id}` };
    return { id, amount, method, expiresAt, subject, ...urls, payerIp };
  }

  async #withCode(order: Order, payerIp: string | undefined): Promise<NewOrderResult> {
    const { database, clock, wallets } = this.#parts;
    const wallet = wallets.get(order.wallet);
    if (wallet === undefined || order.code !== undefined || order.state !== 'waiting')
      return { kind: 'order', order };
    const { id } = order;
    const made = await wallet.createOrder(this.#requestOf(order, payerIp));
    if (made.kind === 'made') await keepCode(database, id, made.code, clock.now());
    else {
      this.#parts.log({ event: 'trouble', wallet: wallet.id, id, why: made.why });
      if (made.sure) await endOrder(database, id, 'failed', clock.now(), made.why);
    }
    const now = (await findOrder(database, id)) ?? order;
    // An order that is paid already needs no code.
    return {
      kind: made.kind === 'made' || now.state === 'credited' ? 'order' : 'unavailable',
      order: now,
    };
  }

  async #query(
    id: string,
    account: string | undefined,
    everyMs: number,
    closing: boolean,
  ): Promise<Order | undefined> {
    const { database, clock, limits, wallets } = this.#parts;
    const order = await findOrder(database, id, account);
    if (order === undefined || order.state === 'credited') return order;
    const wallet = wallets.get(order.wallet);
    const now = clock.now();
    if (wallet === undefined) {
      if (closing || now >= order.expiresAt) await endOrder(database, id, 'closed', now);
      return findOrder(database, id);
    }
    const claimed = await claimOrder(database, id, now, everyMs, now + limits.leaseMs);
    if (claimed !== undefined) await pollOrder(this.#parts, wallet, claimed, closing);
    return findOrder(database, id);
  }

  /** Waits for money in idle floats, which come back when called in. */
  async #begin(refund: NewRefund, beside: NewRefundRequest['beside']): Promise<BeginRefundResult> {
    const { database, clock, limits, timers } = this.#parts;
    const until = clock.monotonicMs() + limits.moneyWaitMs;
    for (;;) {
      const begun = await database.transact(() => beginRefund(refund, beside));
      if (begun.kind !== 'not enough' || clock.monotonicMs() >= until) return begun;
      await pause(timers, moneyLookMs);
    }
  }
}

/** Larger than any wallet's notification. */
const bodyBytesMax = 64 * 1024;

/**
 * The server's routes for wallets' notifications. After an error for `bug` the wallet gets no
 * acknowledgement and sends the notification again.
 */
export function serveNotifications(
  server: FastifyInstance,
  payments: Payments,
  bug: (error: unknown) => void,
): void {
  for (const { wallet } of payments.offers) {
    server.post(notificationPath(wallet), { bodyLimit: bodyBytesMax }, async (request, reply) => {
      try {
        const answer = await payments.receiveNotification(
          wallet,
          request.headers,
          Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0),
        );
        return await reply
          .code(answer.status)
          .type(answer.type)
          .send(answer.body === '' ? undefined : answer.body);
      } catch (error) {
        bug(error);
        return reply.code(500).type('text/plain').send('fail');
      }
    });
  }
}
