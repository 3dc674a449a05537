import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { sqliteUrl } from './databases.ts';
import { hello, startRunning } from './support/running.ts';
import { chunk, completion, json, sse, startVendor } from './support/scripted-vendor.ts';
import { startWithVendor } from './support/with-vendor.ts';

const twoChannels = (first: string, second: string): string => `
models:
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: first, vendor: openai, base_url: "${first}/v1", api_key: one, groups: [default], models: [{ id: m1, upstream: up }], priority: 0 }
  - { name: second, vendor: openai, base_url: "${second}/v1", api_key: two, groups: [default], models: [{ id: m1, upstream: up }], priority: 1 }
`;

async function start(limits = {}) {
  const first = await startVendor();
  const second = await startVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: twoChannels(first.url, second.url),
    limits,
  });
  return { first, second, running };
}

test('the channel of the lowest priority number is used as long as it is well', async () => {
  const { first, second, running } = await start();
  for (let i = 0; i < 5; i++)
    expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect([first.received.length, second.received.length]).toEqual([5, 0]);
});

test.each([
  ['refused credentials', 401, {}],
  ['an empty vendor account', 402, {}],
  ['too many requests', 429, { 'retry-after': '30' }],
  ['overload', 503, {}],
  ['a server error', 500, {}],
])(
  '%s moves the request to the next channel, the client sees nothing of it',
  async (_what, status, headers) => {
    const { first, second, running } = await start();
    first.answer((_request, response) =>
      json(response, status, '{"error":{"message":"no","code":null}}', headers),
    );
    for (const stream of [false, true]) {
      const response = await running.post('/v1/chat/completions', { ...hello, stream });
      expect(response.status).toBe(200);
      await response.text();
    }
    expect(second.received).toHaveLength(2);
    await running.expectBooks();
    expect(await running.usage()).toMatchObject([{ channel: 'second' }, { channel: 'second' }]);
  },
);

test('a channel that refused our key, or told how long to stay away, is left alone', async () => {
  for (const [status, headers] of [
    [401, {}],
    [429, { 'retry-after': '30' }],
  ] as const) {
    const { first, running } = await start();
    first.answer((_request, response) =>
      json(response, status, '{"error":{"message":"no","code":null}}', headers),
    );
    for (let i = 0; i < 4; i++)
      expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
    expect(first.received).toHaveLength(1);
  }
});

test('an attempt that failed is told the operator, though the client sees nothing of it, and no word of the vendor with it', async () => {
  const second = await startVendor();
  const first = await startVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: twoChannels(first.url, second.url),
  });
  const told: unknown[] = [];
  Object.assign(running.gateway.parts, { failed: (line: unknown) => told.push(line) });
  first.answer((_request, response) =>
    json(response, 404, '{"error":{"message":"no model for: hello","code":null}}'),
  );
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect(told).toMatchObject([
    { channel: 'first', model: 'm1', fault: 'unknown_model', stage: 'waiting' },
  ]);
  expect(JSON.stringify(told)).not.toContain('hello');
});

test('a wrong request is not tried elsewhere', async () => {
  const { first, second, running } = await start();
  first.answer((_request, response) =>
    json(
      response,
      400,
      '{"error":{"message":"no such tool","type":"invalid_request_error","param":"tools","code":null}}',
    ),
  );
  const response = await running.post('/v1/chat/completions', hello);
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { message: 'no such tool', param: 'tools' },
  });
  expect(second.received).toHaveLength(0);
});

test('a wrong request whose refusal repeats the client’s words closes no channel', async () => {
  const { first, second, running } = await start();
  const message = "Invalid schema for function 'list_overdue_invoices': insufficient balance.";
  first.answer((_request, response) =>
    json(
      response,
      400,
      JSON.stringify({
        error: { message, type: 'invalid_request_error', code: 'invalid_function_parameters' },
      }),
    ),
  );
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(400);
  first.answer((_request, response) => json(response, 200, completion('hi')));
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect([first.received.length, second.received.length]).toEqual([2, 0]);
});

