import { type Clock, systemClock } from '../base/clock.ts';
import type { Database, Migration, Script } from './database.ts';

/** Any constant will do, as long as it stays the same: it makes the nodes of one deployment migrate one after the other. */
const advisoryLock = 7_461_003_919n;

/**
 * Brings the schema up to date: runs what has not been run, in the order of the ids, in one transaction. Safe to start from many processes
 * at once: one of them does it while the others wait. Returns the ids that it ran.
 */
export function migrate(database: Database, migrations: readonly Migration[], clock: Clock = systemClock): Promise<readonly string[]> {
  return database.transact(() => run(database.dialect, migrations, clock));
}

function* run(dialect: Database['dialect'], migrations: readonly Migration[], clock: Clock): Script<readonly string[]> {
  if (dialect === 'postgres') {
    yield { sql: 'SET LOCAL statement_timeout = 0', params: [] };
    yield { sql: 'SET LOCAL lock_timeout = 0', params: [] };
    yield { sql: 'SELECT pg_advisory_xact_lock($1)', params: [advisoryLock] };
  }
  yield { sql: textFor(dialect, 'CREATE TABLE IF NOT EXISTS migration (id TEXT PRIMARY KEY, applied_at BIGINT NOT NULL)'), params: [] };
  const applied = new Set((yield { sql: 'SELECT id FROM migration', params: [] }).map((row) => row['id']));
  const missing = migrations.filter(({ id }) => !applied.has(id)).sort((a, b) => (a.id < b.id ? -1 : 1));
  for (const { id, statements } of missing) {
    for (const statement of statements) {
      const sql = textFor(dialect, typeof statement === 'string' ? statement : statement[dialect]);
      if (sql !== '') yield { sql, params: [] };
    }
    yield { sql: 'INSERT INTO migration (id, applied_at) VALUES ($1, $2)', params: [id, clock.now()] };
  }
  return missing.map(({ id }) => id);
}

/**
 * SQLite's tables are STRICT, where BIGINT is called INTEGER, and lie in the order of their primary key: a table beside an index on its key
 * would be two trees to write for every row. An empty text means that a database needs no such step.
 */
function textFor(dialect: Database['dialect'], sql: string): string {
  if (dialect === 'postgres') return sql;
  const text = sql.replace(/\bBIGINT\b/g, 'INTEGER');
  if (!/^\s*CREATE TABLE\b/i.test(text)) return text;
  return /\bPRIMARY KEY\b/i.test(text) ? `${text} STRICT, WITHOUT ROWID` : `${text} STRICT`;
}
