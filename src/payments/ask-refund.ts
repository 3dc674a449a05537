import { backoffMs } from './limits.ts';
import { noticePath } from './notice-path.ts';
import type { Order, OrderRefund } from './order.ts';
import { findOrder } from './orders.ts';
import type { PaymentParts } from './parts.ts';
import { endRefund, markAsked, planRefund } from './refunds.ts';
import type { RefundStanding, Wallet } from './wallet.ts';

/**
 * Brings a refund one step on: asks the wallet for it, or how it stands. To be called by whoever
 * claimed it. It ends by the wallet's explicit word alone, and the wallet's answer and the money
 * are one transaction: whoever dies in between leaves a refund that is asked for again under the
 * same number.
 */
export async function askRefund(
  parts: PaymentParts,
  wallet: Wallet,
  refund: OrderRefund,
): Promise<void> {
  const { database, clock, limits, log } = parts;
  const order = await findOrder(database, refund.orderId);
  if (order === undefined || !(await markAsked(database, refund, clock.now()))) return;
  const standing = await standingOf(parts, wallet, order, refund);
  const now = clock.now();
  if (standing.kind === 'done') {
    await database.transact(() =>
      endRefund(refund, { kind: 'refunded', wallet: wallet.id, number: standing.number }, now),
    );
    return log({ event: 'refunded', wallet: wallet.id, id: refund.id });
  }
  if (standing.kind === 'failed') {
    const why = standing.why ?? 'the wallet closed it';
    await database.transact(() => endRefund(refund, { kind: 'failed', why }, now));
    return log({ event: 'trouble', wallet: wallet.id, id: refund.id, why });
  }
  const unknown = standing.kind === 'fault' && !standing.sure;
  const troubled = standing.kind === 'fault' || standing.kind === 'stuck';
  const faults = troubled ? refund.faults + 1 : 0;
  const unknownAt = unknown ? now : refund.unknownAt;
  await planRefund(database, refund, {
    nextLookAt: now + backoffMs(limits, faults),
    faults,
    unknownAt,
    trouble: troubled ? standing.why : undefined,
  });
  if (troubled) log({ event: 'trouble', wallet: wallet.id, id: refund.id, why: standing.why });
}

type Outcome =
  | Exclude<RefundStanding, { readonly kind: 'failed' } | { readonly kind: 'absent' }>
  | { readonly kind: 'failed'; readonly why?: string };

/**
 * A refund that the wallet may have is asked about before it is asked for; the same number is paid
 * once, so that asking again is harmless.
 */
async function standingOf(
  parts: PaymentParts,
  wallet: Wallet,
  order: Order,
  refund: OrderRefund,
): Promise<Outcome> {
  if (refund.state === 'asked') {
    const before = await wallet.askRefund(refund);
    if (before.kind === 'failed') return { kind: 'failed' };
    if (before.kind !== 'absent') return before;
  }
  const asked = await wallet.refund({
    id: refund.id,
    orderId: order.id,
    amount: refund.amount,
    total: order.amount,
    reason: refund.reason,
    notifyUrl: parts.publicUrl() + noticePath(wallet.id),
  });
  if (asked.kind === 'failed') return { kind: 'failed' };
  if (asked.kind === 'absent') return { kind: 'pending' };
  return asked.kind === 'fault' && asked.sure ? refused(parts, wallet, refund, asked.why) : asked;
}

/**
 * The wallet said no. It is over when the wallet has no such refund and no earlier question of ours
 * can still be on its way.
 */
async function refused(
  { clock, limits }: PaymentParts,
  wallet: Wallet,
  refund: OrderRefund,
  why: string,
): Promise<Outcome> {
  const known = await wallet.askRefund(refund);
  if (known.kind === 'failed') return { kind: 'failed' };
  if (known.kind !== 'absent') return known;
  const quiet = refund.unknownAt === undefined || clock.now() - refund.unknownAt >= limits.quietMs;
  return quiet ? { kind: 'failed', why } : { kind: 'fault', sure: true, why };
}
