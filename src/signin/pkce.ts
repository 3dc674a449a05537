import { createHash, createHmac } from 'node:crypto';
import { isSecret, newSecret } from '../accounts/secrets.ts';

/**
 * The secret that a browser keeps while it signs in. Only the browser that was given a state may
 * come back with it, so that no link signs its recipient in as the sender.
 */
export function browserSecret(kept: string | undefined): string {
  return kept !== undefined && isSecret(kept) ? kept : newSecret();
}

/** PKCE without stored data: the verifier derives from the browser's secret. */
export function verifierOf(browser: string, state: string): string {
  return createHmac('sha256', browser).update(`tollgate/pkce/${state}`).digest('base64url');
}

export function challengeOf(verifier: string): string {
  return createHash('sha256').update(verifier).digest('base64url');
}
