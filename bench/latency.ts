import { type Contender, type Target, targetOf } from './contender.ts';
import { type AtRate, type Figures, keep, keepPaced, type Placing, rates } from './figures.ts';
import { type Paced, pace, saturate } from './load.ts';
import { type Core, place, type Started } from './process.ts';
import { median } from './report.ts';
import type { Told } from './tollgate.ts';
import type { Vendors } from './vendor.ts';

export interface Bench {
  readonly folder: string;
  readonly vendors: Vendors;
  readonly seconds: number;
}

/** Connections of a closed loop. */
export const connections = 50;
/**
 * Streams started each second, each a second long: as many are open at any time. Started at even
 * intervals, not all at once.
 */
const pacedStreams = 100;
/** A run has at least so many seconds of streams: of two hundred, the worst two decide the p99. */
const streamSecondsMin = 8;
export const streamSecondsOf = (seconds: number): number => Math.max(seconds, streamSecondsMin);
/**
 * Seconds of the same load before counting: new connections, to the gateway and behind it, are not
 * part of a request's latency.
 */
const warmSeconds = 1;

/** The core of the clients. */
const coreOf = { pinned: 'around', free: 'any' } as const satisfies Record<Placing, Core>;

/** Runs `work` with all processes free of pinning. */
export async function free<T>(
  { vendors }: Bench,
  started: Started | undefined,
  use: () => Promise<T>,
): Promise<T> {
  const move = (measured: Core, around: Core) => {
    if (started !== undefined) place(measured, started.pid);
    for (const pid of vendors.pids) place(around, pid);
  };
  move('any', 'any');
  try {
    return await use();
  } finally {
    move('measured', 'around');
  }
}

/**
 * Whole answers at each of the fixed rates. A contender that does less at most in this placing is
 * not asked for a rate. `tells` reads the metrics of a contender that has its own.
 */
export async function measureRates(
  bench: Bench,
  contender: Pick<Contender, 'name' | 'target'>,
  placing: Placing,
  figures: Figures,
  tells?: () => Promise<Told>,
): Promise<void> {
  if (bench.vendors.pace === undefined) return;
  const waits = figures.waits[placing];
  const most = median(waits.requestsPerSecond) ?? Number.POSITIVE_INFINITY;
  for (const rate of rates) {
    if (most < rate) return;
    const before = await tells?.();
    const load = { connections: 100, rate, core: coreOf[placing] };
    const paced = await pacedRun(bench, targetOf(contender, 'whole'), load);
    const after = await tells?.();
    keepRate(waits.at[rate], paced, bench.seconds);
    if (before && after) waits.at[rate].told.push(between(before, after));
    keepPaced(figures, paced);
  }
}

function keepRate(at: AtRate, paced: Paced, seconds: number): void {
  at.wholeMs.push(paced.wholeMs);
  at.answersPerSecond.push(paced.within / seconds);
  at.errors.push(paced.errors);
}

const between = (before: Told, { eventLoopMs, charges, commits }: Told): Told => ({
  eventLoopMs,
  charges: charges - before.charges,
  commits: commits - before.commits,
});

/** The maximum in the present placing. */
export async function measureMost(
  bench: Bench,
  target: Target,
  placing: Placing,
  figures: Figures,
): Promise<void> {
  const answered = await saturate(bench.folder, target, {
    connections,
    seconds: bench.seconds,
    core: coreOf[placing],
  });
  figures.waits[placing].requestsPerSecond.push(answered.requests / answered.seconds);
  keep(figures, answered);
}

/** Paced streams: time to the first chunk, and the delay of chunks. */
export async function measureStreams(
  bench: Bench,
  contender: Pick<Contender, 'target'>,
  placing: Placing,
  figures: Figures,
): Promise<void> {
  const target = contender.target('paced');
  if (target === undefined) return;
  const paced = await streamsRun(bench, target, placing);
  figures.waits[placing].firstChunk.push(paced.firstMs);
  figures.waits[placing].chunkLate.push(paced.lateMs);
  keepPaced(figures, paced);
}

export function streamsRun(bench: Bench, target: Target, placing: Placing): Promise<Paced> {
  return pacedRun(bench, target, {
    connections: 2 * pacedStreams,
    rate: pacedStreams,
    core: coreOf[placing],
    seconds: streamSecondsOf(bench.seconds),
  });
}

function pacedRun(
  bench: Bench,
  target: Target,
  load: {
    readonly connections: number;
    readonly rate: number;
    readonly core: Core;
    readonly seconds?: number;
  },
): Promise<Paced> {
  if (bench.vendors.pace === undefined) throw new Error('paced load needs Go');
  return pace(bench.folder, bench.vendors.pace, target, {
    seconds: bench.seconds,
    ...load,
    warm: warmSeconds,
  });
}
