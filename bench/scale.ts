// `npm run bench:scale`: what a second process brings, on PostgreSQL with Valkey behind a client
// that spreads, as workers of one gateway on SQLite, and where two gateways share nothing. Each
// process has so much processor time and no more, so that load, vendors and databases have theirs,
// whatever the machine has. Options: --rounds 8 --seconds 8 --cores 0.3
// --only nodes|workers|separate --write (docs/benchmarks/scale.md).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Answered, saturate } from './load.ts';
import { find, machineMicroseconds, threads } from './process.ts';
import { type Quota, quota, quotaProblem, unlimited } from './quota.ts';
import { type Arrangement, arrangements, type Way } from './scale-arrangements.ts';
import { page, type Slice, table, whereTable } from './scale-report.ts';
import { untilSteady } from './steady.ts';
import { configuration, type Installed, metricsToken, told } from './tollgate.ts';
import { startVendors } from './vendor.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '8' },
    cores: { type: 'string', default: '0.3' },
    only: { type: 'string', default: 'nodes,workers,separate' },
    write: { type: 'boolean', default: false },
  },
});
const [rounds, seconds, cores] = [options.rounds, options.seconds, options.cores].map(Number) as [
  number,
  number,
  number,
];
/**
 * Clients of one process. Two processes get as many together, and as many each: the number of
 * charges in a commit depends on the number of clients.
 */
const clients = 100;
/** With it a gateway reports the charges per commit. */
process.env['TOLLGATE_METRICS_TOKEN'] = metricsToken;
const problem = quotaProblem();
const nginx = find('nginx');
if (problem !== undefined || nginx === undefined) {
  console.error(
    `bench:scale cannot run here: ${problem ?? 'nginx is the vendor: install it (Debian: apt-get install nginx-light wrk)'}`,
  );
  process.exit(1);
}
const around = unlimited(`tollgate-bench-${process.pid}-around`);
around.take(process.pid);
process.once('exit', () => around.remove());
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
const folder = mkdtempSync(join(tmpdir(), 'tollgate-scale-'));
const vendors = await startVendors(folder, nginx);
const slices: Slice[] = [];
const books: string[] = [];
for (const way of options.only.split(',')) {
  const all = await arrangements(asWay(way), folder, configuration(vendors));
  for (const one of all) {
    const warmSeconds = await untilSteady(async (of) => perSecond(await load(one, clients, of)));
    console.log(`${one.way}, ${one.processes}: warm after ${warmSeconds} s`);
  }
  await compare(all);
  for (const one of all) {
    for (const gateway of one.gateways) books.push(proved(one, gateway, await gateway.books()));
    await one.stop();
  }
}
await vendors.stop();
rmSync(folder, { recursive: true, force: true });
const result = `${table(slices)}\n\n${whereTable(slices)}\n\n${books.join('\n\n')}\n`;
console.log(`\n${result}`);
if (options.write)
  writeFileSync(
    join(import.meta.dirname, '../docs/benchmarks/scale.md'),
    page(result, slices, { rounds, seconds, cores }),
  );

function asWay(name: string): Way {
  if (name === 'nodes' || name === 'workers' || name === 'separate') return name;
  throw new Error(`--only nodes, workers or separate, not ${name}`);
}

/** All arrangements in turn, each in its quota. */
async function compare(all: readonly Arrangement[]): Promise<void> {
  const quotas = all.map(share);
  const free = () => quotas.splice(0).forEach((one) => one.remove());
  process.once('exit', free);
  const turns = all.flatMap((one) =>
    (one.processes === 1 ? [1] : [1, one.processes]).map((times) => ({
      one,
      asking: clients * times,
    })),
  );
  // With less time a process changes: it collects garbage, and fills its caches again.
  for (const { one, asking } of turns) await load(one, asking, seconds);
  for (let round = 0; round < rounds; round++)
    for (const { one, asking } of round % 2 === 0 ? turns : turns.toReversed()) {
      await load(one, asking, 1); // past the remains of the arrangement before
      slices.push(await measure(one, asking));
    }
  free();
}

