import { type Contender, type Target, targetOf } from './contender.ts';
import { type Breakdown, type Figures, keep, keepPaced } from './figures.ts';
import { type Bench, connections, free, streamsRun } from './latency.ts';
import { loop, type Paced, pace, saturate } from './load.ts';
import { cpuMicroseconds, memoryMb, type Started, threads } from './process.ts';
import { burstChunks } from './vendor.ts';

const burstConnections = 20;

/** One round for one contender, which is running and warm. */
export async function measureRound(
  bench: Bench,
  contender: Contender,
  started: Started,
  figures: Figures,
): Promise<void> {
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

async function measureWhole(
  bench: Bench,
  target: Target,
  started: Started,
  figures: Figures,
): Promise<void> {
  const before = cpuMicroseconds(started.pid);
  const spent = stopwatch(started.pid);
  const answered = await saturate(bench.folder, target, { connections, seconds: bench.seconds });
  const cpu = cpuMicroseconds(started.pid) - before;
  figures.cpuPerRequest.push(cpu / answered.requests);
  figures.waits.pinned.requestsPerSecond.push(answered.requests / answered.seconds);
  figures.breakdown.push(spent(cpu, answered.requests));
  keep(figures, answered);
}

/**
 * Splits processor time by threads from now on; takes the whole process's time and the number of
 * units.
 */
function stopwatch(pid: number): (all: number, units: number) => Breakdown {
  const before = new Map(threads(pid).map((thread) => [thread.id, thread]));
  return (all, units) => {
    const spent = threads(pid).map(({ id, amount, system }) => {
      const earlier = before.get(id);
      return {
        id,
        amount: amount - (earlier?.amount ?? 0),
        system: system - (earlier?.system ?? 0),
      };
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

async function measureBurst(
  bench: Bench,
  target: Target,
  started: Started,
  figures: Figures,
): Promise<void> {
  const before = cpuMicroseconds(started.pid);
  const answered = await saturate(bench.folder, target, {
    connections: burstConnections,
    seconds: bench.seconds,
  });
  figures.cpuPerBurstChunk.push(
    (cpuMicroseconds(started.pid) - before) / (answered.requests * burstChunks),
  );
  keep(figures, answered);
}

async function measurePaced(
  bench: Bench,
  target: Target,
  started: Started,
  figures: Figures,
): Promise<void> {
  const { each, breakdown, paced } = await pacedCost(bench, target, started, figures);
  figures.cpuPerPacedChunk.push(each);
  figures.chunkBreakdown.push(breakdown);
  figures.waits.pinned.firstChunk.push(paced.firstMs);
  figures.waits.pinned.chunkLate.push(paced.lateMs);
}

/**
 * The vendor counts chunks: including those of the warm-up, whose processor time also counts, and
 * those of streams that the end of the run cut.
 */
async function pacedCost(
  bench: Bench,
  target: Target,
  started: Started,
  figures: Figures,
): Promise<{ each: number; breakdown: Breakdown; paced: Paced }> {
  const before = cpuMicroseconds(started.pid);
  const spent = stopwatch(started.pid);
  const chunksBefore = await bench.vendors.chunksSent();
  const paced = await streamsRun(bench, target, 'pinned');
  const cpu = cpuMicroseconds(started.pid) - before;
  const chunks = (await bench.vendors.chunksSent()) - chunksBefore;
  keepPaced(figures, paced);
  return { each: cpu / chunks, breakdown: spent(cpu, chunks), paced };
}

export const openStreams = 5000;

export interface OpenStreams {
  readonly beforeMb: number;
  /** At most. */
  readonly memoryMb: number;
  readonly lateMs: number;
  /** Streams without a proper end. */
  readonly failed: number;
}

/**
 * Many streams at once, a chunk a second each: their peak memory, and the largest delay of a chunk.
 * Nothing is pinned; a new process serves some streams before.
 */
export async function measureOpenStreams(
  bench: Bench,
  contender: Pick<Contender, 'target'>,
  started?: Started,
): Promise<OpenStreams | undefined> {
  const [target, before] = [contender.target('open'), contender.target('paced')];
  const command = bench.vendors.pace;
  if (target === undefined || before === undefined || command === undefined) return undefined;
  return free(bench, started, async () => {
    await streamsRun(bench, before, 'free');
    const beforeMb = started === undefined ? 0 : memoryMb(started.pid);
    let peakMb = beforeMb;
    const watch = setInterval(() => {
      if (started !== undefined) peakMb = Math.max(peakMb, memoryMb(started.pid));
    }, 200);
    const load = {
      connections: openStreams,
      seconds: 8,
      rate: openStreams / 5,
      patience: 60,
      core: 'any',
    } as const;
    const paced = await pace(bench.folder, command, target, load);
    clearInterval(watch);
    return { beforeMb, memoryMb: peakMb, lateMs: paced.lateMs[2] ?? 0, failed: paced.errors };
  });
}

/** Starts it, and records the time to its first 200. */
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
    if (performance.now() > until)
      throw new Error(`no answer from ${target.url}: ${started.tail()}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
