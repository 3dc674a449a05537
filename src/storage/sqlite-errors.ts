import { DatabaseError, type DatabaseErrorKind } from './database.ts';

/** SQLite's primary result codes, https://sqlite.org/rescode.html. */
const kinds = new Map<number, DatabaseErrorKind>([
  [5, 'busy'], // SQLITE_BUSY
  [6, 'busy'], // SQLITE_LOCKED
  [7, 'busy'], // SQLITE_NOMEM
  [8, 'busy'], // SQLITE_READONLY: a file system remounted, a disk failing
  [10, 'unknown'], // SQLITE_IOERR: a failed fsync does not tell what reached the disk
  [13, 'busy'], // SQLITE_FULL
  [14, 'busy'], // SQLITE_CANTOPEN
  [19, 'constraint'], // SQLITE_CONSTRAINT
]);

function primaryCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}

/** Gives an error of the SQLite engine its kind. Anything else passes unchanged. */
export function sqliteError(error: unknown): unknown {
  const code = primaryCode(error);
  if (code === undefined || !(error instanceof Error)) return error;
  return new DatabaseError(kinds.get(code) ?? 'other', error.message, { cause: error });
}

/** Another connection holds the lock: the same thing may succeed in a moment. */
export function isLocked(error: unknown): boolean {
  if (!(error instanceof DatabaseError)) return false;
  const code = primaryCode(error.cause);
  return code === 5 || code === 6;
}
