import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../src/base/clock.ts';
import { buildSnapshot } from '../src/catalog/build-snapshot.ts';
import { load, record } from '../src/catalog/recording.ts';
import type { Snapshot } from '../src/catalog/snapshot.ts';
import { countTokens } from '../src/gateway/count.ts';
import { ledgerProcedures } from '../src/ledger/procedures.ts';
import { serves } from '../src/main.ts';
import { migrations } from '../src/migrations.ts';
import type { Database } from '../src/storage/database.ts';
import { migrate } from '../src/storage/migrate.ts';
import { open } from '../src/storage/open.ts';
import { openSealer } from '../src/storage/seal.ts';
import { type Sabotage, sabotages } from './gateway/sabotage.ts';
import { type History, live } from './gateway/simulation.ts';
import { configurationFrom } from './support/running.ts';

/** So many, however long that takes: `HISTORIES=5000 npm run simulation:gateway`. Else as many as there is time for. */
const asked = Number(process.env['HISTORIES'] ?? 0);
const boundMs = 5_000;
const firstSeed = Number(process.env['HISTORY_SEED'] ?? Math.floor(Math.random() * 1_000_000));
/** A rule that is missing is missed sooner or later; in so many histories it must be. */
const historiesMax = 200;
const timeout = 7_200_000;

/** Two models at a thousandth of a yuan a token, over vendors of two formats, and one channel that can be relied on. */
const sold = `
groups:
  - { name: default, price_multiplier: 1.0, limits: { concurrency: 30 } }
models:
  - { id: plain, owned_by: a, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: other, owned_by: a, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: first, vendor: openai-compatible, base_url: "http://first/v1", api_key: up-secret, models: [plain, other] }
  - { name: second, vendor: anthropic, base_url: "http://second/v1", api_key: up-secret, models: [{ id: plain, upstream: up }, other] }
  - { name: spare, vendor: openai-compatible, base_url: "http://spare/v1", api_key: up-secret, priority: 9, models: [plain, other] }
`;

let snapshot: Snapshot;

async function fresh(): Promise<Database> {
  const database = await open('sqlite::memory:', { procedures: ledgerProcedures });
  await migrate(database, migrations);
  return database;
}

async function history(seed: number, sabotage?: Sabotage): Promise<History> {
  const database = await fresh();
  try {
    return await live({ seed, database, snapshot, ...(sabotage && { tamper: sabotage.tamper }) });
  } catch (error) {
    throw new Error(`HISTORY_SEED=${seed}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  } finally {
    await database.close();
  }
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);

describe(`histories of the gateway, from seed ${firstSeed}`, { timeout }, () => {
  beforeAll(async () => {
    const database = await fresh();
    const sealer = openSealer(randomBytes(32));
    await record(database, await configurationFrom(sold), sealer, systemClock);
    snapshot = buildSnapshot(await load(database, sealer), serves);
    await database.close();
    // What is loaded when it is needed would make the first history another one.
    await countTokens('a');
  });

  test('keep every promise through crashes, pauses, outages, lost calls, jumping clocks, failing vendors and leaving clients', async () => {
    const told: History[] = [];
    const startedMs = performance.now();
    const goesOn = (): boolean => (asked > 0 ? told.length < asked : performance.now() - startedMs < boundMs);
    for (let seed = firstSeed; goesOn(); seed++) told.push(await history(seed));
    const sum = (name: Exclude<keyof History, 'digest'>): number => told.reduce((all, one) => all + one[name], 0);
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
    ] as const;
    const took = ((performance.now() - startedMs) / 1_000).toFixed(1);
    say(`${told.length} histories in ${took} s: ${names.map((name) => `${name} ${sum(name)}`).join(', ')}`);
    expect(sum('whole')).toBeGreaterThan(sum('requests') / 4);
  });

  test('are the same for the same seed', async () => {
    expect(await history(firstSeed)).toEqual(await history(firstSeed));
  });

  test.each(sabotages)('break when a rule is taken away: $rule', async (sabotage) => {
    for (let seed = firstSeed; seed < firstSeed + historiesMax; seed++) {
      const failure = await history(seed, sabotage).then(
        () => undefined,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      );
      if (failure === undefined) continue;
      say(`${sabotage.rule}: missed in history ${seed - firstSeed + 1}, ${failure.split('\n')[0]}`);
      return;
    }
    throw new Error(`nobody missed it in ${historiesMax} histories`);
  });
});
