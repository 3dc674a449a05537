import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { sqliteUrl } from './databases.ts';
import { hello, oneModel, startRunning } from './support/running.ts';
import { completion, json, startVendor } from './support/scripted-vendor.ts';
import { startWithVendor } from './support/with-vendor.ts';

async function start(extra = '') {
  const { vendor, running } = await startWithVendor((url) => oneModel(url, extra));
  const send = async (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: string,
  ) => {
    const response = await fetch(running.url + path, {
      method,
      headers: { authorization: `Bearer ${running.key}`, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      error: text.startsWith('{"error"') ? JSON.parse(text).error : undefined,
    };
  };
  return { vendor, running, send };
}

test('a missing and a wrong key are 401 invalid_api_key, and the key is not echoed', async () => {
  const { send } = await start();
  const wrong = `sk-${'a'.repeat(44)}wxyz`;
  for (const authorization of [
    '',
    'Basic abc',
    'Bearer',
    'Bearer  ',
    `Bearer ${wrong}`,
    'Bearer nonsense',
  ]) {
    const answer = await send('POST', '/v1/chat/completions', { authorization }, '{}');
    expect(answer.status).toBe(401);
    expect(answer.error).toMatchObject({
      code: 'invalid_api_key',
      type: 'invalid_request_error',
      param: null,
    });
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="API"');
    expect(answer.text).not.toContain(wrong);
  }
  expect(
    (await send('GET', '/v1/models', { authorization: `Bearer ${wrong}` })).error.message,
  ).toContain('sk-aa****wxyz');
});

test('the scheme of the key is read in any case', async () => {
  const { send, running } = await start();
  expect((await send('GET', '/v1/models', { authorization: `bearer ${running.key}` })).status).toBe(
    200,
  );
});

test('models of the key’s group are listed, others are not found, not even to be asked', async () => {
  const { send } = await start();
  const list = JSON.parse((await send('GET', '/v1/models')).text);
  expect(list).toMatchObject({
    object: 'list',
    data: [{ id: 'm1', object: 'model', owned_by: 'openai' }],
  });
  expect(Number.isInteger(list.data[0].created)).toBe(true);
  expect(JSON.parse((await send('GET', '/v1/models/m1')).text)).toEqual(list.data[0]);
  expect(await send('GET', '/v1/models/hidden')).toMatchObject({
    status: 404,
    error: { code: 'model_not_found', param: 'model' },
  });
  const hidden = await send(
    'POST',
    '/v1/chat/completions',
    { 'content-type': 'application/json' },
    JSON.stringify({ ...hello, model: 'hidden' }),
  );
  const unknown = await send(
    'POST',
    '/v1/chat/completions',
    { 'content-type': 'application/json' },
    JSON.stringify({ ...hello, model: 'nothing' }),
  );
  expect(hidden).toMatchObject({ status: 404, error: { code: 'model_not_found', param: 'model' } });
  expect(hidden.error.message.replace('hidden', 'nothing')).toBe(unknown.error.message);
});

test('a model’s id may contain slashes', async () => {
  const vendor = await startVendor();
  const configuration = `
models:
  - { id: meta/llama-4/maverick, owned_by: meta, kind: chat, price: { input: 1, output: 1 } }
channels:
  - { name: a, vendor: openai, base_url: "${vendor.url}/v1", api_key: k, groups: [default], models: [meta/llama-4/maverick] }
`;
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  for (const path of ['meta/llama-4/maverick', 'meta%2Fllama-4%2Fmaverick']) {
    const response = await fetch(`${running.url}/v1/models/${path}`, {
      headers: { authorization: `Bearer ${running.key}` },
    });
    expect(await response.json()).toMatchObject({ id: 'meta/llama-4/maverick' });
  }
});

test('what does not exist is named: unknown URLs are 404, wrong methods 405, both only with a key', async () => {
  const { send } = await start();
  expect(await send('POST', '/v1/files', {}, '{}')).toMatchObject({
    status: 404,
    error: { code: 'unknown_url', message: 'Invalid URL (POST /v1/files)' },
  });
  for (const path of [
    '/v1/v1/completions',
    '/v1/v1/v1/completions',
    '/completions',
    '/completions/',
    '//completions',
    '//v1/completions',
    '//v1/v1/completions/',
    '/v1//completions',
    '/v1/completions/',
  ])
    expect((await send('POST', path, {}, '{}')).error.message).toBe(
      `Invalid URL (POST ${path}). Use /v1/completions: check the base URL of your client.`,
    );
  expect((await send('GET', '/v1/models/?limit=1')).error).toMatchObject({
    code: 'unknown_url',
    message: 'Invalid URL (GET /v1/models/). Use /v1/models: check the base URL of your client.',
  });
  for (const path of ['/v1/v1/files', '/files', '/models/:id(', '/*', '/models/*'])
    expect((await send('POST', path, {}, '{}')).error.message).toBe(`Invalid URL (POST ${path})`);
  expect(await send('GET', '/v1/chat/completions')).toMatchObject({
    status: 405,
    error: { code: 'method_not_supported' },
  });
  expect(await send('DELETE', '/v1/models')).toMatchObject({ status: 405 });
  expect(await send('POST', '/v1/files', { authorization: '' }, '{}')).toMatchObject({
    status: 401,
  });
});

test('what reaches no endpoint is answered with an id all the same', async () => {
  const { running } = await start();
  for (const path of ['/v1/responses/%ff', '/nowhere']) {
    const response = await fetch(running.url + path);
    expect(response.headers.get('x-request-id'), path).toMatch(/^req_[0-9a-f]{32}$/);
    expect(await response.json()).toMatchObject({ error: { code: 'unknown_url' } });
  }
});

test('bodies that cannot be read are 400s that say why', async () => {
  const { send } = await start();
  const type = { 'content-type': 'application/json' };
  expect(await send('POST', '/v1/chat/completions', type, '{"model":')).toMatchObject({
    status: 400,
    error: { code: 'invalid_request_error', param: null },
  });
  expect(await send('POST', '/v1/chat/completions', type, '')).toMatchObject({ status: 400 });
  expect(await send('POST', '/v1/chat/completions', type, '[]')).toMatchObject({ status: 400 });
  expect(
    await send('POST', '/v1/chat/completions', { 'content-type': 'text/plain' }, '{}'),
  ).toMatchObject({
    status: 400,
    error: { message: expect.stringContaining('text/plain') },
  });
});

test('a body beyond the limit is 413 in the one error shape', async () => {
  const { send } = await start();
  const answer = await send(
    'POST',
    '/v1/chat/completions',
    { 'content-type': 'application/json' },
    `{"model":"m1","pad":"${'x'.repeat(51 * 1024 * 1024)}"}`,
  ).catch(() => undefined);
  // The connection may be closed while we still send; when there is an answer, it is this one.
  if (answer !== undefined)
    expect(answer).toMatchObject({ status: 413, error: { code: 'request_too_large' } });
});

test('an image for a model whose modalities exclude it is a 400 that says what it takes', async () => {
  const vendor = await startVendor();
  const configuration = oneModel(vendor.url).replace(
    'max_output: 1000, price: { input: 1000',
    'max_output: 1000, modalities: { in: [text], out: [text] }, price: { input: 1000',
  );
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  const messages = [
    {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }],
    },
  ];
  const response = await running.post('/v1/chat/completions', { model: 'm1', messages });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: { param: 'messages[0].content[0]', message: expect.stringContaining('text') },
  });
  expect(vendor.received).toHaveLength(0);
});

