import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Behind, startBehind } from './behind.ts';
import type { Target } from './contender.ts';
import { pace, saturate } from './load.ts';
import { cpuMicroseconds, find, runAsync, type Started } from './process.ts';
import { allocations, type Own, systemCalls } from './profiles.ts';
import { median } from './report.ts';
import { channels, install, ready } from './tollgate.ts';
import { type Workload, workloads } from './workloads.ts';

const streams = 100;
const attemptsMax = 5;
/** V8 still optimises a new process for some seconds. */
const warmSeconds = 6;

/** Counters by name, over a number of requests or chunks. */
export interface Counted {
  readonly rows: readonly Own[];
  readonly units: number;
}

export const eachOf = ({ rows, units }: Counted): number =>
  rows.reduce((sum, { amount }) => sum + amount, 0) / units;

/**
 * The built gateway, its vendor, and nginx in front of the same vendor, for one kind of request.
 */
export interface Profiled {
  readonly unit: 'chunk' | 'request';
  readonly folder: string;
  readonly ours: Target;
  readonly proxied: Target;
  readonly proxyPid: number;
  /** Loads a target for `seconds`; returns the number of units. */
  load(target: Target, seconds: number): Promise<number>;
  /** Starts and warms a gateway with these Node flags, and uses it. */
  running<T>(
    flags: readonly string[],
    env: NodeJS.ProcessEnv,
    use: (started: Started) => Promise<T>,
  ): Promise<T>;
  stop(): Promise<void>;
}

/** `database`: a PostgreSQL URL, or SQLite in a folder of its own. */
export async function startProfiled(name: string, database: string | undefined): Promise<Profiled> {
  const workload = workloads[name];
  if (workload === undefined)
    throw new Error(`which workload? ${Object.keys(workloads).join(', ')}`);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-profile-'));
  const behind = await startBehind(folder, workload);
  const channel = {
    model: name,
    vendor: workload.vendor === 'chat' ? 'openai-compatible' : 'anthropic',
    baseUrl: behind.base,
  };
  const gateway = await install(
    folder,
    channels([channel]),
    database === undefined ? {} : { DATABASE_URL: database },
  );
  const request = JSON.stringify({
    ...workload.request,
    model: name,
    ...(workload.stream ? { stream: true } : {}),
  });
  const ours: Target = {
    url: `${gateway.base}/v1${workload.endpoint}`,
    headers: gateway.headers,
    body: request,
  };
  const load = (target: Target, seconds: number) =>
    loadBehind(folder, behind, workload, target, seconds);
  return {
    unit: workload.stream ? 'chunk' : 'request',
    folder,
    ours,
    proxied: {
      url: behind.proxied,
      headers: { 'content-type': 'application/json' },
      body: request,
    },
    proxyPid: behind.proxyPid,
    load,
    async running(flags, env, use) {
      const started = await gateway.serve(flags, env);
      await ready(`${gateway.base}/readyz`, started.tail);
      try {
        await load(ours, warmSeconds);
        return await use(started);
      } finally {
        await started.stop();
      }
    },
    async stop() {
      await behind.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function loadBehind(
  folder: string,
  behind: Behind,
  workload: Workload,
  target: Target,
  seconds: number,
): Promise<number> {
  const before = await behind.chunks();
  for (let attempt = 1; ; attempt++) {
    const { requests, errors } = workload.stream
      ? await pace(folder, behind.pace, target, {
          connections: 2 * streams,
          seconds,
          rate: streams,
        })
      : await saturate(folder, target, { connections: workload.connections, seconds });
    // A new process on a busy machine may need longer for its first image.
    if (errors > 0 || (requests === 0 && attempt === attemptsMax))
      throw new Error(`${target.url}: ${requests} requests answered, ${errors} failed`);
    if (requests > 0) return workload.stream ? (await behind.chunks()) - before : requests;
  }
}

/**
 * Processor time of a unit, µs, and nginx's. Both take turns in slices, so that other load affects
 * both.
 */
export async function costOf(
  profiled: Profiled,
  { pid }: Started,
  rounds: number,
  seconds: number,
): Promise<{ own: number; nginx: number }> {
  const slice = async (of: number, target: Target): Promise<number> => {
    const before = cpuMicroseconds(of);
    const units = await profiled.load(target, seconds);
    return (cpuMicroseconds(of) - before) / units;
  };
  const [own, reference]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    own.push(await slice(pid, profiled.ours));
    reference.push(await slice(profiled.proxyPid, profiled.proxied));
  }
  return { own: median(own) ?? 0, nginx: median(reference) ?? 1 };
}

/** Until strace has found all threads. */
const attachSeconds = 1;

/** System calls of all threads; undefined where strace is not installed. */
export async function callsOf(
  profiled: Profiled,
  pid: number,
  target: Target,
  seconds: number,
): Promise<Counted | undefined> {
  const strace = find('strace');
  if (strace === undefined) return undefined;
  const timed = runAsync('around', 'sh', [
    '-c',
    `timeout -s INT ${seconds + 2 * attachSeconds} ${strace} -c -f -p ${pid} 2>&1 >&- || true`,
  ]);
  await wait(attachSeconds * 1_000);
  const units = await profiled.load(target, seconds);
  return { rows: systemCalls(await timed), units };
}

/** Bytes that the main thread allocates in its heap, without buffers, by function. */
export async function allocationsOf(profiled: Profiled, seconds: number): Promise<Counted> {
  const file = join(profiled.folder, 'allocations.json');
  const preload = fileURLToPath(new URL('./allocations.mjs', import.meta.url));
  const units = await profiled.running(
    ['--import', preload],
    { ALLOCATIONS_FILE: file },
    async ({ pid }) => {
      process.kill(pid, 'SIGUSR2');
      await wait(500); // the sampler begins
      const counted = await profiled.load(profiled.ours, seconds);
      process.kill(pid, 'SIGUSR2');
      await wait(1_000);
      return counted;
    },
  );
  return { rows: allocations(file), units };
}
