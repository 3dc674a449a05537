import { assert } from '../../base/assert.ts';
import type { Nano } from '../../base/money.ts';
import type { Transaction } from '../../storage/database.ts';
import { integerColumn, textColumn } from '../../storage/sql.ts';
import type { LimitWindow, RecordTable } from '../contract.ts';
import { recordInsert } from './batch.ts';

export interface Hold {
  /** The task's id. */
  readonly id: string;
  readonly account: string;
  readonly amount: Nano;
  readonly at: number;
  /** The windows of a key's limits in which it counts. */
  readonly limits?: readonly LimitWindow[];
}

/** Open ends exactly once, by one of these. */
export type HoldEnd =
  | { readonly state: 'voided' }
  | {
      readonly state: 'posted';
      readonly cost: Nano;
      readonly code: string;
      readonly at: number;
      readonly record: RecordTable & {
        readonly values: readonly (string | bigint | number | null)[];
      };
    };

export interface HoldResult {
  readonly posted: Nano;
  readonly shortfall: Nano;
}

/** Of the part of a hold that counts in a window: it is there as long as the hold is open. */
const partId = (id: string, window: string): string => `${id}/${window}`;

const insertHold =
  "INSERT INTO hold (id, account, amount, state, made_at) VALUES ($1, $2, $3, 'open', $4)";

/**
 * Sets money aside for work that outlives its request. `insufficient`: others' idle floats were
 * called in, ask again; nothing else happened. To be yielded in the transaction that makes the
 * task, which is committed before the vendor is asked.
 */
export function* openHold({
  id,
  account,
  amount,
  at,
  limits = [],
}: Hold): Transaction<'open' | 'insufficient'> {
  assert(amount > 0n, 'a hold is more than nothing');
  const windows = new Map(limits.map((window) => [window.id, window.amount]));
  const all = [account, ...windows.keys()].sort();
  for (const [i, one] of all.entries()) {
    const limit = windows.get(one);
    if (limit !== undefined)
      yield {
        sql: "INSERT INTO account (id, kind, credits) VALUES ($1, 'limit', $2) ON CONFLICT (id) DO NOTHING",
        params: [one, limit],
      };
    const held = yield {
      sql: 'UPDATE account SET held=held+$2 WHERE id=$1 AND kind=$3 AND frozen=0 AND debits+held+$2<=credits RETURNING id',
      params: [one, amount, limit === undefined ? 'user' : 'limit'],
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
 * Ends a hold: posted (charged up to what it holds and what is free beside it) or voided. To be
 * yielded in the transaction that ends the task, with the windows that it was opened with.
 * Undefined when it had ended before: nothing changes.
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
  const all = [account, ...windows].sort();
  let available = amount;
  for (const one of all) {
    const [row] = yield {
      sql: 'UPDATE account SET id=id WHERE id=$1 RETURNING credits, debits, held',
      params: [one],
    };
    if (one === account)
      available +=
        integerColumn(row, 'credits') - integerColumn(row, 'debits') - integerColumn(row, 'held');
  }
  const cost = end.state === 'posted' ? end.cost : 0n;
  const posted = cost < available ? cost : available;
  for (const one of all)
    yield {
      sql: 'UPDATE account SET held=held-$2, debits=debits+$3 WHERE id=$1',
      params: [one, amount, posted],
    };
  if (end.state === 'posted') {
    yield { sql: 'UPDATE hold SET posted=$2 WHERE id=$1', params: [id, posted] };
    yield {
      sql: "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ($1, $2, 'revenue', $3, $4, $5)",
      params: [id, account, posted, end.code, end.at],
    };
    yield {
      sql: recordInsert(end.record),
      params: [id, account, cost, cost - posted, ...end.record.values],
    };
  }
  return { posted, shortfall: cost - posted };
}

/** Money that leaves the house: held first, and gone when whoever pays it out says so. */
interface Payout {
  readonly id: string;
  readonly account: string;
  readonly amount: Nano;
  readonly at: number;
}

/**
 * `insufficient`: others' idle floats were called in, ask again; nothing else happened. A frozen
 * account's money can be paid out, too.
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
  yield {
    sql: "INSERT INTO hold (id, account, amount, state, made_at) VALUES ($1, $2, $3, 'open', $4)",
    params: [id, account, amount, at],
  };
  return 'open';
}

/** `paid`: the whole amount has gone to the operator's account `to`. `ref`: what it pays back. */
type PayoutEnd =
  | {
      readonly kind: 'paid';
      readonly to: string;
      readonly ref: string;
      readonly at: number /** `payout` unless said. */;
      readonly code?: string;
    }
  | { readonly kind: 'kept' };

/**
 * Ends a payout, once. False when it had ended before: nothing changes. To be yielded in the
 * transaction that ends what it was for.
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