test('browsers may ask: preflight and exposed headers', async () => {
  const { send } = await start();
  const preflight = await send('OPTIONS', '/v1/chat/completions', {
    authorization: '',
    origin: 'https://example.org',
    'access-control-request-method': 'POST',
  });
  expect(preflight.status).toBe(204);
  // RFC 9110 §8.6 forbids a length in this response.
  expect(preflight.headers.get('content-length')).toBeNull();
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization');
  const list = await send('GET', '/v1/models', { origin: 'https://example.org' });
  expect(list.headers.get('access-control-allow-origin')).toBe('*');
  expect(list.headers.get('access-control-expose-headers')).toContain('x-request-id');
});

test('requests beyond the group’s limits are 429 rate_limit_exceeded with their headers', async () => {
  const vendor = await startVendor();
  const configuration = oneModel(vendor.url).replace(
    '{ name: default, price_multiplier: 1.0 }',
    '{ name: default, price_multiplier: 1.0, limits: { rpm: 3 } }',
  );
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  const answers = [];
  for (let i = 0; i < 5; i++) answers.push(await running.post('/v1/chat/completions', hello));
  expect(answers.map((answer) => answer.status)).toEqual([200, 200, 200, 429, 429]);
  expect(answers[0]?.headers.get('x-ratelimit-limit-requests')).toBe('3');
  const refused = answers[3];
  expect(await refused?.json()).toMatchObject({
    error: { code: 'rate_limit_exceeded', type: 'requests', param: null },
  });
  expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(Number(refused?.headers.get('retry-after-ms'))).toBeGreaterThan(0);
  expect(refused?.headers.get('x-ratelimit-remaining-requests')).toBe('0');
});

