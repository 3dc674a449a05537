import { backoffMs } from './limits.ts';
import type { Order } from './order.ts';
import { endOrder, markScanned, planOrder, type Taken, takePayment } from './orders.ts';
import type { PaymentParts } from './parts.ts';
import type { Payment, Wallet, WalletFault } from './wallet.ts';

/**
 * Asks a wallet how an order stands and does what follows: what was paid is credited, what has
 * expired is closed. To be called by whoever claimed the order; whatever the wallet does, the next
 * question is planned. `closing`: somebody wants it closed before its time.
 */
export async function askOrder(
  parts: PaymentParts,
  wallet: Wallet,
  order: Order,
  closing = false,
): Promise<void> {
  const fault = await settle(parts, wallet, order, closing);
  const faults = fault === undefined ? 0 : order.faults + 1;
  await planOrder(parts.database, order, {
    nextLookAt: nextLookAt(parts, order, faults),
    faults,
    trouble: fault?.why,
  });
  if (fault !== undefined)
    parts.log({ event: 'trouble', wallet: wallet.id, id: order.id, why: fault.why });
}

async function settle(
  parts: PaymentParts,
  wallet: Wallet,
  order: Order,
  closing: boolean,
): Promise<WalletFault | undefined> {
  const { database, clock } = parts;
  const standing = await wallet.ask(order.id);
  if (standing.kind === 'fault') return standing;
  if (standing.kind === 'paid' && (await take(parts, wallet, standing.payment)) !== 'differs')
    return undefined;
  // Paid, but not as it was ordered: nobody can pay it as it should be any more.
  if (standing.kind === 'paid' || standing.kind === 'closed' || standing.kind === 'returned') {
    await endOrder(database, order.id, 'closed', clock.now());
    return undefined;
  }
  if (standing.kind === 'waiting' && standing.scanned)
    await markScanned(database, order.id, clock.now());
  if (order.state !== 'waiting' || (!closing && clock.now() < order.expiresAt)) return undefined;
  return close(parts, wallet, order);
}

/**
 * A payment may have come between the question and this: then the wallet refuses to close, and the
 * next question finds it.
 */
async function close(
  { database, clock }: PaymentParts,
  wallet: Wallet,
  { id }: Order,
): Promise<WalletFault | undefined> {
  const closed = await wallet.close(id);
  if (closed.kind === 'fault') return closed;
  await endOrder(database, id, 'closed', clock.now());
  return undefined;
}

/** Credits what a wallet has, once. */
export async function take(
  { database, clock, log }: PaymentParts,
  wallet: Wallet,
  payment: Payment,
): Promise<Taken> {
  const taken = await database.transact(() => takePayment(wallet.id, payment, clock.now()));
  if (taken === 'credited') log({ event: 'credited', wallet: wallet.id, id: payment.orderId });
  if (taken === 'differs')
    log({ event: 'unmatched', wallet: wallet.id, id: payment.orderId, why: payment.number });
  return taken;
}

/** When an order is asked for again; undefined: never, of itself. */
function nextLookAt(
  { clock, limits }: PaymentParts,
  order: Order,
  faults: number,
): number | undefined {
  const now = clock.now();
  if (faults > 0) return now + backoffMs(limits, faults);
  if (now < order.expiresAt) {
    const soon = Math.min(
      limits.askMsMost,
      Math.max(limits.askMsLeast, Math.ceil((now - order.createdAt) / 4)),
    );
    return Math.min(now + soon, order.expiresAt);
  }
  const overdueMs = now - order.expiresAt;
  return overdueMs >= limits.closedAskedMs
    ? undefined
    : now + Math.max(limits.askMsMost, overdueMs);
}
