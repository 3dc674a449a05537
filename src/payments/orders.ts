import assert from 'node:assert/strict';
import type { Nano } from '../base/money.ts';
import { creditTx } from '../ledger/transactions/account.ts';
import { lockAccount } from '../ledger/transfers.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import {
  integerColumn,
  optionalNumber,
  optionalText,
  skipLocked,
  textColumn,
  WhereClause,
} from '../storage/sql.ts';
import type { PaymentLimits } from './context.ts';
import { type Payment, type PayMethod, payMethods, type WalletId, walletIds } from './wallet.ts';

/** The operator's account that pays for a wallet's top-ups. */
export const walletAccount = (wallet: WalletId): string => `wallet:${wallet}`;
/** The wallet's number is the transfer's id: no payment is credited twice. */
export const transferOf = (wallet: WalletId, number: string): string => `${wallet}:${number}`;

/**
 * `closed`: nobody can pay the order any more, but a payment made at that moment is credited.
 * `failed`: the wallet refused the order.
 */
const orderStates = ['waiting', 'closed', 'failed', 'credited'] as const;
export type PaymentOrderState = (typeof orderStates)[number];

/** The smallest top-up: a smaller one would cost more in transfer fees. */
export const orderAmountMin: Nano = 1_000_000_000n;

/** A top-up. Times are wall clock, ms. */
export interface Order {
  /** `ord_…`; also the wallet's `out_trade_no`. */
  readonly id: string;
  readonly account: string;
  readonly wallet: WalletId;
  readonly method: PayMethod;
  readonly amount: Nano;
  readonly state: PaymentOrderState;
  /** The payer has scanned the code, as far as the wallet reports it. */
  readonly scanned: boolean;
  /**
   * The content of the QR code, or the address of the wallet's page (on a phone the first one,
   * which does not last); undefined: the wallet has not answered.
   */
  readonly code: string | undefined;
  /** The text that the payer reads: a wallet wants it unchanged when it gets the order again. */
  readonly subject: string;
  /** The wallet's own number of the payment. */
  readonly number: string | undefined;
  /** The id of the ledger's transfer, once credited. */
  readonly transfer: string | undefined;
  /** The sum of refunds in progress; `refunded` is the sum of finished ones. */
  readonly refunding: Nano;
  readonly refunded: Nano;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** A closed order may still be credited: it was paid at that moment. */
  readonly closedAt: number | undefined;
  readonly paidAt: number | undefined;
  readonly creditedAt: number | undefined;
  /** When its owner last had something new to see: for the event stream. */
  readonly changedAt: number;
  readonly claims: bigint;
  readonly faults: number;
  /** The latest problem at the wallet, for the operator. */
  readonly trouble: string | undefined;
}

export interface NewOrder {
  readonly id: string;
  readonly account: string;
  readonly wallet: WalletId;
  readonly method: PayMethod;
  readonly amount: bigint;
  readonly idempotencyKey: string;
  readonly subject: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly nextLookAt: number;
}

export type InsertOrderResult =
  | { readonly kind: 'new' | 'known'; readonly order: Order }
  | { readonly kind: 'key reused' }
  | { readonly kind: 'too many' };

const forgottenAtOnce = 100;

