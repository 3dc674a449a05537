/**
 * A value of SQL. Integers come out as bigint, always, from both databases. Booleans are 0 and 1.
 */
export type SqlValue = string | bigint | number | null;
export type Row = Readonly<Record<string, SqlValue>>;

/** One statement; placeholders are `$1`, `$2`, … on both databases. */
export interface Statement {
  readonly sql: string;
  readonly params: readonly SqlValue[];
  /**
   * PostgreSQL only: statements so marked that a procedure yields before any other are committed
   * one by one, in one round trip each, and BEGIN waits for the first unmarked one. SQLite runs
   * every procedure as one transaction and ignores the mark.
   */
  readonly autocommit?: true;
  /**
   * PostgreSQL only: the client waits long for this statement of a transaction and for those after
   * it (`noTimeoutStatement`).
   */
  readonly noTimeout?: true;
}

/**
 * A transaction's body: yields statements, receives their rows, returns its result. A generator,
 * because the same text then runs statement by statement over the network (PostgreSQL) and in one
 * go inside SQLite's thread, with no await between statements there.
 */
export type Transaction<T> = Generator<Statement, T, readonly Row[]>;

/**
 * A named script that lives where the database runs: `call` sends only its input. Input and output
 * must survive structured clone.
 */
export type Procedures = Readonly<Record<string, (input: never) => Transaction<unknown>>>;

/**
 * How a statement failed. `constraint` is deterministic (these very values will never be taken, so
 * resending cannot help); `unknown` means that it may or may not have been committed (lost
 * connection, timeout); `busy` that it certainly was not and may be sent again (lock, full disk, no
 * connection to be had); `gone` that the database's file was removed or replaced: the commits of
 * the file that is still open are lost, unless it is put back.
 */
export type DatabaseErrorKind = 'constraint' | 'unknown' | 'busy' | 'gone' | 'other';

export class DatabaseError extends Error {
  readonly kind: DatabaseErrorKind;
  constructor(kind: DatabaseErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/**
 * Whether the same may work in a moment: the database is away or overloaded. Everything else that a
 * statement throws is a bug.
 */
export const isAway = (error: unknown): error is DatabaseError =>
  error instanceof DatabaseError &&
  (error.kind === 'busy' || error.kind === 'unknown' || error.kind === 'gone');

/**
 * Whether sending the same again would fail the same way: the database refused these very rows, or
 * a script of Tollgate failed on them. Every other error (a connection, a password, a missing
 * table) leaves the outcome unknown or has another cause, and the call is sent again (R3).
 */
export function isFinal(error: unknown): boolean {
  return !(error instanceof DatabaseError) || error.kind === 'constraint';
}

export interface Database {
  readonly dialect: 'sqlite' | 'postgres';
  /** One statement, autocommitted. */
  query(sql: string, params?: readonly SqlValue[]): Promise<readonly Row[]>;
  /**
   * Runs the script in one transaction (SQLite: BEGIN IMMEDIATE; PostgreSQL: READ COMMITTED).
   * Throws what the script throws, after a rollback.
   */
  transact<T>(script: () => Transaction<T>): Promise<T>;
  /**
   * Like `transact` with a REPEATABLE READ, read-only snapshot. `brief`: it takes milliseconds, for
   * which charges may wait, so that SQLite needs no second thread.
   */
  snapshot<T>(script: () => Transaction<T>, length?: 'brief'): Promise<T>;
  /** Runs a registered procedure in one transaction, where the database lives (SQLite's thread). */
  call<Input, Output>(procedure: string, input: Input): Promise<Output>;
  close(): Promise<void>;
}

/**
 * A step of the schema: the same text for both databases, or one for each. Forward only; ids sort
 * by room and number, e.g. `0002-ledger`.
 */
export interface Migration {
  readonly id: string;
  readonly statements: readonly (string | { readonly sqlite: string; readonly postgres: string })[];
}
