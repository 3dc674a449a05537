import { createHash, createHmac } from 'node:crypto';
import type { Authorize, Means, Outgoing } from './adapter.ts';

const sha256 = (value: string | Buffer): string => createHash('sha256').update(value).digest('hex');
const hmac = (key: string | Buffer, value: string): Buffer =>
  createHmac('sha256', key).update(value).digest();

export interface VolcScope {
  readonly region: string;
  readonly service: string;
}

interface Keys {
  readonly accessKey: string;
  readonly secretKey: string;
}

/**
 * Proves a request as Volcengine's open interface wants it (volcengine.com/docs/6369/67269,
 * 2026-08): Amazon's fourth version in other words. Paths are plain, queries sorted already.
 */
export function volcProof(
  { accessKey, secretKey }: Keys,
  { region, service }: VolcScope,
  outgoing: Outgoing,
  nowMs: number,
) {
  const url = new URL(outgoing.url);
  const date = new Date(nowMs).toISOString().replaceAll(/[-:]|\.\d+/g, '');
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
  const scope = `${date.slice(0, 8)}/${region}/${service}/request`;
  const key = [region, service, 'request'].reduce<Buffer>(hmac, hmac(secretKey, date.slice(0, 8)));
  const signature = hmac(key, ['HMAC-SHA256', date, scope, sha256(request)].join('\n')).toString(
    'hex',
  );
  const authorization = `HMAC-SHA256 Credential=${accessKey}/${scope}, SignedHeaders=${names}, Signature=${signature}`;
  return { headers: { 'x-content-sha256': bodyHash, 'x-date': date, authorization } };
}

/** The secret is `ACCESSKEY:SECRETKEY`. */
export function volcAuthorizer(
  scope: VolcScope,
): (secret: string | undefined, means: Means) => Authorize {
  return (secret, { now }) => {
    const [, accessKey, secretKey] = /^([^:\s]+):(\S+)$/.exec(secret ?? '') ?? [];
    if (accessKey === undefined || secretKey === undefined)
      return () => ({
        kind: 'credentials',
        message: 'the key is to be an access key and a secret key with a colon between them',
      });
    return (outgoing) => volcProof({ accessKey, secretKey }, scope, outgoing, now());
  };
}
