import {
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  verify,
  X509Certificate,
} from 'node:crypto';

/** RSA with SHA-256 and PKCS #1 v1.5, base64: both wallets sign this way. */
export const rsaSign = (text: string, key: KeyObject): string =>
  sign('RSA-SHA256', Buffer.from(text, 'utf8'), key).toString('base64');

export function rsaVerifies(text: string, signature: string, key: KeyObject): boolean {
  const bytes = Buffer.from(signature, 'base64');
  return bytes.length > 0 && verify('RSA-SHA256', Buffer.from(text, 'utf8'), key, bytes);
}

/**
 * Reads PEM, or the bare base64 that wallets' tools write (PKCS #8 or PKCS #1). Undefined when it
 * is no RSA key.
 */
export function privateKeyFrom(text: string): KeyObject | undefined {
  return rsaOnly(
    firstOf(
      () => createPrivateKey(text),
      () => createPrivateKey({ key: der(text), format: 'der', type: 'pkcs8' }),
      () => createPrivateKey({ key: der(text), format: 'der', type: 'pkcs1' }),
    ),
  );
}

/** The same for a public key, or a certificate. */
export function publicKeyFrom(text: string): KeyObject | undefined {
  return rsaOnly(
    firstOf(
      () => new X509Certificate(text).publicKey,
      () => createPublicKey(text),
      () => createPublicKey({ key: der(text), format: 'der', type: 'spki' }),
    ),
  );
}

const der = (text: string): Buffer => Buffer.from(text.replace(/\s+/g, ''), 'base64');

const rsaOnly = (key: KeyObject | undefined): KeyObject | undefined =>
  key?.asymmetricKeyType === 'rsa' ? key : undefined;

function firstOf(...ways: readonly (() => KeyObject)[]): KeyObject | undefined {
  for (const way of ways) {
    try {
      return way();
    } catch {
      // Tries the next format.
    }
  }
  return undefined;
}
