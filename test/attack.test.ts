import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { hello, oneModel, type Running, type RunningOptions } from './support/running.ts';
import { chunk, completion, json, sse, streamOf } from './support/scripted-vendor.ts';
import { startWithVendor } from './support/with-vendor.ts';

const start = (limits: RunningOptions['limits'] = {}, yuan = '100', outputTokensMax = 1_000) =>
  startWithVendor(
    (url) => oneModel(url).replace('max_output: 1000', `max_output: ${outputTokensMax}`),
    { limits, yuan },
  );

const chat = '/v1/chat/completions';
const streamed = { ...hello, stream: true };

/** A client that says exactly these bytes. */
function rawClient(running: Running, bytes: string): Socket {
  const socket = connect(Number(new URL(running.url).port), '127.0.0.1');
  socket.on('error', () => {});
  socket.write(bytes);
  onTestFinished(() => void socket.destroy());
  return socket;
}

function rawPost(running: Running, body: unknown): string {
  const text = JSON.stringify(body);
  return `POST ${chat} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${running.key}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}

function rawChunked(running: Running, body: unknown): string {
  const [head, text = ''] = rawPost(running, body).split('\r\n\r\n');
  const size = Buffer.byteLength(text).toString(16);
  return `${head?.replace(/content-length: \d+/, 'transfer-encoding: chunked')}\r\n\r\n${size}\r\n${text}\r\n0\r\n\r\n`;
}

/** What a raw client is told until the connection ends, or nothing more comes for a while. */
function heard(socket: Socket, quietMs = 300): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    let quiet = setTimeout(() => resolve(text), 2_000);
    socket.on('data', (piece) => {
      text += piece.toString('latin1');
      clearTimeout(quiet);
      quiet = setTimeout(() => resolve(text), quietMs);
    });
    socket.on('close', () => resolve(text));
  });
}

test('a client that pipelines and leaves stops every one of its vendors', async () => {
  const { vendor, running } = await start();
  let open = 0;
  vendor.answer((request, response) => {
    open++;
    response.on('close', () => open--);
    if (request.text.includes('"stream":true'))
      sse(response).write(chunk({ role: 'assistant', content: 'Hi' }));
  });
  const client = rawClient(
    running,
    [streamed, streamed, hello].map((body) => rawPost(running, body)).join(''),
  );
  await expect.poll(() => open).toBe(3);
  client.destroy();
  await expect.poll(() => open, { timeout: 2_000 }).toBe(0);
  // The third was with its vendor, too: what was sent of it is recorded (R3).
  const statuses = async () => (await running.usage()).map(({ status }) => status);
  await expect.poll(statuses).toEqual(['left', 'left', 'left']);
  await running.expectBooks();
});

test('a drain lets a slow reader have the whole of an answer that is paid for', async () => {
  const { vendor, running } = await start();
  const content = 'x'.repeat(8_000_000);
  vendor.answer((_request, response) => json(response, 200, completion(content)));
  const client = rawClient(running, rawPost(running, hello));
  client.pause();
  await expect.poll(async () => (await running.usage()).length).toBe(1);
  const closed = running.gateway.close();
  let bytes = 0;
  client.on('data', (piece) => {
    bytes += piece.length;
  });
  await wait(200);
  client.resume();
  await closed;
  await expect.poll(() => bytes).toBeGreaterThan(content.length);
});

test.each(['content-length', 'chunked'])(
  'a drain waits for a body that has begun to come (%s)',
  async (way) => {
    const { running } = await start();
    const readiness = () => fetch(`${running.url}/readyz`).then(({ status }) => status);
    expect(await readiness()).toBe(200);
    const whole = way === 'chunked' ? rawChunked(running, hello) : rawPost(running, hello);
    const half = whole.length - 30;
    const client = rawClient(running, whole.slice(0, half));
    const answer = heard(client, 5_000);
    await wait(200);
    const closed = running.gateway.close();
    await expect.poll(readiness).toBe(503);
    // For so long that whose it is, is asked once more.
    await wait(1_200);
    client.write(whole.slice(half));
    expect(await answer).toMatch(/^HTTP\/1.1 200 OK[^]*Hello!/);
    await closed;
  },
);

test('a drain does not wait for who leaves in the middle of a body', async () => {
  const { running } = await start();
  const client = rawClient(running, rawPost(running, hello).slice(0, -30));
  await wait(200);
  const closed = running.gateway.close();
  await wait(100);
  client.destroy();
  await closed;
});

test('a vendor that answers whole when a stream is asked for: the client has its stream all the same', async () => {
  const { vendor, running } = await start({ keepAliveMs: 1_000 });
  for (const silentMs of [0, 2_500]) {
    vendor.answer(async (_request, response) => {
      await wait(silentMs);
      json(response, 200, completion('Hello!'));
    });
    const response = await running.post(
      chat,
      { ...streamed, stream_options: { include_usage: true } },
      { signal: AbortSignal.timeout(6_000) },
    );
    const text = await response.text();
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    expect(text).toContain('"delta":{"role":"assistant","content":"Hello!"');
    expect(text).toContain('"total_tokens":29');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  }
  expect(await running.balance()).toBe('99.942');
});

test('a client that reads nothing of a stream is let go, and the vendor with it', async () => {
  // A model that writes so much: another's answer would end at its bound (R2).
  const { vendor, running } = await start({ stalledMs: 2_000 }, '1000000', 100_000_000);
  let gone = false;
  vendor.answer((_request, response) => {
    sse(response).write(chunk({ role: 'assistant', content: '' }));
    const more = (): void => {
      while (!response.destroyed && response.write(chunk({ content: 'x'.repeat(10_000) })));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
    response.on('close', () => {
      gone = true;
    });
  });
  const client = rawClient(running, rawPost(running, { ...streamed, max_tokens: 100_000_000 }));
  client.pause();
  await expect.poll(() => gone, { timeout: 8_000, interval: 200 }).toBe(true);
  await expect.poll(async () => (await running.usage())[0]?.['status']).toBe('left');
}, 15_000);

const shape = {
  error: {
    message: expect.any(String),
    type: 'invalid_request_error',
    param: null,
    code: expect.any(String),
  },
};

test('what is no HTTP, no URL or too large a head is refused in the one shape', async () => {
  const { running } = await start();
  const authorization = `authorization: Bearer ${running.key}`;
  const requests: readonly (readonly [string, number])[] = [
    ['\x16\x03\x01 nonsense\r\n\r\n', 400],
    [`GET /v1/models/%zz HTTP/1.1\r\nhost: x\r\n${authorization}\r\n\r\n`, 404],
    [`GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n`, 404],
    [`GET /v1/models HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`, 431],
    [
      `POST ${chat} HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
    ],
  ];
  for (const [bytes, status] of requests) {
    const answer = await heard(rawClient(running, bytes));
    expect(answer.slice(0, 12), bytes.slice(0, 40)).toBe(`HTTP/1.1 ${status}`);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toEqual(shape);
  }
});

