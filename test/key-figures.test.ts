import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { systemClock } from '../src/base/clock.ts';
import { nanoPerYuan } from '../src/base/money.ts';
import { balanceView } from '../src/console/user/balance.ts';
import { nanoOf } from '../src/console/format.ts';
import { openHold } from '../src/ledger/transactions/hold.ts';
import { forEachDatabase } from './databases.ts';
import { newCustomer } from './support/customer.ts';
import { films, startFilmVendor } from './support/film-vendor.ts';
import { hello, type Running, startRunning } from './support/running.ts';
import { chunk, completion, json, sse, startVendor } from './support/scripted-vendor.ts';
import { openSimulatedGateway } from './support/temporary.ts';

const path = '/v1/chat/completions';

/** One model at odd prices, so that each charge is rounded up to the nano. */
const configuration = (url: string): string => `
settings: { usd_rate: 7.1 }
groups: [{ name: default }]
models:
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1.234567891, output: 0.987654321 } }
channels:
  - { name: a, vendor: openai, base_url: "${url}/v1", api_key: k, models: [m1] }
`;

/** The vendor counts other tokens for each request, and says what it costs itself. */
async function startCounting(databaseUrl: string, yuan = '100'): Promise<Running> {
  const vendor = await startVendor();
  let asked = 0;
  vendor.answer(({ text }, response) => {
    asked += 1;
    const usage = {
      prompt_tokens: asked % 40,
      completion_tokens: (asked * 7) % 50,
      total_tokens: (asked % 40) + ((asked * 7) % 50),
      cost: 12.5,
      cost_details: { upstream_inference_cost: 11 },
    };
    if (/"stream":\s*true/.test(text))
      sse(response).end(
        `${chunk({ role: 'assistant', content: 'Hi data: there' })}${chunk({}, 'stop')}${chunk({}, null, { choices: [], usage })}data: [DONE]\n\n`,
      );
    else json(response, 200, completion('Hi', { usage }));
  });
  return startRunning({ databaseUrl, configuration: configuration(vendor.url), yuan });
}

const asks = { ...hello, usage: { include: true } };

/** The digits of a number in JSON text: no test may read amounts as floats. */
const digitsOf = (text: string, name: string): string =>
  new RegExp(`"${name}":(-?[0-9.]+)[,}]`).exec(text)?.[1] ?? `no ${name} in ${text}`;

/** Nano-yuan of such digits. */
function nanoIn(text: string, name: string): bigint {
  const [whole = '', fraction = ''] = digitsOf(text, name).split('.');
  expect(fraction.length).toBeLessThanOrEqual(9);
  return BigInt(whole) * nanoPerYuan + BigInt(fraction.padEnd(9, '0'));
}

const read = async (running: Running, at: string, key = running.key): Promise<string> => {
  const reply = await fetch(running.url + at, { headers: { authorization: `Bearer ${key}` } });
  const text = await reply.text();
  expect([at, reply.status], text).toEqual([at, 200]);
  expect(reply.headers.get('cache-control')).toBe('no-store');
  return text;
};

