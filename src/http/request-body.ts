import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { Refusal, refusal } from '../base/refusal.ts';

/** Whether a request has a body, which may be empty if it has a type (RFC 9112 §6.3). */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] ?? '0') !== '0' ||
  headers['content-type'] !== undefined;

/**
 * Calls `done` once with the whole body, or with the refusal of one that exceeds `bytesMax` or for
 * which `held` has no room, as soon as that is known; never, when the client leaves before. The
 * rest of a refused body is read and dropped, so that the client receives the response. `held`
 * grows with a body without `content-length`, and knows the size of every other one.
 */
export function collectBody(
  body: Readable,
  headers: IncomingHttpHeaders,
  bytesMax: number,
  done: (body: Buffer | Refusal) => void,
  held?: HeldBody,
): void {
  const growing = headers['content-length'] === undefined ? held : undefined;
  const pieces: Buffer[] = [];
  let bytes = 0;
  const stop = (why: Refusal): void => {
    body.off('data', take).off('end', end).resume();
    // The listener for errors keeps them in memory while the rest is read.
    pieces.length = 0;
    done(why);
  };
  const tooLarge = (): void => stop(refusal('request_too_large', { limit: bytesMax }));
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > bytesMax) return tooLarge();
    const why = growing?.resize(bytes);
    if (why !== undefined) return stop(why);
    pieces.push(piece);
  };
  const end = (): void => {
    const [only] = pieces;
    done(only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces));
  };
  // Without a listener, the error of a client that leaves would end the process.
  body.on('error', () => {});
  if (Number(headers['content-length']) > bytesMax) tooLarge();
  else body.on('data', take).on('end', end);
}

/**
 * The whole body of a request that its endpoint reads itself; `left`: the client went away before
 * its end. Throws the refusal of `collectBody`.
 */
export async function readBody(
  body: unknown,
  headers: IncomingHttpHeaders,
  bytesMax: number,
  held?: HeldBody,
): Promise<Buffer | 'left'> {
  if (!(body instanceof Readable)) throw new Error('the endpoint reads its body itself');
  // The client left while the endpoint awaited something else: no further event follows.
  if (body.destroyed) return 'left';
  const read = await new Promise<Buffer | 'left' | Refusal>((resolve) => {
    body.on('close', () => resolve('left')).on('error', () => resolve('left'));
    collectBody(body, headers, bytesMax, resolve, held);
  });
  if (read instanceof Refusal) throw read;
  return read;
}

/**
 * Smaller bodies are not counted: the fast path reads them, or they cost less than counting them.
 */
export const uncountedBytes = 65_536;

/**
 * Counts for each account the bytes of large bodies in memory, from the head of the request to the
 * end of the response, and limits them.
 */
export class BodyBudget {
  readonly #held = new Map<string, number>();
  readonly #bytesMax: number;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * Adds a body, of which `before` bytes are counted already. Returns the refusal where the
   * account's bodies would exceed the limit. A single body always fits.
   */
  enter(account: string, bytes: number, before = 0): Refusal | undefined {
    const others = (this.#held.get(account) ?? 0) - before;
    if (others > 0 && others + bytes > this.#bytesMax)
      return refusal('body_bytes_in_flight', { limit: this.#bytesMax }, roomRetryMs);
    this.#held.set(account, others + bytes);
    return undefined;
  }

  leave(account: string, bytes: number): void {
    const left = (this.#held.get(account) ?? 0) - bytes;
    if (left > 0) this.#held.set(account, left);
    else this.#held.delete(account);
  }
}

/** The `retry-after` of a body that had no room. */
const roomRetryMs = 1_000;

/** The body of one request in the budget of its account. */
export class HeldBody {
  readonly #budget: BodyBudget;
  readonly #account: string;
  #bytes = 0;
  #released = false;

  constructor(budget: BodyBudget, account: string) {
    this.#budget = budget;
    this.#account = account;
  }

  /** Counts the body as so many bytes from now on. Returns the refusal where they have no room. */
  resize(bytes: number): Refusal | undefined {
    if (this.#released) return undefined;
    if (!(bytes > uncountedBytes)) {
      this.#budget.leave(this.#account, this.#bytes);
      this.#bytes = 0;
      return undefined;
    }
    const why = this.#budget.enter(this.#account, bytes, this.#bytes);
    if (why === undefined) this.#bytes = bytes;
    return why;
  }

  /** Gives all bytes back. The body is not counted any more. */
  release(): void {
    this.resize(0);
    this.#released = true;
  }
}

/** Runs one task of each account at a time; the others wait in the order in which they came. */
export class AccountQueue {
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
    // Direct calls would make the stack as deep as the queue is long.
    else setImmediate(next);
  }
}
