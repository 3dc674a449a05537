import { createHmac } from 'node:crypto';
import type { Authorize, Means } from './adapter.ts';

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const head = encoded({ alg: 'HS256', typ: 'JWT' });

const lifetimeS = 1_800;
/** Clocks differ: a token is valid from a little before it was made. */
const earlierS = 5;
/** A token is replaced so long before its end. */
const renewMs = 300_000;

/**
 * A statement with the access key in it, signed with the secret key
 * (app.klingai.com/global/dev/document-api/apiReference/commonInfo, 2026-08).
 */
export function klingToken(accessKey: string, secretKey: string, nowMs: number): string {
  const now = Math.floor(nowMs / 1_000);
  const statement = `${head}.${encoded({ iss: accessKey, exp: now + lifetimeS, nbf: now - earlierS })}`;
  return `${statement}.${createHmac('sha256', secretKey).update(statement).digest('base64url')}`;
}

/**
 * Proves requests with a token that is made anew when it is about to end. The secret is
 * `ACCESSKEY:SECRETKEY`; undefined for any other, which is a key as it is.
 */
export function klingAuthorizer(secret: string | undefined, { now }: Means): Authorize | undefined {
  const [, accessKey, secretKey] = /^([^:\s]+):([^:\s]+)$/.exec(secret ?? '') ?? [];
  if (accessKey === undefined || secretKey === undefined) return undefined;
  let proof = { headers: { authorization: '' } };
  let endsAtMs = 0;
  return () => {
    const nowMs = now();
    if (endsAtMs - nowMs < renewMs) {
      proof = { headers: { authorization: `Bearer ${klingToken(accessKey, secretKey, nowMs)}` } };
      endsAtMs = nowMs + lifetimeS * 1_000;
    }
    return proof;
  };
}
