import pg from 'pg';
import { Semaphore } from '../base/semaphore.ts';
import {
  DatabaseError,
  type Procedures,
  type Row,
  type Transaction,
  type SqlValue,
  type Statement,
  type DatabaseErrorKind,
} from './database.ts';
import {
  runTransaction,
  type Engine,
  type TransactionMode,
  type EngineTransaction,
} from './engine.ts';

export interface PostgresOptions {
  /** The most connections of this process. */
  readonly connectionsMax?: number;
}

const connectionsMaxDefault = 10;
/** Connections that long reads leave to everything else: a slow page must delay no charge. */
const connectionsKept = 3;
const connectTimeoutMs = 5_000;
/** The server gives up on a statement after this. */
const statementTimeoutMs = 10_000;
const lockTimeoutMs = 5_000;
/**
 * A process that stalls inside a transaction keeps its locks no longer than this: other processes
 * give it up after fifteen seconds, and may need the locks for that.
 */
const idleInTransactionTimeoutMs = 10_000;
/** The client gives up after this on a server that answers nothing, not even that it timed out. */
const replyTimeoutMs = statementTimeoutMs + 2_000;
/**
 * The same for statements without a timeout: longer than any of Tollgate's, shorter than the system
 * keeps a connection whose server has vanished.
 */
const noTimeoutReplyMs = 3_600_000;
/** Texts that each connection keeps prepared; the rest are parsed each time. */
const preparedMax = 500;

const view = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';
const begin = { write: 'BEGIN', read: view, 'brief read': view } as const;

/**
 * The text of each type → what `Row` promises. Types not listed stay text. Sums of BIGINT are
 * NUMERIC, and whole.
 */
const parsers = new Map<number, (text: string) => SqlValue>([
  [pg.types.builtins.BOOL, (text) => (text === 't' ? 1n : 0n)],
  [pg.types.builtins.INT2, BigInt],
  [pg.types.builtins.INT4, BigInt],
  [pg.types.builtins.INT8, BigInt],
  [pg.types.builtins.FLOAT4, Number],
  [pg.types.builtins.FLOAT8, Number],
  [pg.types.builtins.NUMERIC, (text) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text))],
]);
const asText = (text: string): string => text;
const types = { getTypeParser: (type: number) => parsers.get(type) ?? asText };

/**
 * Texts of PostgreSQL hold every character but U+0000
 * (postgresql.org/docs/current/datatype-character.html), and a statement with one fails. A name
 * with one, from a client or a vendor, must not fail a statement: it is stored, and searched, with
 * a replacement character.
 */
const storable = (value: SqlValue): SqlValue =>
  typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;

/** Resumes a script that has already yielded `first`. */
function* resumed(script: Transaction<unknown>, first: Statement): Transaction<unknown> {
  let step = script.next(yield first);
  while (!step.done) step = script.next(yield step.value);
  return step.value;
}

/** PostgreSQL over a pool. */
export class PostgresEngine implements Engine {
  readonly dialect = 'postgres';
  readonly #pool: pg.Pool;
  readonly #procedures: Procedures;
  readonly #names = new Map<string, string>();
  readonly #longReads: Semaphore;

