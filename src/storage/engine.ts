import type { Row, Transaction, Statement } from './database.ts';

/**
 * `write`: BEGIN IMMEDIATE or READ COMMITTED · `read`: one unchanging view, writes refused · `brief
 * read`: the same, on the connection that writes.
 */
export type TransactionMode = 'write' | 'read' | 'brief read';

/**
 * One open transaction. `commit` and `rollback` end it and give its connection back, whatever they
 * throw.
 */
export interface EngineTransaction {
  run(statement: Statement): Promise<readonly Row[]>;
  commit(): Promise<void>;
  rollback(): Promise<void>;
}

/** The base of `Database`; one for each kind of database. */
export interface Engine {
  readonly dialect: 'sqlite' | 'postgres';
  /** One statement, autocommitted. */
  run(statement: Statement): Promise<readonly Row[]>;
  begin(mode: TransactionMode): Promise<EngineTransaction>;
  call(procedure: string, input: unknown): Promise<unknown>;
  close(): Promise<void>;
}

/**
 * Runs a script to its end inside the session, which is committed, or rolled back when anything
 * throws.
 */
export async function runTransaction<T>(
  session: EngineTransaction,
  script: () => Transaction<T>,
): Promise<T> {
  let result: T;
  try {
    const steps = script();
    let step = steps.next();
    while (!step.done) step = steps.next(await session.run(step.value));
    result = step.value;
  } catch (error) {
    await session.rollback().catch(() => undefined);
    throw error;
  }
  await session.commit();
  return result;
}
