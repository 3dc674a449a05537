import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { seededRandom } from '../base/random.ts';
import {
  type RoutingCandidate,
  type Choice,
  hashTexts,
  Health,
  Latencies,
  latenciesMax,
} from './candidates.ts';

const seed = 20261121;
const channel = (
  id: string,
  weight = 1,
  more: Partial<RoutingCandidate> = {},
): RoutingCandidate => ({
  id,
  priority: 0,
  weight,
  ...more,
});
const choice = (policy: Choice['policy'], together?: number, streamed = true): Choice => ({
  policy,
  affinity: together,
  streamed,
});

/** Each candidate's share of 10,000 picks. */
function shares(
  health: Health,
  candidates: readonly RoutingCandidate[],
  how: Choice,
  now = 0,
): Record<string, number> {
  const random = seededRandom(seed);
  const counts: Record<string, number> = {};
  for (let i = 0; i < 10_000; i++) {
    const id = health.pick(candidates, [], now, random, how)?.id ?? '';
    counts[id] = (counts[id] ?? 0) + 1 / 10_000;
  }
  return counts;
}

describe('latency', () => {
  const all = [channel('fast'), channel('slow')];

  test('twice as slow is asked a quarter as often, and the slowest keeps a sixteenth of its share', () => {
    const health = new Health();
    health.recordLatency(all[0] as RoutingCandidate, true, 100);
    health.recordLatency(all[1] as RoutingCandidate, true, 200);
    expect(shares(health, all, choice('latency'))['slow']).toBeCloseTo(0.2, 1);
    for (let i = 0; i < 50; i++) health.recordLatency(all[1] as RoutingCandidate, true, 60_000);
    const { slow = 0 } = shares(health, all, choice('latency'));
    expect(slow).toBeGreaterThan(0.04);
    expect(slow).toBeLessThan(0.08);
  });

  test('a candidate that becomes fast again gets as many requests again', () => {
    const health = new Health();
    for (const one of all) health.recordLatency(one, true, 100);
    for (let i = 0; i < 10; i++) health.recordLatency(all[1] as RoutingCandidate, true, 5_000);
    for (let i = 0; i < 40; i++) health.recordLatency(all[1] as RoutingCandidate, true, 100);
    expect(shares(health, all, choice('latency'))['slow']).toBeGreaterThan(0.4);
  });

  test('a candidate that was never measured is picked as often as the fastest', () => {
    const health = new Health();
    health.recordLatency(all[0] as RoutingCandidate, true, 100);
    expect(shares(health, all, choice('latency'))['slow']).toBeCloseTo(0.5, 1);
  });

  test('streams and whole answers are measured apart, and one model says nothing of another', () => {
    const latencies = new Latencies();
    const [one, other] = [
      channel('a', 1, { latencyKey: 'a m1' }),
      channel('a', 1, { latencyKey: 'a m2' }),
    ];
    latencies.record(one, true, 100);
    expect([latencies.of(one, true), latencies.of(one, false), latencies.of(other, true)]).toEqual([
      100,
      undefined,
      undefined,
    ]);
  });

  test('the memory is bounded', () => {
    const latencies = new Latencies();
    for (let i = 0; i <= latenciesMax; i++) latencies.record(channel(String(i)), true, 1);
    expect(latencies.of(channel('0'), true)).toBeUndefined();
    expect(latencies.of(channel('1'), true)).toBe(1);
  });

  test('a faster channel of another priority stays where its priority puts it', () => {
    const health = new Health();
    const [first, second] = [
      channel('first', 1, { priority: 0 }),
      channel('second', 1, { priority: 1 }),
    ];
    health.recordLatency(first, true, 1_000);
    health.recordLatency(second, true, 1);
    expect(shares(health, [first, second], choice('latency'))).toEqual({
      first: expect.closeTo(1, 5),
    });
  });
});

