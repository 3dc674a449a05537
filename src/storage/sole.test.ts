import { expect, test } from 'vitest';
import { sqliteUrl } from '../../test/databases.ts';
import { holdSole } from './sole.ts';

test('one server at a time is the only one, and the next may be when it has let go', async () => {
  const url = await sqliteUrl();
  const first = holdSole(url);
  expect(first).toBeDefined();
  expect(() => holdSole(url)).toThrow(
    /another gateway serves from .*tollgate\.db.*--data.*DATABASE_URL/,
  );
  first?.release();
  const second = holdSole(url);
  expect(second).toBeDefined();
  second?.release();
});

test('databases that are not a file of this machine have no such lock', () => {
  expect(holdSole('sqlite::memory:')).toBeUndefined();
  expect(holdSole('postgres://localhost/x')).toBeUndefined();
});
