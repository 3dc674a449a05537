import type { Nano } from '../base/money.ts';
import { endPayout, openPayout } from '../ledger/transactions/hold.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import {
  integerColumn,
  optionalNumber,
  optionalText,
  skipLocked,
  textColumn,
  WhereClause,
} from '../storage/sql.ts';
import { lockOrder, oneOf, type Order, readWallet, walletAccount } from './orders.ts';
import type { WalletId } from './wallet.ts';

const refundStates = ['held', 'asked', 'refunded', 'failed'] as const;
/** `held`: the money is set aside. `asked`: the wallet may have got the refund. */
type OrderRefundState = (typeof refundStates)[number];

/** Money on its way back to the payer. */
export interface OrderRefund {
  /** `rfd_…`; also the id of the hold and of the transfer, and the wallet's `out_refund_no`. */
  readonly id: string;
  readonly orderId: string;
  readonly account: string;
  readonly amount: Nano;
  readonly reason: string;
  readonly state: OrderRefundState;
  readonly number: string | undefined;
  readonly createdAt: number;
  readonly endedAt: number | undefined;
  readonly claims: bigint;
  readonly faults: number;
  /** The last request for it whose outcome is unknown. */
  readonly unknownAt: number | undefined;
  readonly trouble: string | undefined;
}

export interface NewRefund {
  readonly id: string;
  readonly orderId: string;
  readonly amount: bigint;
  readonly reason: string;
  readonly idempotencyKey: string;
  readonly at: number;
  readonly nextLookAt: number;
}

/**
 * `not enough`: the user has spent the money, or it is in idle floats that are being called in.
 * `too much`: more than is left of the order.
 */
export type BeginRefundResult =
  | { readonly kind: 'new' | 'known'; readonly refund: OrderRefund }
  | { readonly kind: 'key reused' | 'no such order' | 'not credited' | 'too much' | 'not enough' };

/**
 * The first step: sets the money aside, before the wallet gets the refund. `beside` runs in the
 * same transaction, once.
 */
export function* beginRefund(
  refund: NewRefund,
  beside?: (order: Order, refundId: string) => Transaction<unknown>,
): Transaction<BeginRefundResult> {
  const order = yield* lockOrder(refund.orderId);
  if (order === undefined) return { kind: 'no such order' };
  const [known] = yield {
    sql: 'SELECT * FROM payment_refund WHERE order_id=$1 AND idempotency_key=$2',
    params: [order.id, refund.idempotencyKey],
  };
  if (known !== undefined) {
    const before = readRefund(known);
    return before.amount === refund.amount
      ? { kind: 'known', refund: before }
      : { kind: 'key reused' };
  }
  if (order.state !== 'credited') return { kind: 'not credited' };
  if (order.refunding + order.refunded + refund.amount > order.amount) return { kind: 'too much' };
  const held = yield* openPayout({
    id: refund.id,
    account: order.account,
    amount: refund.amount,
    at: refund.at,
  });
  if (held === 'insufficient') return { kind: 'not enough' };
  const [made] = yield {
    sql: `INSERT INTO payment_refund (id, order_id, account, amount, reason, idempotency_key, state, created_at, next_look_at)
      VALUES ($1, $2, $3, $4, $5, $6, 'held', $7, $8) RETURNING *`,
    params: [
      refund.id,
      order.id,
      order.account,
      refund.amount,
      refund.reason,
      refund.idempotencyKey,
      refund.at,
      refund.nextLookAt,
    ],
  };
  yield {
    sql: 'UPDATE payment_order SET refunding=refunding+$2, changed_at=$3 WHERE id=$1',
    params: [order.id, refund.amount, refund.at],
  };
  if (beside !== undefined) yield* beside(order, refund.id);
  return { kind: 'new', refund: readRefund(made ?? {}) };
}

export type RefundEnd =
  | { readonly kind: 'refunded'; readonly wallet: WalletId; readonly number: string | undefined }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * The second step, with the wallet's answer: the money is gone, or the user's again. False when the
 * refund had ended before, or when it failed but another process has claimed it since: that
 * process's answer decides.
 */
export function* endRefund(refund: OrderRefund, end: RefundEnd, at: number): Transaction<boolean> {
  yield* lockOrder(refund.orderId);
  const paid = end.kind === 'refunded';
  const ended = yield {
    sql: `UPDATE payment_refund SET state=$2, number=$3, trouble=$4, ended_at=$5, next_look_at=NULL
      WHERE id=$1 AND ended_at IS NULL${paid ? '' : ' AND claims=$6'} RETURNING id`,
    params: [
      refund.id,
      end.kind,
      paid ? (end.number ?? null) : null,
      paid ? null : end.why,
      at,
      ...(paid ? [] : [refund.claims]),
    ],
  };
  if (ended.length === 0) return false;
  yield* endPayout(
    refund.id,
    paid
      ? { kind: 'paid', to: walletAccount(end.wallet), ref: refund.orderId, at }
      : { kind: 'kept' },
  );
  yield {
    sql: 'UPDATE payment_order SET refunding=refunding-$2, refunded=refunded+$3, changed_at=$4 WHERE id=$1',
    params: [refund.orderId, refund.amount, paid ? refund.amount : 0n, at],
  };
  return true;
}

/**
 * From here on the wallet may have the refund, and its outcome is unknown until its answer is
 * stored. False: another process has claimed the refund since.
 */
