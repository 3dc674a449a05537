import { isAway } from '../storage/database.ts';
import { type PaymentContext, type PaymentLimits, backoffMs } from './context.ts';
import {
  type Order,
  claimOrders,
  endOrder,
  markScanned,
  planOrder,
  type PaymentOutcome,
  recordPayment,
  recordReturn,
  findOrder,
} from './orders.ts';
import {
  claimRefunds,
  endRefund,
  markRefundSent,
  type OrderRefund,
  planRefund,
} from './refunds.ts';
import {
  type Wallet,
  type WalletId,
  type Payment,
  type PaymentStatus,
  type WalletFault,
  notificationPath,
  type RefundStatus,
} from './wallet.ts';

type Polled = `${'orders' | 'refunds'} of ${WalletId}`;

/**
 * Finds the payments that no notification reported: queries wallets for everything that is due. The
 * number of queries at a time is limited per wallet, so that one that hangs takes no place from
 * another. Every process has a collector; a claim belongs to one process until its lease ends.
 */
export class Collector {
  readonly #parts: PaymentContext;
  readonly #busy = new Map<Polled, number>();
  readonly #running = new Set<Promise<void>>();
  readonly #compare: () => Promise<void>;
  #comparing = false;
  #comparedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;
  #cancel: () => void = () => {};

  /** `compare` compares the bills that are due. */
  constructor(parts: PaymentContext, compare: () => Promise<void>) {
    this.#parts = parts;
    this.#compare = compare;
  }

  start(): void {
    this.#cancel = this.#parts.timers.after(this.#parts.limits.lookEveryMs, () => {
      this.#keep(
        this.look().finally(() => {
          if (!this.#stopped) this.start();
        }),
      );
    });
  }

  /** Claims and queries everything that is due. */
  async look(): Promise<void> {
    this.#lookAtBills();
    await Promise.all(
      [...this.#parts.wallets.values()].map((wallet) => this.#lookAt(wallet)),
    ).catch(this.#failed);
  }

  /** Resolves when no query is in flight any more. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  async close(): Promise<void> {
    this.#stopped = true;
    this.#cancel();
    await this.idle();
  }

  async #lookAt(wallet: Wallet): Promise<void> {
    const { database, clock, limits } = this.#parts;
    const now = clock.now();
    const orders: Polled = `orders of ${wallet.id}`;
    const refunds: Polled = `refunds of ${wallet.id}`;
    const busy = (what: Polled): number => this.#busy.get(what) ?? 0;
    const room = (): number =>
      this.#stopped ? 0 : limits.atOnceMax - busy(orders) - busy(refunds);
    // A wallet may process many refunds for days: half of the places are for payments.
    const refundRoom = Math.min(room(), Math.ceil(limits.atOnceMax / 2) - busy(refunds));
    const leaseUntil = now + limits.leaseMs;
    if (refundRoom > 0) {
      const claimed = await claimRefunds(database, wallet.id, refundRoom, now, leaseUntil);
      for (const refund of claimed) this.#poll(refunds, pollRefund(this.#parts, wallet, refund));
    }
    if (room() > 0) {
      const claimed = await claimOrders(database, wallet.id, room(), now, leaseUntil);
      for (const order of claimed) this.#poll(orders, pollOrder(this.#parts, wallet, order));
    }
  }

  #poll(what: Polled, polling: Promise<unknown>): void {
    this.#busy.set(what, (this.#busy.get(what) ?? 0) + 1);
    const ended = (): void => {
      this.#busy.set(what, (this.#busy.get(what) ?? 1) - 1);
    };
    this.#keep(polling.catch(this.#failed).then(ended));
  }

  /** A bill is a large file and takes time: no payment waits for it. */
  #lookAtBills(): void {
    const { clock, limits } = this.#parts;
    const now = clock.now();
    if (this.#comparing || now - this.#comparedAt < limits.billLookEveryMs) return;
    this.#comparing = true;
    this.#comparedAt = now;
    const ended = (): void => {
      this.#comparing = false;
    };
    this.#keep(this.#compare().catch(this.#failed).then(ended));
  }

  /**
   * While the database does not answer nothing is claimed, and a claimed order is due again when
   * its lease has run out.
   */
  readonly #failed = (error: unknown): void => {
    if (!isAway(error)) this.#parts.bug(error);
  };

  #keep(work: Promise<void>): void {
    const kept = work.finally(() => this.#running.delete(kept));
    this.#running.add(kept);
  }
}

