import { type Readable, Transform, type TransformCallback } from 'node:stream';
import * as zlib from 'node:zlib';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';
import { Refusal, refusal } from '../base/refusal.ts';

/**
 * A body may unpack to this many bytes, or to `ratioMax` times its own size, if that is more. JSON
 * packs to about a tenth.
 */
const floorBytes = 1024 * 1024;
const ratioMax = 200;
const chunkSize = 64 * 1024;

interface Coding {
  whole(packed: Buffer, bytesMax: number, done: (error: Error | null, body: Buffer) => void): void;
  stream(): Transform;
}

const gzip: Coding = {
  whole: (packed, maxOutputLength, done) =>
    zlib.gunzip(packed, { maxOutputLength, chunkSize }, done),
  stream: () => zlib.createGunzip({ chunkSize }),
};
/** RFC 9110 §8.4.1.2: deflate data in zlib's frame. */
const deflate: Coding = {
  whole: (packed, maxOutputLength, done) =>
    zlib.inflate(packed, { maxOutputLength, chunkSize }, done),
  stream: () => zlib.createInflate({ chunkSize }),
};
const brotli: Coding = {
  whole: (packed, maxOutputLength, done) =>
    zlib.brotliDecompress(packed, { maxOutputLength, chunkSize }, done),
  stream: () => zlib.createBrotliDecompress({ chunkSize }),
};

/**
 * In Node 22.15 and later (nodejs.org/api/zlib.html, 2026-11). The installed types do not have it.
 */
interface ZstdZlib {
  zstdDecompress(
    packed: Buffer,
    options: zlib.ZlibOptions,
    done: (error: Error | null, body: Buffer) => void,
  ): void;
  createZstdDecompress(options: zlib.ZlibOptions): Transform;
}
const hasZstd = (module: object): module is ZstdZlib =>
  'zstdDecompress' in module && 'createZstdDecompress' in module;

function zstd(): readonly (readonly [string, Coding])[] {
  const module: object = zlib;
  if (!hasZstd(module)) return [];
  return [
    [
      'zstd',
      {
        whole: (packed, maxOutputLength, done) =>
          module.zstdDecompress(packed, { maxOutputLength, chunkSize }, done),
        stream: () => module.createZstdDecompress({ chunkSize }),
      },
    ],
  ];
}

const codings: ReadonlyMap<string, Coding> = new Map([
  ['gzip', gzip],
  ['deflate', deflate],
  ['br', brotli],
  ...zstd(),
]);

/** The content codings that requests may use, as `Accept-Encoding` lists them. */
export const supportedEncodings = [...codings.keys()].join(', ');

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
 * Unpacks a request's body: either all of its bytes, or a stream that its endpoint reads. `done` is
 * called once with the body. `failed` is called at most once, with the Refusal of a body that does
 * not match its coding or unpacks to more than `bytesMax`. For a stream, `failed` may be called
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
  const unpacker = codings.get(coding);
  if (unpacker === undefined) {
    if (!Buffer.isBuffer(body)) drain(body);
    return failed(
      refusal('unsupported_encoding', { got: coding.slice(0, 64), accepted: supportedEncodings }),
    );
  }
  if (!Buffer.isBuffer(body)) return done(unpacked(body, unpacker, coding, failed));
  const allowed = allowedFrom(body.length);
  unpacker.whole(body, Math.min(bytesMax, allowed), (error, plain) => {
    if (error === null) done(plain);
    else if (!isTooLarge(error)) failed(broken(coding, error.message));
    else
      failed(
        bytesMax <= allowed ? refusal('request_too_large', { limit: bytesMax }) : bomb(coding),
      );
  });
}

const allowedFrom = (packedBytes: number): number => Math.max(floorBytes, packedBytes * ratioMax);

const isTooLarge = (error: Error): boolean =>
  'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';

const broken = (coding: string, why: string): Refusal =>
  refusal('malformed_encoding', { coding, why: `${why.slice(0, 200)}.` });

const bomb = (coding: string): Refusal =>
  broken(coding, `it decompresses to more than ${ratioMax} times its size`);

/** Reads and drops the rest of the body, so that the client can receive the answer. */
const drain = (body: Readable): void => void body.on('error', () => {}).resume();

/**
 * Unpacks a stream. The endpoint limits its length; this limits its growth over the packed bytes.
 */
function unpacked(
  body: Readable,
  unpacker: Coding,
  coding: string,
  failed: (why: Refusal) => void,
): Readable {
  const unpacking = unpacker.stream();
  const out = new GrowthLimit(coding);
  let packedBytes = 0;
  let hasFailed = false;
  const fail = (error: Error): void => {
    if (hasFailed) return;
    hasFailed = true;
    out.destroy();
    body.unpipe(unpacking);
    unpacking.destroy();
    drain(body);
    failed(error instanceof Refusal ? error : broken(coding, error.message));
  };
  body.on('data', (piece: Buffer) => {
    packedBytes += piece.length;
    out.bytesMax = allowedFrom(packedBytes);
  });
  body.on('error', () => out.destroy());
  body.on('close', () => {
    if (!body.readableEnded) out.destroy();
  });
  unpacking.on('error', fail);
  out.on('error', fail).on('close', () => {
    body.unpipe(unpacking);
    unpacking.destroy();
    drain(body);
  });
  body.pipe(unpacking).pipe(out);
  return out;
}

/** Passes unpacked bytes on, up to `bytesMax`, which the caller raises as packed bytes arrive. */
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
  if (coding === 'gzip') return gunzipSync(body, options);
  if (coding === 'deflate') return inflateSync(body, options);
  if (coding === 'br') return brotliDecompressSync(body, options);
  throw new Error(`content-encoding ${coding} was not asked for`);
}
