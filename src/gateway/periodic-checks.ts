/** Something that runs long and needs a check about once a second. */
export interface PeriodicCheck {
  check(): void;
}

const checkEveryMs = 1_000;
/**
 * Checks in one turn of the event loop. When ten thousand silent streams each get a comment,
 * arrived data does not wait for all of them.
 */
const checkedAtOnce = 128;

/**
 * One timer for all open streams: keep-alive comments and paying for unseen thinking need no timer
 * of their own.
 */
export class PeriodicChecks {
  readonly everyMs: number;
  readonly #watched = new Set<PeriodicCheck>();
  #timer: NodeJS.Timeout | undefined;
  /** The streams that the current round has not checked yet. */
  #round: Iterator<PeriodicCheck> | undefined;
  /**
   * The timer fired during a round: another round follows, since a check counts as elapsed time.
   */
  #again = false;

  constructor(everyMs = checkEveryMs) {
    this.everyMs = everyMs;
  }

  get open(): number {
    return this.#watched.size;
  }

  add(watched: PeriodicCheck): void {
    this.#watched.add(watched);
    this.#timer ??= setInterval(this.#beginRound, this.everyMs).unref();
  }

  remove(watched: PeriodicCheck): void {
    this.#watched.delete(watched);
  }

  readonly #beginRound = (): void => {
    if (this.#round !== undefined) {
      this.#again = true;
      return;
    }
    if (this.#watched.size > 0) return this.#checkSome(this.#watched.values());
    clearInterval(this.#timer);
    this.#timer = undefined;
  };

  #checkSome(round: Iterator<PeriodicCheck>): void {
    for (let n = 0; n < checkedAtOnce; n++) {
      const next = round.next();
      if (next.done) return this.#endRound();
      next.value.check();
    }
    this.#round = round;
    setImmediate(this.#goOn);
  }

  #endRound(): void {
    if (!this.#again) return;
    this.#again = false;
    this.#round = this.#watched.values();
    setImmediate(this.#goOn);
  }

  readonly #goOn = (): void => {
    const round = this.#round;
    this.#round = undefined;
    if (round !== undefined) this.#checkSome(round);
  };
}
