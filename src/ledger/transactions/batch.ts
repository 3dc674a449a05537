import { assert } from '../../base/assert.ts';
import type { Nano } from '../../base/money.ts';
import {
  DatabaseError,
  type Row,
  type Transaction,
  type SqlValue,
  type Statement,
} from '../../storage/database.ts';
import { integerColumn, textColumn } from '../../storage/sql.ts';
import type { RecordTable } from '../contract.ts';
import {
  arrayLiteral,
  movesAtOnce,
  lockAccount,
  type FloatChange,
  movesStepByStep,
  type FloatRow,
} from './move.ts';

/** One charge and its usage record. `amount` ≤ `cost`; the rest is the operator's shortfall. */
export interface BatchCharge {
  readonly id: string;
  readonly account: string;
  readonly amount: Nano;
  readonly cost: Nano;
  readonly code: string;
  readonly at: number;
  readonly loss?: Nano | undefined;
  readonly record: readonly SqlValue[];
}

/**
 * Charges as they travel to the database: one list with id, account, amount, code, at, cost,
 * shortfall and the record's values of the first charge, then of the next. Sending to a thread
 * copies everything, and there each name and each nested list costs as much as some values.
 */
export interface Charges {
  readonly count: number;
  readonly values: readonly SqlValue[];
}

/** How many of a charge's values go into its transfer; cost, shortfall and record follow. */
const transferValues = 5;

/**
 * The part of the vendor's reported usage beyond what a request can have cost. The operator bears
 * it, in the transaction of the request's charge.
 */
export interface ChargeLoss {
  /** The request's id. */
  readonly id: string;
  readonly amount: Nano;
  readonly at: number;
}

/**
 * The amount that one account's float of this process pays in this batch: users and limits alike.
 */
export interface Spend {
  readonly account: string;
  readonly amount: Nano;
}

/**
 * Everything that one process does in one transaction. `seq` is the value in the process row before
 * it.
 */
export interface BatchInput {
  readonly process: string;
  readonly seq: bigint;
  readonly charges: Charges;
  readonly losses: readonly ChargeLoss[];
  readonly spends: readonly Spend[];
  /** By ascending account: every transaction locks account rows in this order (R11). */
  readonly moves: readonly FloatChange[];
  /** How usage records are inserted: as rows (`intoRecords`), or as columns of arrays. */
  readonly records: string | RecordTable;
}

/**
 * `done`: an earlier copy of the batch was committed · `fenced`: nothing happened, and never will ·
 * `behind`: the database has forgotten batches.
 */
export type BatchReply =
  | { readonly outcome: 'ok' | 'done'; readonly floats: readonly FloatRow[] }
  | { readonly outcome: 'fenced' }
  | { readonly outcome: 'behind' };

/**
 * Fence, idempotency number and heartbeat in one statement (R2): if it returns no row, nothing of
 * the batch happens.
 */
const claim = 'UPDATE process SET seq=seq+1 WHERE id=$1 AND seq=$2 AND fenced=0 RETURNING id';

/**
 * The batch as one statement per step, for SQLite's thread, where a statement costs a function
 * call.
 */
export function* batchStepByStep(input: BatchInput): Transaction<BatchReply> {
  const claimed = yield { sql: claim, params: [input.process, input.seq] };
  if (claimed.length === 0) return yield* earlierOutcome(input);
  const floats: FloatRow[] = [];
  for (const { account, amount } of input.spends) {
    const [row] = yield {
      sql: 'UPDATE till_float SET spent=spent+$1 WHERE process=$2 AND account=$3 RETURNING account, granted, spent',
      params: [amount, input.process, account],
    };
    assert(row, 'a process that is not fenced has its floats');
    floats.push(floatRow(row));
  }
  yield* insertCharges(input);
  for (const loss of input.losses) yield insertLoss(loss);
  floats.push(...(yield* movesStepByStep(input.process, input.moves)));
  return { outcome: 'ok', floats };
}

/**
 * The batch over a network: all charges in one statement. Without moves and losses it is the only
 * one, and commits by itself.
 */
