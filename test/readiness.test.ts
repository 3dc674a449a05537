import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { onPostgres, sqliteUrl } from './databases.ts';
import { relayTo } from './relay.ts';
import { hello, oneModel, startRunning } from './support/running.ts';
import { completion, json, startVendor } from './support/scripted-vendor.ts';

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
});
