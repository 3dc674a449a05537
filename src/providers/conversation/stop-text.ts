/** Cuts a streamed text before the first of the stop texts, for vendors that cannot stop there. */
export class StopText {
  /** A stop text was found: nothing more is let through. */
  met = false;
  readonly #words: readonly string[];
  readonly #longest: number;
  #held = '';

  constructor(words: readonly string[]) {
    this.#words = words;
    this.#longest = Math.max(0, ...words.map((word) => word.length));
  }

  /** Returns the text that may be sent now. A possible beginning of a stop text is held back. */
  push(piece: string): string {
    if (this.met) return '';
    if (this.#longest === 0) return piece;
    const text = this.#held + piece;
    const at = Math.min(
      ...this.#words.map((word) => text.indexOf(word)).filter((index) => index >= 0),
    );
    if (Number.isFinite(at)) {
      this.met = true;
      this.#held = '';
      return text.slice(0, at);
    }
    const waiting = this.#beginning(text);
    this.#held = text.slice(text.length - waiting);
    return text.slice(0, text.length - waiting);
  }

  /** Returns the text that was held back, at the end of the stream. */
  end(): string {
    const rest = this.met ? '' : this.#held;
    this.#held = '';
    return rest;
  }

  #beginning(text: string): number {
    for (let length = Math.min(this.#longest - 1, text.length); length > 0; length--) {
      const tail = text.slice(text.length - length);
      if (this.#words.some((word) => word.startsWith(tail))) return length;
    }
    return 0;
  }
}

/**
 * The stop texts that are white space alone. Claude refuses them ("stop_sequences: each stop
 * sequence must contain non-whitespace"), so that Tollgate stops there itself.
 */
export const blankStops = (stop: unknown): readonly string[] | undefined =>
  stop == null ? undefined : stopWords(stop).filter((word) => word.trim() === '');

/** The stop texts beyond the number that a vendor takes. */
export const stopsBeyond = (stop: unknown, taken: number): readonly string[] | undefined =>
  stop == null ? undefined : stopWords(stop).slice(taken);

/** The client's `stop` as a list without empty texts. */
export function stopWords(stop: unknown): string[] {
  const words: unknown[] = Array.isArray(stop) ? stop : [stop];
  return words.filter((word): word is string => typeof word === 'string' && word !== '');
}
