import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { throwProblem } from './problem.ts';

/** A position in a list, and whether the items after it are older (`next`) or newer (`prev`). */
export interface CursorPosition {
  readonly towards: 'next' | 'prev';
  readonly at: number;
  readonly id: string;
}

const macBytes = 12;

/**
 * Makes and reads the cursors of all lists. `of` is the list's owner, order and filter; a cursor of
 * another list is refused.
 */
export class Cursors {
  readonly #key: Buffer;

  /** `key`: 32 bytes that are used for nothing else. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  write(of: readonly unknown[], { towards, at, id }: CursorPosition): string {
    const text = Buffer.from(JSON.stringify([towards === 'next' ? 1 : 0, at, id]), 'utf8');
    return Buffer.concat([this.#mac(of, text), text]).toString('base64url');
  }

  /** Throws `invalid_cursor`. */
  read(of: readonly unknown[], cursor: string): CursorPosition {
    const bytes = Buffer.from(cursor, 'base64url');
    const text = bytes.subarray(macBytes);
    if (
      bytes.length <= macBytes ||
      !timingSafeEqual(this.#mac(of, text), bytes.subarray(0, macBytes))
    )
      throwProblem('invalid_cursor');
    const [towards, at, id] = JSON.parse(text.toString('utf8')) as readonly [
      number,
      number,
      string,
    ];
    return { towards: towards === 1 ? 'next' : 'prev', at, id };
  }

  #mac(of: readonly unknown[], text: Buffer): Buffer {
    const list = createHash('sha256').update(JSON.stringify(of)).digest();
    return createHmac('sha256', this.#key).update(list).update(text).digest().subarray(0, macBytes);
  }
}
