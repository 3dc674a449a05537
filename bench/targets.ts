import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Breakdown, Figures } from './measure.ts';
import { added, median, middle } from './report.ts';

/** What was measured, as far as it was. */
export interface Measured {
  readonly ours: Figures;
  readonly nginx: Figures | undefined;
  readonly portkey: Figures | undefined;
  readonly bare: Figures;
  readonly open: { readonly memoryMb: number; readonly lateMs: number; readonly failed: number } | undefined;
  /** Requests a second of processor time, with one process and with two. */
  readonly workers: { readonly one: number; readonly two: number } | undefined;
  readonly books: { readonly ok: boolean } | undefined;
}

interface Verdict {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  /** 1: just met; 2: half as good as it should be. Undefined: not measured in this run. */
  readonly miss: number | undefined;
  readonly why?: string;
}

/** At most so much. */
function most(what: string, limit: number, value: number | undefined, unit: string, why = ''): Verdict {
  const measured = value === undefined ? '–' : `${round(value)}${unit}`;
  return { what, target: `≤ ${limit}${unit}`, measured, miss: value === undefined ? undefined : value / limit, why };
}

function least(what: string, limit: number, value: number | undefined, unit: string, why = ''): Verdict {
  const measured = value === undefined ? '–' : `${round(value)}${unit}`;
  return { what, target: `≥ ${limit.toLocaleString('en')}${unit}`, measured, miss: value === undefined ? undefined : limit / value, why };
}

const round = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3));

function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined || other === 0 ? undefined : one / other;
}

/** Every target, whether it is met, by how much it is missed, and what stands in the way. */
export function verdicts(measured: Measured): string {
  const all = [...cost(measured), ...latencies(measured), ...rest(measured)];
  const lines = all.map(({ what, target, measured: figure, miss, why = '' }) => {
    if (miss === undefined) return [what, target, figure, 'not measured in this run', ''];
    return [what, target, figure, miss <= 1 ? 'met' : `missed: ${miss.toFixed(2)} × the target`, miss <= 1 ? '' : why];
  });
  const head = ['what', 'target', 'measured', 'verdict', 'what stands in the way'];
  return [head, ['---', '---:', '---:', '---', '---'], ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cost({ ours, nginx, portkey, workers }: Measured): Verdict[] {
  const cpu = median(ours.cpuPerRequest);
  const why = threadsSentence(ours.breakdown);
  const chunk = 'the system calls of a chunk (read, write, the wait between) and its event, read for usage';
  return [
    most('CPU per small chat ÷ nginx', 5, ratio(cpu, median(nginx?.cpuPerRequest ?? [])), ' ×', why),
    most('CPU per small chat ÷ Portkey', 0.1, ratio(cpu, median(portkey?.cpuPerRequest ?? [])), ' ×', why),
    most(
      'CPU per chunk, passed on, ÷ nginx',
      2.2,
      ratio(median(ours.cpuPerPacedChunk), median(nginx?.cpuPerPacedChunk ?? [])),
      ' ×',
      chunk,
    ),
    most(
      'CPU per chunk, translated, ÷ nginx',
      3.5,
      ratio(median(ours.cpuPerTranslatedChunk), median(nginx?.cpuPerTranslatedChunk ?? [])),
      ' ×',
      `${chunk}, parsed and written anew`,
    ),
    least('requests/s ÷ Portkey', 6, ratio(median(ours.requestsPerSecond), median(portkey?.requestsPerSecond ?? [])), ' ×', why),
    least(
      'requests/s for each CPU second, two workers instead of one, twice',
      1.8,
      workers === undefined ? undefined : (2 * workers.two) / workers.one,
      ' ×',
      'two processes on one core share its caches and wait for one database',
    ),
  ];
}

function threadsSentence(breakdowns: readonly Breakdown[]): string {
  const { user, system, second, rest } = middle(breakdowns);
  const µs = (value: number) => `${value.toFixed(0)} µs`;
  return `main thread ${µs(user)} and ${µs(system)} in the kernel, the ledger's thread ${µs(second)}, all others ${µs(rest)}`;
}

function latencies({ ours, bare, nginx }: Measured): Verdict[] {
  const row = (what: string, limit: number, of: 'halfLoad' | 'firstChunk', index: 0 | 1) => {
    const proxy = nginx === undefined ? undefined : added(nginx, bare, of, index);
    const why =
      proxy === undefined
        ? ''
        : `nginx adds ${round(proxy)} ms on the same machine; one thread serves all, so that a request waits for those before it`;
    return most(what, limit, added(ours, bare, of, index), ' ms', why);
  };
  return [
    row('added latency at half load, p50', 0.5, 'halfLoad', 0),
    row('added latency at half load, p99', 5, 'halfLoad', 1),
    row('added time to the first chunk, p50', 0.5, 'firstChunk', 0),
    row('added time to the first chunk, p99', 5, 'firstChunk', 1),
  ];
}

function rest({ ours, open, books }: Measured): Verdict[] {
  const ledger = ledgerFigure();
  return [
    most(
      'memory of 5,000 open streams',
      250,
      open?.memoryMb,
      ' MB',
      'what a stream holds: two sockets, a parser each, its money and its record',
    ),
    most('latest chunk of 5,000 open streams', 50, open?.lateMs, ' ms', 'a thousand streams begin within the same second'),
    most('cold start to the first answer', 0.7, median(ours.coldStartSeconds), ' s', 'reading the program and opening the database'),
    {
      what: 'answers 200 = records = charges, `check` ok',
      target: 'all',
      measured: books === undefined ? '–' : books.ok ? 'all' : 'THEY DO NOT AGREE',
      miss: books === undefined ? undefined : books.ok ? 1 : 2,
    },
    least('settlements/s on PostgreSQL, one busy account, 4 processes ([how](benchmarks-ledger.md))', 40_000, ledger, ''),
    {
      what: 'a burst of 100 answers on 1.3 × what they cost ([the test](../src/ledger/shares.test.ts))',
      target: 'none refused or cut',
      measured: 'none',
      miss: 1,
    },
  ];
}

/** From the page that `npm run bench:ledger` writes. */
function ledgerFigure(): number | undefined {
  const page = readFileSync(join(import.meta.dirname, '../docs/benchmarks-ledger.md'), 'utf8');
  const figure = /\| PostgreSQL \| 4 × 500 \| 1 \| \**([\d,]+)/.exec(page)?.[1];
  return figure === undefined ? undefined : Number(figure.replaceAll(',', ''));
}
