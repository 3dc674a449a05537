import type { Spool } from '../../http/spool.ts';

/** Reads small parts of a file at any place, a window at a time; beyond the end there are zeros. */
export class AudioSource {
  readonly size: number;
  readonly #spool: Pick<Spool, 'size' | 'slice'>;
  readonly #windowBytes: number;
  #window: Buffer = Buffer.alloc(0);
  #at = 0;

  constructor(spool: Pick<Spool, 'size' | 'slice'>, windowBytes = 64 * 1024) {
    this.size = spool.size;
    this.#spool = spool;
    this.#windowBytes = windowBytes;
  }

  /** `length` bytes from `at`, a window at most: what is missing at the end is zero. */
  async bytes(at: number, length: number): Promise<Buffer> {
    if (at < this.#at || at + length > this.#at + this.#window.length) {
      this.#window = await this.#spool.slice(at, Math.max(length, this.#windowBytes));
      this.#at = at;
    }
    const part = this.#window.subarray(at - this.#at, at - this.#at + length);
    return part.length === length
      ? part
      : Buffer.concat([part, Buffer.alloc(length - part.length)]);
  }
}

/**
 * The most elements of a file that are read to find its audio: a file of nothing but heads is no
 * recording.
 */
export const stepsMax = 20_000;
