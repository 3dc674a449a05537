import type { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, type Dispatcher, request } from 'undici';
import type { ByteRange } from '../base/byte-range.ts';
import type { Clock } from '../base/clock.ts';
import { type AwsKeys, AwsSigner, uriEncoded } from '../base/sigv4.ts';

type Query = Readonly<Record<string, string>>;
type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

const none = Buffer.alloc(0);
const connectMs = 5_000;
const silenceMs = 30_000;
const attemptsMax = 3;
const firstPauseMs = 200;
/** What passes: another attempt may succeed. */
const passing = new Set([429, 500, 502, 503, 504]);
/** Answers of ours are lists of a few uploads at most. */
const answerBytesMax = 4 * 1024 * 1024;

/**
 * Signed calls to one bucket. Each can be repeated without harm, and is where the store was busy or
 * the connection broke.
 */
export class S3Calls {
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

  /** The answer's text. Throws when it is no success. */
  async text(method: Method, path: string, query: Query, body: Buffer = none): Promise<string> {
    const reply = await this.#call(method, path, query, body);
    const text = await textOf(reply);
    if (reply.statusCode >= 300) throw refused(method, reply, text);
    return text;
  }

  /** An empty object, in one attempt. */
  async put(path: string, stop: AbortSignal): Promise<void> {
    const reply = await this.#sent('PUT', path, {}, none, {}, stop);
    const text = await textOf(reply);
    if (reply.statusCode >= 300) throw refused('PUT', reply, text);
  }

  /** The tag of the part, which completes the upload. */
  async putPart(path: string, query: Query, part: Buffer): Promise<string> {
    const reply = await this.#call('PUT', path, query, part);
    const text = await textOf(reply);
    const { etag } = reply.headers;
    if (reply.statusCode >= 300 || typeof etag !== 'string') throw refused('PUT', reply, text);
    return etag;
  }

  /** What is not there is removed. */
  async remove(path: string, query: Query): Promise<void> {
    const reply = await this.#call('DELETE', path, query, none);
    const text = await textOf(reply);
    if (reply.statusCode >= 300 && reply.statusCode !== 404) throw refused('DELETE', reply, text);
  }

  async read(path: string, { first, last }: ByteRange): Promise<Readable | undefined> {
    const reply = await this.#call('GET', path, {}, none, { range: `bytes=${first}-${last}` });
    // Whoever stops reading breaks the connection, which is no error.
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

/** Its code says what is wrong; the rest of it repeats what was signed. */
function refused(method: Method, { statusCode }: Dispatcher.ResponseData, text: string): Error {
  const code = /<Code>(\w+)<\/Code>/.exec(text)?.[1] ?? 'no code';
  return new Error(`the store answered ${statusCode} (${code}) to a ${method}`);
}
