import fc from 'fast-check';
import { expect, test } from 'vitest';
import { awsProof } from '../../test/support/aws-signature.ts';
import { AwsSigner, awsKeys, uriEncoded } from './sigv4.ts';

const keyPair = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
};
const example = { ...keyPair, sessionToken: undefined };
const outgoing = {
  method: 'POST',
  url: 'https://example.amazonaws.com/',
  headers: {},
  body: Buffer.alloc(0),
} as const;

test('signs as the published example is signed', () => {
  // The suite's `get-vanilla` has another method than anything sent here.
  const signer = new AwsSigner(example, 'us-east-1', 'service');
  const get = Object.assign({ ...outgoing }, { method: 'GET' });
  expect(signer.sign(get, Date.UTC(2015, 7, 30, 12, 36))).toEqual({
    'x-amz-date': '20150830T123600Z',
    authorization:
      'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, ' +
      'Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  });
});

test('agrees with another implementation on any request', async () => {
  const word = fc
    .string({ minLength: 1, maxLength: 12, unit: 'binary' })
    .filter((s) => !/^\.+$/.test(s));
  const header = fc.stringMatching(/^[!-~]( {0,3}[!-~]){0,12}$/);
  await fc.assert(
    fc.asyncProperty(
      fc.record({
        model: word,
        query: fc.dictionary(fc.stringMatching(/^[a-z]{1,4}$/), fc.stringMatching(/^[ -~]{0,8}$/), {
          maxKeys: 3,
        }),
        more: fc.dictionary(fc.stringMatching(/^x-[a-z]{1,6}$/), header, { maxKeys: 3 }),
        body: fc.uint8Array({ maxLength: 200 }),
        session: fc.option(fc.stringMatching(/^[A-Za-z0-9/+=]{4,20}$/), { nil: undefined }),
        nowMs: fc.integer({ min: 1e12, max: 2e12 }),
        port: fc.constantFrom('', ':8080'),
      }),
      async ({ model, query, more, body, session, nowMs, port }) => {
        const path = `/model/${uriEncoded(model)}/converse`;
        const search = new URLSearchParams(query).toString();
        const host = `bedrock-runtime.eu-west-3.amazonaws.com${port}`;
        const headers = { 'content-type': 'application/json', ...more };
        const ours = new AwsSigner(
          { ...example, sessionToken: session },
          'eu-west-3',
          'bedrock',
        ).sign(
          {
            method: 'POST',
            url: `https://${host}${path}${search && '?'}${search}`,
            headers,
            body: Buffer.from(body),
          },
          nowMs,
        );
        const keys = { ...keyPair, ...(session === undefined ? {} : { sessionToken: session }) };
        const theirs = await awsProof({
          keys,
          region: 'eu-west-3',
          host,
          path,
          query,
          headers,
          body,
          at: new Date(nowMs),
        });
        expect(ours['authorization']).toBe(theirs['authorization']);
        expect(ours['x-amz-date']).toBe(theirs['x-amz-date']);
        expect(ours['x-amz-security-token']).toBe(theirs['x-amz-security-token']);
      },
    ),
    { numRuns: 500 },
  );
});

test('agrees with it on what is said to storage, whose paths are signed as they are sent', async () => {
  const word = fc.stringMatching(/^[ -~]{0,8}$/);
  const asked = fc.record({
    key: fc.string({ minLength: 1, maxLength: 12, unit: 'binary' }).filter((s) => !/^\.+$/.test(s)),
    query: fc.dictionary(fc.stringMatching(/^[a-zA-Z]{1,4}$/), word, { maxKeys: 3 }),
    method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE'),
    body: fc.uint8Array({ maxLength: 200 }),
  });
  await fc.assert(
    fc.asyncProperty(asked, async ({ key, query, method, body }) => {
      const [host, path] = ['bucket.s3.eu-west-3.amazonaws.com', `/${uriEncoded(key)}`];
      const search = new URLSearchParams(query).toString();
      const url = `https://${host}${path}${search && '?'}${search}`;
      const ours = new AwsSigner(example, 'eu-west-3', 's3').sign(
        { method, url, headers: {}, body: Buffer.from(body) },
        1.7e12,
      );
      const at = new Date(1.7e12);
      const theirs = await awsProof({
        keys: keyPair,
        region: 'eu-west-3',
        service: 's3',
        method,
        host,
        path,
        query,
        headers: {},
        body,
        at,
      });
      expect(ours).toEqual({
        authorization: theirs['authorization'],
        'x-amz-date': theirs['x-amz-date'],
        'x-amz-content-sha256': theirs['x-amz-content-sha256'],
      });
    }),
    { numRuns: 300 },
  );
});

test('a new day has a new key, and an old one the old', () => {
  const signer = new AwsSigner(example, 'us-east-1', 'bedrock');
  const at = (nowMs: number): string | undefined => signer.sign(outgoing, nowMs)['authorization'];
  const first = at(0);
  expect(at(86_400_000)).not.toBe(first);
  expect(at(0)).toBe(first);
});

test('a key pair is told from an API key', () => {
  expect(awsKeys('AKIAIOSFODNN7EXAMPLE:wJalr/XUt+nFEMI')).toEqual({
    accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
    secretAccessKey: 'wJalr/XUt+nFEMI',
    sessionToken: undefined,
  });
  expect(awsKeys('ASIAIOSFODNN7EXAMPLE:s/e+c:FwoGZXIv//8=')?.sessionToken).toBe('FwoGZXIv//8=');
  for (const no of [
    undefined,
    '',
    'ABSKQmVkcm9ja0FQSUtleS1hYmNk=',
    'AKIAIOSFODNN7EXAMPLE',
    'AKIAIOSFODNN7EXAMPLE:',
    'AKIAIOSFODNN7EXAMPLE:a:',
    'a:b',
    'AKIAIOSFODNN7EXAMPLE:a:b:c',
  ]) {
    expect(awsKeys(no)).toBeUndefined();
  }
});
