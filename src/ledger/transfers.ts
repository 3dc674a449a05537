import type { Nano } from '../base/money.ts';
import type { Row, Transaction } from '../storage/database.ts';
import {
  integerColumn,
  integerColumnOrZero,
  optionalText,
  placeholders,
  textColumn,
} from '../storage/sql.ts';

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

/** SQL: what processes have spent of an account (table `a`) beyond its debits. */
export const spentOfFloats =
  'COALESCE((SELECT SUM(f.spent) FROM till_float f WHERE f.account=a.id), 0)';

/** SQL: the balance of a user's account (table `a`). */
export const accountBalance = `a.credits-a.debits-${spentOfFloats}`;

const held =
  "COALESCE((SELECT SUM(h.amount) FROM hold h WHERE h.account=a.id AND h.state='open'), 0)";

/** SQL: the same without what tasks hold. */
export const availableBalance = `${accountBalance}-${held}`;

/** Undefined when there is no such user's account. Run it in a snapshot. */
export function* fundsOf(account: string): Transaction<Funds | undefined> {
  return (yield* fundsOfUsers([account])).get(account);
}

/** The funds of several users, by account; accounts that are no users are left out. */
export function* fundsOfUsers(
  accounts: readonly string[],
): Transaction<ReadonlyMap<string, Funds>> {
  if (accounts.length === 0) return new Map();
  const rows = yield {
    sql: `SELECT a.id, ${accountBalance} AS balance, a.credits AS credited, ${held} AS held,
      (SELECT COUNT(*) FROM hold h WHERE h.account=a.id AND h.state='open') AS holds
      FROM account a WHERE a.id IN (${placeholders(accounts)}) AND a.kind='user'`,
    params: accounts,
  };
  return new Map(
    rows.map((row) => [
      textColumn(row, 'id'),
      {
        balance: integerColumn(row, 'balance'),
        credited: integerColumn(row, 'credited'),
        held: integerColumn(row, 'held'),
        holds: Number(integerColumn(row, 'holds')),
      },
    ]),
  );
}

/**
 * The balances of the user `from` and of all users with a later id, held money included. What a
 * process has spent of its float is deducted only once it is moved into the account's debits.
 */
export function* balancesOfUsers(from: string): Transaction<ReadonlyMap<string, Nano>> {
  const rows = yield {
    sql: "SELECT id, credits-debits AS balance FROM account WHERE kind='user' AND id>=$1",
    params: [from],
  };
  return new Map(rows.map((row) => [String(row['id']), integerColumn(row, 'balance')]));
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
  return rows.map(transferOf);
}

const transferOf = (row: Row): AccountTransfer => ({
  id: textColumn(row, 'id'),
  at: Number(integerColumn(row, 'at')),
  amount: integerColumn(row, 'amount'),
  code: textColumn(row, 'code'),
  other: textColumn(row, 'other'),
  ref: optionalText(row, 'ref'),
});

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
    sql: "SELECT id, at, amount, code, ref, credit AS other FROM transfer WHERE id=$1 AND debit=$2 AND credit='revenue'",
    params: [id, account],
  };
  const back = yield {
    sql: "SELECT id, at, amount, code, ref, debit AS other FROM transfer WHERE ref=$1 AND credit=$2 AND code='refund' ORDER BY at, id",
    params: [id, account],
  };
  return { charge: row && transferOf(row), refunds: back.map(transferOf) };
}

/** What was refunded of these charges of the account, by charge; one without a refund is absent. */
export function* refundedOf(
  account: string,
  charges: readonly string[],
): Transaction<ReadonlyMap<string, Nano>> {
  if (charges.length === 0) return new Map();
  const rows = yield {
    sql: `SELECT ref, CAST(SUM(amount) AS BIGINT) AS amount FROM transfer WHERE ref IN (${placeholders(charges, 2)}) AND credit=$1 AND code='refund' GROUP BY ref`,
    params: [account, ...charges],
  };
  return new Map(rows.map((row) => [textColumn(row, 'ref'), integerColumn(row, 'amount')]));
}

/** An amount that came back of a charge. */
export interface ChargeRefund {
  readonly account: string;
  readonly charge: string;
  /** Wall clock, ms: the time of the refund. */
  readonly at: number;
  readonly amount: Nano;
}

/**
 * Refunds of a period, to all accounts or to some. They are rare: a charge is refunded when its
 * answer was not delivered.
 */
export function* chargeRefunds(
  { from, to }: LedgerPeriod,
  accounts?: readonly string[],
): Transaction<readonly ChargeRefund[]> {
  if (accounts?.length === 0) return [];
  const only = accounts === undefined ? '' : ` AND credit IN (${placeholders(accounts, 3)})`;
  const rows = yield {
    sql: `SELECT credit, ref, at, amount FROM transfer
      WHERE debit='revenue' AND credit<>'revenue' AND at>=$1 AND at<$2${only}`,
    params: [from, to, ...(accounts ?? [])],
  };
  return rows.map((row) => ({
    account: textColumn(row, 'credit'),
    charge: textColumn(row, 'ref'),
    at: Number(integerColumn(row, 'at')),
    amount: integerColumn(row, 'amount'),
  }));
}

/** The payer and the amount of a transfer; undefined when there is none with this id. */
export function* payerOf(
  id: string,
): Transaction<{ readonly account: string; readonly amount: Nano } | undefined> {
  const [row] = yield { sql: 'SELECT debit, amount FROM transfer WHERE id=$1', params: [id] };
  return row && { account: textColumn(row, 'debit'), amount: integerColumn(row, 'amount') };
}

/** The opening balances that one import has given, with what their accounts have now. */
export function* openingsOf(ref: string): Transaction<
  readonly {
    readonly id: string;
    readonly account: string;
    readonly amount: Nano;
    readonly balance: Nano;
  }[]
> {
  const rows = yield {
    sql: `SELECT t.id, t.credit, t.amount, a.credits-a.debits AS balance FROM transfer t JOIN account a ON a.id=t.credit
      WHERE t.debit='grants' AND t.code='opening' AND t.ref=$1`,
    params: [ref],
  };
  return rows.map((row) => ({
    id: textColumn(row, 'id'),
    account: textColumn(row, 'credit'),
    amount: integerColumn(row, 'amount'),
    balance: integerColumn(row, 'balance'),
  }));
}

/** A text that is another one whenever the account's money has moved. */
export function* moneyMark(account: string): Transaction<string> {
  const [row] = yield {
    sql: `SELECT a.credits, a.debits, (SELECT SUM(f.spent) FROM till_float f WHERE f.account=a.id) AS spent,
      (SELECT SUM(h.amount) FROM hold h WHERE h.account=a.id AND h.state='open') AS held FROM account a WHERE a.id=$1`,
    params: [account],
  };
  return Object.values(row ?? {})
    .map(String)
    .join();
}

/** Makes transactions that lock the same account take turns. */
export function* lockAccount(account: string): Transaction<void> {
  yield { sql: 'UPDATE account SET id=id WHERE id=$1', params: [account] };
}
