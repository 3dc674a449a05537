import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import type { Fault } from '../base/fault.ts';
import { type Documented, isObject, objectOf, parse, textOf } from '../base/json.ts';
import type { Authorizer, VendorContext, AuthResult } from './vendor.ts';

/**
 * The contents of a Google Cloud credentials file: a service account that signs for itself, or a
 * user who once signed in (`gcloud auth application-default login`).
 */
interface GoogleCredentials {
  readonly project: string | undefined;
  readonly tokenUrl: string;
  /** The body of the request for a token, or the fault that prevents it. */
  grant(nowMs: number): URLSearchParams | Fault;
}

const tokenServer = 'https://oauth2.googleapis.com/token';
const scope = 'https://www.googleapis.com/auth/cloud-platform';
const lifetimeS = 3_600;

/** Reads a secret that is the text of a credentials file; undefined when it is none. */
export function googleCredentials(secret: string | undefined): GoogleCredentials | undefined {
  const file = secret?.trimStart().startsWith('{') ? parse(secret) : undefined;
  if (!isObject(file)) return undefined;
  const textIn = (member: string): string => textOf(file[member]) ?? '';
  const project = textOf(file['project_id']) ?? textOf(file['quota_project_id']);
  const tokenUrl = textIn('token_uri') || tokenServer;
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
  const statement = `${head}.${encoded({ iss: email, scope, aud: tokenUrl, iat: issued, exp: issued + lifetimeS })}`;
  const signature = sign('RSA-SHA256', Buffer.from(statement), key).toString('base64url');
  return new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: `${statement}.${signature}`,
  });
}

/** A token is renewed from this long before its end, while it is still used. */
const renewMs = 5 * 60_000;
/** A token is not used this close to its end, since the request takes time to arrive. */
const marginMs = 30_000;

/**
 * Authenticates requests with an access token that is fetched on demand, one fetch at a time, and
 * renewed in the background.
 */
export function googleAuthorizer(
  credentials: GoogleCredentials,
  context: VendorContext,
): Authorizer {
  let proof: AuthResult | undefined;
  let endsAtMs = 0;
  let fetching: Promise<AuthResult> | undefined;

  const fetched = async (): Promise<AuthResult> => {
    const grant = credentials.grant(context.now());
    if ('kind' in grant) return grant;
    const askedAtMs = context.now();
    const reply = await context.post(
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
    const leftMs = endsAtMs - context.now();
    if (proof === undefined || leftMs < marginMs) return fetch();
    // A failure here is ignored: the next request tries again, and the present token is still
    // valid.
    if (leftMs < renewMs) fetch().catch(() => {});
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
    return { value, lifetimeMs: (seconds > 0 ? seconds : lifetimeS) * 1_000 };
  }
  const said = `${textOf(reply.error) ?? ''} ${textOf(reply.error_description) ?? ''}`.trim();
  const message = `the token server answered ${status}${said && `: ${said}`}`;
  return status >= 500 || status === 429
    ? { kind: 'network', message }
    : { kind: 'credentials', message };
}
