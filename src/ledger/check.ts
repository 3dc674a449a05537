import type { Database, Row, Script } from '../storage/database.ts';
import type { Nano } from '../base/money.ts';
import { integer, integerOrZero } from './scripts/read.ts';
import { wrongWindows } from './windows.ts';

/** A row that should not be: which query found it, and its columns as text. */
export interface Problem {
  readonly query: string;
  readonly row: Readonly<Record<string, string | null>>;
}

export interface Report {
  readonly ok: boolean;
  readonly accounts: number;
  readonly transfers: number;
  /** Open ones. */
  readonly holds: number;
  readonly problems: readonly Problem[];
}

/** A broken ledger is known by its first rows. */
const problemsMaxPerQuery = 20;

const spentByAccount =
  '(SELECT account, SUM(spent) AS spent, SUM(granted) AS granted FROM till_float GROUP BY account)';

/** Each must return no row (till.md §8). */
const queries = {
  negative:
    "SELECT id, credits, debits, held FROM account WHERE kind='user' AND debits+held>credits",
  held: `SELECT a.id, a.held, f.granted, h.amount AS open_holds FROM account a
    LEFT JOIN ${spentByAccount} f ON f.account=a.id
    LEFT JOIN (SELECT account, SUM(amount) AS amount FROM hold WHERE state='open' GROUP BY account) h ON h.account=a.id
    WHERE a.held<>COALESCE(f.granted, 0)+COALESCE(h.amount, 0)`,
  debits: `SELECT a.id, a.debits, f.spent, t.amount AS transferred FROM account a
    LEFT JOIN ${spentByAccount} f ON f.account=a.id
    LEFT JOIN (SELECT debit, SUM(amount) AS amount FROM transfer GROUP BY debit) t ON t.debit=a.id
    WHERE a.kind='user' AND a.debits+COALESCE(f.spent, 0)<>COALESCE(t.amount, 0)`,
  credits: `SELECT a.id, a.credits, t.amount AS transferred FROM account a
    LEFT JOIN (SELECT credit, SUM(amount) AS amount FROM transfer GROUP BY credit) t ON t.credit=a.id
    WHERE a.kind='user' AND a.credits<>COALESCE(t.amount, 0)`,
  limits: `SELECT a.id, a.debits, f.spent, u.paid FROM account a
    LEFT JOIN ${spentByAccount} f ON f.account=a.id
    LEFT JOIN (SELECT 'key:' || key_id || ':total' AS id, SUM(cost-shortfall) AS paid FROM usage GROUP BY key_id) u ON u.id=a.id
    WHERE a.kind='limit' AND a.id LIKE 'key:%:total' AND a.debits+COALESCE(f.spent, 0)<>COALESCE(u.paid, 0)`,
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
 * Proves the ledger on one unchanging view of it: sums, counters, floats, holds and usage records
 * agree. `others`: what rooms that use the ledger have to prove beside it.
 */
export function check(
  database: Database,
  others: Readonly<Record<string, string>> = {},
  tell?: TellRules,
): Promise<Report> {
  return database.snapshot(() => prove({ ...queries, ...others }, tell));
}

/**
 * What vendors reported beyond what requests can have cost, all of it: `losses` and `unreported`
 * prove it.
 */
export async function houseLosses(database: Database): Promise<Nano> {
  const [row] = await database.query(
    "SELECT COALESCE(SUM(amount), 0) AS amount FROM transfer WHERE debit='losses' AND credit<>'revenue'",
  );
  return integerOrZero(row, 'amount');
}

/** Hears how far a proof is: all its rules, each time that one begins or ends. */
export type TellRules = (
  rules: readonly {
    readonly rule: string;
    readonly state: 'waiting' | 'running' | 'ok' | 'failed';
    readonly problems: readonly Problem['row'][];
  }[],
) => void;

function* prove(all: Readonly<Record<string, string>>, tell: TellRules = () => {}): Script<Report> {
  const problems: Problem[] = [];
  const names = Object.keys(all);
  const told = (done: number, running: boolean): void =>
    tell(
      names.map((rule, index) => {
        const found = problems.filter(({ query }) => query === rule).map(({ row }) => row);
        const state =
          index < done
            ? found.length === 0
              ? 'ok'
              : 'failed'
            : index === done && running
              ? 'running'
              : 'waiting';
        return { rule, state, problems: found };
      }),
    );
  for (const [index, [query, sql]] of Object.entries(all).entries()) {
    told(index, true);
    const rows = yield { sql: `${sql} LIMIT ${problemsMaxPerQuery}`, params: [] };
    problems.push(...rows.map((row) => ({ query, row: asText(row) })));
  }
  const windows = yield* wrongWindows();
  problems.push(
    ...windows.slice(0, problemsMaxPerQuery).map((row) => ({ query: 'limits', row: asText(row) })),
  );
  told(names.length, false);
  const [counted] = yield {
    sql: "SELECT (SELECT COUNT(*) FROM account) AS accounts, (SELECT COUNT(*) FROM transfer) AS transfers, (SELECT COUNT(*) FROM hold WHERE state='open') AS holds",
    params: [],
  };
  return {
    ok: problems.length === 0,
    accounts: Number(integer(counted, 'accounts')),
    transfers: Number(integer(counted, 'transfers')),
    holds: Number(integer(counted, 'holds')),
    problems,
  };
}

function asText(row: Row): Problem['row'] {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]),
  );
}