export function* batchAtOnce(input: BatchInput): Transaction<BatchReply> {
  const statement =
    input.charges.count === 0
      ? { sql: claim, params: [input.process, input.seq] }
      : chargeAtOnce(input);
  const alone = input.moves.length === 0 && input.losses.length === 0;
  const rows = yield alone ? { ...statement, autocommit: true } : statement;
  const [first] = rows;
  if (first === undefined || first['alive'] === 0n) return yield* earlierOutcome(input);
  for (const loss of input.losses) yield insertLoss(loss);
  const floats = input.spends.length === 0 ? [] : rows.map(floatRow);
  if (input.moves.length > 0) floats.push(...(yield* movesAtOnce(input.process, input.moves)));
  return { outcome: 'ok', floats };
}

/**
 * One statement for all charges. A missing float of a process that is not fenced is a bug and must
 * fail the statement: hence the division.
 */
function chargeAtOnce({ process, seq, charges, spends, records }: BatchInput): Statement {
  assert(typeof records !== 'string', 'charges at once need the columns of their records');
  const names = records.columns.map(({ name }) => name);
  const arrays = records.columns.map(({ type }, i) => `$${i + 12}::${type}[]`);
  const width = charges.values.length / charges.count;
  const column = (c: number) =>
    Array.from({ length: charges.count }, (_, row) => charges.values[row * width + c] ?? null);
  const more = (list: readonly string[]) => list.map((item) => `, ${item}`).join('');
  return {
    sql: `WITH p AS (UPDATE process SET seq=seq+1 WHERE id=$1 AND seq=$2 AND fenced=0 RETURNING id),
      s AS (SELECT s.account, s.n FROM unnest($3::text[], $4::bigint[]) AS s(account, n), p),
      f AS (UPDATE till_float SET spent=till_float.spent+s.n FROM s WHERE till_float.process=$1 AND till_float.account=s.account
        RETURNING till_float.account, till_float.granted, till_float.spent),
      i AS (SELECT i.* FROM unnest($5::text[], $6::text[], $7::bigint[], $8::text[], $9::bigint[], $10::bigint[], $11::bigint[]${more(arrays)})
        AS i(id, account, amount, code, at, cost, shortfall${more(names.map((_, i) => `c${i}`))}), p),
      t AS (INSERT INTO transfer (id, debit, credit, amount, code, at) SELECT id, account, 'revenue', amount, code, at FROM i),
      u AS (INSERT INTO ${records.table} (id, account, cost, shortfall${more(names)})
        SELECT id, account, cost, shortfall${more(names.map((_, i) => `c${i}`))} FROM i)
      SELECT (SELECT count(*) FROM p) AS alive, f.account, f.granted, f.spent,
        1 / (CASE WHEN (SELECT count(*) FROM f) = (SELECT count(*) FROM s) THEN 1 ELSE 0 END) AS whole
      FROM (SELECT 1) AS one LEFT JOIN f ON true`,
    params: [
      process,
      seq,
      arrayLiteral(spends.map(({ account }) => account)),
      arrayLiteral(spends.map(({ amount }) => amount)),
      ...Array.from({ length: width }, (_, c) => arrayLiteral(column(c))),
    ],
  };
}

const intoTransfer = 'INSERT INTO transfer (id, debit, credit, amount, code, at)';

function* insertCharges({
  charges: { count, values },
  records: into,
}: BatchInput): Transaction<void> {
  const transfers: SqlValue[] = [];
  const records: SqlValue[] = [];
  for (let at = 0; at < values.length; at += values.length / count) {
    const [id = null, account = null, ...transfer] = values.slice(at, at + transferValues);
    transfers.push(id, account, 'revenue', ...transfer);
    records.push(id, account);
    for (const value of values.slice(at + transferValues, at + values.length / count))
      records.push(value);
  }
  yield* insertRows(intoTransfer, count, transfers);
  yield* insertRows(typeof into === 'string' ? into : intoRecords(into), count, records);
}

/** A loss is a transfer of its own, found by its request's id. */
export const insertLoss = ({ id, amount, at }: ChargeLoss): Statement => ({
  sql: "INSERT INTO transfer (id, debit, credit, amount, code, ref, at) VALUES ($1, 'losses', 'vendors', $2, 'excess', $3, $4)",
  params: [`${id}/excess`, amount, id, at],
});

/**
 * The head of an INSERT of usage records: account, cost and shortfall, then the record's own
 * columns.
 */
