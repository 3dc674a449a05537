import { expect, test } from 'vitest';
import { sqliteUrl } from '../../test/databases.ts';
import { acquireServingLock } from './serving-lock.ts';

test('one server at a time is the only one, and the next may be when it has let go', async () => {
  const url = await sqliteUrl();
  const first = acquireServingLock(url);
  expect(first).toBeDefined();
  expect(() => acquireServingLock(url)).toThrow(
    /another gateway serves from .*tollgate\.db.*--data.*DATABASE_URL/,
  );
  first?.release();
  const second = acquireServingLock(url);
  expect(second).toBeDefined();
  second?.release();
});

test('databases that are not a file of this machine have no such lock', () => {
  expect(acquireServingLock('sqlite::memory:')).toBeUndefined();
  expect(acquireServingLock('postgres://localhost/x')).toBeUndefined();
});
