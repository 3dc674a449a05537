import assert from 'node:assert/strict';
import { existsSync, statSync, statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseSync } from '@photostructure/sqlite';
import { blockThread, type Clock, systemClock } from '../base/clock.ts';
import { deleteOldest } from '../base/delete-oldest.ts';
import { type Random, systemRandom } from '../base/random.ts';
import { messageOf } from '../base/thrown.ts';
import {
  DatabaseError,
  type Procedures,
  type Row,
  type Transaction,
  type SqlValue,
  type Statement,
  type DatabaseErrorKind,
} from './database.ts';
import type { TransactionMode } from './engine.ts';

/** A job for the owner of the connection; plain data, because it may cross into a thread. */
export type Job =
  | { readonly do: 'run' | 'step'; readonly sql: string; readonly params: readonly SqlValue[] }
  | { readonly do: 'call'; readonly procedure: string; readonly input: unknown }
  | { readonly do: 'begin'; readonly mode: TransactionMode }
  | { readonly do: 'commit' | 'rollback' | 'close' };

const commit: Statement = { sql: 'COMMIT', params: [] };
const rollback: Statement = { sql: 'ROLLBACK', params: [] };
const dataVersion: Statement = { sql: 'PRAGMA data_version', params: [] };
const begin = {
  write: { sql: 'BEGIN IMMEDIATE', params: [] },
  read: { sql: 'BEGIN', params: [] },
  'brief read': { sql: 'BEGIN', params: [] },
} as const;

/** After another writer was noticed, this many transactions of this process make room for it. */
const politeFor = 500;

/**
 * Does jobs on one connection, each at once and without waiting. A locked file is an error for
 * which `isLocked` is true, and the job has changed nothing.
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

  /** `mayCreate`: as in `SqliteConnection`. */
  constructor(path: string, procedures: Procedures, clock: Clock, mayCreate = true) {
    this.#connection = new SqliteConnection(path, mayCreate);
    this.#procedures = procedures;
    this.#path = path;
    this.#clock = clock;
  }

  configure(): void {
    this.#connection.configure();
    if (this.#path !== ':memory:') this.#file = new FileWatch(this.#path, this.#clock);
  }

  /**
   * Whether other writers were active lately: then this one rests a moment after each commit, or
   * the others starve.
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
      while (!step.done) step = script.next(this.#connection.execute(step.value));
      this.#end('commit');
      return step.value;
    } catch (error) {
      this.#end('rollback');
      throw error;
    }
  }

  #begin(mode: TransactionMode): void {
    this.#connection.execute(begin[mode]);
    if (mode === 'write') return this.#lookForOthers();
    if (mode === 'read') this.#connection.execute(cacheOfReads);
    this.#onlyRead(true);
  }

  /** Called only where needed: each time, SQLite discards all its prepared statements. */
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
    const version = this.#connection.execute(dataVersion)[0]?.['data_version'];
    if (this.#seenVersion !== undefined && version !== this.#seenVersion) this.metOthers();
    this.#seenVersion = version;
  }
}

/** How long a transaction waits for the file's lock before it fails as `busy`. */
const lockWaitMsMax = 5_000;

/** How long the winner rests after a commit when others wait, and how often the others retry. */
export const restMs = 0.5;
const retryMs = { least: 0.1, spread: 0.2 };

/** The retries of one job on a locked file. */
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
   * Milliseconds to wait before the next try; throws `error` when it is not about a lock or the
   * time is up.
   */
  pauseMs(error: unknown): number {
    if (!isLocked(error) || this.#clock.monotonicMs() >= this.#until) throw error;
    return retryMs.least + this.#random() * retryMs.spread;
  }
}

const inodeOf = (path: string): number | undefined =>
  statSync(path, { throwIfNoEntry: false })?.ino;

/** The time between two checks, in which few commits happen. */
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
   * The inode of the write-ahead log: SQLite creates the log at the first transaction, and keeps it
   * until the last connection is closed.
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

const statementsMax = 500;
/**
 * 8 MB of pages in memory for a connection with long reads, which also sorts in them. One that
 * charges has SQLite's own 2 MB, and takes no more processor time: the system keeps the file in
 * memory, too (decision 0028).
 */
const cacheOfReads: Statement = { sql: 'PRAGMA cache_size=-8192', params: [] };
/** A page of SQLite's default size, and the header of its frame in the log. */
const frameBytes = 4_096 + 24;
/**
 * A checkpoint for every 32 MB of log: a page that many commits touch is copied back once. On a
 * small volume, a checkpoint for every sixteenth of its free room, so that the log does not fill
 * it.
 */
const logBytes = { least: 1024 * 1024, most: 32 * 1024 * 1024, shareOfRoom: 16 };

type Connection = InstanceType<typeof DatabaseSync>;

interface Prepared {
  readonly statement: ReturnType<Connection['prepare']>;
  readonly returnsRows: boolean;
  /** The parameter of each `?`; undefined when they come in order. */
  readonly order: readonly number[] | undefined;
}

