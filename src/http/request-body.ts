import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { refuse } from '../base/refusal.ts';

/** Whether a request has a body, which may be empty if it has a type (RFC 9112 §6.3). */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] ?? '0') !== '0' ||
  headers['content-type'] !== undefined;

/**
 * Calls `done` once with the whole body, or with 'too large' as soon as it is known to exceed
 * `bytesMax`; never, when the client leaves before. What follows 'too large' is read and dropped,
 * so that the client receives the response.
 */
export function collectBody(
  body: Readable,
  headers: IncomingHttpHeaders,
  bytesMax: number,
  done: (body: Buffer | 'too large') => void,
): void {
  const pieces: Buffer[] = [];
  let bytes = 0;
  const tooLarge = (): void => {
    body.off('data', take).off('end', end).resume();
    done('too large');
  };
  const take = (piece: Buffer): void => {
    bytes += piece.length;
    if (bytes > bytesMax) return tooLarge();
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
 * its end. Throws the Refusal of one that is too large.
 */
export async function readBody(
  body: unknown,
  headers: IncomingHttpHeaders,
  bytesMax: number,
): Promise<Buffer | 'left'> {
  if (!(body instanceof Readable)) throw new Error('the endpoint reads its body itself');
  // The client left while the endpoint awaited something else: no further event follows.
  if (body.destroyed) return 'left';
  const read = await new Promise<Buffer | 'left' | 'too large'>((resolve) => {
    body.on('close', () => resolve('left')).on('error', () => resolve('left'));
    collectBody(body, headers, bytesMax, resolve);
  });
  return read === 'too large' ? refuse('request_too_large', { limit: bytesMax }) : read;
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
   * Adds a body; false when the account's bodies would exceed the limit. A single body always fits.
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
