import { mkdtemp, rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../src/base/clock.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { type Random, seededRandom } from '../src/base/random.ts';
import { check } from '../src/ledger/check.ts';
import type { Database } from '../src/storage/database.ts';
import { forEachDatabase } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { askPlainly } from './support/plain-client.ts';
import { oneModel } from './support/running.ts';
import { type GatewayProcess, startProcess } from './support/process.ts';
import { completion, json, sse, startVendor, streamOf } from './support/scripted-vendor.ts';

/**
 * Sixteen on each database where the suite is the judge, a few at the desk;
 * `TOLLGATE_CRASH_ROUNDS=200 npm test -- test/crash.test.ts` is the long run.
 */
const rounds = Number(
  process.env['TOLLGATE_CRASH_ROUNDS'] ?? (process.env['CI'] === 'true' ? 16 : 5),
);
const clients = 12;
const agent = new Agent({ keepAlive: true, maxSockets: clients });

async function load(
  url: string,
  key: string,
  random: Random,
  delivered: Set<string>,
  running: () => boolean,
): Promise<void> {
  const client = async (): Promise<void> => {
    while (running()) {
      const seen = await askPlainly(url, key, agent, random() < 0.5, 50);
      if (seen?.whole === true) delivered.add(seen.id);
      else await wait(2);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

/** Everything that a client has seen whole was charged once; nothing else is wrong. */
async function expectNothingLost(
  database: Database,
  delivered: ReadonlySet<string>,
): Promise<void> {
  expect(await check(database)).toMatchObject({ ok: true, problems: [] });
  const records = new Set(
    (await database.query('SELECT u.id FROM usage u JOIN transfer t ON t.id = u.id')).map(
      (row) => row['id'],
    ),
  );
  expect([...delivered].filter((id) => !records.has(id))).toEqual([]);
}

forEachDatabase((name, _openFresh, fresh) => {
  test(`kill -9 at ${rounds} random instants under load loses nothing that was delivered, and held money comes back`, {
    timeout: 120_000 + rounds * 5_000,
  }, async () => {
    const seed = Number(process.env['TOLLGATE_SEED'] ?? Math.floor(systemClock.now() % 1e9));
    console.info(`seed ${seed}`);
    const random = seededRandom(seed);
    const vendor = await startVendor();
    vendor.answer((received, response) => {
      const answer = (): void => {
        if (received.text.includes('"stream":true'))
          sse(response).end(streamOf(['Hel', 'lo', '!']));
        else json(response, 200, completion());
      };
      if (random() < 0.5) answer();
      else setTimeout(answer, random() * 30);
    });
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-crash-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const place = name === 'sqlite' ? undefined : (await fresh()).url;
    const options = {
      folder,
      configuration: oneModel(vendor.url),
      env: place === undefined ? { DATABASE_URL: '' } : { DATABASE_URL: place },
    };
    let gateway: GatewayProcess = await startProcess(options);
    onTestFinished(() => gateway.kill());
    const { open } = await import('../src/storage/open.ts');
    const database = await open(place ?? `sqlite:${join(folder, 'tollgate.db')}`);
    onTestFinished(() => database.close());
    const {
      userId,
      key: { secret: key },
    } = await newCustomer(database, 100_000n * nanoPerYuan);
    const delivered = new Set<string>();
    for (let round = 0; round < rounds; round++) {
      let running = true;
      const loaded = load(gateway.url, key, random, delivered, () => running);
      // Half of the rounds are sure to have an answer, however slow the machine.
      const before = delivered.size;
      if (round % 2 === 0)
        await expect.poll(() => delivered.size, { timeout: 20_000 }).toBeGreaterThan(before + 3);
      await wait(30 + random() * 300);
      await gateway.kill();
      running = false;
      await loaded;
      await expectNothingLost(database, delivered);
      gateway = await startProcess(options);
    }
    expect(delivered.size).toBeGreaterThan(rounds);
    // The survivor sees that the others are silent, and gives back what they held.
    await expect
      .poll(async () => (await database.query('SELECT id FROM process')).length, {
        timeout: 60_000,
        interval: 500,
      })
      .toBe(1);
    expect(await gateway.stop()).toBe(0);
    const [account] = await database.query('SELECT held FROM account WHERE id = $1', [userId]);
    expect(account?.['held']).toBe(0n);
    await expectNothingLost(database, delivered);
  });
});
