import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { onPostgres, sqliteUrl } from './databases.ts';
import { relayTo } from './relay.ts';
import { newCustomer } from './support/customer.ts';
import { long } from './support/long.ts';
import { startProcess } from './support/process.ts';
import { hello, oneModel, startRunning } from './support/running.ts';
import { completion, json, startVendor, streamOf } from './support/scripted-vendor.ts';

const statusOf = async (url: string): Promise<number> => (await fetch(url)).status;
const soon = { timeout: 10_000, interval: 50 };

/** Of a page of metrics, one number without labels. */
async function metricOf(url: string, name: string): Promise<number> {
  const page = await (
    await fetch(`${url}/metrics`, { headers: { authorization: 'Bearer metrics' } })
  ).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(page)?.[1]);
}

test('a node that drains is alive and not ready, and what runs is answered', async () => {
  const vendor = await startVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(),
    configuration: oneModel(vendor.url),
  });
  let answer = (): void => {};
  vendor.answer((_request, response) => {
    answer = () => json(response, 200, completion());
  });
  const asked = running.post('/v1/chat/completions', hello);
  await expect.poll(() => vendor.received.length, soon).toBe(1);
  const closed = running.gateway.close();
  expect([
    await statusOf(`${running.url}/readyz`),
    await statusOf(`${running.url}/healthz`),
  ]).toEqual([503, 200]);
  expect(await metricOf(running.url, 'tollgate_ready')).toBe(0);
  answer();
  expect((await asked).status).toBe(200);
  await closed;
});

onPostgres((_, __, fresh) => {
  test('a node whose database is away is alive and not ready, tells it, and recovers by itself', async () => {
    const relay = await relayTo((await fresh()).url);
    const till = { heartbeatMs: 100, doubtfulMs: 2_000, silenceMs: 60_000 };
    const running = await startRunning({
      databaseUrl: relay.url,
      configuration: oneModel('http://127.0.0.1:1'),
      till,
    });
    await wait(2_500);
    // Nobody asked for anything meanwhile: its heartbeat is what keeps it ready.
    expect(await statusOf(`${running.url}/readyz`)).toBe(200);
    relay.cut();
    await expect.poll(() => statusOf(`${running.url}/readyz`), soon).toBe(503);
    expect(await statusOf(`${running.url}/healthz`)).toBe(200);
    await expect.poll(() => metricOf(running.url, 'tollgate_till_admitting'), soon).toBe(0);
    relay.mend();
    await expect.poll(() => statusOf(`${running.url}/readyz`), soon).toBe(200);
    await expect.poll(() => metricOf(running.url, 'tollgate_ready'), soon).toBe(1);
  });

  test.runIf(long)(
    'a node that is stopped while its database is away waits for it, and charges what was answered',
    {
      timeout: 90_000,
    },
    async () => {
      const vendor = await startVendor();
      const { url, open } = await fresh(migrations);
      const relay = await relayTo(url);
      const folder = await mkdtemp(join(tmpdir(), 'tollgate-stopped-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      const gateway = await startProcess({
        folder,
        configuration: oneModel(vendor.url),
        env: { DATABASE_URL: relay.url },
      });
      onTestFinished(() => gateway.kill());
      const database = await open();
      const { key } = await newCustomer(database, nanoPerYuan);
      const ask = (signal?: AbortSignal) =>
        fetch(`${gateway.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
          body: JSON.stringify({ ...hello, stream: true }),
          ...(signal && { signal }),
        });
      await (await ask()).text();
      const records = async () =>
        (await database.query('SELECT u.id FROM usage u JOIN transfer t ON t.id=u.id')).length;
      expect(await records()).toBe(1);
      // No connection may be what keeps the process alive.
      vendor.answer((_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream', connection: 'close' });
        response.end(streamOf(['Hel', 'lo', '!']));
      });
      relay.cut();
      const left = new AbortController();
      const { body } = await ask(left.signal);
      await body?.getReader().read();
      left.abort();
      await wait(500);
      const stopped = gateway.stop();
      // The drain is over when the till has waited half a minute for the charge.
      expect(await Promise.race([stopped, wait(40_000, 'waits')])).toBe('waits');
      relay.mend();
      expect(await stopped).toBe(0);
      expect(await records()).toBe(2);
    },
  );
});
