import type { Contender, Target } from './contender.ts';
import { loop, type Paced, pace, type Percentiles, saturate } from './load.ts';
import { cpuMicroseconds, memoryMb, type Started, threads } from './process.ts';
import type { Runs } from './published.ts';
import { burstChunks, type Kind, type Vendors } from './vendor.ts';

export const connections = 50;
const burstConnections = 20;
/** Streams started each second, each a second long: as many are open at any time. Started at even intervals, not all at once. */
const pacedStreams = 100;

/** Where a process spends the processor time of a request or chunk, in µs: its main thread, the busiest of the others, and the rest. */
export interface Breakdown {
  readonly user: number;
  readonly system: number;
  readonly second: number;
  readonly rest: number;
}

/** One contender's figures, one entry a round; medians are taken at the end. */
export interface Figures {
  readonly cpuPerRequest: number[];
  readonly requestsPerSecond: number[];
  readonly cpuPerBurstChunk: number[];
  readonly cpuPerPacedChunk: number[];
  /** Anthropic's chunks, which a gateway makes OpenAI's of, and a proxy does not. */
  readonly cpuPerTranslatedChunk: number[];
  readonly breakdown: Breakdown[];
  /** The same for a chunk, passed on and translated. */
  readonly chunkBreakdown: Breakdown[];
  readonly translatedBreakdown: Breakdown[];
  /** How late the client itself was. */
  readonly lag: Percentiles[];
  /** Of the process's event loop at half load, by its own metrics: p99 in ms. */
  readonly eventLoop: number[];
  readonly published: Runs;
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
    cpuPerTranslatedChunk: [],
    breakdown: [],
    chunkBreakdown: [],
    translatedBreakdown: [],
    lag: [],
    eventLoop: [],
    published: new Map(),
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
  const translated = contender.target('messages');
  if (translated !== undefined) {
    const { each, breakdown } = await pacedCost(bench, translated, started, figures);
    figures.cpuPerTranslatedChunk.push(each);
    figures.translatedBreakdown.push(breakdown);
  }
  figures.memoryMb.push(memoryMb(started.pid));
}

async function measureWhole(bench: Bench, target: Target, started: Started, figures: Figures): Promise<void> {
  const before = cpuMicroseconds(started.pid);
  const spent = stopwatch(started.pid);
  const answered = await saturate(bench.folder, target, { connections, seconds: bench.seconds });
  const cpu = cpuMicroseconds(started.pid) - before;
  figures.cpuPerRequest.push(cpu / answered.requests);
  figures.requestsPerSecond.push(answered.requests / answered.seconds);
  figures.breakdown.push(spent(cpu, answered.requests));
  keep(figures, answered);
}

/** Takes the processor time that threads have spent from now on apart: given that of the whole process, and among how many it is divided. */
function stopwatch(pid: number): (all: number, units: number) => Breakdown {
  const before = new Map(threads(pid).map((thread) => [thread.id, thread]));
  return (all, units) => {
    const spent = threads(pid).map(({ id, amount, system }) => {
      const earlier = before.get(id);
      return { id, amount: amount - (earlier?.amount ?? 0), system: system - (earlier?.system ?? 0) };
    });
    const main = spent.find(({ id }) => id === pid) ?? { amount: 0, system: 0 };
    const second = Math.max(0, ...spent.filter(({ id }) => id !== pid).map(({ amount }) => amount));
    return {
      user: (main.amount - main.system) / units,
      system: main.system / units,
      second: second / units,
      rest: Math.max(0, all - main.amount - second) / units,
    };
  };
}

async function measureBurst(bench: Bench, target: Target, started: Started, figures: Figures): Promise<void> {
  const before = cpuMicroseconds(started.pid);
  const answered = await saturate(bench.folder, target, { connections: burstConnections, seconds: bench.seconds });
  figures.cpuPerBurstChunk.push((cpuMicroseconds(started.pid) - before) / (answered.requests * burstChunks));
  keep(figures, answered);
}

