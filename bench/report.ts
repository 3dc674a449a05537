import { cpus } from 'node:os';
import type { Figures } from './measure.ts';
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

/** The rows; latencies are what the contender adds to the vendor itself. */
function rows(direct: Figures): Row[] {
  const added = (of: (figures: Figures) => readonly Percentiles[], index: number) => (figures: Figures) => {
    const [with_, without] = [share(of(figures), index), share(of(direct), index)];
    return with_ === undefined || without === undefined ? undefined : Math.max(0, with_ - without);
  };
  return [
    { label: 'CPU µs per small chat request', value: (f) => median(f.cpuPerRequest), digits: 1, target: '≤ 5 × nginx, ≤ 1/10 of Portkey' },
    {
      label: 'CPU µs per chunk, 100 streams, one chunk each 10 ms',
      value: (f) => median(f.cpuPerPacedChunk),
      digits: 1,
      target: '≤ 2.2 × nginx',
    },
    { label: 'CPU µs per chunk, streams that are there at once', value: (f) => median(f.cpuPerBurstChunk), digits: 2, target: '' },
    { label: 'requests/s, 50 connections', value: (f) => median(f.requestsPerSecond), digits: 0, target: '≥ 6 × Portkey' },
    { label: 'added ms at half load, p50', value: added((f) => f.halfLoad, 0), digits: 2, target: '≤ 0.5' },
    { label: 'added ms at half load, p99', value: added((f) => f.halfLoad, 1), digits: 2, target: '≤ 5' },
    { label: 'added ms to the first chunk, p50', value: added((f) => f.firstChunk, 0), digits: 2, target: '≤ 0.5' },
    { label: 'added ms to the first chunk, p99', value: added((f) => f.firstChunk, 1), digits: 2, target: '≤ 5' },
    { label: 'added ms to a chunk, p99', value: added((f) => f.chunkLate, 1), digits: 2, target: '' },
    { label: 'memory after the load, MB', value: (f) => median(f.memoryMb), digits: 0, target: '' },
    { label: 'cold start to the first answer, s', value: (f) => median(f.coldStartSeconds), digits: 2, target: '≤ 0.7' },
  ];
}

/** A Markdown table: figures, then each as a multiple of nginx's, then of Tollgate's to Portkey's. */
export function table(columns: readonly Column[], direct: Figures): string {
  const [nginx, ours, portkey] = ['nginx', 'Tollgate', 'Portkey'].map((name) => columns.find((column) => column.name === name));
  const head = [
    '',
    ...columns.map((column) => `${column.name} ${column.version}`.trim()),
    'Tollgate ÷ nginx',
    'Tollgate ÷ Portkey',
    'target',
  ];
  const lines = rows(direct).map((row) => {
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

export function machine(): string {
  const [first] = cpus();
  const where = pinned
    ? 'What is measured runs pinned to the first core, vendors and load on the others'
    : 'Nothing is pinned, since there is no taskset or one core only';
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}, ${process.platform}. ${where}. Closed loops: ${closedLoop}.`;
}
