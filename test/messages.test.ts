import type { ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { messagesMeaning } from './messages-meaning.ts';
import { type RunningOptions, startRunning } from './support/running.ts';
import { json, sse, startVendor } from './support/scripted-vendor.ts';

/** A vendor that speaks /v1/messages itself, from the client's request to the charge. */
const configuration = (url: string, more = ''): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - id: claude
    owned_by: anthropic
    kind: chat
    context: 200000
    max_output: 1000
    modalities: { in: [text, image], out: [text] }
    price: { input: 1000, cached_input: 100, cache_write_5m: 1250, cache_write_1h: 2000, output: 5000 }
channels:
  - { name: a, vendor: anthropic, base_url: "${url}/v1", api_key: up-key, groups: [default], models: [{ id: claude, upstream: claude-opus-4-6 }] }
${more}`;

const hello = { model: 'claude', max_tokens: 50, messages: [{ role: 'user', content: 'Hello' }] };
const usage = {
  input_tokens: 10,
  cache_creation_input_tokens: 30,
  cache_read_input_tokens: 40,
  cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
  output_tokens: 1,
  service_tier: 'standard',
};
const message = {
  id: 'msg_up',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-6',
  content: [{ type: 'text', text: 'Hello!' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { ...usage, output_tokens: 4, x_future: 1.0 },
};
/** 10 input, 40 read, 10 and 20 written, 4 output, at the prices above: thousandths of a yuan. */
const cost = (10 * 1000 + 40 * 100 + 10 * 1250 + 20 * 2000 + 4 * 5000) / 1e6;

const event = (data: { type: string } & Record<string, unknown>): string =>
  `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const start = event({
  type: 'message_start',
  message: { ...message, content: [], stop_reason: null, usage },
});
const block = event({
  type: 'content_block_start',
  index: 0,
  content_block: { type: 'text', text: '' },
});
const text = (piece: string): string =>
  event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } });
const end =
  event({ type: 'content_block_stop', index: 0 }) +
  event({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 4 },
  });
const stop = event({ type: 'message_stop' });
const overloaded = event({
  type: 'error',
  error: { type: 'overloaded_error', message: 'Overloaded' },
});

const typesOf = (body: string): string[] =>
  [...body.matchAll(/^event: (\w+)$/gm)].map((match) => match[1] ?? '');
const answer = (request: { text: string }, response: ServerResponse): void => {
  if (!request.text.includes('"stream":true')) return json(response, 200, JSON.stringify(message));
  sse(response).end(
    start + block + event({ type: 'ping' }) + text('Hel') + text('lo!') + end + stop,
  );
};

