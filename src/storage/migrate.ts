import { type Clock, systemClock, pause, systemTimers, type Timers } from '../base/clock.ts';
import { type Random, systemRandom } from '../base/random.ts';
import {
  type Database,
  type DatabaseError,
  isAway,
  type Migration,
  type Transaction,
} from './database.ts';
import { noTimeoutStatement } from './sql.ts';

/**
 * Any constant will do, as long as it stays the same: it makes the nodes of one deployment migrate
 * one after the other.
 */
const advisoryLock = 7_461_003_919n;
/**
 * A migration that waits for a table blocks every later statement on it, so it does not wait for
 * long: traffic goes first, and the migration is retried.
 */
const lockTimeoutMs = 1_500;
const pauseMs = { first: 200, max: 3_000 };
/** If traffic leaves no gap for this long, the migration fails, so that the operator looks. */
const giveUpMs = 120_000;

export interface MigrateOptions {
  readonly clock?: Clock;
  readonly random?: Random;
  readonly timers?: Timers;
  /** The migration gave way to others, has changed nothing, and is retried after `pauseMs`. */
  readonly gaveWay?: (error: DatabaseError, pauseMs: number) => void;
  /**
   * Called before each migration with the number of those that ran, and of all that are missing.
   */
  readonly onStep?: (done: number, total: number) => void;
  /** Called with the ids of migrations that ran and are not among these: of a newer release. */
  readonly onNewer?: (ids: readonly string[]) => void;
}

/**
 * Brings the schema up to date: runs what has not been run, in the order of the ids, in one
 * transaction. Safe to start from many processes at once: one of them does it while the others
 * wait. Returns the ids that it ran. On PostgreSQL other transactions may use the tables: after a
 * deadlock, or a wait for a table, the migration is rolled back and retried, for two minutes at
 * most; then it throws the last error.
 */
export async function migrate(
  database: Database,
  migrations: readonly Migration[],
  options: MigrateOptions = {},
): Promise<readonly string[]> {
  const { clock = systemClock, random = systemRandom, timers = systemTimers, gaveWay } = options;
  const untilMs = clock.monotonicMs() + giveUpMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return await database.transact(() => run(database.dialect, migrations, clock, options));
    } catch (error) {
      // The transaction was rolled back, or the retry finds what was committed.
      if (database.dialect !== 'postgres' || !isAway(error) || clock.monotonicMs() > untilMs)
        throw error;
      const ms = Math.round(
        Math.min(pauseMs.max, pauseMs.first * 2 ** attempt) * (0.5 + random() / 2),
      );
      gaveWay?.(error, ms);
      await pause(timers, ms);
    }
  }
}

function* run(
  dialect: Database['dialect'],
  migrations: readonly Migration[],
  clock: Clock,
  { onStep, onNewer }: Pick<MigrateOptions, 'onStep' | 'onNewer'>,
): Transaction<readonly string[]> {
  if (dialect === 'postgres') {
    yield noTimeoutStatement;
    yield { sql: 'SET LOCAL lock_timeout = 0', params: [] };
    yield { sql: 'SELECT pg_advisory_xact_lock($1)', params: [advisoryLock] };
    yield { sql: `SET LOCAL lock_timeout = ${lockTimeoutMs}`, params: [] };
  }
  yield {
    sql: textFor(
      dialect,
      'CREATE TABLE IF NOT EXISTS migration (id TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)',
    ),
    params: [],
  };
  const applied = new Set(
    (yield { sql: 'SELECT id FROM migration', params: [] }).map((row) => row['id']),
  );
  const known = new Set<unknown>(migrations.map(({ id }) => id));
  const newer = [...applied].filter((id) => !known.has(id)).map(String);
  if (newer.length > 0) onNewer?.(newer.sort());
  const missing = migrations
    .filter(({ id }) => !applied.has(id))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const [index, { id, statements }] of missing.entries()) {
    onStep?.(index, missing.length);
    for (const statement of statements) {
      const sql = textFor(dialect, typeof statement === 'string' ? statement : statement[dialect]);
      if (sql !== '') yield { sql, params: [] };
    }
    yield {
      sql: 'INSERT INTO migration (id, applied_at) VALUES ($1, $2)',
      params: [id, clock.now()],
    };
  }
  return missing.map(({ id }) => id);
}

/**
 * SQLite's tables are STRICT, where BIGINT is called INTEGER, and lie in the order of their primary
 * key: a table beside an index on its key would be two trees to write for every row. An empty text
 * means that a database needs no such step.
 */
function textFor(dialect: Database['dialect'], sql: string): string {
  if (dialect === 'postgres') return sql;
  const text = sql.replace(/\bBIGINT\b/g, 'INTEGER');
  if (!/^\s*CREATE TABLE\b/i.test(text)) return text;
  return /\bPRIMARY KEY\b/i.test(text) ? `${text} STRICT, WITHOUT ROWID` : `${text} STRICT`;
}