/** Stores an order before any wallet gets it. The same idempotency key gives the same order. */
export function* insertOrder(
  order: NewOrder,
  { waitingMax, unpaidKept }: Pick<PaymentLimits, 'waitingMax' | 'unpaidKept'>,
  database: Pick<Database, 'dialect'>,
): Transaction<InsertOrderResult> {
  const { account, wallet, method, amount, idempotencyKey } = order;
  // The account's lock makes requests of several tabs take turns.
  yield* lockAccount(account);
  const [known] = yield {
    sql: 'SELECT * FROM payment_order WHERE account=$1 AND idempotency_key=$2',
    params: [account, idempotencyKey],
  };
  if (known !== undefined) {
    const before = readOrder(known);
    const same = before.wallet === wallet && before.method === method && before.amount === amount;
    return same ? { kind: 'known', order: before } : { kind: 'key reused' };
  }
  const [waiting] = yield {
    sql: "SELECT COUNT(*) AS count FROM payment_order WHERE account=$1 AND state='waiting' AND expires_at>$2",
    params: [account, order.createdAt],
  };
  if (Number(waiting?.['count']) >= waitingMax) return { kind: 'too many' };
  // A payment that arrives for a deleted order is kept as money that fits no order. A payment that
  // arrives now has locked its order and waits for the account: that order stays.
  yield {
    sql: `DELETE FROM payment_order WHERE id IN (SELECT id FROM payment_order WHERE id IN
      (SELECT id FROM payment_order WHERE account=$1 AND state IN ('closed', 'failed') AND next_look_at IS NULL
        ORDER BY id DESC LIMIT ${forgottenAtOnce} OFFSET $2)${skipLocked(database)})`,
    params: [account, unpaidKept],
  };
  const [row] = yield {
    sql: `INSERT INTO payment_order (id, account, wallet, method, amount, idempotency_key, state, created_at, expires_at, next_look_at, changed_at, subject)
      VALUES ($1, $2, $3, $4, $5, $6, 'waiting', $7, $8, $9, $7, $10) RETURNING *`,
    params: [
      order.id,
      account,
      wallet,
      method,
      amount,
      idempotencyKey,
      order.createdAt,
      order.expiresAt,
      order.nextLookAt,
      order.subject,
    ],
  };
  return { kind: 'new', order: readOrder(row ?? {}) };
}

/** Keeps the code that the payer scans. The wallet's first code stays. */
export async function keepCode(
  database: Database,
  id: string,
  code: string,
  at: number,
): Promise<void> {
  await database.query(
    'UPDATE payment_order SET code=$2, changed_at=$3 WHERE id=$1 AND code IS NULL',
    [id, code, at],
  );
}

/** Ends an order that was not paid. An order that has ended stays as it is. */
export async function endOrder(
  database: Database,
  id: string,
  state: 'closed' | 'failed',
  at: number,
  trouble?: string,
): Promise<void> {
  const sql =
    "UPDATE payment_order SET state=$2, closed_at=$3, changed_at=$3, faults=0, trouble=$4 WHERE id=$1 AND state='waiting'";
  await database.query(sql, [id, state, at, trouble ?? null]);
}

/**
 * Closes the expired orders of all wallets but these: nobody can ask a wallet that is configured no
 * more. When it is configured again it is asked, and a payment is credited.
 */
export async function closeUnasked(
  database: Database,
  wallets: readonly WalletId[],
  at: number,
): Promise<void> {
  const missing = walletIds.filter((id) => !wallets.includes(id));
  const sql =
    "UPDATE payment_order SET state='closed', closed_at=$1, changed_at=$1 WHERE next_look_at<=$1 AND wallet=$2 AND state='waiting' AND expires_at<=$1";
  for (const wallet of missing) await database.query(sql, [at, wallet]);
}

export async function markScanned(database: Database, id: string, at: number): Promise<void> {
  await database.query(
    "UPDATE payment_order SET scanned=1, changed_at=$2 WHERE id=$1 AND scanned=0 AND state='waiting'",
    [id, at],
  );
}

/** The order, locked: payments and refunds of one order take turns. */
export function* lockOrder(id: string): Transaction<Order | undefined> {
  const [row] = yield {
    sql: 'UPDATE payment_order SET id=id WHERE id=$1 RETURNING *',
    params: [id],
  };
  return row && readOrder(row);
}

/**
 * `differs`: the payment does not fit an order of ours, and is kept for the operator. `unconfirmed`:
 * it fits, but only a query tells whether the wallet has it still.
 */
export type PaymentOutcome = 'credited' | 'known' | 'differs' | 'unconfirmed';

/**
 * Credits a wallet's payment for an order: once for each of the wallet's numbers, if amount and
 * currency are the order's. A payment before `confirmedBefore`, and one for an order that is not
 * open any more, may have been given back at the wallet: it is not credited. Without
 * `confirmedBefore` the wallet has just confirmed the payment, and the order may have any state.
 */
