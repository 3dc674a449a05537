import { randomBytes } from 'node:crypto';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const unbiasedBelow = 256 - (256 % alphabet.length);

let pool = randomBytes(4096);
let used = 0;

/** `length` random characters of [A-Za-z0-9] from the system's generator, without modulo bias. */
export function randomText(length: number): string {
  let text = '';
  while (text.length < length) {
    if (used === pool.length) {
      pool = randomBytes(4096);
      used = 0;
    }
    const byte = pool[used++] ?? 255;
    if (byte < unbiasedBelow) text += alphabet[byte % alphabet.length];
  }
  return text;
}

let hexPool = '';
let hexUsed = 0;

/** `req_` and 32 hexadecimal digits: the id of a request, of its charge and of its usage record. */
export function requestId(): string {
  if (hexUsed >= hexPool.length) {
    hexPool = randomBytes(2048).toString('hex');
    hexUsed = 0;
  }
  const id = `req_${hexPool.slice(hexUsed, hexUsed + 32)}`;
  hexUsed += 32;
  return id;
}
