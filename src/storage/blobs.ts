import type { Readable } from 'node:stream';
import type { ByteRange } from '../base/byte-range.ts';

/**
 * A store of large contents by key: a folder, or a bucket. A key is letters, digits and `_`, at
 * least four of them.
 */
export interface Blobs {
  /**
   * Stores all of `content` under `key` and resolves with its length once it would survive a crash.
   * Until then there is nothing under `key`. Rejects when `content` does, or when it cannot be
   * stored.
   */
  write(key: string, content: AsyncIterable<Buffer>): Promise<number>;
  /**
   * Returns the bytes of a range that the blob has; undefined: there is no such blob. The caller
   * reads the stream to its end or destroys it.
   */
  read(key: string, range: ByteRange): Promise<Readable | undefined>;
  /** Removes the blob, if there is one. */
  remove(key: string): Promise<void>;
  /** Removes the blob, and what an interrupted write has left. */
  abandon(key: string): Promise<void>;
  /** Rejects when nothing can be stored now, or when `stop` comes first. */
  check(stop: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Tollgate makes the keys; the check still keeps each of them inside its folder or prefix. */
export function requireKey(key: string): void {
  if (!/^\w{4,}$/.test(key)) throw new Error('this is no key of a blob');
}
