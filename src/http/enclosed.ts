import { Readable } from 'node:stream';
import type { Spool } from './spool.ts';

/** A file in the body of a request: as it is, or in base64. */
export interface Enclosed {
  readonly file: Spool;
  readonly as: 'bytes' | 'base64';
}

/** Three bytes are four characters: a piece that ends between has none to spare. */
const base64PieceBytes = 48 * 1024;

/**
 * The body of a request whose files are read while they are sent, and its bytes. Without files it
 * is its pieces.
 */
export function followed(
  body: Buffer,
  rest: readonly (Buffer | Enclosed)[],
): { readonly body: Readable | readonly Buffer[]; readonly length: number } {
  const length = rest.reduce((sum, part) => sum + lengthOf(part), body.length);
  const pieces = [body, ...rest];
  return {
    body: pieces.every(isBytes) ? pieces : Readable.from(bytesOf(pieces), { objectMode: false }),
    length,
  };
}

const isBytes = (part: Buffer | Enclosed): part is Buffer => Buffer.isBuffer(part);

function lengthOf(part: Buffer | Enclosed): number {
  if (Buffer.isBuffer(part)) return part.length;
  return part.as === 'bytes' ? part.file.size : Math.ceil(part.file.size / 3) * 4;
}

async function* bytesOf(parts: readonly (Buffer | Enclosed)[]): AsyncGenerator<Buffer, void, void> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part;
    else if (part.as === 'bytes') yield* part.file.read();
    else
      for (let at = 0; at < part.file.size; at += base64PieceBytes)
        yield Buffer.from(
          (await part.file.slice(at, base64PieceBytes)).toString('base64'),
          'latin1',
        );
  }
}
