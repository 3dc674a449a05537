import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { expectNothingLost, startLoad } from '../support/fault-load.ts';
import { postgresCanBeHurt, startPostgresServer } from '../support/postgres-server.ts';
import { oneModel, type Running, startRunning } from '../support/running.ts';
import { startVendor } from '../support/scripted-vendor.ts';
import { disksCanBeMade, smallDisk } from '../support/small-disk.ts';

/** `LONG_TESTS=true npm test -- test/faults` runs these tests for minutes. */
const long = process.env['LONG_TESTS'] === 'true';
const outageMs = long ? 4_000 : 1_000;
const clients = 8;

async function start(databaseUrl: string): Promise<Running> {
  const vendor = await startVendor();
  return startRunning({ databaseUrl, configuration: oneModel(vendor.url), yuan: '10000' });
}

describe.skipIf(!postgresCanBeHurt)('PostgreSQL', () => {
  test('killed under load and started again: answers wait for it, new requests are served or told when to come back', {
    timeout: 90_000,
  }, async () => {
    const postgres = await startPostgresServer();
    const running = await start(postgres.url);
    const load = startLoad([running], running.key, clients);
    await expect.poll(() => load.delivered.size, { timeout: 30_000 }).toBeGreaterThan(100);
    await postgres.kill();
    await wait(100);
    const before = load.delivered.size;
    await wait(outageMs);
    // Nothing is delivered that is not charged.
    expect(load.delivered.size).toBe(before);
    await postgres.start();
    await expect.poll(() => load.delivered.size, { timeout: 30_000 }).toBeGreaterThan(before + 100);
    await load.stop();
    expect([...load.refused.keys()].filter((status) => status !== 503)).toEqual([]);
    expect([load.unexplained, load.broken]).toEqual([[], [0]]);
    await expectNothingLost(running.gateway.database, load);
  });

  test('paused under load: whoever asks waits, nobody is refused for a moment of silence, and all of it is charged once', {
    timeout: 120_000,
  }, async () => {
    const postgres = await startPostgresServer();
    const running = await start(postgres.url);
    const load = startLoad([running], running.key, clients);
    await wait(500);
    postgres.pause();
    await wait(outageMs);
    expect([...load.refused]).toEqual([]);
    const before = load.delivered.size;
    postgres.resume();
    await expect.poll(() => load.delivered.size, { timeout: 30_000 }).toBeGreaterThan(before + 100);
    await load.stop();
    expect([[...load.refused], load.broken]).toEqual([[], [0]]);
    expect(load.longestMs()).toBeGreaterThan(outageMs - 100);
    await expectNothingLost(running.gateway.database, load);
  });

  test('out of room: nothing is delivered that cannot be charged, and room brings everything back', {
    timeout: 120_000,
  }, async () => {
    if (!disksCanBeMade) return console.warn('not tried: a full disk takes the right to mount one');
    const disk = smallDisk(96);
    const postgres = await startPostgresServer(disk.folder);
    const running = await start(postgres.url);
    const load = startLoad([running], running.key, clients);
    await wait(500);
    disk.fill();
    // What is left of the segment that is open takes a few more.
    let before = -1;
    await expect
      .poll(
        () => {
          const still = load.delivered.size === before;
          before = load.delivered.size;
          return still;
        },
        { timeout: 40_000, interval: 2_000 },
      )
      .toBe(true);
    await wait(outageMs);
    expect(load.delivered.size).toBe(before);
    disk.free();
    await postgres.start();
    await expect.poll(() => load.delivered.size, { timeout: 40_000 }).toBeGreaterThan(before + 100);
    await load.stop();
    expect([...load.refused.keys()].filter((status) => status !== 503)).toEqual([]);
    expect([load.unexplained, load.broken]).toEqual([[], [0]]);
    await expectNothingLost(running.gateway.database, load);
  });

  /** For longer than an answer may wait for its charge: only `npm run test:long` has the time. */
  test.each(long ? [45_000] : [])(
    'away for %i ms, longer than an answer may wait: what runs ends with an error or a 503, what comes is a 503',
    { timeout: 180_000 },
    async (awayMs) => {
      const postgres = await startPostgresServer();
      const running = await start(postgres.url);
      const load = startLoad([running], running.key, clients);
      await wait(1_000);
      postgres.pause();
      const before = load.delivered.size;
      await wait(awayMs);
      expect(load.refused.get(503) ?? 0).toBeGreaterThan(10);
      postgres.resume();
      await expect
        .poll(() => load.delivered.size, { timeout: 60_000 })
        .toBeGreaterThan(before + 100);
      await load.stop();
      expect([...load.refused.keys()]).toEqual([503]);
      expect(load.unexplained).toEqual([]);
      await expectNothingLost(running.gateway.database, load);
    },
  );
});