async function measurePaced(bench: Bench, target: Target, started: Started, figures: Figures): Promise<void> {
  const { each, breakdown, paced } = await pacedCost(bench, target, started, figures);
  figures.cpuPerPacedChunk.push(each);
  figures.chunkBreakdown.push(breakdown);
  figures.firstChunk.push(paced.firstMs);
  figures.chunkLate.push(paced.lateMs);
}

/** Chunks are counted where they are made, so that streams that the end of the run cut are counted too. */
async function pacedCost(
  bench: Bench,
  target: Target,
  started: Started,
  figures: Figures,
): Promise<{ each: number; breakdown: Breakdown; paced: Paced }> {
  const before = cpuMicroseconds(started.pid);
  const spent = stopwatch(started.pid);
  const chunksBefore = await bench.vendors.chunksSent();
  const paced = await pacedRun(bench, target, { connections: 2 * pacedStreams, seconds: bench.seconds, rate: pacedStreams });
  const cpu = cpuMicroseconds(started.pid) - before;
  const chunks = (await bench.vendors.chunksSent()) - chunksBefore;
  figures.lag.push(paced.lagMs);
  keep(figures, paced);
  return { each: cpu / chunks, breakdown: spent(cpu, chunks), paced };
}

/** Whole answers at a fixed rate: what a client waits when the contender is not at its limit. */
export async function measureLatency(bench: Bench, target: Target, rate: number, figures: Figures): Promise<void> {
  if (bench.vendors.pace === undefined) return;
  const paced = await pacedRun(bench, target, { connections: 100, seconds: bench.seconds, rate });
  figures.halfLoad.push(paced.wholeMs);
  figures.lag.push(paced.lagMs);
  keep(figures, paced);
}

/** First chunks and lateness with nothing in between. */
export async function measureDirectStream(bench: Bench, target: Target, figures: Figures): Promise<void> {
  const paced = await pacedRun(bench, target, { connections: 2 * pacedStreams, seconds: bench.seconds, rate: pacedStreams });
  figures.firstChunk.push(paced.firstMs);
  figures.chunkLate.push(paced.lateMs);
}

function pacedRun(
  bench: Bench,
  target: Target,
  load: { connections: number; seconds: number; rate: number; patience?: number },
): Promise<Paced> {
  if (bench.vendors.pace === undefined) throw new Error('paced load needs Go');
  return pace(bench.folder, bench.vendors.pace, target, load);
}

export const openStreams = 5000;

export interface OpenStreams {
  readonly beforeMb: number;
  /** At most. */
  readonly memoryMb: number;
  readonly lateMs: number;
  /** Streams that did not end as they should. */
  readonly failed: number;
}

/** Many streams at once, a chunk a second each: the memory they take at most, and the latest chunk. */
export async function measureOpenStreams(bench: Bench, target: Target, started: Started | undefined): Promise<OpenStreams> {
  const beforeMb = started === undefined ? 0 : memoryMb(started.pid);
  let peakMb = 0;
  const watch = setInterval(() => {
    if (started !== undefined) peakMb = Math.max(peakMb, memoryMb(started.pid));
  }, 200);
  const paced = await pacedRun(bench, target, { connections: openStreams, seconds: 8, rate: openStreams / 5, patience: 60 });
  clearInterval(watch);
  return { beforeMb, memoryMb: peakMb, lateMs: paced.lateMs[2] ?? 0, failed: paced.errors };
}

/** Starts it, and notes how long that took, to its first 200. */
export async function startCold(contender: Contender, figures: Figures): Promise<Started> {
  const target = targetOf(contender, 'whole');
  const startedAt = performance.now();
  const started = await contender.start();
  try {
    await firstAnswer(target, started);
  } catch (error) {
    await started.stop();
    throw error;
  }
  figures.coldStartSeconds.push((performance.now() - startedAt) / 1000);
  return started;
}

export async function firstAnswer(target: Target, started: Started): Promise<void> {
  const until = performance.now() + 120_000;
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

export function keep(figures: Figures, answered: { readonly requests: number; readonly errors: number }): void {
  figures.answered += answered.requests;
  figures.errors += answered.errors;
}
