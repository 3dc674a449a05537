import { assert } from '../../base/assert.ts';
import type { Nano } from '../../base/money.ts';
import type { Script } from '../../storage/database.ts';
import { integer, text } from './read.ts';

/** Money that leaves the house: held first, and gone when whoever pays it out says so. */
export interface Payout {
  readonly id: string;
  readonly account: string;
  readonly amount: Nano;
  readonly at: number;
}

/**
 * `insufficient`: others' idle floats were called in, ask again; nothing else happened. A frozen
 * account's money can be paid out, too.
 */
export function* openPayout({ id, account, amount, at }: Payout): Script<'open' | 'insufficient'> {
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
export type PayoutEnd =
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
export function* endPayout(id: string, end: PayoutEnd): Script<boolean> {
  const paid = end.kind === 'paid';
  const [hold] = yield {
    sql: "UPDATE hold SET state=$2, posted=CASE WHEN $2='posted' THEN amount END WHERE id=$1 AND state='open' RETURNING account, amount",
    params: [id, paid ? 'posted' : 'voided'],
  };
  if (hold === undefined) return false;
  const account = text(hold, 'account');
  const amount = integer(hold, 'amount');
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
