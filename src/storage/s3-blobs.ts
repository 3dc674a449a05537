import type { Readable } from 'node:stream';
import type { ByteRange } from '../base/byte-range.ts';
import type { Clock } from '../base/clock.ts';
import type { AwsKeys } from '../base/sigv4.ts';
import type { Blobs } from './blobs.ts';
import { S3Calls } from './s3-calls.ts';

/** A bucket, and where in it. */
export interface S3Place {
  /** What keys are appended to after a `/`, as the bucket is addressed. */
  readonly bucketUrl: string;
  /** Empty, or ends in `/`. */
  readonly prefix: string;
  readonly region: string;
  readonly keys: AwsKeys;
}

/**
 * Blobs as objects of a bucket of Amazon's S3, or of any store that speaks its interface. A content
 * of up to `partBytes` is one request; a larger one goes up part by part, so that no more than a
 * part of it is ever held, and stands under its key only when all parts are there.
 */
export function openS3Blobs(
  place: S3Place,
  clock: Clock,
  partBytes: number = usualPartBytes,
): Blobs {
  return new S3Blobs(place, clock, partBytes);
}

/**
 * At least 5 MiB, which S3 asks of every part but the last; at most 10,000 of them
 * (docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html, 2026-11).
 */
const usualPartBytes = 8 * 1024 * 1024;

class S3Blobs implements Blobs {
  readonly #calls: S3Calls;
  readonly #prefix: string;
  readonly #partBytes: number;

  constructor(place: S3Place, clock: Clock, partBytes: number) {
    this.#calls = new S3Calls(place.bucketUrl, place.keys, place.region, clock);
    this.#prefix = place.prefix;
    this.#partBytes = partBytes;
  }

  async write(key: string, content: AsyncIterable<Buffer>): Promise<number> {
    const path = this.#path(key);
    const tags: string[] = [];
    let bytes = 0;
    let upload: string | undefined;
    try {
      for await (const { part, last } of partsOf(content, this.#partBytes)) {
        bytes += part.length;
        if (last && upload === undefined) {
          await this.#calls.text('PUT', path, {}, part);
          return bytes;
        }
        upload ??= await this.#begin(path);
        tags.push(
          await this.#calls.putPart(
            path,
            { partNumber: String(tags.length + 1), uploadId: upload },
            part,
          ),
        );
      }
      if (upload !== undefined) await this.#complete(path, upload, tags);
      return bytes;
    } catch (error) {
      if (upload !== undefined)
        await this.#calls.remove(path, { uploadId: upload }).catch(() => undefined);
      throw error;
    }
  }

  read(key: string, range: ByteRange): Promise<Readable | undefined> {
    return this.#calls.read(this.#path(key), range);
  }

  remove(key: string): Promise<void> {
    return this.#calls.remove(this.#path(key), {});
  }

  /**
   * Parts of an upload that nobody completes are stored, and charged for, until somebody says that
   * he will not.
   */
  async abandon(key: string): Promise<void> {
    const path = this.#path(key);
    // Where that may not be asked, the store forgets them by a rule of its operator's; where it is
    // away, the last call says so.
    const uploads = await this.#calls
      .text('GET', '', { uploads: '', prefix: path })
      .catch(() => '');
    for (const [, upload = ''] of uploads.matchAll(/<Upload>([^]*?)<\/Upload>/g))
      if (memberOf(upload, 'Key') === path)
        await this.#calls.remove(path, { uploadId: memberOf(upload, 'UploadId') });
    await this.#calls.remove(path, {});
  }

  /** By what is about to be done: an empty object is written, always the same. */
  check(stop: AbortSignal): Promise<void> {
    return this.#calls.put(this.#path('check'), stop);
  }

  close(): Promise<void> {
    return this.#calls.close();
  }

  async #begin(path: string): Promise<string> {
    return memberOf(await this.#calls.text('POST', path, { uploads: '' }), 'UploadId');
  }

  async #complete(path: string, uploadId: string, tags: readonly string[]): Promise<void> {
    const parts = tags.map(
      (tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`,
    );
    const body = Buffer.from(
      `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`,
    );
    const answer = await this.#calls.text('POST', path, { uploadId }, body);
    // It can begin with 200 and end with an error
    // (docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html, 2026-11).
    if (!answer.includes('<CompleteMultipartUploadResult'))
      throw new Error(`the store did not complete an upload: ${memberOf(answer, 'Code')}`);
  }

  #path(key: string): string {
    if (!/^\w{4,}$/.test(key)) throw new Error('this is no key of a blob');
    return `${this.#prefix}${key}`;
  }
}

interface Part {
  readonly part: Buffer;
  readonly last: boolean;
}

/** Pieces of at least `partBytes`, but for the last. */
async function* partsOf(content: AsyncIterable<Buffer>, partBytes: number): AsyncGenerator<Part> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of content) {
    if (bytes >= partBytes) {
      yield { part: Buffer.concat(pieces), last: false };
      pieces = [];
      bytes = 0;
    }
    pieces.push(piece);
    bytes += piece.length;
  }
  const [only] = pieces;
  yield {
    part: only !== undefined && pieces.length === 1 ? only : Buffer.concat(pieces),
    last: true,
  };
}

const signs: readonly (readonly [sign: string, name: string])[] = [
  ['<', '&lt;'],
  ['>', '&gt;'],
  ['"', '&quot;'],
  ["'", '&apos;'],
  ['"', '&#34;'],
  ["'", '&#39;'],
  ['&', '&amp;'],
];

/** What the first element of that name says; empty without one. */
function memberOf(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
  return signs.reduce((read, [sign, written]) => read.replaceAll(written, sign), text);
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