export async function markRefundSent(
  database: Database,
  { id, claims }: OrderRefund,
  at: number,
): Promise<boolean> {
  const sql =
    "UPDATE payment_refund SET state='asked', unknown_at=$3 WHERE id=$1 AND claims=$2 AND state IN ('held', 'asked') RETURNING id";
  return (await database.query(sql, [id, claims, at])).length > 0;
}

/** Claims up to `most` due refunds of a wallet's orders. */
export async function claimRefunds(
  database: Database,
  wallet: WalletId,
  most: number,
  now: number,
  leaseUntil: number,
): Promise<readonly OrderRefund[]> {
  const sql = `UPDATE payment_refund SET next_look_at=$3, claims=claims+1 WHERE id IN (SELECT r.id FROM payment_refund r WHERE r.next_look_at<=$1
    AND EXISTS (SELECT 1 FROM payment_order o WHERE o.id=r.order_id AND o.wallet=$4) ORDER BY r.next_look_at LIMIT $2${skipLocked(database)}) RETURNING *`;
  return (await database.query(sql, [now, most, leaseUntil, wallet])).map(readRefund);
}

/** Claims one refund, even from another process. Undefined when it has ended. */
export async function claimRefund(
  database: Database,
  id: string,
  leaseUntil: number,
): Promise<OrderRefund | undefined> {
  const sql =
    'UPDATE payment_refund SET next_look_at=$2, claims=claims+1 WHERE id=$1 AND ended_at IS NULL RETURNING *';
  const [row] = await database.query(sql, [id, leaseUntil]);
  return row && readRefund(row);
}

/** Brings the next query of a refund forward, unless it has ended. */
export async function hastenRefund(database: Database, id: string, at: number): Promise<void> {
  const sql = 'UPDATE payment_refund SET next_look_at=$2 WHERE id=$1 AND ended_at IS NULL';
  await database.query(sql, [id, at]);
}

export async function planRefund(
  database: Database,
  { id, claims }: OrderRefund,
  plan: {
    readonly nextLookAt: number;
    readonly faults: number;
    readonly unknownAt: number | undefined;
    readonly trouble: string | undefined;
  },
): Promise<void> {
  const sql = `UPDATE payment_refund SET next_look_at=$3, faults=$4, unknown_at=$5, trouble=$6 WHERE id=$1 AND claims=$2 AND ended_at IS NULL`;
  await database.query(sql, [
    id,
    claims,
    plan.nextLookAt,
    plan.faults,
    plan.unknownAt ?? null,
    plan.trouble ?? null,
  ]);
}

export async function findRefund(database: Database, id: string): Promise<OrderRefund | undefined> {
  const [row] = await database.query('SELECT * FROM payment_refund WHERE id=$1', [id]);
  return row && readRefund(row);
}

/**
 * Refunds begun before `before` (wall clock, ms) that cannot go on by themselves, oldest first: the
 * wallet refuses them or needs its merchant, or nobody asks it, because it is configured no more.
 */
export async function listStuckRefunds(
  database: Database,
  before: number,
  most: number,
): Promise<readonly (OrderRefund & { readonly wallet: WalletId })[]> {
  const sql = `SELECT r.*, o.wallet FROM payment_refund r JOIN payment_order o ON o.id=r.order_id
    WHERE r.next_look_at IS NOT NULL AND r.created_at<$1 AND (r.trouble IS NOT NULL OR r.next_look_at<$1)
    ORDER BY r.created_at, r.id LIMIT $2`;
  return (await database.query(sql, [before, most])).map((row) => ({
    ...readRefund(row),
    wallet: readWallet(row),
  }));
}

/** All refunds of these orders, oldest first. */
export const refundsOf = (
  database: Database,
  orderIds: readonly string[],
): Promise<readonly OrderRefund[]> => refundsWith(database, 'order_id', orderIds);

/** The refunds with these ids. */
export const refundsNamed = (
  database: Database,
  ids: readonly string[],
): Promise<readonly OrderRefund[]> => refundsWith(database, 'id', ids);

async function refundsWith(
  database: Database,
  column: 'id' | 'order_id',
  values: readonly string[],
): Promise<readonly OrderRefund[]> {
  if (values.length === 0) return [];
  const where = new WhereClause();
  where.addOneOf(column, values);
  const sql = `SELECT * FROM payment_refund${where.text} ORDER BY created_at, id`;
  return (await database.query(sql, where.params)).map(readRefund);
}

/** Refunds of a wallet's orders that were begun in a period and have ended. */
export async function refundsBegun(
  database: Database,
  wallet: WalletId,
  from: number,
  to: number,
): Promise<readonly OrderRefund[]> {
  const sql = `SELECT r.* FROM payment_refund r JOIN payment_order o ON o.id=r.order_id
    WHERE o.wallet=$1 AND r.ended_at>=$2 AND r.created_at>=$2 AND r.created_at<$3`;
  return (await database.query(sql, [wallet, from, to])).map(readRefund);
}

export function readRefund(row: Row): OrderRefund {
  return {
    id: textColumn(row, 'id'),
    orderId: textColumn(row, 'order_id'),
    account: textColumn(row, 'account'),
    amount: integerColumn(row, 'amount'),
    reason: textColumn(row, 'reason'),
    state: oneOf(refundStates, row['state']),
    number: optionalText(row, 'number'),
    createdAt: Number(integerColumn(row, 'created_at')),
    endedAt: optionalNumber(row, 'ended_at'),
    claims: integerColumn(row, 'claims'),
    faults: Number(integerColumn(row, 'faults')),
    unknownAt: optionalNumber(row, 'unknown_at'),
    trouble: optionalText(row, 'trouble'),
  };
}