  constructor(url: string, procedures: Procedures, options: PostgresOptions) {
    const { connectionsMax = connectionsMaxDefault } = options;
    this.#procedures = procedures;
    this.#longReads = new Semaphore(Math.max(1, connectionsMax - connectionsKept));
    this.#pool = new pg.Pool({
      connectionString: url,
      application_name: 'tollgate',
      max: connectionsMax,
      connectionTimeoutMillis: connectTimeoutMs,
      statement_timeout: statementTimeoutMs,
      lock_timeout: lockTimeoutMs,
      idle_in_transaction_session_timeout: idleInTransactionTimeoutMs,
      query_timeout: replyTimeoutMs,
      // Compiling a statement with many parts takes the server longer than running it.
      options: '-c jit=off',
      keepAlive: true,
      types,
    });
    // A connection that breaks fails its statement, or is dropped when idle. The event needs no
    // handling, but without a listener it kills the process.
    this.#pool.on('error', () => undefined);
    this.#pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /**
   * A commit must be on disk when it is reported: throws a `DatabaseError` when the server is
   * configured to promise less.
   */
  async requireDurableCommits(): Promise<void> {
    const [row] = await this.run({ sql: 'SHOW synchronous_commit', params: [] });
    const setting = row?.['synchronous_commit'];
    if (setting !== 'off') return;
    throw new DatabaseError(
      'other',
      'PostgreSQL runs with synchronous_commit=off, so a crash would lose charges that were already answered. Set it to on.',
    );
  }

  async run(statement: Statement): Promise<readonly Row[]> {
    const client = await this.#checkOut();
    try {
      const result = await this.#execute(client, statement);
      client.release();
      return result;
    } catch (error) {
      client.release(isFatal(error));
      throw postgresError(error, 'unknown');
    }
  }

  async begin(mode: TransactionMode): Promise<EngineTransaction> {
    const isLong = mode === 'read';
    if (isLong) await this.#enterLongReads();
    const leave = (): void => {
      if (isLong) this.#longReads.leave();
    };
    let client: pg.PoolClient;
    try {
      client = await this.#checkOut();
    } catch (error) {
      leave();
      throw error;
    }
    const giveBack = (broken: boolean): void => {
      client.release(broken);
      leave();
    };
    try {
      await client.query(begin[mode]);
    } catch (error) {
      giveBack(true);
      throw postgresError(error, 'busy');
    }
    const execute = (statement: Statement, noTimeout: boolean) =>
      this.#execute(client, statement, noTimeout);
    return new PostgresTransaction(client, execute, giveBack);
  }

  async call(name: string, input: unknown): Promise<unknown> {
    const procedure = this.#procedures[name];
    if (procedure === undefined)
      throw new DatabaseError('other', `there is no procedure '${name}'`);
    // `Procedures` forgets the input's type; `Database.call` is where it is stated.
    const script = procedure(input as never);
    let step = script.next();
    while (!step.done && step.value.autocommit) step = script.next(await this.run(step.value));
    if (step.done) return step.value;
    const first = step.value;
    return runTransaction(await this.begin('write'), () => resumed(script, first));
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #enterLongReads(): Promise<void> {
    try {
      await this.#longReads.enter(AbortSignal.timeout(connectTimeoutMs));
    } catch (error) {
      throw new DatabaseError('busy', 'other long reads take all connections that these may take', {
        cause: error,
      });
    }
  }

  async #checkOut(): Promise<pg.PoolClient> {
    try {
      return await this.#pool.connect();
    } catch (error) {
      throw postgresError(error, 'busy');
    }
  }

  async #execute(
    client: pg.PoolClient,
    { sql, params }: Statement,
    noTimeout = false,
  ): Promise<readonly Row[]> {
    const name = this.#name(sql);
    const { rows } = await client.query<Row>({
      text: sql,
      values: params.map(storable),
      ...(name !== undefined && { name }),
      ...(noTimeout && { query_timeout: noTimeoutReplyMs }),
    });
    return rows;
  }

  #name(sql: string): string | undefined {
    const known = this.#names.get(sql);
    if (known !== undefined || this.#names.size >= preparedMax) return known;
    const name = `t${this.#names.size}`;
    this.#names.set(sql, name);
    return name;
  }
}

class PostgresTransaction implements EngineTransaction {
  readonly #client: pg.PoolClient;
  readonly #execute: (statement: Statement, noTimeout: boolean) => Promise<readonly Row[]>;
  readonly #giveBack: (broken: boolean) => void;
  #broken = false;
  /** Its statements have no timeout. */
  #noTimeout = false;

