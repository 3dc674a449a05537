import type { Transaction, Migration } from '../storage/database.ts';
import type { StoredFile } from './files.ts';
import type { FileLimits } from './limits.ts';

/**
 * Reserves room for a file of at least `bytes` bytes and inserts its row, which lasts until
 * `expiresAt`. Returns false when the account has no room.
 */
export function* insertFile(
  file: StoredFile,
  { filesMax, bytesMax }: FileLimits,
): Transaction<boolean> {
  const { id, account, type, bytes, createdAt, expiresAt } = file;
  if (bytes > bytesMax) return false;
  const room = yield {
    sql: `INSERT INTO file_account AS had (account, files, bytes) VALUES ($1, 1, $2)
      ON CONFLICT (account) DO UPDATE SET files=had.files+1, bytes=had.bytes+excluded.bytes
      WHERE had.files<$3 AND had.bytes+excluded.bytes<=$4 RETURNING files`,
    params: [account, bytes, filesMax, bytesMax],
  };
  if (room.length === 0) return false;
  yield {
    sql: 'INSERT INTO file (id, account, type, bytes, stored, created_at, expires_at) VALUES ($1, $2, $3, $4, 0, $5, $6)',
    params: [id, account, type, bytes, createdAt, expiresAt],
  };
  return true;
}

/**
 * Marks the file as stored. Returns false, and leaves it unstored, when the account has no room for
 * its final size. `claimed`: the bytes reserved already. Throws when the row was removed meanwhile.
 */
export function* completeFile(
  file: StoredFile,
  claimed: number,
  { bytesMax }: FileLimits,
): Transaction<boolean> {
  const { id, account, bytes, expiresAt } = file;
  // Every transaction locks the file's row before the account's, so that two of them never wait for
  // each other.
  const kept = yield {
    sql: 'UPDATE file SET stored=1, bytes=$2, expires_at=$3 WHERE id=$1 AND stored=0 RETURNING id',
    params: [id, bytes, expiresAt],
  };
  if (kept.length === 0) throw new Error('a file took longer to write than it was waited for');
  if (bytes === claimed) return true;
  const room = yield {
    sql: 'UPDATE file_account SET bytes=bytes+$2 WHERE account=$1 AND bytes+$2<=$3 RETURNING account',
    params: [account, bytes - claimed, bytesMax],
  };
  if (room.length > 0) return true;
  yield { sql: 'UPDATE file SET stored=0, bytes=$2 WHERE id=$1', params: [id, claimed] };
  return false;
}

/** Deletes the row; false when it was deleted before. */
export function* deleteFile(id: string): Transaction<boolean> {
  const [row] = yield {
    sql: 'DELETE FROM file WHERE id=$1 RETURNING account, bytes',
    params: [id],
  };
  if (row === undefined) return false;
  const account = String(row['account']);
  yield {
    sql: 'UPDATE file_account SET files=files-1, bytes=bytes-$2 WHERE account=$1',
    params: [account, row['bytes'] ?? 0n],
  };
  yield { sql: 'DELETE FROM file_account WHERE account=$1 AND files=0', params: [account] };
  return true;
}

/**
 * Times are milliseconds of the wall clock. A row exists before its file; until `stored` is 1, the
 * row is removed at `expires_at`.
 */
export const mediaMigrations: readonly Migration[] = [
  {
    id: '0010-media',
    statements: [
      `CREATE TABLE file (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        type TEXT NOT NULL,
        bytes BIGINT NOT NULL CHECK (bytes >= 0),
        stored BIGINT NOT NULL CHECK (stored IN (0, 1)),
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      )`,
      'CREATE INDEX file_expires ON file (expires_at)',
      // The files of each account, counted: always the sums of its rows above.
      `CREATE TABLE file_account (
        account TEXT PRIMARY KEY,
        files BIGINT NOT NULL CHECK (files >= 0),
        bytes BIGINT NOT NULL CHECK (bytes >= 0)
      )`,
    ],
  },
];
