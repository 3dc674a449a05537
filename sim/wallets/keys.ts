import { createSign, createVerify, generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface Pair {
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

export const newPair = (): Pair => generateKeyPairSync('rsa', { modulusLength: 2048 });

const pairs = new Map<string, Pair>();

/**
 * The key pair of that name, generated on first use. All simulators of a process share it, since a
 * pair costs a tenth of a second or more.
 */
export function pairOf(name: string): Pair {
  const pair = pairs.get(name) ?? newPair();
  pairs.set(name, pair);
  return pair;
}

export const privatePem = ({ privateKey }: Pair): string =>
  privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
export const publicPem = ({ publicKey }: Pair): string =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString();

export const signed = (text: string, key: KeyObject): string =>
  createSign('RSA-SHA256').update(text, 'utf8').sign(key, 'base64');

export const holds = (text: string, signature: string, key: KeyObject): boolean =>
  createVerify('RSA-SHA256').update(text, 'utf8').verify(key, signature, 'base64');
