import { statfsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import type { DatabaseSync } from '@photostructure/sqlite';
import {
  DatabaseError,
  type SqlValue,
  type Statement,
  type DatabaseErrorKind,
} from './database.ts';
import type { StatementResult } from './engine.ts';

const statementsMax = 500;
/** 64 MB of pages in memory. */
const cache = 'cache_size=-65536';
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
  /** Which parameter each `?` stands for; undefined when they come in order. */
  readonly order: readonly number[] | undefined;
}

/** What is used of the engine, whichever it is. */
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
 * An optional dependency: where it is not built for the platform, a Node with an engine of its own
 * does without.
 */
function packaged(): typeof DatabaseSync {
  try {
    return (createRequire(import.meta.url)('@photostructure/sqlite') as SqliteModule).DatabaseSync;
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new DatabaseError(
      'other',
      `SQLite for Node ${process.versions.node} is not installed; Node 22.16 and later have their own (${why})`,
      {
        cause: error,
      },
    );
  }
}

/** Looked for with the first database: whoever serves from PostgreSQL needs none. */
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
function bound(value: SqlValue): SqlValue {
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
   * `path` is a file or `:memory:`. Until `configure` has succeeded the connection must not be
   * used.
   */
  constructor(path: string) {
    const Engine = (found ??= engine());
    this.#path = path;
    try {
      this.#connection = new Engine(path);
    } catch (error) {
      throw sqliteError(error);
    }
  }

  /**
   * May be refused as locked while another process opens the same new file; then it is to be called
   * again.
   */
  configure(): void {
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
      cache,
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
      // a
      // writer gets the error when it writes.
      if (!(error instanceof DatabaseError) || error.kind !== 'busy') throw error;
    }
  }

  get inTransaction(): boolean {
    return this.#connection.isTransaction;
  }

  execute(statement: Statement): StatementResult {
    try {
      const { statement: prepared, returnsRows, order } = this.#prepare(statement.sql);
      const params =
        order === undefined
          ? statement.params.map(bound)
          : order.map((parameter) => bound(statement.params[parameter] ?? null));
      if (returnsRows) {
        const rows = prepared.all(...params);
        return { rows, changes: BigInt(rows.length) };
      }
      return { rows: [], changes: BigInt(prepared.run(...params).changes) };
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
    if (this.#prepared.size >= statementsMax) {
      for (const oldest of this.#prepared.keys()) {
        this.#prepared.delete(oldest);
        break;
      }
    }
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
 * each: on Node 20 the engine (@photostructure/sqlite 1.2.1) tells no code when a statement with
 * rows fails, only the text.
 */
const codes: readonly {
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

function find(error: Error): (typeof codes)[number] | undefined {
  if (!('errcode' in error) || typeof error.errcode !== 'number')
    return codes.find(({ text }) => text.test(error.message));
  const primary = error.errcode & 0xff;
  return codes.find(({ code }) => code === primary);
}

/** Gives an error of the SQLite engine its kind. Anything else passes unchanged. */
function sqliteError(error: unknown): unknown {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_SQLITE_ERROR')
    return error;
  return new DatabaseError(find(error)?.kind ?? 'other', error.message, { cause: error });
}

/** Another connection holds the lock: the same thing may succeed in a moment. */
export function isLocked(error: unknown): boolean {
  if (!(error instanceof DatabaseError) || !(error.cause instanceof Error)) return false;
  const code = find(error.cause)?.code;
  return code === 5 || code === 6;
}
