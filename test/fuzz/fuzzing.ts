import { type Random, seededRandom } from '../../src/base/random.ts';

/**
 * Longer than the share of a second that each parser gets in CI: `FUZZ_SECONDS=120 npm run fuzz`.
 */
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 0.25);
const firstSeed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Math.random() * 1e9));
/** For `{ timeout }` of a test that fuzzes. */
export const timeout = (seconds + 30) * 1_000;
/** CPU that one input may take, whatever is in it; the inputs are short. */
const inputMsMax = 1_500;

export interface Fuzzed {
  /** Real examples, from which inputs are made. */
  readonly samples: readonly Buffer[];
  /**
   * What has a meaning to the parser, and stands in inputs more often than chance would have it.
   */
  readonly words?: readonly (string | Buffer)[];
  /** Throws where a promise is broken. What it draws of chance belongs to the input. */
  readonly holds: (input: Buffer, random: Random) => unknown;
}

/**
 * Changed samples, for as long as there is time. Each has a seed of its own, which is told when a
 * promise breaks, with the shortest input found that breaks it as well:
 * `FUZZ_SEED=… FUZZ_SECONDS=0` tries that one alone.
 */
export async function fuzz(name: string, { samples, words = [], holds }: Fuzzed): Promise<void> {
  const untilMs = performance.now() + seconds * 1_000;
  let seed = firstSeed;
  do {
    const input = mutated(samples, words.map(bytesOf), seededRandom(seed));
    const broken = await problemOf(holds, input, seed);
    if (broken !== undefined) {
      const least = await shortened(holds, input, seed);
      throw new Error(
        `${name}, FUZZ_SEED=${seed}, ${JSON.stringify(least.toString('latin1'))}: ${broken}`,
      );
    }
    seed += 1;
  } while (performance.now() < untilMs);
  process.stdout.write(`${name}: ${seed - firstSeed} inputs from seed ${firstSeed}\n`);
}

const bytesOf = (word: string | Buffer): Buffer =>
  typeof word === 'string' ? Buffer.from(word, 'latin1') : word;

async function problemOf(
  holds: Fuzzed['holds'],
  input: Buffer,
  seed: number,
): Promise<string | undefined> {
  const began = process.cpuUsage();
  try {
    // The same chance whatever the input: a shortened one meets what the whole one met.
    await holds(input, seededRandom(seed ^ 0x5bd1e995));
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error);
  }
  const tookMs = process.cpuUsage(began).user / 1_000;
  return tookMs > inputMsMax ? `it took ${tookMs} ms` : undefined;
}

/** Leaves out what can be left out, in ever smaller pieces. */
async function shortened(holds: Fuzzed['holds'], input: Buffer, seed: number): Promise<Buffer> {
  let least = input;
  for (
    let size = Math.ceil(input.length / 2), tries = 0;
    size >= 1 && tries < 3_000;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let at = 0; at < least.length && tries < 3_000; tries++) {
      const without = Buffer.concat([least.subarray(0, at), least.subarray(at + size)]);
      if ((await problemOf(holds, without, seed)) === undefined) at += size;
      else least = without;
    }
  }
  return least;
}

const bytesMax = 8_192;

function mutated(samples: readonly Buffer[], words: readonly Buffer[], random: Random): Buffer {
  const upTo = (most: number): number => Math.floor(random() * (most + 1));
  const any = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  let bytes: Buffer = Buffer.from(any(samples) ?? Buffer.alloc(0));
  // Some inputs are as they should be: a parser that refuses everything keeps every other promise.
  for (
    let changes = random() < 0.1 ? 0 : 1 + upTo(random() < 0.7 ? 3 : 12);
    changes > 0;
    changes--
  ) {
    const at = upTo(bytes.length);
    const end = Math.min(bytes.length, at + upTo(random() < 0.5 ? 4 : 64));
    const put = (middle: Buffer, until = at): Buffer =>
      Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(until)]);
    const kind = upTo(8);
    if (kind === 0) bytes = put(Buffer.alloc(0), end);
    else if (kind === 1) bytes = put(Buffer.from([upTo(255)]), Math.min(bytes.length, at + 1));
    else if (kind === 2)
      bytes = put(Buffer.from([0x80 >> upTo(7), 0xff, 0, 0x0a, 0x0d, 0x22].slice(upTo(5))));
    else if (kind === 3) bytes = put(bytes.subarray(at, end));
    else if (kind === 4) bytes = put(any(words) ?? Buffer.from('0'), random() < 0.5 ? at : end);
    else if (kind === 5)
      bytes = put(Buffer.concat(Array<Buffer>(1 + upTo(200)).fill(bytes.subarray(at, end))));
    else if (kind === 6) bytes = bytes.subarray(0, at);
    else if (kind === 7) bytes = put(within(any(samples) ?? bytes, upTo));
    else flip(bytes, at, upTo(7));
    if (bytes.length > bytesMax) bytes = bytes.subarray(0, bytesMax);
  }
  return bytes;
}

function within(sample: Buffer, upTo: (most: number) => number): Buffer {
  const at = upTo(sample.length);
  return sample.subarray(at, at + upTo(128));
}

function flip(bytes: Buffer, at: number, bit: number): void {
  const byte = bytes[at];
  if (byte !== undefined) bytes[at] = byte ^ (1 << bit);
}

/** The input in pieces, as a network may deliver it; never an empty one. */
export function inPieces(input: Buffer, random: Random): Buffer[] {
  const pieces: Buffer[] = [];
  const most = random() < 0.3 ? 1 : random() < 0.5 ? 7 : 400;
  for (let at = 0; at < input.length; ) {
    const end = at + 1 + Math.floor(random() * most);
    pieces.push(input.subarray(at, end));
    at = end;
  }
  return pieces;
}

/**
 * Fails when eight times the input takes more than thirty times as long: a quadratic function takes
 * sixty-four times as long. It begins with a small input and grows it until the time can be measured.
 * Other work on the machine disturbs one of the three measurements, not all of them.
 */
export async function expectLinear(name: string, run: (times: number) => unknown): Promise<void> {
  let times = 1_024;
  let onceMs = await bestMs(run, times);
  for (; onceMs < 1 && times < 2 ** 18; onceMs = await bestMs(run, times)) times *= 4;
  for (let tries = 1; ; tries++) {
    const eightMs = await bestMs(run, times * 8);
    if (eightMs < 30 * Math.max(onceMs, 1)) return;
    if (tries === 3)
      throw new Error(`${name}: ${times} take ${onceMs} ms, eight times as many ${eightMs} ms`);
    times *= 2;
    onceMs = await bestMs(run, times);
  }
}

/** CPU time, the least of three, since others work on the same machine. */
async function bestMs(run: (times: number) => unknown, times: number): Promise<number> {
  let best = Infinity;
  for (let i = 0; i < 3; i++) {
    const began = process.cpuUsage();
    await run(times);
    const { user, system } = process.cpuUsage(began);
    best = Math.min(best, (user + system) / 1_000);
  }
  return best;
}
