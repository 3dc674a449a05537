import { expect, it } from 'vitest';
import { volcAuthorizer, volcHeaders } from './authorizers.ts';

const outgoing = {
  method: 'POST',
  url: 'https://visual.volcengineapi.com/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{}'),
} as const;
const scope = { region: 'cn-north-1', service: 'cv' } as const;
const now = Date.UTC(2026, 10, 21, 10, 0, 0);
const means = { now: () => now, post: () => Promise.reject(new Error('nothing is fetched')) };

it('signs time, place, type and body', () => {
  const { headers } = volcHeaders({ accessKey: 'AK', secretKey: 'SK' }, scope, outgoing, now);
  expect(headers['x-date']).toBe('20261121T100000Z');
  expect(headers['x-content-sha256']).toBe(
    '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  );
  expect(headers.authorization).toMatch(
    /^HMAC-SHA256 Credential=AK\/20261121\/cn-north-1\/cv\/request, SignedHeaders=content-type;host;x-content-sha256;x-date, Signature=[\da-f]{64}$/,
  );
  const another = volcHeaders(
    { accessKey: 'AK', secretKey: 'SK' },
    scope,
    { ...outgoing, body: Buffer.from('[]') },
    now,
  );
  expect(another.headers.authorization).not.toBe(headers.authorization);
});

it('wants an access key and a secret key', () => {
  expect(volcAuthorizer(scope)('sk-1', means)(outgoing)).toMatchObject({ kind: 'credentials' });
  expect(volcAuthorizer(scope)('AK:SK', means)(outgoing)).toHaveProperty('headers.authorization');
});
