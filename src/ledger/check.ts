import type { Nano } from '../base/money.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import {
  integerColumn,
  integerColumnOrZero,
  noStatementTimeout,
  optionalInteger,
  textColumn,
} from '../storage/sql.ts';
import { mayBeMissing, wrongWindows } from './limit-windows.ts';
import type { LedgerPeriod } from './transfers.ts';

/** A row that should not exist: the query that found it, and its columns as text. */
export interface LedgerProblem {
  readonly query: string;
  readonly row: Readonly<Record<string, string | null>>;
}

export interface CheckReport {
  readonly ok: boolean;
  readonly accounts: number;
  readonly transfers: number;
  /** Open holds only. */
  readonly holds: number;
  readonly problems: readonly LedgerProblem[];
}

/** The first rows are enough to show that a ledger is broken. */
const problemsMaxPerQuery = 20;

const spentByAccount =
  '(SELECT account, SUM(spent) AS spent, SUM(granted) AS granted FROM till_float GROUP BY account)';

/**
 * Sums of transfers by account, of users alone: SQLite's sums have 64 bits, and what the operator's
 * accounts have moved in all, mistaken credits included, may need more.
 */
const movedBy = (side: 'debit' | 'credit'): string =>
  `(SELECT t.${side}, SUM(t.amount) AS amount FROM transfer t CROSS JOIN account a
    WHERE a.id=t.${side} AND a.kind='user' GROUP BY t.${side})`;

/** Each query must return no row. */
const queries = {
  negative:
    "SELECT id, credits, debits, held FROM account WHERE kind='user' AND debits+held>credits",
  held: `SELECT a.id, a.held, f.granted, h.amount AS open_holds FROM account a
    LEFT JOIN ${spentByAccount} f ON f.account=a.id
    LEFT JOIN (SELECT account, SUM(amount) AS amount FROM hold WHERE state='open' GROUP BY account) h ON h.account=a.id
    WHERE a.held<>COALESCE(f.granted, 0)+COALESCE(h.amount, 0)`,
  debits: `SELECT a.id, a.debits, f.spent, t.amount AS transferred FROM account a
    LEFT JOIN ${spentByAccount} f ON f.account=a.id
    LEFT JOIN ${movedBy('debit')} t ON t.debit=a.id
    WHERE a.kind='user' AND a.debits+COALESCE(f.spent, 0)<>COALESCE(t.amount, 0)`,
  credits: `SELECT a.id, a.credits, t.amount AS transferred FROM account a
    LEFT JOIN ${movedBy('credit')} t ON t.credit=a.id
    WHERE a.kind='user' AND a.credits<>COALESCE(t.amount, 0)`,
  limits: `SELECT a.id, a.debits, f.spent, u.paid FROM account a
    LEFT JOIN ${spentByAccount} f ON f.account=a.id
    LEFT JOIN (SELECT 'key:' || u.key_id || ':total' AS id, SUM(u.cost-u.shortfall) AS paid,
        SUM(CASE WHEN ${mayBeMissing} THEN u.cost-u.shortfall ELSE 0 END) AS missing
      FROM usage u LEFT JOIN limit_gap g ON g.key_id=u.key_id AND g.kind='total' GROUP BY u.key_id) u ON u.id=a.id
    WHERE a.kind='limit' AND a.id LIKE 'key:%:total' AND (a.debits+COALESCE(f.spent, 0)>COALESCE(u.paid, 0)
      OR a.debits+COALESCE(f.spent, 0)<COALESCE(u.paid-u.missing, 0))`,
  records: `SELECT u.id, u.cost, u.shortfall, t.amount FROM usage u LEFT JOIN transfer t ON t.id=u.id
    WHERE t.id IS NULL OR t.debit<>u.account OR t.amount+u.shortfall<>u.cost`,
  losses: `SELECT u.id, u.excess, t.amount FROM usage u LEFT JOIN transfer t ON t.id=u.id || '/excess'
    WHERE u.excess IS NOT NULL AND (t.id IS NULL OR t.debit<>'losses' OR t.credit<>'vendors' OR t.amount<>u.excess)`,
  unreported: `SELECT t.id, t.ref, t.amount FROM transfer t LEFT JOIN usage u ON u.id=t.ref
    WHERE t.debit='losses' AND t.credit<>'revenue' AND u.excess IS NULL`,
  charges:
    "SELECT t.id, t.code, t.amount FROM transfer t LEFT JOIN usage u ON u.id=t.id WHERE t.credit='revenue' AND u.id IS NULL",
  floats:
    'SELECT f.process, f.account, f.granted FROM till_float f LEFT JOIN process p ON p.id=f.process WHERE p.id IS NULL',
  strangers:
    "SELECT t.id, t.debit, t.credit, t.amount FROM transfer t LEFT JOIN account a ON a.id=t.debit WHERE t.credit='revenue' AND a.id IS NULL",
  holds: `SELECT h.id, h.state, h.amount, h.posted, t.amount AS transferred FROM hold h LEFT JOIN transfer t ON t.id=h.id
    WHERE (h.state='posted' AND (t.id IS NULL OR h.posted IS NULL OR h.posted<>t.amount)) OR (h.state<>'posted' AND (t.id IS NOT NULL OR h.posted IS NOT NULL))`,
  refunds: `SELECT r.ref AS id, r.amount AS refunded, t.amount FROM (SELECT ref, SUM(amount) AS amount FROM transfer WHERE code='refund' GROUP BY ref) r
    LEFT JOIN transfer t ON t.id=r.ref WHERE t.id IS NULL OR r.amount>t.amount`,
} as const;

