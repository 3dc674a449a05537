// `npm run bench:floor [-- --rounds 3]`: how far the built gateway is from what Node itself costs,
// in some minutes instead of the whole table's forty. In turn, one core each, by small chats and by
// chunks of streams: nginx, a bare server on Node, the same server with the duties of a gateway
// that is paid for (floor/duties.mjs), and Tollgate.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Contender, nginxProxy, targetOf } from './contender.ts';
import { type Figures, noFigures } from './figures.ts';
import { bareNode, dutifulNode } from './floor/contender.ts';
import { type Bench, connections, free } from './latency.ts';
import { saturate } from './load.ts';
import { measureRound, startCold } from './measure.ts';
import { find } from './process.ts';
import { median, middle } from './report.ts';
import { tollgate } from './tollgate.ts';
import { startVendors } from './vendor.ts';

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '3' } } });
// and with it all processes that it started
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
const nginx = find('nginx');
if (nginx === undefined) throw new Error('nginx is the vendor and the measure: install it');
/** Long enough for V8 to compile what a request runs. */
const warmSeconds = 12;
const folder = mkdtempSync(join(tmpdir(), 'tollgate-floor-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const vendors = await startVendors(folder, nginx);
const bench: Bench = { folder, vendors, seconds: 3 };
const contenders = [
  await nginxProxy(folder, nginx, vendors),
  await bareNode(folder, vendors),
  await dutifulNode(folder, vendors),
  await tollgate(folder, vendors),
];
const columns = contenders.map((contender) => ({ contender, figures: noFigures() }));
for (let round = 0; round < Number(options.rounds); round++)
  for (const { contender, figures } of columns) await oneRound(contender, figures);
for (const { close } of contenders) await close?.();
await vendors.stop();
console.log(table());
for (const { contender, figures } of columns)
  if (figures.errors > 0) console.log(`${contender.name}: ${figures.errors} requests failed`);
process.exit(0);

async function oneRound(contender: Contender, figures: Figures): Promise<void> {
  const started = await startCold(contender, figures);
  const load = { connections, seconds: warmSeconds, core: 'any' } as const;
  await free(bench, started, () => saturate(folder, targetOf(contender, 'whole'), load));
  await measureRound(bench, contender, started, figures);
  await started.stop();
}

function table(): string {
  const row = (name: string, of: (figures: Figures) => number | undefined): string => {
    const cells = columns.map(({ figures }) => of(figures)?.toFixed(1) ?? '–');
    return `| ${[name, ...cells].join(' | ')} |`;
  };
  const base = columns[0]?.figures;
  const timesOf = (of: (figures: Figures) => readonly number[]) => (figures: Figures) => {
    const [own, other] = [median(of(figures)), base && median(of(base))];
    return own === undefined || other === undefined ? undefined : own / other;
  };
  return [
    `| | ${contenders.map(({ name }) => name).join(' | ')} |`,
    `| --- |${' ---: |'.repeat(columns.length)}`,
    row('CPU µs per small chat', ({ cpuPerRequest }) => median(cpuPerRequest)),
    row('– main thread, own', ({ breakdown }) => middle(breakdown).user),
    row('– main thread, kernel', ({ breakdown }) => middle(breakdown).system),
    row('– busiest other thread', ({ breakdown }) => middle(breakdown).second),
    row(
      '÷ nginx',
      timesOf(({ cpuPerRequest }) => cpuPerRequest),
    ),
    row('CPU µs per chunk, passed on', ({ cpuPerPacedChunk }) => median(cpuPerPacedChunk)),
    row(
      '÷ nginx',
      timesOf(({ cpuPerPacedChunk }) => cpuPerPacedChunk),
    ),
    row('memory after it, MB', ({ memoryMb }) => median(memoryMb)),
  ].join('\n');
}
