import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { isWrongKey } from '../api-key.ts';
import { systemClock } from '../../src/base/clock.ts';
import { randomText } from '../../src/base/random.ts';
import type { Reply } from '../dialect.ts';
import { type Json, objectIn } from '../json.ts';
import type { OwnCall } from '../own-format.ts';

const scope = 'https://www.googleapis.com/auth/cloud-platform';
const lifetimeS = 3_599;
const grantType = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const email = 'sim@sim-project.iam.gserviceaccount.com';
const keyId = 'simulated0key0id';

interface Keys {
  readonly privatePem: string;
  readonly publicKey: KeyObject;
}

let made: Keys | undefined;

/** The account's keys: generated on first use, for this process alone. */
function keys(): Keys {
  if (made === undefined) {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    made = {
      privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      publicKey: createPublicKey(publicKey.export({ type: 'spki', format: 'pem' })),
    };
  }
  return made;
}

/**
 * The credentials file of the only service account, as the Cloud console exports it; its tokens
 * come from the simulator at `simUrl`.
 */
export function simServiceAccount(simUrl: string): string {
  return JSON.stringify({
    type: 'service_account',
    project_id: 'sim-project',
    private_key_id: keyId,
    private_key: keys().privatePem,
    client_email: email,
    client_id: '100000000000000000000',
    token_uri: `${simUrl}/vertex/token`,
  });
}

/** The expiry of each token that was granted. */
const granted = new Map<string, number>();

/** `ya29.sim…` stands for a token from `gcloud auth print-access-token`. */
export function isToken(token: string): boolean {
  if (isWrongKey(token)) return false;
  return token.startsWith('ya29.sim') || (granted.get(token) ?? 0) > systemClock.now();
}

const refused = (error: string, description: string): Reply => ({
  status: 400,
  body: { error, error_description: description },
});

/**
 * oauth2.googleapis.com/token (developers.google.com/identity/protocols/oauth2/service-account,
 * 2026-06; RFC 7523).
 */
export function grantToken({ method, headers, body, url }: OwnCall): Reply {
  if (method !== 'POST') return { status: 404, body: { error: 'not_found' } };
  if (!headers['content-type']?.startsWith('application/x-www-form-urlencoded'))
    return refused('invalid_request', 'Bad Request');
  const form = new URLSearchParams(body.toString('utf8'));
  if (form.get('grant_type') === 'refresh_token') return refreshed(form);
  if (form.get('grant_type') !== grantType)
    return refused('unsupported_grant_type', `Invalid grant_type: ${form.get('grant_type') ?? ''}`);
  const wrong = wrongWith(form.get('assertion') ?? '', `http://${headers.host ?? ''}${url}`);
  return wrong === undefined ? grant() : refused('invalid_grant', wrong);
}

function refreshed(form: URLSearchParams): Reply {
  if (!form.get('client_id') || !form.get('client_secret'))
    return { status: 401, body: { error: 'invalid_client', error_description: 'Unauthorized' } };
  if (!form.get('refresh_token')?.startsWith('1//sim'))
    return refused('invalid_grant', 'Token has been expired or revoked.');
  return grant();
}

function grant(): Reply {
  const token = `ya29.c.${randomText(48)}`;
  granted.set(token, systemClock.now() + lifetimeS * 1_000);
  return {
    status: 200,
    body: { access_token: token, expires_in: lifetimeS, token_type: 'Bearer' },
  };
}

const hourS = 3_600;
/** The tolerated clock difference. */
const skewS = 300;

/** Google's error for an assertion that does not prove its account. */
function wrongWith(assertion: string, audience: string): string | undefined {
  const [head = '', claim = '', signature = ''] = assertion.split('.');
  const header = decoded(head);
  const claims = decoded(claim);
  if (header === undefined || claims === undefined) return 'Bad Request';
  if (header['alg'] !== 'RS256') return 'Invalid JWT: alg must be RS256.';
  if (claims['iss'] !== email) return 'Invalid grant: account not found';
  if (header['kid'] !== undefined && header['kid'] !== keyId)
    return 'Invalid JWT: No valid verifier found for issuer.';
  if (
    !verify(
      'RSA-SHA256',
      Buffer.from(`${head}.${claim}`),
      keys().publicKey,
      Buffer.from(signature, 'base64url'),
    )
  )
    return 'Invalid JWT Signature.';
  if (claims['aud'] !== audience) return 'Invalid JWT: Failed audience check.';
  if (
    !String(claims['scope'] ?? '')
      .split(' ')
      .includes(scope)
  )
    return 'Invalid scope.';
  const now = systemClock.now() / 1_000;
  const [issued, ends] = [Number(claims['iat']), Number(claims['exp'])];
  const reasonable = issued <= now + skewS && ends > now - skewS && ends - issued <= hourS;
  return reasonable
    ? undefined
    : 'Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp values in the JWT claim.';
}

const decoded = (part: string): Json | undefined => objectIn(Buffer.from(part, 'base64url'));
