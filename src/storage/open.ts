import {
  type Database,
  DatabaseError,
  type Procedures,
  type Row,
  type Transaction,
  type SqlValue,
} from './database.ts';
import { runTransaction, type Engine } from './engine.ts';
import type { PostgresOptions } from './postgres.ts';
import { SqliteEngine, InlineLink, ThreadLink, type ThreadOptions } from './sqlite.ts';

export interface OpenOptions {
  /**
   * The procedures of `call`, unless SQLite runs in a thread: there the thread's entry file names
   * them.
   */
  readonly procedures?: Procedures;
  /**
   * Puts SQLite into a thread of its own, as a server must, and long reads into a second one (when
   * there are any). Without effect on PostgreSQL.
   */
  readonly thread?: ThreadOptions;
  readonly postgres?: PostgresOptions;
  /** False: a SQLite file that does not exist is an error of the kind `gone`. */
  readonly mayCreate?: boolean;
}

class EngineDatabase implements Database {
  readonly dialect: 'sqlite' | 'postgres';
  readonly call: Database['call'];
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.dialect = engine.dialect;
    this.call = engine.call.bind(engine) as Database['call'];
    this.#engine = engine;
  }

  query(sql: string, params: readonly SqlValue[] = []): Promise<readonly Row[]> {
    return this.#engine.run({ sql, params });
  }

  async transact<T>(script: () => Transaction<T>): Promise<T> {
    return runTransaction(await this.#engine.begin('write'), script);
  }

  async snapshot<T>(script: () => Transaction<T>, length?: 'brief'): Promise<T> {
    return runTransaction(await this.#engine.begin(length ? 'brief read' : 'read'), script);
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

/**
 * Opens `sqlite:/path/file.db` (created when there is none), `sqlite::memory:` or
 * `postgres://user@host/name`. Throws a `DatabaseError` when the database cannot be reached or
 * would not keep its promises.
 */
export async function open(url: string, options: OpenOptions = {}): Promise<Database> {
  const path = sqlitePath(url);
  const engine = path === undefined ? await openPostgres(url, options) : openSqlite(path, options);
  try {
    await engine.run({ sql: 'SELECT 1', params: [] });
  } catch (error) {
    await engine.close().catch(() => undefined);
    throw error;
  }
  return new EngineDatabase(engine);
}

/** The path in a SQLite URL, `:memory:` for a database in memory; undefined for PostgreSQL. */
export const sqlitePath = (url: string): string | undefined =>
  url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined;

function openSqlite(path: string, options: OpenOptions): Engine {
  const { procedures = {}, thread, mayCreate = true } = options;
  if (thread === undefined) return new SqliteEngine(new InlineLink(path, procedures, mayCreate));
  // In memory, each connection would be a database of its own.
  return new SqliteEngine(
    new ThreadLink(path, thread, mayCreate),
    path === ':memory:' ? undefined : new ThreadLink(path, thread, false),
  );
}

async function openPostgres(url: string, options: OpenOptions): Promise<Engine> {
  if (!/^postgres(ql)?:\/\//.test(url))
    throw new DatabaseError(
      'other',
      `a database address begins with sqlite: or postgres://, not '${url.split(':')[0]}:'`,
    );
  // Its client is loaded only where it is used.
  const { PostgresEngine } = await import('./postgres.ts');
  const engine = new PostgresEngine(url, options.procedures ?? {}, options.postgres ?? {});
  try {
    await engine.requireDurableCommits();
  } catch (error) {
    await engine.close();
    throw error;
  }
  return engine;
}
