import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { SqlValue, Statement } from './database.ts';
import type { Engine, StatementResult, EngineTransaction } from './engine.ts';

/**
 * Outside a transaction it only passes queries to the engine, so that they never wait for a
 * connection.
 */
class Connection implements DatabaseConnection {
  readonly #engine: Engine;
  session: EngineTransaction | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async executeQuery<R>({ sql, parameters, query }: CompiledQuery): Promise<QueryResult<R>> {
    // Kysely knows its queries' parameter and row types at compile time only.
    const statement: Statement = { sql, params: parameters as readonly SqlValue[] };
    const { rows, changes } = await this.#run(statement, query.kind === 'SelectQueryNode');
    return { rows: [...rows] as R[], numAffectedRows: changes };
  }

  streamQuery<R>(): AsyncIterableIterator<QueryResult<R>> {
    throw new Error('queries are not streamed: page by key');
  }

  #run(statement: Statement, reads: boolean): Promise<StatementResult> {
    if (this.session !== undefined) return this.session.run(statement);
    return reads ? this.#engine.read(statement) : this.#engine.run(statement, false);
  }
}

class EngineDriver implements Driver {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<Connection> {
    return new Connection(this.#engine);
  }

  async beginTransaction(connection: Connection): Promise<void> {
    connection.session = await this.#engine.begin('write');
  }

  async commitTransaction(connection: Connection): Promise<void> {
    await connection.session?.commit();
  }

  async rollbackTransaction(connection: Connection): Promise<void> {
    await connection.session?.rollback();
  }

  async releaseConnection(connection: Connection): Promise<void> {
    connection.session = undefined;
  }

  async destroy(): Promise<void> {}
}

/** The engine's queries through kysely; rows hold what `Row` says. */
export function kyselyOver(engine: Engine): Kysely<unknown> {
  const sqlite = engine.dialect === 'sqlite';
  const dialect: Dialect = {
    createDriver: () => new EngineDriver(engine),
    createQueryCompiler: () => (sqlite ? new SqliteQueryCompiler() : new PostgresQueryCompiler()),
    createAdapter: () => (sqlite ? new SqliteAdapter() : new PostgresAdapter()),
    createIntrospector: (kysely) =>
      sqlite ? new SqliteIntrospector(kysely) : new PostgresIntrospector(kysely),
  };
  return new Kysely({ dialect });
}
