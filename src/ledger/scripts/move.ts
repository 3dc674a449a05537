import { assert } from '../../base/assert.ts';
import type { Nano } from '../../base/money.ts';
import type { Script } from '../../storage/database.ts';
import type { FloatRow } from './batch.ts';
import { integer, integerOrZero } from './read.ts';

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
  /** This process's float on it. */
  readonly granted: Nano;
  readonly spent: Nano;
}

/** Locks the account row (an UPDATE that changes nothing: SQLite knows no FOR UPDATE) and reads it with this process's float. An account that does not exist has nothing. */
export function* lockAccount(process: string, account: string): Script<LockedAccount> {
  const [row] = yield {
    sql: `UPDATE account SET id=id WHERE id=$1 RETURNING credits, debits, held, frozen, call_in,
      (SELECT granted FROM till_float WHERE process=$2 AND account=$1) AS granted,
      (SELECT spent FROM till_float WHERE process=$2 AND account=$1) AS spent`,
    params: [account, process],
  };
  return {
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
 * Folds what the float has spent into the account's debits, then gives back, charges directly and draws. A draw that gets nothing calls in
 * others' idle floats. R9: what is drawn is checked under the row's lock, by the statement, and by the table's CHECK.
 */
export function* moveMoney(process: string, move: Move): Script<FloatRow> {
  const { account } = move;
  if (move.limit !== undefined) {
    yield {
      sql: "INSERT INTO account (id, kind, credits) VALUES ($1, 'limit', $2) ON CONFLICT (id) DO NOTHING",
      params: [account, move.limit],
    };
  }
  const before = yield* lockAccount(process, account);
  assert(move.back <= before.granted - before.spent, 'a float gives back only what it has not spent');
  const drawn = before.frozen ? 0n : toDraw(move, before.credits - before.debits - before.held + move.back - move.direct);
  const granted = before.granted - before.spent - move.back + drawn;
  const debitsMore = before.spent + move.direct;
  const heldMore = drawn - before.spent - move.back;
  const callIn = move.want > 0n && drawn === 0n ? 1n : 0n;
  if (debitsMore === 0n && heldMore === 0n && callIn === 0n) return { account, granted, spent: before.spent, facts: before };
  const [row] = yield {
    sql: `UPDATE account SET debits=debits+$2, held=held+$3, call_in=call_in+$4
      WHERE id=$1 AND (kind<>'user' OR debits+held+$2+$3<=credits) RETURNING credits, debits, held, call_in`,
    params: [account, debitsMore, heldMore, callIn],
  };
  if (row === undefined && callIn === 1n) return { account, granted: 0n, spent: 0n, facts: before };
  assert(row, 'what is drawn is there');
  if (granted !== before.granted || before.spent !== 0n) yield* storeFloat(process, account, granted);
  const facts = {
    credits: integer(row, 'credits'),
    debits: integer(row, 'debits'),
    held: integer(row, 'held'),
    frozen: before.frozen,
    callIn: integer(row, 'call_in'),
  };
  return { account, granted, spent: 0n, facts };
}

function toDraw({ want, least, spare, spareParts }: Move, free: Nano): Nano {
  if (free >= want) {
    const idle = (free - want) / spareParts;
    return want + (spare < idle ? spare : idle);
  }
  return free >= least && free > 0n ? free : 0n;
}

function* storeFloat(process: string, account: string, granted: Nano): Script<void> {
  if (granted === 0n) {
    yield { sql: 'DELETE FROM till_float WHERE process=$1 AND account=$2', params: [process, account] };
    return;
  }
  yield {
    sql: `INSERT INTO till_float (process, account, granted, spent) VALUES ($1, $2, $3, 0)
      ON CONFLICT (process, account) DO UPDATE SET granted=excluded.granted, spent=0`,
    params: [process, account, granted],
  };
}
