import assert from 'node:assert/strict';
import { dayMs } from '../base/calendar.ts';
import { objectOf } from '../base/json.ts';
import type { Nano } from '../base/money.ts';
import type { Database } from '../storage/database.ts';
import type { PaymentContext } from './context.ts';
import { hastenOrder, type Order, ordersNamed, ordersPaid } from './orders.ts';
import { type OrderRefund, refundsBegun, refundsNamed } from './refunds.ts';
import { dayBounds, chinaDate, dayBefore, timeOfDay } from './wallet-formats.ts';
import type { BillLine, Wallet, WalletFault, WalletId } from './wallet.ts';

export type Difference = 'paid_not_credited' | 'credited_not_in_bill' | 'amount_differs';

/** A difference between a wallet's bill and our books. Refunds count as negative amounts. */
export interface BillDifference {
  readonly what: Difference;
  readonly order: string | undefined;
  readonly number: string | undefined;
  readonly wallet: Nano | undefined;
  readonly ours: Nano | undefined;
  readonly at: number;
  /** The time is so close to midnight that the line may be in the next day's bill. */
  readonly nextDay: boolean;
}

export interface WalletSum {
  readonly count: number;
  readonly wallet: Nano;
  readonly ours: Nano;
}

export interface ReconciliationReport {
  readonly billLines: number;
  readonly ourLines: number;
  readonly sums: Readonly<Record<'matched' | Difference, WalletSum>>;
  /** The first differences; the sums count all of them. */
  readonly differences: readonly BillDifference[];
}

/** Our orders and refunds of the same day, and all others that the bill names. */
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
 * Compares a wallet's bill of one day with credits and refunds, line by line, by the wallet's
 * number or our refund id.
 */
