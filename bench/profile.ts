// `npm run bench:profile -- WORKLOAD [--database sqlite|postgres|URL] [--seconds 4] [--top 15]`: what one request or chunk costs the built gateway, and where.
// Processor time beside nginx in the same run, by thread and by function; bytes allocated by function; system calls. WORKLOAD: a name in workloads.ts.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startPostgres } from '../test/postgres.ts';
import type { Target } from './contender.ts';
import { pace, saturate } from './load.ts';
import { cpuMicroseconds, find, runAsync, type Started, threads } from './process.ts';
import { allocations, type Own, selfTimes, systemCalls } from './profiles.ts';
import { median } from './report.ts';
import { channels, install, ready } from './tollgate.ts';
import { type Behind, startBehind } from './behind.ts';
import { workloads } from './workloads.ts';

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    database: { type: 'string', default: 'sqlite' },
    seconds: { type: 'string', default: '4' },
    top: { type: 'string', default: '15' },
  },
});
const [name = ''] = positionals;
const workload = workloads[name];
if (workload === undefined) throw new Error(`which workload? ${Object.keys(workloads).join(', ')}`);
const seconds = Number(options.seconds);
const rounds = 5;
const streams = 100;
const unit = workload.stream ? 'chunk' : 'request';

const folder = mkdtempSync(join(tmpdir(), 'tollgate-profile-'));
const postgres = options.database === 'postgres' ? await startPostgres() : undefined;
if (postgres !== undefined && 'missing' in postgres) throw new Error(postgres.missing);
const url = postgres?.url ?? (options.database === 'sqlite' ? undefined : options.database);
const behind: Behind = await startBehind(folder, workload);
const channel = { model: name, vendor: workload.vendor === 'chat' ? 'openai-compatible' : 'anthropic', baseUrl: behind.base };
const gateway = await install(folder, channels([channel]), url === undefined ? {} : { DATABASE_URL: url });
const request = JSON.stringify({ ...workload.request, model: name, ...(workload.stream ? { stream: true } : {}) });
const ours: Target = { url: `${gateway.base}/v1${workload.endpoint}`, headers: gateway.headers, body: request };
const proxied: Target = { url: behind.proxied, headers: { 'content-type': 'application/json' }, body: request };

/** Loads a target for so long; how many units that were. */
async function load(target: Target, forSeconds: number): Promise<number> {
  const before = await behind.chunks();
  const answered = workload?.stream
    ? await pace(folder, behind.pace, target, { connections: 2 * streams, seconds: forSeconds, rate: streams })
    : await saturate(folder, target, { connections: workload?.connections ?? 1, seconds: forSeconds });
  if (answered.errors > 0 || answered.requests === 0)
    throw new Error(`${target.url}: ${answered.errors} of ${answered.requests} requests failed`);
  return workload?.stream ? (await behind.chunks()) - before : answered.requests;
}

async function running<T>(flags: readonly string[], env: NodeJS.ProcessEnv, use: (started: Started) => Promise<T>): Promise<T> {
  const started = await gateway.serve(flags, env);
  await ready(`${gateway.base}/readyz`, started.tail);
  try {
    await load(ours, 2);
    return await use(started);
  } finally {
    await started.stop();
  }
}

function print(title: string, rows: readonly Own[], units: number, of: string): void {
  const total = rows.reduce((sum, { amount }) => sum + amount, 0);
  console.log(`\n${title}: ${(total / units).toFixed(1)} ${of} a ${unit}`);
  for (const { name: row, amount } of rows.slice(0, Number(options.top)))
    console.log(`${(amount / units).toFixed(2).padStart(12)}  ${share(amount, total)}  ${row}`);
}

const share = (amount: number, total: number): string => `${((100 * amount) / total).toFixed(1).padStart(5)} %`;

/** In slices, in turn: what else the machine does meets both. */
async function cost(started: Started): Promise<void> {
  const slice = async (pid: number, target: Target): Promise<number> => {
    const before = cpuMicroseconds(pid);
    const units = await load(target, Math.max(1, seconds / 2));
    return (cpuMicroseconds(pid) - before) / units;
  };
  const [own, reference]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    own.push(await slice(started.pid, ours));
    reference.push(await slice(behind.proxyPid, proxied));
  }
  const [a = 0, b = 1] = [median(own), median(reference)];
  console.log(
    `${name} on ${url === undefined ? 'SQLite' : 'PostgreSQL'}: ${a.toFixed(1)} µs a ${unit}, nginx ${b.toFixed(1)} µs: ${(a / b).toFixed(2)} ×`,
  );
}

async function byThread({ pid }: Started): Promise<void> {
  const before = threads(pid);
  const units = await load(ours, seconds);
  const rows = threads(pid).map(({ id, name: thread, amount }) => {
    const was = before.find((one) => one.id === id)?.amount ?? 0;
    return { name: `${thread}${id === pid ? ' (main)' : ''}`, amount: amount - was };
  });
  print(
    'Processor time by thread',
    rows.filter(({ amount }) => amount > 0).sort((x, y) => y.amount - x.amount),
    units,
    'µs',
  );
}

async function calls({ pid }: Started): Promise<void> {
  const strace = find('strace');
  if (strace === undefined) return console.log('\nSystem calls: strace is not installed.');
  const timed = runAsync('around', 'sh', ['-c', `timeout -s INT ${seconds} ${strace} -c -f -p ${pid} 2>&1 >&- || true`]);
  await wait(300);
  const units = await load(ours, seconds + 1);
  print('System calls, while they were counted', systemCalls(await timed), (units * seconds) / (seconds + 1), 'calls');
}

async function byFunction(): Promise<void> {
  const place = join(folder, 'cpu');
  const clock = (): number => Number(process.hrtime.bigint() / 1000n);
  const [from, to] = await running(['--cpu-prof', `--cpu-prof-dir=${place}`, '--cpu-prof-interval=200'], {}, async () => {
    const begun = clock();
    await load(ours, seconds);
    return [begun, clock()] as const;
  });
  for (const file of readdirSync(place)) {
    const thread = /\.\d+\.(\d+)\.\d+\.cpuprofile$/.exec(file)?.[1];
    const rows = selfTimes(join(place, file), from, to);
    const total = rows.reduce((sum, { amount }) => sum + amount, 0);
    // Shares alone: a sampler counts as a function's time what the thread waits inside it for its turn on the core.
    if (total > 0) console.log(`\nOwn time by function, thread ${thread}`);
    for (const { name: row, amount } of rows.slice(0, Number(options.top))) console.log(`${share(amount, total)}  ${row}`);
  }
}

async function allocated(): Promise<void> {
  const file = join(folder, 'allocations.json');
  const preload = fileURLToPath(new URL('./allocations.mjs', import.meta.url));
  const units = await running(['--import', preload], { ALLOCATIONS_FILE: file }, async ({ pid }) => {
    process.kill(pid, 'SIGUSR2');
    const counted = await load(ours, seconds);
    process.kill(pid, 'SIGUSR2');
    await wait(1_000);
    return counted;
  });
  print('Allocated in the heap of the main thread, buffers apart', allocations(file), units, 'bytes');
}

await running([], {}, async (started) => {
  await cost(started);
  await byThread(started);
  await calls(started);
});
await byFunction();
await allocated();
await behind.stop();
if (postgres !== undefined) await postgres.stop();
rmSync(folder, { recursive: true, force: true });