export function* recordPayment(
  wallet: WalletId,
  payment: Payment,
  at: number,
  confirmedBefore?: number,
): Transaction<PaymentOutcome> {
  const order = yield* lockOrder(payment.orderId);
  if (order?.wallet !== wallet) return yield* keepUnmatched(wallet, payment, 'no such order', at);
  if (order.amount !== payment.amount || payment.currency !== 'CNY')
    return yield* keepUnmatched(wallet, payment, 'another amount', at);
  if (order.number === payment.number) return 'known';
  if (order.number !== undefined)
    return yield* keepUnmatched(wallet, payment, 'a second payment of one order', at);
  if (
    confirmedBefore !== undefined &&
    (order.state !== 'waiting' || payment.paidAt < confirmedBefore)
  )
    return 'unconfirmed';
  const id = transferOf(wallet, payment.number);
  const credited = yield* creditTx({
    id,
    account: order.account,
    amount: order.amount,
    from: walletAccount(wallet),
    code: 'topup',
    ref: order.id,
    at,
  });
  if (credited !== 'created')
    return yield* keepUnmatched(wallet, payment, 'credited for another order', at);
  yield {
    sql: `UPDATE payment_order SET state='credited', number=$2, transfer=$3, paid_at=$4, credited_at=$5, changed_at=$5, next_look_at=NULL, faults=0, trouble=NULL WHERE id=$1`,
    params: [order.id, payment.number, id, payment.paidAt, at],
  };
  return 'credited';
}

/**
 * Keeps a payment that was given back at the wallet before it was credited here: part of the money
 * may still be there, and the wallet does not say how much.
 */
export function* recordReturn(wallet: WalletId, payment: Payment, at: number): Transaction<void> {
  const order = yield* lockOrder(payment.orderId);
  if (order === undefined || order.state === 'credited') return;
  yield* keepUnmatched(wallet, payment, 'given back at the wallet', at);
}

function* keepUnmatched(
  wallet: WalletId,
  { orderId, number, amount, currency }: Payment,
  why: string,
  at: number,
): Transaction<'differs'> {
  yield {
    sql: `INSERT INTO payment_unmatched (wallet, number, order_id, amount, currency, why, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (wallet, number) DO NOTHING`,
    params: [wallet, number, orderId, amount, currency, why, at],
  };
  return 'differs';
}

/**
 * Claims up to `most` due orders of a wallet, those that have waited longest first. Until
 * `leaseUntil` they belong to the latest claim.
 */
export async function claimOrders(
  database: Database,
  wallet: WalletId,
  most: number,
  now: number,
  leaseUntil: number,
): Promise<readonly Order[]> {
  const sql = `UPDATE payment_order SET next_look_at=$4, claims=claims+1 WHERE id IN (SELECT id FROM payment_order
    WHERE next_look_at<=$2 AND wallet=$1 ORDER BY next_look_at LIMIT $3${skipLocked(database)}) RETURNING *`;
  return (await database.query(sql, [wallet, now, most, leaseUntil])).map(readOrder);
}

/**
 * Claims one order for a user or operator who waits for the answer; undefined when there is none,
 * or its last query was less than `everyMs` ago. A query in the future was before the clock was put
 * back.
 */
export async function claimOrder(
  database: Database,
  id: string,
  now: number,
  everyMs: number,
  leaseUntil: number,
): Promise<Order | undefined> {
  const sql = `UPDATE payment_order SET asked_at=$2, next_look_at=CASE WHEN state='credited' THEN NULL ELSE CAST($4 AS BIGINT) END, claims=claims+1
    WHERE id=$1 AND (COALESCE(asked_at, 0)<=$3 OR asked_at>$2) RETURNING *`;
  const [row] = await database.query(sql, [id, now, now - everyMs, leaseUntil]);
  return row && readOrder(row);
}

/**
 * Plans the next query of an order. Does nothing when another process has claimed the order since,
 * or it is credited.
 */
