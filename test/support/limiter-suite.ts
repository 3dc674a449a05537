import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';
import {
  type Allowance,
  type LimitExceeded,
  type Pass,
  type Share,
  type SharedLimiter,
  debtMaxMs,
  concurrencyRetryMs,
} from '../../src/limits/limiter.ts';

let now: number;
let limiter: SharedLimiter;
const clock: Clock = { now: () => now, monotonicMs: () => now };

export function allow(limits: Partial<Allowance>): Allowance {
  return { rpm: undefined, tpm: undefined, concurrency: undefined, ...limits };
}

export function pass(result: Pass | LimitExceeded): Pass {
  if ('limitOf' in result) throw new Error(`refused: ${result.limitOf}`);
  return result;
}

export function refused(result: Pass | LimitExceeded): LimitExceeded {
  if (!('limitOf' in result)) throw new Error('entered');
  return result;
}

const enter: SharedLimiter['enter'] = (...ask) => limiter.enter(...ask);

/** The tests of every limiter, on a clock of the test. `open` returns a new one without keys. */
export function limiterSuite(open: (clock: Clock) => SharedLimiter | Promise<SharedLimiter>): void {
  beforeEach(async () => {
    now = 5_000_000.25;
    limiter = await open(clock);
  });
  describe('requests per minute', ofRequests);
  describe('tokens per minute', ofTokens);
  describe('concurrency', ofConcurrency);
  describe('two shares', ofTwoShares);
}

function ofRequests(): void {
  test.each([1, 7, 60, 601, 2_000])(
    '%i may come at once, and then one for each share of the minute',
    async (rpm) => {
      for (let i = 1; i <= rpm; i++)
        expect(pass(await enter('a', allow({ rpm }), 0)).requests?.remaining).toBe(rpm - i);
      const no = refused(await enter('a', allow({ rpm }), 0));
      expect(no).toMatchObject({
        limitOf: 'requests',
        limit: rpm,
        retryAfterMs: Math.ceil(60_000 / rpm),
        requests: { limit: rpm, remaining: 0, resetMs: 60_000 },
      });
      now += no.retryAfterMs;
      pass(await enter('a', allow({ rpm }), 0));
      refused(await enter('a', allow({ rpm }), 0));
    },
  );

  test('subjects do not share an allowance, and a minute of rest restores it', async () => {
    pass(await enter('a', allow({ rpm: 1 }), 0));
    pass(await enter('b', allow({ rpm: 1 }), 0));
    refused(await enter('a', allow({ rpm: 1 }), 0));
    now += 60_000;
    expect(pass(await enter('a', allow({ rpm: 1 }), 0)).requests).toEqual({
      limit: 1,
      remaining: 0,
      resetMs: 60_000,
    });
  });

  test('a refused request uses nothing up', async () => {
    pass(await enter('a', allow({ rpm: 2, tpm: 100 }), 100));
    for (let i = 0; i < 20; i++)
      expect(refused(await enter('a', allow({ rpm: 2, tpm: 100 }), 50)).limitOf).toBe('tokens');
    now += 30_000;
    pass(await enter('a', allow({ rpm: 2, tpm: 100 }), 50));
  });

  test('a changed limit holds at once', async () => {
    for (let i = 0; i < 10; i++) pass(await enter('a', allow({ rpm: 10 }), 0));
    refused(await enter('a', allow({ rpm: 10 }), 0));
    now += 6_000;
    expect(pass(await enter('a', allow({ rpm: 100 }), 0)).requests).toMatchObject({
      limit: 100,
      remaining: 9,
    });
  });
}

