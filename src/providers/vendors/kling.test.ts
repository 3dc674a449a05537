import { expect, it } from 'vitest';
import { kling } from './kling.ts';

const outgoing = {
  method: 'GET',
  url: 'https://api-singapore.klingai.com/v1/videos/text2video/1',
  headers: {},
  body: Buffer.alloc(0),
} as const;
const post = () => Promise.reject(new Error('nothing is fetched'));

it('signs who we are for half an hour, and keeps a token until it is about to end', () => {
  let now = 1_800_000_000_000;
  const authorize = kling.authorizer?.('AK:SK', { now: () => now, post });
  const proof = authorize?.(outgoing);
  const statement =
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJBSyIsImV4cCI6MTgwMDAwMTgwMCwibmJmIjoxNzk5OTk5OTk1fQ';
  const token = `${statement}.iXkE1Ff5wMPCA34anQuK0sbtpnNllzlGYdaYnhpWFzg`;
  expect(proof).toEqual({ headers: { authorization: `Bearer ${token}` } });
  now += 1_400_000;
  expect(authorize?.(outgoing)).toBe(proof);
  now += 200_000;
  expect(authorize?.(outgoing)).not.toEqual(proof);
});

it('takes an API key of the newer kind as it is', () => {
  expect(kling.authorizer?.('sk-1', { now: () => 0, post })).toBeUndefined();
  expect(kling.sign('sk-1')).toEqual({ authorization: 'Bearer sk-1' });
  expect(kling.sign('AK:SK')).toEqual({});
});