/** The part of the engine that is used, built in or packaged. */
interface SqliteModule {
  readonly DatabaseSync: typeof DatabaseSync;
  readonly StatementSync: { readonly prototype: object };
}

/**
 * The engine built into Node where it is complete (22.16 and later), else the package with the same
 * interface: the package's types describe both. Node announces its own as experimental with a
 * warning, which would stand in the output of every command.
 */
function engine(): typeof DatabaseSync {
  const { emitWarning } = process;
  process.emitWarning = () => undefined;
  try {
    const builtin = process.getBuiltinModule('node:sqlite') as SqliteModule | undefined;
    return builtin !== undefined && 'columns' in builtin.StatementSync.prototype
      ? builtin.DatabaseSync
      : packaged();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * The package is an optional dependency: where it is not built for the platform, a Node with its
 * own engine does not need it.
 */
function packaged(): typeof DatabaseSync {
  try {
    return (createRequire(import.meta.url)('@photostructure/sqlite') as SqliteModule).DatabaseSync;
  } catch (error) {
    const why = messageOf(error).split('\n', 1)[0];
    throw new DatabaseError(
      'other',
      `SQLite for Node ${process.versions.node} is not installed; Node 22.16 and later have their own (${why})`,
      {
        cause: error,
      },
    );
  }
}

/** Loaded with the first database: a gateway on PostgreSQL needs none. */
let found: typeof DatabaseSync | undefined;

/**
 * `$1`, `$2`, … become `?`, and their order is noted: numbered placeholders are bound by position
 * in some versions of the engine and by name in others. Quoted text is left alone.
 */
function positional(sql: string): {
  readonly sql: string;
  readonly order: readonly number[] | undefined;
} {
  const order: number[] = [];
  const text = sql.replace(
    /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\d+)/g,
    (match: string, digits: string | undefined) => {
      if (digits === undefined) return match;
      order.push(Number(digits) - 1);
      return '?';
    },
  );
  return {
    sql: text,
    order: order.every((parameter, position) => parameter === position) ? undefined : order,
  };
}

/**
 * The engine binds every JavaScript number as a float, which is not what `LIMIT 10` or a division
 * of integers means.
 */
function parameterOf(value: SqlValue): SqlValue {
  return typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
}

/**
 * One synchronous connection: WAL, durable at commit, foreign keys checked, never waiting for a
 * lock on its own. Throws `DatabaseError`.
 */
export class SqliteConnection {
  readonly #connection: Connection;
  readonly #prepared = new Map<string, Prepared>();
  readonly #path: string;

  /**
   * `path` is a file or `:memory:`. Without `mayCreate`, a file that does not exist is an error of
   * the kind `gone`. Until `configure` has succeeded the connection must not be used.
   */
  constructor(path: string, mayCreate = true) {
    const Engine = (found ??= engine());
    this.#path = path;
    try {
      this.#connection = new Engine(mayCreate || path === ':memory:' ? path : existing(path));
    } catch (error) {
      if (!mayCreate && !existsSync(path)) throw new DatabaseError('gone', fileGoneMessage(path));
      throw sqliteError(error);
    }
  }

  /** May fail as locked while another process opens the same new file; then call it again. */
  configure(): void {
    // SQLite's own `LOWER` knows the letters A to Z alone.
    this.#connection.function('lower', { deterministic: true }, (text: SqlValue) =>
      typeof text === 'string' ? text.toLowerCase() : text,
    );
    const bytes = this.#path === ':memory:' ? logBytes.most : logBytesFor(dirname(this.#path));
    const log = [
      `wal_autocheckpoint=${Math.floor(bytes / frameBytes)}`,
      `journal_size_limit=${bytes}`,
    ];
    for (const pragma of [
      'busy_timeout=0',
      'journal_mode=WAL',
      'synchronous=FULL',
      'foreign_keys=ON',
      ...log,
    ]) {
      this.execute({ sql: `PRAGMA ${pragma}`, params: [] });
    }
    this.#emptyLog();
  }

  /**
   * Moves the pages of a log that a crash has left into the database: such a log may fill a small
   * volume.
   */
  #emptyLog(): void {
    try {
      this.execute({ sql: 'PRAGMA wal_checkpoint(TRUNCATE)', params: [] });
    } catch (error) {
      // The volume has no room, or another connection is doing the same. Readers work all the same;
      // a writer gets the error when it writes.
      if (!(error instanceof DatabaseError) || error.kind !== 'busy') throw error;
    }
  }

  get inTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  execute(statement: Statement): readonly Row[] {
    try {
      const { statement: prepared, returnsRows, order } = this.#prepare(statement.sql);
      const params =
        order === undefined
          ? statement.params.map(parameterOf)
          : order.map((parameter) => parameterOf(statement.params[parameter] ?? null));
      if (returnsRows) return prepared.all(...params);
      prepared.run(...params);
      return [];
    } catch (error) {
      throw sqliteError(error);
    }
  }

  close(): void {
    this.#prepared.clear();
    this.#connection.close();
  }

  #prepare(sql: string): Prepared {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const rewritten = positional(sql);
    const statement = this.#connection.prepare(rewritten.sql);
    statement.setReadBigInts(true);
    const prepared = {
      statement,
      returnsRows: statement.columns().length > 0,
      order: rewritten.order,
    };
    if (this.#prepared.size >= statementsMax) deleteOldest(this.#prepared);
    this.#prepared.set(sql, prepared);
    return prepared;
  }
}

