/**
 * Smaller bodies are not counted: the fast path reads them, or they cost less than counting them.
 */
export const uncountedBytes = 65_536;

/**
 * Counts for each account the bytes of large bodies in memory, from the head of the request to the
 * end of the answer, and limits them.
 */
export class BodyBytes {
  readonly #held = new Map<string, number>();
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Adds a body; false where the account's bodies would be too many bytes. A single body always
   * fits.
   */
  enter(account: string, bytes: number): boolean {
    const held = this.#held.get(account) ?? 0;
    if (held > 0 && held + bytes > this.#bytesMax) return false;
    this.#held.set(account, held + bytes);
    return true;
  }

  leave(account: string, bytes: number): void {
    const left = (this.#held.get(account) ?? 0) - bytes;
    if (left > 0) this.#held.set(account, left);
    else this.#held.delete(account);
  }
}

/** One task of each account at a time; the others wait in the order in which they came. */
export class Turns {
  readonly #waiting = new Map<string, (() => void)[]>();

  /** Calls `task` when it is its turn, which lasts until it calls `over`. */
  take(account: string, task: (over: () => void) => void): void {
    const start = (): void => task(() => this.#next(account));
    const waiting = this.#waiting.get(account);
    if (waiting !== undefined) return void waiting.push(start);
    this.#waiting.set(account, []);
    start();
  }

  #next(account: string): void {
    const next = this.#waiting.get(account)?.shift();
    if (next === undefined) this.#waiting.delete(account);
    // Many that are over at once would be as deep a stack.
    else setImmediate(next);
  }
}
