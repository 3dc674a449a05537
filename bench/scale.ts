// `npm run bench:scale`: what a second process brings, on PostgreSQL with Valkey behind a client that spreads, and as workers of one gateway on SQLite.
// Each process has so much processor time and no more, so that load, vendors and databases have theirs, whatever the machine has.
// Options: --rounds 3 --seconds 6 --cores 0.3 --only nodes|workers --write (docs/benchmarks-scale.md).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findRedis, startRedis } from '../test/support/redis-server.ts';
import { startPostgres } from '../test/postgres.ts';
import { body, type Target } from './contender.ts';
import { type Answered, saturate } from './load.ts';
import { cpuMicroseconds, family, find, freePort, machineSeconds, type Started } from './process.ts';
import { type Quota, quota, quotaProblem, unlimited } from './quota.ts';
import { page, type Round, table } from './scale-report.ts';
import { configuration, type Installed, install, ready } from './tollgate.ts';
import { startVendors } from './vendor.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '6' },
    cores: { type: 'string', default: '0.3' },
    only: { type: 'string', default: 'nodes,workers' },
    write: { type: 'boolean', default: false },
  },
});
const [rounds, seconds, cores] = [options.rounds, options.seconds, options.cores].map(Number) as [number, number, number];
const connections = 100;
/** For each process, so that all have answered as many. */
const warmSeconds = 3;

/** A way to have several processes. */
interface Way {
  readonly name: string;
  readonly gateway: Installed;
  /** Starts so many; where they are asked, and the processes that are started by hand. */
  start(processes: number): Promise<{ readonly ports: readonly number[]; readonly started: readonly Started[] }>;
  readonly stop: () => Promise<void>;
}

const problem = quotaProblem();
const nginx = find('nginx');
if (problem !== undefined || nginx === undefined) {
  console.error(`bench:scale cannot run here: ${problem ?? 'nginx is the vendor: install it (Debian: apt-get install nginx-light wrk)'}`);
  process.exit(1);
}
const around = unlimited(`tollgate-bench-${process.pid}-around`);
around.take(process.pid);
process.once('exit', () => around.remove());
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-scale-'));
const vendors = await startVendors(folder, nginx);
const ways = (await Promise.all(options.only.split(',').map((name) => (name === 'nodes' ? nodes() : workers())))).filter(
  (way) => way !== undefined,
);
const measured: Round[] = [];
for (let round = 0; round < rounds; round++)
  for (const way of ways) for (const processes of round % 2 === 0 ? [1, 2] : [2, 1]) measured.push(await measure(way, processes));

const books: string[] = [];
for (const way of ways) {
  books.push(await proved(way));
  await way.stop();
}
await vendors.stop();
rmSync(folder, { recursive: true, force: true });
const result = `${table(measured)}\n\n${books.join('\n\n')}\n`;
console.log(`\n${result}`);
if (options.write) writeFileSync(join(import.meta.dirname, '../docs/benchmarks-scale.md'), page(result, { rounds, seconds, cores }));

/** Two gateways that know of each other through PostgreSQL and Valkey alone. */
async function nodes(): Promise<Way | undefined> {
  const postgres = await startPostgres();
  if ('missing' in postgres || findRedis() === undefined) {
    console.log(
      `no nodes in this run: ${'missing' in postgres ? postgres.missing : 'neither valkey-server nor redis-server is installed'}`,
    );
    return undefined;
  }
  const redis = await startRedis();
  const { gateway, place } = await installed('nodes', { DATABASE_URL: postgres.url, REDIS_URL: redis.url });
  const start = async (processes: number) => {
    const ports = await Promise.all(Array.from({ length: processes }, freePort));
    return { ports, started: ports.map((port) => gateway.another(port)) };
  };
  const stop = async () => {
    await postgres.stop();
    await redis.stop();
    rmSync(place, { recursive: true, force: true });
  };
  return { name: 'nodes on PostgreSQL and Valkey', gateway, start, stop };
}