test('too many requests at once are refused, and the place is free again afterwards', async () => {
  const vendor = await startVendor();
  const configuration = oneModel(vendor.url).replace(
    '{ name: default, price_multiplier: 1.0 }',
    '{ name: default, price_multiplier: 1.0, limits: { concurrency: 2 } }',
  );
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  vendor.answer(
    (_request, response) => void setTimeout(() => json(response, 200, completion()), 200),
  );
  const statuses = (
    await Promise.all([1, 2, 3, 4].map(() => running.post('/v1/chat/completions', hello)))
  )
    .map((answer) => answer.status)
    .sort();
  expect(statuses).toEqual([200, 200, 429, 429]);
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
});

test('a disabled key and one that has expired are refused within a second, a new one works at once', async () => {
  const { running, send } = await start();
  const { setKeyStatus } = await import('../src/accounts/keys.ts');
  const fresh = await running.newKey();
  const authorization = { authorization: `Bearer ${fresh.secret}` };
  expect((await send('GET', '/v1/models', authorization)).status).toBe(200);
  await running.gateway.database.transact(() => setKeyStatus(fresh.id, 'disabled'));
  await expect
    .poll(async () => (await send('GET', '/v1/models', authorization)).status, {
      timeout: 1_000,
      interval: 50,
    })
    .toBe(401);
  const old = await running.newKey({ expiresAt: 1_000 });
  expect((await send('GET', '/v1/models', { authorization: `Bearer ${old.secret}` })).status).toBe(
    401,
  );
});

test('liveness, readiness and metrics are there, metrics only for who has the token', async () => {
  const { running, send } = await start();
  expect((await send('GET', '/healthz', { authorization: '' })).status).toBe(200);
  expect((await send('GET', '/readyz', { authorization: '' })).status).toBe(200);
  await running.post('/v1/chat/completions', hello);
  expect((await send('GET', '/metrics')).status).toBe(401);
  const { text } = await send('GET', '/metrics', { authorization: 'Bearer metrics' });
  expect(text).toContain('tollgate_requests_total{model="m1",channel="a",outcome="ok"} 1');
  expect(text).toContain('tollgate_till_settled_total 1');
  expect(text).toContain('tollgate_till_refused_total 0');
  for (const name of ['overhead', 'before_vendor', 'after_vendor', 'till_queue', 'till_commit'])
    expect(text).toContain(`tollgate_${name}_seconds_count 1`);
  expect(text).toContain('tollgate_first_byte_seconds_count{channel="a"} 1');
  expect(text).toContain('tollgate_channel_state{channel="a",state="healthy"} 1');
  expect(text).toMatch(/^tollgate_till_float_yuan\{part="free"\} 0\.\d+$/m);
  expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
});

test('C12: more output than the model can write is as much as it can, and x-tollgate-max-tokens says so', async () => {
  const { running, vendor } = await start();
  const asked = async (path: string, body: object) => {
    const answer = await running.post(path, { model: 'm1', ...body });
    expect(answer.status, await answer.text()).toBe(200);
    return [
      JSON.parse(vendor.received.at(-1)?.text ?? '{}'),
      answer.headers.get('x-tollgate-max-tokens'),
    ];
  };
  for (const stream of [false, true]) {
    for (const limit of ['max_tokens', 'max_completion_tokens']) {
      expect(
        await asked('/v1/chat/completions', { ...hello, stream, [limit]: 32_000 }),
      ).toMatchObject([{ [limit]: 1_000 }, '1000']);
      expect(
        await asked('/v1/chat/completions', { ...hello, stream, [limit]: 1_000 }),
      ).toMatchObject([{ [limit]: 1_000 }, null]);
    }
    const said = await asked('/v1/chat/completions', { ...hello, stream });
    expect(said[1]).toBe(null);
    expect(
      await asked('/v1/messages', { messages: hello.messages, stream, max_tokens: 32_000 }),
    ).toMatchObject([{ max_tokens: 1_000 }, '1000']);
  }
  // This vendor has Responses of its own, which the scripted one does not speak.
  vendor.answer((_, response) =>
    json(
      response,
      200,
      JSON.stringify({
        id: 'resp_1',
        object: 'response',
        status: 'completed',
        output: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      }),
    ),
  );
  expect(
    await asked('/v1/responses', { input: 'Hello', max_output_tokens: 32_000, store: false }),
  ).toMatchObject([{ max_output_tokens: 1_000 }, '1000']);
  const none = await running.post('/v1/chat/completions', { ...hello, max_tokens: 0 });
  expect([none.status, JSON.parse(await none.text()).error.param]).toEqual([400, 'max_tokens']);
  await running.expectBooks();
});