  constructor(
    client: pg.PoolClient,
    execute: (statement: Statement, noTimeout: boolean) => Promise<readonly Row[]>,
    giveBack: (broken: boolean) => void,
  ) {
    this.#client = client;
    this.#execute = execute;
    this.#giveBack = giveBack;
  }

  run(statement: Statement): Promise<readonly Row[]> {
    this.#noTimeout ||= statement.noTimeout === true;
    return this.#guarded(this.#execute(statement, this.#noTimeout), 'busy');
  }

  commit(): Promise<void> {
    return this.#finish('COMMIT');
  }

  rollback(): Promise<void> {
    return this.#finish('ROLLBACK');
  }

  async #finish(how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    try {
      const { command } = await this.#guarded(this.#client.query(how), 'unknown');
      // The server answers a COMMIT of a failed transaction with ROLLBACK, and no error.
      if (how !== command)
        throw new DatabaseError('busy', 'the transaction had failed and was rolled back');
    } finally {
      this.#giveBack(this.#broken);
    }
  }

  async #guarded<T>(work: Promise<T>, lost: 'unknown' | 'busy'): Promise<T> {
    try {
      return await work;
    } catch (error) {
      this.#broken ||= isFatal(error);
      throw postgresError(error, lost);
    }
  }
}

/**
 * By SQLSTATE, the longer prefix first:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html.
 */
const kinds: readonly (readonly [prefix: string, kind: DatabaseErrorKind])[] = [
  ['0A000', 'busy'], // "cached plan must not change result type", after another node migrated
  ['22', 'constraint'], // data exceptions: out of range, division by zero
  ['23', 'constraint'],
  ['25006', 'busy'], // read-only transaction: the old primary after a failover
  ['40003', 'unknown'], // statement completion unknown
  ['40', 'busy'], // serialization failure, deadlock
  ['53', 'busy'], // out of memory, disk or connections
  ['54', 'constraint'], // program limits: an index entry, a row or a statement too large
  ['55P03', 'busy'], // lock not available in time
  ['57014', 'busy'], // cancelled by statement_timeout: the server says that it did not happen
  ['57P03', 'busy'], // cannot connect now
  ['57P', 'unknown'], // terminated by an administrator, a crash or a shutdown
  ['08', 'unknown'],
  ['58', 'unknown'], // system errors
];

const checkViolation = '23514';

interface ServerError extends Error {
  readonly code: string;
  readonly constraint?: string;
  readonly severity: string;
}

/**
 * Whether the server itself reported the error, rather than a broken connection or a client that
 * gave up waiting.
 */
function isServerError(error: unknown): error is ServerError {
  return (
    error instanceof Error &&
    'severity' in error &&
    'code' in error &&
    typeof error.code === 'string'
  );
}

/**
 * Statements that fail with one of these on one connection succeed on a new one: its plans are
 * outdated, or it leads to a demoted primary, which keeps its connections.
 */
const fatalCodes: readonly string[] = ['0A000', '25006'];

/**
 * After such an error the connection is out of step, outdated, or gone, and must not be used again.
 */
function isFatal(error: unknown): boolean {
  return !isServerError(error) || error.severity !== 'ERROR' || fatalCodes.includes(error.code);
}

/**
 * `lost` is what a broken connection means for the statement: `unknown`, or `busy` where nothing
 * can have been committed yet.
 */
function postgresError(error: unknown, lost: 'unknown' | 'busy'): DatabaseError {
  const message =
    error instanceof Error
      ? error.message || ('code' in error ? String(error.code) : error.name)
      : String(error);
  let kind: DatabaseErrorKind = lost;
  if (isServerError(error)) {
    kind = kinds.find(([prefix]) => error.code.startsWith(prefix))?.[1] ?? 'other';
    // Without a constraint's name it is a partition's: one was attached under the statement, which
    // finds the right one next time.
    if (error.code === checkViolation && error.constraint === undefined) kind = 'busy';
    if (kind === 'unknown') kind = lost;
  }
  return new DatabaseError(kind, message, { cause: error });
}
