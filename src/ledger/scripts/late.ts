import type { RecordTable } from '../contract.ts';
import { assert } from '../../base/assert.ts';
import type { Nano } from '../../base/money.ts';
import type { Script } from '../../storage/database.ts';
import { type ChargeRow, insertLoss, recordInsert } from './batch.ts';
import { integer, text } from './read.ts';

export interface LateInput {
  /** Its `amount` is what the request would have been charged; what is free decides. */
  readonly charge: Omit<ChargeRow, 'amount'>;
  readonly limits: readonly string[];
  readonly records: RecordTable;
}

/**
 * `exists`: the batch of the fenced process had been committed after all. `clash`: the id is
 * another account's.
 */
export interface LateReply {
  readonly outcome: 'paid' | 'exists' | 'clash';
  readonly amount: Nano;
}

/**
 * Settles a finished request whose process was fenced: directly on the account, as far as money is
 * free there; the rest is shortfall. The transfer's id tells whether it had been settled before
 * (R6). Repeatable until known.
 */
export function* settleLate({ charge, limits, records }: LateInput): Script<LateReply> {
  const { id, account, cost, code, at, loss, record } = charge;
  let free = 0n;
  for (const locked of [account, ...limits].sort()) {
    const [row] = yield {
      sql: 'UPDATE account SET id=id WHERE id=$1 RETURNING credits, debits, held',
      params: [locked],
    };
    if (locked === account)
      free = integer(row, 'credits') - integer(row, 'debits') - integer(row, 'held');
  }
  const [known] = yield { sql: 'SELECT debit, amount FROM transfer WHERE id=$1', params: [id] };
  if (known !== undefined)
    return {
      outcome: text(known, 'debit') === account ? 'exists' : 'clash',
      amount: integer(known, 'amount'),
    };
  const amount = cost < free ? cost : free;
  assert(amount >= 0n, 'an account is never overdrawn');
  for (const debited of [account, ...limits]) {
    yield { sql: 'UPDATE account SET debits=debits+$2 WHERE id=$1', params: [debited, amount] };
  }
  yield {
    sql: "INSERT INTO transfer (id, debit, credit, amount, code, at) VALUES ($1, $2, 'revenue', $3, $4, $5)",
    params: [id, account, amount, code, at],
  };
  yield { sql: recordInsert(records), params: [id, account, cost, cost - amount, ...record] };
  if (loss !== undefined) yield insertLoss({ id, amount: loss, at });
  return { outcome: 'paid', amount };
}

/** Keeps what the database refused to settle where the operator finds it. */
export function* keepFailed({
  charge,
  why,
}: {
  readonly charge: Omit<ChargeRow, 'amount' | 'record'>;
  readonly why: string;
}): Script<void> {
  const { id, account, cost, code, at } = charge;
  yield {
    sql: 'INSERT INTO settle_failed (id, account, cost, code, at, why) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING',
    params: [id, account, cost, code, at, why],
    autocommit: true,
  };
}
