import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../src/base/clock.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { type Random, seededRandom } from '../src/base/random.ts';
import { taskProof } from '../src/gateway/tasks/migrations.ts';
import { releaseTasks } from '../src/gateway/tasks/queries.ts';
import { check } from '../src/ledger/check.ts';
import { openIdempotencyStore } from '../src/memory/idempotency.ts';
import type { Database } from '../src/storage/database.ts';
import { open } from '../src/storage/open.ts';
import { forEachDatabase } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { type FilmVendor, films, startFilmVendor } from './support/film-vendor.ts';
import { type GatewayProcess, startProcess } from './support/process.ts';
import { json } from './support/scripted-vendor.ts';

/** `TOLLGATE_CRASH_ROUNDS=200 npm test -- test/video-crash.test.ts` is the long run. */
const rounds = Number(
  process.env['TOLLGATE_CRASH_ROUNDS'] ?? (process.env['CI'] === 'true' ? 8 : 4),
);
const clients = 6;
const price = 5n * 700_000_000n;

/**
 * One client after the other, each with a key of its own for its submission, which it repeats until
 * it is answered.
 */
async function submitAll(
  url: () => string,
  key: string,
  random: Random,
  known: Map<string, string>,
  running: () => boolean,
): Promise<void> {
  const client = async (): Promise<void> => {
    while (running()) {
      const once = `key-${Math.floor(random() * 1e12)}`;
      for (let attempt = 0; attempt < 200; attempt++) {
        const id = await submit(url(), key, once);
        if (id !== undefined) {
          known.set(once, id);
          break;
        }
        await wait(50);
      }
      await wait(random() * 60);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
}

async function submit(url: string, key: string, once: string): Promise<string | undefined> {
  try {
    const response = await fetch(`${url}/v1/video/generations`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': once,
      },
      body: JSON.stringify({ model: 'sora-2', prompt: once, duration: 5, async: true }),
    });
    const body = (await response.json()) as { id?: string };
    return response.status === 200 ? body.id : undefined;
  } catch {
    return undefined;
  }
}

/** Videos take up to half a second; one in five fails, one in ten submissions is slow. */
function play(vendor: FilmVendor, random: Random): void {
  const doneAt = new Map<string, number>();
  vendor.onSubmit = (response, { text }) => {
    if (random() < 0.9) return false;
    const id = `slow_${vendor.tasks.size}_${Math.floor(random() * 1e9)}`;
    void wait(random() * 200).then(() => {
      (vendor.tasks as Map<string, Record<string, unknown>>).set(id, JSON.parse(text));
      json(response, 200, JSON.stringify({ id, status: 'queued' }));
    });
    return true;
  };
  vendor.onPoll = (id, response) => {
    const at = doneAt.get(id) ?? systemClock.now() + random() * 500;
    doneAt.set(id, at);
    const failed = [...id].reduce((sum, letter) => sum + letter.charCodeAt(0), 0) % 5 === 0;
    const status = systemClock.now() < at ? 'in_progress' : failed ? 'failed' : 'completed';
    json(response, 200, JSON.stringify({ id, status, progress: 50 }));
    return true;
  };
}

async function expectNothingLost(
  database: Database,
  known: ReadonlyMap<string, string>,
): Promise<void> {
  expect(await check(database, taskProof)).toMatchObject({ ok: true, problems: [] });
  const ids = new Set((await database.query('SELECT id FROM task')).map((row) => row['id']));
  expect([...known.values()].filter((id) => !ids.has(id))).toEqual([]);
}

forEachDatabase((name, _openFresh, fresh) => {
  test(`kill -9 at ${rounds} random instants of submissions, polls and ends: no video unknown to its owner, charged twice, unpaid or stuck`, {
    timeout: 120_000 + rounds * 5_000,
  }, async () => {
    const seed = Number(process.env['TOLLGATE_SEED'] ?? Math.floor(systemClock.now() % 1e9));
    console.info(`seed ${seed}`);
    const random = seededRandom(seed);
    const vendor = await startFilmVendor();
    play(vendor, random);
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-films-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const place = name === 'sqlite' ? undefined : (await fresh()).url;
    const options = {
      folder,
      configuration: films(vendor.url),
      env: { DATABASE_URL: place ?? '' },
    };
    let gateway: GatewayProcess = await startProcess(options);
    onTestFinished(() => gateway.kill());
    const database = await open(place ?? `sqlite:${join(folder, 'tollgate.db')}`);
    onTestFinished(() => database.close());
    const {
      userId,
      key: { secret: key },
    } = await newCustomer(database, 1_000_000n * nanoPerYuan);
    const known = new Map<string, string>();
    let running = true;
    const submitting = submitAll(
      () => gateway.url,
      key,
      random,
      known,
      () => running,
    );
    for (let round = 0; round < rounds; round++) {
      await wait(50 + random() * 1_000);
      await gateway.kill();
      await expectNothingLost(database, known);
      // Nobody waits for the leases of a dead process: on SQLite the next one knows that it is
      // alone.
      if (name === 'postgres')
        await Promise.all([
          releaseTasks(database),
          openIdempotencyStore(database, systemClock).release(),
        ]);
      gateway = await startProcess(options);
    }
    running = false;
    await submitting;
    // What is left is asked for as soon as can be, whatever is under way.
    const openTasks = async () =>
      (
        await database.query(
          "UPDATE task SET next_poll_at=0 WHERE ended_at IS NULL AND state<>'new' RETURNING id",
        )
      ).length;
    await expect.poll(openTasks, { timeout: 60_000, interval: 200 }).toBe(0);
    expect(await gateway.stop()).toBe(0);
    await expectNothingLost(database, known);
    const [counted] = await database.query(
      "SELECT COUNT(*) AS paid, COALESCE(SUM(amount), 0) AS amount FROM transfer WHERE credit='revenue' AND debit=$1",
      [userId],
    );
    const [completed] = await database.query(
      "SELECT COUNT(*) AS tasks FROM task WHERE state='completed'",
    );
    expect(counted?.['paid']).toBe(completed?.['tasks']);
    expect(counted?.['amount']).toBe(price * BigInt(String(completed?.['tasks'])));
    expect(known.size).toBeGreaterThan(rounds);
    console.info(
      `${rounds} rounds on ${name}: ${known.size} videos, ${String(completed?.['tasks'])} paid, ${vendor.tasks.size} at the vendor`,
    );
    const [account] = await database.query('SELECT held FROM account WHERE id=$1', [userId]);
    expect(account?.['held']).toBe(0n);
  });
});