function logBytesFor(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  const share = Math.floor((bavail * bsize) / logBytes.shareOfRoom);
  return Math.min(logBytes.most, Math.max(logBytes.least, share));
}

/**
 * SQLite's primary result codes, https://sqlite.org/rescode.html, with the text that SQLite gives
 * each: on Node 20 the engine (@photostructure/sqlite 1.2.1) gives only the text, and no code, when
 * a statement with rows fails.
 */
const resultCodes: readonly {
  readonly code: number;
  readonly kind: DatabaseErrorKind;
  readonly text: RegExp;
}[] = [
  { code: 5, kind: 'busy', text: /^database is locked/ },
  { code: 6, kind: 'busy', text: /^database table is locked/ },
  { code: 7, kind: 'busy', text: /^out of memory/ },
  { code: 8, kind: 'busy', text: /^attempt to write a readonly database/ }, // a file system remounted, a disk failing
  { code: 10, kind: 'unknown', text: /^disk I\/O error/ }, // a failed fsync does not tell what reached the disk
  { code: 13, kind: 'busy', text: /^database or disk is full/ },
  { code: 14, kind: 'busy', text: /^unable to open database file/ },
  { code: 18, kind: 'constraint', text: /^string or blob too big/ },
  { code: 19, kind: 'constraint', text: /constraint failed|^cannot store \w+ value in \w+ column/ },
  { code: 20, kind: 'constraint', text: /^datatype mismatch/ },
];

function resultCodeOf(error: Error): (typeof resultCodes)[number] | undefined {
  if (!('errcode' in error) || typeof error.errcode !== 'number')
    return resultCodes.find(({ text }) => text.test(error.message));
  const primary = error.errcode & 0xff;
  return resultCodes.find(({ code }) => code === primary);
}

/** Gives an error of the SQLite engine its kind. Anything else passes unchanged. */
function sqliteError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SQLITE_ERROR')
    return error;
  return new DatabaseError(resultCodeOf(error)?.kind ?? 'other', error.message, { cause: error });
}

/** Another connection holds the lock: the same thing may succeed in a moment. */
export function isLocked(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || !(error.cause instanceof Error)) return false;
  const code = resultCodeOf(error.cause)?.code;
  return code === 5 || code === 6;
}

/**
 * The address of a file that SQLite opens and never creates
 * (https://www.sqlite.org/uri.html, read 2026-11-26). A new file under this name would take the
 * write-ahead log of the one that was moved away.
 */
function existing(path: string): URL {
  const address = pathToFileURL(path);
  address.search = '?mode=rw';
  return address;
}

/** What the thread is started with. */
export interface ThreadData {
  readonly path: string;
  readonly mayCreate: boolean;
}

export interface JobMessage {
  readonly id: number;
  readonly job: Job;
}

/** `kind` is absent when what was thrown is not a `DatabaseError`. */
export type JobReply =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly failed: { readonly kind: DatabaseErrorKind | undefined; readonly message: string };
    };

/** Between tries the thread has nothing else to do. */
function retryWhileLocked<T>(host: SqliteHost, attempt: () => T): T {
  let retry: LockRetry | undefined;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      retry ??= new LockRetry(systemClock, systemRandom);
      const pauseMs = retry.pauseMs(error);
      host.metOthers();
      blockThread(pauseMs);
    }
  }
}

/**
 * The body of SQLite's thread: opens the file that `open` named and serves its jobs, one after the
 * other, until it is closed. The entry file given to `open` calls this with the procedures for the
 * thread.
 */
export function serveSqlite(procedures: Procedures): void {
  assert(
    parentPort !== null && typeof workerData?.path === 'string',
    'serveSqlite runs in the thread that open() starts',
  );
  const port = parentPort;
  const { path, mayCreate } = workerData as ThreadData;
  const host = new SqliteHost(path, procedures, systemClock, mayCreate);
  retryWhileLocked(host, () => host.configure());
  port.on('message', ({ id, job }: JobMessage) => {
    port.postMessage(reply(host, id, job));
    if (job.do === 'close') port.close();
    else if (host.crowded && (job.do === 'call' || job.do === 'commit')) blockThread(restMs);
  });
}

function reply(host: SqliteHost, id: number, job: Job): JobReply {
  try {
    return { id, value: retryWhileLocked(host, () => host.perform(job)) };
  } catch (error) {
    const kind = error instanceof DatabaseError ? error.kind : undefined;
    return {
      id,
      failed: { kind, message: messageOf(error) },
    };
  }
}
