import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { hello, oneModel, startRunning } from './support/running.ts';
import {
  chunk,
  completion,
  json,
  sse,
  startVendor,
  usageChunk,
} from './support/scripted-vendor.ts';

const events = (text: string): string[] => text.split('\n\n').filter((event) => event !== '');
const contentOf = (text: string): string =>
  events(text)
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)).choices?.[0]?.delta?.content ?? '')
    .join('');

forEachDatabase((_name, _openFresh, fresh) => {
  async function start({ yuan, outputMax = 1_000 }: { yuan?: string; outputMax?: number } = {}) {
    const vendor = await startVendor();
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: oneModel(vendor.url).replaceAll(
        'max_output: 1000',
        `max_output: ${outputMax}`,
      ),
      ...(yuan !== undefined && { yuan }),
    });
    return { vendor, running };
  }

  test('a whole answer: bytes go up as they came but for the model, the public id comes back, the charge is exact', async () => {
    const { vendor, running } = await start();
    const sent =
      '{"model": "m1", "messages":[{"role":"user","content":"Hello"}], "max_tokens": 50, "x_unknown": [1.0, 12345678901234567890], "temperature":1.0}';
    const response = await running.post('/v1/chat/completions', sent);
    expect(response.status).toBe(200);
    const body = JSON.parse(await response.text());
    expect(body).toMatchObject({
      object: 'chat.completion',
      model: 'm1',
      choices: [{ message: { content: 'Hello!' }, finish_reason: 'stop' }],
      usage: { total_tokens: 29 },
    });
    expect(body.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
    expect(response.headers.get('x-request-id')).toMatch(/^req_[0-9a-f]{32}$/);
    expect(vendor.received[0]?.text).toBe(sent.replace('"m1"', '"up"'));
    expect(vendor.received[0]?.headers.authorization).toBe('Bearer up-key');
    expect(await running.balance()).toBe('99.971');
    expect(await running.usage()).toMatchObject([
      {
        cost: 29_000_000n,
        shortfall: 0n,
        status: 'ok',
        input_tokens: 19n,
        output_tokens: 10n,
        estimated: 0n,
        attempts: 1n,
        channel: 'a',
      },
    ]);
    await running.expectBooks();
  });

  test('a stream: usage is metered and hidden, the end mark comes after the charge', async () => {
    const { vendor, running } = await start();
    const response = await running.post('/v1/chat/completions', { ...hello, stream: true });
    const text = await response.text();
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(contentOf(text)).toBe('Hello!');
    expect(text).not.toContain('usage');
    expect(events(text).at(-1)).toBe('data: [DONE]');
    expect(JSON.parse(vendor.received[0]?.text ?? '').stream_options).toEqual({
      include_usage: true,
    });
    expect(await running.balance()).toBe('99.971');
    await running.expectBooks();
  });

  test('a stream whose client asked for usage gets it in one last chunk without choices', async () => {
    const { running } = await start();
    const text = await (
      await running.post('/v1/chat/completions', {
        ...hello,
        stream: true,
        stream_options: { include_usage: true },
      })
    ).text();
    const told = events(text).filter((event) => event.includes('"total_tokens"'));
    expect(told).toHaveLength(1);
    expect(JSON.parse(told[0]?.slice(6) ?? '')).toMatchObject({
      choices: [],
      usage: { total_tokens: 29 },
      model: 'm1',
    });
  });

  test('the charge and its record are in the database before the last byte leaves', async () => {
    const { running } = await start();
    const response = await running.post('/v1/chat/completions', { ...hello, stream: true });
    const reader = response.body?.getReader();
    let text = '';
    while (!text.includes('[DONE]')) {
      const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
      if (done) break;
      text += Buffer.from(value ?? []).toString();
    }
    expect(await running.usage()).toHaveLength(1);
    await reader?.cancel();
  });

  test.each([false, true])(
    'an empty balance is refused at once with its own code, and nothing reaches the vendor (stream: %s)',
    async (stream) => {
      const { vendor, running } = await start({ yuan: '0' });
      // The first refusal loads the tokenizer.
      await running.post('/v1/chat/completions', hello);
      const since = performance.now();
      const response = await running.post('/v1/chat/completions', { ...hello, stream });
      expect(performance.now() - since).toBeLessThan(1_400);
      expect(response.status).toBe(429);
      expect(response.headers.get('x-should-retry')).toBe('false');
      expect(await response.json()).toMatchObject({
        error: { code: 'insufficient_quota', type: 'insufficient_quota', param: null },
      });
      expect(vendor.received).toHaveLength(0);
      await running.expectBooks();
    },
  );

  const faults: readonly (readonly [
    string,
    Parameters<Awaited<ReturnType<typeof startVendor>>['answer']>[0],
    number,
  ])[] = [
    [
      'its 401 is our 503',
      (_request, response) =>
        json(
          response,
          401,
          '{"error":{"message":"Incorrect API key provided: up-key","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}',
        ),
      503,
    ],
    [
      'its 402 is our 503',
      (_request, response) => json(response, 402, '{"error":{"message":"Insufficient Balance"}}'),
      503,
    ],
    [
      'its 403 is our 503',
      (_request, response) => json(response, 403, '{"error":{"message":"forbidden"}}'),
      503,
    ],
    [
      'its 429 is our 503',
      (_request, response) =>
        json(
          response,
          429,
          '{"error":{"message":"slow down","type":"requests","code":"rate_limit_exceeded"}}',
          { 'retry-after': '7' },
        ),
      503,
    ],
    [
      'its 500 is our 503',
      (_request, response) => json(response, 500, '{"error":{"message":"boom"}}'),
      503,
    ],
    [
      'its HTML page is our 503',
      (_request, response) =>
        response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>'),
      503,
    ],
    [
      'HTML with a good status is our 503',
      (_request, response) =>
        response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hi</html>'),
      503,
    ],
    [
      'half an answer is our 503',
      (_request, response) => json(response, 200, completion().slice(0, 80)),
      503,
    ],
    ['an empty answer is our 503', (_request, response) => json(response, 200, ''), 503],
    ['a reset connection is our 503', (_request, response) => response.socket?.destroy(), 503],
    [
      'its 400 is the client’s 400',
      (_request, response) =>
        json(
          response,
          400,
          '{"error":{"message":"bad tool","type":"invalid_request_error","param":"tools[0]","code":null}}',
        ),
      400,
    ],
  ];
  test.each(faults)('blame is right: %s, and nothing is charged', async (_what, answer, status) => {
    const { vendor, running } = await start();
    vendor.answer(answer);
    for (const stream of [false, true]) {
      const response = await running.post('/v1/chat/completions', { ...hello, stream });
      expect(response.status).toBe(status);
      const { error } = JSON.parse(await response.text());
      expect(Object.keys(error).sort()).toEqual(['code', 'message', 'param', 'type']);
      expect(error.message).not.toContain('up-key');
      if (status === 503) expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await running.balance()).toBe('100.00');
    expect(await running.usage()).toEqual([]);
    await running.expectBooks();
  });

  test('a cut stream ends with an error event, without its end mark, and is charged for what was delivered', async () => {
    const { vendor, running } = await start();
    vendor.answer((_request, response) =>
      sse(response).end(
        chunk({ role: 'assistant', content: '' }) + chunk({ content: 'Hello wor' }),
      ),
    );
    const text = await (
      await running.post('/v1/chat/completions', { ...hello, stream: true })
    ).text();
    expect(contentOf(text)).toBe('Hello wor');
    expect(JSON.parse(events(text).at(-1)?.slice(6) ?? '')).toMatchObject({
      error: { type: 'service_unavailable_error', param: null, code: null },
    });
    expect(text).not.toContain('[DONE]');
    expect(await running.usage()).toMatchObject([{ status: 'cut', estimated: 1n }]);
    await running.expectBooks();
  });

  test('a vendor that tells no usage is counted, and the record says so', async () => {
    const { vendor, running } = await start();
    vendor.answer((request, response) => {
      if (request.text.includes('"stream"'))
        sse(response).end(
          chunk({ role: 'assistant', content: '' }) +
            chunk({ content: 'Hello world' }) +
            chunk({}, 'stop') +
            'data: [DONE]\n\n',
        );
      else json(response, 200, completion('Hello world', { usage: undefined }));
    });
    const whole = JSON.parse(await (await running.post('/v1/chat/completions', hello)).text());
    expect(whole.usage.total_tokens).toBe(
      whole.usage.prompt_tokens + whole.usage.completion_tokens,
    );
    expect(whole.usage.completion_tokens).toBeGreaterThan(0);
    const stream = { ...hello, stream: true, stream_options: { include_usage: true } };
    const told = events(await (await running.post('/v1/chat/completions', stream)).text());
    expect(told.at(-1)).toBe('data: [DONE]');
    expect(JSON.parse(told.at(-2)?.slice(6) ?? '')).toMatchObject({
      object: 'chat.completion.chunk',
      model: 'm1',
      choices: [],
      usage: { completion_tokens: expect.any(Number) },
    });
    const records = await running.usage();
    expect(records).toHaveLength(2);
    for (const record of records) {
      expect(record['estimated']).toBe(1n);
      expect(Number(record['input_tokens'])).toBeGreaterThan(0);
      expect(Number(record['output_tokens'])).toBeGreaterThan(0);
    }
    await running.expectBooks();
  });

  test('a stream whose money ends stops cleanly with finish reason length, and costs what there was at most', async () => {
    const { vendor, running } = await start({ yuan: '0.05' });
    let stopped = false;
    vendor.answer(async (_request, response) => {
      sse(response).write(chunk({ role: 'assistant', content: '' }));
      response.on('close', () => {
        stopped = true;
      });
      for (let i = 0; i < 400 && !stopped; i++) {
        response.write(chunk({ content: 'word '.repeat(4) }));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      if (!stopped) response.end(chunk({}, 'stop') + usageChunk + 'data: [DONE]\n\n');
    });
    const text = await (
      await running.post('/v1/chat/completions', { ...hello, max_tokens: 1000, stream: true })
    ).text();
    expect(text).toContain('"finish_reason":"length"');
    expect(events(text).at(-1)).toBe('data: [DONE]');
    await expect.poll(() => stopped).toBe(true);
    expect(await running.usage()).toMatchObject([{ status: 'length' }]);
    expect(Number(await running.balance())).toBeGreaterThanOrEqual(0);
    await running.expectBooks();
  });

  test.each([true, false])(
    'of many events that a vendor sends at once, hardly one beyond the money is sent or owed (stream: %s)',
    async (stream) => {
      const { vendor, running } = await start({ yuan: '0.9', outputMax: 10_000 });
      vendor.answer((_request, response) => {
        sse(response).write(chunk({ role: 'assistant', content: 'Hi' }));
        setTimeout(() => response.write(chunk({ content: 'word '.repeat(8) }).repeat(300)), 50);
      });
      const asked = { ...hello, max_tokens: 10_000, stream };
      const text = await (await running.post('/v1/chat/completions', asked)).text();
      expect(text).toContain('"finish_reason":"length"');
      // 0.9 yuan buy less than 900 tokens, and 300 events have 12,000 bytes of text.
      const content = text.split('word').length * 5;
      expect(content).toBeGreaterThan(1_500);
      const [record] = await running.usage();
      expect(record).toMatchObject({ status: 'length' });
      expect(Number(record?.['shortfall'])).toBeLessThan(0.3e9);
      await running.expectBooks();
    },
  );

  test('a client that leaves while text waits for money does not pay for that text', async () => {
    const { vendor, running } = await start({ yuan: '0.9' });
    let sendRest = (): void => {};
    vendor.answer((_request, response) => {
      sse(response).write(chunk({ role: 'assistant', content: 'Hi' }));
      sendRest = () => void response.write(chunk({ content: 'word '.repeat(2_000) }));
    });
    const leaving = new AbortController();
    const answer = await running.post(
      '/v1/chat/completions',
      { ...hello, max_tokens: 1_000, stream: true },
      { signal: leaving.signal },
    );
    const reader = answer.body?.getReader();
    for (let got = ''; !got.includes('Hi'); )
      got += Buffer.from((await reader?.read())?.value ?? []).toString();
    sendRest();
    // Money is waited for 1.5 s.
    await new Promise((resolve) => setTimeout(resolve, 500));
    leaving.abort();
    await expect
      .poll(() => running.usage())
      .toMatchObject([{ status: 'left', output_tokens: 1n, shortfall: 0n }]);
    await running.expectBooks();
  });

  test('a whole answer that the money covers only in part is streamed inside and cut at the money', async () => {
    const { vendor, running } = await start({ yuan: '0.05' });
    vendor.answer(async (request, response) => {
      expect(JSON.parse(request.text).stream).toBe(true);
      let stopped = false;
      sse(response).write(chunk({ role: 'assistant', content: '' }));
      response.on('close', () => {
        stopped = true;
      });
      for (let i = 0; i < 400 && !stopped; i++) {
        response.write(chunk({ content: 'word '.repeat(4) }));
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    });
    const answer = await running.post('/v1/chat/completions', { ...hello, max_tokens: 2000 });
    const body = JSON.parse(await answer.text());
    expect(body).toMatchObject({
      object: 'chat.completion',
      choices: [{ finish_reason: 'length' }],
    });
    expect(answer.headers.get('x-tollgate-max-tokens')).toBe(String(body.usage.completion_tokens));
    expect(body.choices[0].message.content).toContain('word word');
    await running.expectBooks();
  });

  test.each(['limit', 'dailyLimit', 'monthlyLimit'] as const)(
    'a key with a limit spends no more than that (%s)',
    async (limit) => {
      const { running } = await start();
      const key = await running.newKey({ [limit]: 100_000_000n });
      const statuses: number[] = [];
      for (let i = 0; i < 6; i++) {
        const response = await running.post(
          '/v1/chat/completions',
          { ...hello, max_tokens: 16 },
          { headers: { authorization: `Bearer ${key.secret}` } },
        );
        await response.text();
        statuses.push(response.status);
      }
      expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(2);
      expect(statuses.at(-1)).toBe(429);
      await running.expectBooks();
    },
  );
});