describe('cost', () => {
  test('the cheapest is picked, equals share by weight, and a candidate without a cost comes last', () => {
    const health = new Health();
    const all = [
      channel('unknown', 9),
      channel('dear', 9, { cost: 5 }),
      channel('a', 1, { cost: 2 }),
      channel('b', 3, { cost: 2 }),
    ];
    const { a = 0, b = 0, ...others } = shares(health, all, choice('cost'));
    expect(others).toEqual({});
    expect(b / a).toBeGreaterThan(2.5);
    expect(b / a).toBeLessThan(3.5);
    const left = all.slice(0, 2);
    expect(health.pick(left, [], 0, () => 0.5, choice('cost'))?.id).toBe('dear');
  });

  test('a cheap channel that fails is left for the next', () => {
    const health = new Health();
    const all = [channel('cheap', 1, { cost: 1 }), channel('dear', 1, { cost: 9 })];
    for (let i = 0; i < 5; i++) health.faulted('cheap', { kind: 'server_error', message: '' }, 0);
    expect(health.pick(all, [], 0, () => 0.5, choice('cost'))?.id).toBe('dear');
  });
});

describe('what belongs together', () => {
  const all = [channel('a', 1), channel('b', 2), channel('c', 3), channel('d', 4)];
  const pick = (
    health: Health,
    candidates: readonly RoutingCandidate[],
    together: number,
  ): string | undefined =>
    health.pick(candidates, [], 0, Math.random, choice('weighted', together))?.id;

  test('meets at the same channel on every node, whatever the policy, and conversations are spread by weight', () => {
    const [here, there] = [new Health(), new Health()];
    const counts: Record<string, number> = {};
    for (let i = 0; i < 10_000; i++) {
      const together = hashTexts(['user_1', `conversation ${i}`]);
      const id = pick(here, all, together) ?? '';
      expect(pick(there, [...all].reverse(), together)).toBe(id);
      counts[id] = (counts[id] ?? 0) + 1 / 10_000;
    }
    for (const { id, weight } of all) expect(counts[id], id).toBeCloseTo(weight / 10, 1);
  });

  test('a channel that fails moves its own conversations and no others, and has them back when it is well', () => {
    const health = new Health();
    const conversations = Array.from({ length: 500 }, (_, i) => hashTexts(['user_1', String(i)]));
    const before = conversations.map((one) => pick(health, all, one));
    for (let i = 0; i < 5; i++) health.faulted('d', { kind: 'overloaded', message: '' }, 0);
    for (const [i, one] of conversations.entries()) {
      const now = pick(health, all, one);
      if (before[i] === 'd') expect(now).not.toBe('d');
      else expect(now).toBe(before[i]);
    }
    health.answered('d', 0);
    expect(conversations.map((one) => pick(health, all, one))).toEqual(before);
  });

  test('texts are not confused with their neighbours, and every pair has a number', () => {
    expect(hashTexts(['ab', 'c'])).not.toBe(hashTexts(['a', 'bc']));
    fc.assert(
      fc.property(fc.array(fc.string()), (texts) => Number.isSafeInteger(hashTexts(texts))),
    );
  });
});

test('of a crowd that arrives at once, one request is the probe of a channel that failed', () => {
  const all = [channel('failing', 100), channel('well', 1)];
  for (const policy of ['weighted', 'latency', 'cost', 'sticky'] as const) {
    const health = new Health();
    for (let i = 0; i < 5; i++) health.faulted('failing', { kind: 'overloaded', message: '' }, 0);
    const picked = Array.from(
      { length: 1_000 },
      () => health.pick(all, [], 5_000, seededRandom(seed), choice(policy))?.id,
    );
    expect(picked.filter((id) => id === 'failing').length, policy).toBe(1);
  }
});

