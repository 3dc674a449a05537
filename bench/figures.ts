import type { Paced, Percentiles } from './load.ts';
import type { Runs } from './published.ts';
import type { Told } from './tollgate.ts';

/**
 * The cores of all processes while clients waited. `pinned`: the measured process on one core, load
 * and vendors on the others, as for processor time. `free`: each thread where the kernel puts it,
 * as an operator runs it, load and vendors among them.
 */
export type Placing = 'pinned' | 'free';

/** Requests a second at which latencies are compared, the same for every contender. */
export const rates = [100, 1000, 3000, 6000] as const;
export type Rate = (typeof rates)[number];

/** Whole answers at a rate, one entry a round. */
export interface AtRate {
  readonly wholeMs: Percentiles[];
  readonly answersPerSecond: number[];
  /** Requests without a 200. */
  readonly errors: number[];
  /** The gateway's own metrics meanwhile. */
  readonly told: Told[];
}

/** The waiting times of clients, one entry a round. */
export interface Waits {
  /** The maximum in this placing. */
  readonly requestsPerSecond: number[];
  readonly at: Readonly<Record<Rate, AtRate>>;
  readonly firstChunk: Percentiles[];
  readonly chunkLate: Percentiles[];
}

const noRate = (): AtRate => ({ wholeMs: [], answersPerSecond: [], errors: [], told: [] });

const noWaits = (): Waits => ({
  requestsPerSecond: [],
  at: { 100: noRate(), 1000: noRate(), 3000: noRate(), 6000: noRate() },
  firstChunk: [],
  chunkLate: [],
});

/**
 * The processor time of a request or chunk in µs: main thread, the busiest other thread, and the
 * rest.
 */
export interface Breakdown {
  readonly user: number;
  readonly system: number;
  readonly second: number;
  readonly rest: number;
}

/** One contender's figures, one entry a round; medians are taken at the end. */
export interface Figures {
  readonly cpuPerRequest: number[];
  readonly cpuPerBurstChunk: number[];
  readonly cpuPerPacedChunk: number[];
  /** Anthropic's chunks, which a gateway translates to OpenAI's, and a proxy does not. */
  readonly cpuPerTranslatedChunk: number[];
  readonly breakdown: Breakdown[];
  /** The same for a chunk, passed through and translated. */
  readonly chunkBreakdown: Breakdown[];
  readonly translatedBreakdown: Breakdown[];
  /** The delay of the client itself. */
  readonly lag: Percentiles[];
  readonly published: Runs;
  readonly memoryMb: number[];
  readonly coldStartSeconds: number[];
  readonly waits: Readonly<Record<Placing, Waits>>;
  errors: number;
  /** Responses with status 200 that load generators read to the end. */
  answered: number;
}

export function noFigures(): Figures {
  return {
    cpuPerRequest: [],
    cpuPerBurstChunk: [],
    cpuPerPacedChunk: [],
    cpuPerTranslatedChunk: [],
    breakdown: [],
    chunkBreakdown: [],
    translatedBreakdown: [],
    lag: [],
    published: new Map(),
    memoryMb: [],
    coldStartSeconds: [],
    waits: { pinned: noWaits(), free: noWaits() },
    errors: 0,
    answered: 0,
  };
}

export function keep(
  figures: Figures,
  answered: { readonly requests: number; readonly errors: number },
): void {
  figures.answered += answered.requests;
  figures.errors += answered.errors;
}

/** The gateway also charged the responses of the warm-up. */
export function keepPaced(figures: Figures, paced: Paced): void {
  figures.lag.push(paced.lagMs);
  keep(figures, { requests: paced.all, errors: paced.errors });
}
