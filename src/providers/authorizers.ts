import { createPrivateKey, type KeyObject, sign, createHmac, createHash } from 'node:crypto';
import type { Fault } from '../base/fault.ts';
import { type Documented, isObject, objectOf, parse, textOf } from '../base/json.ts';
import type { Authorizer, VendorContext, AuthResult, UnsignedRequest } from './vendor.ts';

/**
 * The contents of a Google Cloud credentials file: a service account that signs for itself, or a
 * user who once signed in (`gcloud auth application-default login`).
 */
export interface GoogleCredentials {
  readonly project: string | undefined;
  readonly tokenUrl: string;
  /** The body of the request for a token, or the fault that prevents it. */
  grant(nowMs: number): URLSearchParams | Fault;
}

const googleTokenServer = 'https://oauth2.googleapis.com/token';
const googleScope = 'https://www.googleapis.com/auth/cloud-platform';
const googleLifetimeS = 3_600;

/** Reads a secret that is the text of a credentials file; undefined when it is none. */
export function googleCredentials(secret: string | undefined): GoogleCredentials | undefined {
  const file = secret?.trimStart().startsWith('{') ? parse(secret) : undefined;
  if (!isObject(file)) return undefined;
  const textIn = (member: string): string => textOf(file[member]) ?? '';
  const project = textOf(file['project_id']) ?? textOf(file['quota_project_id']);
  const tokenUrl = textIn('token_uri') || googleTokenServer;
  if (textIn('refresh_token') !== '') {
    const user = {
      client_id: textIn('client_id'),
      client_secret: textIn('client_secret'),
      refresh_token: textIn('refresh_token'),
    };
    return {
      project,
      tokenUrl,
      grant: () => new URLSearchParams({ grant_type: 'refresh_token', ...user }),
    };
  }
  const account = {
    email: textIn('client_email'),
    keyId: textOf(file['private_key_id']),
    key: privateKey(textIn('private_key')),
    tokenUrl,
  };
  return { project, tokenUrl, grant: (nowMs) => serviceAccountGrant(account, nowMs) };
}

function privateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

interface ServiceAccount {
  readonly email: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject | undefined;
  readonly tokenUrl: string;
}

/**
 * A JWT signed with the account's own key (RFC 7523;
 * developers.google.com/identity/protocols/oauth2/service-account, 2026-06).
 */
function serviceAccountGrant(
  { email, keyId, key, tokenUrl }: ServiceAccount,
  nowMs: number,
): URLSearchParams | Fault {
  if (key === undefined)
    return { kind: 'credentials', message: 'the service account’s private key cannot be read' };
  const issued = Math.floor(nowMs / 1_000);
  const encoded = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = encoded({
    alg: 'RS256',
    typ: 'JWT',
    ...(keyId === undefined ? {} : { kid: keyId }),
  });
  const statement = `${head}.${encoded({ iss: email, scope: googleScope, aud: tokenUrl, iat: issued, exp: issued + googleLifetimeS })}`;
  const signature = sign('RSA-SHA256', Buffer.from(statement), key).toString('base64url');
  return new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: `${statement}.${signature}`,
  });
}

/** A token is renewed from this long before its end, while it is still used. */
const googleRenewMs = 5 * 60_000;
/** A token is not used this close to its end, since the request takes time to arrive. */
const googleMarginMs = 30_000;

/**
 * Authenticates requests with an access token that is fetched on demand, one fetch at a time, and
 * renewed in the background.
 */