forEachDatabase((_name, _openFresh, fresh) => {
  test('an answer tells its cost when asked, whole and streamed, and the vendor hears nothing of it', async () => {
    const running = await startCounting((await fresh(migrations)).url);
    const whole = await (await running.post(path, asks)).text();
    const stream = await (await running.post(path, { ...asks, stream: true })).text();
    const events = stream.trim().split('\n\n');
    expect(events.at(-1)).toBe('data: [DONE]');
    const last = events.at(-2) ?? '';
    expect(JSON.parse(last.slice(6))).toMatchObject({ choices: [], usage: { currency: 'CNY' } });
    const charged = (await running.usage()).map(({ cost }) => cost);
    expect([nanoIn(whole, 'cost'), nanoIn(last, 'cost')]).toEqual(charged);
    expect(stream.match(/"cost"/g)).toHaveLength(1);
    expect(whole + stream).not.toContain('upstream_inference_cost');
    await running.expectBooks();
  });

  test('nothing is told that was not asked for, and a wrong wish is refused', async () => {
    const running = await startCounting((await fresh(migrations)).url);
    for (const usage of [undefined, null, { include: false }, {}]) {
      const stream = await (await running.post(path, { ...hello, usage, stream: true })).text();
      expect(stream).not.toContain('"usage"');
      expect(await (await running.post(path, { ...hello, usage })).text()).not.toContain('CNY');
    }
    for (const [usage, param] of [
      [true, 'usage'],
      [{ include: 'yes' }, 'usage.include'],
    ]) {
      const reply = await running.post(path, { ...hello, usage });
      expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param } }]);
    }
  });

  test('1,000 parallel requests: key, usage, costs, console and the ledger agree to the nano', {
    timeout: 120_000,
  }, async () => {
    const running = await startCounting((await fresh(migrations)).url);
    const yuan = 50n * nanoPerYuan;
    const limits = { limit: yuan, dailyLimit: yuan, monthlyLimit: yuan };
    const { secret } = await running.newKey(limits);
    const texts = await Promise.all(
      Array.from({ length: 1_000 }, async (_, i) => {
        const headers = { authorization: `Bearer ${secret}` };
        const reply = await running.post(path, { ...asks, stream: i % 2 === 0 }, { headers });
        return reply.text();
      }),
    );
    const sum = texts.reduce((total, text) => total + nanoIn(text, 'cost'), 0n);
    expect(sum).toBeGreaterThan(0n);
    const key = await read(running, '/v1/key', secret);
    for (const name of ['usage', 'usage_daily', 'usage_weekly', 'usage_monthly', 'used'])
      expect([name, nanoIn(key, name)]).toEqual([name, sum]);
    expect(nanoIn(key, 'limit_remaining')).toBe(yuan - sum);
    expect(nanoIn(key, 'available')).toBe(yuan - sum);
    expect(JSON.parse(key).data.limits.map(({ period }: { period: string }) => period)).toEqual([
      'total',
      'month',
      'day',
    ]);
    const used = await read(running, '/v1/usage', secret);
    expect(nanoIn(used.slice(used.indexOf('"from"')), 'cost')).toBe(sum);
    expect(nanoIn(used.slice(used.indexOf('"data"')), 'cost')).toBe(sum);
    expect(JSON.parse(used)).toMatchObject({
      total: { requests: 1_000 },
      requests: 1_000,
      data: [{ model: 'm1', requests: 1_000 }],
    });
    const { database, parts } = running.gateway;
    const owner = { id: running.userId, zone: 'Asia/Shanghai', role: 'user' } as const;
    const console = await database.snapshot(() =>
      balanceView(owner, parts.catalog(), systemClock.now()),
    );
    expect(nanoOf(console.total)).toBe(100n * nanoPerYuan - sum);
    expect(nanoIn(await read(running, '/v1/key'), 'balance')).toBe(nanoOf(console.total));
    await running.expectBooks();
  });

  test('what a request cost is asked for by its id or its answer’s, by its own account alone', async () => {
    const running = await startCounting((await fresh(migrations)).url);
    const reply = await running.post(path, { ...asks, stream: true });
    const text = await reply.text();
    const [record] = await running.usage();
    const id = reply.headers.get('x-request-id') ?? '';
    for (const word of ['req_', 'chatcmpl-', 'msg_', '']) {
      const asked = id.replace('req_', word);
      const answer = await read(running, `/api/v1/generation?id=${asked}`);
      expect(nanoIn(answer, 'total_cost')).toBe(record?.cost);
      expect(nanoIn(answer, 'usage')).toBe(nanoIn(text, 'cost'));
      expect(JSON.parse(answer).data).toMatchObject({
        ...{ id: asked, request_id: id, model: 'm1', streamed: true, status: 'ok' },
        tokens_prompt: 1,
        tokens_completion: 7,
      });
    }
    const stranger = await newCustomer(running.gateway.database, nanoPerYuan);
    for (const [key, asked, status] of [
      [stranger.key.secret, id, 404],
      [running.key, 'req_0', 404],
      [running.key, "x' OR '1'='1", 404],
      [running.key, '', 400],
    ] as const) {
      const at = `${running.url}/v1/generation?id=${encodeURIComponent(asked)}`;
      const refused = await fetch(at, { headers: { authorization: `Bearer ${key}` } });
      const answer = [refused.status, await refused.json()];
      expect(answer).toMatchObject([status, { error: { param: 'id' } }]);
    }
  });

  test('what a video cost is asked for by its id', async () => {
    const vendor = await startFilmVendor();
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: films(vendor.url),
      yuan: '20',
    });
    const made = await running.post('/v1/videos', {
      model: 'sora-2',
      prompt: 'A cat',
      seconds: 10,
    });
    const { id } = JSON.parse(await made.text());
    await expect.poll(async () => (await running.usage()).length, { timeout: 15_000 }).toBe(1);
    const answer = await read(running, `/v1/generation?id=${id}`);
    expect(nanoIn(answer, 'total_cost')).toBe(7n * nanoPerYuan);
    expect(JSON.parse(answer).data).toMatchObject({ id, request_id: id, model: 'sora-2' });
  }, 30_000);

  test('every balance endpoint tells the same balance, at once after a charge, with and without /v1', async () => {
    const running = await startCounting((await fresh(migrations)).url, '999999999');
    await running.post(path, asks);
    const [{ cost = 0n } = {}] = await running.usage();
    const left = 999_999_999n * nanoPerYuan - BigInt(cost ?? 0);
    const yuan = digitsOf(await read(running, '/v1/key'), 'balance');
    expect(yuan).toMatch(/^999999998\.\d{9}$/);
    for (const at of ['/v1/user/balance', '/user/balance']) {
      const answer = await read(running, at);
      expect(nanoIn(answer, 'balance')).toBe(left);
      expect(JSON.parse(answer)).toMatchObject({
        is_available: true,
        balance_infos: [{ currency: 'CNY', total_balance: yuan, topped_up_balance: yuan }],
      });
    }
    expect(nanoIn(await read(running, '/v1/users/me/balance'), 'available_balance')).toBe(left);
    expect(JSON.parse(await read(running, '/v1/user/info')).data.totalBalance).toBe(yuan);
    const credits = await read(running, '/api/v1/credits');
    expect(nanoIn(credits, 'total_credits') - nanoIn(credits, 'total_usage')).toBe(left);
    for (const root of ['/v1', '']) {
      const bill = `${root}/dashboard/billing`;
      const limit = nanoIn(await read(running, `${bill}/subscription`), 'hard_limit_usd');
      const cents = nanoIn(
        await read(running, `${bill}/usage?start_date=2026-01-01&end_date=2026-12-31`),
        'total_usage',
      );
      const grants = await read(running, `${bill}/credit_grants`);
      expect(limit - cents / 100n).toBe((left * 10n) / 71n);
      expect(nanoIn(grants, 'total_available')).toBe((left * 10n) / 71n);
    }
    for (const at of ['/v1/usage/token', '/api/usage/token', '/api/usage/token/'])
      expect(JSON.parse(await read(running, at))).toMatchObject({
        code: true,
        data: {
          name: 'test',
          total_available: Number((left * 10n * 500_000n) / 71n / nanoPerYuan),
        },
      });
    await running.expectBooks();
  });

  test('money that a video task holds is not available, for the account and for a limit', async () => {
    const running = await startCounting((await fresh(migrations)).url, '10');
    const { database } = running.gateway;
    const { secret, id } = await running.newKey({ limit: 8n * nanoPerYuan });
    const hold = { id: 'video_1', account: running.userId, amount: 7n * nanoPerYuan, at: 1 };
    const limits = [{ id: `key:${id}:total`, amount: 8n * nanoPerYuan }];
    await database.transact(() => openHold({ ...hold, limits }));
    const limited = await read(running, '/v1/key', secret);
    expect([nanoIn(limited, 'limit_remaining'), nanoIn(limited, 'available')]).toEqual([
      nanoPerYuan,
      nanoPerYuan,
    ]);
    expect(nanoIn(await read(running, '/v1/key'), 'available')).toBe(3n * nanoPerYuan);
    const rest = { ...hold, id: 'video_2', amount: 3n * nanoPerYuan };
    await database.transact(() => openHold(rest));
    const key = await read(running, '/v1/key');
    expect(['available', 'balance', 'held'].map((name) => digitsOf(key, name))).toEqual([
      '0',
      '10',
      '10',
    ]);
    for (const at of ['/v1/user/balance', '/user/balance'])
      expect(JSON.parse(await read(running, at))).toMatchObject({
        is_available: false,
        is_active: false,
        balance: 0,
      });
    expect(JSON.parse(await read(running, '/v1/usage'))).toMatchObject({
      is_active: false,
      remaining: 0,
    });
    const grants = await read(running, '/v1/dashboard/billing/credit_grants');
    expect(digitsOf(grants, 'total_available')).toBe('0');
  });
});

