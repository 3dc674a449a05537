import type { Readable } from 'node:stream';
import type { ByteRange } from '../base/byte-range.ts';

/**
 * Where large contents lie, by key: a folder, or a bucket. A key is letters, digits and `_`, at
 * least four of them.
 */
export interface Blobs {
  /**
   * Keeps all of `content` under `key` and resolves with its length once it would survive a crash.
   * Until then there is nothing under `key`. Rejects when `content` does, or when it cannot be
   * kept.
   */
  write(key: string, content: AsyncIterable<Buffer>): Promise<number>;
  /**
   * The bytes of that range, which the blob has; undefined: there is no such blob. Whoever gets the
   * stream reads it to its end or destroys it.
   */
  read(key: string, range: ByteRange): Promise<Readable | undefined>;
  /** Afterwards there is nothing under `key`, if there was. */
  remove(key: string): Promise<void>;
  /** The same, and nothing is left of a write that was interrupted either. */
  abandon(key: string): Promise<void>;
  /** Rejects when nothing can be kept now, or when `stop` comes first. */
  check(stop: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
