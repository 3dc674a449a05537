import { cpus } from 'node:os';
import type { Breakdown, Figures } from './measure.ts';
import { closedLoop, type Percentiles } from './load.ts';
import { pinned } from './process.ts';

export interface Column {
  readonly name: string;
  readonly version: string;
  readonly figures: Figures;
}

interface Row {
  readonly label: string;
  readonly value: (figures: Figures) => number | undefined;
  readonly digits: number;
  /** What Tollgate should reach, in words. */
  readonly target: string;
}

const share = (list: readonly Percentiles[], index: number) => median(list.flatMap((percentiles) => percentiles[index] ?? []));

type Latency = 'halfLoad' | 'firstChunk' | 'chunkLate';

/** What a contender adds to the vendor itself: ms at p50 (0) or p99 (1). */
export function added(figures: Figures, bare: Figures, of: Latency, index: 0 | 1): number | undefined {
  const [with_, without] = [share(figures[of], index), share(bare[of], index)];
  return with_ === undefined || without === undefined ? undefined : Math.max(0, with_ - without);
}

function rows(bare: Figures): Row[] {
  const plus = (of: Latency, index: 0 | 1) => (figures: Figures) => added(figures, bare, of, index);
  return [
    { label: 'CPU µs per small chat request', value: (f) => median(f.cpuPerRequest), digits: 1, target: '≤ 5 × nginx, ≤ 1/10 of Portkey' },
    {
      label: 'CPU µs per chunk, 100 streams, one chunk each 10 ms',
      value: (f) => median(f.cpuPerPacedChunk),
      digits: 1,
      target: '≤ 2.2 × nginx',
    },
    {
      label: "CPU µs per chunk, the same from Anthropic's format to OpenAI's",
      value: (f) => median(f.cpuPerTranslatedChunk),
      digits: 1,
      target: '≤ 3.5 × nginx',
    },
    { label: 'CPU µs per chunk, streams that are there at once', value: (f) => median(f.cpuPerBurstChunk), digits: 2, target: '' },
    { label: 'requests/s, 50 connections', value: (f) => median(f.requestsPerSecond), digits: 0, target: '≥ 6 × Portkey' },
    { label: 'added ms at half load, p50', value: plus('halfLoad', 0), digits: 2, target: '≤ 0.5' },
    { label: 'added ms at half load, p99', value: plus('halfLoad', 1), digits: 2, target: '≤ 5' },
    { label: 'added ms to the first chunk, p50', value: plus('firstChunk', 0), digits: 2, target: '≤ 0.5' },
    { label: 'added ms to the first chunk, p99', value: plus('firstChunk', 1), digits: 2, target: '≤ 5' },
    { label: 'added ms to a chunk, p99', value: plus('chunkLate', 1), digits: 2, target: '' },
    { label: 'event loop late at half load, ms, p99', value: (f) => median(f.eventLoop), digits: 1, target: '' },
    { label: 'memory after the load, MB', value: (f) => median(f.memoryMb), digits: 0, target: '' },
    { label: 'cold start to the first answer, s', value: (f) => median(f.coldStartSeconds), digits: 2, target: '≤ 0.7' },
  ];
}

/** A Markdown table: figures, then each as a multiple of nginx's, then of Tollgate's to Portkey's. */
export function table(columns: readonly Column[], bare: Figures): string {
  const [nginx, ours, portkey] = ['nginx', 'Tollgate', 'Portkey'].map((name) => columns.find((column) => column.name === name));
  const head = [
    '',
    ...columns.map((column) => `${column.name} ${column.version}`.trim()),
    'Tollgate ÷ nginx',
    'Tollgate ÷ Portkey',
    'target',
  ];
  const lines = rows(bare).map((row) => {
    const values = columns.map((column) => shown(row.value(column.figures), row.digits));
    return [row.label, ...values, ratio(row, ours, nginx), ratio(row, ours, portkey), row.target];
  });
  return [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function ratio(row: Row, one: Column | undefined, other: Column | undefined): string {
  const [a, b] = [one && row.value(one.figures), other && row.value(other.figures)];
  return a === undefined || b === undefined || b === 0 ? '' : `${(a / b).toFixed(2)} ×`;
}

function shown(value: number | undefined, digits: number): string {
  return value === undefined ? '–' : value.toFixed(digits);
}

export function median(values: readonly number[]): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** The medians of each part. */
export function middle(all: readonly Breakdown[]): Breakdown {
  const of = (part: keyof Breakdown) => median(all.map((one) => one[part])) ?? 0;
  return { user: of('user'), system: of('system'), second: of('second'), rest: of('rest') };
}

/** Where the processor time of a small chat goes, by thread. */
export function threadTable(columns: readonly Column[]): string {
  const head = ['CPU µs per small chat', 'main thread, own', 'main thread, kernel', 'busiest other thread', 'all others'];
  const lines = columns.map(({ name, figures }) => {
    const { user, system, second, rest } = middle(figures.breakdown);
    return [name, ...[user, system, second, rest].map((part) => part.toFixed(1))];
  });
  return [head, head.map((_, index) => (index === 0 ? '---' : '---:')), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function machine(): string {
  const [first] = cpus();
  const where = pinned
    ? 'What is measured runs pinned to the first core, vendors and load on the others'
    : 'Nothing is pinned, since there is no taskset or one core only';
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}, ${process.platform}. ${where}. Closed loops: ${closedLoop}.`;
}