/**
 * Queries a wallet for an order's status and acts on it: a paid order is credited, an expired one
 * closed. Only for the process that has claimed the order; whatever the wallet answers, the next
 * query is planned. `closing`: the order is to be closed before its time. Returns what the wallet
 * answered.
 */
export async function pollOrder(
  parts: PaymentContext,
  wallet: Wallet,
  order: Order,
  closing = false,
): Promise<PaymentStatus['kind']> {
  const status = await wallet.orderStatus(order.id);
  const fault = await actOnStatus(parts, wallet, order, status, closing);
  const faults = fault === undefined ? 0 : order.faults + 1;
  await planOrder(parts.database, order, {
    nextLookAt: nextLookAt(parts, order, faults),
    faults,
    trouble: fault?.why,
  });
  if (fault !== undefined)
    parts.log({ event: 'trouble', wallet: wallet.id, id: order.id, why: fault.why });
  return status.kind;
}

async function actOnStatus(
  parts: PaymentContext,
  wallet: Wallet,
  order: Order,
  status: PaymentStatus,
  closing: boolean,
): Promise<WalletFault | undefined> {
  const { database, clock } = parts;
  if (status.kind === 'fault') return status;
  if (status.kind === 'paid' && (await creditPayment(parts, wallet, status.payment)) !== 'differs')
    return undefined;
  if (status.kind === 'returned') await keepReturn(parts, wallet, order, status.payment);
  // Paid, but not as ordered: the right payment cannot come any more.
  if (status.kind === 'paid' || status.kind === 'closed' || status.kind === 'returned') {
    await endOrder(database, order.id, 'closed', clock.now());
    return undefined;
  }
  if (status.kind === 'waiting' && status.scanned)
    await markScanned(database, order.id, clock.now());
  if (order.state !== 'waiting' || (!closing && clock.now() < order.expiresAt)) return undefined;
  return close(parts, wallet, order);
}

/**
 * A payment may arrive between the query and this call: then the wallet refuses to close, and the
 * next query finds the payment.
 */
async function close(
  { database, clock }: PaymentContext,
  wallet: Wallet,
  { id }: Order,
): Promise<WalletFault | undefined> {
  const closed = await wallet.close(id);
  if (closed.kind === 'fault') return closed;
  await endOrder(database, id, 'closed', clock.now());
  return undefined;
}

async function keepReturn(
  { database, clock, log }: PaymentContext,
  wallet: Wallet,
  { id, state }: Order,
  payment: Payment | undefined,
): Promise<void> {
  if (payment !== undefined)
    await database.transact(() => recordReturn(wallet.id, payment, clock.now()));
  // A closed order is queried again and again.
  if (state === 'waiting')
    log({ event: 'unmatched', wallet: wallet.id, id, why: 'given back at the wallet' });
}

/**
 * Credits a wallet's payment, once. `confirmedBefore`: an older payment must be confirmed by a
 * query (see `recordPayment`).
 */
export async function creditPayment(
  { database, clock, log }: PaymentContext,
  wallet: Wallet,
  payment: Payment,
  confirmedBefore?: number,
): Promise<PaymentOutcome> {
  const taken = await database.transact(() =>
    recordPayment(wallet.id, payment, clock.now(), confirmedBefore),
  );
  if (taken === 'credited') log({ event: 'credited', wallet: wallet.id, id: payment.orderId });
  if (taken === 'differs')
    log({ event: 'unmatched', wallet: wallet.id, id: payment.orderId, why: payment.number });
  return taken;
}

/** The time of an order's next query; undefined: none is planned. */
function nextLookAt(
  { clock, limits }: PaymentContext,
  order: Order,
  faults: number,
): number | undefined {
  const now = clock.now();
  if (faults > 0) return now + backoffMs(limits, faults);
  if (now < order.expiresAt) {
    const soon = Math.min(
      limits.queryMsMax,
      Math.max(limits.queryMsMin, Math.ceil((now - order.createdAt) / 4)),
    );
    return Math.min(now + soon, order.expiresAt);
  }
  const overdueMs = now - order.expiresAt;
  return overdueMs >= limits.closedQueriedMs
    ? undefined
    : now + Math.max(limits.queryMsMax, overdueMs);
}

