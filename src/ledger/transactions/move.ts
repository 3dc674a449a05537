import { assert } from '../../base/assert.ts';
import type { Nano } from '../../base/money.ts';
import type { Row, Transaction, SqlValue } from '../../storage/database.ts';
import { integerColumnOrZero, textColumn } from '../../storage/sql.ts';

/**
 * The amounts that one account row and this process's float on it exchange in one batch. All ≥ 0.
 */
export interface FloatChange {
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

/** The account row after a move. */
export interface AccountFacts {
  readonly credits: Nano;
  readonly debits: Nano;
  readonly held: Nano;
  readonly frozen: boolean;
  readonly callIn: bigint;
}

export interface LockedAccount extends AccountFacts {
  readonly exists: boolean;
  /** This process's float on it. */
  readonly granted: Nano;
  readonly spent: Nano;
}

/**
 * Locks the account row (an UPDATE that changes nothing: SQLite has no FOR UPDATE) and reads it
 * with this process's float. An account that does not exist counts as empty.
 */
export function* lockAccount(process: string, account: string): Transaction<LockedAccount> {
  const [row] = yield {
    sql: `UPDATE account SET id=id WHERE id=$1 RETURNING credits, debits, held, frozen, call_in,
      (SELECT granted FROM till_float WHERE process=$2 AND account=$1) AS granted,
      (SELECT spent FROM till_float WHERE process=$2 AND account=$1) AS spent`,
    params: [account, process],
  };
  return lockedAccount(row);
}

export function lockedAccount(row: Row | undefined): LockedAccount {
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
export interface AccountChange {
  readonly account: string;
  readonly debitsMore: Nano;
  readonly heldMore: Nano;
  readonly callInMore: bigint;
  readonly granted: Nano;
}

/**
 * Folds the float's spending into the account's debits, then gives back, charges directly and
 * draws. A draw that gets nothing calls in the idle floats of other processes. Undefined when there
 * is nothing to do. The result holds only under the account row's lock (R9).
 */
export function accountChange(before: LockedAccount, move: FloatChange): AccountChange | undefined {
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

function toDraw({ want, least, spare, spareParts }: FloatChange, free: Nano): Nano {
  if (free >= want) {
    const idle = (free - want) / spareParts;
    return want + (spare < idle ? spare : idle);
  }
  return free >= least && free > 0n ? free : 0n;
}

/** One move after the other, for SQLite's thread, where a statement costs a function call. */
export function* movesStepByStep(
  process: string,
  moves: readonly FloatChange[],
): Transaction<FloatRow[]> {
  const floats: FloatRow[] = [];
  for (const move of moves) {
    if (move.limit !== undefined) {
      yield {
        sql: "INSERT INTO account (id, kind, credits) VALUES ($1, 'limit', $2) ON CONFLICT (id) DO NOTHING",
        params: [move.account, move.limit],
      };
    }
    const before = yield* lockAccount(process, move.account);
    const done = before.exists ? accountChange(before, move) : undefined;
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
export function floatAfter(
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
export function* movesAtOnce(
  process: string,
  moves: readonly FloatChange[],
): Transaction<FloatRow[]> {
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
    const change = before.exists ? accountChange(before, move) : undefined;
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
export function arrayLiteral(values: readonly SqlValue[]): string {
  let literal = '{';
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (i > 0) literal += ',';
    if (typeof value === 'string') literal += `"${value.replace(special, '\\$&')}"`;
    else literal += value === null || value === undefined ? 'NULL' : value;
  }
  return `${literal}}`;
}

/** A float as the database has it; `facts` when the account row was read as well. */
export interface FloatRow {
  readonly account: string;
  readonly granted: Nano;
  readonly spent: Nano;
  readonly facts?: AccountFacts;
}
