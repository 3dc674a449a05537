import assert from 'node:assert/strict';
import type { Nano } from '../../base/money.ts';
import {
  DatabaseError,
  type Row,
  type Transaction,
  type SqlValue,
  type Statement,
} from '../../storage/database.ts';
import { integerColumn, textColumn, integerColumnOrZero } from '../../storage/sql.ts';
import type { RecordTable } from '../contract.ts';
import { insertWindow } from './account.ts';

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
  readonly moves: readonly Move[];
  /** How usage records are inserted: as rows (`recordTarget`), or as columns of arrays. */
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
    sql: `WITH p AS (${claim}),
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

const intoTransfers = 'INSERT OR ROLLBACK INTO transfer (id, debit, credit, amount, code, at)';

/**
 * Inserts transfers and usage records in as few statements as the number of charges allows. A
 * broken constraint ends the whole transaction: SQLite then keeps no copy of each page that a
 * statement of several rows changes.
 */
function* insertCharges({ charges, records: into }: BatchInput): Transaction<void> {
  const { count, values } = charges;
  const intoRecords = `INSERT OR ROLLBACK INTO ${typeof into === 'string' ? into : recordTarget(into)}`;
  const width = values.length / count;
  let from = 0;
  for (const rows of rowCounts) {
    for (; count - from >= rows; from += rows) {
      const { transfers, records } = rowsOf(values, width, from, rows);
      yield { sql: insertOf(intoTransfers, rows, transfers.length / rows), params: transfers };
      yield { sql: insertOf(intoRecords, rows, records.length / rows), params: records };
    }
  }
}

/** The values of both tables for `rows` charges, beginning with number `from`. */
function rowsOf(
  values: readonly SqlValue[],
  width: number,
  from: number,
  rows: number,
): { readonly transfers: readonly SqlValue[]; readonly records: readonly SqlValue[] } {
  const transfers: SqlValue[] = [];
  const records: SqlValue[] = [];
  const end = (from + rows) * width;
  for (let at = from * width; at < end; at += width) {
    const [id = null, account = null] = [values[at], values[at + 1]];
    transfers.push(id, account, 'revenue');
    for (let i = at + 2; i < at + transferValues; i++) transfers.push(values[i] ?? null);
    records.push(id, account);
    for (let i = at + transferValues; i < at + width; i++) records.push(values[i] ?? null);
  }
  return { transfers, records };
}

/** A loss is a transfer of its own, found by its request's id. */
export const insertLoss = ({ id, amount, at }: ChargeLoss): Statement => ({
  sql: "INSERT INTO transfer (id, debit, credit, amount, code, ref, at) VALUES ($1, 'losses', 'vendors', $2, 'excess', $3, $4)",
  params: [`${id}/excess`, amount, id, at],
});

/**
 * The table of usage records with its columns: account, cost and shortfall, then the record's own.
 */
export function recordTarget({ table, columns }: RecordTable): string {
  return `${table} (id, account, cost, shortfall${columns.map(({ name }) => `, ${name}`).join('')})`;
}

/**
 * The claim changed no row. Updating the process row blocks a concurrent fence until the floats are
 * read, so no sweep can have begun by then. Accounts are locked in ascending order (R11).
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
  const accounts = new Set([...input.spends, ...input.moves].map(({ account }) => account));
  for (const account of [...accounts].sort()) {
    const { granted, spent, ...facts } = yield* lockWithFloat(input.process, account);
    floats.push({ account, granted, spent, facts });
  }
  return { outcome: 'done', floats };
}

/** Reads a row with `account`, `granted` and `spent`. */
export function floatRow(row: Row): FloatRow {
  return {
    account: textColumn(row, 'account'),
    granted: integerColumn(row, 'granted'),
    spent: integerColumn(row, 'spent'),
  };
}

/**
 * The numbers of rows of one INSERT. Few of them, because each is a prepared statement of its own;
 * large ones, because a call costs as much as a row.
 */
const rowCounts = [32, 16, 8, 4, 2, 1];
/** The texts of INSERTs, by their beginning and by their number of rows. */
const written = new Map<string, string[]>();

/** The INSERT for `rows` rows of `columns` columns. `into`: `INSERT INTO table (column, …)`. */
export function insertOf(into: string, rows: number, columns: number): string {
  let texts = written.get(into);
  if (texts === undefined) written.set(into, (texts = []));
  return (texts[rows] ??= insertText(into, rows, columns));
}

function insertText(into: string, rows: number, columns: number): string {
  const row = (r: number): string =>
    `(${Array.from({ length: columns }, (_, c) => `$${r * columns + c + 1}`).join(', ')})`;
  return `${into} VALUES ${Array.from({ length: rows }, (_, r) => row(r)).join(', ')}`;
}

/**
 * The amounts that one account row and this process's float on it exchange in one batch. All ≥ 0.
 */
export interface Move {
  readonly account: string;
  /**
   * For a limit's account, the limit with which its first draw makes it; undefined for a user's.
   */
  readonly limit: Nano | undefined;
  /** The amount to draw; a smaller free amount is drawn too, but not less than `least`. */
  readonly want: Nano;
  readonly least: Nano;
  /** Drawn on top, but at most 1 ÷ `spareParts` of the free money that is left. */
  readonly spare: Nano;
  readonly spareParts: bigint;
  /** The amount to give back: never more than is free in the float. */
  readonly back: Nano;
  /** Charged to a limit directly, because its float lacks it. */
  readonly direct: Nano;
}

/** Exchanges nothing. */
export function emptyMove(account: string): Move {
  return {
    account,
    limit: undefined,
    want: 0n,
    least: 0n,
    spare: 0n,
    spareParts: 1n,
    back: 0n,
    direct: 0n,
  };
}

/** A float as the database has it; `facts` when the account row was read as well. */
export interface FloatRow {
  readonly account: string;
  readonly granted: Nano;
  readonly spent: Nano;
  readonly facts?: AccountFacts;
}

/** The account row after a move. */
interface AccountFacts {
  readonly credits: Nano;
  readonly debits: Nano;
  readonly held: Nano;
  readonly frozen: boolean;
  readonly callIn: bigint;
}

interface LockedAccount extends AccountFacts {
  readonly exists: boolean;
  /** This process's float on it. */
  readonly granted: Nano;
  readonly spent: Nano;
}

/**
 * Locks the account row (an UPDATE that changes nothing: SQLite has no FOR UPDATE) and reads it
 * with this process's float. An account that does not exist counts as empty.
 */
function* lockWithFloat(process: string, account: string): Transaction<LockedAccount> {
  const [row] = yield {
    sql: `UPDATE account SET id=id WHERE id=$1 RETURNING credits, debits, held, frozen, call_in,
      (SELECT granted FROM till_float WHERE process=$2 AND account=$1) AS granted,
      (SELECT spent FROM till_float WHERE process=$2 AND account=$1) AS spent`,
    params: [account, process],
  };
  return lockedAccount(row);
}

function lockedAccount(row: Row | undefined): LockedAccount {
  return {
    exists: row !== undefined,
    credits: integerColumnOrZero(row, 'credits'),
    debits: integerColumnOrZero(row, 'debits'),
    held: integerColumnOrZero(row, 'held'),
    frozen: integerColumnOrZero(row, 'frozen') !== 0n,
    callIn: integerColumnOrZero(row, 'call_in'),
    granted: integerColumnOrZero(row, 'granted'),
    spent: integerColumnOrZero(row, 'spent'),
  };
}

/**
 * The effect of a move on the account row and on the float. It folds the float: everything spent
 * moves into the account's debits, and `spent` becomes 0.
 */
interface AccountChange {
  readonly account: string;
  readonly debitsMore: Nano;
  readonly heldMore: Nano;
  readonly callInMore: bigint;
  readonly granted: Nano;
}

/**
 * Folds the float's spending into the account's debits, then gives back, charges directly and
 * draws. A draw that gets nothing calls in the idle floats of other processes. Undefined when there
 * is nothing to do, or no account. The result holds only under the account row's lock (R9).
 */
function accountChange(before: LockedAccount, move: Move): AccountChange | undefined {
  if (!before.exists) return undefined;
  assert(
    move.back <= before.granted - before.spent,
    'a float gives back only what it has not spent',
  );
  const drawn = before.frozen
    ? 0n
    : toDraw(move, before.credits - before.debits - before.held + move.back - move.direct);
  const debitsMore = before.spent + move.direct;
  const heldMore = drawn - before.spent - move.back;
  const callInMore = move.want > 0n && drawn === 0n ? 1n : 0n;
  if (debitsMore === 0n && heldMore === 0n && callInMore === 0n) return undefined;
  const granted = before.granted - before.spent - move.back + drawn;
  return { account: move.account, debitsMore, heldMore, callInMore, granted };
}

function toDraw({ want, least, spare, spareParts }: Move, free: Nano): Nano {
  if (free >= want) {
    const idle = (free - want) / spareParts;
    return want + (spare < idle ? spare : idle);
  }
  return free >= least && free > 0n ? free : 0n;
}

/** One move after the other, for SQLite's thread, where a statement costs a function call. */
function* movesStepByStep(process: string, moves: readonly Move[]): Transaction<FloatRow[]> {
  const floats: FloatRow[] = [];
  for (const move of moves) {
    if (move.limit !== undefined) yield insertWindow({ id: move.account, amount: move.limit });
    const before = yield* lockWithFloat(process, move.account);
    const done = accountChange(before, move);
    floats.push(floatAfter(move.account, before, done));
    if (done !== undefined) yield* perform(process, done);
  }
  return floats;
}

function* perform(
  process: string,
  { account, debitsMore, heldMore, callInMore, granted }: AccountChange,
): Transaction<void> {
  const changed = yield {
    sql: `UPDATE account SET debits=debits+$2, held=held+$3, call_in=call_in+$4
      WHERE id=$1 AND (kind<>'user' OR debits+held+$2+$3<=credits) RETURNING id`,
    params: [account, debitsMore, heldMore, callInMore],
  };
  assert(changed.length === 1, 'what is drawn is there');
  if (granted === 0n) {
    yield {
      sql: 'DELETE FROM till_float WHERE process=$1 AND account=$2',
      params: [process, account],
    };
    return;
  }
  yield {
    sql: `INSERT INTO till_float (process, account, granted, spent) VALUES ($1, $2, $3, 0)
      ON CONFLICT (process, account) DO UPDATE SET granted=excluded.granted, spent=0`,
    params: [process, account, granted],
  };
}

/** The float and its account after `done`. */
function floatAfter(
  account: string,
  before: LockedAccount,
  done: AccountChange | undefined,
): FloatRow {
  if (done === undefined)
    return { account, granted: before.granted, spent: before.spent, facts: before };
  const { debitsMore, heldMore, callInMore, granted } = done;
  const facts: AccountFacts = {
    credits: before.credits,
    debits: before.debits + debitsMore,
    held: before.held + heldMore,
    frozen: before.frozen,
    callIn: before.callIn + callInMore,
  };
  return { account, granted, spent: 0n, facts };
}

/**
 * The same as `movesStepByStep` over a network: as many statements for a thousand accounts as for
 * one. It locks the rows in the order of the accounts' bytes, as every transaction does (R11).
 */
function* movesAtOnce(process: string, moves: readonly Move[]): Transaction<FloatRow[]> {
  const limits = moves.filter(({ limit }) => limit !== undefined);
  if (limits.length > 0) {
    yield {
      sql: `INSERT INTO account (id, kind, credits) SELECT id, 'limit', credits FROM unnest($1::text[], $2::bigint[]) AS l(id, credits)
        ON CONFLICT (id) DO NOTHING`,
      params: [
        arrayLiteral(limits.map(({ account }) => account)),
        arrayLiteral(limits.map(({ limit }) => limit ?? 0n)),
      ],
    };
  }
  const rows = yield {
    sql: `SELECT a.id, a.credits, a.debits, a.held, a.frozen, a.call_in, f.granted, f.spent
      FROM account a LEFT JOIN till_float f ON f.process=$1 AND f.account=a.id
      WHERE a.id=ANY($2::text[]) ORDER BY a.id COLLATE "C" FOR UPDATE OF a`,
    params: [process, arrayLiteral(moves.map(({ account }) => account))],
  };
  const locked = new Map(rows.map((row) => [textColumn(row, 'id'), lockedAccount(row)]));
  const floats: FloatRow[] = [];
  const done: AccountChange[] = [];
  for (const move of moves) {
    const before = locked.get(move.account) ?? lockedAccount(undefined);
    const change = accountChange(before, move);
    floats.push(floatAfter(move.account, before, change));
    if (change !== undefined) done.push(change);
  }
  if (done.length > 0) yield* writeChanges(process, done);
  return floats;
}

function* writeChanges(process: string, done: readonly AccountChange[]): Transaction<void> {
  const changed = yield {
    sql: `UPDATE account SET debits=debits+e.debits_more, held=held+e.held_more, call_in=call_in+e.call_in_more
      FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) AS e(id, debits_more, held_more, call_in_more)
      WHERE account.id=e.id AND (kind<>'user' OR debits+held+debits_more+held_more<=credits) RETURNING account.id`,
    params: [
      arrayLiteral(done.map(({ account }) => account)),
      arrayLiteral(done.map(({ debitsMore }) => debitsMore)),
      arrayLiteral(done.map(({ heldMore }) => heldMore)),
      arrayLiteral(done.map(({ callInMore }) => callInMore)),
    ],
  };
  assert(changed.length === done.length, 'what is drawn is there');
  const kept = done.filter(({ granted }) => granted > 0n);
  if (kept.length > 0) {
    yield {
      sql: `INSERT INTO till_float (process, account, granted, spent) SELECT $1, account, granted, 0 FROM unnest($2::text[], $3::bigint[]) AS k(account, granted)
        ON CONFLICT (process, account) DO UPDATE SET granted=excluded.granted, spent=0`,
      params: [
        process,
        arrayLiteral(kept.map(({ account }) => account)),
        arrayLiteral(kept.map(({ granted }) => granted)),
      ],
    };
  }
  const emptied = done.filter(({ granted }) => granted === 0n);
  if (emptied.length > 0) {
    yield {
      sql: 'DELETE FROM till_float WHERE process=$1 AND account=ANY($2::text[])',
      params: [process, arrayLiteral(emptied.map(({ account }) => account))],
    };
  }
}

const special = /["\\]/g;

/**
 * PostgreSQL's text form of an array,
 * https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO. Texts are always quoted, so that
 * none is read as NULL.
 */
function arrayLiteral(values: readonly SqlValue[]): string {
  let literal = '{';
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (i > 0) literal += ',';
    if (typeof value === 'string') literal += `"${value.replace(special, '\\$&')}"`;
    else literal += value === null || value === undefined ? 'NULL' : value;
  }
  return `${literal}}`;
}