/**
 * Proves the ledger on one unchanging snapshot: sums, counters, floats, holds and usage records
 * agree. `others`: queries of other parts that use the ledger, proved with it.
 */
export function check(
  database: Database,
  others: Readonly<Record<string, string>> = {},
  onProgress?: RuleProgress,
): Promise<CheckReport> {
  return database.snapshot(() => prove(database, { ...queries, ...others }, onProgress));
}

/**
 * The sum of what vendors reported beyond what requests can have cost; the rules `losses` and
 * `unreported` prove it.
 */
export async function operatorLosses(database: Database): Promise<Nano> {
  const [row] = await database.query(
    "SELECT COALESCE(SUM(amount), 0) AS amount FROM transfer WHERE debit='losses' AND credit<>'revenue'",
  );
  return integerColumnOrZero(row, 'amount');
}

export interface RuleResult {
  readonly rule: string;
  readonly state: 'waiting' | 'running' | 'ok' | 'failed';
  readonly problems: readonly LedgerProblem['row'][];
}

/** Called with the state of all rules each time that one begins or ends. */
export type RuleProgress = (rules: readonly RuleResult[]) => void;

function* prove(
  database: Database,
  all: Readonly<Record<string, string>>,
  onProgress: RuleProgress = () => {},
): Transaction<CheckReport> {
  yield* noStatementTimeout(database);
  const problems: LedgerProblem[] = [];
  const names = Object.keys(all);
  const report = (done: number, running: boolean): void =>
    onProgress(
      names.map((rule, index) => {
        const found = problems.filter(({ query }) => query === rule).map(({ row }) => row);
        if (index > done || (index === done && !running))
          return { rule, state: 'waiting', problems: found };
        const ended = found.length === 0 ? 'ok' : 'failed';
        return { rule, state: index < done ? ended : 'running', problems: found };
      }),
    );
  for (const [index, [query, sql]] of Object.entries(all).entries()) {
    report(index, true);
    const rows = yield { sql: `${sql} LIMIT ${problemsMaxPerQuery}`, params: [] };
    problems.push(...rows.map((row) => ({ query, row: asText(row) })));
  }
  const windows = yield* wrongWindows();
  problems.push(
    ...windows.slice(0, problemsMaxPerQuery).map((row) => ({ query: 'limits', row: asText(row) })),
  );
  report(names.length, false);
  const [counted] = yield {
    sql: "SELECT (SELECT COUNT(*) FROM account) AS accounts, (SELECT COUNT(*) FROM transfer) AS transfers, (SELECT COUNT(*) FROM hold WHERE state='open') AS holds",
    params: [],
  };
  return {
    ok: problems.length === 0,
    accounts: Number(integerColumn(counted, 'accounts')),
    transfers: Number(integerColumn(counted, 'transfers')),
    holds: Number(integerColumn(counted, 'holds')),
    problems,
  };
}

function asText(row: Row): LedgerProblem['row'] {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
  );
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
  return {
    lines: Number(integerColumn(sums, 'lines')),
    amount: integerColumn(sums, 'amount'),
    differs: wrong && {
      id: textColumn(wrong, 'id'),
      recorded: optionalInteger(wrong, 'recorded'),
      transferred: optionalInteger(wrong, 'transferred'),
    },
  };
}
