import type { Reservation } from '../../ledger/contract.ts';
import { type Admission, affordableTokens, worstCaseOf } from '../admit.ts';

/**
 * Output tokens reserved at first for a streamed answer, and the most reserved at a time (till.md
 * §5).
 */
const sliceFirst = 256;
const sliceMax = 4_096;
/**
 * Progress counts one token for two bytes. Reserving too much is harmless, since settling corrects
 * it.
 */
const bytesPerTokenReserved = 2;
/** More bytes per token mean that the answer exceeds the output limit that was reserved. */
const bytesPerTokenMax = 8;
/**
 * No text has more bytes per token, apart from some tokens of blanks or dashes. Recorded answers
 * have at most 18.
 */
const bytesPerTokenEver = 32;
const tokensOfBlanks = 1_024;

export function firstSlice(outputTokens: number): number {
  return Math.min(sliceFirst, outputTokens);
}

/**
 * The money behind one running answer. Knows how far the answer may go, and takes the next slice
 * before it is needed. The common path compares each piece with `nextLookBytes` only.
 */
export class ReservedFunds {
  nextLookBytes: number;
  readonly #reservation: Reservation;
  readonly #admitted: Admission;
  /** The most output tokens that can be charged (bound.ts). */
  readonly outputMost: number;
  /** The most thinking tokens that can be charged beside them. */
  thinkingMost = 0;
  /** The reserved output limit. Without a limit, a usual one, until the answer exceeds it. */
  #mostTokens: number;
  #coveredTokens: number;
  #slice = sliceFirst;
  #asking: Promise<boolean> | undefined;

  /**
   * `tokensAtFirst`: how much of the answer the first reservation was to cover; it may cover less.
   */
  constructor(
    reservation: Reservation,
    admitted: Admission,
    tokensAtFirst: number,
    outputMost: number,
  ) {
    this.#reservation = reservation;
    this.#admitted = admitted;
    this.outputMost = outputMost;
    this.#mostTokens = admitted.outputTokens;
    this.#coveredTokens =
      reservation.amount >= worstCaseOf(admitted, tokensAtFirst)
        ? tokensAtFirst
        : affordableTokens(admitted, reservation.amount);
    this.nextLookBytes = this.#lookAt();
  }

  get reservation(): Reservation {
    return this.#reservation;
  }

  /** Called for a channel whose models think beyond the output limit. */
  allowThinking(tokens: number): void {
    this.thinkingMost = tokens;
    this.nextLookBytes = this.#lookAt();
  }

  /**
   * Whether the answer is longer than any answer within the limits: its vendor ignores them, or
   * sends without end.
   */
  isPast(bytes: number): boolean {
    return bytes > this.#endBytes;
  }

  get #endBytes(): number {
    return (this.outputMost + this.thinkingMost + tokensOfBlanks) * bytesPerTokenEver;
  }

  /**
   * The byte count of the next check: half a slice before the money ends; once the whole answer is
   * covered, only where a longer answer would begin.
   */
  #lookAt(): number {
    if (this.#admitted.most !== undefined) return Infinity;
    if (!this.canGrow())
      return this.#mostTokens < this.outputMost
        ? this.#mostTokens * bytesPerTokenMax
        : this.#endBytes;
    return Math.max(0, this.#coveredTokens - Math.ceil(this.#slice / 2)) * bytesPerTokenReserved;
  }

  /** Whether an answer of this many bytes exceeds what is reserved. */
  exceeded(bytes: number): boolean {
    if (!this.canGrow()) {
      if (this.#mostTokens >= this.outputMost || bytes <= this.#mostTokens * bytesPerTokenMax)
        return false;
      this.#mostTokens = Math.min(
        this.outputMost,
        Math.ceil(bytes / bytesPerTokenReserved) + sliceFirst,
      );
    }
    return bytes > this.#coveredTokens * bytesPerTokenReserved;
  }

  /**
   * Whether the reservation covers the tokens that the model could have written by now at top
   * speed. Thinking is not visible, so it is paid for by the clock.
   */
  coversTokens(tokens: number): boolean {
    return tokens <= this.#coveredTokens;
  }

  /** Takes the next slice if it is free at once. */
  grow(): void {
    if (!this.canGrow()) return;
    const target = this.#target();
    const missing = worstCaseOf(this.#admitted, target) - this.#reservation.amount;
    if (missing <= 0n || this.#reservation.extend(missing) >= missing) this.#covered(target);
  }

  /** Whether more of this answer is to be paid for than is covered. */
  canGrow(): boolean {
    return this.#coveredTokens < this.#mostTokens;
  }

  /**
   * Waits for the next slice; false when the account has no money for it in time. Concurrent
   * callers share one wait.
   */
  growOrWait(waitMs: number): Promise<boolean> {
    this.#asking ??= this.#ask(waitMs).finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(waitMs: number): Promise<boolean> {
    const target = this.#target();
    const missing = worstCaseOf(this.#admitted, target) - this.#reservation.amount;
    if (missing > 0n) {
      const one =
        worstCaseOf(this.#admitted, this.#coveredTokens + 1) -
        worstCaseOf(this.#admitted, this.#coveredTokens);
      const got = await this.#reservation.extendOrWait(
        missing,
        missing < one ? missing : one,
        waitMs,
      );
      if (got === 0n) return false;
      if (got < missing) {
        const affordable = affordableTokens(this.#admitted, this.#reservation.amount);
        if (affordable <= this.#coveredTokens) return false;
        this.#covered(affordable);
        return true;
      }
    }
    this.#covered(target);
    return true;
  }

  #target(): number {
    return Math.min(this.#mostTokens, this.#coveredTokens + this.#slice);
  }

  #covered(tokens: number): void {
    this.#coveredTokens = Math.max(this.#coveredTokens, tokens);
    this.#slice = Math.min(sliceMax, this.#slice * 2);
    this.nextLookBytes = this.#lookAt();
  }
}
