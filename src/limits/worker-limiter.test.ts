import { expect, test } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { type Allowance, type LimitExceeded, type Pass, MemoryLimiter } from './limiter.ts';
import { WorkerLimiter, LimitKeeper } from './worker-limiter.ts';

const allowance = (some: Partial<Allowance>): Allowance => ({
  rpm: undefined,
  tpm: undefined,
  concurrency: undefined,
  ...some,
});

/** Two worker processes and the keeper of their limits, with messages as they cross processes. */
function workersWithKeeper() {
  const limiter = new MemoryLimiter(systemClock);
  const workers = [0, 1].map(() => {
    const worker: WorkerLimiter = new WorkerLimiter((question) =>
      keeper.receive(structuredClone(question)),
    );
    const keeper: LimitKeeper = new LimitKeeper(limiter, (answer) =>
      queueMicrotask(() => worker.receive(structuredClone(answer))),
    );
    return { worker, keeper };
  });
  const [first, second] = workers;
  if (first === undefined || second === undefined) throw new Error('there are two');
  return { first, second };
}

const isPass = (entered: Pass | LimitExceeded): entered is Pass => 'finish' in entered;

test('requests of two processes share one allowance', async () => {
  const { first, second } = workersWithKeeper();
  const both = [first, second, first, second, first].map(async ({ worker }) =>
    worker.enter('u', allowance({ rpm: 3 }), 10),
  );
  const entered = await Promise.all(both);
  const passes = entered.filter(isPass);
  expect(passes.map(({ requests }) => requests?.remaining).sort()).toEqual([0, 1, 2]);
  for (const refused of entered.filter((one) => !isPass(one)))
    expect(refused).toMatchObject({ limitOf: 'requests', limit: 3 });
});

test('a place is free again when its request has ended, or its process', async () => {
  const { first, second } = workersWithKeeper();
  const one = allowance({ concurrency: 1 });
  const running = await first.worker.enter('u', one, 10);
  expect(await second.worker.enter('u', one, 10)).toMatchObject({ limitOf: 'concurrency' });
  if (isPass(running)) running.finish(10);
  const next = await second.worker.enter('u', one, 10);
  expect(isPass(next)).toBe(true);
  second.keeper.gone();
  expect(isPass(await first.worker.enter('u', one, 10))).toBe(true);
});

test('a message of a process that has ended takes no place', async () => {
  const { first, second } = workersWithKeeper();
  const one = allowance({ concurrency: 1 });
  second.keeper.gone();
  void second.worker.enter('u', one, 10);
  expect(isPass(await first.worker.enter('u', one, 10))).toBe(true);
});

test('requests that arrive together go in one message, and so do their answers', async () => {
  let [questionMessages, answerMessages] = [0, 0];
  const worker: WorkerLimiter = new WorkerLimiter((questions) => {
    questionMessages += 1;
    keeper.receive(questions);
  });
  const keeper: LimitKeeper = new LimitKeeper(new MemoryLimiter(systemClock), (answers) => {
    answerMessages += 1;
    worker.receive(answers);
  });
  const entered = await Promise.all(
    Array.from({ length: 20 }, async () => worker.enter('u', allowance({ rpm: 15 }), 1)),
  );
  expect([questionMessages, answerMessages, entered.filter(isPass).length]).toEqual([1, 1, 15]);
  for (const pass of entered) if (isPass(pass)) pass.finish(1);
  await new Promise(setImmediate);
  expect([questionMessages, answerMessages]).toEqual([2, 1]);
});

test('a request without limits sends no message', () => {
  const limiter = new WorkerLimiter(() => {
    throw new Error('nobody is asked');
  });
  expect(limiter.enter('u', allowance({}), 10)).toMatchObject({
    requests: undefined,
    tokens: undefined,
  });
});
