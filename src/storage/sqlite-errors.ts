import { DatabaseError, type DatabaseErrorKind } from './database.ts';

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
export function sqliteError(error: unknown): unknown {
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
