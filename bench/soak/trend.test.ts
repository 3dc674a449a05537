import { expect, test } from 'vitest';
import { trendOf } from './trend.ts';

const minutes = Array.from({ length: 300 }, (_, n) => n / 10);
/** A sawtooth of 20 %, like that of a garbage collector. */
const tooth = (at: number): number => 20 * ((at * 7) % 1);

test('a sawtooth is flat', () => {
  const { growth, level } = trendOf(
    minutes.map((at) => ({ at, value: 100 + tooth(at) })),
    10,
  );
  expect(Math.abs(growth)).toBeLessThan(1);
  expect(level).toBeGreaterThan(105);
  expect(level).toBeLessThan(115);
});

test('a leak below a sawtooth is seen, and how much it is', () => {
  const { growth } = trendOf(
    minutes.map((at) => ({ at, value: 100 + tooth(at) + at * 0.3 })),
    10,
  );
  expect(growth).toBeGreaterThan(2);
  expect(growth).toBeLessThan(3.5);
});

test('what grows while it warms up, and single peaks, are no leak', () => {
  const { growth } = trendOf(
    minutes.map((at) => ({ at, value: 100 + Math.min(at, 8) * 10 + (at % 5 === 0 ? 400 : 0) })),
    10,
  );
  expect(Math.abs(growth)).toBeLessThan(0.1);
});
