import { createHash, createHmac } from 'node:crypto';

/** An access key pair of AWS, with the session token that temporary ones need. */
export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

/** A request as it is sent. */
interface Signable {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Reads `AKIA…:secret` or `ASIA…:secret:session`: neither part can contain a colon. Undefined: this
 * secret is no key pair.
 */
export function awsKeys(secret: string | undefined): AwsKeys | undefined {
  const [accessKeyId, secretAccessKey, sessionToken, ...more] = (secret ?? '').split(':');
  if (!accessKeyId || !secretAccessKey || sessionToken === '' || more.length > 0) return undefined;
  return /^[A-Z0-9]{16,128}$/.test(accessKeyId)
    ? { accessKeyId, secretAccessKey, sessionToken }
    : undefined;
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest();

/**
 * Signature Version 4
 * (docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, 2026-08) for
 * one service in one region. A day's signing key is derived once; a request costs a hash of its
 * body and two short ones.
 */
export class AwsSigner {
  readonly #keys: AwsKeys;
  readonly #region: string;
  readonly #service: string;
  #day = '';
  #signingKey: Buffer = Buffer.alloc(0);

  constructor(keys: AwsKeys, region: string, service: string) {
    this.#keys = keys;
    this.#region = region;
    this.#service = service;
  }

  /**
   * The headers that authenticate this request, all of whose headers are signed. `nowMs`:
   * milliseconds since 1970; AWS allows five minutes of error.
   */
  sign(outgoing: Signable, nowMs: number): Readonly<Record<string, string>> {
    const { accessKeyId, sessionToken } = this.#keys;
    const toStorage = this.#service === 's3';
    const digest = sha256(outgoing.body);
    const url = new URL(outgoing.url);
    const time = `${new Date(nowMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
    const proof = {
      'x-amz-date': time,
      ...(toStorage ? { 'x-amz-content-sha256': digest } : {}),
      ...(sessionToken === undefined ? {} : { 'x-amz-security-token': sessionToken }),
    };
    const signed = signedHeaders({ ...outgoing.headers, ...proof, host: url.host });
    const canonical = [
      outgoing.method,
      toStorage ? url.pathname : canonicalPath(url.pathname),
      canonicalQuery(url.searchParams),
      signed.lines,
      signed.names,
      digest,
    ];
    const scope = `${time.slice(0, 8)}/${this.#region}/${this.#service}/aws4_request`;
    const text = `AWS4-HMAC-SHA256\n${time}\n${scope}\n${sha256(canonical.join('\n'))}`;
    const signature = hmac(this.#keyOf(time.slice(0, 8)), text).toString('hex');
    const authorization = `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope}, SignedHeaders=${signed.names}, Signature=${signature}`;
    return { ...proof, authorization };
  }

  #keyOf(day: string): Buffer {
    if (day !== this.#day) {
      const dayKey = hmac(`AWS4${this.#keys.secretAccessKey}`, day);
      this.#signingKey = hmac(hmac(hmac(dayKey, this.#region), this.#service), 'aws4_request');
      this.#day = day;
    }
    return this.#signingKey;
  }
}

function signedHeaders(headers: Readonly<Record<string, string>>): {
  readonly lines: string;
  readonly names: string;
} {
  const rows = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value.trim().replace(/\s+/g, ' ')] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    lines: rows.map(([name, value]) => `${name}:${value}\n`).join(''),
    names: rows.map(([name]) => name).join(';'),
  };
}

/** RFC 3986: `encodeURIComponent` leaves four more characters alone than it may. */
export const uriEncoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/**
 * Every service but storage (S3) signs the path as sent and encoded once more: `%3A` becomes
 * `%253A`.
 */
const canonicalPath = (path: string): string => path.split('/').map(uriEncoded).join('/');

const canonicalQuery = (query: URLSearchParams): string =>
  [...query]
    .map(([name, value]) => `${uriEncoded(name)}=${uriEncoded(value)}`)
    .sort()
    .join('&');
