import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { check } from '../src/ledger/check.ts';
import { ledgerProcedures } from '../src/ledger/procedures.ts';
import { open } from '../src/storage/open.ts';
import { newCustomer } from './support/customer.ts';
import { startProcess } from './support/process.ts';
import { startVendor } from './support/scripted-vendor.ts';

const workersIn = (page: string): string[] =>
  [...page.matchAll(/^tollgate_ready\{worker="(\d+)"\} 1$/gm)].map(([, worker]) => worker ?? '');

/** Two workers that serve `m1` in a group with these limits and in one without limits. */
async function startWorkers(limits: string, env: Readonly<Record<string, string>> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-workers-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const vendor = await startVendor();
  const configuration = `
groups:
  - { name: default, price_multiplier: 1.0, limits: ${limits} }
  - { name: free, price_multiplier: 1.0 }
models:
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 4096, price: { input: 2, output: 8 } }
channels:
  - { name: a, vendor: openai, base_url: "${vendor.url}/v1", api_key: k, groups: [default, free], models: [m1] }
`;
  const node = await startProcess({
    folder,
    configuration,
    env: { TOLLGATE_WORKERS: '2', TOLLGATE_METRICS_TOKEN: 'token', ...env },
  });
  onTestFinished(() => node.kill());
  const database = await open(`sqlite:${join(folder, 'tollgate.db')}`, {
    procedures: ledgerProcedures,
  });
  onTestFinished(() => database.close());
  const metrics = () =>
    fetch(`${node.url}/metrics`, { headers: { authorization: 'Bearer token' } }).then((answer) =>
      answer.text(),
    );
  await expect.poll(async () => workersIn(await metrics()).length, { timeout: 15_000 }).toBe(2);
  const ask = async (secret: string): Promise<number> => {
    const answer = await fetch(`${node.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'm1',
        messages: [{ role: 'user', content: 'hi' }],
        max_tokens: 5,
      }),
    });
    await answer.text();
    return answer.status;
  };
  return { node, database, metrics, ask };
}

test('two workers serve on one address, keep one set of limits and one page of metrics, and one that dies is replaced', async () => {
  const { node, database, metrics, ask } = await startWorkers('{ rpm: 6 }');
  const limited = await newCustomer(database, 1_000_000_000n);
  const free = await newCustomer(database, 1_000_000_000n, { group: 'free' });
  const statuses = await Promise.all(Array.from({ length: 16 }, () => ask(limited.key.secret)));
  expect(statuses.filter((status) => status === 200)).toHaveLength(6);
  expect(statuses.filter((status) => status === 429)).toHaveLength(10);
  expect(await metrics()).toMatch(
    /^tollgate_requests_total\{model="m1",channel="a",outcome="ok"\} 6$/m,
  );

  const before = workersIn(await metrics());
  const [worker] = readFileSync(`/proc/${node.child.pid}/task/${node.child.pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number);
  // It dies with questions on their way to the supervisor, who will answer nobody.
  node.child.kill('SIGSTOP');
  const cut = Promise.allSettled(Array.from({ length: 16 }, () => ask(limited.key.secret)));
  await wait(300);
  process.kill(worker ?? 0, 'SIGKILL');
  node.child.kill('SIGCONT');
  // Whose connection was being handed to it may wait for long.
  await Promise.race([cut, wait(1_000)]);
  await expect
    .poll(async () => workersIn(await metrics()).some((worker) => !before.includes(worker)), {
      timeout: 15_000,
    })
    .toBe(true);
  expect(await Promise.all(Array.from({ length: 8 }, () => ask(free.key.secret)))).toEqual(
    Array.from({ length: 8 }, () => 200),
  );
  expect(await node.stop()).toBe(0);
  expect(await check(database)).toMatchObject({ ok: true, holds: 0, problems: [] });
}, 60_000);

test('of two workers, the first one alone says what differs from the configuration', async () => {
  const { node } = await startWorkers('{ rpm: 6 }', { TOLLGATE_PUBLIC_MODELS: 'nobody' });
  expect(await node.stop()).toBe(0);
  expect(node.output().split("there is no group 'nobody'")).toHaveLength(2);
}, 60_000);

test('a worker that is silent, and one that is replaced, take nothing from the counters', async () => {
  const { node, database, metrics, ask } = await startWorkers('{ rpm: 1000 }');
  const { key } = await newCustomer(database, 1_000_000_000n);
  for (let i = 0; i < 20; i++) expect(await ask(key.secret)).toBe(200);
  const answered = async (): Promise<number | undefined> => {
    // A connection may be handed to the silent worker.
    const page = await Promise.race([metrics().catch(() => undefined), wait(2_500, undefined)]);
    const [, count] = /^tollgate_requests_total\{.*outcome="ok"\} (\d+)$/m.exec(page ?? '') ?? [];
    return count === undefined ? undefined : Number(count);
  };
  expect(await answered()).toBe(20);
  const before = workersIn(await metrics());
  const [worker = 0] = readFileSync(
    `/proc/${node.child.pid}/task/${node.child.pid}/children`,
    'utf8',
  )
    .trim()
    .split(' ')
    .map(Number);
  process.kill(worker, 'SIGSTOP');
  const silent = await Promise.all(Array.from({ length: 6 }, answered));
  expect(silent.filter((count) => count !== undefined).length).toBeGreaterThan(0);
  expect(new Set(silent.filter((count) => count !== undefined))).toEqual(new Set([20]));
  process.kill(worker, 'SIGKILL');
  const replaced = async () => {
    expect(await answered()).toBe(20);
    return workersIn(await metrics()).some((one) => !before.includes(one));
  };
  await expect.poll(replaced, { timeout: 15_000 }).toBe(true);
  expect(await ask(key.secret)).toBe(200);
  expect(await answered()).toBe(21);
}, 60_000);

test('a limit holds over two workers that lease parts of it, to the last request', async () => {
  const { database, ask } = await startWorkers('{ rpm: 1500, concurrency: 1000 }');
  const { key } = await newCustomer(database, 1_000_000_000n);
  const begin = performance.now();
  const statuses: number[] = [];
  const client = async (): Promise<void> => {
    while (statuses.filter((status) => status === 429).length < 200)
      statuses.push(await ask(key.secret));
  };
  await Promise.all(Array.from({ length: 40 }, client));
  const minutes = (performance.now() - begin) / 60_000;
  const answered = statuses.filter((status) => status === 200).length;
  expect(answered).toBeGreaterThanOrEqual(1_500);
  expect(answered).toBeLessThanOrEqual(1_500 * (1 + minutes));
}, 60_000);

test('a gateway that is told to stop while its second worker is about to start ends', async () => {
  for (let round = 0; round < 6; round += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-workers-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const node = await startProcess({
      folder,
      configuration: 'channels: []\n',
      env: { TOLLGATE_WORKERS: '2' },
      everyMs: 0,
    });
    onTestFinished(() => node.kill());
    const late = wait(10_000, 'still there', { ref: false });
    expect(await Promise.race([node.stop(), late]), node.output()).toBe(0);
  }
}, 90_000);
