import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect } from 'vitest';
import { type Random, seededRandom } from '../src/base/random.ts';
import type {
  Adapter,
  VendorCall,
  StreamMeter,
  StreamTranslator,
} from '../src/providers/adapter.ts';
import { cuts } from './cuts.ts';
import type { Recording } from './recorded-traffic.ts';
import { vendorCall } from './support/vendor-call.ts';

const seed = 20_261_121;
const wrongCharsMax = 700;

/** False: there is nothing in this recording that the check could judge. */
export type Check = (recording: Recording, random: Random) => boolean | void;

/** One file's replays of recorded traffic: what was judged, and how. */
export interface Replays {
  /** Runs the check over all of them and fails with every recording that does not pass. */
  each(name: string, all: readonly Recording[], check: Check): void;
}

/**
 * Begins a file's replays. Their figures are printed at the end, and kept for the report
 * (`npm run recordings`).
 */
export function replays(suite: string): Replays {
  const figures: string[] = [];
  const passed = new Set<string>();
  const failed = new Set<string>();
  afterAll(() => {
    if (figures.length === 0) return;
    process.stdout.write(`recorded ${suite} (seed ${seed}): ${figures.join(' · ')}\n`);
    const file = fileURLToPath(
      new URL(`../coverage/recordings/${suite.replaceAll(/\W+/g, '-')}.json`, import.meta.url),
    );
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ passed: [...passed], failed: [...failed] }));
  });
  return {
    each(name, all, check) {
      const random = seededRandom(seed);
      const wrong: string[] = [];
      let judged = 0;
      for (const recording of all) {
        try {
          if (check(recording, random) === false) continue;
          passed.add(recording.id);
        } catch (error) {
          failed.add(recording.id);
          wrong.push(
            `${recording.id} ${recording.source}: ${String(error).slice(0, wrongCharsMax)}`,
          );
        }
        judged += 1;
      }
      figures.push(`${name} ${judged - wrong.length}/${judged}`);
      expect(wrong).toEqual([]);
    },
  };
}

/** By vendor, in the order in which they first appear. */
export const vendorsOf = (all: readonly Recording[]): readonly string[] => [
  ...new Set(all.map(({ vendor }) => vendor)),
];

/** The call that a recording answers. */
export function callAs(
  { streamed }: Pick<Recording, 'streamed'>,
  body: Record<string, unknown>,
  upstreamModel: string,
  answerId = 'chatcmpl-replayed',
): VendorCall {
  return vendorCall(body, {
    publicModel: 'public/model',
    upstreamModel,
    stream: streamed,
    includeUsage: streamed,
    streamUpstream: streamed,
    answerId,
    created: 1_700_000_000,
  });
}

export interface Played {
  /** What the client gets. */
  readonly text: string;
  readonly meter: StreamMeter;
  readonly translator: StreamTranslator;
}

export function play(adapter: Adapter, call: VendorCall, pieces: Iterable<Buffer>): Played {
  const translator = adapter.stream(call);
  let text = '';
  for (const piece of pieces) text += translator.push(piece);
  return {
    text: Buffer.from(text + translator.end(), 'latin1').toString('utf8'),
    meter: translator.meter,
    translator,
  };
}

/** A recorded stream says the same however a network cuts it. */
export function expectSameAtEveryCut(
  adapter: Adapter,
  call: VendorCall,
  { reply }: Recording,
  text: string,
  random: Random,
  ways: typeof cuts = cuts,
): void {
  for (const pieces of ways(reply, random))
    if (play(adapter, call, pieces).text !== text) throw new Error('a cut changes the answer');
}
