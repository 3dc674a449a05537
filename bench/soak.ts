// `npm run bench:soak -- --minutes 30 --rate 40`: every kind of request for half an hour, and
// whether memory stays stable. `--write` puts the result into docs/benchmarks/growth.md.
// `--snapshots FOLDER` writes early and late heap snapshots; taking them needs memory, so that
// resident memory then means nothing.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { simConfig } from '../sim/catalog.ts';
import { startSim } from '../sim/index.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { check } from '../src/ledger/check.ts';
import { proofs } from '../src/app/schema.ts';
import type { Database } from '../src/storage/database.ts';
import { open } from '../src/storage/open.ts';
import { newCustomer, newTestKey } from '../test/support/customer.ts';
import { type GatewayProcess, startProcess } from '../test/support/process.ts';
import { writeGrowthPage } from './growth/page.ts';
import { beginSection } from './growth/results.ts';
import { said, type Table } from './growth/table.ts';
import { memoryMb } from './process.ts';
import { type Inspector, inspect } from './soak/inspector.ts';
import { fillPages, startSoakLoad } from './soak/load.ts';
import { faults, slow } from './soak/questions.ts';
import { middle, type Sample, trendOf } from './soak/trend.ts';

const { values: options } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '40' },
    snapshots: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
});
const minutes = Number(options.minutes);
/**
 * The accepted growth of memory in ten minutes, in percent of its level, after a third of the time
 * has filled the caches.
 */
const growthMax = 1;
/** Measurements of the heap after a garbage collection, in all. */
const collections = 24;
const customers = 20;
const lookEveryMs = 2_000;
/** The trends that the table shows; the others are in the text. */
const trendsTold = 2;

interface Watched {
  readonly resident: Sample[];
  readonly heap: Sample[];
  readonly delays: Delay[];
}

/** The 99th percentile and the longest delay of the event loop since the last look, ms. */
interface Delay {
  /** `performance.now` at the look. */
  readonly at: number;
  readonly p99: number;
  readonly longest: number;
}

const keep = beginSection('soak');
const folder = mkdtempSync(join(tmpdir(), 'tollgate-soak-'));
const sim = await startSim();
const gateway = await startProcess({
  folder,
  configuration: simConfig(sim.url, [...faults, slow]),
  env: {
    NODE_OPTIONS: '--inspect=127.0.0.1:0',
    TOLLGATE_METRICS_TOKEN: 'soak',
    TOLLGATE_LOG: 'error',
    DATABASE_URL: `sqlite:${join(folder, 'tollgate.db')}`,
  },
});
const database = await open(`sqlite:${join(folder, 'tollgate.db')}`);
const inspector = await inspect(gateway.output());
const keys = await keysOf(database);
await fillPages(gateway.url, keys[0] ?? '');
const load = startSoakLoad(gateway.url, keys, Number(options.rate));
const watched = await watch(gateway, inspector);
await load.stop();
await wait(2_000); // for the settlement of requests that clients left
inspector.close();
const stopped = await gateway.stop();
const told = [...report(watched), await books(database, stopped)];
const odd = [...load.seen.odd].map(
  ([what, moments]) =>
    `Not expected, ${moments.length} × (${latenessAt(moments, watched.delays)}): ${what}`,
);
console.log([...told.map(({ text }) => text), ...odd].join('\n'));
await database.close();
await sim.close();
rmSync(folder, { recursive: true, force: true });
if (options.write) {
  keep({
    tables: [tableOf(watched)],
    words: [...told.slice(trendsTold).map(({ text }) => text), ...odd].join('\n\n'),
  });
  writeGrowthPage();
}
process.exit(told.every(({ ok }) => ok) && load.seen.odd.size === 0 ? 0 : 1);

async function keysOf(database: Database): Promise<string[]> {
  const keys: string[] = [];
  for (let n = 0; n < customers; n++) {
    const { userId, key } = await newCustomer(database, 1_000_000n * nanoPerYuan);
    keys.push(key.secret);
    for (let more = 1; more < 5; more++) keys.push((await newTestKey(database, userId)).secret);
  }
  return keys;
}

/** Looks every two seconds, and collects garbage now and then, until the time is over. */
async function watch(gateway: GatewayProcess, inspector: Inspector): Promise<Watched> {
  const watched: Watched = { resident: [], heap: [], delays: [] };
  const begun = performance.now();
  const pid = gateway.child.pid ?? 0;
  for (let at = 0; at < minutes; at = (performance.now() - begun) / 60_000) {
    watched.resident.push({ at, value: memoryMb(pid) });
    watched.delays.push(await delays(gateway.url));
    if (at >= (minutes / collections) * (watched.heap.length + 1))
      await collect(watched, inspector, at);
    await wait(lookEveryMs);
  }
  return watched;
}

