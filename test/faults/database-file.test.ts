import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { ledgerProcedures } from '../../src/ledger/procedures.ts';
import { open } from '../../src/storage/open.ts';
import { newCustomer } from '../support/customer.ts';
import { expectNothingLost, startLoad } from '../support/fault-load.ts';
import { startProcess } from '../support/process.ts';
import { oneModel } from '../support/running.ts';
import { startVendor } from '../support/scripted-vendor.ts';
import { disksCanBeMade, smallDisk } from '../support/small-disk.ts';

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-file-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const readiness = (url: string): Promise<number> =>
  fetch(`${url}/readyz`).then(({ status }) => status);

test.each(['1', '2'])(
  'R7: the database file taken away under load, %s workers: not ready, nothing is delivered until it is back',
  async (workers) => {
    const folder = await newFolder();
    const path = join(folder, 'tollgate.db');
    const vendor = await startVendor();
    const configuration = oneModel(vendor.url);
    const node = await startProcess({ folder, configuration, env: { TOLLGATE_WORKERS: workers } });
    onTestFinished(() => node.kill());
    const database = await open(`sqlite:${path}`, { procedures: ledgerProcedures });
    const { key } = await newCustomer(database, 1_000_000_000_000n);
    await database.close();
    const load = startLoad([node], key.secret, 8);
    await expect.poll(() => load.delivered.size, { timeout: 20_000 }).toBeGreaterThan(100);
    await rename(path, `${path}.away`);
    // What was committed in that instant is still on its way to its clients.
    await wait(200);
    const before = load.delivered.size;
    await expect.poll(() => readiness(node.url), { timeout: 5_000 }).toBe(503);
    const asked = vendor.received.length;
    await wait(2_000);
    expect(load.delivered.size).toBe(before);
    expect(vendor.received.length).toBe(asked);
    expect(node.output()).toContain('was removed or replaced');
    await rename(`${path}.away`, path);
    await expect.poll(() => load.delivered.size, { timeout: 20_000 }).toBeGreaterThan(before + 50);
    await load.stop();
    expect(load.unexplained).toEqual([]);
    const proof = await open(`sqlite:${path}`, { procedures: ledgerProcedures });
    await expectNothingLost(proof, load);
    await proof.close();
    // Taken away for good: it stops, and does not start with another file, until it is told to.
    await rm(path);
    await expect.poll(() => readiness(node.url), { timeout: 5_000 }).toBe(503);
    await node.kill();
    await Promise.all(['-wal', '-shm'].map((end) => rm(path + end, { force: true })));
    await expect(
      startProcess({ folder, configuration, env: { TOLLGATE_WORKERS: workers } }),
    ).rejects.toThrow(/there is no database .*--accept-database/);
    const again = await startProcess({
      folder,
      configuration,
      env: { TOLLGATE_WORKERS: workers },
      args: ['--accept-database'],
    });
    onTestFinished(() => again.kill());
    expect(await again.stop()).toBe(0);
    const last = await startProcess({ folder, configuration, env: { TOLLGATE_WORKERS: workers } });
    onTestFinished(() => last.kill());
    expect(await last.stop()).toBe(0);
  },
  120_000,
);

test('R8: a small volume: the gateway starts, serves more than the volume holds as a log, is killed and starts again', {
  timeout: 120_000,
}, async () => {
  if (!disksCanBeMade)
    return console.warn('not tried: a small volume takes the right to mount one');
  const { folder } = smallDisk(12);
  const vendor = await startVendor();
  const configuration = oneModel(vendor.url);
  const node = await startProcess({ folder, configuration });
  onTestFinished(() => node.kill());
  const url = `sqlite:${join(folder, 'tollgate.db')}`;
  const database = await open(url, { procedures: ledgerProcedures });
  const { key } = await newCustomer(database, 1_000_000_000_000n);
  await database.close();
  const load = startLoad([node], key.secret, 4);
  await expect.poll(() => load.delivered.size, { timeout: 60_000 }).toBeGreaterThan(2_000);
  await load.stop();
  expect([...load.refused]).toEqual([]);
  await node.kill();
  const again = await startProcess({ folder, configuration });
  onTestFinished(() => again.kill());
  expect(await again.stop()).toBe(0);
  const proof = await open(url, { procedures: ledgerProcedures });
  await expectNothingLost(proof, load);
  await proof.close();
});
