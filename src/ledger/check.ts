import type { Clock } from '../base/clock.ts';
import { randomText } from '../base/random.ts';
import { type Nano, nanoPerYuan } from '../base/money.ts';
import { bump } from '../storage/changes.ts';
import type { Database, Row, Transaction, Migration } from '../storage/database.ts';
import { type OnError, WorkOutcomes } from '../storage/repeat.ts';
import {
  integerColumn,
  integerColumnOrZero,
  noStatementTimeout,
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

interface RuleResult {
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

export const checksMigrations: readonly Migration[] = [
  {
    id: '0023-ledger-checks',
    statements: [
      // `seen_at` moves while its process lives. `ok` is null until it is over. `rules` and `sums`
      // are JSON.
      `CREATE TABLE ledger_check (
        id TEXT PRIMARY KEY,
        started_at BIGINT NOT NULL,
        seen_at BIGINT NOT NULL,
        took_ms BIGINT,
        ok BIGINT CHECK (ok IN (0, 1)),
        accounts BIGINT NOT NULL DEFAULT 0,
        transfers BIGINT NOT NULL DEFAULT 0,
        holds BIGINT NOT NULL DEFAULT 0,
        rules TEXT NOT NULL,
        sums TEXT
      )`,
    ],
  },
  {
    id: '0047-nightly-check',
    statements: [
      // 1: begun by the gateway itself, once a night (nightly-check.ts).
      'ALTER TABLE ledger_check ADD COLUMN nightly BIGINT NOT NULL DEFAULT 0 CHECK (nightly IN (0, 1))',
    ],
  },
];

/** Where customers' money came from and went: balance = topUps + credits − paidOut − charges. */
interface MoneySums {
  readonly balance: Nano;
  readonly topUps: Nano;
  /** The operator's credits less the operator's debits. */
  readonly credits: Nano;
  readonly paidOut: Nano;
  /** Charges less refunds. */
  readonly charges: Nano;
}

/**
 * A proof of the ledger that runs, has ended, or was lost with its process. Times are wall clock,
 * ms.
 */
export interface CheckRun {
  readonly id: string;
  readonly startedAt: number;
  readonly tookMs: number | undefined;
  /** Undefined while it runs, and for ever when it was lost. */
  readonly ok: boolean | undefined;
  readonly running: boolean;
  /** Begun by the gateway itself, not by an operator. */
  readonly nightly: boolean;
  readonly accounts: number;
  readonly transfers: number;
  readonly holds: number;
  readonly rules: readonly RuleResult[];
  readonly sums: MoneySums | undefined;
}

const aliveEveryMs = 5_000;
const lostAfterMs = 30_000;
const checksKept = 200;

/**
 * A night's proof that was lost begins again, until it has begun this often: a proof that crashes
 * its process must not crash it all night.
 */
const nightlyTriesMax = 3;

/**
 * Begins a proof, unless one runs on some node; returns the id of the running one. It goes on
 * whether or not anyone watches.
 */
export async function startCheck(
  database: Database,
  clock: Clock,
  others: Readonly<Record<string, string>>,
  onError: OnError,
): Promise<string> {
  const id = newCheckId(clock);
  const running = await database.transact(function* (): Transaction<string> {
    const other = yield* runningCheck(clock.now());
    if (other === undefined) yield* begin(id, clock.now(), false);
    return other ?? id;
  });
  if (running === id) void run(database, clock, others, id, onError);
  return running;
}

/**
 * The same for the night that began at `night` (wall clock, ms), once for all nodes. Returns the id
 * of the proof; undefined: the night has its proof, or another one runs.
 */
export async function startNightlyCheck(
  database: Database,
  clock: Clock,
  others: Readonly<Record<string, string>>,
  night: number,
  onError: OnError,
): Promise<string | undefined> {
  if (await database.snapshot(() => isNightProved(night))) return undefined;
  const id = newCheckId(clock);
  const begun = await database.transact(function* (): Transaction<boolean> {
    if ((yield* runningCheck(clock.now())) !== undefined || (yield* isNightProved(night)))
      return false;
    yield* begin(id, clock.now(), true);
    return true;
  });
  if (begun) void run(database, clock, others, id, onError);
  return begun ? id : undefined;
}

const newCheckId = (clock: Clock): string =>
  `chk_${clock.now().toString(36).padStart(9, '0')}${randomText(13)}`;

/** Every proof that begins locks a row here first, so that two never begin at once. */
function* runningCheck(now: number): Transaction<string | undefined> {
  yield bump('ledger-check');
  const [other] = yield {
    sql: 'SELECT id FROM ledger_check WHERE ok IS NULL AND seen_at>$1 LIMIT 1',
    params: [now - lostAfterMs],
  };
  return other && String(other['id']);
}

function* isNightProved(night: number): Transaction<boolean> {
  const rows = yield {
    sql: 'SELECT ok FROM ledger_check WHERE nightly=1 AND started_at>=$1',
    params: [night],
  };
  return rows.length >= nightlyTriesMax || rows.some(({ ok }) => ok !== null);
}

function* begin(id: string, now: number, nightly: boolean): Transaction<void> {
  yield {
    sql: "INSERT INTO ledger_check (id, started_at, seen_at, rules, nightly) VALUES ($1, $2, $2, '[]', $3)",
    params: [id, now, nightly ? 1 : 0],
  };
  yield {
    sql: `DELETE FROM ledger_check WHERE id<=(SELECT id FROM ledger_check ORDER BY id DESC LIMIT 1 OFFSET ${checksKept})`,
    params: [],
  };
}

async function run(
  database: Database,
  clock: Clock,
  others: Readonly<Record<string, string>>,
  id: string,
  onError: OnError,
): Promise<void> {
  const begun = clock.monotonicMs();
  const outcomes = new WorkOutcomes('proof of the ledger', onError);
  let rules: readonly RuleResult[] = [];
  let writing: Promise<unknown> = Promise.resolve();
  const write = (): void => {
    const values = [clock.now(), JSON.stringify(rules), id];
    writing = writing
      .then(() =>
        database.query('UPDATE ledger_check SET seen_at=$1, rules=$2 WHERE id=$3', values),
      )
      .catch(outcomes.failed);
  };
  const alive = setInterval(write, aliveEveryMs).unref();
  try {
    const report = await check(database, others, (progress) => {
      rules = progress;
      write();
    });
    const sums = await database.snapshot(() => moneySums(database));
    await writing;
    await database.query(
      'UPDATE ledger_check SET ok=$1, took_ms=$2, accounts=$3, transfers=$4, holds=$5, sums=$6, rules=$7, seen_at=$8 WHERE id=$9',
      [
        report.ok ? 1 : 0,
        Math.round(clock.monotonicMs() - begun),
        report.accounts,
        report.transfers,
        report.holds,
        sumsText(sums),
        JSON.stringify(rules),
        clock.now(),
        id,
      ],
    );
  } catch (error) {
    // The proof counts as lost, because its `seen_at` stops moving.
    outcomes.failed(error);
  } finally {
    clearInterval(alive);
  }
}

/** Whole yuan and the rest: the sum of nano-yuan may need more than 64 bits. */
const parts = (name: string, amount: string): string =>
  `COALESCE(SUM(${amount}/${nanoPerYuan}), 0) AS ${name}_yuan, COALESCE(SUM(${amount}%${nanoPerYuan}), 0) AS ${name}_rest`;

const transferred = {
  top_ups: "debit LIKE 'wallet:%'",
  given: "debit='grants'",
  taken: "credit='grants'",
  paid_out: "credit LIKE 'wallet:%'",
  charged: "credit='revenue'",
  refunded: "debit='revenue'",
} as const;

function* moneySums(database: Database): Transaction<MoneySums> {
  yield* noStatementTimeout(database);
  const [held] = yield {
    sql: `SELECT ${parts('balance', '(credits-debits)')} FROM account WHERE kind='user'`,
    params: [],
  };
  const [spent] = yield {
    sql: `SELECT ${parts('spent', 'f.spent')} FROM till_float f JOIN account a ON a.id=f.account WHERE a.kind='user'`,
    params: [],
  };
  const sums = Object.entries(transferred).map(([name, which]) =>
    parts(name, `CASE WHEN ${which} THEN amount ELSE 0 END`),
  );
  const [moved] = yield { sql: `SELECT ${sums.join(', ')} FROM transfer`, params: [] };
  const of = (row: Row | undefined, name: string): Nano =>
    integerColumn(row, `${name}_yuan`) * nanoPerYuan + integerColumn(row, `${name}_rest`);
  return {
    balance: of(held, 'balance') - of(spent, 'spent'),
    topUps: of(moved, 'top_ups'),
    credits: of(moved, 'given') - of(moved, 'taken'),
    paidOut: of(moved, 'paid_out'),
    charges: of(moved, 'charged') - of(moved, 'refunded'),
  };
}

const sumsText = (sums: MoneySums): string =>
  JSON.stringify(sums, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );

/** The latest first. */
export async function checkRuns(
  database: Database,
  now: number,
  limit: number,
): Promise<readonly CheckRun[]> {
  const rows = await database.query('SELECT * FROM ledger_check ORDER BY id DESC LIMIT $1', [
    limit,
  ]);
  return rows.map((row) => checkOf(row, now));
}

export async function checkRun(
  database: Database,
  id: string,
  now: number,
): Promise<CheckRun | undefined> {
  const [row] = await database.query('SELECT * FROM ledger_check WHERE id=$1', [id]);
  return row && checkOf(row, now);
}

function checkOf(row: Row, now: number): CheckRun {
  const { ok = null, took_ms: took = null, sums = null } = row;
  return {
    id: String(row['id']),
    startedAt: Number(row['started_at']),
    tookMs: took === null ? undefined : Number(took),
    ok: ok === null ? undefined : ok === 1n,
    running: ok === null && Number(row['seen_at']) > now - lostAfterMs,
    nightly: row['nightly'] === 1n,
    accounts: Number(row['accounts']),
    transfers: Number(row['transfers']),
    holds: Number(row['holds']),
    // Written by `run`.
    rules: JSON.parse(String(row['rules'])) as readonly RuleResult[],
    sums: sums === null ? undefined : sumsOf(String(sums)),
  };
}

function sumsOf(text: string): MoneySums {
  const {
    balance = '0',
    topUps = '0',
    credits = '0',
    paidOut = '0',
    charges = '0',
  } = JSON.parse(text) as Readonly<Record<string, string>>;
  return {
    balance: BigInt(balance),
    topUps: BigInt(topUps),
    credits: BigInt(credits),
    paidOut: BigInt(paidOut),
    charges: BigInt(charges),
  };
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
