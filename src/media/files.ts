import type { Readable } from 'node:stream';
import type { ByteRange } from '../base/byte-range.ts';
import type { Row } from '../storage/database.ts';

export type FileKind = 'image' | 'audio' | 'video';

/**
 * A file to be stored. `expiresAt`: wall clock, milliseconds; by default a day from now
 * (`settings.media.kept_seconds`).
 */
export interface NewFile {
  readonly account: string;
  /** `piece`: bytes of a file that a client uploads, whatever they are. */
  readonly kind: FileKind | 'piece';
  readonly expiresAt?: number;
  /** Its place was counted before it was made: it is stored whatever the account has by now. */
  readonly promised?: true;
}

export interface StoredFile {
  readonly id: string;
  readonly account: string;
  /** The type of its bytes, whatever a vendor declared. */
  readonly type: string;
  readonly bytes: number;
  /** Wall clock, milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/**
 * Why there is no file. `full`: the account has reached its limit of files or bytes. `away`: the
 * store or the database is away. The others blame the source of the file: `wrong type`, it is of
 * another kind (a web page instead of an image); `too large`; `unreachable`, its address did not
 * deliver it. `detail` is for the log alone.
 */
export interface NotStored {
  readonly why: 'full' | 'away' | 'wrong type' | 'too large' | 'unreachable';
  readonly detail: string;
}

export const isNotStored = (result: StoredFile | NotStored): result is NotStored => 'why' in result;

/** The address at which a vendor offers a file. */
export interface FileSource {
  readonly url: string;
  /**
   * Sent only to `home`, which requires them. Other hosts that a response names do not get them.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The base address of the channel: a host that the operator chose may be private. Files of any
   * other host come from the public internet.
   */
  readonly home?: string;
}

/**
 * Generated files of all accounts, each kept until it expires. Throws when a file cannot be read or
 * removed because the database or the store is away.
 */
export interface Files {
  /**
   * Stores a buffer or a stream, without ever holding more than a few pieces of it. Resolves once
   * the file would survive a crash.
   */
  put(content: Buffer | AsyncIterable<Buffer>, file: NewFile): Promise<StoredFile | NotStored>;
  /** Copies a file that a vendor keeps for a short time. `left` ends it early: then it throws. */
  copy(source: FileSource, file: NewFile, left: AbortSignal): Promise<StoredFile | NotStored>;
  /**
   * Downloads at most `bytesMax` bytes of a vendor's file without storing it. `left` ends it early:
   * then it throws.
   */
  take(source: FileSource, bytesMax: number, left: AbortSignal): Promise<Buffer | NotStored>;
  /**
   * Whether another file of this account can be stored: to be checked before a vendor is paid for
   * one. `full`: the account has too many. `away`: the store or the database is away. `coming`: the
   * files that were promised and are not here yet.
   */
  room(account: string, coming?: number): Promise<'room' | 'full' | 'away'>;
  /**
   * The address at which any client can read the file until it expires. `host`: the Host header of
   * the request, used where no public address is configured.
   */
  urlOf(file: Pick<StoredFile, 'id' | 'type' | 'expiresAt'>, host: string | undefined): string;
  /**
   * The file of a path and query that `urlOf` made; undefined: `urlOf` did not make them, or the
   * file has expired.
   */
  at(path: string, query: URLSearchParams): Promise<StoredFile | undefined>;
  /** The file of this account; undefined also when it is another account's. */
  find(account: string, id: string): Promise<StoredFile | undefined>;
  /**
   * The bytes from `first` to `last`; undefined: the file is gone. The caller reads the stream to
   * its end or destroys it.
   */
  read(file: StoredFile, range: ByteRange): Promise<Readable | undefined>;
  /** Removes the file. False when there was none. */
  remove(account: string, id: string): Promise<boolean>;
  /**
   * Removes expired files and the remains of interrupted writes; returns the number of files.
   * Rejects at the end where some cannot be removed. `stopped` ends it before the next few.
   */
  expire(stopped?: () => boolean): Promise<number>;
}

/** Reads a row of the table `file`. */
export function readFileRow(row: Row): StoredFile {
  return {
    id: String(row['id']),
    account: String(row['account']),
    type: String(row['type']),
    bytes: Number(row['bytes']),
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
  };
}
