import { dayMs, dayOf } from '../base/calendar.ts';
import type { Clock } from '../base/clock.ts';
import { type Nano, nanoPerYuan } from '../base/money.ts';
import { orderedId } from '../base/random.ts';
import { bump } from '../storage/changes.ts';
import type { Database, Migration, Row, Transaction } from '../storage/database.ts';
import { type OnError, repeat, type Repeated, WorkOutcomes } from '../storage/repeat.ts';
import {
  integerColumn,
  noStatementTimeout,
  optionalInteger,
  optionalNumber,
  optionalText,
} from '../storage/sql.ts';
import { check, type RuleResult } from './check.ts';

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
      // 1: begun by the gateway itself, once a night (`keepLedgerChecked`).
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
  const id = orderedId('chk_', clock.now());
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
  const id = orderedId('chk_', clock.now());
  const begun = await database.transact(function* (): Transaction<boolean> {
    if ((yield* runningCheck(clock.now())) !== undefined || (yield* isNightProved(night)))
      return false;
    yield* begin(id, clock.now(), true);
    return true;
  });
  if (begun) void run(database, clock, others, id, onError);
  return begun ? id : undefined;
}

/** Four in the morning, by the offset by which limits count days. */
const nightMs = 4 * 3_600_000;
const nightlyLookMs = 600_000;

/** When the last night began, wall clock, ms. */
export function lastNight(now: number, utcOffsetMinutes: number): number {
  const night = dayOf(now, utcOffsetMinutes).from + nightMs;
  return night <= now ? night : night - dayMs;
}

/**
 * Proves the ledger once a night, on one of the nodes. A node that was down at that hour, and a new
 * installation, prove it within ten minutes.
 */
export function keepLedgerChecked(
  database: Database,
  clock: Clock,
  others: Readonly<Record<string, string>>,
  utcOffsetMinutes: number,
  onError: OnError,
): Repeated {
  const look = () => {
    const night = lastNight(clock.now(), utcOffsetMinutes);
    return startNightlyCheck(database, clock, others, night, onError);
  };
  return repeat(
    'nightly proof of the ledger',
    look,
    { firstMs: nightlyLookMs, everyMs: nightlyLookMs },
    onError,
  );
}

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

/** Written as texts: JSON has no integers of this size. */
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
  const ok = optionalInteger(row, 'ok');
  const sums = optionalText(row, 'sums');
  return {
    id: String(row['id']),
    startedAt: Number(row['started_at']),
    tookMs: optionalNumber(row, 'took_ms'),
    ok: ok === undefined ? undefined : ok === 1n,
    running: ok === undefined && Number(row['seen_at']) > now - lostAfterMs,
    nightly: row['nightly'] === 1n,
    accounts: Number(row['accounts']),
    transfers: Number(row['transfers']),
    holds: Number(row['holds']),
    // Written by `run`.
    rules: JSON.parse(String(row['rules'])) as readonly RuleResult[],
    sums: sums === undefined ? undefined : sumsOf(sums),
  };
}

/** Reads what `sumsText` has written. */
const sumsOf = (text: string): MoneySums =>
  JSON.parse(text, (_name, value: unknown) =>
    typeof value === 'string' ? BigInt(value) : value,
  ) as MoneySums;
