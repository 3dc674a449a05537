import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../src/base/clock.ts';
import { buildSnapshot } from '../src/catalog/build-snapshot.ts';
import { loadCatalog, recordConfiguration } from '../src/catalog/catalog-store.ts';
import type { Snapshot } from '../src/catalog/snapshot.ts';
import { countTokens } from '../src/gateway/pricing/tokens.ts';
import { listFees, serves } from '../src/app/gateway.ts';
import { messageOf } from '../src/base/thrown.ts';
import { openSealer } from '../src/storage/seal.ts';
import { type Sabotage, sabotages } from './gateway/sabotage.ts';
import { type History, live } from './gateway/simulation.ts';
import { Stage } from './gateway/stage.ts';
import { configurationFrom } from './support/running.ts';

/** More are lived by `HISTORIES=20000 npm run simulation:gateway`. Each run begins elsewhere. */
const histories = Number(process.env['HISTORIES'] ?? 1_000);
const firstSeed = Number(process.env['HISTORY_SEED'] ?? Math.floor(Math.random() * 1_000_000_000));
/** A rule that is missing is missed sooner or later; in so many histories it must be. */
const historiesMax = 200;
const timeout = 7_200_000;

/**
 * Three models, one of which is asked of two channels when one is slow, at a thousandth of a yuan a
 * token, over vendors of two formats, and one channel that can be relied on.
 */
const sold = `
groups:
  - { name: default, price_multiplier: 1.0, limits: { concurrency: 30 } }
models:
  - { id: plain, owned_by: a, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: other, owned_by: a, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: hedged, owned_by: a, kind: chat, context: 128000, max_output: 1000, hedge_after_ms: 300, price: { input: 1000, output: 1000 } }
channels:
  - { name: first, vendor: openai-compatible, base_url: "http://first/v1", api_key: up-secret, models: [plain, other, hedged] }
  - { name: second, vendor: anthropic, base_url: "http://second/v1", api_key: up-secret, bills_cancelled_input: true, models: [{ id: plain, upstream: up }, other, hedged] }
  - { name: spare, vendor: openai-compatible, base_url: "http://spare/v1", api_key: up-secret, priority: 9, models: [plain, other, hedged] }
`;

let snapshot: Snapshot;

let stage: Stage | undefined;

async function history(seed: number, sabotage?: Sabotage): Promise<History> {
  const { database } = (stage ??= await Stage.open());
  try {
    const lived = await live({
      seed,
      database,
      snapshot,
      ...(sabotage && { tamper: sabotage.tamper }),
    });
    await stage.clear();
    return lived;
  } catch (error) {
    // Something may still be under way there.
    stage = undefined;
    await database.close();
    throw new Error(`HISTORY_SEED=${seed}: ${messageOf(error)}`, { cause: error });
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

describe(`histories of the gateway, from seed ${firstSeed}`, { timeout }, () => {
  beforeAll(async () => {
    const { database } = await Stage.open();
    const sealer = openSealer(randomBytes(32));
    await recordConfiguration(database, await configurationFrom(sold), sealer, systemClock);
    snapshot = buildSnapshot(await loadCatalog(database, sealer), serves, listFees());
    await database.close();
    // What is loaded when it is needed would make the first history another one.
    await countTokens('a');
  });

  test('keep every promise through crashes, pauses, outages, lost calls, jumping clocks, failing vendors and leaving clients', async () => {
    const told: History[] = [];
    const startedMs = performance.now();
    for (let seed = firstSeed; seed < firstSeed + histories; seed++) told.push(await history(seed));
    const sum = (name: Exclude<keyof History, 'digest'>): number =>
      told.reduce((all, one) => all + one[name], 0);
    const names = [
      'requests',
      'calls',
      'whole',
      'refused',
      'broken',
      'left',
      'crashes',
      'pauses',
      'jumps',
      'unknown',
      'unreturned',
      'lies',
      'hedgedFirst',
      'hedgedSecond',
      'hedgedNeither',
      'hedgedCrashed',
    ] as const;
    const took = ((performance.now() - startedMs) / 1_000).toFixed(1);
    say(
      `${told.length} histories from seed ${firstSeed} in ${took} s: ${names.map((name) => `${name} ${sum(name)}`).join(', ')}`,
    );
    expect(sum('whole')).toBeGreaterThan(sum('requests') / 4);
    expect(sum('lies')).toBeGreaterThan(histories / 10);
  });

  test('are the same for the same seed, whatever was lived before', async () => {
    const first = await history(firstSeed);
    await history(firstSeed + 1);
    expect(await history(firstSeed)).toEqual(first);
    stage = undefined;
    expect(await history(firstSeed)).toEqual(first);
  });

  test.each(sabotages)('break when a rule is taken away: $rule', async (sabotage) => {
    for (let seed = firstSeed; seed < firstSeed + historiesMax; seed++) {
      const failure = await history(seed, sabotage).then(
        () => undefined,
        (error: unknown) => messageOf(error),
      );
      if (failure === undefined || sabotage.missed?.test(failure) === false) continue;
      say(`${sabotage.rule}: missed in history ${seed - firstSeed + 1}, ${failure.split('\n')[0]}`);
      return;
    }
    throw new Error(`nobody missed it in ${historiesMax} histories`);
  });
});
