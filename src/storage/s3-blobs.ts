import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import type { ByteRange } from '../base/byte-range.ts';
import type { Clock } from '../base/clock.ts';
import { type AwsKeys, AwsSigner, uriEncoded } from '../base/sigv4.ts';
import { type Blobs, requireKey } from './blobs.ts';

/** A bucket and a prefix in it. */
export interface S3Place {
  /** The bucket's URL, to which keys are appended after a `/`. */
  readonly bucketUrl: string;
  /** Empty, or ends in `/`. */
  readonly prefix: string;
  readonly region: string;
  readonly keys: AwsKeys;
}

/**
 * Blobs as objects of a bucket of Amazon's S3, or of any store with its interface. A content of up
 * to `partBytes` is one request; a larger one goes up part by part, so that no more than a part of
 * it is ever held, and stands under its key only when all parts are there.
 */
export function openS3Blobs(
  place: S3Place,
  clock: Clock,
  partBytes: number = usualPartBytes,
): Blobs {
  return new S3Blobs(place, clock, partBytes);
}

/**
 * S3 requires at least 5 MiB of every part but the last, and at most 10,000 parts
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
   * The store keeps, and charges for, the parts of an unfinished upload until the upload is
   * aborted.
   */
  async abandon(key: string): Promise<void> {
    const path = this.#path(key);
    // If the keys do not allow the list, a rule of the store's operator removes the parts; if the
    // store is away, the last call throws.
    const uploads = await this.#calls
      .text('GET', '', { uploads: '', prefix: path })
      .catch(() => '');
    for (const [, upload = ''] of uploads.matchAll(/<Upload>([^]*?)<\/Upload>/g))
      if (memberOf(upload, 'Key') === path)
        await this.#calls.remove(path, { uploadId: memberOf(upload, 'UploadId') });
    await this.#calls.remove(path, {});
  }

  /** Writes an empty object, always the same one: the check does what a write will do. */
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
    // The response can begin with 200 and end with an error
    // (docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html, 2026-11).
    if (!answer.includes('<CompleteMultipartUploadResult'))
      throw new Error(`the store did not complete an upload: ${memberOf(answer, 'Code')}`);
  }

  #path(key: string): string {
    requireKey(key);
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

/** The text of the first element of that name; empty without one. */
function memberOf(xml: string, name: string): string {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1] ?? '';
  return signs.reduce((read, [sign, written]) => read.replaceAll(written, sign), text);
}

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

type Query = Readonly<Record<string, string>>;
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

const none = Buffer.alloc(0);
const connectMs = 5_000;
const silenceMs = 30_000;
const attemptsMax = 3;
const firstPauseMs = 200;
/** Statuses after which another attempt may succeed. */
const passing = new Set([429, 500, 502, 503, 504]);
/** The largest responses are lists of a few uploads. */
const answerBytesMax = 4 * 1024 * 1024;

/**
 * Signed calls to one bucket. Each can be repeated without harm, and is retried when the store is
 * busy or the connection breaks.
 */
class S3Calls {
  readonly #bucketUrl: string;
  readonly #signer: AwsSigner;
  readonly #clock: Clock;
  readonly #agent = new Agent({
    connect: { timeout: connectMs },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  });

  constructor(bucketUrl: string, keys: AwsKeys, region: string, clock: Clock) {
    this.#bucketUrl = bucketUrl;
    this.#signer = new AwsSigner(keys, region, 's3');
    this.#clock = clock;
  }

  /** Calls, and returns the text of the response. */
  async text(method: Method, path: string, query: Query, body: Buffer = none): Promise<string> {
    return successText(method, await this.#call(method, path, query, body));
  }

  /** Writes an empty object, in one attempt. */
  async put(path: string, stop: AbortSignal): Promise<void> {
    await successText('PUT', await this.#sent('PUT', path, {}, none, {}, stop));
  }

  /** Uploads a part. Returns its tag, which completes the upload. */
  async putPart(path: string, query: Query, part: Buffer): Promise<string> {
    const reply = await this.#call('PUT', path, query, part);
    const text = await successText('PUT', reply);
    const { etag } = reply.headers;
    if (typeof etag !== 'string') throw refused('PUT', reply, text);
    return etag;
  }

  /** Removes an object; a missing one counts as removed. */
  async remove(path: string, query: Query): Promise<void> {
    const reply = await this.#call('DELETE', path, query, none);
    if (reply.statusCode === 404) await reply.body.dump();
    else await successText('DELETE', reply);
  }

  async read(path: string, { first, last }: ByteRange): Promise<Readable | undefined> {
    const reply = await this.#call('GET', path, {}, none, { range: `bytes=${first}-${last}` });
    // A reader that stops early breaks the connection, which is no error.
    reply.body.on('error', () => {});
    const asked = reply.statusCode === 206 || (reply.statusCode === 200 && first === 0);
    if (asked && Number(reply.headers['content-length']) === last - first + 1) return reply.body;
    const text = await textOf(reply);
    if (reply.statusCode === 404 && !text.includes('NoSuchBucket')) return undefined;
    throw refused('GET', reply, text);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }

  async #call(
    method: Method,
    path: string,
    query: Query,
    body: Buffer,
    headers: Query = {},
  ): Promise<Dispatcher.ResponseData> {
    for (let attempt = 1; ; attempt++) {
      const sent = this.#sent(method, path, query, body, headers);
      const reply = attempt < attemptsMax ? await sent.catch(() => undefined) : await sent;
      if (reply !== undefined && (attempt === attemptsMax || !passing.has(reply.statusCode)))
        return reply;
      await reply?.body.dump();
      await pause(firstPauseMs * 2 ** (attempt - 1));
    }
  }

  #sent(
    method: Method,
    path: string,
    query: Query,
    body: Buffer,
    headers: Query,
    signal?: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const search = new URLSearchParams(query).toString();
    const url = `${this.#bucketUrl}/${path.split('/').map(uriEncoded).join('/')}${search && '?'}${search}`;
    const signed = {
      ...headers,
      ...this.#signer.sign({ method, url, headers, body }, this.#clock.now()),
    };
    const options = {
      ...(method === 'GET' ? {} : { body }),
      ...(signal === undefined ? {} : { signal }),
    };
    return request(url, { method, headers: signed, dispatcher: this.#agent, ...options });
  }
}

/** The text of a response. Throws when it is no success. */
async function successText(method: Method, reply: Dispatcher.ResponseData): Promise<string> {
  const text = await textOf(reply);
  if (reply.statusCode >= 300) throw refused(method, reply, text);
  return text;
}

async function textOf({ body }: Dispatcher.ResponseData): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of body) {
    if (!Buffer.isBuffer(piece)) continue;
    bytes += piece.length;
    if (bytes > answerBytesMax)
      throw new Error(`the store's answer has more than ${answerBytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

/** The error names only the code of the response, whose rest repeats what was signed. */
function refused(method: Method, { statusCode }: Dispatcher.ResponseData, text: string): Error {
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? 'no code';
  return new Error(`the store answered ${statusCode} (${code}) to a ${method}`);
}