export function googleAuthorizer(credentials: GoogleCredentials, means: VendorContext): Authorizer {
  let proof: AuthResult | undefined;
  let endsAtMs = 0;
  let fetching: Promise<AuthResult> | undefined;

  const fetched = async (): Promise<AuthResult> => {
    const grant = credentials.grant(means.now());
    if ('kind' in grant) return grant;
    const askedAtMs = means.now();
    const reply = await means.post(
      credentials.tokenUrl,
      { 'content-type': 'application/x-www-form-urlencoded' },
      grant.toString(),
    );
    const token = readToken(reply.status, reply.text);
    if ('kind' in token) return token;
    endsAtMs = askedAtMs + token.lifetimeMs;
    proof = { headers: { authorization: `Bearer ${token.value}` } };
    return proof;
  };
  const fetch = (): Promise<AuthResult> => {
    fetching ??= fetched().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  return () => {
    const leftMs = endsAtMs - means.now();
    if (proof === undefined || leftMs < googleMarginMs) return fetch();
    // A failure here is ignored: the next request tries again, and the present token is still
    // valid.
    if (leftMs < googleRenewMs) fetch().catch(() => {});
    return proof;
  };
}

/** The token server's answer (RFC 6749, 5.1 and 5.2). */
interface TokenReply {
  readonly access_token?: string;
  readonly expires_in?: number;
  readonly error?: string;
  readonly error_description?: string;
}

function readToken(
  status: number,
  text: string,
): { readonly value: string; readonly lifetimeMs: number } | Fault {
  const reply: Documented<TokenReply> = objectOf(parse(text)) ?? {};
  const value = textOf(reply.access_token);
  if (value !== undefined && status === 200) {
    const seconds = Number(reply.expires_in);
    return { value, lifetimeMs: (seconds > 0 ? seconds : googleLifetimeS) * 1_000 };
  }
  const said = `${textOf(reply.error) ?? ''} ${textOf(reply.error_description) ?? ''}`.trim();
  const message = `the token server answered ${status}${said && `: ${said}`}`;
  return status >= 500 || status === 429
    ? { kind: 'network', message }
    : { kind: 'credentials', message };
}

const encodedJson = (value: object): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');
const klingHead = encodedJson({ alg: 'HS256', typ: 'JWT' });

const klingLifetimeS = 1_800;
/** Clocks differ: a token is valid from a little before it was made. */
const klingEarlierS = 5;
/** A token is replaced this long before its end. */
const klingRenewMs = 300_000;

/**
 * A JWT that names the access key, signed with the secret key
 * (app.klingai.com/global/dev/document-api/apiReference/commonInfo, 2026-08).
 */
export function klingToken(accessKey: string, secretKey: string, nowMs: number): string {
  const now = Math.floor(nowMs / 1_000);
  const statement = `${klingHead}.${encodedJson({ iss: accessKey, exp: now + klingLifetimeS, nbf: now - klingEarlierS })}`;
  return `${statement}.${createHmac('sha256', secretKey).update(statement).digest('base64url')}`;
}

/**
 * Authenticates requests with a token that is replaced before it ends. The secret is
 * `ACCESSKEY:SECRETKEY`; undefined for any other secret, which is sent unchanged.
 */
export function klingAuthorizer(
  secret: string | undefined,
  { now }: VendorContext,
): Authorizer | undefined {
  const [, accessKey, secretKey] = /^([^:\s]+):([^:\s]+)$/.exec(secret ?? '') ?? [];
  if (accessKey === undefined || secretKey === undefined) return undefined;
  let proof = { headers: { authorization: '' } };
  let endsAtMs = 0;
  return () => {
    const nowMs = now();
    if (endsAtMs - nowMs < klingRenewMs) {
      proof = { headers: { authorization: `Bearer ${klingToken(accessKey, secretKey, nowMs)}` } };
      endsAtMs = nowMs + klingLifetimeS * 1_000;
    }
    return proof;
  };
}

const sha256 = (value: string | Buffer): string => createHash('sha256').update(value).digest('hex');
const hmac = (key: string | Buffer, value: string): Buffer =>
  createHmac('sha256', key).update(value).digest();

interface VolcScope {
  readonly region: string;
  readonly service: string;
}

interface VolcKeys {
  readonly accessKey: string;
  readonly secretKey: string;
}

/**
 * Signs a request for Volcengine's open interface (volcengine.com/docs/6369/67269, 2026-08):
 * Amazon's signature version 4 with other names. Expects plain paths and sorted queries.
 */
export function volcHeaders(
  { accessKey, secretKey }: VolcKeys,
  { region, service }: VolcScope,
  outgoing: UnsignedRequest,
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
): (secret: string | undefined, means: VendorContext) => Authorizer {
  return (secret, { now }) => {
    const [, accessKey, secretKey] = /^([^:\s]+):(\S+)$/.exec(secret ?? '') ?? [];
    if (accessKey === undefined || secretKey === undefined)
      return () => ({
        kind: 'credentials',
        message: 'the key is to be an access key and a secret key with a colon between them',
      });
    return (outgoing) => volcHeaders({ accessKey, secretKey }, scope, outgoing, now());
  };
}
