import type { Clock } from '../base/clock.ts';
import { randomText } from '../base/id.ts';
import type { Nano } from '../base/money.ts';
import type { Database, Migration, Row, Script } from '../storage/database.ts';
import { check, type Problem } from './check.ts';
import { integerOrZero } from './scripts/read.ts';

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
];

export type RuleState = 'waiting' | 'running' | 'ok' | 'failed';

export interface CheckedRule {
  readonly rule: string;
  readonly state: RuleState;
  readonly problems: readonly Problem['row'][];
}

/** Where customers' money came from and went: balance = topUps + credits − paidOut − charges. */
export interface MoneySums {
  readonly balance: Nano;
  readonly topUps: Nano;
  /** The operator's credits less his debits. */
  readonly credits: Nano;
  readonly paidOut: Nano;
  /** Charges less those paid back. */
  readonly charges: Nano;
}

/** A proof of the ledger that runs, ran, or was lost with its process. Times are wall clock, ms. */
export interface RecordedCheck {
  readonly id: string;
  readonly startedAt: number;
  readonly tookMs: number | undefined;
  /** Undefined while it runs, and for ever of one that was lost. */
  readonly ok: boolean | undefined;
  readonly running: boolean;
  readonly accounts: number;
  readonly transfers: number;
  readonly holds: number;
  readonly rules: readonly CheckedRule[];
  readonly sums: MoneySums | undefined;
}

const aliveEveryMs = 5_000;
const lostAfterMs = 30_000;
const checksKept = 200;

/**
 * Begins a proof, unless one runs on some node; gives the id of the one that does. It goes on
 * whoever looks.
 */
export async function startCheck(
  database: Database,
  clock: Clock,
  others: Readonly<Record<string, string>>,
): Promise<string> {
  const id = `chk_${clock.now().toString(36).padStart(9, '0')}${randomText(13)}`;
  const running = await database.transact(() => begin(id, clock.now()));
  if (running !== id) return running;
  void run(database, clock, others, id);
  return id;
}

function* begin(id: string, now: number): Script<string> {
  // Who begins holds this row, so that two never do at once.
  yield {
    sql: "INSERT INTO change (topic, version) VALUES ('ledger-check', 1) ON CONFLICT (topic) DO UPDATE SET version=change.version+1",
    params: [],
  };
  const [other] = yield {
    sql: 'SELECT id FROM ledger_check WHERE ok IS NULL AND seen_at>$1 LIMIT 1',
    params: [now - lostAfterMs],
  };
  if (other !== undefined) return String(other['id']);
  yield {
    sql: "INSERT INTO ledger_check (id, started_at, seen_at, rules) VALUES ($1, $2, $2, '[]')",
    params: [id, now],
  };
  yield {
    sql: `DELETE FROM ledger_check WHERE id<=(SELECT id FROM ledger_check ORDER BY id DESC LIMIT 1 OFFSET ${checksKept})`,
    params: [],
  };
  return id;
}

async function run(
  database: Database,
  clock: Clock,
  others: Readonly<Record<string, string>>,
  id: string,
): Promise<void> {
  const begun = clock.monotonicMs();
  let rules: readonly CheckedRule[] = [];
  let writing: Promise<unknown> = Promise.resolve();
  const write = (): void => {
    const said = [clock.now(), JSON.stringify(rules), id];
    writing = writing
      .then(() => database.query('UPDATE ledger_check SET seen_at=$1, rules=$2 WHERE id=$3', said))
      .catch(() => undefined);
  };
  const alive = setInterval(write, aliveEveryMs).unref();
  try {
    const report = await check(database, others, (told) => {
      rules = told;
      write();
    });
    const sums = await database.snapshot(moneySums);
    await writing;
    await database.query(
      'UPDATE ledger_check SET ok=$1, took_ms=$2, accounts=$3, transfers=$4, holds=$5, sums=$6, rules=$7, seen_at=$8 WHERE id=$9',
      [
        ...[
          report.ok ? 1 : 0,
          Math.round(clock.monotonicMs() - begun),
          report.accounts,
          report.transfers,
          report.holds,
        ],
        ...[sumsText(sums), JSON.stringify(rules), clock.now(), id],
      ],
    );
  } catch {
    // The database went away: the proof is lost, and says so by its silence.
  } finally {
    clearInterval(alive);
  }
}

const total = (which: string) => `(SELECT COALESCE(SUM(amount), 0) FROM transfer WHERE ${which})`;

function* moneySums(): Script<MoneySums> {
  const [row] = yield {
    sql: `SELECT
      (SELECT COALESCE(SUM(credits-debits), 0) FROM account WHERE kind='user')-(SELECT COALESCE(SUM(f.spent), 0) FROM till_float f JOIN account a ON a.id=f.account WHERE a.kind='user') AS balance,
      ${total("debit LIKE 'wallet:%'")} AS top_ups, ${total("debit='grants'")}-${total("credit='grants'")} AS credits,
      ${total("credit LIKE 'wallet:%'")} AS paid_out, ${total("credit='revenue'")}-${total("debit='revenue'")} AS charges`,
    params: [],
  };
  const of = (name: string): Nano => integerOrZero(row, name);
  return {
    balance: of('balance'),
    topUps: of('top_ups'),
    credits: of('credits'),
    paidOut: of('paid_out'),
    charges: of('charges'),
  };
}

const sumsText = (sums: MoneySums): string =>
  JSON.stringify(sums, (_name, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );

/** The latest first. */
export async function recordedChecks(
  database: Database,
  now: number,
  limit: number,
): Promise<readonly RecordedCheck[]> {
  const rows = await database.query('SELECT * FROM ledger_check ORDER BY id DESC LIMIT $1', [
    limit,
  ]);
  return rows.map((row) => checkOf(row, now));
}

export async function recordedCheck(
  database: Database,
  id: string,
  now: number,
): Promise<RecordedCheck | undefined> {
  const [row] = await database.query('SELECT * FROM ledger_check WHERE id=$1', [id]);
  return row && checkOf(row, now);
}

function checkOf(row: Row, now: number): RecordedCheck {
  const { ok = null, took_ms: took = null, sums = null } = row;
  return {
    id: String(row['id']),
    startedAt: Number(row['started_at']),
    tookMs: took === null ? undefined : Number(took),
    ok: ok === null ? undefined : ok === 1n,
    running: ok === null && Number(row['seen_at']) > now - lostAfterMs,
    accounts: Number(row['accounts']),
    transfers: Number(row['transfers']),
    holds: Number(row['holds']),
    // Written by `run`.
    rules: JSON.parse(String(row['rules'])) as readonly CheckedRule[],
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
