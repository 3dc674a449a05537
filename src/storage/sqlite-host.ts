import { statSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import type { Random } from '../base/random.ts';
import {
  DatabaseError,
  type Procedures,
  type Row,
  type Transaction,
  type SqlValue,
  type Statement,
} from './database.ts';
import type { TransactionMode } from './engine.ts';
import { SqliteConnection, isLocked } from './sqlite-connection.ts';

/**
 * What can be asked of the one who has the connection; plain data, because it may cross into a
 * thread.
 */
export type Job =
  | { readonly do: 'run' | 'step'; readonly sql: string; readonly params: readonly SqlValue[] }
  | { readonly do: 'call'; readonly procedure: string; readonly input: unknown }
  | { readonly do: 'begin'; readonly mode: TransactionMode }
  | { readonly do: 'commit' | 'rollback' | 'close' };

export const callOf = (procedure: string, input: unknown): Job => ({
  do: 'call',
  procedure,
  input,
});

const commit: Statement = { sql: 'COMMIT', params: [] };
const rollback: Statement = { sql: 'ROLLBACK', params: [] };
const dataVersion: Statement = { sql: 'PRAGMA data_version', params: [] };
const begin = {
  write: { sql: 'BEGIN IMMEDIATE', params: [] },
  read: { sql: 'BEGIN', params: [] },
} as const;

/** After another writer was noticed, this many of our transactions make room for it. */
const politeFor = 500;

/**
 * Does jobs on one connection, each at once and without waiting. A locked file is an error for
 * which `isLocked` is true, and nothing has happened.
 */
export class SqliteHost {
  readonly #connection: SqliteConnection;
  readonly #procedures: Procedures;
  readonly #path: string;
  readonly #clock: Clock;
  /** Undefined for a database in memory. */
  #file: FileWatch | undefined;
  #seenVersion: SqlValue | undefined;
  #polite = 0;
  #reading = false;

  constructor(path: string, procedures: Procedures, clock: Clock) {
    this.#connection = new SqliteConnection(path);
    this.#procedures = procedures;
    this.#path = path;
    this.#clock = clock;
  }

  configure(): void {
    this.#connection.configure();
    if (this.#path !== ':memory:') this.#file = new FileWatch(this.#path, this.#clock);
  }

  /**
   * Whether other writers were about lately: then whoever has just committed rests a moment, or the
   * others starve (till.md §6).
   */
  get crowded(): boolean {
    return this.#polite > 0;
  }

  metOthers(): void {
    this.#polite = politeFor;
  }

  /**
   * Throws instead of returning an outcome when the database's file is gone: its commits are lost.
   */
  perform(job: Job): unknown {
    const outcome = this.#perform(job);
    if (job.do === 'run' || job.do === 'call' || job.do === 'commit')
      this.#file?.requireUnchanged();
    return outcome;
  }

  #perform(job: Job): unknown {
    switch (job.do) {
      case 'run':
        return this.#connection.execute(job);
      case 'step':
        this.#needTransaction();
        return this.#connection.execute(job);
      case 'call':
        return this.#call(job.procedure, job.input);
      case 'begin':
        return this.#begin(job.mode);
      case 'commit':
      case 'rollback':
        return this.#end(job.do);
      case 'close':
        return this.#connection.close();
    }
  }

  #call(name: string, input: unknown): unknown {
    const procedure = this.#procedures[name];
    if (procedure === undefined)
      throw new DatabaseError('other', `there is no procedure '${name}'`);
    this.#begin('write');
    try {
      // `Procedures` forgets the input's type; `Database.call` is where it is stated.
      const script: Transaction<unknown> = procedure(input as never);
      let step = script.next();
      while (!step.done) step = script.next(this.#rows(step.value));
      this.#end('commit');
      return step.value;
    } catch (error) {
      this.#end('rollback');
      throw error;
    }
  }

  #begin(mode: TransactionMode): void {
    this.#connection.execute(begin[mode]);
    if (mode === 'read') this.#onlyRead(true);
    else this.#lookForOthers();
  }

  /**
   * Where it is not needed it is not said: each time, SQLite forgets all statements that it has
   * prepared.
   */
  #onlyRead(reading: boolean): void {
    this.#connection.execute({ sql: `PRAGMA query_only=${reading ? 1 : 0}`, params: [] });
    this.#reading = reading;
  }

  #end(how: 'commit' | 'rollback'): void {
    // SQLite ends a transaction by itself on some errors (full disk), so there may be nothing left
    // to roll back.
    if (how === 'commit') {
      this.#needTransaction();
      this.#connection.execute(commit);
    } else if (this.#connection.inTransaction) this.#connection.execute(rollback);
    if (this.#reading) this.#onlyRead(false);
    if (this.#polite > 0) this.#polite--;
  }

  /**
   * The transaction may have died with the thread that held it; a step must never commit on its
   * own.
   */
  #needTransaction(): void {
    if (!this.#connection.inTransaction) throw new DatabaseError('busy', 'the transaction is gone');
  }

  /** `data_version` changes when another connection has committed. */
  #lookForOthers(): void {
    const version = this.#rows(dataVersion)[0]?.['data_version'];
    if (this.#seenVersion !== undefined && version !== this.#seenVersion) this.metOthers();
    this.#seenVersion = version;
  }

  #rows(statement: Statement): readonly Row[] {
    return this.#connection.execute(statement).rows;
  }
}

