// `npm run bench`: Tollgate with everything on, nginx as a plain proxy and Portkey, in one run on one machine, in front of vendors that answer at once.
// Options: --rounds 3 --seconds 4 --without portkey,tollgate --write (docs/benchmarks.md).
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Contender, direct, nginxProxy, portkey } from './contender.ts';
import {
  type Bench,
  type Figures,
  firstAnswer,
  measureColdStart,
  measureDirectStream,
  measureLatency,
  measureOpenStreams,
  measureRound,
  noFigures,
  openStreams,
  targetOf,
} from './measure.ts';
import { saturate } from './load.ts';
import { parity } from './parity.ts';
import { find } from './process.ts';
import { machine, median, table } from './report.ts';
import { type Tollgate, tollgate } from './tollgate.ts';
import { startVendors } from './vendor.ts';

const { values: options } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    without: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
  },
});

const nginx = find('nginx');
if (nginx === undefined) throw new Error('nginx is the vendor and the measure: install it (Debian: apt-get install nginx-light wrk)');
const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
const vendors = await startVendors(folder, nginx);
if (vendors.pace === undefined) console.log('Go is not installed: no paced streams and no latencies in this run.');

const bench: Bench = { folder, vendors, seconds: Number(options.seconds) };
const without = options.without.split(',');
const makers: Readonly<Record<string, () => Promise<Contender>>> = {
  tollgate: async () => (gateway = await tollgate(folder, vendors)), // first: its throughput sets the pace at which the others' latencies are compared
  nginx: () => nginxProxy(folder, nginx, vendors),
  portkey: () => portkey(vendors),
};
let gateway: Tollgate | undefined;
const columns: { name: string; version: string; contender: Contender; figures: Figures }[] = [];
for (const [name, make] of Object.entries(makers)) {
  if (without.includes(name)) continue;
  console.log(`Preparing ${name}`);
  const contender = await make();
  columns.push({ name: contender.name, version: contender.version, contender, figures: noFigures() });
}
const bare = direct(vendors);
const bareFigures = noFigures();

for (let round = 1; round <= Number(options.rounds); round++) {
  for (const { contender, figures } of columns) {
    console.log(`Round ${round}: ${contender.name}`);
    await measureColdStart(contender, figures);
    const started = await contender.start();
    await firstAnswer(targetOf(contender, 'whole'), started);
    await saturate(folder, targetOf(contender, 'whole'), { connections: 50, seconds: 2 }); // warm
    await measureRound(bench, contender, started, figures);
    await measureLatency(bench, targetOf(contender, 'whole'), halfLoad(contender.name), figures);
    await started.stop();
  }
  const paced = bare.target('paced');
  if (paced !== undefined) await measureDirectStream(bench, paced, bareFigures);
  await measureLatency(bench, targetOf(bare, 'whole'), halfLoad(bare.name), bareFigures);
}

const parts = [machine(), table(columns, bareFigures), ...(await closing())];
const result = `${parts.join('\n\n')}\n`;
console.log(`\n${result}`);
for (const { name, figures } of columns) if (figures.errors > 0) console.log(`${name}: ${figures.errors} requests failed`);
if (options.write) writeFileSync(join(import.meta.dirname, '../docs/benchmarks.md'), page(result));
await vendors.stop();
rmSync(folder, { recursive: true, force: true });

/** What only Tollgate is asked: many open streams, and whether its books agree with what was answered. */
async function closing(): Promise<string[]> {
  const ours = columns.find(({ contender }) => contender === gateway);
  if (gateway === undefined || ours === undefined) return [];
  const lines: string[] = [];
  const [target, without] = [gateway.target('open'), bare.target('open')];
  if (target !== undefined && without !== undefined) {
    console.log(`${openStreams} open streams`);
    const started = await gateway.start();
    await firstAnswer(targetOf(gateway, 'whole'), started);
    const open = await measureOpenStreams(bench, target, started);
    await started.stop();
    const alone = await measureOpenStreams(bench, without, undefined);
    const late = `latest chunk ${open.lateMs.toFixed(1)} ms after it was written (${alone.lateMs.toFixed(1)} ms without a gateway)`;
    lines.push(
      `${openStreams} open streams, one chunk a second each: ${open.memoryMb.toFixed(0)} MB at most, ${late}. Target: 250 MB, 50 ms.`,
    );
  }
  console.log('Parity');
  const books = await parity(gateway, ours.figures);
  if (!books.ok) process.exitCode = 1;
  return [...lines, books.text];
}

/** Half of what a contender does at most; nginx and the bare vendor are asked for what Tollgate is asked for. */
function halfLoad(name: string): number {
  const of = (wanted: string) => median(columns.find((column) => column.name === wanted)?.figures.requestsPerSecond ?? []);
  const own = name === 'nginx' || name === bare.name ? undefined : of(name);
  return Math.round((own ?? of('Tollgate') ?? of('Portkey') ?? 2000) / 2);
}

function page(text: string): string {
  const method = `What one request costs the gateway, beside what the same request costs nginx, which only forwards it, and Portkey. Written by \`npm run bench -- --write\`;
what is compared ran in one run on one machine, in ${options.rounds} interleaved rounds of ${options.seconds} s, and medians are shown.

- The vendors are nginx (whole answers of 1 KB, streams of 100 chunks that are there at once) and a small Go program (a chunk each 10 ms), so that they are never the bottleneck.
- Tollgate runs with everything on: SQLite with durable commits, key, limits, reserve, settle, usage record. nginx and Portkey keep no books.
- A chat request has 1.5 KB. CPU is the user and system time of all threads of the process, divided by answers or chunks.
- Latencies come from requests at fixed instants (no coordinated omission), at half of the throughput that was measured before, minus what the same client waits for the vendor alone.
  nginx is asked for as much as Tollgate, Portkey for half of its own throughput.
- A cold start ends with the first answer, on a data folder that exists.`;
  return `# Benchmarks\n\n${method}\n\n${text}`;
}
