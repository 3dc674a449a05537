import { cpus } from 'node:os';
import type { Breakdown, Figures, Placing, Waits } from './figures.ts';
import { closedLoop, type Percentiles } from './load.ts';
import { markdownTable } from './markdown-table.ts';
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
  /** Tollgate's target, as text. */
  readonly target: string;
}

const share = (list: readonly Percentiles[], index: number) =>
  median(list.flatMap((percentiles) => percentiles[index] ?? []));

/** One of the latencies of a placing. */
export type Latency = (waits: Waits) => readonly Percentiles[];
export const firstChunk: Latency = (waits) => waits.firstChunk;
const chunkLate: Latency = (waits) => waits.chunkLate;

/** The latency that a contender adds to the vendor's: ms at p50 (0) or p99 (1). */
export function added(
  figures: Figures,
  bare: Figures,
  placing: Placing,
  of: Latency,
  index: 0 | 1,
): number | undefined {
  const [with_, without] = [figures, bare].map(({ waits }) => share(of(waits[placing]), index));
  return with_ === undefined || without === undefined ? undefined : Math.max(0, with_ - without);
}

function rows(bare: Figures): Row[] {
  return [
    {
      label: 'CPU µs per small chat request',
      value: (f) => median(f.cpuPerRequest),
      digits: 1,
      target: '≤ 4 × nginx',
    },
    {
      label: 'CPU µs per chunk, 100 streams, one chunk each 10 ms',
      value: (f) => median(f.cpuPerPacedChunk),
      digits: 1,
      target: '≤ 2 × nginx',
    },
    {
      label: "CPU µs per chunk, the same from Anthropic's format to OpenAI's",
      value: (f) => median(f.cpuPerTranslatedChunk),
      digits: 1,
      target: '≤ 2.6 × nginx',
    },
    {
      label: 'CPU µs per chunk, streams that are there at once',
      value: (f) => median(f.cpuPerBurstChunk),
      digits: 2,
      target: '',
    },
    ...waits(bare, 'pinned', false),
    ...waits(bare, 'free', true),
    {
      label: 'memory after the load, MB',
      value: (f) => median(f.memoryMb),
      digits: 0,
      target: '≤ 130',
    },
    {
      label: 'cold start to the first answer, s',
      value: (f) => median(f.coldStartSeconds),
      digits: 2,
      target: '≤ 0.35',
    },
  ];
}

/**
 * Targets judge the waiting time of an operator's clients; throughput is compared on one core each.
 */
function waits(bare: Figures, placing: Placing, judged: boolean): Row[] {
  const plus = (of: Latency, index: 0 | 1) => (figures: Figures) =>
    added(figures, bare, placing, of, index);
  const where = { pinned: ' (one core)', free: ' (not pinned)' }[placing];
  const row = (label: string, value: Row['value'], digits: number, target = ''): Row => ({
    label: `${label}${where}`,
    value,
    digits,
    target,
  });
  const [middle, tail] = judged ? ['≤ 0.5', '≤ 3'] : [];
  return [
    row(
      'requests/s, 50 connections',
      (f) => median(f.waits[placing].requestsPerSecond),
      0,
      judged ? '' : '≥ 8 × the best in Go',
    ),
    row('added ms to the first chunk, p50', plus(firstChunk, 0), 2, middle),
    row('added ms to the first chunk, p99', plus(firstChunk, 1), 2, tail),
    row('added ms to a chunk, p99', plus(chunkLate, 1), 2),
    row(
      'event loop late at 3,000/s, ms, p99',
      (f) => median(f.waits[placing].at[3000].told.map(({ eventLoopMs }) => eventLoopMs)),
      1,
    ),
  ];
}

/** A Markdown table: figures, then Tollgate's as a multiple of nginx's. */
export function table(columns: readonly Column[], bare: Figures): string {
  const [nginx, ours] = ['nginx', 'Tollgate'].map((name) =>
    columns.find((column) => column.name === name),
  );
  const head = [
    '',
    ...columns.map((column) => `${column.name} ${column.version}`.trim()),
    'Tollgate ÷ nginx',
    'target',
  ];
  const lines = rows(bare).map((row) => {
    const values = columns.map((column) => shown(row.value(column.figures), row.digits));
    return [row.label, ...values, ratio(row, ours, nginx), row.target];
  });
  return markdownTable(head, lines);
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
  const head = [
    'CPU µs per small chat',
    'main thread, own',
    'main thread, kernel',
    'busiest other thread',
    'all others',
  ];
  const lines = columns.map(({ name, figures }) => {
    const { user, system, second, rest } = middle(figures.breakdown);
    return [name, ...[user, system, second, rest].map((part) => part.toFixed(1))];
  });
  return markdownTable(head, lines);
}

export function machine(): string {
  const [first] = cpus();
  const where = pinned
    ? 'What is measured runs pinned to the first core, vendors and load on the others'
    : 'Nothing is pinned, since there is no taskset or one core only';
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}, ${process.platform}. ${where}. Closed loops: ${closedLoop}.`;
}
