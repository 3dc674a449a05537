import assert from 'node:assert/strict';
import type { Nano } from '../../base/money.ts';
import type { SqlValue, Transaction } from '../../storage/database.ts';
import { integerColumn, textColumn } from '../../storage/sql.ts';
import type { LimitWindow, RecordTable } from '../contract.ts';
import { insertWindow } from './account.ts';
import { insertCharge, lockAccounts } from './charge.ts';

export interface Hold {
  /** The task's id. */
  readonly id: string;
  readonly account: string;
  readonly amount: Nano;
  readonly at: number;
  /** The windows of the key's limits that the hold counts in. */
  readonly limits?: readonly LimitWindow[];
}

/** An open hold ends exactly once, in one of these ways. */
export type HoldEnd =
  | { readonly state: 'voided' }
  | {
      readonly state: 'posted';
      readonly cost: Nano;
      /** As in `Charge`. */
      readonly loss?: Nano | undefined;
      readonly code: string;
      readonly at: number;
      readonly record: RecordTable & { readonly values: readonly SqlValue[] };
    };

export interface HoldResult {
  readonly posted: Nano;
  readonly shortfall: Nano;
}

/** The id of the part of a hold that counts in a window; it exists as long as the hold is open. */
const partId = (id: string, window: string): string => `${id}/${window}`;

const insertHold =
  "INSERT INTO hold (id, account, amount, state, made_at) VALUES ($1, $2, $3, 'open', $4)";

/**
 * Sets money aside for work that outlives its request. `insufficient`: idle floats of other
 * processes were called in, try again; nothing else happened. Yield it in the transaction that
 * makes the task, which commits before the request goes to the vendor.
 */
export function* openHold({
  id,
  account,
  amount,
  at,
  limits = [],
}: Hold): Transaction<'open' | 'insufficient'> {
  assert(amount > 0n, 'a hold is more than nothing');
  const windows = new Map(limits.map((window) => [window.id, window]));
  const all = [account, ...windows.keys()].sort();
  for (const [i, one] of all.entries()) {
    const window = windows.get(one);
    if (window !== undefined) yield insertWindow(window);
    const held = yield {
      sql: 'UPDATE account SET held=held+$2 WHERE id=$1 AND kind=$3 AND frozen=0 AND debits+held+$2<=credits RETURNING id',
      params: [one, amount, window === undefined ? 'user' : 'limit'],
    };
    if (held.length > 0) continue;
    yield { sql: 'UPDATE account SET call_in=call_in+1 WHERE id=$1', params: [one] };
    for (const before of all.slice(0, i))
      yield { sql: 'UPDATE account SET held=held-$2 WHERE id=$1', params: [before, amount] };
    return 'insufficient';
  }
  yield { sql: insertHold, params: [id, account, amount, at] };
  for (const window of windows.keys())
    yield { sql: insertHold, params: [partId(id, window), window, amount, at] };
  return 'open';
}

/**
 * Ends a hold: posted (charged up to the held amount and what is free beside it) or voided. Yield
 * it in the transaction that ends the task, with the windows that the hold was opened with.
 * Undefined when the hold had ended before: nothing changes.
 */
export function* endHold(
  id: string,
  end: HoldEnd,
  limits: readonly LimitWindow[] = [],
): Transaction<HoldResult | undefined> {
  const [hold] = yield {
    sql: "UPDATE hold SET state=$2 WHERE id=$1 AND state='open' RETURNING account, amount",
    params: [id, end.state],
  };
  if (hold === undefined) return undefined;
  const account = textColumn(hold, 'account');
  const amount = integerColumn(hold, 'amount');
  const windows = new Set(limits.map((window) => window.id));
  for (const window of windows)
    yield { sql: 'DELETE FROM hold WHERE id=$1', params: [partId(id, window)] };
  const available = amount + (yield* lockAccounts(account, windows));
  const cost = end.state === 'posted' ? end.cost : 0n;
  const posted = cost < available ? cost : available;
  for (const one of [account, ...windows])
    yield {
      sql: 'UPDATE account SET held=held-$2, debits=debits+$3 WHERE id=$1',
      params: [one, amount, posted],
    };
  if (end.state === 'posted') {
    yield { sql: 'UPDATE hold SET posted=$2 WHERE id=$1', params: [id, posted] };
    const { code, at, loss, record } = end;
    const charge = { id, account, amount: posted, cost, code, at, loss, record: record.values };
    yield* insertCharge(charge, record);
  }
  return { posted, shortfall: cost - posted };
}

/** Money that leaves Tollgate: first held, then gone when the payout is confirmed. */
interface Payout {
  readonly id: string;
  readonly account: string;
  readonly amount: Nano;
  readonly at: number;
}

/**
 * `insufficient`: idle floats of other processes were called in, try again; nothing else happened.
 * A frozen account's money can be paid out too.
 */
export function* openPayout({
  id,
  account,
  amount,
  at,
}: Payout): Transaction<'open' | 'insufficient'> {
  assert(amount > 0n, 'a payout is more than nothing');
  const held = yield {
    sql: "UPDATE account SET held=held+$2 WHERE id=$1 AND kind='user' AND debits+held+$2<=credits RETURNING id",
    params: [account, amount],
  };
  if (held.length === 0) {
    yield { sql: 'UPDATE account SET call_in=call_in+1 WHERE id=$1', params: [account] };
    return 'insufficient';
  }
  yield { sql: insertHold, params: [id, account, amount, at] };
  return 'open';
}

/**
 * `paid`: the whole amount went to the operator's account `to`. `ref`: the transfer that it pays
 * back.
 */
type PayoutEnd =
  | {
      readonly kind: 'paid';
      readonly to: string;
      readonly ref: string;
      readonly at: number;
      /** Default `payout`. */
      readonly code?: string;
    }
  | { readonly kind: 'kept' };

/**
 * Ends a payout, once. False when it had ended before: nothing changes. Yield it in the transaction
 * that ends the payout's purpose.
 */
export function* endPayout(id: string, end: PayoutEnd): Transaction<boolean> {
  const paid = end.kind === 'paid';
  const [hold] = yield {
    sql: "UPDATE hold SET state=$2, posted=CASE WHEN $2='posted' THEN amount END WHERE id=$1 AND state='open' RETURNING account, amount",
    params: [id, paid ? 'posted' : 'voided'],
  };
  if (hold === undefined) return false;
  const account = textColumn(hold, 'account');
  const amount = integerColumn(hold, 'amount');
  yield {
    sql: 'UPDATE account SET held=held-$2, debits=debits+$3 WHERE id=$1',
    params: [account, amount, paid ? amount : 0n],
  };
  if (paid) {
    yield {
      sql: 'INSERT INTO transfer (id, debit, credit, amount, code, ref, at) VALUES ($1, $2, $3, $4, $5, $6, $7)',
      params: [id, account, end.to, amount, end.code ?? 'payout', end.ref, end.at],
    };
  }
  return true;
}
