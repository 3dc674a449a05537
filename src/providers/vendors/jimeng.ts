import { createHash, createHmac } from 'node:crypto';
import { jimengVideo } from '../formats/video/jimeng.ts';
import {
  type Authorizer,
  defineVendor,
  type UnsignedRequest,
  type VendorContext,
} from '../vendor.ts';

const sha256 = (value: string | Buffer): string => createHash('sha256').update(value).digest('hex');
const hmac = (key: string | Buffer, value: string): Buffer =>
  createHmac('sha256', key).update(value).digest();

const scopeParts = ['cn-north-1', 'cv', 'request'];

/**
 * Signs a request for Volcengine's open interface (volcengine.com/docs/6369/67269, 2026-08):
 * Amazon's signature version 4 with other names. Expects plain paths and sorted queries.
 */
function signedHeaders(
  accessKey: string,
  secretKey: string,
  outgoing: UnsignedRequest,
  nowMs: number,
): Readonly<Record<string, string>> {
  const url = new URL(outgoing.url);
  const date = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const day = date.slice(0, 8);
  const bodyHash = sha256(outgoing.body);
  const signed = {
    'content-type': outgoing.headers['content-type'] ?? '',
    host: url.host,
    'x-content-sha256': bodyHash,
    'x-date': date,
  };
  const names = Object.keys(signed).join(';');
  const lines = Object.entries(signed).map(([name, value]) => `${name}:${value}\n`);
  const request = [
    outgoing.method,
    url.pathname,
    url.search.slice(1),
    lines.join(''),
    names,
    bodyHash,
  ].join('\n');
  const scope = [day, ...scopeParts].join('/');
  const key = scopeParts.reduce<Buffer>(hmac, hmac(secretKey, day));
  const statement = ['HMAC-SHA256', date, scope, sha256(request)].join('\n');
  const signature = hmac(key, statement).toString('hex');
  const authorization = `HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { 'x-content-sha256': bodyHash, 'x-date': date, authorization };
}

/** The secret is `ACCESSKEY:SECRETKEY`. */
function authorizer(secret: string | undefined, { now }: VendorContext): Authorizer {
  const [, accessKey, secretKey] = /^([^:\s]+):(\S+)$/.exec(secret ?? '') ?? [];
  if (accessKey === undefined || secretKey === undefined)
    return () => ({
      kind: 'credentials',
      message: 'the key is to be an access key and a secret key with a colon between them',
    });
  return (outgoing) => ({ headers: signedHeaders(accessKey, secretKey, outgoing, now()) });
}

/** volcengine.com/docs/85621, 2026-08. */
export const jimeng = defineVendor({
  id: 'jimeng',
  ownedBy: 'bytedance',
  baseUrl: 'https://visual.volcengineapi.com',
  consoleUrl: 'https://console.volcengine.com',
  env: { apiKey: 'JIMENG_API_KEY' },
  sign: () => ({}),
  authorizer,
  adapters: { video: jimengVideo },
});
