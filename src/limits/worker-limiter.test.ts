import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { mockedClock, openWorkers } from '../../test/support/limited-workers.ts';
import { allow, limiterSuite, pass, refused } from '../../test/support/limiter-suite.ts';
import { systemTimers } from '../base/clock.ts';
import {
  type LimitAnswer,
  type LimitQuestion,
  LimitKeeper,
  recallTimeoutMs,
} from './limit-keeper.ts';
import { LeasingLimiter } from './lease.ts';
import type { Allowance, LimitExceeded, Pass } from './limiter.ts';
import { leaseFromRequests, leaseMs, WorkerLimiter } from './worker-limiter.ts';

const ofKind = (questions: readonly LimitQuestion[], kind: LimitQuestion['limit']): number =>
  questions.filter(({ limit }) => limit === kind).length;

const isPass = (entered: Pass | LimitExceeded): entered is Pass => 'finish' in entered;

describe('one worker', () => limiterSuite((clock) => openWorkers(1, { clock }).worker(0)));

describe('several workers', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const ask = async (
    worker: WorkerLimiter,
    limits: Partial<Allowance>,
    tokens = 0,
  ): Promise<Pass | LimitExceeded> => worker.enter('u', allow(limits), tokens);

  /** A request that its own process decides. */
  const atOnce = (worker: WorkerLimiter, limits: Partial<Allowance>, tokens = 0): Pass => {
    const entered = worker.enter('u', allow(limits), tokens);
    if (entered instanceof Promise) throw new Error('the keeper was asked');
    return entered;
  };

  /** The answers to requests that go out together. */
  async function together(
    all: readonly Promise<Pass | LimitExceeded>[],
  ): Promise<(Pass | LimitExceeded)[]> {
    const answers = Promise.all(all);
    await vi.advanceTimersByTimeAsync(10);
    return answers;
  }

  const enter = async (
    worker: WorkerLimiter,
    limits: Partial<Allowance>,
    tokens = 0,
  ): Promise<Pass | LimitExceeded> => {
    const entered = ask(worker, limits, tokens);
    await together([entered]);
    return entered;
  };

  /** Lets so many requests in that the worker leases. They run on. */
  const leases = async (worker: WorkerLimiter, limits: Partial<Allowance>): Promise<Pass[]> =>
    (await together(Array.from({ length: leaseFromRequests }, () => ask(worker, limits, 0)))).map(
      pass,
    );

  test('requests of two processes share one allowance', async () => {
    const { worker } = openWorkers(2);
    const [first, second] = [worker(0), worker(1)];
    const entered = await together(
      [first, second, first, second, first].map((one) => ask(one, { rpm: 3 }, 10)),
    );
    const passes = entered.filter(isPass);
    expect(passes.map(({ requests }) => requests?.remaining).sort()).toEqual([0, 1, 2]);
    for (const no of entered.filter((one) => !isPass(one)))
      expect(no).toMatchObject({ limitOf: 'requests', limit: 3 });
  });

  test('requests that arrive together go in one message, and so do their answers', async () => {
    const sent: number[] = [];
    const keeper = new LimitKeeper(new LeasingLimiter(mockedClock), systemTimers);
    const connection = keeper.join((answers) => {
      sent.push(answers.length);
      worker.receive(answers);
    });
    const worker: WorkerLimiter = new WorkerLimiter(
      (questions) => {
        sent.push(questions.length);
        connection.receive(questions);
      },
      mockedClock,
      systemTimers,
    );
    const entered = await together(Array.from({ length: 5 }, () => ask(worker, { rpm: 3 }, 1)));
    expect(sent).toEqual([5, 5]);
    for (const one of entered) if (isPass(one)) one.finish(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toEqual([5, 5, 3]);
  });

  test('a request without limits sends no message', () => {
    const { worker: process, questions } = openWorkers(1);
    expect(atOnce(process(0), {}).requests).toBeUndefined();
    vi.runAllTimers();
    expect(questions).toEqual([]);
  });

  test('where many come and much is left, requests enter at once and without a message', async () => {
    const { worker: process, questions } = openWorkers(2);
    const limits = { rpm: 100_000, tpm: 100_000_000, concurrency: 10_000 };
    const worker = process(0);
    await leases(worker, limits);
    const before = questions.length;
    const passes = Array.from({ length: 500 }, () => atOnce(worker, limits, 10));
    for (const one of passes) one.finish(5);
    await vi.advanceTimersByTimeAsync(1);
    expect(questions.length).toBe(before);
    const left = passes.at(-1)?.requests?.remaining;
    expect(left).toBeGreaterThanOrEqual(100_000 - leaseFromRequests - 500);
    expect(left).toBeLessThan(100_000 - 500 + 30); // 16 are allowed again within 10 ms
  });

  test('a worker leases nothing where little is left, or where few requests come', async () => {
    const { worker: process, answers, questions } = openWorkers(1);
    const worker = process(0);
    await leases(worker, { rpm: 600 });
    expect(answers.filter((one) => 'lease' in one)).toMatchObject([{ granted: undefined }]);
    for (let i = 0; i < 50; i++) {
      pass(await enter(worker, { rpm: 100_000 })).finish(0);
      await vi.advanceTimersByTimeAsync(leaseMs / 4);
    }
    expect(ofKind(questions, 'lease')).toBe(1);
  });

  test('a lease that is used is renewed, and one that is not ends', async () => {
    const { worker: process, questions } = openWorkers(1);
    const worker = process(0);
    const limits = { rpm: 1_000_000 };
    await leases(worker, limits);
    for (let i = 0; i < 10; i++) {
      for (let n = 0; n < leaseFromRequests; n++) atOnce(worker, limits).finish(0);
      await vi.advanceTimersByTimeAsync(leaseMs);
    }
    expect(ofKind(questions, 'enter')).toBe(leaseFromRequests);
    expect(ofKind(questions, 'lease')).toBe(11);
    await vi.advanceTimersByTimeAsync(2 * leaseMs);
    expect(questions.at(-1)).toMatchObject({ limit: 'return', number: 11 });
    expect(vi.getTimerCount()).toBe(0);
    expect(pass(await enter(worker, limits)).requests?.remaining).toBeGreaterThan(999_990);
  });

  test('nobody is refused for units that another worker holds unused', async () => {
    const { worker } = openWorkers(2);
    const [first, second] = [worker(0), worker(1)];
    const limits = { concurrency: 1_000 };
    const running = await leases(first, limits);
    const entered = await together(Array.from({ length: 1_000 }, () => ask(second, limits, 0)));
    expect(entered.filter(isPass).length).toBe(1_000 - running.length);
    expect(refused(await enter(first, limits)).limitOf).toBe('concurrency');
    running[0]?.finish(0);
    pass(await enter(second, limits));
  });

  test('a request that no lease could help is refused without a recall', async () => {
    const { worker, answers } = openWorkers(2);
    const [first, second] = [worker(0), worker(1)];
    await leases(first, { rpm: 100_000 });
    const key = { subject: 'k', allowance: allow({ rpm: 1 }) };
    const both = await together(
      [0, 1].map(async () => second.enter('u', allow({ rpm: 100_000 }), 0, key)),
    );
    expect(both.map(isPass)).toEqual([true, false]);
    expect(answers.filter((one) => 'recall' in one)).toEqual([]);
  });

  test('a request for more than is left beside all leases recalls none of them', async () => {
    const { worker, answers } = openWorkers(2);
    const limits = { tpm: 1_000_000 };
    await leases(worker(0), limits);
    pass(await enter(worker(1), limits, 500_000));
    refused(await enter(worker(1), limits, 600_000));
    expect(answers.filter((one) => 'recall' in one)).toEqual([]);
  });

  test('room that comes up while a lease is recalled is used at once', async () => {
    const { worker, hang } = openWorkers(2);
    const limits = { concurrency: 200 };
    await leases(worker(0), limits);
    hang(0);
    const leased = (200 - leaseFromRequests) / 4;
    const filled = Array.from({ length: 200 - leaseFromRequests - leased }, () =>
      ask(worker(1), limits),
    );
    const running = (await together(filled)).map(pass);
    const held = ask(worker(1), limits);
    await vi.advanceTimersByTimeAsync(100);
    running[0]?.finish(0);
    await vi.advanceTimersByTimeAsync(10);
    pass(await held);
  });

  test('a worker from which a lease is recalled gets no other before it has returned it', () => {
    const keeper = new LimitKeeper(new LeasingLimiter(mockedClock), systemTimers);
    const answers: LimitAnswer[][] = [[], [], []];
    const [first, second, third] = answers.map((to) => keeper.join((sent) => to.push(...sent)));
    const allowance = allow({ concurrency: 400 });
    const shares = [{ subject: 'u', allowance }];
    const lease = { limit: 'lease', id: 1, shares, tokens: 0 } as const;
    for (const one of [first, second]) one?.receive([lease]);
    const enter = { limit: 'enter', subject: 'u', allowance, tokens: 0, also: undefined } as const;
    const free = 400 - 100 - 75;
    third?.receive(Array.from({ length: free + 1 }, (_, id) => ({ ...enter, id })));
    expect(answers[0]?.at(-1)).toEqual({ recall: 1 });
    const units = { requests: 0, tokens: 0, places: 75 };
    second?.receive([{ limit: 'return', id: 1, number: 1, units }]);
    expect(answers[2]?.at(-1)).toMatchObject({ id: free, entered: { tokens: undefined } });
    first?.receive([lease]);
    expect(answers[0]?.at(-1)).toEqual({ lease: 1, granted: undefined });
    first?.receive([
      { limit: 'return', id: 1, number: 1, units: { ...units, places: 100 } },
      lease,
    ]);
    expect(answers[0]?.at(-1)).toMatchObject({ lease: 1, granted: { number: 1 } });
  });

  test('a worker that does not give its lease back is not waited for', async () => {
    const { worker, hang } = openWorkers(2);
    const [first, second] = [worker(0), worker(1)];
    const limits = { concurrency: 200 };
    await leases(first, limits);
    hang(0);
    const entered = Promise.all(Array.from({ length: 200 }, () => ask(second, limits, 0)));
    await vi.advanceTimersByTimeAsync(recallTimeoutMs + 10);
    const refusals = (await entered).filter((one) => !isPass(one));
    expect(refusals.length).toBe(leaseFromRequests + (200 - leaseFromRequests) / 4);
    expect(refused(await enter(second, limits)).limitOf).toBe('concurrency');
  });

  test('a process that ends gives its places back, those of its lease included', async () => {
    const { worker, end } = openWorkers(2);
    const [first, second] = [worker(0), worker(1)];
    const limits = { concurrency: 200 };
    await leases(first, limits);
    atOnce(first, limits).finish(0);
    end(0);
    const entered = await together(Array.from({ length: 201 }, () => ask(second, limits, 0)));
    expect(entered.filter(isPass).length).toBe(200);
  });

  test('a message of a process that has ended takes no place', async () => {
    const keeper = new LimitKeeper(new LeasingLimiter(mockedClock), systemTimers);
    const [dead, alive] = [keeper.join(() => {}), [] as LimitAnswer[]];
    dead.gone();
    const question = {
      limit: 'enter',
      id: 1,
      subject: 'u',
      allowance: allow({ concurrency: 1 }),
      tokens: 0,
      also: undefined,
    } as const;
    dead.receive([question]);
    keeper.join((answers) => alive.push(...answers)).receive([question]);
    expect(alive).toMatchObject([{ id: 1, entered: { requests: undefined } }]);
  });

  test('tokens that a request did not use come back, and those it used beyond are owed', async () => {
    const { worker } = openWorkers(2);
    const [first, second] = [worker(0), worker(1)];
    const limits = { tpm: 6_000_000 };
    await leases(first, limits);
    const [less, more] = [atOnce(first, limits, 500), atOnce(first, limits, 500)];
    less.finish(100);
    more.finish(1_000_500);
    await vi.advanceTimersByTimeAsync(3 * leaseMs);
    const now = pass(await enter(second, limits)).tokens;
    // The allowance grows by 100 tokens each ms, here for some more than three leases.
    expect(now?.remaining).toBeGreaterThanOrEqual(4_999_400);
    expect(now?.remaining).toBeLessThan(5_000_000 + 100 * (3 * leaseMs + 50));
  });

  test.each<Partial<Allowance>>([{ rpm: 6_000 }, { tpm: 600_000 }])(
    'two workers that lease all the time let in what %j allows, and no more',
    async (limits) => {
      const { worker, questions } = openWorkers(2);
      const began = Date.now();
      let [entered, no] = [0, 0];
      while (no < 500) {
        for (const one of [worker(0), worker(1)])
          for (let i = 0; i < 60; i++)
            void ask(one, limits, 100).then((each) => (isPass(each) ? entered++ : no++));
        await vi.advanceTimersByTimeAsync(20);
      }
      const grown = (6_000 / 60_000) * (Date.now() - began + 2 * leaseMs);
      expect(entered).toBeGreaterThanOrEqual(6_000);
      expect(entered).toBeLessThanOrEqual(6_000 + grown);
      expect(ofKind(questions, 'enter')).toBeLessThan(5_000);
    },
  );

  test('a large request enters, although small ones of two workers lease all the time', async () => {
    const { worker } = openWorkers(3, { delayMs: (place) => 4 * place });
    const [first, second] = [worker(0), worker(1)];
    const limits = { tpm: 10_000_000 };
    await leases(first, limits);
    await leases(second, limits);
    await vi.advanceTimersByTimeAsync(20);
    const large = ask(worker(2), limits, 9_950_000);
    for (let i = 0; i < 50; i++) {
      for (const one of [first, second]) void ask(one, limits, 10);
      await vi.advanceTimersByTimeAsync(1);
    }
    pass(await large);
  });

  test('a quiet time does not count twice for units that lie in a lease', async () => {
    const { worker } = openWorkers(2);
    const [first, second] = [worker(0), worker(1)];
    const limits = { rpm: 60_000 };
    await leases(first, limits);
    for (let i = 0; i < 20; i++) {
      for (let n = 0; n < leaseFromRequests; n++) atOnce(first, limits).finish(0);
      await vi.advanceTimersByTimeAsync(leaseMs);
    }
    const entered = await together(Array.from({ length: 62_000 }, () => ask(second, limits)));
    expect(entered.filter(isPass).length).toBeLessThanOrEqual(60_000 + leaseMs);
  });

  test('requests that end while a lease is asked for do not end the new one', async () => {
    const { worker } = openWorkers(2);
    const [first, second] = [worker(0), worker(1)];
    const limits = { concurrency: 1_000 };
    const running = await leases(first, limits);
    running.push(atOnce(first, limits));
    await vi.advanceTimersByTimeAsync(2 * leaseMs); // the lease is closed
    const asking = Array.from({ length: leaseFromRequests }, () => ask(first, limits));
    running.at(-1)?.finish(0);
    running.push(...(await together(asking)).map(pass));
    const room = 1_000 - (running.length - 1);
    const entered = await together(Array.from({ length: room + 1 }, () => ask(second, limits)));
    expect(entered.filter(isPass).length).toBe(room);
  });

  test('units that one worker returns are used before another has answered', async () => {
    const { worker, hang } = openWorkers(3);
    const limits = { concurrency: 1_000 };
    await leases(worker(0), limits);
    await leases(worker(1), limits);
    hang(1);
    const free = 1_000 - 2 * leaseFromRequests;
    const returned = Math.floor((1_000 - leaseFromRequests) / 4);
    const held = Math.floor((free - returned) / 4);
    const asked = Array.from({ length: free }, () => ask(worker(2), limits));
    let entered = 0;
    for (const one of asked) void one.then((each) => (entered += isPass(each) ? 1 : 0));
    await vi.advanceTimersByTimeAsync(50);
    expect(entered).toBe(free - held);
    await vi.advanceTimersByTimeAsync(recallTimeoutMs);
    expect((await Promise.all(asked)).filter(isPass).length).toBe(free - held);
  });

  test('a large request does not close the lease of small ones', async () => {
    const { worker: process, questions } = openWorkers(1);
    const worker = process(0);
    const limits = { tpm: 10_000_000 };
    await leases(worker, limits);
    for (let i = 0; i < 20; i++) {
      void ask(worker, limits, 200_000);
      for (let n = 0; n < 50; n++) atOnce(worker, limits, 1);
    }
    await vi.advanceTimersByTimeAsync(10);
    expect(ofKind(questions, 'lease')).toBe(1);
  });
});
