import assert from 'node:assert/strict';
import type { Nano } from '../../base/money.ts';
import type { Transaction } from '../../storage/database.ts';
import { integerColumn } from '../../storage/sql.ts';
import type { Charge, RecordTable } from '../contract.ts';
import { payerOf } from '../transfers.ts';
import { insertLoss, insertOf, recordTarget } from './batch.ts';

/** One charge with its usage record. `amount` ≤ `cost`; the rest is the operator's shortfall. */
interface AccountCharge extends Omit<Charge, 'withheld'> {
  readonly account: string;
  readonly amount: Nano;
}

/**
 * Locks a user's account and those of limits, in ascending order (R11). Returns the user's money
 * that nothing holds.
 */
export function* lockAccounts(user: string, limits: Iterable<string>): Transaction<Nano> {
  let free = 0n;
  for (const account of [user, ...limits].sort()) {
    const [row] = yield {
      sql: 'UPDATE account SET id=id WHERE id=$1 RETURNING credits, debits, held',
      params: [account],
    };
    if (account === user)
      free =
        integerColumn(row, 'credits') - integerColumn(row, 'debits') - integerColumn(row, 'held');
  }
  return free;
}

/** The transfer, the usage record and the loss of one charge. */
export function* insertCharge(
  { id, account, amount, cost, code, at, loss, record }: AccountCharge,
  records: RecordTable,
): Transaction<void> {
  yield {
    sql: "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ($1, $2, 'revenue', $3, $4, $5)",
    params: [id, account, amount, code, at],
  };
  yield {
    sql: insertOf(`INSERT INTO ${recordTarget(records)}`, 1, records.columns.length + 4),
    params: [id, account, cost, cost - amount, ...record],
  };
  if (loss !== undefined) yield insertLoss({ id, amount: loss, at });
}

export interface LateInput {
  /** Without `amount`: the free money decides how much of the cost is charged. */
  readonly charge: Omit<AccountCharge, 'amount'>;
  readonly limits: readonly string[];
  readonly records: RecordTable;
}

/**
 * `exists`: the fenced process had committed the batch after all. `clash`: the id belongs to
 * another account's charge.
 */
export interface LateReply {
  readonly outcome: 'paid' | 'exists' | 'clash';
  readonly amount: Nano;
}

/**
 * Settles a finished request whose process was fenced: directly on the account, as far as money is
 * free there; the rest is shortfall. The transfer's id tells whether the request was settled before
 * (R6). Repeatable until the outcome is known.
 */
export function* settleLate({ charge, limits, records }: LateInput): Transaction<LateReply> {
  const { id, account, cost } = charge;
  const free = yield* lockAccounts(account, limits);
  const known = yield* payerOf(id);
  if (known !== undefined)
    return { outcome: known.account === account ? 'exists' : 'clash', amount: known.amount };
  const amount = cost < free ? cost : free;
  assert(amount >= 0n, 'an account is never overdrawn');
  for (const debited of [account, ...limits]) {
    yield { sql: 'UPDATE account SET debits=debits+$2 WHERE id=$1', params: [debited, amount] };
  }
  yield* insertCharge({ ...charge, amount }, records);
  return { outcome: 'paid', amount };
}

/** Keeps a charge that the database refused where the operator finds it. */
export function* keepFailedCharge({
  charge,
  why,
}: {
  readonly charge: Omit<AccountCharge, 'amount' | 'record'>;
  readonly why: string;
}): Transaction<void> {
  const { id, account, cost, code, at } = charge;
  yield {
    sql: 'INSERT INTO settle_failed (id, account, cost, code, at, why) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING',
    params: [id, account, cost, code, at, why],
    autocommit: true,
  };
}
