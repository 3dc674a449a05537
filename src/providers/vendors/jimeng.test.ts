import { expect, it } from 'vitest';
import { jimeng } from './jimeng.ts';

const outgoing = {
  method: 'POST',
  url: 'https://visual.volcengineapi.com/?Action=CVSync2AsyncSubmitTask&Version=2022-08-31',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{}'),
} as const;
const context = {
  now: () => Date.UTC(2026, 10, 21, 10, 0, 0),
  post: () => Promise.reject(new Error('nothing is fetched')),
};
const authorized = (secret: string, body = outgoing.body) =>
  jimeng.authorizer?.(secret, context)?.({ ...outgoing, body });

it('signs time, place, type and body', () => {
  const proof = {
    headers: {
      'x-date': '20261121T100000Z',
      'x-content-sha256': '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
      authorization:
        'HMAC-SHA256 Credential=AK/20261121/cn-north-1/cv/request, ' +
        'SignedHeaders=content-type;host;x-content-sha256;x-date, ' +
        'Signature=a3252941c87141262024199c14bdd5a9585e15dd8329abde68f2ce97a6c0c529',
    },
  };
  expect(authorized('AK:SK')).toEqual(proof);
  expect(authorized('AK:SK', Buffer.from('[]'))).not.toHaveProperty(
    'headers.authorization',
    proof.headers.authorization,
  );
});

it('wants an access key and a secret key', () => {
  expect(authorized('sk-1')).toMatchObject({ kind: 'credentials' });
});
