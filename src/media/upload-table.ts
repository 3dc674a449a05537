import { textOf } from '../base/json.ts';
import type { Migration, Row, Transaction } from '../storage/database.ts';

/** A file that a client uploads. Times are milliseconds of the wall clock. */
export interface Upload {
  /** Lower-case letters and digits: clients take no others out of an address. */
  readonly id: string;
  readonly account: string;
  /** Empty: the client gave none. */
  readonly displayName: string;
  /** Undefined: the client gave none, and the upload has not ended. */
  readonly type: string | undefined;
  /** The length that the client declared; undefined: it declared none. */
  readonly declared: number | undefined;
  /** Bytes received. */
  readonly bytes: number;
  /** The ids of the stored files whose bytes follow each other here. */
  readonly pieces: readonly string[];
  /** Base64; undefined until the upload has ended. */
  readonly sha256: string | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Until the upload has ended: when it is given up, unless more arrives. */
  readonly expiresAt: number;
}

/** Inserts an upload; false when `underWayMax` of the account have not ended. */
export function* insertUpload(
  { id, account, displayName, type, declared, createdAt, expiresAt }: Upload,
  underWayMax: number,
): Transaction<boolean> {
  // This row is the lock: the uploads of an account are counted one after the other.
  yield {
    sql: `INSERT INTO uploader (account) VALUES ($1)
      ON CONFLICT (account) DO UPDATE SET account=excluded.account`,
    params: [account],
  };
  const [row] = yield {
    sql: 'SELECT count(*) AS uploads FROM upload WHERE account=$1 AND sha256 IS NULL AND expires_at>$2',
    params: [account, createdAt],
  };
  if (Number(row?.['uploads']) >= underWayMax) return false;
  yield {
    sql: `INSERT INTO upload (id, account, display_name, type, declared, bytes, pieces, created_at, updated_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, 0, '', $6, $6, $7)`,
    params: [id, account, displayName, type ?? null, declared ?? null, createdAt, expiresAt],
  };
  return true;
}

/**
 * Writes what a request changed. False: another request was faster, or the upload is gone.
 * `before`: what was read.
 */
export function* updateUpload(before: Upload, after: Upload): Transaction<boolean> {
  const { type, bytes, pieces, sha256, updatedAt, expiresAt } = after;
  const rows = yield {
    sql: `UPDATE upload SET type=$3, bytes=$4, pieces=$5, sha256=$6, updated_at=$7, expires_at=$8
      WHERE id=$1 AND bytes=$2 AND sha256 IS NULL RETURNING id`,
    params: [
      before.id,
      before.bytes,
      type ?? null,
      bytes,
      pieces.join(' '),
      sha256 ?? null,
      updatedAt,
      expiresAt,
    ],
  };
  return rows.length > 0;
}

export function readUploadRow(row: Row): Upload {
  const { declared } = row;
  const pieces = String(row['pieces']);
  return {
    id: String(row['id']),
    account: String(row['account']),
    displayName: String(row['display_name']),
    type: textOf(row['type']),
    declared: declared === null || declared === undefined ? undefined : Number(declared),
    bytes: Number(row['bytes']),
    pieces: pieces === '' ? [] : pieces.split(' '),
    sha256: textOf(row['sha256']),
    createdAt: Number(row['created_at']),
    updatedAt: Number(row['updated_at']),
    expiresAt: Number(row['expires_at']),
  };
}

export const uploadMigrations: readonly Migration[] = [
  {
    id: '0053-uploads',
    statements: [
      'CREATE TABLE uploader (account TEXT PRIMARY KEY)',
      // `pieces`: ids of rows of `file`, in the order of their bytes, with blanks between them.
      `CREATE TABLE upload (
        id TEXT PRIMARY KEY,
        account TEXT NOT NULL,
        display_name TEXT NOT NULL,
        type TEXT,
        declared BIGINT,
        bytes BIGINT NOT NULL,
        pieces TEXT NOT NULL,
        sha256 TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      )`,
      'CREATE INDEX upload_account ON upload (account, created_at)',
      'CREATE INDEX upload_expires ON upload (expires_at)',
    ],
  },
];
