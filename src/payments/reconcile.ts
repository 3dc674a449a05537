import type { Nano } from '../base/money.ts';
import { dayBounds } from './china-time.ts';
import type { Order, OrderRefund } from './order.ts';
import type { BillLine } from './wallet.ts';

export type Difference = 'paid_not_credited' | 'credited_not_in_bill' | 'amount_differs';

/** What a wallet's bill and our books do not agree about. Refunds count as negative amounts. */
export interface Differing {
  readonly what: Difference;
  readonly order: string | undefined;
  readonly number: string | undefined;
  readonly wallet: Nano | undefined;
  readonly ours: Nano | undefined;
  readonly at: number;
  /** So close to midnight that it may stand in the next day's bill. */
  readonly nextDay: boolean;
}

export interface Sum {
  readonly count: number;
  readonly wallet: Nano;
  readonly ours: Nano;
}

export interface Report {
  readonly billLines: number;
  readonly ourLines: number;
  readonly sums: Readonly<Record<'matched' | Difference, Sum>>;
  /** The first of them; the sums are of all. */
  readonly differences: readonly Differing[];
}

/** Ours, of the same day and of whatever the bill names. */
export interface Books {
  readonly orders: readonly Order[];
  readonly refunds: readonly OrderRefund[];
}

export const differencesKept = 500;
const nearMidnightMs = 300_000;

interface Entry {
  readonly key: string;
  readonly order: string;
  readonly number: string | undefined;
  readonly amount: Nano;
  readonly at: number;
}

/**
 * Compares a wallet's bill of one day with what was credited and paid back, line by line, by the
 * wallet's number or our refund's.
 */
export function reconcile(date: string, bill: readonly BillLine[], books: Books): Report {
  const theirs = bill.map(entryOfBill);
  const ours = new Map(
    [...books.orders.flatMap(entryOfOrder), ...books.refunds.flatMap(entryOfRefund)].map(
      (entry) => [entry.key, entry],
    ),
  );
  const sums = {
    matched: none(),
    paid_not_credited: none(),
    credited_not_in_bill: none(),
    amount_differs: none(),
  };
  const differences: Differing[] = [];
  const seen = new Set<string>();
  for (const entry of theirs) {
    const mine = ours.get(entry.key);
    seen.add(entry.key);
    const what =
      mine === undefined
        ? 'paid_not_credited'
        : mine.amount === entry.amount
          ? 'matched'
          : 'amount_differs';
    add(sums[what], entry.amount, mine?.amount);
    if (what !== 'matched')
      differences.push(differing(what, entry, entry.amount, mine?.amount, false));
  }
  const bounds = dayBounds(date);
  let ourLines = 0;
  for (const entry of ours.values()) {
    if (bounds === undefined || entry.at < bounds.from || entry.at >= bounds.to) continue;
    ourLines++;
    if (seen.has(entry.key)) continue;
    add(sums.credited_not_in_bill, undefined, entry.amount);
    differences.push(
      differing(
        'credited_not_in_bill',
        entry,
        undefined,
        entry.amount,
        bounds.to - entry.at <= nearMidnightMs,
      ),
    );
  }
  return {
    billLines: bill.length,
    ourLines,
    sums,
    differences: differences.slice(0, differencesKept),
  };
}

/** A refund that was not made here has no number of ours; its order stands for it. */
const entryOfBill = ({ kind, number, orderId, refundId, amount, at }: BillLine): Entry =>
  kind === 'payment'
    ? { key: `payment ${number}`, order: orderId, number, amount, at }
    : { key: `refund ${refundId ?? orderId}`, order: orderId, number, amount: -amount, at };

const entryOfOrder = ({ id, number, amount, paidAt }: Order): Entry[] =>
  number === undefined || paidAt === undefined
    ? []
    : [{ key: `payment ${number}`, order: id, number, amount, at: paidAt }];

const entryOfRefund = ({ id, orderId, number, amount, state, endedAt }: OrderRefund): Entry[] =>
  state === 'refunded' && endedAt !== undefined
    ? [{ key: `refund ${id}`, order: orderId, number, amount: -amount, at: endedAt }]
    : [];

const differing = (
  what: Difference,
  { order, number, at }: Entry,
  wallet: Nano | undefined,
  ours: Nano | undefined,
  nextDay: boolean,
): Differing => ({ what, order, number, wallet, ours, at, nextDay });

interface Adding {
  count: number;
  wallet: Nano;
  ours: Nano;
}

const none = (): Adding => ({ count: 0, wallet: 0n, ours: 0n });

function add(sum: Adding, wallet: Nano | undefined, ours: Nano | undefined): void {
  sum.count++;
  sum.wallet += wallet ?? 0n;
  sum.ours += ours ?? 0n;
}
