import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { hello, startRunning } from './support/running.ts';
import { json, sse, startVendor } from './support/scripted-vendor.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

const usageMetadata = {
  promptTokenCount: 19,
  candidatesTokenCount: 6,
  thoughtsTokenCount: 4,
  totalTokenCount: 29,
};
const event = (text: string, extra: object = {}): object => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, ...extra }],
  usageMetadata,
});
const data = (...events: readonly object[]): string =>
  events.map((one) => `data: ${JSON.stringify(one)}\r\n\r\n`).join('');

/**
 * A gateway that sells `m1` over the Gemini API and `m2` over Vertex, both on one loopback vendor
 * that answers as Google does.
 */
async function start() {
  const vendor = await startVendor();
  vendor.answer(({ url }, response) => {
    if (url === '/token')
      return json(response, 200, JSON.stringify({ access_token: 'fetched', expires_in: 3600 }));
    if (!url.includes('alt=sse'))
      return json(response, 200, JSON.stringify(event('Hello!', { finishReason: 'STOP' })));
    return sse(response).end(data(event('Hel'), event('lo!', { finishReason: 'STOP' })));
  });
  const account = JSON.stringify({
    type: 'service_account',
    project_id: 'p-1',
    client_email: 'sa@p-1',
    private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    token_uri: `${vendor.url}/token`,
  });
  const running = await startRunning({
    databaseUrl: 'sqlite::memory:',
    configuration: `
groups: [{ name: default, price_multiplier: 1.0 }]
models:
  - { id: m1, owned_by: google, kind: chat, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: m2, owned_by: google, kind: chat, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: a, vendor: gemini, base_url: "${vendor.url}/v1beta", api_key: up-key, groups: [default], models: [{ id: m1, upstream: gemini-2.5-flash }] }
  - { name: b, vendor: vertex, base_url: "${vendor.url}", api_key: ${JSON.stringify(account)}, groups: [default], models: [{ id: m2, upstream: gemini-2.5-pro }] }
`,
  });
  return { vendor, running };
}

test('a whole answer of Gemini’s is a chat completion, and charged', async () => {
  const { vendor, running } = await start();
  const response = await running.post('/v1/chat/completions', hello);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    object: 'chat.completion',
    model: 'm1',
    choices: [
      { index: 0, message: { role: 'assistant', content: 'Hello!' }, finish_reason: 'stop' },
    ],
    usage: {
      prompt_tokens: 19,
      completion_tokens: 10,
      total_tokens: 29,
      completion_tokens_details: { reasoning_tokens: 4 },
    },
  });
  expect(vendor.received[0]).toMatchObject({
    url: '/v1beta/models/gemini-2.5-flash:generateContent',
    headers: { 'x-goog-api-key': 'up-key' },
  });
  expect(await running.balance()).toBe('99.971');
  await running.expectBooks();
});

test('Vertex is asked with a token that one request fetched for all', async () => {
  const { vendor, running } = await start();
  const all = await Promise.all(
    Array.from({ length: 8 }, () =>
      running.post('/v1/chat/completions', { ...hello, model: 'm2', stream: true }),
    ),
  );
  for (const response of all) expect(await response.text()).toContain('data: [DONE]');
  const [tokens, asked] = [
    vendor.received.filter(({ url }) => url === '/token'),
    vendor.received.filter(({ url }) => url !== '/token'),
  ];
  expect(tokens).toHaveLength(1);
  expect(asked).toHaveLength(8);
  for (const one of asked) {
    expect(one.url).toBe(
      '/v1/projects/p-1/locations/global/publishers/google/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
    );
    expect(one.headers.authorization).toBe('Bearer fetched');
  }
  expect(await running.balance()).toBe('99.768');
  await running.expectBooks();
});

test('a token that is refused closes our channel, and is never the client’s 401', async () => {
  const { vendor, running } = await start();
  vendor.answer((_request, response) => json(response, 401, '{"error":"invalid_client"}'));
  const response = await running.post('/v1/chat/completions', { ...hello, model: 'm2' });
  expect(response.status).toBe(503);
  expect(await running.balance()).toBe('100.00');
});

test('a stream that breaks is charged for what came and has no end mark', async () => {
  const { vendor, running } = await start();
  vendor.answer((_request, response) => sse(response).end(data(event('Hel'))));
  const text = await (
    await running.post('/v1/chat/completions', { ...hello, stream: true })
  ).text();
  expect(text).toContain('"content":"Hel"');
  expect(text).toContain('data: {"error":');
  expect(text).not.toMatch(/\[DONE\]|"finish_reason":"/);
  expect(await running.balance()).toBe('99.971');
  await running.expectBooks();
});

test('a prompt that Gemini blocks is the client’s, and costs nothing', async () => {
  const { vendor, running } = await start();
  vendor.answer((_request, response) =>
    json(response, 200, '{"promptFeedback":{"blockReason":"SAFETY"}}'),
  );
  const blocked = await running.post('/v1/chat/completions', hello);
  expect(blocked.status).toBe(400);
  expect(await blocked.json()).toMatchObject({ error: { code: 'content_policy_violation' } });
  expect(await running.balance()).toBe('100.00');
});
