import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Page } from './contract.ts';
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

  /** Undefined for the first page, which has no cursor. Throws `invalid_cursor`. */
  read(of: readonly unknown[], cursor: string | undefined): CursorPosition | undefined {
    if (cursor === undefined) return undefined;
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

  /**
   * The cursors of a page that was read from `place`. `more`: further items lie in its direction.
   */
  around<Item>(
    of: readonly unknown[],
    place: CursorPosition | undefined,
    { items, more }: { readonly items: readonly Item[]; readonly more: boolean },
    positionOf: (item: Item) => Omit<CursorPosition, 'towards'>,
  ): Pick<Page<Item>, 'next' | 'prev'> {
    const back = place?.towards === 'prev';
    const cursor = (towards: 'next' | 'prev', item: Item | undefined): string | null =>
      item === undefined ? null : this.write(of, { towards, ...positionOf(item) });
    return {
      next: back || more ? cursor('next', items.at(-1)) : null,
      prev: (back ? more : place !== undefined) ? cursor('prev', items[0]) : null,
    };
  }

  #mac(of: readonly unknown[], text: Buffer): Buffer {
    const list = createHash('sha256').update(JSON.stringify(of)).digest();
    return createHmac('sha256', this.#key).update(list).update(text).digest().subarray(0, macBytes);
  }
}

/**
 * A page of a list that is held whole. A cursor names an item, and its index in case that the item
 * is gone.
 */
export function pageOfAll<Item extends { readonly id: string }>(
  cursors: Cursors,
  of: readonly unknown[],
  all: readonly Item[],
  { place, limit }: { readonly place: CursorPosition | undefined; readonly limit: number },
): Omit<Page<Item>, 'as_of'> {
  const index = place === undefined ? -1 : all.findIndex(({ id }) => id === place.id);
  const end = index === -1 ? (place?.at ?? 0) : index;
  const next = index === -1 ? end : index + 1;
  const back = place?.towards === 'prev';
  const from = Math.min(back ? Math.max(0, end - limit) : next, all.length);
  const to = Math.min(back ? end : from + limit, all.length);
  const cursor = (towards: 'next' | 'prev', at: number): string =>
    cursors.write(of, { towards, at, id: all[at]?.id ?? '' });
  return {
    items: all.slice(from, to),
    next: to < all.length ? cursor('next', to - 1) : null,
    prev: from > 0 ? cursor('prev', from) : null,
  };
}
