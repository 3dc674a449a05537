import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Fault } from '../base/fault.ts';
import type { Authorize, Means, Proof } from './adapter.ts';
import { isObject, parse, textOf } from './wire/json.ts';

/**
 * What a credentials file of Google Cloud says: a service account that signs for itself, or a user
 * who once signed in (`gcloud auth application-default login`).
 */
export interface GoogleCredentials {
  readonly project: string | undefined;
  readonly tokenUrl: string;
  /** The body of the request for a token, or why it cannot be made. */
  grant(nowMs: number): URLSearchParams | Fault;
}

const tokenServer = 'https://oauth2.googleapis.com/token';
const scope = 'https://www.googleapis.com/auth/cloud-platform';
const lifetimeS = 3_600;

/** Reads a secret that is a credentials file's text; undefined when it is none. */
export function googleCredentials(secret: string | undefined): GoogleCredentials | undefined {
  const file = secret?.trimStart().startsWith('{') ? parse(secret) : undefined;
  if (!isObject(file)) return undefined;
  const told = (member: string): string => textOf(file[member]) ?? '';
  const project = textOf(file['project_id']) ?? textOf(file['quota_project_id']);
  const tokenUrl = told('token_uri') || tokenServer;
  if (told('refresh_token') !== '') {
    const user = {
      client_id: told('client_id'),
      client_secret: told('client_secret'),
      refresh_token: told('refresh_token'),
    };
    return {
      project,
      tokenUrl,
      grant: () => new URLSearchParams({ grant_type: 'refresh_token', ...user }),
    };
  }
  const account = {
    email: told('client_email'),
    keyId: textOf(file['private_key_id']),
    key: privateKey(told('private_key')),
    tokenUrl,
  };
  return { project, tokenUrl, grant: (nowMs) => accountGrant(account, nowMs) };
}

function privateKey(pem: string): KeyObject | undefined {
  try {
    return createPrivateKey(pem);
  } catch {
    return undefined;
  }
}

interface Account {
  readonly email: string;
  readonly keyId: string | undefined;
  readonly key: KeyObject | undefined;
  readonly tokenUrl: string;
}

/**
 * A statement signed with the account's own key (RFC 7523;
 * developers.google.com/identity/protocols/oauth2/service-account, 2026-06).
 */
function accountGrant(
  { email, keyId, key, tokenUrl }: Account,
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
  const statement = `${head}.${encoded({ iss: email, scope, aud: tokenUrl, iat: issued, exp: issued + lifetimeS })}`;
  const signature = sign('RSA-SHA256', Buffer.from(statement), key).toString('base64url');
  return new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: `${statement}.${signature}`,
  });
}

/** From so long before its end on a token is replaced, while it still serves. */
const renewMs = 5 * 60_000;
/** A token is not used in its last moments: the request has a way to go. */
const marginMs = 30_000;

/**
 * Proves requests with an access token that is fetched when needed, once at a time, and renewed
 * behind the requests' back.
 */
export function tokenAuthorizer(credentials: GoogleCredentials, means: Means): Authorize {
  let proof: Proof | undefined;
  let endsAtMs = 0;
  let fetching: Promise<Proof> | undefined;

  const fetched = async (): Promise<Proof> => {
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
  const fetch = (): Promise<Proof> => {
    fetching ??= fetched().finally(() => {
      fetching = undefined;
    });
    return fetching;
  };
  return () => {
    const leftMs = endsAtMs - means.now();
    if (proof === undefined || leftMs < marginMs) return fetch();
    // Whatever becomes of this attempt: the next request makes another, and the token at hand still
    // serves.
    if (leftMs < renewMs) fetch().catch(() => {});
    return proof;
  };
}

function readToken(
  status: number,
  text: string,
): { readonly value: string; readonly lifetimeMs: number } | Fault {
  const reply = parse(text);
  const value = isObject(reply) ? textOf(reply['access_token']) : undefined;
  if (isObject(reply) && value !== undefined && status === 200) {
    const seconds = Number(reply['expires_in']);
    return { value, lifetimeMs: (seconds > 0 ? seconds : lifetimeS) * 1_000 };
  }
  const said = isObject(reply)
    ? `${textOf(reply['error']) ?? ''} ${textOf(reply['error_description']) ?? ''}`.trim()
    : '';
  const message = `the token server answered ${status}${said && `: ${said}`}`;
  return status >= 500 || status === 429
    ? { kind: 'network', message }
    : { kind: 'credentials', message };
}
