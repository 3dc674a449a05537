// `npm run bench`: Tollgate with everything on, nginx as a plain proxy and the other gateways whose
// programs are where `npm run bench:peers` puts or expects them, in one run on one machine, in
// front of vendors that are never the bottleneck. Options: --rounds 2 --seconds 3 --without litellm,published --write
// (docs/benchmarks/index.md).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '../src/base/thrown.ts';
import { closing } from './closing.ts';
import { type Contender, direct, nginxProxy, targetOf } from './contender.ts';
import { commitMs } from './disk.ts';
import { type Figures, keepPaced, noFigures, type Placing } from './figures.ts';
import {
  type Bench,
  connections,
  free,
  measureMost,
  measureRates,
  measureStreams,
  streamsRun,
} from './latency.ts';
import { firstAnswer, measureRound, startCold } from './measure.ts';
import { type Percentiles, saturate } from './load.ts';
import { page, type Result } from './page.ts';
import { peers } from './peers/list.ts';
import { folderOf } from './peers/peer.ts';
import { dutifulNode } from './floor/contender.ts';
import { find, machineMicroseconds, type Started } from './process.ts';
import { measurePublished } from './published.ts';
import { untilSteady } from './steady.ts';
import { type Told, type Tollgate, told, tollgate } from './tollgate.ts';
import { startVendors } from './vendor.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '2' },
    seconds: { type: 'string', default: '3' },
    without: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});

const nginx = find('nginx');
if (nginx === undefined)
  throw new Error(
    'nginx is the vendor and the measure: install it (Debian: apt-get install nginx-light wrk)',
  );
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
// and with it all processes that it started
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
/** Cold starts of each gateway in a round: one alone may meet other work of the machine. */
const startsOfRound = 3;
/** Of each kind of stream, before anything is measured. */
const warmStreamSeconds = 10;
const quietBefore = machineMicroseconds();
const vendors = await startVendors(folder, nginx);
if (vendors.pace === undefined)
  console.log(
    'Go is not installed: no paced streams, no latencies and no published workloads in this run.',
  );

const bench: Bench = { folder, vendors, seconds: Number(options.seconds) };
const without = options.without.split(',');
/** The contenders that this run has no figures of, and why. */
const absent = new Map<string, string>();
const makers: [string, () => Promise<Contender>][] = [
  ['Tollgate', async () => (gateway = await tollgate(folder, vendors))],
  ['nginx', () => nginxProxy(folder, nginx, vendors)],
  ['Node with duties', async () => (floor = await dutifulNode(folder, vendors))],
];
for (const peer of peers) {
  const place = folderOf(peer);
  if (peer.installed(place)) makers.push([peer.name, () => peer.contender(place, folder, vendors)]);
  else {
    absent.set(peer.name, peer.absent);
    console.log(`${peer.name} is not installed (npm run bench:peers), and left out.`);
  }
}
let gateway: Tollgate | undefined;
let floor: Contender | undefined;
const columns: { name: string; version: string; contender: Contender; figures: Figures }[] = [];
const closers: (() => Promise<void>)[] = [];
for (const [name, make] of makers) {
  const option = name.toLowerCase().replaceAll(' ', '-');
  if (without.includes(option)) {
    absent.set(name, `left out (\`--without ${option}\`)`);
    continue;
  }
  const contender = await made(name, make);
  if (contender === undefined) continue;
  if (contender.close !== undefined) closers.push(contender.close);
  columns.push({
    name: contender.name,
    version: contender.version,
    contender,
    figures: noFigures(),
  });
}
const bare = direct(vendors);
const bareFigures = noFigures();
const disk: Percentiles[] = [];

for (let round = 1; round <= Number(options.rounds); round++) {
  for (const { contender, figures } of [...columns]) {
    console.log(`Round ${round}: ${contender.name}`);
    try {
      await oneRound(contender, figures);
    } catch (error) {
      // A peer that fails under load is reported and left out; without Tollgate there is nothing to
      // compare.
      if (contender === gateway) throw error;
      console.log(`${contender.name} is left out: ${messageOf(error)}`);
      absent.set(contender.name, 'it failed under load when this page was made');
      columns.splice(
        columns.findIndex((column) => column.contender === contender),
        1,
      );
    }
  }
  console.log(`Round ${round}: no gateway`);
  await bareWaits('pinned');
  await free(bench, undefined, () => bareWaits('free'));
  await comparePublished(bare, undefined, bareFigures);
  disk.push(commitMs(gateway?.folder ?? folder));
}

