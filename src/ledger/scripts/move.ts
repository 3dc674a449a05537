import { assert } from '../../base/assert.ts';
import type { Nano } from '../../base/money.ts';
import type { Row, Script } from '../../storage/database.ts';
import type { FloatRow } from './batch.ts';
import { integerOrZero } from './read.ts';

/** What one account row and this process's float on it exchange in one batch. All amounts ≥ 0. */
export interface Move {
  readonly account: string;
  /** A limit's account is made by its first draw, with this limit; undefined for a user's. */
  readonly limit: Nano | undefined;
  /** To be drawn if it is there, else whatever is there, but not less than `least`. */
  readonly want: Nano;
  readonly least: Nano;
  /** To be drawn on top, from no more than this part of what then is free: 1 ÷ `spareParts`. */
  readonly spare: Nano;
  readonly spareParts: bigint;
  /** To be given back: never more than is free in the float. */
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
 * Locks the account row (an UPDATE that changes nothing: SQLite knows no FOR UPDATE) and reads it
 * with this process's float. An account that does not exist has nothing.
 */
export function* lockAccount(process: string, account: string): Script<LockedAccount> {
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
    credits: integerOrZero(row, 'credits'),
    debits: integerOrZero(row, 'debits'),
    held: integerOrZero(row, 'held'),
    frozen: integerOrZero(row, 'frozen') !== 0n,
    callIn: integerOrZero(row, 'call_in'),
    granted: integerOrZero(row, 'granted'),
    spent: integerOrZero(row, 'spent'),
  };
}

/**
 * What a move does to the account row and to the float, which it folds: all that was spent is now
 * the account's debits, and `spent` is 0.
 */
export interface Exchange {
  readonly account: string;
  readonly debitsMore: Nano;
  readonly heldMore: Nano;
  readonly callInMore: bigint;
  readonly granted: Nano;
}

/**
 * Folds what the float has spent into the account's debits, then gives back, charges directly and
 * draws. A draw that gets nothing calls in others' idle floats. Undefined when there is nothing to
 * do. Only under the account row's lock is it true when it is done (R9).
 */
export function exchange(before: LockedAccount, move: Move): Exchange | undefined {
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

/** One move after the other, for where every statement is a function call away. */
export function* movesStepByStep(process: string, moves: readonly Move[]): Script<FloatRow[]> {
  const floats: FloatRow[] = [];
  for (const move of moves) {
    if (move.limit !== undefined) {
      yield {
        sql: "INSERT INTO account (id, kind, credits) VALUES ($1, 'limit', $2) ON CONFLICT (id) DO NOTHING",
        params: [move.account, move.limit],
      };
    }
    const before = yield* lockAccount(process, move.account);
    const done = before.exists ? exchange(before, move) : undefined;
    floats.push(floatAfter(move.account, before, done));
    if (done !== undefined) yield* perform(process, done);
  }
  return floats;
}

function* perform(
  process: string,
  { account, debitsMore, heldMore, callInMore, granted }: Exchange,
): Script<void> {
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

/** The float and its account as they are once `done` is. */
export function floatAfter(
  account: string,
  before: LockedAccount,
  done: Exchange | undefined,
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
