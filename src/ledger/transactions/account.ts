import assert from 'node:assert/strict';
import type { Nano } from '../../base/money.ts';
import type { Statement, Transaction } from '../../storage/database.ts';
import { integerColumn, integerColumnOrZero, textColumn } from '../../storage/sql.ts';
import type { LimitWindow } from '../contract.ts';

export interface Credit {
  /** Makes the credit happen once: the wallet's own number, or the operator's. */
  readonly id: string;
  readonly account: string;
  readonly amount: Nano;
  /** The operator's account that pays: `wallet:…` or `grants`. */
  readonly from: string;
  readonly code: string;
  readonly ref?: string;
  readonly at: number;
}

/** `exists_different`: the id belongs to another transfer. Only `created` changes anything. */
export type CreditResult = 'created' | 'exists' | 'exists_different' | 'no_account';

export interface Refund {
  readonly id: string;
  /** The transfer that is paid back, wholly or in part. */
  readonly original: string;
  readonly amount: Nano;
  readonly at: number;
}

/** `too_much`: together with earlier refunds it would exceed the original. */
export type RefundResult = CreditResult | 'too_much' | 'no_original';

const insertTransfer = `INSERT INTO transfer (id, debit, credit, amount, code, ref, at) VALUES ($1, $2, $3, $4, $5, $6, $7)
  ON CONFLICT (id) DO NOTHING RETURNING id`;

/** Does nothing when the account exists. */
export function* createAccountTx({
  id,
  kind,
}: {
  readonly id: string;
  readonly kind: 'user' | 'operator';
}): Transaction<void> {
  yield {
    sql: 'INSERT INTO account (id, kind) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
    params: [id, kind],
  };
}

/** Makes the account of a limit's window; does nothing when it exists. */
export const insertWindow = ({ id, amount }: LimitWindow): Statement => ({
  sql: "INSERT INTO account (id, kind, credits) VALUES ($1, 'limit', $2) ON CONFLICT (id) DO NOTHING",
  params: [id, amount],
});

/** Credits an account. Frozen accounts are credited too; floats play no part. */
export function* creditTx({
  id,
  account,
  amount,
  from,
  code,
  ref,
  at,
}: Credit): Transaction<CreditResult> {
  assert(amount > 0n, 'a credit is more than nothing');
  const inserted = yield {
    sql: insertTransfer,
    params: [id, from, account, amount, code, ref ?? null, at],
  };
  if (inserted.length === 0) return yield* compare(id, from, account, amount);
  const raised = yield {
    sql: "UPDATE account SET credits=credits+$2 WHERE id=$1 AND kind='user' RETURNING id",
    params: [account, amount],
  };
  if (raised.length === 0) throw new NoSuchAccount(account);
  return 'created';
}

/** Thrown inside `credit` so that the transfer is not committed. */
export class NoSuchAccount extends Error {
  constructor(account: string) {
    super(`there is no account ${account}`);
  }
}

function* compare(
  id: string,
  debit: string,
  credited: string,
  amount: Nano,
): Transaction<'exists' | 'exists_different'> {
  const [row] = yield {
    sql: 'SELECT debit, credit, amount FROM transfer WHERE id=$1',
    params: [id],
  };
  const same =
    textColumn(row, 'debit') === debit &&
    textColumn(row, 'credit') === credited &&
    integerColumn(row, 'amount') === amount;
  return same ? 'exists' : 'exists_different';
}

/**
 * Pays a charge back to its account. The account's lock makes refunds of one original take turns.
 */
export function* refundTx({ id, original, amount, at }: Refund): Transaction<RefundResult> {
  assert(amount > 0n, 'a refund is more than nothing');
  const [charged] = yield {
    sql: "SELECT debit, amount FROM transfer WHERE id=$1 AND credit='revenue'",
    params: [original],
  };
  if (charged === undefined) return 'no_original';
  const account = textColumn(charged, 'debit');
  const locked = yield {
    sql: "UPDATE account SET id=id WHERE id=$1 AND kind='user' RETURNING id",
    params: [account],
  };
  if (locked.length === 0) return 'no_account';
  const known = yield { sql: 'SELECT id FROM transfer WHERE id=$1', params: [id] };
  if (known.length > 0) return yield* compare(id, 'revenue', account, amount);
  const [before] = yield {
    sql: "SELECT SUM(amount) AS paid FROM transfer WHERE ref=$1 AND code='refund'",
    params: [original],
  };
  if (integerColumnOrZero(before, 'paid') + amount > integerColumn(charged, 'amount'))
    return 'too_much';
  yield { sql: insertTransfer, params: [id, 'revenue', account, amount, 'refund', original, at] };
  yield { sql: 'UPDATE account SET credits=credits+$2 WHERE id=$1', params: [account, amount] };
  return 'created';
}

/** For a charge whose outcome nobody knows: pays it back if it was made. */
export function* payBackTx({
  id,
  at,
}: {
  readonly id: string;
  readonly at: number;
}): Transaction<void> {
  const [charged] = yield {
    sql: "SELECT amount FROM transfer WHERE id=$1 AND credit='revenue'",
    params: [id],
  };
  const amount = integerColumnOrZero(charged, 'amount');
  if (amount > 0n) yield* refundTx({ id: `${id}/refund`, original: id, amount, at });
}

/**
 * A frozen account lends nothing more, and its floats are called in, within a second. Credits still
 * arrive. False when there is no such account.
 */
export function* freezeTx({
  account,
  frozen,
}: {
  readonly account: string;
  readonly frozen: boolean;
}): Transaction<boolean> {
  const rows = yield {
    sql: 'UPDATE account SET frozen=$2, call_in=call_in+1 WHERE id=$1 RETURNING id',
    params: [account, frozen ? 1 : 0],
  };
  return rows.length > 0;
}

/**
 * Changes windows that exist already: the one with this id, and the day and month windows whose id
 * begins with it. A window that does not exist yet is made by its first draw.
 */
export function* changeLimitTx({ id, amount }: LimitWindow): Transaction<void> {
  yield {
    sql: "UPDATE account SET credits=$2, call_in=call_in+1 WHERE (id=$1 OR substr(id, 1, $4)=$3) AND kind='limit'",
    params: [id, amount, `${id}:`, id.length + 1],
  };
}
