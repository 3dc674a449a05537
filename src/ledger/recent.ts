import type { Item } from './pipeline.ts';

/** The charges of the last minute, for a database that forgets them (till.md §6, "went back"). */
export class Recent {
  readonly #max: number;
  readonly #keptMs: number;
  #batches: { readonly atMs: number; readonly items: readonly Item[] }[] = [];
  #size = 0;

  constructor(max: number, keptMs: number) {
    this.#max = max;
    this.#keptMs = keptMs;
  }

  add(items: readonly Item[], nowMs: number): void {
    if (this.#max === 0 || items.length === 0) return;
    this.#batches.push({ atMs: nowMs, items });
    this.#size += items.length;
  }

  prune(nowMs: number): void {
    let dropped = 0;
    for (const { atMs, items } of this.#batches) {
      if (nowMs - atMs < this.#keptMs && this.#size <= this.#max) break;
      this.#size -= items.length;
      dropped++;
    }
    if (dropped > 0) this.#batches = this.#batches.slice(dropped);
  }

  all(): readonly Item[] {
    return this.#batches.flatMap(({ items }) => items);
  }
}