forEachDatabase((_name, _openFresh, fresh) => {
  async function begin(
    options: {
      yuan?: string;
      limits?: RunningOptions['limits'];
      more?: (url: string) => string;
    } = {},
  ) {
    const vendor = await startVendor();
    vendor.answer(answer);
    const { more, ...rest } = options;
    const text = configuration(vendor.url, more?.(vendor.url));
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: text,
      ...rest,
    });
    return { vendor, running };
  }

  test('a whole answer: the client’s bytes and headers go up, the vendor’s come back, each class of tokens has its price', async () => {
    const { vendor, running } = await begin();
    const sent =
      '{"model": "claude", "max_tokens":50,"messages":[{"role":"user","content":"Hello"}], "x_unknown": [1.0, 12345678901234567890]}';
    const headers = {
      'x-api-key': running.key,
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'a-1,b-2',
      'x-other': 'kept here',
    };
    const response = await fetch(`${running.url}/v1/messages?beta=true`, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: sent,
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
    const id = `msg_${response.headers.get('request-id')?.slice(4)}`;
    expect(await response.text()).toBe(
      JSON.stringify(message).replace('msg_up', id).replace('claude-opus-4-6', 'claude'),
    );
    const [got] = vendor.received;
    expect(got).toMatchObject({
      url: '/v1/messages',
      text: sent.replace('"claude"', '"claude-opus-4-6"'),
    });
    expect(got?.headers).toMatchObject({
      'x-api-key': 'up-key',
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'a-1,b-2',
    });
    expect(got?.headers['x-other']).toBeUndefined();
    expect(await running.balance()).toBe(String(100 - cost));
    const [record] = await running.usage();
    expect(record).toMatchObject({
      status: 'ok',
      capability: 'messages',
      input_tokens: 80n,
      output_tokens: 4n,
      estimated: 0n,
    });
    await running.expectBooks();
  });

  test('C6: what older LangChain sends to say nothing reaches no vendor, and the client is told', async () => {
    const { vendor, running } = await begin();
    const off = { top_k: -1, top_p: -1 };
    for (const stream of [false, true]) {
      const answer = await running.post('/v1/messages', { ...hello, ...off, stream });
      expect([answer.status, answer.headers.get('x-tollgate-dropped')]).toEqual([
        200,
        'top_k, top_p',
      ]);
      await answer.text();
      expect(Object.keys(JSON.parse(vendor.received.at(-1)?.text ?? '{}'))).not.toContain('top_k');
      expect(Object.keys(JSON.parse(vendor.received.at(-1)?.text ?? '{}'))).not.toContain('top_p');
    }
    await running.expectBooks();
  });

  test('a client without headers of the format speaks its first version', async () => {
    const { vendor, running } = await begin();
    await (await running.post('/v1/messages', hello)).text();
    expect(vendor.received[0]?.headers['anthropic-version']).toBe('2023-06-01');
    expect(vendor.received[0]?.headers['authorization']).toBeUndefined();
  });

  test('a stream: events as they came but for id and model, and message_stop after the charge', async () => {
    const { running } = await begin();
    const response = await running.post('/v1/messages', { ...hello, stream: true });
    const reader = response.body?.getReader();
    let body = '';
    for (let done = false; !done && !body.includes('message_stop'); ) {
      const read = await reader?.read();
      body += Buffer.from(read?.value ?? []).toString();
      done = read?.done ?? true;
    }
    expect(await running.usage()).toMatchObject([
      { status: 'ok', input_tokens: 80n, output_tokens: 4n },
    ]);
    const id = `msg_${response.headers.get('request-id')?.slice(4)}`;
    const began = start.replace('msg_up', id).replace('claude-opus-4-6', 'claude');
    expect(body).toBe(
      began + block + event({ type: 'ping' }) + text('Hel') + text('lo!') + end + stop,
    );
    expect(await running.balance()).toBe(String(100 - cost));
    await running.expectBooks();
  });

  test('a whole answer where a stream was asked for is told as one', async () => {
    const { vendor, running } = await begin();
    const call = { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } };
    const whole = {
      ...message,
      content: [{ type: 'thinking', thinking: 'Hm.', signature: 's' }, ...message.content, call],
      stop_reason: 'tool_use',
    };
    vendor.answer((_request, response) => json(response, 200, JSON.stringify(whole)));
    const body = await (await running.post('/v1/messages', { ...hello, stream: true })).text();
    const told = messagesMeaning(body);
    expect(told).toMatchObject({
      text: 'Hello!',
      reasoning: 'Hm.',
      calls: [{ name: 'f', args: '{"a":1}' }],
      finish: 'tool_calls',
    });
    expect(typesOf(body).at(-1)).toBe('message_stop');
    expect(await running.usage()).toMatchObject([
      { status: 'ok', input_tokens: 80n, output_tokens: 4n },
    ]);
    await running.expectBooks();
  });

  test('a cut stream is an error event without message_stop, charged by the vendor’s count of the input and by what was delivered', async () => {
    const { vendor, running } = await begin();
    vendor.answer((_request, response) => sse(response).end(start + block + text('Hello wor')));
    const response = await running.post('/v1/messages', { ...hello, stream: true });
    const body = await response.text();
    expect(typesOf(body)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'error',
    ]);
    expect(body).toContain(`"request_id":"${response.headers.get('request-id')}"`);
    expect(await running.usage()).toMatchObject([
      { status: 'cut', estimated: 1n, input_tokens: 80n, output_tokens: 3n },
    ]);
    await running.expectBooks();
  });

  test('an error inside a stream is one inside the client’s, and is charged for what was delivered', async () => {
    const { vendor, running } = await begin();
    vendor.answer((_request, response) =>
      sse(response).end(start + block + text('Hello wor') + overloaded + text('no more')),
    );
    const body = await (await running.post('/v1/messages', { ...hello, stream: true })).text();
    expect(typesOf(body).at(-1)).toBe('error');
    expect(body).toContain('"type":"overloaded_error"');
    expect(body).not.toContain('no more');
    expect(await running.usage()).toMatchObject([{ status: 'cut' }]);
    await running.expectBooks();
  });

  test('an error before the first block moves to the next channel, and the client sees one answer', async () => {
    const other = (url: string): string =>
      `  - { name: b, vendor: anthropic, base_url: "${url}/v1", api_key: up-key, groups: [default], models: [claude], priority: 1 }\n`;
    const { vendor, running } = await begin({ more: other });
    vendor.answer((request, response) =>
      request.text.includes('claude-opus-4-6')
        ? sse(response).end(start + overloaded)
        : answer(request, response),
    );
    const body = await (await running.post('/v1/messages', { ...hello, stream: true })).text();
    expect(typesOf(body).filter((type) => type === 'message_start')).toHaveLength(1);
    expect(typesOf(body).at(-1)).toBe('message_stop');
    expect(await running.usage()).toMatchObject([{ channel: 'b', attempts: 2n }]);
    await running.expectBooks();
  });

  const endless = async (_request: unknown, response: ServerResponse): Promise<void> => {
    let stopped = false;
    sse(response).write(
      start.replace('"cache_read_input_tokens":40', '"cache_read_input_tokens":0') + block,
    );
    response.on('close', () => {
      stopped = true;
    });
    for (let i = 0; i < 400 && !stopped; i++) {
      response.write(text('word '.repeat(4)));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  test('a stream whose money ends closes its block and stops for max_tokens', async () => {
    const { vendor, running } = await begin({ yuan: '0.5' });
    vendor.answer(endless);
    const body = await (
      await running.post('/v1/messages', { ...hello, max_tokens: 1000, stream: true })
    ).text();
    expect(typesOf(body).slice(-3)).toEqual([
      'content_block_stop',
      'message_delta',
      'message_stop',
    ]);
    expect(body).toContain('"stop_reason":"max_tokens"');
    expect(await running.usage()).toMatchObject([{ status: 'length' }]);
    expect(Number(await running.balance())).toBeGreaterThanOrEqual(0);
    await running.expectBooks();
  });

  test('a whole answer that the money covers only in part is streamed inside and cut at the money', async () => {
    const { vendor, running } = await begin({ yuan: '0.5' });
    vendor.answer(endless);
    const body = JSON.parse(
      await (await running.post('/v1/messages', { ...hello, max_tokens: 1000 })).text(),
    );
    expect(body).toMatchObject({ type: 'message', model: 'claude', stop_reason: 'max_tokens' });
    expect(body.content[0].text).toContain('word word');
    expect(vendor.received[0]?.text).toContain('"stream":true');
    await running.expectBooks();
  });

  test('more than the model can write becomes what it can; an empty balance, an unsold medium and an unknown model are refused in this shape', async () => {
    const { vendor, running } = await begin();
    await (await running.post('/v1/messages', { ...hello, max_tokens: 32_000 })).text();
    expect(JSON.parse(vendor.received[0]?.text ?? '').max_tokens).toBe(1000);
    const document = {
      type: 'document',
      source: { type: 'url', url: 'https://example.com/a.pdf' },
    };
    const refused = async (body: object, headers: Record<string, string> = {}) => {
      const response = await running.post('/v1/messages', body, { headers });
      return [response.status, JSON.parse(await response.text()).error.type];
    };
    expect(await refused({ ...hello, messages: [{ role: 'user', content: [document] }] })).toEqual([
      400,
      'invalid_request_error',
    ]);
    expect(await refused({ ...hello, model: 'other' })).toEqual([404, 'not_found_error']);
    expect(await refused(hello, { authorization: 'Bearer sk-wrong' })).toEqual([
      401,
      'authentication_error',
    ]);
    const wrongMethod = await fetch(`${running.url}/v1/messages`, {
      headers: { 'x-api-key': running.key },
    });
    expect(wrongMethod.status).toBe(405);
    expect(await wrongMethod.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error' },
    });
    const unknown = await fetch(`${running.url}/v1/messages/batches`, {
      method: 'POST',
      headers: { 'x-api-key': running.key },
    });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error' },
    });
    expect(vendor.received).toHaveLength(1);
    await running.expectBooks();
  });

  test('blame is right: a vendor’s 401, 402, 403, 429 and 529 are our 503, its 400 is the client’s, and nothing is charged', async () => {
    const { vendor, running } = await begin();
    const told = (type: string) =>
      JSON.stringify({ type: 'error', error: { type, message: `no: ${type}` } });
    for (const [status, type, ours] of [
      [400, 'invalid_request_error', 400],
      [429, 'rate_limit_error', 503],
      [529, 'overloaded_error', 503],
      [403, 'permission_error', 503],
      [402, 'billing_error', 503],
      [401, 'authentication_error', 503],
    ] as const) {
      vendor.answer((_request, response) => json(response, status, told(type)));
      const response = await running.post('/v1/messages', hello);
      expect([status, response.status]).toEqual([status, ours]);
      const { error } = JSON.parse(await response.text());
      expect(error.type).toBe(ours === 400 ? 'invalid_request_error' : 'overloaded_error');
    }
    expect(await running.usage()).toEqual([]);
    await running.expectBooks();
  });

  test('a vendor that tells no usage is counted, and the client is told that count', async () => {
    const { vendor, running } = await begin();
    vendor.answer((_request, response) =>
      json(response, 200, JSON.stringify({ ...message, usage: undefined })),
    );
    const body = JSON.parse(await (await running.post('/v1/messages', hello)).text());
    const [record] = await running.usage();
    expect(record).toMatchObject({ estimated: 1n });
    expect(body.usage).toMatchObject({
      input_tokens: Number(record?.['input_tokens']),
      output_tokens: Number(record?.['output_tokens']),
    });
    expect(body.usage.output_tokens).toBeGreaterThan(0);
    await running.expectBooks();
  });

  test('a count of tokens is the vendor’s where it tells one, ours where not, and costs nothing', async () => {
    const { vendor, running } = await begin();
    const { max_tokens: _, ...question } = hello;
    vendor.answer((_request, response) => json(response, 200, '{"input_tokens":8,"x":1}'));
    const told = await running.post('/v1/messages/count_tokens', question);
    expect(await told.text()).toBe('{"input_tokens":8,"x":1}');
    expect(vendor.received[0]).toMatchObject({ url: '/v1/messages/count_tokens' });
    vendor.answer((_request, response) =>
      json(response, 529, '{"type":"error","error":{"type":"overloaded_error","message":"no"}}'),
    );
    expect(
      JSON.parse(await (await running.post('/v1/messages/count_tokens', question)).text())
        .input_tokens,
    ).toBeGreaterThan(0);
    vendor.answer((_request, response) =>
      json(
        response,
        400,
        '{"type":"error","error":{"type":"invalid_request_error","message":"bad"}}',
      ),
    );
    expect((await running.post('/v1/messages/count_tokens', question)).status).toBe(400);
    expect(await running.balance()).toBe('100.00');
    expect(await running.usage()).toEqual([]);
    await running.expectBooks();
  });

  test('counts of tokens have a limit for each key where the group has none, and the vendor is not asked beyond it', async () => {
    const { vendor, running } = await begin({ limits: { countsPerMinute: 2 } });
    const { max_tokens: _, ...question } = hello;
    vendor.answer((_request, response) => json(response, 200, '{"input_tokens":8}'));
    const count = (key?: string) =>
      running.post(
        '/v1/messages/count_tokens',
        question,
        key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } },
      );
    expect([(await count()).status, (await count()).status]).toEqual([200, 200]);
    const refused = await count();
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    const input = await running.post('/v1/responses/input_tokens', {
      model: question.model,
      input: 'Hello',
    });
    expect(input.status).toBe(429);
    expect((await count((await running.newKey()).secret)).status).toBe(200);
    expect(vendor.received).toHaveLength(3);
    vendor.answer((_request, response) => json(response, 200, JSON.stringify(message)));
    expect((await running.post('/v1/messages', hello)).status).toBe(200);
  });

  test('what another model thought and signed stays away from Claude', async () => {
    const { vendor, running } = await begin();
    const call = { type: 'tool_use', id: 't', name: 'f', input: {} };
    // LibreChat sends the second for the first, which had no `signature_delta`.
    const unsigned = { type: 'thinking', thinking: 'Hm.' };
    const turn = {
      role: 'assistant',
      content: [
        { ...unsigned, signature: '' },
        unsigned,
        { ...call, extra_content: { google: { thought_signature: 'c2ln' } } },
      ],
    };
    const result = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: 'ok' }],
    };
    await (
      await running.post('/v1/messages', { ...hello, messages: [...hello.messages, turn, result] })
    ).text();
    expect(JSON.parse(vendor.received[0]?.text ?? '').messages[1].content).toEqual([call]);
  });
});
