import { expect, test } from 'vitest';
import { DatabaseError } from '../storage/database.ts';
import { removeExpired } from './remove-expired.ts';

const never = () => false;

/** Entries 0 to `count - 1`, and how they are removed. */
function entries(count: number, problems: Readonly<Record<number, Error>> = {}) {
  const left = new Set(Array.from({ length: count }, (_unused, i) => i));
  return {
    left,
    find: async (most: number) => [...left].slice(0, most),
    remove: async (entry: number) => {
      const problem = problems[entry];
      if (problem !== undefined) throw problem;
      return left.delete(entry);
    },
  };
}

test('many pages are removed in one call, and each entry counts once', async () => {
  const { left, find, remove } = entries(1_200);
  expect(await removeExpired(find, remove, never)).toBe(1_200);
  expect(left.size).toBe(0);
});

test('what cannot be removed does not keep the others, and is told at the end', async () => {
  const { left, find, remove } = entries(1_200, { 3: new Error('third'), 700: new Error('later') });
  await expect(removeExpired(find, remove, never)).rejects.toThrow('third');
  expect([...left]).toEqual([3, 700]);
});

test('a page of which nothing can be removed is not read for ever', async () => {
  const problems = Object.fromEntries(
    Array.from({ length: 500 }, (_unused, i) => [i, new Error('broken')]),
  );
  const { left, find, remove } = entries(600, problems);
  await expect(removeExpired(find, remove, never)).rejects.toThrow('broken');
  expect(left.size).toBe(600);
});

test('a database that is away ends it at once', async () => {
  const away = new DatabaseError('gone', 'away');
  const { left, find, remove } = entries(500, { 2: new Error('broken'), 3: away });
  await expect(removeExpired(find, remove, never)).rejects.toBe(away);
  expect(left.size).toBeGreaterThan(490);
});

test('it ends between a few when it is stopped, without the errors of before', async () => {
  const { left, find, remove } = entries(500, { 2: new Error('broken') });
  const removed = await removeExpired(find, remove, () => left.size < 490);
  expect(removed).toBe(500 - left.size);
  expect(left.size).toBeGreaterThan(480);
});
