import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { End } from './closing.ts';
import type { Breakdown, Figures, Rate } from './figures.ts';
import type { Percentiles } from './load.ts';
import { openStreams } from './measure.ts';
import { atMost, wholeAt } from './rates.ts';
import { added, firstChunk, type Latency, median, middle } from './report.ts';
import type { Told } from './tollgate.ts';

/** The measurements that exist. */
export interface Measured {
  readonly ours: Figures;
  readonly nginx: Figures | undefined;
  /** A server on Node that does the same work in the shortest way that we know. */
  readonly floor: Figures | undefined;
  /** Other gateways that are written in Go. */
  readonly inGo: readonly Figures[];
  readonly bare: Figures;
  readonly open: End['open'];
  readonly openAtFloor: End['openAtFloor'];
  /** The time to store 4 KB on the disk, an entry a round. */
  readonly disk: readonly Percentiles[];
  readonly books: { readonly ok: boolean } | undefined;
}

interface Verdict {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  /** The same figure of the floor. */
  readonly floor?: string | undefined;
  /** 1: just met; 2: half as good as it should be. Undefined: not measured in this run. */
  readonly miss: number | undefined;
  /** The floor misses the target, too. */
  readonly beyond?: boolean;
  /** The page that shows it, when this run does not. */
  readonly shownBy?: string;
  /** Measurements that explain its cost. */
  readonly why?: string;
}

/** A target with an upper limit. `values`: Tollgate's, and the floor's. */
function most(
  what: string,
  limit: number,
  [value, floor]: readonly (number | undefined)[],
  unit: string,
  why: string | undefined = '',
): Verdict {
  return {
    what,
    target: `≤ ${limit}${unit}`,
    measured: shown(value, unit),
    floor: shown(floor, unit),
    miss: value === undefined ? undefined : value / limit,
    beyond: floor !== undefined && floor > limit,
    why,
  };
}

function least(
  what: string,
  limit: number,
  [value, floor]: readonly (number | undefined)[],
  unit: string,
  why: string | undefined = '',
): Verdict {
  return {
    what,
    target: `≥ ${limit.toLocaleString('en')}${unit}`,
    measured: shown(value, unit),
    floor: shown(floor, unit),
    miss: value === undefined ? undefined : limit / value,
    beyond: floor !== undefined && floor < limit,
    why,
  };
}

const shown = (value: number | undefined, unit: string): string =>
  value === undefined ? '–' : `${round(value)}${unit}`;

const round = (value: number) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined || other === 0 ? undefined : one / other;
}

