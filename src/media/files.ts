import type { Readable } from 'node:stream';
import type { ByteRange } from '../base/byte-range.ts';
import type { Row } from '../storage/database.ts';

export type FileKind = 'image' | 'audio' | 'video';

/**
 * A file that is to be kept. `expiresAt`: wall clock, milliseconds; by default a day from now
 * (`settings.media.kept_seconds`).
 */
export interface NewFile {
  readonly account: string;
  readonly kind: FileKind;
  readonly expiresAt?: number;
}

export interface StoredFile {
  readonly id: string;
  readonly account: string;
  /** What its bytes are, whatever anybody called them. */
  readonly type: string;
  readonly bytes: number;
  /** Wall clock, milliseconds. */
  readonly createdAt: number;
  readonly expiresAt: number;
}

/**
 * Why there is no file. `full`: the account has as many files or bytes as it may. `away`: the store
 * or the database is. The others blame whoever made the file: `wrong type`, it is nothing of its
 * kind (a web page for a picture); `too large`; `unreachable`, its address did not give it.
 * `detail` is for the log and for nobody outside.
 */
export interface NotStored {
  readonly why: 'full' | 'away' | 'wrong type' | 'too large' | 'unreachable';
  readonly detail: string;
}

export const isNotStored = (result: StoredFile | NotStored): result is NotStored => 'why' in result;

/** Where a vendor says that a file is. */
export interface FileSource {
  readonly url: string;
  /**
   * Sent to `home` alone: what it wants to see before it gives the file. Whoever else an answer
   * names does not get to see it.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The base address of the channel: a host that the operator chose may be private. Files of any
   * other host come from the public internet.
   */
  readonly home?: string;
}

/**
 * Generated files of all accounts, each kept until it expires. What cannot be read or removed
 * because the database or the store is away is thrown.
 */
export interface Files {
  /**
   * Keeps what is at hand, or what comes, without ever holding more than a few pieces of it.
   * Resolves when it would survive a crash.
   */
  put(content: Buffer | AsyncIterable<Buffer>, file: NewFile): Promise<StoredFile | NotStored>;
  /**
   * Keeps what a vendor keeps for a short time, straight from there. `left` ends it early: then it
   * throws.
   */
  copy(source: FileSource, file: NewFile, left: AbortSignal): Promise<StoredFile | NotStored>;
  /** Its bytes, kept nowhere; at most so many. `left` ends it early: then it throws. */
  take(source: FileSource, bytesMax: number, left: AbortSignal): Promise<Buffer | NotStored>;
  /**
   * Whether another file of this account can be kept: for whoever is about to have one made, and
   * paid. `full`: it has too many. `away`: the store or the database is.
   */
  room(account: string): Promise<'room' | 'full' | 'away'>;
  /**
   * The address that gives the file to whoever has it, until it expires. `host`: the Host header of
   * who asks, used where no public address is configured.
   */
  urlOf(file: Pick<StoredFile, 'id' | 'type' | 'expiresAt'>, host: string | undefined): string;
  /**
   * The file of a path and query that `urlOf` made; undefined: it did not, or the file has expired.
   */
  at(path: string, query: URLSearchParams): Promise<StoredFile | undefined>;
  /** The file of this account; undefined as well when it is another's. */
  find(account: string, id: string): Promise<StoredFile | undefined>;
  /**
   * Its bytes from `first` to `last`; undefined: it is gone. Whoever gets the stream reads it to
   * its end or destroys it.
   */
  read(file: StoredFile, range: ByteRange): Promise<Readable | undefined>;
  /** Whether there was one. */
  remove(account: string, id: string): Promise<boolean>;
  /** Removes what has expired and what interrupted writes left; returns how many files. */
  expire(): Promise<number>;
}

/** A row of the table `file`. */
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