export async function planOrder(
  database: Database,
  { id, claims }: Order,
  plan: {
    readonly nextLookAt: number | undefined;
    readonly faults: number;
    readonly trouble: string | undefined;
  },
): Promise<void> {
  const sql =
    "UPDATE payment_order SET next_look_at=$3, faults=$4, trouble=$5 WHERE id=$1 AND claims=$2 AND state<>'credited'";
  await database.query(sql, [
    id,
    claims,
    plan.nextLookAt ?? null,
    plan.faults,
    plan.trouble ?? null,
  ]);
}

/** Brings the next query of an order forward, unless it is credited. */
export async function hastenOrder(database: Database, id: string, at: number): Promise<void> {
  const sql = "UPDATE payment_order SET next_look_at=$2 WHERE id=$1 AND state<>'credited'";
  await database.query(sql, [id, at]);
}

/** Undefined when there is no such order, or it belongs to another account than the given one. */
export async function findOrder(
  database: Database,
  id: string,
  account?: string,
): Promise<Order | undefined> {
  const sql = `SELECT * FROM payment_order WHERE id=$1${account === undefined ? '' : ' AND account=$2'}`;
  const [row] = await database.query(sql, account === undefined ? [id] : [id, account]);
  return row && readOrder(row);
}

/** Orders of an account that changed at `since` (wall clock, ms) or later, for an event stream. */
export async function ordersSince(
  database: Database,
  account: string,
  since: number,
  most: number,
): Promise<readonly Order[]> {
  const sql =
    'SELECT * FROM payment_order WHERE account=$1 AND changed_at>=$2 ORDER BY changed_at LIMIT $3';
  return (await database.query(sql, [account, since, most])).map(readOrder);
}

export interface OrderFilter {
  readonly account?: string | undefined;
  readonly wallet?: WalletId | undefined;
  readonly state?: Order['state'] | undefined;
  /** Wall clock, ms: from (inclusive) and to (exclusive). */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** An order's id or a wallet's number. */
  readonly search?: string | undefined;
  /**
   * The id of the last order of the previous page; the page has newer orders instead when `newer`.
   */
  readonly beyond?: string | undefined;
  readonly newer?: boolean | undefined;
  readonly limit: number;
}

/** A page of orders, newest first. */
export async function listOrders(
  database: Database,
  filter: OrderFilter,
): Promise<readonly Order[]> {
  const where = ordersWhere(filter);
  where.add(filter.newer === true ? 'id>?' : 'id<?', filter.beyond);
  const order = filter.newer === true ? 'ASC' : 'DESC';
  const sql = `SELECT * FROM payment_order${where.text} ORDER BY id ${order} LIMIT ${where.place(filter.limit)}`;
  const orders = (await database.query(sql, where.params)).map(readOrder);
  return filter.newer === true ? orders.reverse() : orders;
}

function ordersWhere(filter: Omit<OrderFilter, 'limit'>): WhereClause {
  const where = new WhereClause();
  where.add('account=?', filter.account);
  where.add('wallet=?', filter.wallet);
  where.add('state=?', filter.state);
  where.add('created_at>=?', filter.from);
  where.add('created_at<?', filter.to);
  where.add('(id=? OR number=?)', filter.search);
  return where;
}

export interface OrderTotals {
  readonly orders: number;
  readonly credited: { readonly orders: number; readonly amount: Nano };
  readonly refunded: Nano;
}

/** The sums of all orders that a list shows, not of one page alone. */
export async function orderTotals(
  database: Database,
  filter: Omit<OrderFilter, 'limit' | 'beyond' | 'newer'>,
): Promise<OrderTotals> {
  const where = ordersWhere(filter);
  const credited = (value: string): string =>
    `CAST(COALESCE(SUM(CASE WHEN state='credited' THEN ${value} ELSE 0 END), 0) AS BIGINT)`;
  const [row] = await database.query(
    `SELECT COUNT(*) AS orders, ${credited('1')} AS paid, ${credited('amount')} AS amount,
      CAST(COALESCE(SUM(refunded), 0) AS BIGINT) AS refunded FROM payment_order${where.text}`,
    where.params,
  );
  return {
    orders: Number(row?.['orders'] ?? 0),
    credited: { orders: Number(row?.['paid'] ?? 0), amount: BigInt(row?.['amount'] ?? 0) },
    refunded: BigInt(row?.['refunded'] ?? 0),
  };
}

