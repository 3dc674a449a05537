/** Something that runs long and wants to be looked at about once a second. */
export interface PeriodicCheck {
  check(): void;
}

const lookEveryMs = 1_000;
/**
 * Of ten thousand streams that are silent together each is sent a comment: what has arrived
 * meanwhile does not wait for all of them.
 */
const lookedAtOnce = 128;

/**
 * One timer for all open streams: keep-alive comments and paying for unseen thinking need no timer
 * of their own.
 */
export class StreamWatch {
  readonly everyMs: number;
  readonly #watched = new Set<PeriodicCheck>();
  #timer: NodeJS.Timeout | undefined;
  /** Those that the look under way has not come to. */
  #row: Iterator<PeriodicCheck> | undefined;
  /** It was time for the next look before this one was over: who counts looks counts time. */
  #again = false;

  constructor(everyMs = lookEveryMs) {
    this.everyMs = everyMs;
  }

  get open(): number {
    return this.#watched.size;
  }

  add(watched: PeriodicCheck): void {
    this.#watched.add(watched);
    this.#timer ??= setInterval(this.#lookAll, this.everyMs).unref();
  }

  remove(watched: PeriodicCheck): void {
    this.#watched.delete(watched);
  }

  readonly #lookAll = (): void => {
    if (this.#row !== undefined) {
      this.#again = true;
      return;
    }
    if (this.#watched.size > 0) return this.#look(this.#watched.values());
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #look(row: Iterator<PeriodicCheck>): void {
    for (let n = 0; n < lookedAtOnce; n++) {
      const next = row.next();
      if (next.done) return this.#ended();
      next.value.check();
    }
    this.#row = row;
    setImmediate(this.#lookOn);
  }

  #ended(): void {
    if (!this.#again) return;
    this.#again = false;
    this.#row = this.#watched.values();
    setImmediate(this.#lookOn);
  }

  readonly #lookOn = (): void => {
    const row = this.#row;
    this.#row = undefined;
    if (row !== undefined) this.#look(row);
  };
}
