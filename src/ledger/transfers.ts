import type { Nano } from '../base/money.ts';
import type { Transaction } from '../storage/database.ts';
import { integerColumn, integerColumnOrZero, textColumn } from '../storage/sql.ts';

/** A user's funds by the ledger's own counters. */
export interface Funds {
  /** All credits less all charges: money in floats still belongs to the user. */
  readonly balance: Nano;
  /** The sum of all credits ever. */
  readonly credited: Nano;
  /** Set aside for tasks and payouts that have not ended. */
  readonly held: Nano;
  readonly holds: number;
}

/**
 * A transfer that is no charge, as its account sees it: `amount` is negative when money left the
 * account. Times are wall clock, ms.
 */
export interface AccountTransfer {
  readonly id: string;
  readonly at: number;
  readonly amount: Nano;
  readonly code: string;
  /** The account on the other side: `wallet:…`, `grants`, `revenue`. */
  readonly other: string;
  readonly ref: string | undefined;
}

export interface LedgerPeriod {
  readonly from: number;
  readonly to: number;
}

/** Undefined when there is no such user's account. Run it in a snapshot. */
export function* fundsOf(account: string): Transaction<Funds | undefined> {
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
      balance: integerColumn(row, 'balance'),
      credited: integerColumn(row, 'credited'),
      held: integerColumn(row, 'held'),
      holds: Number(integerColumn(row, 'holds')),
    }
  );
}

// Worded like the indexes' conditions, so that the database uses them.
const creditedHere = "credit=$1 AND credit<>'revenue'";
const debitedHere = "debit=$1 AND credit<>'revenue'";

/** All of an account's transfers except charges within a period, by time and id. */
export function* transfersOf(
  account: string,
  { from, to }: LedgerPeriod,
): Transaction<readonly AccountTransfer[]> {
  const rows = yield {
    sql: `SELECT id, at, amount, code, ref, debit AS other FROM transfer WHERE ${creditedHere} AND at>=$2 AND at<$3
      UNION ALL SELECT id, at, -amount AS amount, code, ref, credit AS other FROM transfer WHERE ${debitedHere} AND at>=$2 AND at<$3
      ORDER BY at, id`,
    params: [account, from, to],
  };
  return rows.map((row) => ({
    id: textColumn(row, 'id'),
    at: Number(integerColumn(row, 'at')),
    amount: integerColumn(row, 'amount'),
    code: textColumn(row, 'code'),
    other: textColumn(row, 'other'),
    ref: row['ref'] === null ? undefined : textColumn(row, 'ref'),
  }));
}

/** The sum of `transfersOf` over a period. */
export function* transferSum(account: string, { from, to }: LedgerPeriod): Transaction<Nano> {
  const [row] = yield {
    sql: `SELECT CAST(COALESCE((SELECT SUM(amount) FROM transfer WHERE ${creditedHere} AND at>=$2 AND at<$3), 0)
      - COALESCE((SELECT SUM(amount) FROM transfer WHERE ${debitedHere} AND at>=$2 AND at<$3), 0) AS BIGINT) AS moved`,
    params: [account, from, to],
  };
  return integerColumnOrZero(row, 'moved');
}

/** The charge with this id, if it is this account's, and its refunds. */
export function* chargeOf(
  account: string,
  id: string,
): Transaction<{
  readonly charge: AccountTransfer | undefined;
  readonly refunds: readonly AccountTransfer[];
}> {
  const [row] = yield {
    sql: "SELECT id, at, amount, code, ref FROM transfer WHERE id=$1 AND debit=$2 AND credit='revenue'",
    params: [id, account],
  };
  const back = yield {
    sql: "SELECT id, at, amount, code, ref FROM transfer WHERE ref=$1 AND credit=$2 AND code='refund' ORDER BY at, id",
    params: [id, account],
  };
  const moveOf = (found: typeof row): AccountTransfer => ({
    id: textColumn(found, 'id'),
    at: Number(integerColumn(found, 'at')),
    amount: integerColumn(found, 'amount'),
    code: textColumn(found, 'code'),
    other: 'revenue',
    ref: found?.['ref'] === null ? undefined : textColumn(found, 'ref'),
  });
  return { charge: row && moveOf(row), refunds: back.map(moveOf) };
}

/** Charges by transfers against charges by usage records. */
export interface ChargeComparison {
  /** Charges read on both sides. */
  readonly lines: number;
  /** Their sum by the transfers. */
  readonly amount: Nano;
  /** The first charge that differs. */
  readonly differs:
    | {
        readonly id: string;
        readonly recorded: Nano | undefined;
        readonly transferred: Nano | undefined;
      }
    | undefined;
}

/**
 * Adds up an account's charges from transfers and compares each with its usage record. Reads every
 * one of them: keep the period short.
 */
export function* compareCharges(
  account: string,
  { from, to }: LedgerPeriod,
): Transaction<ChargeComparison> {
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
    wrong?.[column] === null ? undefined : integerColumn(wrong, column);
  return {
    lines: Number(integerColumn(sums, 'lines')),
    amount: integerColumn(sums, 'amount'),
    differs: wrong && {
      id: textColumn(wrong, 'id'),
      recorded: value('recorded'),
      transferred: value('transferred'),
    },
  };
}
