import type { RecordTable } from '../contract.ts';
import { assert } from '../../base/assert.ts';
import type { Nano } from '../../base/money.ts';
import {
  DatabaseError,
  type Row,
  type Script,
  type SqlValue,
  type Statement,
} from '../../storage/database.ts';
import { arrayLiteral } from './array-literal.ts';
import { type AccountFacts, lockAccount, type Move, movesStepByStep } from './move.ts';
import { movesAtOnce } from './moves-at-once.ts';
import { integer, text } from './read.ts';
import { insertOf, insertRows } from './rows.ts';

/** One charge and its usage record. `amount` ≤ `cost`; the rest is the operator's shortfall. */
export interface ChargeRow {
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
 * Charges as they travel: one list of values, which has id, account, amount, code, at, cost,
 * shortfall and the record's values of the first, then of the next. Whatever is sent to a thread is
 * copied, and there each name and each list of its own costs as much as some values.
 */
export interface Charges {
  readonly count: number;
  readonly values: readonly SqlValue[];
}

/** The values of a charge that are in its transfer; cost, shortfall and record follow. */
const transferValues = 5;

/**
 * What a vendor reported beyond what a request can have cost: the house's, in the transaction of
 * the request's charge.
 */
export interface Loss {
  /** The request's. */
  readonly id: string;
  readonly amount: Nano;
  readonly at: number;
}

/** What one account's float of this process pays for in this batch: users and limits alike. */
export interface Spend {
  readonly account: string;
  readonly amount: Nano;
}

/**
 * Everything that one process wants to have done in one transaction. `seq` is the process row's
 * before it.
 */
export interface BatchInput {
  readonly process: string;
  readonly seq: bigint;
  readonly charges: Charges;
  readonly losses: readonly Loss[];
  readonly spends: readonly Spend[];
  /** By ascending account: the order in which everybody locks account rows (R11). */
  readonly moves: readonly Move[];
  /** How a usage record is inserted: as rows (`intoRecords`), or as columns of arrays. */
  readonly records: string | RecordTable;
}

/** A float as the database has it; `facts` when the account row was read as well. */
export interface FloatRow {
  readonly account: string;
  readonly granted: Nano;
  readonly spent: Nano;
  readonly facts?: AccountFacts;
}

/**
 * `done`: it had been committed before · `fenced`: nothing happened, and never will · `behind`: the
 * database has forgotten batches.
 */
export type BatchReply =
  | { readonly outcome: 'ok' | 'done'; readonly floats: readonly FloatRow[] }
  | { readonly outcome: 'fenced' }
  | { readonly outcome: 'behind' };

/**
 * Fence, idempotency number and heartbeat in one statement (R2): without its row nothing else of a
 * batch happens.
 */
const claim = 'UPDATE process SET seq=seq+1 WHERE id=$1 AND seq=$2 AND fenced=0 RETURNING id';

/** The batch as a procedure where every statement is a function call away: SQLite's thread. */
export function* batchStepByStep(input: BatchInput): Script<BatchReply> {
  const claimed = yield { sql: claim, params: [input.process, input.seq] };
  if (claimed.length === 0) return yield* whatBecameOf(input);
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
 * The batch over a network: charges are one statement, and without moves and losses that is all
 * there is, committed by itself.
 */
export function* batchAtOnce(input: BatchInput): Script<BatchReply> {
  const statement =
    input.charges.count === 0
      ? { sql: claim, params: [input.process, input.seq] }
      : chargeAtOnce(input);
  const alone = input.moves.length === 0 && input.losses.length === 0;
  const rows = yield alone ? { ...statement, autocommit: true } : statement;
  const [first] = rows;
  if (first === undefined || first['alive'] === 0n) return yield* whatBecameOf(input);
  for (const loss of input.losses) yield insertLoss(loss);
  const floats = input.spends.length === 0 ? [] : rows.map(floatRow);
  if (input.moves.length > 0) floats.push(...(yield* movesAtOnce(input.process, input.moves)));
  return { outcome: 'ok', floats };
}

/**
 * One statement for all charges. A float that is missing under a process that is not fenced is a
 * bug, and must fail the statement: hence the division.
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

function* insertCharges({ charges: { count, values }, records: into }: BatchInput): Script<void> {
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
export const insertLoss = ({ id, amount, at }: Loss): Statement => ({
  sql: "INSERT INTO transfer (id, debit, credit, amount, code, ref, at) VALUES ($1, 'losses', 'vendors', $2, 'excess', $3, $4)",
  params: [`${id}/excess`, amount, id, at],
});

/** Usage records: who, how much of it nobody paid for, and then the record's own columns. */
export function intoRecords({ table, columns }: RecordTable): string {
  return `INSERT INTO ${table} (id, account, cost, shortfall${columns.map(({ name }) => `, ${name}`).join('')})`;
}

/** The statement for one record. */
export function recordInsert(records: RecordTable): string {
  return insertOf(intoRecords(records), 1, records.columns.length + 4);
}

/**
 * The process row did not move. Touching it keeps whoever would fence it away until the floats are
 * read; a sweep can therefore not have begun when they are.
 */
function* whatBecameOf(input: BatchInput): Script<BatchReply> {
  const [row] = yield {
    sql: 'UPDATE process SET seq=seq WHERE id=$1 AND fenced=0 RETURNING seq',
    params: [input.process],
  };
  if (row === undefined) return { outcome: 'fenced' };
  const seq = integer(row, 'seq');
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
    account: text(row, 'account'),
    granted: integer(row, 'granted'),
    spent: integer(row, 'spent'),
  };
}
