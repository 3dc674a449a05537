import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/**
 * Undoes a content coding that we did not ask for but some vendors use all the same. Throws when it
 * is unknown, broken or larger than `bytesMax`.
 */
export function decoded(body: Buffer, coding: string | undefined, bytesMax: number): Buffer {
  const options = { maxOutputLength: bytesMax };
  if (coding === undefined || coding === '' || coding === 'identity') return body;
  if (coding === 'gzip') return gunzipSync(body, options);
  if (coding === 'deflate') return inflateSync(body, options);
  if (coding === 'br') return brotliDecompressSync(body, options);
  throw new Error(`content-encoding ${coding} was not asked for`);
}
