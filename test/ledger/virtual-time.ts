interface Event {
  readonly at: number;
  readonly order: number;
  readonly run: () => void | Promise<void>;
}

/**
 * A clock that jumps from one event to the next. Everything that an event sets off in promises has
 * come to rest before the next.
 */
export class VirtualTime {
  now = 0;
  readonly #heap: Event[] = [];
  #order = 0;

  after(ms: number, run: Event['run']): void {
    this.#heap.push({ at: this.now + ms, order: this.#order++, run });
    this.#rise(this.#heap.length - 1);
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  /** Runs events until `until` says so after one of them, or none is left. */
  async run(until: () => boolean): Promise<void> {
    // Between events there is nothing but promises to wait for; a turn of the event loop for each
    // would take longer than they do.
    await new Promise(setImmediate);
    for (let event = this.#take(); event !== undefined; event = this.#take()) {
      this.now = event.at;
      await event.run();
      await new Promise(process.nextTick);
      if (until()) return;
    }
  }

  #take(): Event | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #isBefore(a: number, b: number): boolean {
    const [x, y] = [this.#heap[a], this.#heap[b]];
    if (x === undefined || y === undefined) return false;
    return x.at < y.at || (x.at === y.at && x.order < y.order);
  }

  #swap(a: number, b: number): void {
    const [x, y] = [this.#heap[a], this.#heap[b]];
    if (x === undefined || y === undefined) return;
    this.#heap[a] = y;
    this.#heap[b] = x;
  }

  #rise(from: number): void {
    for (
      let at = from, above = (at - 1) >> 1;
      at > 0 && this.#isBefore(at, above);
      at = above, above = (at - 1) >> 1
    )
      this.#swap(at, above);
  }

  #sink(): void {
    for (let at = 0; ; ) {
      const left = 2 * at + 1;
      const least = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#isBefore(least, at)) return;
      this.#swap(at, least);
      at = least;
    }
  }
}
