import { expect, test } from 'vitest';
import { costOf } from './cost.ts';
import { worse } from './gate.ts';

test('ten percent more is let through, eleven are not, and each figure counts for itself', () => {
  expect(worse({ request: 1.1, chunk: 1.1 })).toEqual([]);
  expect(worse({ request: 1.11, chunk: 0.5 })).toEqual([
    expect.stringContaining('a request costs 1.110 times'),
  ]);
  expect(worse({ request: 1, chunk: 1.4 })).toEqual([expect.stringContaining('a chunk')]);
});

test('slices that were taken while others had the machine change nothing', () => {
  const [calm, noisy] = [Array<number>(6).fill(100), Array<number>(10).fill(400)];
  const base = { request: [...noisy, ...calm], chunk: calm };
  const own = { request: [...calm, ...noisy].map((ns) => 2 * ns), chunk: calm };
  expect(costOf(own, base)).toEqual({ request: 2, chunk: 1 });
});
