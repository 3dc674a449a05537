/** Something that runs long and needs a check about once a second. */
export interface PeriodicCheck {
  check(): void;
}

const lookEveryMs = 1_000;
/**
 * Checks in one turn of the event loop. When ten thousand silent streams each get a comment,
 * arrived data does not wait for all of them.
 */
const lookedAtOnce = 128;

/**
 * One timer for all open streams: keep-alive comments and paying for unseen thinking need no timer
 * of their own.
 */
export class PeriodicChecks {
  readonly everyMs: number;
  readonly #watched = new Set<PeriodicCheck>();
  #timer: NodeJS.Timeout | undefined;
  /** The streams that the current round has not checked yet. */
  #row: Iterator<PeriodicCheck> | undefined;
  /**
   * The timer fired during a round: another round follows, since a check counts as elapsed time.
   */
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