/**
 * Brings a refund one step on: requests it from the wallet, or queries its status. Only for the
 * process that has claimed it. It ends only by an explicit answer of the wallet, and that answer
 * and the money are one transaction: a process that dies in between leaves a refund that is
 * requested again under the same number.
 */
export async function pollRefund(
  parts: PaymentContext,
  wallet: Wallet,
  refund: OrderRefund,
): Promise<void> {
  const { database, clock, limits, log } = parts;
  const order = await findOrder(database, refund.orderId);
  if (order === undefined || !(await markRefundSent(database, refund, clock.now()))) return;
  const outcome = await refundOutcome(parts, wallet, order, refund);
  const now = clock.now();
  if (outcome.kind === 'done') {
    await database.transact(() =>
      endRefund(refund, { kind: 'refunded', wallet: wallet.id, number: outcome.number }, now),
    );
    return log({ event: 'refunded', wallet: wallet.id, id: refund.id });
  }
  if (outcome.kind === 'failed') {
    const why = outcome.why ?? 'the wallet closed it';
    await database.transact(() => endRefund(refund, { kind: 'failed', why }, now));
    return log({ event: 'trouble', wallet: wallet.id, id: refund.id, why });
  }
  const unknown = outcome.kind === 'fault' && !outcome.sure;
  const troubled = outcome.kind === 'fault' || outcome.kind === 'stuck';
  const faults = troubled ? refund.faults + 1 : 0;
  const unknownAt = unknown ? now : refund.unknownAt;
  await planRefund(database, refund, {
    nextLookAt: now + (faults > 0 ? backoffMs(limits, faults) : pendingMs(limits, refund, now)),
    faults,
    unknownAt,
    trouble: troubled ? outcome.why : undefined,
  });
  if (troubled) log({ event: 'trouble', wallet: wallet.id, id: refund.id, why: outcome.why });
}

/** The delay before the next query of a refund that its wallet is processing, maybe for days. */
const pendingMs = (
  { queryMsMin, backoffMsMax }: PaymentLimits,
  { createdAt }: OrderRefund,
  now: number,
): number => Math.min(backoffMsMax, Math.max(queryMsMin, Math.ceil((now - createdAt) / 4)));

type RefundOutcome =
  | Exclude<RefundStatus, { readonly kind: 'failed' } | { readonly kind: 'absent' }>
  | { readonly kind: 'failed'; readonly why?: string };

/**
 * A refund that the wallet may have is queried before it is requested again; the wallet pays the
 * same number once, so a repeated request is harmless.
 */
async function refundOutcome(
  parts: PaymentContext,
  wallet: Wallet,
  order: Order,
  refund: OrderRefund,
): Promise<RefundOutcome> {
  if (refund.state === 'asked') {
    const before = await wallet.refundStatus(refund);
    if (before.kind === 'failed') return { kind: 'failed' };
    if (before.kind !== 'absent') return before;
  }
  const answer = await wallet.refund({
    id: refund.id,
    orderId: order.id,
    amount: refund.amount,
    total: order.amount,
    reason: refund.reason,
    notifyUrl: parts.publicUrl() + notificationPath(wallet.id),
  });
  if (answer.kind === 'failed') return { kind: 'failed' };
  if (answer.kind === 'absent') return { kind: 'pending' };
  return answer.kind === 'fault' && answer.sure
    ? refused(parts, wallet, refund, answer.why)
    : answer;
}

/**
 * The wallet refused. The refund is over when the wallet has no such refund and no earlier request
 * of ours can still be on its way.
 */
async function refused(
  { clock, limits }: PaymentContext,
  wallet: Wallet,
  refund: OrderRefund,
  why: string,
): Promise<RefundOutcome> {
  const known = await wallet.refundStatus(refund);
  if (known.kind === 'failed') return { kind: 'failed' };
  if (known.kind !== 'absent') return known;
  const quiet = refund.unknownAt === undefined || clock.now() - refund.unknownAt >= limits.quietMs;
  return quiet ? { kind: 'failed', why } : { kind: 'fault', sure: true, why };
}
