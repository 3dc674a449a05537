import { type Readable, Transform, type TransformCallback } from 'node:stream';
import * as zlib from 'node:zlib';
import { Refusal, refusal } from '../base/refusal.ts';
import { errorCodeOf } from '../base/thrown.ts';

/**
 * A body may decode to this many bytes, or to `ratioMax` times its own size, if that is more. JSON
 * is compressed to about a tenth.
 */
const floorBytes = 1024 * 1024;
const ratioMax = 200;
const chunkSize = 64 * 1024;

type Done = (error: Error | null, body: Buffer) => void;
type Limits = Pick<zlib.ZlibOptions, 'maxOutputLength' | 'chunkSize'>;

interface Decoder {
  whole(encoded: Buffer, bytesMax: number, done: Done): void;
  stream(): Transform;
}

const decoderOf = (
  whole: (encoded: Buffer, limits: Limits, done: Done) => void,
  stream: (limits: Limits) => Transform,
): Decoder => ({
  whole: (encoded, maxOutputLength, done) => whole(encoded, { maxOutputLength, chunkSize }, done),
  stream: () => stream({ chunkSize }),
});

/**
 * In Node 22.15 and later (nodejs.org/api/zlib.html, 2026-11). The installed types do not have it.
 */
interface ZstdZlib {
  zstdDecompress(encoded: Buffer, limits: Limits, done: Done): void;
  createZstdDecompress(limits: Limits): Transform;
}
const hasZstd = (module: object): module is ZstdZlib =>
  'zstdDecompress' in module && 'createZstdDecompress' in module;

const decoders = new Map([
  ['gzip', decoderOf(zlib.gunzip, zlib.createGunzip)],
  // RFC 9110 §8.4.1.2: deflate data in zlib's frame.
  ['deflate', decoderOf(zlib.inflate, zlib.createInflate)],
  ['br', decoderOf(zlib.brotliDecompress, zlib.createBrotliDecompress)],
]);
if (hasZstd(zlib)) decoders.set('zstd', decoderOf(zlib.zstdDecompress, zlib.createZstdDecompress));

/** The content codings that requests may use, as `Accept-Encoding` lists them. */
export const supportedEncodings = [...decoders.keys()].join(', ');

/**
 * The coding that the header names; undefined: the body is plain. `x-gzip` is gzip (RFC 9110
 * §8.4.1.3).
 */
export function requestEncodingOf(header: string | undefined): string | undefined {
  const name = header?.trim().toLowerCase();
  if (name === undefined || name === '' || name === 'identity') return undefined;
  return name === 'x-gzip' ? 'gzip' : name;
}

/**
 * Decodes a request's body: either all of its bytes, or a stream that its endpoint reads. `done` is
 * called once with the body. `failed` is called at most once, with the Refusal of a body that does
 * not match its coding or decodes to more than `bytesMax`. For a stream, `failed` may be called
 * after `done`, and the stream is destroyed then. The caller destroys the stream in the end: the
 * unread rest of the body is dropped then.
 */
export function decodeRequestBody(
  body: Buffer | Readable,
  coding: string,
  bytesMax: number,
  done: (body: Buffer | Readable) => void,
  failed: (why: Refusal) => void,
): void {
  const decoder = decoders.get(coding);
  if (decoder === undefined) {
    if (!Buffer.isBuffer(body)) drain(body);
    return failed(
      refusal('unsupported_encoding', { got: coding.slice(0, 64), accepted: supportedEncodings }),
    );
  }
  if (!Buffer.isBuffer(body)) return done(decodedStream(body, decoder, coding, failed));
  const allowed = allowedFrom(body.length);
  decoder.whole(body, Math.min(bytesMax, allowed), (error, plain) => {
    if (error === null) done(plain);
    else if (errorCodeOf(error) !== 'ERR_BUFFER_TOO_LARGE') failed(broken(coding, error.message));
    else
      failed(
        bytesMax <= allowed ? refusal('request_too_large', { limit: bytesMax }) : bomb(coding),
      );
  });
}

const allowedFrom = (encodedBytes: number): number => Math.max(floorBytes, encodedBytes * ratioMax);

const broken = (coding: string, why: string): Refusal =>
  refusal('malformed_encoding', { coding, why: `${why.slice(0, 200)}.` });

const bomb = (coding: string): Refusal =>
  broken(coding, `it decompresses to more than ${ratioMax} times its size`);

/** Reads and drops the rest of the body, so that the client can receive the answer. */
const drain = (body: Readable): void => void body.on('error', () => {}).resume();

/**
 * Decodes a stream. The endpoint limits its length; this limits its growth over the encoded bytes.
 */
function decodedStream(
  body: Readable,
  decoder: Decoder,
  coding: string,
  failed: (why: Refusal) => void,
): Readable {
  const decoding = decoder.stream();
  const out = new GrowthLimit(coding);
  let encodedBytes = 0;
  let hasFailed = false;
  const fail = (error: Error): void => {
    if (hasFailed) return;
    hasFailed = true;
    out.destroy();
    body.unpipe(decoding);
    decoding.destroy();
    drain(body);
    failed(error instanceof Refusal ? error : broken(coding, error.message));
  };
  body.on('data', (piece: Buffer) => {
    encodedBytes += piece.length;
    out.bytesMax = allowedFrom(encodedBytes);
  });
  body.on('error', () => out.destroy());
  body.on('close', () => {
    if (!body.readableEnded) out.destroy();
  });
  decoding.on('error', fail);
  out.on('error', fail).on('close', () => {
    body.unpipe(decoding);
    decoding.destroy();
    drain(body);
  });
  body.pipe(decoding).pipe(out);
  return out;
}

/** Passes decoded bytes on, up to `bytesMax`, which the caller raises as encoded bytes arrive. */
class GrowthLimit extends Transform {
  bytesMax = floorBytes;
  readonly #coding: string;
  #bytes = 0;

  constructor(coding: string) {
    super();
    this.#coding = coding;
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.bytesMax) done(bomb(this.#coding));
    else done(null, piece);
  }
}

/**
 * Undoes a content coding that some vendors use although Tollgate did not request it. Throws when
 * it is unknown, broken or larger than `bytesMax`.
 */
export function decodeResponseBody(
  body: Buffer,
  coding: string | undefined,
  bytesMax: number,
): Buffer {
  const options = { maxOutputLength: bytesMax };
  if (coding === undefined || coding === '' || coding === 'identity') return body;
  if (coding === 'gzip') return zlib.gunzipSync(body, options);
  if (coding === 'deflate') return zlib.inflateSync(body, options);
  if (coding === 'br') return zlib.brotliDecompressSync(body, options);
  throw new Error(`content-encoding ${coding} was not asked for`);
}