test('a body of a million brackets or commas is refused before it is understood, and nothing is free behind it', async () => {
  const { vendor, running } = await start();
  vendor.answer((_request, response) =>
    json(response, 200, JSON.stringify({ ...JSON.parse(completion()), usage: null })),
  );
  const message = (inside: string): string =>
    `{"model":"m1","messages":[{"role":"user","content":"Hello","x":${inside}}]}`;
  const deep = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  for (const body of [
    message(deep(300)),
    message(deep(100_000)),
    message(`[${'0,'.repeat(1_100_000)}0]`),
  ]) {
    const response = await running.post(chat, body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual(shape);
  }
  expect(vendor.received).toHaveLength(0);
  expect(
    (await running.post(chat, message(`[${deep(200)},"\\"[[[","${'['.repeat(1_000)}"]`))).status,
  ).toBe(200);
  expect(await running.usage()).toMatchObject([{ estimated: 1n }]);
});

test('a refusal repeats no more than a few words of what was sent', async () => {
  const { running } = await start();
  const long = 'x'.repeat(1_000_000);
  for (const body of [
    { ...hello, model: long },
    { ...hello, messages: [{ role: long, content: '' }] },
  ]) {
    const text = await (await running.post(chat, body)).text();
    expect(text.length).toBeLessThan(2_000);
    expect(text).toContain('xxx');
  }
});

test('the vendor’s key is not repeated to the client, whatever it looks like', async () => {
  const { vendor, running } = await start();
  const error = JSON.stringify({
    error: { message: 'up-key may not do this', type: 'invalid_request_error' },
  });
  vendor.answer((_request, response) => json(response, 400, error));
  const refused = await (await running.post(chat, hello)).text();
  vendor.answer((_request, response) =>
    sse(response).end(`${chunk({ role: 'assistant', content: 'Hi' })}data: ${error}\n\n`),
  );
  const broken = await (await running.post(chat, streamed)).text();
  for (const text of [refused, broken]) {
    expect(text).not.toContain('up-key');
    expect(text).toContain('error');
  }
  vendor.answer((_request, response) => sse(response).end(streamOf(['Hi'])));
  expect((await running.post(chat, streamed)).status).toBe(200);
});

test('a vendor that ignores the output limit writes no further than there is money', async () => {
  const { vendor, running } = await start({}, '0.3');
  vendor.answer((_request, response) => {
    sse(response);
    const timer = setInterval(() => response.write(chunk({ content: 'word '.repeat(20) })), 1);
    response.on('close', () => clearInterval(timer));
  });
  const text = await (
    await running.post(
      chat,
      { ...streamed, max_tokens: 20 },
      { signal: AbortSignal.timeout(8_000) },
    )
  ).text();
  expect(text).toContain('"finish_reason":"length"');
  expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
  expect(await running.usage()).toMatchObject([{ status: 'length', shortfall: 0n }]);
  await running.expectBooks();
});
