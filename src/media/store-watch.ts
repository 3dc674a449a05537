import type { Clock } from '../base/clock.ts';
import type { Blobs } from '../storage/blobs.ts';

/** How long the store's last answer is believed. */
const wellMs = 5_000;
const awayMs = 1_000;
/** A store that is silent for so long is away. */
const silenceMs = 3_000;

/**
 * Whether the store takes anything now, as the last write or check says: nobody is asked, and paid,
 * for what cannot be kept.
 */
export class StoreWatch {
  readonly #blobs: Pick<Blobs, 'check'>;
  readonly #clock: Clock;
  #last: Promise<boolean> = Promise.resolve(true);
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(blobs: Pick<Blobs, 'check'>, clock: Clock) {
    this.#blobs = blobs;
    this.#clock = clock;
  }

  /**
   * Asks the store when nothing was heard of it for a while, once for all who want to know. Never
   * rejects.
   */
  isThere(): Promise<boolean> {
    if (this.#clock.monotonicMs() >= this.#untilMs) {
      this.#believe(this.#ask(), silenceMs);
    }
    return this.#last;
  }

  /** What a write came to. */
  heard(well: boolean): void {
    this.#believe(Promise.resolve(well), well ? wellMs : awayMs);
  }

  async #ask(): Promise<boolean> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), silenceMs);
    const well = await this.#blobs.check(late.signal).then(
      () => true,
      () => false,
    );
    clearTimeout(timer);
    this.#untilMs = this.#clock.monotonicMs() + (well ? wellMs : awayMs);
    return well;
  }

  #believe(answer: Promise<boolean>, forMs: number): void {
    this.#last = answer;
    this.#untilMs = this.#clock.monotonicMs() + forMs;
  }
}
