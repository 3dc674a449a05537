import type { IncomingMessage } from 'node:http';

/** Whether the head says how long the body is, and that it is no longer than `bytesMax`. Node holds the client to it. */
export function tellsLength({ headers }: IncomingMessage, bytesMax: number): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length']) <= bytesMax;
}

/** Calls `done` with the whole body; never, when the client leaves before its end. For bodies of a told length. */
export function collectBody(request: IncomingMessage, done: (body: Buffer) => void): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const [only] = pieces;
    done(only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces));
  });
}
