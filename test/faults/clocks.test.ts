import { expect, onTestFinished, test } from 'vitest';
import { startSession } from '../../src/accounts/sessions.ts';
import { nanoPerYuan } from '../../src/base/money.ts';
import { ledgerProcedures } from '../../src/ledger/procedures.ts';
import { open } from '../../src/storage/open.ts';
import { rollUp } from '../../src/usage/rollup.ts';
import { charged } from '../../src/usage/spending.ts';
import { newCustomer, newTestKey } from '../support/customer.ts';
import { expectNothingLost, startLoad } from '../support/fault-load.ts';
import { temporaryFolder } from '../support/file-store.ts';
import { png } from '../support/png.ts';
import { startProcess } from '../support/process.ts';
import { hello } from '../support/running.ts';
import { completion, json, sse, startVendor, streamOf } from '../support/scripted-vendor.ts';
import { steppedClock } from '../support/stepped-clock.ts';

const hour = 3_600_000;
const clients = 4;

const sold = (vendorUrl: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
  - { name: few, price_multiplier: 1.0, limits: { rpm: 3 } }
models:
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: painter, owned_by: openai, kind: image, price: { image: 0.5 } }
channels:
  - { name: a, vendor: openai, base_url: "${vendorUrl}/v1", api_key: up-key, groups: [default, few], models: [m1, painter] }
`;

/**
 * A gateway as operators run it, its clock to be set, with a rich user; and what is asked of it.
 */
async function startStepped() {
  const vendor = await startVendor();
  vendor.answer(({ url, text }, response) => {
    if (url.includes('images'))
      json(
        response,
        200,
        JSON.stringify({ created: 1, data: [{ b64_json: png.toString('base64') }] }),
      );
    else if (text.includes('"stream":true')) sse(response).end(streamOf(['Hel', 'lo', '!']));
    else json(response, 200, completion());
  });
  const folder = await temporaryFolder();
  const clock = steppedClock(folder);
  const node = await startProcess({ folder, configuration: sold(vendor.url), env: clock.env });
  onTestFinished(() => node.kill());
  const database = await open(`sqlite:${folder}/tollgate.db`, { procedures: ledgerProcedures });
  onTestFinished(() => database.close());
  const { key, userId } = await newCustomer(database, 10_000n * nanoPerYuan);
  const ask = (
    secret: string,
    path = '/v1/chat/completions',
    body: object = hello,
  ): Promise<Response> =>
    fetch(node.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  /** Sets the clock, and returns when the process goes by it. */
  const step = async (offsetMs: number): Promise<void> => {
    clock.set(offsetMs);
    // A request's id begins with the time.
    const told = async () =>
      parseInt((await ask('nobody')).headers.get('x-request-id')?.slice(4, 16) ?? '', 16) -
      Date.now() -
      offsetMs;
    await expect
      .poll(async () => Math.abs(await told()), { timeout: 5_000, interval: 20 })
      .toBeLessThan(5_000);
  };
  return { vendor, node, database, key: key.secret, userId, ask, step };
}

test('a wall clock that steps by hours and days under load refuses nobody, fences nobody and charges everything once', async () => {
  const { node, database, key, step } = await startStepped();
  const process = async () =>
    (await database.query('SELECT id FROM process')).map((row) => row['id']);
  const before = await process();
  const load = startLoad([node], key, clients);
  for (const offset of [hour, -hour, 24 * hour, -24 * hour, 0]) {
    await step(offset);
    const from = load.delivered.size;
    await expect.poll(() => load.delivered.size, { timeout: 15_000 }).toBeGreaterThan(from + 20);
  }
  await load.stop();
  expect([[...load.refused], load.broken]).toEqual([[], [0]]);
  expect(load.longestMs()).toBeLessThan(5_000);
  expect(await process()).toEqual(before);
  await expectNothingLost(database, load);
}, 60_000);

test('a request that runs while the clock is set back by hours is in its account’s figures', async () => {
  const { vendor, database, key, userId, ask, step } = await startStepped();
  let answer = (): void => undefined;
  vendor.answer((_received, response) => {
    answer = () => json(response, 200, completion());
  });
  const asked = ask(key);
  await expect.poll(() => vendor.received.length).toBe(1);
  await step(-2 * hour);
  answer();
  expect((await asked).status).toBe(200);
  const [record] = await database.query('SELECT reserved_at, finished_at, cost FROM usage');
  expect(record?.['finished_at']).toBe(record?.['reserved_at']);
  while (await rollUp(database, Date.now() + hour)) continue;
  const range = { from: 0, to: Date.now() + hour };
  expect(await database.snapshot(() => charged(userId, range))).toEqual({
    requests: 1,
    cost: record?.['cost'],
  });
}, 60_000);

test('a wall clock that steps neither opens nor closes a limit of a minute', async () => {
  const { database, userId, ask, step } = await startStepped();
  const { secret } = await newTestKey(database, userId, { group: 'few' });
  for (let i = 0; i < 3; i++) expect((await ask(secret)).status).toBe(200);
  for (const offset of [24 * hour, -24 * hour]) {
    await step(offset);
    const refused = await ask(secret);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(20);
  }
}, 60_000);

test('what ends on a date ends by the wall clock, and is there again when the clock is right: keys, sessions, a day’s limit, addresses of files', async () => {
  const { node, database, key, userId, ask, step } = await startStepped();
  const now = Date.now();
  const brief = await newTestKey(database, userId, { expiresAt: now + 12 * hour });
  const daily = await newTestKey(database, userId, { dailyLimit: nanoPerYuan / 10n });
  const { secret } = await database.transact(() =>
    startSession({ userId, way: 'link', browser: 'test', ip: '127.0.0.1', at: now }),
  );
  const painted = await ask(key, '/v1/images/generations', {
    model: 'painter',
    prompt: 'A cat',
    response_format: 'url',
  });
  expect(painted.status).toBe(200);
  const [picture] = ((await painted.json()) as { data: { url: string }[] }).data;
  const seen = async () => {
    const me = await fetch(`${node.url}/console/api/sessions`, {
      headers: { cookie: `tollgate=${secret}` },
    });
    const file = await fetch(picture?.url ?? '');
    return { brief: (await ask(brief.secret)).status, session: me.status, file: file.status };
  };
  const spent = async (): Promise<number> => {
    for (let i = 0; i < 5; i++) if ((await ask(daily.secret)).status === 429) return 429;
    return 200;
  };
  expect(await seen()).toEqual({ brief: 200, session: 200, file: 200 });
  expect((await ask(daily.secret)).status).toBe(200);
  expect(await spent()).toBe(429);
  // Some hours either way: what has still a day goes on.
  await step(-6 * hour);
  expect(await seen()).toEqual({ brief: 200, session: 200, file: 200 });
  // A day too late: a key of half a day is over, an address of a day too; a session of weeks is
  // not; another day has its own limit.
  await step(25 * hour);
  expect(await seen()).toEqual({ brief: 401, session: 200, file: 404 });
  expect((await ask(daily.secret)).status).toBe(200);
  // A month too late: a signed-in user has to sign in again.
  await step(31 * 24 * hour);
  expect((await seen()).session).toBe(401);
  await step(0);
  expect(await seen()).toEqual({ brief: 200, session: 200, file: 200 });
  expect(await spent()).toBe(429);
}, 60_000);
