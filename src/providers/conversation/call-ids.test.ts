import { expect, test } from 'vitest';
import { CallIds } from './call-ids.ts';

const alphabet = /^[a-z0-9_]+$/;

test('an id that the vendor takes is sent as it is, any other by its hash', () => {
  const ids = new CallIds(alphabet);
  expect(ids.begin('a')).toBe('a');
  const sent = ids.begin('functions.x:0');
  expect(sent).toMatch(/^call_[0-9a-f]{24}$/);
  expect(new CallIds(alphabet).begin('functions.x:0')).toBe(sent);
  expect(ids.of('functions.x:0')).toBe(sent);
});

test('two calls of one id in one answer have their results in their order', () => {
  const ids = new CallIds(alphabet);
  const [first, second] = [ids.begin('a'), ids.begin('a')];
  expect(first).not.toBe(second);
  expect([ids.of('a'), ids.of('a'), ids.of('a')]).toEqual([first, second, second]);
});

test('an id that a later answer uses again is that of the later call', () => {
  const ids = new CallIds(alphabet);
  const first = ids.begin('a');
  expect(ids.of('a')).toBe(first);
  const later = ids.begin('a');
  expect(ids.of('a')).toBe(later);
  expect(later).not.toBe(first);
});