function ofTokens(): void {
  const limits = allow({ tpm: 6_000 });

  test('the estimate is set aside and corrected by what was used', async () => {
    const first = pass(await enter('a', limits, 5_000));
    expect(first.tokens).toEqual({ limit: 6_000, remaining: 1_000, resetMs: 50_000 });
    expect(refused(await enter('a', limits, 2_000))).toMatchObject({
      limitOf: 'tokens',
      limit: 6_000,
      retryAfterMs: 10_000,
    });
    first.finish(500);
    expect(pass(await enter('a', limits, 2_000)).tokens?.remaining).toBe(3_500);
  });

  test('what was used beyond the estimate is owed, within a limit', async () => {
    pass(await enter('a', limits, 100)).finish(9_000);
    expect(refused(await enter('a', limits, 1)).retryAfterMs).toBe(30_010);
    pass(await enter('b', limits, 100)).finish(10_000_000);
    expect(refused(await enter('b', limits, 1)).retryAfterMs).toBe(debtMaxMs + 10);
  });

  test('a request larger than the whole allowance enters when the subject is rested', async () => {
    pass(await enter('a', limits, 50_000));
    expect(refused(await enter('a', limits, 50_000)).retryAfterMs).toBe(60_000);
    now += 60_000;
    pass(await enter('a', limits, 50_000));
  });

  test('an estimate that time has worked off is not given back out of what another request uses', async () => {
    const first = pass(await enter('a', limits, 6_000));
    now += 60_000;
    pass(await enter('a', limits, 6_000));
    first.finish(0);
    expect(refused(await enter('a', limits, 6_000)).retryAfterMs).toBe(60_000);
  });

  test('over any stretch of time no more enters than the burst and the rate allow', async () => {
    const arrival = fc.record({
      waitMs: fc.integer({ min: 0, max: 4_000 }),
      tokens: fc.integer({ min: 1, max: 700 }),
    });
    let subjects = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(arrival, { maxLength: 120 }), async (arrivals) => {
        const [subject, start] = [`s${subjects++}`, now];
        let entered = 0;
        for (const { waitMs, tokens } of arrivals) {
          now += waitMs;
          const result = await enter(subject, allow({ tpm: 600 }), tokens);
          if ('limitOf' in result) continue;
          entered += Math.min(tokens, 600);
          result.finish(Math.min(tokens, 600));
          expect(entered).toBeLessThanOrEqual(600 + ((now - start) * 600) / 60_000 + 0.001);
        }
      }),
    );
  });
}

function ofConcurrency(): void {
  const limits = allow({ concurrency: 2 });

  test('a request counts until it finishes, and finishes once', async () => {
    const first = pass(await enter('a', limits, 0));
    pass(await enter('a', limits, 0));
    expect(refused(await enter('a', limits, 0))).toMatchObject({
      limitOf: 'concurrency',
      limit: 2,
      retryAfterMs: concurrencyRetryMs,
      requests: undefined,
    });
    first.finish(0);
    first.finish(0);
    pass(await enter('a', limits, 0));
    refused(await enter('a', limits, 0));
  });

  test('finishing twice corrects the tokens once', async () => {
    const first = pass(await enter('a', allow({ tpm: 1_000 }), 900));
    pass(await enter('a', allow({ tpm: 1_000 }), 100));
    first.finish(500);
    first.finish(0);
    expect(refused(await enter('a', allow({ tpm: 1_000 }), 600)).tokens?.remaining).toBe(400);
  });
}

function ofTwoShares(): void {
  const ofGroup = allow({ rpm: 10, tpm: 1_000 });
  const key = (subject: string, limits: Partial<Allowance>): Share => ({
    subject,
    allowance: allow(limits),
  });

  test('both must have room, and the one without uses nothing of the other', async () => {
    const own = key('k1', { rpm: 2 });
    expect(pass(await enter('a', ofGroup, 0, own)).requests).toMatchObject({
      limit: 2,
      remaining: 1,
    });
    pass(await enter('a', ofGroup, 0, own));
    for (let i = 0; i < 5; i++)
      expect(refused(await enter('a', ofGroup, 0, own))).toMatchObject({
        limitOf: 'requests',
        limit: 2,
        retryAfterMs: 30_000,
      });
    expect(pass(await enter('a', ofGroup, 0, key('k2', { rpm: 20 }))).requests).toMatchObject({
      limit: 10,
      remaining: 7,
    });
  });

  test('what was not used comes back to both', async () => {
    const first = pass(await enter('a', ofGroup, 900, key('k1', { tpm: 900 })));
    expect(refused(await enter('a', ofGroup, 50, key('k1', { tpm: 900 }))).limitOf).toBe('tokens');
    first.finish(100);
    expect(pass(await enter('a', ofGroup, 0, key('k1', { tpm: 900 }))).tokens).toMatchObject({
      limit: 900,
      remaining: 800,
    });
    expect(pass(await enter('a', ofGroup, 0)).tokens).toMatchObject({
      limit: 1_000,
      remaining: 900,
    });
  });

  test('too many at once of one is too many, and told before any rate', async () => {
    const own = key('k1', { concurrency: 1 });
    const running = pass(await enter('a', allow({ rpm: 1 }), 0, own));
    expect(refused(await enter('a', allow({ rpm: 1 }), 0, own))).toMatchObject({
      limitOf: 'concurrency',
      limit: 1,
    });
    running.finish(0);
    expect(refused(await enter('a', allow({ rpm: 1 }), 0, own))).toMatchObject({
      limitOf: 'requests',
      limit: 1,
    });
  });

  test('one without limits leaves the other as it is', async () => {
    pass(await enter('a', allow({}), 0, key('k1', { rpm: 1 })));
    expect(refused(await enter('a', allow({}), 0, key('k1', { rpm: 1 }))).limit).toBe(1);
    expect(pass(await enter('a', allow({ rpm: 5 }), 0, key('k3', {}))).requests?.remaining).toBe(4);
  });
}
