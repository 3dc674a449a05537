import { setTimeout as wait } from 'node:timers/promises';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  inject,
  onTestFinished,
  test,
} from 'vitest';
import { allow, limiterSuite, pass, refused } from '../../test/support/limiter-suite.ts';
import { type RedisServer, startRedis } from '../../test/support/redis-server.ts';
import { systemClock } from '../base/clock.ts';
import { openSharedState, type SharedState } from '../storage/shared-state.ts';
import { type LimitExceeded, type Pass, MemoryLimiter } from './limiter.ts';
import { concurrencyLeaseMs, NodesLimiter } from './nodes-limiter.ts';

let redis: RedisServer;

describe.skipIf(inject('redis') === undefined)('on Valkey or Redis', () => {
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  beforeEach(async () => {
    await redis.kill();
    await redis.start();
  });

  limiterSuite(async (clock) => {
    const state = await openState();
    return nodeOn(state, () => clock.monotonicMs() * 1_000);
  });

  test('two nodes let in as many as one would, and each gets some', async () => {
    // A clock that stands still: a minute's allowance grows with time.
    const still = (): number => 1e9;
    const nodes = [nodeOn(await openState(), still), nodeOn(await openState(), still)];
    const entered = await Promise.all(nodes.map(async (node) => entriesOf(node, 300)));
    const sum = entered.reduce((all, each) => all + each, 0);
    expect(sum).toBe(100);
    expect(Math.min(...entered)).toBeGreaterThan(10);
  });

  test('places of a node that died are free when its lease is over; those of one that lives stay, however long they are taken', async () => {
    let now = 1e9;
    const [state, other] = [await openState(), await openState()];
    const [dead, alive] = [nodeOn(state, () => now), nodeOn(other, () => now)];
    const three = allow({ concurrency: 3 });
    pass(await dead.enter('a', three, 0));
    pass(await dead.enter('a', three, 0));
    const lasting = pass(await alive.enter('a', three, 0));
    await state.close();
    for (let renewed = 0; renewed < 3; renewed++) {
      expect(refused(await alive.enter('a', three, 0)).limitOf).toBe('concurrency');
      now += (concurrencyLeaseMs * 1_000) / 3;
      alive.renew();
    }
    now += 1;
    pass(await alive.enter('a', three, 0));
    pass(await alive.enter('a', three, 0));
    expect(refused(await alive.enter('a', three, 0)).limitOf).toBe('concurrency');
    lasting.finish(0);
    pass(await alive.enter('a', three, 0));
  });

  test('a state that lost everything hears again of what runs', async () => {
    const node = nodeOn(await openState());
    pass(await node.enter('a', allow({ concurrency: 1 }), 0));
    await redis.kill();
    await redis.start();
    await thereAgain(node);
    node.renew();
    expect(refused(await node.enter('a', allow({ concurrency: 1 }), 0)).limitOf).toBe(
      'concurrency',
    );
  });

  describe('a state that is away', () => {
    test.each([
      ['killed', () => redis.kill(), () => redis.start()],
      ['paused', () => Promise.resolve(redis.pause()), () => Promise.resolve(redis.resume())],
    ] as const)(
      '(%s) refuses nobody and delays few: each node has limits of its own until it is back',
      async (_, away, back) => {
        const states: boolean[] = [];
        const node = nodeOn(await openState((there) => states.push(there)));
        for (let i = 0; i < 3; i++) pass(await node.enter('a', allow({ rpm: 3 }), 0));
        refused(await node.enter('a', allow({ rpm: 3 }), 0));
        await away();
        const since = performance.now();
        for (let i = 0; i < 3; i++) pass(await node.enter('a', allow({ rpm: 3 }), 0));
        expect(refused(await node.enter('a', allow({ rpm: 3 }), 0))).toMatchObject({ limit: 3 });
        expect(performance.now() - since).toBeLessThan(2_500);
        expect(states).toEqual([false]);
        await back();
        await thereAgain(node);
        expect(states).toEqual([false, true]);
      },
    );

    test('when a node starts is one that comes later', async () => {
      await redis.kill();
      const node = nodeOn(await openState());
      pass(await node.enter('a', allow({ rpm: 1 }), 0));
      refused(await node.enter('a', allow({ rpm: 1 }), 0));
      await redis.start();
      await thereAgain(node);
      pass(await node.enter('a', allow({ rpm: 1 }), 0));
      refused(await node.enter('a', allow({ rpm: 1 }), 0));
    });

    test('when a request ends leaves no place taken for ever', async () => {
      const node = nodeOn(await openState());
      const running = pass(await node.enter('a', allow({ concurrency: 1, tpm: 100 }), 100));
      redis.pause();
      await node.enter('b', allow({ rpm: 1 }), 0);
      running.finish(10);
      redis.resume();
      await thereAgain(node);
      node.renew();
      await wait(20);
      expect(refused(await node.enter('a', allow({ concurrency: 1, tpm: 100 }), 0)).limitOf).toBe(
        'concurrency',
      );
    });
  });

  test('scripts that the server has forgotten are sent again', async () => {
    const node = nodeOn(await openState());
    pass(await node.enter('a', allow({ rpm: 2 }), 0));
    const { Redis } = await import('ioredis');
    const operator = new Redis(redis.url);
    await operator.script('FLUSH');
    operator.disconnect();
    pass(await node.enter('a', allow({ rpm: 2 }), 0));
    refused(await node.enter('a', allow({ rpm: 2 }), 0));
    expect(node.alone).toBe(0);
  });
});

async function openState(changed: (there: boolean) => void = () => {}): Promise<SharedState> {
  const state = await openSharedState({
    url: redis.url,
    changed,
    times: { lookMs: 50, silenceMs: 1_000 },
  });
  onTestFinished(() => state.close());
  return state;
}

function nodeOn(state: SharedState, nowMicros?: () => number): NodesLimiter {
  const node = new NodesLimiter({
    state,
    own: new MemoryLimiter(systemClock),
    ...(nowMicros === undefined ? {} : { nowMicros }),
  });
  onTestFinished(() => node.close());
  return node;
}

/** How many of `count` requests, one after the other, are let in at a hundred a minute. */
async function entriesOf(node: NodesLimiter, count: number): Promise<number> {
  let entered = 0;
  for (let i = 0; i < count; i++) {
    const answer: Pass | LimitExceeded = await node.enter('a', allow({ rpm: 100 }), 0);
    if (!('limitOf' in answer)) entered += 1;
  }
  return entered;
}

async function thereAgain(node: NodesLimiter): Promise<void> {
  const isAlone = async (): Promise<boolean> => {
    const before = node.alone;
    await node.enter('somebody', allow({ rpm: 1_000 }), 0);
    return node.alone > before;
  };
  await expect.poll(isAlone, { interval: 20 }).toBe(false);
}
