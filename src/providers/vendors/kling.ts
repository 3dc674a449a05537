import { createHmac } from 'node:crypto';
import { klingVideo } from '../formats/video/kling.ts';
import { type Authorizer, bearer, defineVendor, type VendorContext } from '../vendor.ts';

const encodedJson = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');
const tokenHead = encodedJson({ alg: 'HS256', typ: 'JWT' });

const lifetimeS = 1_800;
/** Clocks differ: a token is valid from a little before it was made. */
const earlierS = 5;
/** A token is replaced this long before its end. */
const renewMs = 300_000;

/**
 * A JWT that names the access key, signed with the secret key
 * (app.klingai.com/global/dev/document-api/apiReference/commonInfo, 2026-08).
 */
function token(accessKey: string, secretKey: string, nowMs: number): string {
  const now = Math.floor(nowMs / 1_000);
  const claims = { iss: accessKey, exp: now + lifetimeS, nbf: now - earlierS };
  const statement = `${tokenHead}.${encodedJson(claims)}`;
  return `${statement}.${createHmac('sha256', secretKey).update(statement).digest('base64url')}`;
}

/** Proves an access key and a secret key by tokens; other secrets are sent as they are. */
function authorizer(secret: string | undefined, { now }: VendorContext): Authorizer | undefined {
  const [, accessKey, secretKey] = /^([^:\s]+):([^:\s]+)$/.exec(secret ?? '') ?? [];
  if (accessKey === undefined || secretKey === undefined) return undefined;
  let proof = { headers: { authorization: '' } };
  let endsAtMs = 0;
  return () => {
    const nowMs = now();
    if (endsAtMs - nowMs < renewMs) {
      proof = { headers: { authorization: `Bearer ${token(accessKey, secretKey, nowMs)}` } };
      endsAtMs = nowMs + lifetimeS * 1_000;
    }
    return proof;
  };
}

/**
 * app.klingai.com/global/dev/document-api, 2026-08; in China https://api-beijing.klingai.com. The
 * secret is `ACCESSKEY:SECRETKEY`, or an API key of the newer kind.
 */
export const kling = defineVendor({
  id: 'kling',
  ownedBy: 'kuaishou',
  baseUrl: 'https://api-singapore.klingai.com',
  consoleUrl: 'https://app.klingai.com/global/dev',
  env: { apiKey: 'KLING_API_KEY' },
  sign: (secret) => (secret?.includes(':') ? {} : bearer(secret)),
  authorizer,
  adapters: { video: klingVideo },
});