export function reconcile(
  date: string,
  bill: readonly BillLine[],
  books: Books,
): ReconciliationReport {
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
  const differences: BillDifference[] = [];
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

/** A refund made at the wallet itself has no refund id of ours; the order's id stands for it. */
const entryOfBill = ({ kind, number, orderId, refundId, amount, at }: BillLine): Entry =>
  kind === 'payment'
    ? { key: `payment ${number}`, order: orderId, number, amount, at }
    : { key: `refund ${refundId ?? orderId}`, order: orderId, number, amount: -amount, at };

const entryOfOrder = ({ id, number, amount, paidAt }: Order): Entry[] =>
  number === undefined || paidAt === undefined
    ? []
    : [{ key: `payment ${number}`, order: id, number, amount, at: paidAt }];

/**
 * Wallets list a refund on the day on which they got it, also one that they still process: that one
 * is in the books when the bill names it.
 */
const entryOfRefund = ({ id, orderId, number, amount, state, createdAt }: OrderRefund): Entry[] =>
  state === 'refunded' || state === 'asked'
    ? [{ key: `refund ${id}`, order: orderId, number, amount: -amount, at: createdAt }]
    : [];

const differing = (
  what: Difference,
  { order, number, at }: Entry,
  wallet: Nano | undefined,
  ours: Nano | undefined,
  nextDay: boolean,
): BillDifference => ({ what, order, number, wallet, ours, at, nextDay });

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

/** The latest comparison of a day's bill with our books. */
export interface RecordedReconciliation {
  readonly wallet: WalletId;
  readonly day: string;
  readonly runAt: number;
  readonly report: ReconciliationReport;
}

export type ReconcileRun =
  | { readonly kind: 'done'; readonly reconciled: RecordedReconciliation }
  | { readonly kind: 'not yet' }
  | { readonly kind: 'no such day' }
  | WalletFault;

/**
 * The longest time of a run; also the delay before the next try when the bill is missing or the
 * wallet does not answer.
 */
const leaseMs = 600_000;
/** An absent bill of a day with payments is late; after this time there is none. */
const billLateMs = 2 * dayMs;
const namesAtOnce = 500;
/** Missed days (a node that was down) are compared later, at most this many days back. */
const daysBack = 3;

/**
 * Compares a day's bill with our books and keeps the report. Orders that are paid but not credited
 * are queried at once.
 */
export async function runReconciliation(
  parts: PaymentContext,
  wallet: Wallet,
  day: string,
): Promise<ReconcileRun> {
  const { database, clock, log } = parts;
  const bounds = dayBounds(day);
  if (bounds === undefined || bounds.to > clock.now()) return { kind: 'no such day' };
  const bill = await wallet.bill(day);
  if (bill.kind === 'fault') {
    log({ event: 'trouble', wallet: wallet.id, id: day, why: bill.why });
    return bill;
  }
  if (bill.kind === 'not yet') return { kind: 'not yet' };
  const lines = bill.kind === 'bill' ? bill.lines : [];
  const books = await booksFor(database, wallet.id, lines, bounds);
  const report = reconcile(day, lines, books);
  const runAt = clock.now();
  if (bill.kind === 'absent' && report.ourLines > 0 && runAt - bounds.to < billLateMs)
    return { kind: 'not yet' };
  await database.query(
    `INSERT INTO payment_reconciliation (wallet, day, lease_until, run_at, report) VALUES ($1, $2, 0, $3, $4)
      ON CONFLICT (wallet, day) DO UPDATE SET lease_until=0, run_at=excluded.run_at, report=excluded.report`,
    [wallet.id, day, runAt, writeReport(report)],
  );
  await hasten(database, lines, books, runAt);
  log({
    event: 'reconciled',
    wallet: wallet.id,
    id: day,
    why: `${report.differences.length} differences`,
  });
  return { kind: 'done', reconciled: { wallet: wallet.id, day, runAt, report } };
}

export async function findReconciliation(
  database: Database,
  wallet: WalletId,
  day: string,
): Promise<RecordedReconciliation | undefined> {
  const [row] = await database.query(
    'SELECT run_at, report FROM payment_reconciliation WHERE wallet=$1 AND day=$2',
    [wallet, day],
  );
  const text = row?.['report'];
  return typeof text === 'string'
    ? { wallet, day, runAt: Number(row?.['run_at']), report: readReport(text) }
    : undefined;
}

/**
 * After 10:30 in China, compares each wallet's bill of the day before, and those of missed days,
 * once for all processes.
 */
export async function reconcileDaily(parts: PaymentContext): Promise<void> {
  const { clock, limits, wallets } = parts;
  const now = clock.now();
  if (timeOfDay(now) < limits.billAtMs) return;
  let day = chinaDate(now);
  for (let back = 0; back < daysBack; back++) {
    day = dayBefore(dayBounds(day)?.from ?? now);
    for (const wallet of wallets.values())
      if (await claimDay(parts, wallet.id, day)) await runReconciliation(parts, wallet, day);
  }
}

/**
 * False: the day is done, another process is at work on it, or the last try was a short while ago.
 * A wallet without a single order has no bill to compare.
 */
async function claimDay(
  { database, clock }: PaymentContext,
  wallet: WalletId,
  day: string,
): Promise<boolean> {
  const now = clock.now();
  const sql = `INSERT INTO payment_reconciliation (wallet, day, lease_until) SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS BIGINT)
    WHERE EXISTS (SELECT 1 FROM payment_order WHERE wallet=$1)
    ON CONFLICT (wallet, day) DO UPDATE SET lease_until=excluded.lease_until
      WHERE payment_reconciliation.run_at IS NULL AND payment_reconciliation.lease_until<=$4 RETURNING day`;
  return (await database.query(sql, [wallet, day, now + leaseMs, now])).length > 0;
}

async function booksFor(
  database: Database,
  wallet: WalletId,
  lines: readonly BillLine[],
  { from, to }: { readonly from: number; readonly to: number },
): Promise<Books> {
  const orders = new Map(
    (await ordersPaid(database, wallet, from, to)).map((order) => [order.id, order]),
  );
  for (const ids of chunks(lines.map(({ orderId }) => orderId)))
    for (const order of await ordersNamed(database, ids))
      if (order.wallet === wallet) orders.set(order.id, order);
  const refunds = new Map(
    (await refundsBegun(database, wallet, from, to)).map((refund) => [refund.id, refund]),
  );
  for (const ids of chunks(lines.flatMap(({ refundId }) => refundId ?? [])))
    for (const refund of await refundsNamed(database, ids)) refunds.set(refund.id, refund);
  return { orders: [...orders.values()], refunds: [...refunds.values()] };
}

function* chunks(ids: readonly string[]): Generator<readonly string[]> {
  for (let from = 0; from < ids.length; from += namesAtOnce)
    yield ids.slice(from, from + namesAtOnce);
}

/**
 * Brings forward the next query of the orders that are paid by the bill but not credited here: a
 * bill itself credits nothing.
 */
async function hasten(
  database: Database,
  lines: readonly BillLine[],
  { orders }: Books,
  now: number,
): Promise<void> {
  const paid = new Set(lines.flatMap((line) => (line.kind === 'payment' ? [line.orderId] : [])));
  for (const { id, state } of orders)
    if (state !== 'credited' && paid.has(id)) await hastenOrder(database, id, now);
}

/** Amounts are integers that JSON numbers would round. */
const writeReport = (report: ReconciliationReport): string =>
  JSON.stringify(report, (_name, value: unknown) =>
    typeof value === 'bigint' ? `${value}n` : value,
  );

function readReport(text: string): ReconciliationReport {
  const value: unknown = JSON.parse(text, (_name, member: unknown) =>
    typeof member === 'string' && /^-?\d+n$/.test(member) ? BigInt(member.slice(0, -1)) : member,
  );
  assert(objectOf(value)?.['sums'] !== undefined, 'a report has sums');
  // Written by `writeReport`.
  return value as ReconciliationReport;
}