test('a key without money or with a spent limit is answered, another one is not', async () => {
  const running = await startCounting('sqlite::memory:', '0');
  expect(digitsOf(await read(running, '/v1/key'), 'balance')).toBe('0');
  expect(JSON.parse(await read(running, '/user/balance'))).toMatchObject({
    is_available: false,
    is_active: false,
    balance: 0,
  });
  const { secret } = await running.newKey({ limit: 1n });
  const limited = await read(running, '/v1/key', secret);
  expect([digitsOf(limited, 'limit'), digitsOf(limited, 'limit_remaining')]).toEqual([
    '0.000000001',
    '0.000000001',
  ]);
  expect(limited).not.toContain('"balance"');
  for (const at of ['/v1/key', '/user/balance', '/api/v1/key'])
    expect((await fetch(running.url + at, { headers: { authorization: 'Bearer x' } })).status).toBe(
      401,
    );
});

test('a stream of every vendor and format tells its cost in the last chunk', async () => {
  const simulated = await openSimulatedGateway();
  onTestFinished(() => simulated.close());
  const { url, database } = simulated.gateway;
  const headers = {
    authorization: `Bearer ${simulated.key}`,
    'content-type': 'application/json',
  };
  const list = JSON.parse(await (await fetch(`${url}/v1/models`, { headers })).text());
  const { models } = simulated.gateway.parts.catalog();
  // The models `sim-…` answer with faults.
  const writers = list.data
    .map(({ id }: { readonly id: string }) => id)
    .filter((id: string) => models.get(id)?.kind === 'chat' && !id.startsWith('sim-'));
  expect(writers.length).toBeGreaterThan(20);
  for (const model of writers) {
    const body = JSON.stringify({ ...asks, model, stream: true });
    const reply = await fetch(url + path, { method: 'POST', headers, body });
    const events = (await reply.text()).trim().split('\n\n');
    const [record] = await database.query('SELECT cost FROM usage WHERE id=$1', [
      reply.headers.get('x-request-id') ?? '',
    ]);
    expect([model, events.at(-1)]).toEqual([model, 'data: [DONE]']);
    expect([model, nanoIn(events.at(-2) ?? '', 'cost')]).toEqual([model, record?.['cost']]);
  }
  await simulated.expectBooks();
});

test('usage is asked for by days of the operator’s calendar', async () => {
  const running = await startCounting('sqlite::memory:');
  await running.post(path, asks);
  const past = JSON.parse(
    await read(running, '/v1/usage?start_date=2025-01-01&end_date=2025-01-31'),
  );
  expect(past).toMatchObject({
    from: '2024-12-31T16:00:00.000Z',
    to: '2025-01-31T16:00:00.000Z',
    requests: 0,
    cost: 0,
    data: [],
    total: { requests: 1 },
  });
  for (const [query, param] of [
    ['start_date=yesterday', 'start_date'],
    ['end_date=2026-02-30', 'end_date'],
    ['start_date=2026-02-03&end_date=2026-02-01', 'start_date'],
    ['start_date=2020-01-01&end_date=2026-02-01', 'start_date'],
  ]) {
    const reply = await fetch(`${running.url}/v1/usage?${query}`, {
      headers: { authorization: `Bearer ${running.key}` },
    });
    expect([reply.status, await reply.json()]).toMatchObject([400, { error: { param } }]);
  }
});
