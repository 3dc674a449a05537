import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const gzipped = promisify(gzip);

/** A smaller body fits into one packet, packed or not. */
const packedBytesMin = 1_024;

/** A body as it is sent, and the headers that say so. */
export interface EncodedBody {
  readonly body: Buffer | string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Packs a text of more than a kilobyte with gzip, outside the event loop, when the client's
 * `accept-encoding` has it. For whole bodies alone: an event of a stream would wait for the next.
 */
export async function encodeBody(
  body: string,
  acceptEncoding: string | string[] | undefined,
): Promise<EncodedBody> {
  if (body.length < packedBytesMin) return { body, headers: {} };
  const headers = { vary: 'accept-encoding' };
  if (!acceptsEncoding(acceptEncoding, 'gzip')) return { body, headers };
  return {
    body: await gzipped(body),
    headers: { ...headers, 'content-encoding': 'gzip' },
  };
}

/** A text that is sent many times: packed once. */
export interface PackedText {
  readonly plain: Buffer;
  readonly packed: Buffer;
}

export async function packText(text: string): Promise<PackedText> {
  const plain = Buffer.from(text);
  return { plain, packed: await gzipped(plain) };
}

/** The body that this client takes. */
export function packedFor(
  { plain, packed }: PackedText,
  acceptEncoding: string | string[] | undefined,
): EncodedBody {
  const headers = { vary: 'accept-encoding' };
  return acceptsEncoding(acceptEncoding, 'gzip')
    ? { body: packed, headers: { ...headers, 'content-encoding': 'gzip' } }
    : { body: plain, headers };
}

export function acceptsEncoding(
  header: string | string[] | undefined,
  encoding: 'br' | 'gzip',
): boolean {
  return new RegExp(`(?:^|,)\\s*${encoding}\\s*(?:,|$|;(?!\\s*q=0(?:\\.0*)?\\s*(?:,|$)))`).test(
    String(header ?? ''),
  );
}
