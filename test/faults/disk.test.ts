import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { expectNothingLost, startLoad } from '../support/fault-load.ts';
import { oneModel, startRunning } from '../support/running.ts';
import { startVendor } from '../support/scripted-vendor.ts';
import { disksCanBeMade, smallDisk } from '../support/small-disk.ts';

describe('the disk of SQLite', () => {
  test('full under load: nothing is delivered that cannot be charged, and room brings everything back', {
    timeout: 120_000,
  }, async () => {
    if (!disksCanBeMade) return console.warn('not tried: a full disk takes the right to mount one');
    const disk = smallDisk(32);
    const vendor = await startVendor();
    const databaseUrl = `sqlite:${join(disk.folder, 'tollgate.db')}`;
    const running = await startRunning({
      databaseUrl,
      configuration: oneModel(vendor.url),
      yuan: '10000',
    });
    const load = startLoad([running], running.key, 8);
    await expect.poll(() => load.delivered.size, { timeout: 20_000 }).toBeGreaterThan(50);
    disk.fill();
    // What is left of its pages takes a few more.
    let before = -1;
    const still = (): boolean => {
      const same = load.delivered.size === before;
      before = load.delivered.size;
      return same;
    };
    await expect.poll(still, { timeout: 30_000, interval: 500 }).toBe(true);
    await wait(1_000);
    expect(load.delivered.size).toBe(before);
    disk.free();
    await expect.poll(() => load.delivered.size, { timeout: 30_000 }).toBeGreaterThan(before + 50);
    await load.stop();
    expect([...load.refused.keys()].filter((status) => status !== 503)).toEqual([]);
    expect([load.unexplained, load.broken]).toEqual([[], [0]]);
    await expectNothingLost(running.gateway.database, load);
  });
});