async function collect(watched: Watched, inspector: Inspector, at: number): Promise<void> {
  watched.heap.push({ at, value: (await inspector.heapBytes()) / 2 ** 20 });
  const [resident, heap] = [watched.resident.at(-1), watched.heap.at(-1)];
  const { asked, delivered, left, failed } = load.seen;
  console.log(
    `${at.toFixed(1)} min: ${resident?.value.toFixed(0)} MB resident, ${heap?.value.toFixed(2)} MB of heap in use; ${asked} asked, ${delivered} delivered, ${left} left, ${failed} failed`,
  );
  const late = watched.heap.length === collections - 1;
  if (options.snapshots !== undefined && (late || watched.heap.length === 2))
    await inspector.snapshot(
      join(options.snapshots, late ? 'late.heapsnapshot' : 'early.heapsnapshot'),
    );
}

async function delays(url: string): Promise<Delay> {
  const page = await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer soak' } }).then(
    (answer) => answer.text(),
  );
  const ms = (name: string): number =>
    1000 *
    Number(
      new RegExp(`^nodejs_eventloop_lag_${name}_seconds(?:{.*})? (\\S+)`, 'm').exec(page)?.[1],
    );
  return { at: performance.now(), p99: ms('p99'), longest: ms('max') };
}

/**
 * The event loop's delay at these moments: a process without processor time refuses requests that
 * it would not finish.
 */
function latenessAt(moments: readonly number[], delays: readonly Delay[]): string {
  const late = moments.map((moment) => {
    const next = delays.findIndex(({ at }) => at >= moment);
    const around = next < 0 ? delays.slice(-1) : delays.slice(Math.max(0, next - 1), next + 2);
    return Math.max(0, ...around.map(({ longest }) => longest));
  });
  return `the event loop was ${Math.min(...late).toFixed(0)} to ${Math.max(...late).toFixed(0)} ms late then`;
}

function trendsOf({ resident, heap }: Watched) {
  return [
    { what: 'resident memory', samples: resident },
    { what: 'heap in use after a collection', samples: heap },
  ].map(({ what, samples }) => ({ what, ...trendOf(samples, minutes / 3) }));
}

function tableOf(watched: Watched): Table {
  return {
    head: ['', 'level', 'growth in ten minutes'],
    rows: trendsOf(watched).map(({ what, level, growth }) => [
      what,
      `${level.toFixed(1)} MB`,
      `${growth.toFixed(2)} %`,
    ]),
  };
}

interface Finding {
  readonly text: string;
  readonly ok: boolean;
}

function report(watched: Watched): Finding[] {
  const { delays } = watched;
  return [
    ...trendsOf(watched).map(({ what, level, growth }) => {
      const text = `${what}: ${level.toFixed(1)} MB, ${growth.toFixed(2)} % in ten minutes over the last two thirds (at most ${growthMax} %)`;
      return { text, ok: growth < growthMax };
    }),
    {
      text: `The event loop: 99 of 100 delays below ${middle(delays.map(({ p99 }) => p99)).toFixed(1)} ms, longest ${Math.max(...delays.map(({ longest }) => longest)).toFixed(0)} ms.`,
      ok: true,
    },
  ];
}

/**
 * One charge for each record, at least as many as delivered responses, and the ledger's own check.
 */
async function books(database: Database, stopped: number | null): Promise<Finding> {
  const [row] = await database.query(
    `SELECT (SELECT COUNT(*) FROM usage) AS records, (SELECT COUNT(*) FROM transfer WHERE credit='revenue') AS charges`,
  );
  const [records, charges] = [Number(row?.['records']), Number(row?.['charges'])];
  const proof = await check(database, proofs);
  const { asked, delivered, left, failed } = load.seen;
  const [a, d, l, f, r, c] = [asked, delivered, left, failed, records, charges].map(said);
  const text = `In ${minutes} minutes ${a} asked, ${d} delivered, ${l} left, ${f} failed as they should; ${r} usage records and ${c} charges (the responses that filled the pages are among them); check: ${JSON.stringify(proof)}; ended with ${stopped}.`;
  return { text, ok: proof.ok && records >= delivered && records === charges && stopped === 0 };
}
