import fc from 'fast-check';
import { unavailableRetryMs } from '../base/refusal.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Fault, FaultKind } from '../base/fault.ts';
import { seededRandom } from '../base/random.ts';
import {
  coolDownMaxMs,
  parkMaxMs,
  parkMs,
  probeEveryMs,
  breakersMax,
  Health,
  type RoutingCandidate,
} from './candidates.ts';

const seed = 20261121;
let health: Health;
let now: number;

beforeEach(() => {
  health = new Health();
  now = 1_000;
});

function channel(id: string, priority = 0, weight = 1): RoutingCandidate {
  return { id, priority, weight };
}

function fault(kind: FaultKind, retryAfterMs?: number): Fault {
  return retryAfterMs === undefined
    ? { kind, message: kind }
    : { kind, message: kind, retryAfterMs };
}

function fail(id: string, kind: FaultKind, times = 1): void {
  for (let i = 0; i < times; i++) health.faulted(id, fault(kind), now);
}

function pick(
  candidates: readonly RoutingCandidate[],
  excluded: readonly RoutingCandidate[] = [],
): string | undefined {
  return health.pick(candidates, excluded, now, () => 0.5)?.id;
}

describe('picking', () => {
  test('the lowest priority number comes first and the next follows when it was tried', () => {
    const [a, b] = [channel('a', 1), channel('b', 0)];
    expect(pick([a, b])).toBe('b');
    expect(pick([a, b], [b])).toBe('a');
    expect(pick([a, b], [a, b])).toBeUndefined();
  });

  test('channels of one priority share by weight', () => {
    const candidates = [channel('a', 0, 1), channel('b', 0, 3), channel('c', 0, 6)];
    const random = seededRandom(seed);
    const counts = new Map<string, number>();
    for (let i = 0; i < 10_000; i++) {
      const id = health.pick(candidates, [], now, random)?.id ?? '';
      counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    expect((counts.get('a') ?? 0) / 10_000, `seed ${seed}`).toBeCloseTo(0.1, 1);
    expect((counts.get('b') ?? 0) / 10_000, `seed ${seed}`).toBeCloseTo(0.3, 1);
    expect((counts.get('c') ?? 0) / 10_000, `seed ${seed}`).toBeCloseTo(0.6, 1);
  });

  test('a channel without weight is used when nothing else is left', () => {
    const [spare, main] = [channel('spare', 0, 0), channel('main', 5, 1)];
    expect(pick([spare, main])).toBe('main');
    expect(pick([spare, main], [main])).toBe('spare');
  });

  test('whatever happened, a pick is untried, not shut, and nothing healthier or of lower priority was left aside', () => {
    const kinds: readonly FaultKind[] = [
      'credentials',
      'quota',
      'rate_limited',
      'overloaded',
      'server_error',
      'timeout',
      'bad_request',
    ];
    const event = fc.record({
      id: fc.integer({ min: 0, max: 5 }),
      kind: fc.constantFrom('ok' as const, ...kinds),
      retryAfterMs: fc.option(fc.integer({ min: 0, max: 60_000 }), { nil: undefined }),
      passMs: fc.integer({ min: 0, max: 9_000 }),
    });
    const shape = fc.record({
      priority: fc.integer({ min: 0, max: 2 }),
      weight: fc.integer({ min: 0, max: 3 }),
    });
    fc.assert(
      fc.property(
        fc.array(shape, { minLength: 1, maxLength: 6 }),
        fc.array(event, { maxLength: 80 }),
        fc.integer(),
        (shapes, events, randomSeed) => {
          const [all, random, subject] = [
            shapes.map((s, i) => channel(String(i), s.priority, s.weight)),
            seededRandom(randomSeed),
            new Health(),
          ];
          let time = 0;
          for (const { id, kind, retryAfterMs, passMs } of events) {
            time += passMs;
            if (kind === 'ok') subject.answered(String(id), time);
            else subject.faulted(String(id), fault(kind, retryAfterMs), time);
            const excluded = all.slice(0, id % 3);
            const usable = all.filter(
              (c) => !excluded.includes(c) && subject.state(c.id, time).shut === undefined,
            );
            const open = new Set(
              usable.filter((c) => subject.state(c.id, time).breaker === 'open').map((c) => c.id),
            );
            const picked = subject.pick(all, excluded, time, random);
            expect(picked === undefined).toBe(usable.length === 0);
            if (picked === undefined) continue;
            const rank = (c: RoutingCandidate): number =>
              (open.has(c.id) ? 2_000 : 0) + (c.weight === 0 ? 1_000 : 0) + c.priority;
            expect(usable).toContain(picked);
            expect(rank(picked)).toBe(Math.min(...usable.map(rank)));
          }
        },
      ),
    );
  });
});

describe('the breaker', () => {
  const [a, b] = [channel('a', 0), channel('b', 1)];

  test('a few errors among many answers disable nothing', () => {
    fail('a', 'server_error');
    expect(pick([a, b])).toBe('a');
    for (let i = 0; i < 60; i++) {
      if (i % 4 === 0) fail('a', 'timeout');
      else health.answered('a', now);
      expect(pick([a, b])).toBe('a');
    }
  });

  test('a channel that fails more often than not is passed over', () => {
    fail('a', 'server_error', 5);
    expect(health.state('a', now)).toMatchObject({
      breaker: 'open',
      shut: undefined,
      failures: 5,
      results: 5,
      lastFault: 'server_error',
    });
    expect(pick([a, b])).toBe('b');
  });

  test('an opened channel without a healthy alternative still gets the requests', () => {
    fail('a', 'network', 9);
    expect(pick([a])).toBe('a');
    expect(pick([a])).toBe('a');
    expect(pick([a, b], [b])).toBe('a');
  });

  test('after a while one request is the probe, and its answer closes the breaker', () => {
    fail('a', 'overloaded', 5);
    now += probeEveryMs;
    expect(health.state('a', now).breaker).toBe('half-open');
    expect(pick([a, b])).toBe('a');
    expect(pick([a, b])).toBe('b');
    health.answered('a', now);
    expect(health.state('a', now).breaker).toBe('closed');
    expect(pick([a, b])).toBe('a');
  });

  test('a probe that fails or never returns is followed by another', () => {
    fail('a', 'overloaded', 5);
    now += probeEveryMs;
    expect(pick([a, b])).toBe('a');
    fail('a', 'overloaded');
    expect(pick([a, b])).toBe('b');
    now += probeEveryMs;
    expect(pick([a, b])).toBe('a');
    now += probeEveryMs;
    expect(pick([a, b])).toBe('a');
  });

  test('failures of long ago are forgotten', () => {
    fail('a', 'timeout', 4);
    now += 120_000;
    fail('a', 'timeout');
    expect(pick([a, b])).toBe('a');
  });

  test('what is wrong with a request or a model id says nothing against the channel', () => {
    for (const kind of [
      'bad_request',
      'context_length',
      'content_policy',
      'unknown_model',
    ] as const)
      fail('a', kind, 20);
    expect(health.state('a', now)).toMatchObject({
      breaker: 'closed',
      failures: 0,
      lastFault: undefined,
    });
  });

  test('the memory is bounded', () => {
    fail('first', 'credentials');
    for (let i = 0; i < breakersMax; i++) health.answered(String(i), now);
    expect(health.state('first', now).shut).toBeUndefined();
    expect(health.state('0', now).results).toBe(1);
  });
});

describe('what shuts a channel', () => {
  const [a, b] = [channel('a', 0), channel('b', 1)];

  test.each(['credentials', 'quota'] as const)(
    '%s of ours parks it at once, even when it is the only one',
    (kind) => {
      fail('a', kind);
      expect(pick([a, b])).toBe('b');
      expect(pick([a])).toBeUndefined();
      expect(health.state('a', now).shut).toEqual({ because: kind, forMs: parkMs });
      expect(health.retryAfterMs([a], now)).toBe(parkMs);
      expect(health.retryAfterMs([a, b], now)).toBe(unavailableRetryMs);
    },
  );

  test('a parked channel comes back by itself, one probe first', () => {
    fail('a', 'quota');
    now += parkMs;
    expect(pick([a, b])).toBe('a');
    expect(pick([a, b])).toBe('b');
    health.answered('a', now);
    expect(pick([a, b])).toBe('a');
  });

  test('parks grow, are bounded, and start anew after an answer', () => {
    const stays: number[] = [];
    for (let i = 0; i < 9; i++) {
      fail('a', 'credentials');
      stays.push(health.state('a', now).shut?.forMs ?? 0);
      now += parkMaxMs;
    }
    expect(stays.slice(0, 3)).toEqual([parkMs, 2 * parkMs, 4 * parkMs]);
    expect(stays.at(-1)).toBe(parkMaxMs);
    health.answered('a', now);
    fail('a', 'credentials');
    expect(health.state('a', now).shut?.forMs).toBe(parkMs);
  });

  test('requests refused together are one park, and an answer that was on its way does not end it', () => {
    fail('a', 'quota', 50);
    health.answered('a', now);
    expect(health.state('a', now).shut?.forMs).toBe(parkMs);
  });

  test("a vendor's own retry-after is honoured, up to a limit", () => {
    health.faulted('a', fault('rate_limited', 2_000), now);
    expect(pick([a])).toBeUndefined();
    expect(health.retryAfterMs([a], now)).toBe(2_000);
    now += 2_000;
    expect(pick([a, b])).toBe('a');
    health.faulted('a', fault('overloaded', 86_400_000), now);
    expect(health.state('a', now).shut).toEqual({ because: 'overloaded', forMs: coolDownMaxMs });
  });

  test('a rate limit that names no time shuts nothing', () => {
    fail('a', 'rate_limited', 3);
    expect(pick([a, b])).toBe('a');
  });
});
