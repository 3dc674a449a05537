import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { refuse } from '../base/refusal.ts';

/**
 * Whether the head says how long the body is, and that it is no longer than `bytesMax`. Node holds
 * the client to it.
 */
export function tellsLength({ headers }: IncomingMessage, bytesMax: number): boolean {
  return (
    headers['transfer-encoding'] === undefined && Number(headers['content-length']) <= bytesMax
  );
}

/**
 * Calls `done` with the whole body; never, when the client leaves before its end. For bodies of a
 * told length.
 */
export function collectBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const [only] = pieces;
    done(only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces));
  });
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
  const pieces: Buffer[] = [];
  let bytes = 0;
  const tooLarge = (): never => {
    // What is still coming is read and forgotten, so that the client hears the answer.
    body.on('error', () => {}).resume();
    return refuse('request_too_large', { limit: bytesMax });
  };
  if (Number(headers['content-length'] ?? 0) > bytesMax) tooLarge();
  return new Promise((resolve, reject) => {
    body
      .on('data', (piece: Buffer) => {
        bytes += piece.length;
        if (bytes <= bytesMax) pieces.push(piece);
        else
          try {
            pieces.length = 0;
            tooLarge();
          } catch (error) {
            reject(error);
          }
      })
      .on('end', () => resolve(Buffer.concat(pieces)))
      .on('close', () => resolve('left'))
      .on('error', () => resolve('left'));
  });
}
