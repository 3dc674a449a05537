import { createVerify, generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { startVendor } from '../../test/support/scripted-vendor.ts';
import { postControl } from '../http/control-call.ts';
import type { Authorizer, UnsignedRequest, AuthResult } from './vendor.ts';
import { vertex } from './vendors/vertex.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });

const outgoing: UnsignedRequest = {
  method: 'POST',
  url: 'https://host/path',
  headers: {},
  body: Buffer.alloc(0),
};

interface Played {
  readonly authorize: Authorizer;
  readonly server: Awaited<ReturnType<typeof startVendor>>;
  clock: number;
}

/** A service account with a token server on loopback, and a clock that the test sets. */
async function account(over: Record<string, unknown> = {}): Promise<Played> {
  const server = await startVendor();
  let tokens = 0;
  server.answer((_request, response) => {
    response.end(
      JSON.stringify({ access_token: `token-${++tokens}`, expires_in: 3600, token_type: 'Bearer' }),
    );
  });
  const file = {
    type: 'service_account',
    project_id: 'p-1',
    private_key_id: 'k-1',
    private_key: pem,
    client_email: 'sa@p-1.iam.gserviceaccount.com',
    token_uri: `${server.url}/token`,
    ...over,
  };
  const played = { server, clock: 1_700_000_000_000 };
  const authorize = vertex.authorizer?.(JSON.stringify(file), {
    now: () => played.clock,
    post: postControl,
  });
  if (authorize === undefined) throw new Error('nothing to prove');
  return Object.assign(played, { authorize });
}

const tokenOf = async (proof: AuthResult | Promise<AuthResult>): Promise<unknown> => {
  const had = await proof;
  return 'kind' in had ? had : had.headers['authorization'];
};

test('a service account states who it is, signed, and gets a token', async () => {
  const { authorize, server } = await account();
  expect(await tokenOf(authorize(outgoing))).toBe('Bearer token-1');
  const [received] = server.received;
  expect(received).toMatchObject({
    method: 'POST',
    url: '/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  const grant = new URLSearchParams(received?.text);
  expect(grant.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
  const [head = '', claims = '', signature = ''] = (grant.get('assertion') ?? '').split('.');
  const decoded = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
  expect(decoded(head)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k-1' });
  expect(decoded(claims)).toEqual({
    iss: 'sa@p-1.iam.gserviceaccount.com',
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: `${server.url}/token`,
    iat: 1_700_000_000,
    exp: 1_700_003_600,
  });
  expect(
    createVerify('RSA-SHA256')
      .update(`${head}.${claims}`)
      .verify(publicKey, signature, 'base64url'),
  ).toBe(true);
});

test('many requests at once fetch one token, and later ones find it at hand', async () => {
  const { authorize, server } = await account();
  const all = await Promise.all(Array.from({ length: 50 }, () => tokenOf(authorize(outgoing))));
  expect(new Set(all)).toEqual(new Set(['Bearer token-1']));
  expect(authorize(outgoing)).toEqual({ headers: { authorization: 'Bearer token-1' } });
  expect(server.received).toHaveLength(1);
});

test('a token that nears its end is renewed behind the requests, and one that ended is waited for', async () => {
  const played = await account();
  await played.authorize(outgoing);
  played.clock += 3_400_000;
  expect(played.authorize(outgoing)).toEqual({ headers: { authorization: 'Bearer token-1' } });
  expect(played.authorize(outgoing)).toEqual({ headers: { authorization: 'Bearer token-1' } });
  await expect
    .poll(() => played.authorize(outgoing))
    .toEqual({ headers: { authorization: 'Bearer token-2' } });
  expect(played.server.received).toHaveLength(2);
  played.clock += 3_600_000;
  expect(played.authorize(outgoing)).toBeInstanceOf(Promise);
  expect(await tokenOf(played.authorize(outgoing))).toBe('Bearer token-3');
});

test('a refused account is our credentials’ fault, a failing server the network’s, and the next request tries anew', async () => {
  const { authorize, server } = await account();
  const answerWith = (status: number, body: object): void =>
    server.answer((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
  answerWith(400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' });
  expect(await tokenOf(authorize(outgoing))).toEqual({
    kind: 'credentials',
    message: 'the token server answered 400: invalid_grant Invalid JWT Signature.',
  });
  answerWith(503, {});
  expect(await tokenOf(authorize(outgoing))).toMatchObject({ kind: 'network' });
  answerWith(200, { access_token: 'at last', expires_in: 3600 });
  expect(await tokenOf(authorize(outgoing))).toBe('Bearer at last');
});

test('a key that is none is our credentials’ fault, without asking anybody', async () => {
  const { authorize, server } = await account({ private_key: 'no key' });
  expect(await tokenOf(authorize(outgoing))).toMatchObject({ kind: 'credentials' });
  expect(server.received).toHaveLength(0);
});

test('a user who signed in once is refreshed', async () => {
  const { authorize, server } = await account({
    type: 'authorized_user',
    client_id: 'c',
    client_secret: 's',
    refresh_token: 'r',
  });
  expect(await tokenOf(authorize(outgoing))).toBe('Bearer token-1');
  expect(Object.fromEntries(new URLSearchParams(server.received[0]?.text))).toEqual({
    grant_type: 'refresh_token',
    client_id: 'c',
    client_secret: 's',
    refresh_token: 'r',
  });
});

test('keys and access tokens are proof by themselves', () => {
  const means = { now: () => 0, post: postControl };
  expect(vertex.sign('AIzaKey')).toEqual({ 'x-goog-api-key': 'AIzaKey' });
  expect(vertex.sign('ya29.token')).toEqual({ authorization: 'Bearer ya29.token' });
  expect(vertex.sign('{"type":"service_account"}')).toEqual({});
  expect(vertex.authorizer?.('AIzaKey', means)).toBeUndefined();
  expect(vertex.authorizer?.(undefined, means)).toBeUndefined();
});
