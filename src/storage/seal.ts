import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { assert } from '../base/assert.ts';

export const masterKeyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const version = 'v1.';

/** The master key is unusable or another one: the operator's to mend, and said without a stack. */
export class MasterKeyError extends Error {}

/**
 * Secrets at rest. Each purpose has its own key, so that what was sealed for one cannot be opened
 * as another.
 */
export interface Sealer {
  /** Text → `v1.` and base64url of nonce, ciphertext and tag. */
  seal(purpose: string, text: string): string;
  /** Throws when it was not sealed so, with this key, for this purpose. */
  unseal(purpose: string, sealed: string): string;
  /** 32 bytes for `purpose`, for signatures and the like. */
  key(purpose: string): Buffer;
}

/** AES-256-GCM under keys that HKDF-SHA256 derives from the master key. */
export function openSealer(masterKey: Buffer): Sealer {
  assert(masterKey.length === masterKeyBytes, 'the master key has 32 bytes');
  const keys = new Map<string, Buffer>();
  const key = (purpose: string): Buffer => {
    let derived = keys.get(purpose);
    if (derived === undefined) {
      derived = Buffer.from(hkdfSync('sha256', masterKey, '', `tollgate/${purpose}`, 32));
      keys.set(purpose, derived);
    }
    return derived;
  };
  return {
    key,
    seal(purpose, text) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key(purpose), nonce);
      const sealed = Buffer.concat([
        nonce,
        cipher.update(text, 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      return version + sealed.toString('base64url');
    },
    unseal(purpose, sealed) {
      const bytes = Buffer.from(sealed.slice(version.length), 'base64url');
      if (!sealed.startsWith(version) || bytes.length < nonceBytes + tagBytes)
        throw new Error('this is not a sealed secret');
      const decipher = createDecipheriv(
        'aes-256-gcm',
        key(purpose),
        bytes.subarray(0, nonceBytes),
        { authTagLength: tagBytes },
      );
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      try {
        return Buffer.concat([
          decipher.update(bytes.subarray(nonceBytes, -tagBytes)),
          decipher.final(),
        ]).toString('utf8');
      } catch (error) {
        throw new MasterKeyError(
          `a secret sealed for '${purpose}' cannot be opened: the master key is not the one that it was sealed with`,
          {
            cause: error,
          },
        );
      }
    },
  };
}
