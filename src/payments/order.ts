import { assert } from '../base/assert.ts';
import type { Nano } from '../base/money.ts';
import type { Row } from '../storage/database.ts';
import { type PayMethod, type WalletId, walletIds } from './wallet.ts';

/**
 * `closed`: nobody can pay it any more, but who did in that moment is credited. `failed`: the
 * wallet would not take it.
 */
const orderStates = ['waiting', 'closed', 'failed', 'credited'] as const;
export type OrderState = (typeof orderStates)[number];

/** Nobody tops up with less: what a transfer costs would be more. */
export const orderLeast: Nano = 1_000_000_000n;

/** A top-up. Times are wall clock, ms. */
export interface Order {
  /** `ord_…`; also the wallet's `out_trade_no`. */
  readonly id: string;
  readonly account: string;
  readonly wallet: WalletId;
  readonly method: PayMethod;
  readonly amount: Nano;
  readonly state: OrderState;
  /** The payer has the code before him, as far as the wallet tells. */
  readonly scanned: boolean;
  /**
   * What the QR code says, or the address of the wallet's page; undefined: the wallet has not
   * answered.
   */
  readonly code: string | undefined;
  /** The wallet's own. */
  readonly number: string | undefined;
  /** The ledger's, once credited. */
  readonly transfer: string | undefined;
  /** What is on its way back, and what has gone back. */
  readonly refunding: Nano;
  readonly refunded: Nano;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** Credited all the same: it was paid in that moment. */
  readonly closedAt: number | undefined;
  readonly paidAt: number | undefined;
  readonly creditedAt: number | undefined;
  /** When its owner last had something new to see. */
  readonly changedAt: number;
  readonly askedAt: number | undefined;
  readonly claims: bigint;
  readonly faults: number;
  /** What went wrong lately at the wallet, for the operator. */
  readonly trouble: string | undefined;
}

const refundStates = ['held', 'asked', 'refunded', 'failed'] as const;
/** `held`: the money is set aside. `asked`: the wallet may have been asked. */
export type RefundState = (typeof refundStates)[number];

/** Money on its way back to who paid. */
export interface OrderRefund {
  /** `rfd_…`; the hold's and the transfer's, and the wallet's `out_refund_no`. */
  readonly id: string;
  readonly orderId: string;
  readonly account: string;
  readonly amount: Nano;
  readonly reason: string;
  readonly state: RefundState;
  readonly number: string | undefined;
  readonly createdAt: number;
  readonly endedAt: number | undefined;
  readonly claims: bigint;
  readonly faults: number;
  /** When it was last asked for without an answer that is known. */
  readonly unknownAt: number | undefined;
  readonly trouble: string | undefined;
}

export function readOrder(row: Row): Order {
  return {
    id: text(row, 'id'),
    account: text(row, 'account'),
    wallet: oneOf(walletIds, row['wallet']),
    method: oneOf(['qr', 'page'], row['method']),
    amount: integer(row, 'amount'),
    state: oneOf(orderStates, row['state']),
    scanned: row['scanned'] === 1n,
    code: textOr(row, 'code'),
    number: textOr(row, 'number'),
    transfer: textOr(row, 'transfer'),
    refunding: integer(row, 'refunding'),
    refunded: integer(row, 'refunded'),
    createdAt: Number(integer(row, 'created_at')),
    expiresAt: Number(integer(row, 'expires_at')),
    closedAt: timeOr(row, 'closed_at'),
    paidAt: timeOr(row, 'paid_at'),
    creditedAt: timeOr(row, 'credited_at'),
    changedAt: Number(integer(row, 'changed_at')),
    askedAt: timeOr(row, 'asked_at'),
    claims: integer(row, 'claims'),
    faults: Number(integer(row, 'faults')),
    trouble: textOr(row, 'trouble'),
  };
}

export function readRefund(row: Row): OrderRefund {
  return {
    id: text(row, 'id'),
    orderId: text(row, 'order_id'),
    account: text(row, 'account'),
    amount: integer(row, 'amount'),
    reason: text(row, 'reason'),
    state: oneOf(refundStates, row['state']),
    number: textOr(row, 'number'),
    createdAt: Number(integer(row, 'created_at')),
    endedAt: timeOr(row, 'ended_at'),
    claims: integer(row, 'claims'),
    faults: Number(integer(row, 'faults')),
    unknownAt: timeOr(row, 'unknown_at'),
    trouble: textOr(row, 'trouble'),
  };
}

function oneOf<const Word extends string>(words: readonly Word[], value: unknown): Word {
  const word = words.find((known) => known === value);
  assert(word !== undefined, `${String(value)} is one of ${words.join(', ')}`);
  return word;
}

function integer(row: Row, column: string): bigint {
  const value = row[column];
  assert(typeof value === 'bigint', `${column} is an integer`);
  return value;
}

function text(row: Row, column: string): string {
  const value = row[column];
  assert(typeof value === 'string', `${column} is a text`);
  return value;
}

const textOr = (row: Row, column: string): string | undefined =>
  row[column] === null ? undefined : text(row, column);
const timeOr = (row: Row, column: string): number | undefined =>
  row[column] === null ? undefined : Number(integer(row, column));
