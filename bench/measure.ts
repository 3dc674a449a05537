import type { Contender, Target } from './contender.ts';
import { loop, type Paced, pace, type Percentiles, saturate } from './load.ts';
import { cpuMicroseconds, memoryMb, type Started } from './process.ts';
import { burstChunks, type Kind, type Vendors } from './vendor.ts';

export const connections = 50;
const burstConnections = 20;
/** Streams started each second, each a second long: as many are open at any time. Started at even intervals, not all at once. */
const pacedStreams = 100;

/** One contender's figures, one entry a round; medians are taken at the end. */
export interface Figures {
  readonly cpuPerRequest: number[];
  readonly requestsPerSecond: number[];
  readonly cpuPerBurstChunk: number[];
  readonly cpuPerPacedChunk: number[];
  readonly memoryMb: number[];
  readonly coldStartSeconds: number[];
  readonly halfLoad: Percentiles[];
  readonly firstChunk: Percentiles[];
  readonly chunkLate: Percentiles[];
  errors: number;
  /** 200s that load generators saw to their end. */
  answered: number;
}

export function noFigures(): Figures {
  return {
    cpuPerRequest: [],
    requestsPerSecond: [],
    cpuPerBurstChunk: [],
    cpuPerPacedChunk: [],
    memoryMb: [],
    coldStartSeconds: [],
    halfLoad: [],
    firstChunk: [],
    chunkLate: [],
    errors: 0,
    answered: 0,
  };
}

export interface Bench {
  readonly folder: string;
  readonly vendors: Vendors;
  readonly seconds: number;
}

/** One round for one contender, which is running and warm. */
export async function measureRound(bench: Bench, contender: Contender, started: Started, figures: Figures): Promise<void> {
  await measureWhole(bench, targetOf(contender, 'whole'), started, figures);
  await measureBurst(bench, targetOf(contender, 'burst'), started, figures);
  const paced = contender.target('paced');
  if (paced !== undefined) await measurePaced(bench, paced, started, figures);
  figures.memoryMb.push(memoryMb(started.pid));
}

async function measureWhole(bench: Bench, target: Target, started: Started, figures: Figures): Promise<void> {
  const before = cpuMicroseconds(started.pid);
  const answered = await saturate(bench.folder, target, { connections, seconds: bench.seconds });
  figures.cpuPerRequest.push((cpuMicroseconds(started.pid) - before) / answered.requests);
  figures.requestsPerSecond.push(answered.requests / answered.seconds);
  keep(figures, answered);
}

async function measureBurst(bench: Bench, target: Target, started: Started, figures: Figures): Promise<void> {
  const before = cpuMicroseconds(started.pid);
  const answered = await saturate(bench.folder, target, { connections: burstConnections, seconds: bench.seconds });
  figures.cpuPerBurstChunk.push((cpuMicroseconds(started.pid) - before) / (answered.requests * burstChunks));
  keep(figures, answered);
}

/** Chunks are counted where they are made, so that streams that the end of the run cut are counted too. */
async function measurePaced(bench: Bench, target: Target, started: Started, figures: Figures): Promise<void> {
  const cpu = cpuMicroseconds(started.pid);
  const chunks = await bench.vendors.pacedChunksSent();
  const paced = await pacedRun(bench, target, { connections: 2 * pacedStreams, seconds: bench.seconds, rate: pacedStreams });
  figures.cpuPerPacedChunk.push((cpuMicroseconds(started.pid) - cpu) / ((await bench.vendors.pacedChunksSent()) - chunks));
  figures.firstChunk.push(paced.firstMs);
  figures.chunkLate.push(paced.lateMs);
  keep(figures, paced);
}

/** Whole answers at a fixed rate: what a client waits when the contender is not at its limit. */
export async function measureLatency(bench: Bench, target: Target, rate: number, figures: Figures): Promise<void> {
  if (bench.vendors.pace === undefined) return;
  const paced = await pacedRun(bench, target, { connections: 100, seconds: bench.seconds, rate });
  figures.halfLoad.push(paced.wholeMs);
  keep(figures, paced);
}

/** First chunks and lateness with nothing in between. */
export async function measureDirectStream(bench: Bench, target: Target, figures: Figures): Promise<void> {
  const paced = await pacedRun(bench, target, { connections: 2 * pacedStreams, seconds: bench.seconds, rate: pacedStreams });
  figures.firstChunk.push(paced.firstMs);
  figures.chunkLate.push(paced.lateMs);
}

function pacedRun(bench: Bench, target: Target, load: { connections: number; seconds: number; rate: number }): Promise<Paced> {
  if (bench.vendors.pace === undefined) throw new Error('paced load needs Go');
  return pace(bench.folder, bench.vendors.pace, target, load);
}

export const openStreams = 5000;

/** Many streams at once, a chunk a second each: the memory they take at most, and the latest chunk. */
export async function measureOpenStreams(
  bench: Bench,
  target: Target,
  started: Started | undefined,
): Promise<{ memoryMb: number; lateMs: number }> {
  let peakMb = 0;
  const watch = setInterval(() => {
    if (started !== undefined) peakMb = Math.max(peakMb, memoryMb(started.pid));
  }, 200);
  const paced = await pacedRun(bench, target, { connections: openStreams, seconds: 8, rate: openStreams / 5 });
  clearInterval(watch);
  if (paced.errors > 0) throw new Error(`${paced.errors} of ${paced.requests + paced.errors} open streams failed: ${started?.tail()}`);
  return { memoryMb: peakMb, lateMs: paced.lateMs[2] ?? 0 };
}

/** From the start of the process to its first 200. */
export async function measureColdStart(contender: Contender, figures: Figures): Promise<void> {
  const target = targetOf(contender, 'whole');
  const startedAt = performance.now();
  const started = await contender.start();
  await firstAnswer(target, started);
  figures.coldStartSeconds.push((performance.now() - startedAt) / 1000);
  await started.stop();
}

export async function firstAnswer(target: Target, started: Started): Promise<void> {
  const until = performance.now() + 30_000;
  for (;;) {
    const answered = await loop(target, 1, { requests: 1 }).catch(() => undefined);
    if (answered?.requests === 1) return;
    if (performance.now() > until) throw new Error(`no answer from ${target.url}: ${started.tail()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

export function targetOf(contender: Pick<Contender, 'name' | 'target'>, kind: Kind): Target {
  const target = contender.target(kind);
  if (target === undefined) throw new Error(`${contender.name} has no ${kind}`);
  return target;
}

function keep(figures: Figures, answered: { readonly requests: number; readonly errors: number }): void {
  figures.answered += answered.requests;
  figures.errors += answered.errors;
}
