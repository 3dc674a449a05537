import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { DatabaseError } from './database.ts';
import { repeat } from './repeat.ts';
import { unexpected } from '../../test/support/unexpected.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const rhythm = { firstMs: 50, everyMs: 100 };

test('work runs after the first wait, and again after each end, never twice at once', async () => {
  const ends: (() => void)[] = [];
  const work = vi.fn<() => Promise<void>>(() => new Promise((resolve) => ends.push(resolve)));
  const repeated = repeat('work', work, rhythm, unexpected);
  await vi.advanceTimersByTimeAsync(49);
  expect(work).toHaveBeenCalledTimes(0);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).toHaveBeenCalledTimes(1);
  ends[0]?.();
  await vi.advanceTimersByTimeAsync(100);
  expect(work).toHaveBeenCalledTimes(2);
  let over = false;
  const stopped = repeated.stop().then(() => {
    over = true;
  });
  await vi.advanceTimersByTimeAsync(1_000);
  expect(over).toBe(false);
  ends[1]?.();
  await stopped;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(work).toHaveBeenCalledTimes(2);
});

test('an error is reported once until the work succeeds, and not while the database is away', async () => {
  const outcomes: (Error | undefined)[] = [
    new DatabaseError('busy', 'away'),
    new Error('first'),
    new Error('first'),
    undefined,
    new Error('second'),
  ];
  const reported: string[] = [];
  const repeated = repeat(
    'work',
    async () => {
      const error = outcomes.shift();
      if (error !== undefined) throw error;
    },
    { everyMs: 100 },
    (work, error) => void reported.push(`${work}: ${String(error)}`),
  );
  await vi.advanceTimersByTimeAsync(350);
  expect(reported).toEqual(['work: Error: first']);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(reported).toEqual(['work: Error: first', 'work: Error: second']);
  await repeated.stop();
});

test('work of many steps is told that it is stopped, and its last error is nobody’s', async () => {
  let steps = 0;
  const repeated = repeat(
    'work',
    async (stopped) => {
      while (!stopped()) {
        steps++;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error('stopped');
    },
    { everyMs: 100 },
    unexpected,
  );
  await vi.advanceTimersByTimeAsync(45);
  const stopped = repeated.stop();
  await vi.advanceTimersByTimeAsync(10);
  await stopped;
  expect(steps).toBe(5);
});
