import type { Ask } from '../adapter.ts';

/** Below this a copy costs less than several writes. */
const piecesBytesMin = 65_536;

/**
 * The body of a request that was made of another one's parts: as one where it is short, else
 * uncopied.
 */
export function inPieces(pieces: readonly Buffer[]): Pick<Ask, 'body' | 'rest'> {
  const [body, ...rest] = pieces;
  if (body !== undefined && rest.length === 0) return { body };
  const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return body === undefined || bytes <= piecesBytesMin
    ? { body: Buffer.concat(pieces, bytes) }
    : { body, rest };
}
