import { createHash, createHmac } from 'node:crypto';
import { isWrongKey } from '../api-key.ts';
import { systemClock } from '../../src/base/clock.ts';
import type { OwnCall } from '../own-format.ts';

/** The secret of every access key of the simulator. */
export const secretAccessKey = 'sim/bedrock/secret';

/** A failed authentication, by the name of AWS's exception. */
export interface Doubt {
  readonly code: string;
  readonly message: string;
}

const toleranceMs = 300_000;
const authorization =
  /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]+)$/;

/**
 * docs.aws.amazon.com/bedrock/latest/userguide/api-keys.html and
 * IAM/latest/UserGuide/reference_sigv-create-signed-request.html, 2026-08.
 */
export function doubtOf(call: OwnCall): Doubt | undefined {
  const given = call.headers.authorization;
  if (given === undefined)
    return { code: 'MissingAuthenticationTokenException', message: 'Missing Authentication Token' };
  if (/^Bearer\s/i.test(given)) return isWrongKey(given) ? badKey : undefined;
  const parts = authorization.exec(given);
  if (parts === null)
    return {
      code: 'IncompleteSignatureException',
      message: 'Authorization header requires Credential, SignedHeaders and Signature.',
    };
  const [, id = '', day = '', region = '', service = '', names = '', signature = ''] = parts;
  if (/WRONG|INVALID/.test(id))
    return {
      code: 'UnrecognizedClientException',
      message: 'The security token included in the request is invalid.',
    };
  if (/expired/i.test(String(call.headers['x-amz-security-token'])))
    return {
      code: 'ExpiredTokenException',
      message: 'The security token included in the request is expired',
    };
  if (service !== 'bedrock')
    return wrong("Credential should be scoped to correct service: 'bedrock'. ");
  return (
    doubtOfTime(call, day) ??
    doubtOfNames(call, names) ??
    doubtOfSignature(call, `${day}/${region}/${service}/aws4_request`, names, signature)
  );
}

const badKey: Doubt = {
  code: 'AccessDeniedException',
  message: 'Authentication failed: Please make sure your API Key is valid.',
};
const wrong = (message: string): Doubt => ({ code: 'InvalidSignatureException', message });

function doubtOfTime({ headers }: OwnCall, day: string): Doubt | undefined {
  const sent = String(headers['x-amz-date']);
  const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(sent) ?? [];
  const at = Date.parse(`${y}-${mo}-${d}T${h}:${mi}:${s}Z`);
  if (Number.isNaN(at)) return wrong("Date must be in ISO-8601 'basic format'.");
  if (!sent.startsWith(day))
    return wrong(
      `Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '${day}' != '${sent.slice(0, 8)}'.`,
    );
  const now = systemClock.now();
  if (at < now - toleranceMs)
    return wrong(
      `Signature expired: ${sent} is now earlier than ${basic(now - toleranceMs)} (${basic(now)} - 5 min.)`,
    );
  return at > now + toleranceMs
    ? wrong(
        `Signature not yet current: ${sent} is still later than ${basic(now + toleranceMs)} (${basic(now)} + 5 min.)`,
      )
    : undefined;
}

const basic = (ms: number): string =>
  `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;

/** The host header and all `x-amz-` headers must be signed. */
function doubtOfNames({ headers }: OwnCall, names: string): Doubt | undefined {
  const signed = names.split(';');
  const needed = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  const open = needed.find((name) => !signed.includes(name));
  return open === undefined
    ? undefined
    : wrong(`'${open}' must be a 'SignedHeader' in the AWS Authorization.`);
}

function doubtOfSignature(
  call: OwnCall,
  scope: string,
  names: string,
  signature: string,
): Doubt | undefined {
  const [path = '', query = ''] = call.url.split('?');
  const bodyHash = sha256(call.body);
  const sentHash = call.headers['x-amz-content-sha256'];
  const canonical = [
    call.method,
    path.split('/').map(encoded).join('/'),
    query.split('&').sort().join('&'),
    ...names
      .split(';')
      .map(
        (name) =>
          `${name}:${[call.headers[name] ?? ''].flat().join(',').trim().replace(/\s+/g, ' ')}`,
      ),
    '',
    names,
    bodyHash,
  ].join('\n');
  const text = `AWS4-HMAC-SHA256\n${String(call.headers['x-amz-date'])}\n${scope}\n${sha256(canonical)}`;
  const key = scope
    .split('/')
    .reduce<string | Buffer>((secret, part) => hmac(secret, part), `AWS4${secretAccessKey}`);
  if (
    hmac(key, text).toString('hex') === signature &&
    (sentHash === undefined || sentHash === bodyHash)
  )
    return undefined;
  return wrong(
    'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method. Consult the service documentation for details.',
  );
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex');
const hmac = (key: string | Buffer, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest();
/** Encoded once more, as every service but S3 does. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
