import { randomBytes } from 'node:crypto';

/** Uniform in [0, 1). Passed in as an argument where tests must repeat a run. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();

/** A repeatable generator (mulberry32) for tests and simulations, which print their seed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

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

/**
 * `prefix`, the time in nine digits of base 36, and random text: the order of ids is the order of
 * time, so that pages go on where they ended.
 */
export function orderedId(prefix: string, at: number): string {
  return prefix + at.toString(36).padStart(9, '0') + randomText(13);
}

const randomDigits = 20;
let hexPool = '';
let hexUsed = 0;

/**
 * `req_` and 32 hexadecimal digits: the id of a request, of its charge and of its usage record.
 * Twelve digits are the time in milliseconds and twenty are random: rows of one moment lie beside
 * each other in every index, so that a commit writes a few pages and not some for each row.
 */
export function requestId(now: number): string {
  if (hexUsed >= hexPool.length) {
    hexPool = randomBytes(randomDigits * 64).toString('hex');
    hexUsed = 0;
  }
  const random = hexPool.slice(hexUsed, hexUsed + randomDigits);
  hexUsed += randomDigits;
  return firstIdAt(now) + random;
}

/** The least id of a request of this moment: wall clock, ms. */
export const firstIdAt = (at: number): string =>
  `req_${Math.max(0, Math.floor(at)).toString(16).padStart(12, '0')}`;

/** The time in the id of a request: wall clock, ms. NaN: it is no id of a request. */
export const timeOfId = (id: string): number => Number.parseInt(id.slice(4, 16), 16);
