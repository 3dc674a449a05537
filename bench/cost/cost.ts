import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { type Choir, choir } from './client.ts';
import type { Prompter } from './vendor.ts';

/** A measured process, with the means to send it requests. */
export interface Payer {
  readonly pid: number;
  readonly port: number;
  /** The keys of requests, used in turn. */
  readonly keys: readonly string[];
  /** A vendor of its own, so that only its streams get chunks in its turn. */
  readonly vendor: Prompter;
}

const words = 'A gate that asks for its toll before it opens, and gives back what was too much. ';
/** About 1.5 KB. They never change, so that figures of long ago can be compared. */
const messages = [
  { role: 'system', content: 'You are a helpful assistant. Answer in one sentence.' },
  { role: 'user', content: words.repeat(8).trim() },
  { role: 'assistant', content: words.repeat(4).trim() },
  { role: 'user', content: words.repeat(4).trim() },
];
const voices = 16;
const volleys = 24;
const requestsEach = voices * volleys;
/** Open streams. All get a chunk at the same instant. */
const streams = 64;
/** Chunks of each stream that make a slice, and slices of a round. */
const beats = 5;
const chunkSlices = 5;
const chunksEach = streams * beats;

/** Nanoseconds of processor time, one figure per slice. */
export interface Slices {
  readonly request: number[];
  readonly chunk: number[];
}

export interface Taken extends Slices {
  /** The time until each whole response, ms. */
  readonly waits: readonly number[];
}

/** The cost of a request and of a streamed chunk, as multiples of another build's cost. */
export interface Cost {
  readonly request: number;
  readonly chunk: number;
}

/**
 * Noise only ever adds: the figure is the lower quartile of the slices, so that it comes from
 * slices in which the machine had time, and no single slice decides.
 */
const quarter = 0.25;

export function costOf(own: Slices, base: Slices): Cost {
  return {
    request: low(own.request) / low(base.request),
    chunk: low(own.chunk) / low(base.chunk),
  };
}

export function low(figures: readonly number[]): number {
  const found = [...figures].sort((a, b) => a - b)[Math.floor(figures.length * quarter)];
  if (found === undefined) throw new Error('nothing was measured');
  return found;
}

/**
 * Slices of all payers at once: each gets a burst in turn, a few milliseconds each, so that other
 * load on the machine affects all of them.
 */
export async function takeSlices(
  payers: readonly Payer[],
  rounds: number,
  warmRounds: number,
): Promise<Taken[]> {
  const all = await Promise.all(
    payers.map(
      async (payer): Promise<Paying> => ({
        payer,
        choir: await choir(payer.port, voices),
        streams: await choir(payer.port, streams),
        asked: 0,
        words: 0,
        slices: { request: [], chunk: [] },
      }),
    ),
  );
  try {
    for (let round = -warmRounds; round < rounds; round++) {
      const requests = await costsOf(all, () => ask(all));
      const chunks: number[][] = [];
      await openStreams(all);
      for (let slice = 0; slice < chunkSlices; slice++)
        chunks.push(await costsOf(all, () => speak(all)));
      for (const { payer } of all) payer.vendor.finish();
      for (const { streams } of all) await streams.ended();
      if (round < 0) continue;
      for (const [n, { slices }] of all.entries()) {
        slices.request.push((requests[n] ?? 0) / requestsEach);
        slices.chunk.push(...chunks.map((costs) => (costs[n] ?? 0) / chunksEach));
      }
    }
  } finally {
    for (const { choir, streams } of all) for (const one of [choir, streams]) one.close();
  }
  return all.map(({ slices, choir }) => ({
    ...slices,
    waits: choir.waits.slice(warmRounds * requestsEach),
  }));
}

interface Paying {
  readonly payer: Payer;
  readonly choir: Choir;
  readonly streams: Choir;
  /** Requests so far. */
  asked: number;
  /** Words received on the open streams. */
  words: number;
  readonly slices: Slices;
}

/** Processor time of each during `work`, ns. Writes after the last response belong to it. */
async function costsOf(all: readonly Paying[], work: () => Promise<void>): Promise<number[]> {
  const before = all.map(({ payer }) => processorNs(payer.pid));
  await work();
  await wait(3);
  return all.map(({ payer }, n) => processorNs(payer.pid) - (before[n] ?? 0));
}

async function ask(all: readonly Paying[]): Promise<void> {
  for (let volley = 0; volley < volleys; volley++)
    for (const one of all) await one.choir.ask(() => nextRequest(one, whole));
}

async function openStreams(all: readonly Paying[]): Promise<void> {
  for (const one of all) {
    one.words = 0;
    one.streams.begin(() => nextRequest(one, streamed));
  }
  while (all.some(({ payer }) => payer.vendor.open() < streams)) await wait(0);
}

/**
 * A chunk to all streams at once, several times. How many of them a process finds together when it
 * wakes is otherwise chance, and changes more than what is measured: so the process is stopped
 * until all are there.
 */
async function speak(all: readonly Paying[]): Promise<void> {
  for (let beat = 0; beat < beats; beat++) {
    for (const one of all) {
      const { vendor, pid } = one.payer;
      process.kill(pid, 'SIGSTOP');
      vendor.say();
      process.kill(pid, 'SIGCONT');
      await one.streams.words((one.words += streams));
    }
  }
}

const bodyOf = (more: object): string =>
  JSON.stringify({ model: 'm1', messages, temperature: 0.7, max_tokens: 200, ...more });
/** The body of a request with a whole response. */
export const whole = bodyOf({});
/** The body of a streamed request. */
export const streamed = bodyOf({ stream: true });

/** A request with the next of the payer's keys. */
function nextRequest(paying: Pick<Paying, 'payer' | 'asked'>, json: string): string {
  const { keys } = paying.payer;
  return requestText(keys[paying.asked++ % keys.length] ?? '', json);
}

/** A request with this body, as ASCII bytes. */
export const requestText = (key: string, json: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nauthorization: Bearer ${key}\r\ncontent-length: ${json.length}\r\n\r\n${json}`;

/** Processor time of all threads of a process, in ns. */
export function processorNs(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce(
    (sum, thread) =>
      sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ', 1)[0]),
    0,
  );
}
