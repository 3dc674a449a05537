import { parse } from '../../../base/json.ts';

/**
 * Begins the signatures that Tollgate writes for answers of other vendors. The bytes are a multiple
 * of three, so that every encoder begins with the same letters.
 */
const mark = Buffer.from('tgsig1');
const markText = mark.toString('base64');

/**
 * What another vendor requires back with its answer as a thought signature, which clients keep
 * unchanged. It is no secret: the client could read the same data in a chat completion.
 */
export const ownSignature = (value: unknown): string =>
  Buffer.concat([mark, Buffer.from(JSON.stringify(value))]).toString('base64');

export const isOwnSignature = (signature: unknown): signature is string =>
  typeof signature === 'string' && signature.startsWith(markText);

/** What Tollgate wrote into a signature; undefined for one that a vendor wrote. */
export const openSignature = (signature: unknown): unknown =>
  isOwnSignature(signature)
    ? parse(Buffer.from(signature, 'base64').subarray(mark.length).toString('utf8'))
    : undefined;
