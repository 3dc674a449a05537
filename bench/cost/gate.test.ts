import { expect, test } from 'vitest';
import { costOf } from './cost.ts';
import { worse } from './gate.ts';

const accepted = { request: 2, chunk: 1.2 };

test('ten percent more is let through, eleven are not, and each figure counts for itself', () => {
  expect(worse({ request: 2.19, chunk: 1.31 }, accepted)).toEqual([]);
  expect(worse({ request: 2.23, chunk: 0.5 }, accepted)).toEqual([
    expect.stringContaining('a request costs 2.23 times the reference, 12 % more'),
  ]);
  expect(worse({ request: 1, chunk: 1.4 }, accepted)).toEqual([expect.stringContaining('a chunk')]);
});

test('slices that were taken while others had the machine change nothing', () => {
  const [calm, noisy] = [Array<number>(6).fill(100), Array<number>(10).fill(400)];
  const reference = { request: [...noisy, ...calm], chunk: calm };
  const own = { request: [...calm, ...noisy].map((ns) => 2 * ns), chunk: calm };
  expect(costOf(own, reference)).toEqual({ request: 2, chunk: 1 });
});
