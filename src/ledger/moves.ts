import type { Nano } from '../base/money.ts';
import type { Script } from '../storage/database.ts';
import { integer, integerOrZero, text } from './scripts/read.ts';

/** What a user's account has by the ledger's own counters. */
export interface Funds {
  /** All that was credited less all that was charged: floats of processes are the user's. */
  readonly balance: Nano;
  /** All that was ever credited. */
  readonly credited: Nano;
  /** Set aside for tasks and payouts that have not ended. */
  readonly held: Nano;
  readonly holds: number;
}

/**
 * A transfer that is no charge, as its account sees it: `amount` is negative when the money went
 * away. Times are wall clock, ms.
 */
export interface Move {
  readonly id: string;
  readonly at: number;
  readonly amount: Nano;
  readonly code: string;
  /** The account on the other side: `wallet:…`, `grants`, `revenue`. */
  readonly other: string;
  readonly ref: string | undefined;
}

export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Undefined when there is no such user's account. To be run in a snapshot. */
export function* fundsOf(account: string): Script<Funds | undefined> {
  const [row] = yield {
    sql: `SELECT a.credits-a.debits-COALESCE((SELECT SUM(f.spent) FROM till_float f WHERE f.account=a.id), 0) AS balance,
      a.credits AS credited,
      COALESCE((SELECT SUM(h.amount) FROM hold h WHERE h.account=a.id AND h.state='open'), 0) AS held,
      (SELECT COUNT(*) FROM hold h WHERE h.account=a.id AND h.state='open') AS holds
      FROM account a WHERE a.id=$1 AND a.kind='user'`,
    params: [account],
  };
  return (
    row && {
      balance: integer(row, 'balance'),
      credited: integer(row, 'credited'),
      held: integer(row, 'held'),
      holds: Number(integer(row, 'holds')),
    }
  );
}

// Written as the indexes are: charges are found through their usage records.
const came = "credit=$1 AND credit<>'revenue'";
const went = "debit=$1 AND credit<>'revenue'";

/** All of an account's transfers but charges within a stretch of time, in the ledger's order. */
export function* movesOf(account: string, { from, to }: Stretch): Script<readonly Move[]> {
  const rows = yield {
    sql: `SELECT id, at, amount, code, ref, debit AS other FROM transfer WHERE ${came} AND at>=$2 AND at<$3
      UNION ALL SELECT id, at, -amount AS amount, code, ref, credit AS other FROM transfer WHERE ${went} AND at>=$2 AND at<$3
      ORDER BY at, id`,
    params: [account, from, to],
  };
  return rows.map((row) => ({
    id: text(row, 'id'),
    at: Number(integer(row, 'at')),
    amount: integer(row, 'amount'),
    code: text(row, 'code'),
    other: text(row, 'other'),
    ref: row['ref'] === null ? undefined : text(row, 'ref'),
  }));
}

/** What all moves of a stretch come to. */
export function* movedWithin(account: string, { from, to }: Stretch): Script<Nano> {
  const [row] = yield {
    sql: `SELECT CAST(COALESCE((SELECT SUM(amount) FROM transfer WHERE ${came} AND at>=$2 AND at<$3), 0)
      - COALESCE((SELECT SUM(amount) FROM transfer WHERE ${went} AND at>=$2 AND at<$3), 0) AS BIGINT) AS moved`,
    params: [account, from, to],
  };
  return integerOrZero(row, 'moved');
}

/** The charge with this id, if it is this account's, and what was paid back of it. */
export function* chargeOf(
  account: string,
  id: string,
): Script<{ readonly charge: Move | undefined; readonly refunds: readonly Move[] }> {
  const [row] = yield {
    sql: "SELECT id, at, amount, code, ref FROM transfer WHERE id=$1 AND debit=$2 AND credit='revenue'",
    params: [id, account],
  };
  const back = yield {
    sql: "SELECT id, at, amount, code, ref FROM transfer WHERE ref=$1 AND credit=$2 AND code='refund' ORDER BY at, id",
    params: [id, account],
  };
  const moveOf = (found: typeof row): Move => ({
    id: text(found, 'id'),
    at: Number(integer(found, 'at')),
    amount: integer(found, 'amount'),
    code: text(found, 'code'),
    other: 'revenue',
    ref: found?.['ref'] === null ? undefined : text(found, 'ref'),
  });
  return { charge: row && moveOf(row), refunds: back.map(moveOf) };
}

/** What one transfer says of a charge beside the usage record's own word. */
export interface Compared {
  /** Charges of both that were read. */
  readonly lines: number;
  /** Their sum, as transferred. */
  readonly amount: Nano;
  /** The first that differs. */
  readonly differs:
    | {
        readonly id: string;
        readonly recorded: Nano | undefined;
        readonly transferred: Nano | undefined;
      }
    | undefined;
}

/**
 * Adds an account's charges up from transfers, and holds each to its usage record. Reads every one
 * of them: keep the stretch short.
 */
export function* compareCharges(account: string, { from, to }: Stretch): Script<Compared> {
  const records =
    'FROM usage u LEFT JOIN transfer t ON t.id=u.id WHERE u.account=$1 AND u.finished_at>=$2 AND u.finished_at<$3';
  const [sums] = yield {
    sql: `SELECT COUNT(t.id) AS lines, CAST(COALESCE(SUM(t.amount), 0) AS BIGINT) AS amount ${records}`,
    params: [account, from, to],
  };
  const [wrong] = yield {
    sql: `SELECT u.id, u.cost-u.shortfall AS recorded, t.amount AS transferred ${records}
      AND (t.id IS NULL OR t.amount<>u.cost-u.shortfall OR t.debit<>u.account OR t.at<>u.finished_at) ORDER BY u.finished_at, u.id LIMIT 1`,
    params: [account, from, to],
  };
  const value = (column: string): Nano | undefined =>
    wrong?.[column] === null ? undefined : integer(wrong, column);
  return {
    lines: Number(integer(sums, 'lines')),
    amount: integer(sums, 'amount'),
    differs: wrong && {
      id: text(wrong, 'id'),
      recorded: value('recorded'),
      transferred: value('transferred'),
    },
  };
}