async function workers(): Promise<Way> {
  const { gateway, place } = await installed('workers', {});
  const start = async (processes: number) => {
    const port = await freePort();
    return { ports: [port], started: [gateway.another(port, '--workers', String(processes))] };
  };
  return { name: 'workers on SQLite', gateway, start, stop: async () => rmSync(place, { recursive: true, force: true }) };
}

async function installed(name: string, shared: NodeJS.ProcessEnv): Promise<{ gateway: Installed; place: string }> {
  const place = mkdtempSync(join(folder, name));
  return { gateway: await install(place, configuration(vendors), shared), place };
}

async function measure({ name, gateway, start }: Way, processes: number): Promise<Round> {
  const { ports, started } = await start(processes);
  const machine = quota(`tollgate-bench-${process.pid}`, processes * cores);
  try {
    const targets = ports.map((port) => at(gateway, port));
    await Promise.all(targets.map((target) => servesAll(target, started, processes)));
    // What is young is slow: it warms up with all that there is.
    await load(targets, warmSeconds * processes);
    share(machine, started, processes);
    await load(targets, 1);
    const cpu = cpuOf(started);
    const before = machineSeconds();
    const answered = await load(targets, seconds);
    const after = machineSeconds();
    const cpuSeconds = (cpuOf(started) - cpu) / 1e6;
    const took = Math.max(...answered.map((each) => each.seconds));
    const requests = answered.reduce((sum, each) => sum + each.requests, 0);
    const errors = answered.reduce((sum, each) => sum + each.errors, 0);
    if (errors > 0) throw new Error(`${errors} requests failed: ${started.map(({ tail }) => tail()).join()}`);
    const perSecond = requests / took;
    const round: Round = {
      way: name,
      processes,
      perSecond,
      perCpuSecond: requests / cpuSeconds,
      quotaUsed: cpuSeconds / took / (processes * cores),
      machineUsed: (after.used - before.used) / (after.all - before.all),
    };
    console.log(JSON.stringify(round));
    return round;
  } finally {
    machine.remove();
    for (const each of started) await each.stop();
  }
}

/** So many machines of so little: all processes share what all have, and none has more than one machine. What only hands out work has no part of its own. */
function share(machine: Quota, started: readonly Started[], processes: number): void {
  const pids = started.flatMap(({ pid }) => family(pid));
  const serving = pids.length > processes ? pids.filter((pid) => !started.some((each) => each.pid === pid)) : pids;
  if (serving.length !== processes) throw new Error(`${serving.length} processes serve instead of ${processes}`);
  for (const pid of pids) machine.take(pid);
  for (const [place, pid] of serving.entries()) machine.within(`process-${place}`, cores).take(pid);
}

/** Each client of its own process, as a balancer would send them. */
function load(targets: readonly Target[], lasting: number): Promise<readonly Answered[]> {
  return Promise.all(targets.map((target) => saturate(folder, target, { connections: connections / targets.length, seconds: lasting })));
}

function cpuOf(started: readonly Started[]): number {
  return started.reduce((sum, { pid }) => sum + cpuMicroseconds(pid), 0);
}

function at({ headers }: Installed, port: number): Target {
  return { url: `http://127.0.0.1:${port}/v1/chat/completions`, headers, body: body('whole', false) };
}

async function servesAll({ url }: Target, started: readonly Started[], processes: number): Promise<void> {
  await ready(new URL('/readyz', url).href, () => started.map(({ tail }) => tail()).join());
  if (processes === started.length) return;
  // Further workers follow the first one, and tell nobody when they are there.
  while (started.flatMap(({ pid }) => family(pid)).length <= processes) await new Promise((resolve) => setTimeout(resolve, 50));
  await new Promise((resolve) => setTimeout(resolve, 4_000));
}

/** Whether what was answered is what was charged. */
async function proved({ name, gateway }: Way): Promise<string> {
  const { records, charges } = await gateway.books();
  const proof = gateway.command('check');
  const ok = records === charges && typeof proof === 'object' && proof !== null && Reflect.get(proof, 'ok') === true;
  if (!ok) process.exitCode = 1;
  return `Books of the ${name}: ${records} usage records, ${charges} charges, \`check\` ${ok ? 'ok' : 'NOT OK'}.`;
}
