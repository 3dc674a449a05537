import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../base/clock.ts';
import type { Allowance, Overrun, Pass } from './contract.ts';
import { debtMaxMs } from './gcra.ts';
import { concurrencyRetryMs, MemoryLimiter } from './limiter.ts';

let now: number;
let limiter: MemoryLimiter;
const clock: Clock = { now: () => now, monotonicMs: () => now };

beforeEach(() => {
  now = 5_000_000.25;
  limiter = new MemoryLimiter(clock);
});

function allow(limits: Partial<Allowance>): Allowance {
  return { rpm: undefined, tpm: undefined, concurrency: undefined, ...limits };
}

function pass(result: Pass | Overrun): Pass {
  if ('over' in result) throw new Error(`refused: ${result.over}`);
  return result;
}

function refused(result: Pass | Overrun): Overrun {
  if (!('over' in result)) throw new Error('entered');
  return result;
}

test('a group without limits shares one pass and leaves no trace', () => {
  const [a, b] = [limiter.enter('a', allow({}), 10), limiter.enter('b', allow({}), 10)];
  expect(a).toBe(b);
  expect(limiter.size).toBe(0);
  pass(a).finish(1);
});

describe('requests per minute', () => {
  test.each([1, 7, 60, 601, 5_000])('%i may come at once, and then one for each share of the minute', (rpm) => {
    for (let i = 1; i <= rpm; i++) expect(pass(limiter.enter('a', allow({ rpm }), 0)).requests?.remaining).toBe(rpm - i);
    const no = refused(limiter.enter('a', allow({ rpm }), 0));
    expect(no).toMatchObject({
      over: 'requests',
      limit: rpm,
      retryAfterMs: Math.ceil(60_000 / rpm),
      requests: { limit: rpm, remaining: 0, resetMs: 60_000 },
    });
    now += no.retryAfterMs;
    pass(limiter.enter('a', allow({ rpm }), 0));
    refused(limiter.enter('a', allow({ rpm }), 0));
  });

  test('subjects do not share an allowance, and a minute of rest restores it', () => {
    pass(limiter.enter('a', allow({ rpm: 1 }), 0));
    pass(limiter.enter('b', allow({ rpm: 1 }), 0));
    refused(limiter.enter('a', allow({ rpm: 1 }), 0));
    now += 60_000;
    expect(pass(limiter.enter('a', allow({ rpm: 1 }), 0)).requests).toEqual({ limit: 1, remaining: 0, resetMs: 60_000 });
  });

  test('a refused request uses nothing up', () => {
    pass(limiter.enter('a', allow({ rpm: 2, tpm: 100 }), 100));
    for (let i = 0; i < 20; i++) expect(refused(limiter.enter('a', allow({ rpm: 2, tpm: 100 }), 50)).over).toBe('tokens');
    now += 30_000;
    pass(limiter.enter('a', allow({ rpm: 2, tpm: 100 }), 50));
  });

  test('a changed limit holds at once', () => {
    for (let i = 0; i < 10; i++) pass(limiter.enter('a', allow({ rpm: 10 }), 0));
    refused(limiter.enter('a', allow({ rpm: 10 }), 0));
    now += 6_000;
    expect(pass(limiter.enter('a', allow({ rpm: 100 }), 0)).requests).toMatchObject({ limit: 100, remaining: 9 });
  });
});

describe('tokens per minute', () => {
  const limits = allow({ tpm: 6_000 });

  test('the estimate is set aside and corrected by what was used', () => {
    const first = pass(limiter.enter('a', limits, 5_000));
    expect(first.tokens).toEqual({ limit: 6_000, remaining: 1_000, resetMs: 50_000 });
    expect(refused(limiter.enter('a', limits, 2_000))).toMatchObject({ over: 'tokens', limit: 6_000, retryAfterMs: 10_000 });
    first.finish(500);
    expect(pass(limiter.enter('a', limits, 2_000)).tokens?.remaining).toBe(3_500);
  });

  test('what was used beyond the estimate is owed, within a limit', () => {
    pass(limiter.enter('a', limits, 100)).finish(9_000);
    expect(refused(limiter.enter('a', limits, 1)).retryAfterMs).toBe(30_010);
    pass(limiter.enter('b', limits, 100)).finish(10_000_000);
    expect(refused(limiter.enter('b', limits, 1)).retryAfterMs).toBe(debtMaxMs + 10);
  });

  test('a request larger than the whole allowance enters when the subject is rested', () => {
    pass(limiter.enter('a', limits, 50_000));
    expect(refused(limiter.enter('a', limits, 50_000)).retryAfterMs).toBe(60_000);
    now += 60_000;
    pass(limiter.enter('a', limits, 50_000));
  });

  test('an estimate that time has worked off is not given back out of what another request uses', () => {
    const first = pass(limiter.enter('a', limits, 6_000));
    now += 60_000;
    pass(limiter.enter('a', limits, 6_000));
    first.finish(0);
    expect(refused(limiter.enter('a', limits, 6_000)).retryAfterMs).toBe(60_000);
  });

  test('over any stretch of time no more enters than the burst and the rate allow', () => {
    const arrival = fc.record({ waitMs: fc.integer({ min: 0, max: 4_000 }), tokens: fc.integer({ min: 1, max: 700 }) });
    fc.assert(
      fc.property(fc.array(arrival, { maxLength: 120 }), (arrivals) => {
        const [subject, start] = [new MemoryLimiter(clock), now];
        let entered = 0;
        for (const { waitMs, tokens } of arrivals) {
          now += waitMs;
          const result = subject.enter('a', allow({ tpm: 600 }), tokens);
          if ('over' in result) continue;
          entered += Math.min(tokens, 600);
          result.finish(Math.min(tokens, 600));
          expect(entered).toBeLessThanOrEqual(600 + ((now - start) * 600) / 60_000 + 0.001);
        }
      }),
    );
  });
});

describe('concurrency', () => {
  const limits = allow({ concurrency: 2 });

  test('a request counts until it finishes, and finishes once', () => {
    const first = pass(limiter.enter('a', limits, 0));
    pass(limiter.enter('a', limits, 0));
    expect(refused(limiter.enter('a', limits, 0))).toMatchObject({
      over: 'concurrency',
      limit: 2,
      retryAfterMs: concurrencyRetryMs,
      requests: undefined,
    });
    first.finish(0);
    first.finish(0);
    pass(limiter.enter('a', limits, 0));
    refused(limiter.enter('a', limits, 0));
  });

  test('finishing twice corrects the tokens once', () => {
    const first = pass(limiter.enter('a', allow({ tpm: 1_000 }), 900));
    pass(limiter.enter('a', allow({ tpm: 1_000 }), 100));
    first.finish(500);
    first.finish(0);
    expect(refused(limiter.enter('a', allow({ tpm: 1_000 }), 600)).tokens?.remaining).toBe(400);
  });
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
    expect(refused(small.enter('runs', allow({ rpm: 9, concurrency: 1 }), 0)).over).toBe('concurrency');
    running.finish(0);
  });
});
