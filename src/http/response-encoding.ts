import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const gzipped = promisify(gzip);

/** A smaller body fits into one packet, compressed or not. */
const compressedBytesMin = 1_024;

/** A body as it is sent, and the headers that say so. */
interface EncodedBody {
  readonly body: Buffer | string;
  readonly headers: Readonly<Record<string, string>>;
}

const plainHeaders = { vary: 'accept-encoding' };
const gzipHeaders = { ...plainHeaders, 'content-encoding': 'gzip' };

/**
 * Compresses a text of more than a kilobyte with gzip, outside the event loop, when the client's
 * `accept-encoding` has it. For whole bodies alone: an event of a stream would wait for the next.
 */
export async function encodeBody(
  body: string,
  acceptEncoding: string | string[] | undefined,
): Promise<EncodedBody> {
  if (body.length < compressedBytesMin) return { body, headers: {} };
  return acceptsEncoding(acceptEncoding, 'gzip')
    ? { body: await gzipped(body), headers: gzipHeaders }
    : { body, headers: plainHeaders };
}

/** JSON that is the same for many clients: serialized and compressed once. */
export class CompressedJson {
  readonly #plain: Buffer;
  readonly #gzipped: Buffer;

  private constructor(plain: Buffer, compressed: Buffer) {
    this.#plain = plain;
    this.#gzipped = compressed;
  }

  static async of(value: unknown): Promise<CompressedJson> {
    const plain = Buffer.from(JSON.stringify(value));
    return new CompressedJson(plain, await gzipped(plain));
  }

  /** The body that this client takes. */
  encodedFor(acceptEncoding: string | string[] | undefined): EncodedBody {
    return acceptsEncoding(acceptEncoding, 'gzip')
      ? { body: this.#gzipped, headers: gzipHeaders }
      : { body: this.#plain, headers: plainHeaders };
  }
}

export function acceptsEncoding(
  header: string | string[] | undefined,
  encoding: 'br' | 'gzip',
): boolean {
  return new RegExp(`(?:^|,)\\s*${encoding}\\s*(?:,|$|;(?!\\s*q=0(?:\\.0*)?\\s*(?:,|$)))`).test(
    String(header ?? ''),
  );
}