/** How long a transaction waits for the file's lock before it fails as `busy`. */
export const lockWaitMsMax = 5_000;

/**
 * How long the winner rests after a commit when others wait, and how often the others look (till.md
 * §6: shares come out equal).
 */
export const restMs = 0.5;
const retryMs = { least: 0.1, spread: 0.2 };

/** One job's patience with a locked file. */
export class LockRetry {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #until: number;

  constructor(clock: Clock, random: Random) {
    this.#clock = clock;
    this.#random = random;
    this.#until = clock.monotonicMs() + lockWaitMsMax;
  }

  /**
   * Milliseconds to wait before the next try; throws `error` when it is not about a lock or
   * patience has ended.
   */
  pauseMs(error: unknown): number {
    if (!isLocked(error) || this.#clock.monotonicMs() >= this.#until) throw error;
    return retryMs.least + this.#random() * retryMs.spread;
  }
}

const inodeOf = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.ino;

/** The time between two checks. The commits of so short a time are few. */
export const checkEveryMs = 10;

/**
 * Notices that an open database file was removed or replaced. SQLite goes on taking commits then,
 * and all of them are lost. The check reads two inodes, at the first transaction and every few
 * milliseconds.
 */
class FileWatch {
  readonly #path: string;
  readonly #log: string;
  readonly #clock: Clock;
  readonly #inode: number | undefined;
  /**
   * Of the write-ahead log: SQLite creates it at the first transaction, and keeps it until the last
   * connection is closed.
   */
  #logInode: number | undefined;
  #checkedAtMs = Number.NEGATIVE_INFINITY;

  /** `path`: a file that is open now. */
  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
    this.#log = `${path}-wal`;
    this.#inode = inodeOf(path);
    this.#logInode = inodeOf(this.#log);
  }

  /**
   * Throws when the file or its log is no longer the one that was opened: the last commits may be
   * lost.
   */
  requireUnchanged(): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#checkedAtMs < checkEveryMs) return;
    if (inodeOf(this.#path) !== this.#inode)
      throw new DatabaseError('gone', fileGoneMessage(this.#path));
    const logInode = inodeOf(this.#log);
    this.#logInode ??= logInode;
    if (logInode !== this.#logInode) throw new DatabaseError('gone', fileGoneMessage(this.#log));
    this.#checkedAtMs = nowMs;
  }
}

function fileGoneMessage(path: string): string {
  return `the database file ${path} was removed or replaced while it is in use. No answer is delivered until the same file is back. If it is lost, stop the gateway, restore a backup and start again`;
}