async function measure(one: Arrangement, asking: number): Promise<Slice> {
  const base = new URL(one.targets[0]?.url ?? '').origin;
  const [booked, before, machineBefore] = [
    await told(base),
    processors(one),
    machineMicroseconds(),
  ];
  const answered = await load(one, asking, seconds);
  const [after, machineAfter, bookedAfter] = [
    processors(one),
    machineMicroseconds(),
    await told(base),
  ];
  const errors = answered.reduce((sum, each) => sum + each.errors, 0);
  if (errors > 0) throw new Error(`${errors} requests failed: ${one.tail()}`);
  const requests = answered.reduce((sum, each) => sum + each.requests, 0);
  const took = Math.max(...answered.map((each) => each.seconds));
  const each = after.each.map((amount, n) => amount - (before.each[n] ?? 0));
  const supervisor = after.supervisor - before.supervisor;
  const all = supervisor + each.reduce((sum, amount) => sum + amount, 0);
  const slice: Slice = {
    way: one.way,
    processes: one.processes,
    clients: asking,
    perSecond: requests / took,
    perCpuSecond: (requests * 1e6) / all,
    quotaUsed: all / 1e6 / took / (one.processes * cores),
    machineUsed:
      1 - (machineAfter.idle - machineBefore.idle) / (machineAfter.all - machineBefore.all),
    mainUs: (after.main - before.main) / requests,
    otherUs: (all - supervisor - (after.main - before.main)) / requests,
    supervisorUs: supervisor / requests,
    chargesPerCommit:
      (bookedAfter.charges - booked.charges) / (bookedAfter.commits - booked.commits),
    leastShare: Math.min(...each) / Math.max(...each),
  };
  console.log(JSON.stringify(slice));
  return slice;
}

/** Processor time so far, µs: of each serving process, of its main thread, and of supervisors. */
function processors({ serving, supervising }: Arrangement): {
  each: number[];
  main: number;
  supervisor: number;
} {
  const of = (pid: number) => threads(pid).reduce((sum, { amount }) => sum + amount, 0);
  return {
    each: serving.map(of),
    main: serving.reduce(
      (sum, pid) => sum + (threads(pid).find(({ id }) => id === pid)?.amount ?? 0),
      0,
    ),
    supervisor: supervising.reduce((sum, pid) => sum + of(pid), 0),
  };
}

/**
 * Simulates several small machines: all processes share the total, and none has more than one
 * machine. Supervisors have no quota of their own.
 */
function share({ processes, serving, supervising }: Arrangement): Quota {
  const machine = quota(`tollgate-bench-${process.pid}-${processes}`, processes * cores);
  for (const pid of supervising) machine.take(pid);
  for (const [place, pid] of serving.entries()) machine.within(`process-${place}`, cores).take(pid);
  return machine;
}

/** Each client calls one process, as a balancer would send it. */
async function load(
  { targets }: Arrangement,
  asking: number,
  lasting: number,
): Promise<readonly Answered[]> {
  const answered = await Promise.all(
    targets.map((target) =>
      saturate(folder, target, { connections: asking / targets.length, seconds: lasting }),
    ),
  );
  await wait(200); // for requests that clients left
  return answered;
}

function perSecond(answered: readonly Answered[]): number {
  return answered.reduce((sum, { requests, seconds: took }) => sum + requests / took, 0);
}

/** Whether the number of responses equals the number of charges. */
function proved(
  { way, processes }: Arrangement,
  gateway: Installed,
  { records, charges }: { readonly records: number; readonly charges: number },
): string {
  const proof = gateway.command('check');
  const ok =
    records === charges &&
    typeof proof === 'object' &&
    proof !== null &&
    Reflect.get(proof, 'ok') === true;
  if (!ok) process.exitCode = 1;
  return `Books of the ${way}, ${processes}: ${records} usage records, ${charges} charges, \`check\` ${ok ? 'ok' : 'NOT OK'}.`;
}