test('a vendor that is not there is passed over', async () => {
  const second = await startVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: twoChannels('http://127.0.0.1:1', second.url),
  });
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect(await running.usage()).toMatchObject([{ channel: 'second', attempts: 2n }]);
});

test('a vendor that hangs before its first byte is passed over after the time for it', async () => {
  const { first, second, running } = await start({
    whole: { firstByteTimeoutMs: 1_000, idleTimeoutMs: 1_000 },
  });
  first.answer(() => {});
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect(second.received).toHaveLength(1);
});

test('nothing is tried again after the first byte', async () => {
  const { first, second, running } = await start();
  first.answer((_request, response) => {
    sse(response).write(chunk({ role: 'assistant', content: '' }) + chunk({ content: 'Hel' }));
    setTimeout(() => response.socket?.destroy(), 50);
  });
  const text = await (
    await running.post('/v1/chat/completions', { ...hello, stream: true })
  ).text();
  expect(text).toContain('Hel');
  expect(text).toContain('"error"');
  expect(second.received).toHaveLength(0);
});

test('an error before anything was delivered moves even a stream to the next channel', async () => {
  const { first, second, running } = await start();
  first.answer((_request, response) =>
    sse(response).end('data: {"error":{"message":"overloaded","code":503}}\n\n'),
  );
  const text = await (
    await running.post('/v1/chat/completions', { ...hello, stream: true })
  ).text();
  expect(text).toContain('[DONE]');
  expect(second.received).toHaveLength(1);
});

test('a connection that the vendor closed while idle costs nobody an error', async () => {
  const vendor = await startVendor();
  const configuration = twoChannels(vendor.url, vendor.url)
    .split('\n')
    .filter((line) => !line.includes('name: second'))
    .join('\n');
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  let resets = 0;
  vendor.answer((_request, response) => {
    if (resets++ === 1) response.socket?.destroy();
    else json(response, 200, completion());
  });
  for (let i = 0; i < 3; i++)
    expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
});

test('nothing left: 503 with retry-after', async () => {
  const { first, second, running } = await start();
  for (const vendor of [first, second])
    vendor.answer((_request, response) =>
      json(response, 429, '{"error":{"message":"no"}}', { 'retry-after': '20' }),
    );
  const response = await running.post('/v1/chat/completions', hello);
  expect(response.status).toBe(503);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(10);
  expect(await response.json()).toMatchObject({
    error: { type: 'service_unavailable_error', code: null, param: null },
  });
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(503);
});

test('a silent stream is kept alive with comments', async () => {
  const { vendor, running } = await startWithVendor((url) => twoChannels(url, url), {
    limits: { keepAliveMs: 1_000 },
  });
  vendor.answer((_request, response) => {
    sse(response).write(chunk({ role: 'assistant', content: '' }) + chunk({ content: 'Hello' }));
    setTimeout(() => response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`), 3_500);
  });
  const text = await (
    await running.post('/v1/chat/completions', { ...hello, stream: true })
  ).text();
  expect(text).toContain(': keep-alive\n\n');
  expect(text).toContain('[DONE]');
});

test.each([
  ['a head', (response: ServerResponse) => sse(response).flushHeaders()],
  ['a comment', (response: ServerResponse) => sse(response).write(': processing\n\n')],
])(
  'a vendor that breaks off after %s alone is left for the next channel, although the client has a keep-alive comment',
  async (_what, begin) => {
    const { first, second, running } = await start({ keepAliveMs: 1_000 });
    first.answer((_request, response) => {
      begin(response);
      setTimeout(() => response.socket?.destroy(), 2_600);
    });
    const text = await (
      await running.post('/v1/chat/completions', { ...hello, stream: true })
    ).text();
    expect(text).toContain(': keep-alive\n\n');
    expect(text).toContain('[DONE]');
    expect(second.received).toHaveLength(1);
    await running.expectBooks();
  },
);