const ours = columns.find(({ contender }) => contender === gateway);
const end =
  gateway === undefined || ours === undefined
    ? undefined
    : await closing(bench, gateway, ours.figures, bare, floor);
if (end?.books.ok === false) process.exitCode = 1;
await Promise.all(closers.map((close) => close()));
await vendors.stop();
const result: Result = {
  columns,
  absent,
  bare: bareFigures,
  end,
  disk,
  before: quietBefore,
  after: machineMicroseconds(),
  rounds: options.rounds,
  seconds: options.seconds,
};
const text = page(result);
console.log(`\n${text}`);
for (const { name, figures } of columns)
  if (figures.errors > 0) console.log(`${name}: ${figures.errors} requests failed`);
if (options.write) writeFileSync(join(import.meta.dirname, '../docs/benchmarks/index.md'), text);

/** A peer that does not start is left out. */
async function made(name: string, make: () => Promise<Contender>): Promise<Contender | undefined> {
  try {
    return await make();
  } catch (error) {
    if (!peers.some((peer) => peer.name === name)) throw error;
    console.log(`${name} is left out: ${messageOf(error)}`);
    absent.set(name, 'it did not start when this page was made');
    return undefined;
  }
}

async function oneRound(contender: Contender, figures: Figures): Promise<void> {
  for (let start = 1; start < startsOfRound; start++)
    await (await startCold(contender, figures)).stop();
  const started = await startCold(contender, figures);
  try {
    await free(bench, started, () => warmUp(contender));
    await measureRound(bench, contender, started, figures);
    await measureRates(bench, contender, 'pinned', figures, tellsOf(contender));
    await free(bench, started, async () => {
      await measureMost(bench, targetOf(contender, 'whole'), 'free', figures);
      await measureRates(bench, contender, 'free', figures, tellsOf(contender));
      await measureStreams(bench, contender, 'free', figures);
    });
    await comparePublished(contender, started, figures);
  } finally {
    await started.stop();
  }
}

/**
 * With all that the machine has, so that V8's threads compile beside the requests. Whole answers
 * come last: a gateway that streams too slowly first answers what it has not answered yet.
 */
async function warmUp(contender: Contender): Promise<void> {
  for (const kind of ['paced', 'messages'] as const) {
    const target = contender.target(kind);
    if (target !== undefined)
      await streamsRun({ ...bench, seconds: warmStreamSeconds }, target, 'free');
  }
  const load = { connections, core: 'any' } as const;
  await untilSteady(async (seconds) => {
    const answered = await saturate(folder, targetOf(contender, 'whole'), { ...load, seconds });
    return answered.requests / answered.seconds;
  });
}

/** Reads Tollgate's own metrics; the others' are not read. */
function tellsOf(contender: Contender): (() => Promise<Told>) | undefined {
  const base = gateway?.base;
  return contender === gateway && base !== undefined ? () => told(base) : undefined;
}

async function bareWaits(placing: Placing): Promise<void> {
  await measureStreams(bench, bare, placing, bareFigures);
  await measureRates(bench, bare, placing, bareFigures);
}

async function comparePublished(
  contender: Pick<Contender, 'name' | 'target'>,
  started: Started | undefined,
  figures: Figures,
): Promise<void> {
  if (vendors.pace === undefined || without.includes('published')) return;
  const seconds = Math.max(1, bench.seconds / 3);
  await measurePublished(
    folder,
    vendors.pace,
    seconds,
    contender,
    started,
    figures.published,
    async (paced) => {
      keepPaced(figures, { ...paced, errors: 0 }); // errors of this part have their own table
      // An overloaded gateway first answers its remaining requests.
      if (started !== undefined && paced.errors > 0)
        await firstAnswer(targetOf(contender, 'whole'), started);
    },
  );
}