describe('a crowd', () => {
  const crowd = Array.from({ length: 40 }, (_, n) =>
    channel(`c${n}`, n % 4, { priority: n < 4 ? 1 : 0, cost: n % 5 }),
  );

  test('shares by weight, its spares and those behind it wait', () => {
    const counted = shares(new Health(), crowd, choice('weighted'));
    const weights = crowd.slice(4).reduce((sum, { weight }) => sum + weight, 0);
    for (const { id, weight, priority } of crowd)
      expect(counted[id] ?? 0, id).toBeCloseTo(priority === 0 ? weight / weights : 0, 2);
  });

  test('by cost the cheapest alone share', () => {
    const counted = shares(new Health(), crowd, choice('cost'));
    const cheapest = crowd.filter(
      ({ priority, cost, weight }) => priority === 0 && cost === 0 && weight > 0,
    );
    expect(new Set(Object.keys(counted))).toEqual(new Set(cheapest.map(({ id }) => id)));
  });

  test('a candidate that is away or excluded is not picked, and the others get its share', () => {
    const health = new Health();
    const [away, excluded] = crowd.filter(({ weight, priority }) => weight === 3 && priority === 0);
    if (away === undefined || excluded === undefined) throw new Error('there are some');
    health.faulted(away.id, { kind: 'credentials', message: '' }, 0);
    const random = seededRandom(seed);
    const counts = new Map<string, number>();
    for (let n = 0; n < 20_000; n++) {
      const id = health.pick(crowd, [excluded], 0, random, choice('weighted'))?.id ?? '';
      counts.set(id, (counts.get(id) ?? 0) + 1 / 20_000);
    }
    const left = crowd.filter((one) => one.priority === 0 && one !== away && one !== excluded);
    const weights = left.reduce((sum, { weight }) => sum + weight, 0);
    for (const { id, weight } of left)
      expect(counts.get(id) ?? 0, id).toBeCloseTo(weight / weights, 2);
    expect([counts.has(away.id), counts.has(excluded.id)]).toEqual([false, false]);
  });

  test('when nearly all are away, the one that is left is found', () => {
    const health = new Health();
    const well = crowd[39];
    for (const { id } of crowd.slice(0, 39))
      health.faulted(id, { kind: 'credentials', message: '' }, 0);
    for (let n = 0; n < 100; n++)
      expect(health.pick(crowd, [], 0, seededRandom(n), choice('weighted'))).toBe(well);
  });

  test('a thousand channels are not looked at one by one', () => {
    let looks = 0;
    const watched = Array.from({ length: 1_000 }, (_, n) => ({
      id: `c${n}`,
      priority: 0,
      get weight() {
        looks++;
        return 1;
      },
    }));
    const health = new Health();
    const random = seededRandom(seed);
    health.pick(watched, [], 0, random);
    looks = 0;
    for (let n = 0; n < 100; n++) health.pick(watched, [], 0, random);
    expect(looks).toBeLessThan(1_000);
  });
});

describe('a crowd that is compared', () => {
  const crowd = Array.from({ length: 100 }, (_, n) => channel(`c${n}`, 1 + (n % 3)));

  test('what belongs together goes where a look at each would bring it, and only what was a leaver’s moves', () => {
    const health = new Health();
    const left = crowd.slice(1);
    for (let together = 0; together < 500; together++) {
      const how = choice('sticky', hashTexts(['u', String(together)]));
      const before = health.pick(crowd, [], 0, Math.random, how);
      const race = crowd.map((one) => ({
        one,
        pick: health.pick([one, before ?? one], [], 0, Math.random, how),
      }));
      expect(race.every(({ pick }) => pick === before)).toBe(true);
      const after = health.pick(left, [], 0, Math.random, how);
      if (before !== crowd[0]) expect(after).toBe(before);
    }
  });

  test('by latency the slow get a quarter of their share', () => {
    const health = new Health();
    for (const [n, one] of crowd.entries()) health.recordLatency(one, true, n < 50 ? 100 : 200);
    const counted = shares(health, crowd, choice('latency'));
    const sum = (from: number, to: number) =>
      crowd.slice(from, to).reduce((all, { id }) => all + (counted[id] ?? 0), 0);
    expect(sum(50, 100)).toBeCloseTo(0.2, 1);
    expect(sum(0, 50)).toBeCloseTo(0.8, 1);
  });

  test('a candidate that becomes slow is picked less often a moment later', () => {
    const health = new Health();
    for (const one of crowd) health.recordLatency(one, true, 100);
    shares(health, crowd, choice('latency'), 0);
    for (let n = 0; n < 50; n++)
      for (const one of crowd.slice(10)) health.recordLatency(one, true, 1_000);
    const counted = shares(health, crowd, choice('latency'), 1_000);
    const fast = crowd.slice(0, 10).reduce((all, { id }) => all + (counted[id] ?? 0), 0);
    expect(fast).toBeGreaterThan(0.5);
  });
});