export function intoRecords({ table, columns }: RecordTable): string {
  return `INSERT INTO ${table} (id, account, cost, shortfall${columns.map(({ name }) => `, ${name}`).join('')})`;
}

/** The statement for one record. */
export function recordInsert(records: RecordTable): string {
  return insertOf(intoRecords(records), 1, records.columns.length + 4);
}

/**
 * The claim changed no row. Updating the process row blocks a concurrent fence until the floats are
 * read, so no sweep can have begun by then.
 */
function* earlierOutcome(input: BatchInput): Transaction<BatchReply> {
  const [row] = yield {
    sql: 'UPDATE process SET seq=seq WHERE id=$1 AND fenced=0 RETURNING seq',
    params: [input.process],
  };
  if (row === undefined) return { outcome: 'fenced' };
  const seq = integerColumn(row, 'seq');
  if (seq === input.seq) throw new DatabaseError('busy', 'the batch may be sent now');
  if (seq !== input.seq + 1n) return { outcome: 'behind' };
  const floats: FloatRow[] = [];
  for (const { account } of [...input.spends, ...input.moves]) {
    const { granted, spent, ...facts } = yield* lockAccount(input.process, account);
    floats.push({ account, granted, spent, facts });
  }
  return { outcome: 'done', floats };
}

function floatRow(row: Row): FloatRow {
  return {
    account: textColumn(row, 'account'),
    granted: integerColumn(row, 'granted'),
    spent: integerColumn(row, 'spent'),
  };
}

/**
 * The row counts of one INSERT. Few sizes, because each is a prepared statement of its own; large
 * ones, because a call costs as much as a row.
 */
const sizes = [32, 16, 8, 4, 2, 1];
const written = new Map<string, string>();

/**
 * Inserts rows in as few statements as their number allows. `into`:
 * `INSERT INTO table (column, …)`; `values`: those of the first row, then of the next.
 */
function* insertRows(into: string, count: number, values: readonly SqlValue[]): Transaction<void> {
  const columns = values.length / count;
  let from = 0;
  for (const size of sizes) {
    for (; count - from >= size; from += size) {
      yield {
        sql: insertOf(into, size, columns),
        params: values.slice(from * columns, (from + size) * columns),
      };
    }
  }
}

/** The INSERT for `rows` rows of `columns` columns. */
export function insertOf(into: string, rows: number, columns: number): string {
  const name = `${rows} ${into}`;
  let sql = written.get(name);
  if (sql === undefined) {
    const row = (r: number): string =>
      `(${Array.from({ length: columns }, (_, c) => `$${r * columns + c + 1}`).join(', ')})`;
    sql = `${into} VALUES ${Array.from({ length: rows }, (_, r) => row(r)).join(', ')}`;
    written.set(name, sql);
  }
  return sql;
}

export interface LateInput {
  /** Without `amount`: the free money decides how much of the cost is charged. */
  readonly charge: Omit<BatchCharge, 'amount'>;
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
  const { id, account, cost, code, at, loss, record } = charge;
  let free = 0n;
  for (const locked of [account, ...limits].sort()) {
    const [row] = yield {
      sql: 'UPDATE account SET id=id WHERE id=$1 RETURNING credits, debits, held',
      params: [locked],
    };
    if (locked === account)
      free =
        integerColumn(row, 'credits') - integerColumn(row, 'debits') - integerColumn(row, 'held');
  }
  const [known] = yield { sql: 'SELECT debit, amount FROM transfer WHERE id=$1', params: [id] };
  if (known !== undefined)
    return {
      outcome: textColumn(known, 'debit') === account ? 'exists' : 'clash',
      amount: integerColumn(known, 'amount'),
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

/** Keeps a charge that the database refused where the operator finds it. */
export function* keepFailedCharge({
  charge,
  why,
}: {
  readonly charge: Omit<BatchCharge, 'amount' | 'record'>;
  readonly why: string;
}): Transaction<void> {
  const { id, account, cost, code, at } = charge;
  yield {
    sql: 'INSERT INTO settle_failed (id, account, cost, code, at, why) VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO NOTHING',
    params: [id, account, cost, code, at, why],
    autocommit: true,
  };
}