/** The orders with these ids. */
export async function ordersNamed(
  database: Database,
  ids: readonly string[],
): Promise<readonly Order[]> {
  if (ids.length === 0) return [];
  const where = new WhereClause();
  where.addOneOf('id', ids);
  const sql = `SELECT * FROM payment_order${where.text}`;
  return (await database.query(sql, where.params)).map(readOrder);
}

/** Orders paid in a period, by the wallet's own clock. */
export async function ordersPaid(
  database: Database,
  wallet: WalletId,
  from: number,
  to: number,
): Promise<readonly Order[]> {
  const sql = 'SELECT * FROM payment_order WHERE wallet=$1 AND paid_at>=$2 AND paid_at<$3';
  return (await database.query(sql, [wallet, from, to])).map(readOrder);
}

/** A payment that a wallet reports and that is credited to nobody. */
export interface UnmatchedPayment {
  readonly wallet: WalletId;
  readonly number: string;
  readonly orderId: string;
  /** Billionths of the currency. */
  readonly amount: bigint;
  readonly currency: string;
  readonly why: string;
  readonly at: number;
}

/** Money that fits no order, from `since` on (wall clock, ms), newest first. */
export async function listUnmatched(
  database: Database,
  since: number,
  limit: number,
): Promise<readonly UnmatchedPayment[]> {
  const sql = 'SELECT * FROM payment_unmatched WHERE at>=$1 ORDER BY at DESC, number LIMIT $2';
  return (await database.query(sql, [since, limit])).map((row) => ({
    wallet: readWallet(row),
    number: textColumn(row, 'number'),
    orderId: textColumn(row, 'order_id'),
    amount: integerColumn(row, 'amount'),
    currency: textColumn(row, 'currency'),
    why: textColumn(row, 'why'),
    at: Number(integerColumn(row, 'at')),
  }));
}

/** How much money fits no order: the number of payments from `since` on. */
export async function countUnmatched(database: Database, since: number): Promise<number> {
  const sql = 'SELECT COUNT(*) AS count FROM payment_unmatched WHERE at>=$1';
  return Number((await database.query(sql, [since]))[0]?.['count']);
}

export function readOrder(row: Row): Order {
  return {
    id: textColumn(row, 'id'),
    account: textColumn(row, 'account'),
    wallet: readWallet(row),
    method: oneOf(payMethods, row['method']),
    amount: integerColumn(row, 'amount'),
    state: oneOf(orderStates, row['state']),
    scanned: row['scanned'] === 1n,
    code: optionalText(row, 'code'),
    subject: textColumn(row, 'subject'),
    number: optionalText(row, 'number'),
    transfer: optionalText(row, 'transfer'),
    refunding: integerColumn(row, 'refunding'),
    refunded: integerColumn(row, 'refunded'),
    createdAt: Number(integerColumn(row, 'created_at')),
    expiresAt: Number(integerColumn(row, 'expires_at')),
    closedAt: optionalNumber(row, 'closed_at'),
    paidAt: optionalNumber(row, 'paid_at'),
    creditedAt: optionalNumber(row, 'credited_at'),
    changedAt: Number(integerColumn(row, 'changed_at')),
    claims: integerColumn(row, 'claims'),
    faults: Number(integerColumn(row, 'faults')),
    trouble: optionalText(row, 'trouble'),
  };
}

export const readWallet = (row: Row): WalletId => oneOf(walletIds, row['wallet']);

export function oneOf<const Value extends string>(values: readonly Value[], value: unknown): Value {
  const found = values.find((known) => known === value);
  assert(found !== undefined, `${String(value)} is one of ${values.join(', ')}`);
  return found;
}
