import { beforeEach, describe, expect, test } from 'vitest';
import { allow, limiterSuite, pass, refused } from '../../test/support/limiter-suite.ts';
import type { Clock } from '../base/clock.ts';
import { MemoryLimiter } from './limiter.ts';

let now: number;
let limiter: MemoryLimiter;
const clock: Clock = { now: () => now, monotonicMs: () => now };

beforeEach(() => {
  now = 5_000_000.25;
  limiter = new MemoryLimiter(clock);
});

describe('in memory', () => limiterSuite((own) => new MemoryLimiter(own)));

test('a group without limits shares one pass and leaves no trace', () => {
  const [a, b] = [limiter.enter('a', allow({}), 10), limiter.enter('b', allow({}), 10)];
  expect(a).toBe(b);
  expect(limiter.size).toBe(0);
  pass(a).finish(1);
});

describe('memory', () => {
  test('rested subjects are forgotten while new ones arrive', () => {
    for (let i = 0; i < 1_000; i++) pass(limiter.enter(`old${i}`, allow({ rpm: 60 }), 0)).finish(0);
    now += 60_000;
    for (let i = 0; i < 400; i++) pass(limiter.enter(`new${i}`, allow({ rpm: 60 }), 0)).finish(0);
    expect(limiter.size).toBe(400);
  });

  test('there are never more subjects than the limit, and those with requests running are kept', () => {
    const small = new MemoryLimiter(clock, 50);
    const running = pass(small.enter('runs', allow({ rpm: 9, concurrency: 1 }), 0));
    for (let i = 0; i < 500; i++) {
      pass(small.enter(`s${i}`, allow({ rpm: 1 }), 0)).finish(0);
      expect(small.size).toBeLessThanOrEqual(50);
    }
    expect(refused(small.enter('runs', allow({ rpm: 9, concurrency: 1 }), 0)).limitOf).toBe(
      'concurrency',
    );
    running.finish(0);
  });
});