/** Every target: whether it is met, by how much it is missed, and the measured causes. */
export function verdicts(measured: Measured): string {
  const all = [...cost(measured), ...latencies(measured), ...rest(measured)];
  const lines = all.map((verdict) => {
    const { what, target, measured: figure, floor = '–', miss, shownBy = '', why = '' } = verdict;
    const tooFar = verdict.beyond === true ? '; Node with duties misses it, too' : '';
    if (miss === undefined) return [what, target, figure, floor, 'not measured in this run', ''];
    return [
      what,
      target,
      figure,
      floor,
      `${miss <= 1 ? 'met' : `missed: ${miss.toFixed(2)} × the target${tooFar}`}${shownBy}`,
      miss <= 1 ? '' : why,
    ];
  });
  const head = [
    'what',
    'target',
    'measured',
    'Node with duties',
    'verdict',
    'what was measured of it',
  ];
  return [head, ['---', '---:', '---:', '---:', '---', '---'], ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

function cost({ ours, nginx, floor, inGo }: Measured): Verdict[] {
  const perNginx = (of: (figures: Figures) => readonly number[]) =>
    [ours, floor].map((figures) =>
      ratio(figures && median(of(figures)), nginx && median(of(nginx))),
    );
  const why = threadsSentence(ours.breakdown);
  return [
    most(
      'CPU per small chat ÷ nginx',
      4,
      perNginx(({ cpuPerRequest }) => cpuPerRequest),
      ' ×',
      why,
    ),
    most(
      'CPU per chunk, passed on, ÷ nginx',
      2,
      perNginx(({ cpuPerPacedChunk }) => cpuPerPacedChunk),
      ' ×',
      threadsSentence(ours.chunkBreakdown),
    ),
    most(
      'CPU per chunk, translated, ÷ nginx, which passes it on',
      2.6,
      perNginx(({ cpuPerTranslatedChunk }) => cpuPerTranslatedChunk),
      ' ×',
      threadsSentence(ours.translatedBreakdown),
    ),
    least(
      'requests/s ÷ the best of the gateways in Go, one core',
      8,
      [ours, floor].map((figures) => ratio(figures && mostOf(figures), best(inGo))),
      ' ×',
      why,
    ),
    {
      ...least(
        'requests/s, two workers instead of one',
        1.9,
        [figureOf(scalePage, workersRow)],
        ' ×',
      ),
      shownBy: shownOn(scalePage),
    },
  ];
}

const mostOf = (figures: Figures) => median(figures.waits.pinned.requestsPerSecond);

function best(all: readonly Figures[]): number | undefined {
  const each = all.flatMap((figures) => mostOf(figures) ?? []);
  return each.length === 0 ? undefined : Math.max(...each);
}

function threadsSentence(breakdowns: readonly Breakdown[]): string {
  const { user, system, second, rest } = middle(breakdowns);
  const µs = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} µs`;
  return `main thread ${µs(user)} and ${µs(system)} in the kernel, the busiest other thread ${µs(second)}, all others ${µs(rest)}`;
}

/** As an operator runs it, without pinning. */
function latencies(measured: Measured): Verdict[] {
  return [
    ...atRate(measured, 1000, 0.4, 3),
    ...atRate(measured, 3000, 0.8, 8),
    ...addedVerdicts(measured, 'added time to the first chunk', firstChunk, [0.5, 3], []),
  ];
}

function atRate(measured: Measured, rate: Rate, middle: number, tail: number): Verdict[] {
  const { ours, disk } = measured;
  const perSecond = rate.toLocaleString('en');
  const what = `added latency at ${perSecond}/s`;
  const most = atMost(ours, 'free', rate);
  if (most !== undefined)
    return [least(`answers/s when asked for ${perSecond}/s`, rate, [Math.min(most, rate - 1)], '')];
  const { told } = ours.waits.free.at[rate];
  const loop = median(told.map(({ eventLoopMs }) => eventLoopMs));
  const loopSays = loop === undefined ? [] : [`the event loop is ${round(loop)} ms late at p99`];
  const costs = [...commitSays(told, disk), ...loopSays];
  return addedVerdicts(measured, what, wholeAt(rate), [middle, tail], costs);
}

/** p50 and p99 of a latency, each with its limit. */
function addedVerdicts(
  { ours, nginx, floor, bare }: Measured,
  what: string,
  of: Latency,
  limits: readonly [number, number],
  costs: readonly string[],
): Verdict[] {
  return ([0, 1] as const).map((index) => {
    const proxy = nginx && added(nginx, bare, 'free', of, index);
    const pinned = added(ours, bare, 'pinned', of, index);
    const why = [
      ...(proxy === undefined ? [] : [`nginx adds ${round(proxy)} ms`]),
      ...costs,
      ...(pinned === undefined ? [] : [`all of it on one core: ${round(pinned)} ms`]),
    ];
    const name = `${what}, ${index === 0 ? 'p50' : 'p99'}`;
    const values = [ours, floor].map(
      (figures) => figures && added(figures, bare, 'free', of, index),
    );
    return most(name, limits[index], values, ' ms', why.join('; '));
  });
}

/** The last byte of a response waits for a durable commit, which many requests share. */
function commitSays(told: readonly Told[], disk: readonly Percentiles[]): string[] {
  const [p50, p99] = [0, 1].map((index) =>
    median(disk.flatMap((percentiles) => percentiles[index] ?? [])),
  );
  const shared = median(told.map(({ charges, commits }) => charges / commits));
  if (p50 === undefined || p99 === undefined) return [];
  const shares = shared === undefined ? '' : `, with ${shared.toFixed(1)} charges in each`;
  return [
    `the last byte waits for a durable commit${shares}: this disk alone takes ${round(p50)} ms (p99 ${round(p99)} ms) to keep 4 KB`,
  ];
}

function rest({ ours, floor, open, openAtFloor, books }: Measured): Verdict[] {
  const both = (of: (figures: Figures) => readonly number[]) =>
    [ours, floor].map((figures) => figures && median(of(figures)));
  return [
    most(
      'memory after the load',
      130,
      both(({ memoryMb }) => memoryMb),
      ' MB',
    ),
    most(
      'memory of 5,000 open streams',
      220,
      [open?.memoryMb, openAtFloor?.memoryMb],
      ' MB',
      open && memoryOf(open),
    ),
    most(
      'latest chunk of 5,000 open streams',
      50,
      [open, openAtFloor].map((one) => (one?.failed === 0 ? one.lateMs : one && Infinity)),
      ' ms',
      open && `${round(open.aloneMs)} ms without a gateway`,
    ),
    most(
      'cold start to the first answer',
      0.35,
      both(({ coldStartSeconds }) => coldStartSeconds),
      ' s',
    ),
    {
      what: 'answers 200 = records = charges, `check` ok',
      target: 'all',
      measured: books === undefined ? '–' : books.ok ? 'all' : 'THEY DO NOT AGREE',
      miss: books === undefined ? undefined : books.ok ? 1 : 2,
    },
    {
      ...least(
        'settlements/s on PostgreSQL, one busy account, 4 processes',
        40_000,
        [figureOf(ledgerPage, settlementsRow)],
        '',
      ),
      shownBy: shownOn(ledgerPage),
    },
    {
      what: 'a burst of 100 answers on 1.3 × what they cost',
      target: 'none refused or cut',
      measured: 'none',
      miss: 1,
      shownBy: ', [in a test](../../src/ledger/shares.test.ts)',
    },
  ];
}

function memoryOf({ memoryMb, beforeMb }: NonNullable<End['open']>): string {
  return `${round(((memoryMb - beforeMb) * 1024) / openStreams)} KB a stream, ${round(beforeMb)} MB before the first`;
}

const shownOn = (page: string): string => `, [on its own page](${page})`;
const ledgerPage = 'ledger.md';
const settlementsRow = /\| PostgreSQL \| 4 × 500 \| 1 \| \**([\d,]+)/;
const scalePage = 'scale.md';
const workersRow = /\| workers on SQLite \| 2 \| 200 \|[^*\n]*\*\*([\d.]+)\*\*/;

/** A figure from the page of another benchmark. */
function figureOf(page: string, row: RegExp): number | undefined {
  const figure = row.exec(
    readFileSync(join(import.meta.dirname, '../docs/benchmarks', page), 'utf8'),
  )?.[1];
  return figure === undefined ? undefined : Number(figure.replaceAll(',', ''));
}
