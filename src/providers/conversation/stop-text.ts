/**
 * Cuts a text that comes in pieces before the first of some words, for vendors that cannot stop
 * there themselves.
 */
export class StopText {
  /** A word was met: nothing more is let through. */
  met = false;
  readonly #words: readonly string[];
  readonly #longest: number;
  #held = '';

  constructor(words: readonly string[]) {
    this.#words = words;
    this.#longest = Math.max(0, ...words.map((word) => word.length));
  }

  /** What may be shown now; the beginning of a word waits for its rest. */
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

  /** What was held back, once no more comes. */
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
 * Stop texts of white space alone: Claude refuses to be told of them ("stop_sequences: each stop
 * sequence must contain non-whitespace").
 */
export const blankStops = (stop: unknown): readonly string[] | undefined =>
  stop == null ? undefined : stopWords(stop).filter((word) => word.trim() === '');

/** Stop texts beyond those that a vendor takes. */
export const stopsBeyond = (stop: unknown, taken: number): readonly string[] | undefined =>
  stop == null ? undefined : stopWords(stop).slice(taken);

/** The client's `stop`, as a list without empty words. */
export function stopWords(stop: unknown): string[] {
  const words: unknown[] = Array.isArray(stop) ? stop : [stop];
  return words.filter((word): word is string => typeof word === 'string' && word !== '');
}
