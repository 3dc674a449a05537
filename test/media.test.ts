import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { sqliteUrl } from './databases.ts';
import { startRunning } from './support/running.ts';
import { completion, json, startVendor } from './support/scripted-vendor.ts';

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGNgYPgPRgwQCgAd7gP9N/RE0AAAAABJRU5ErkJggg==';

const answers = {
  converse: {
    output: { message: { role: 'assistant', content: [{ text: 'A dot.' }] } },
    stopReason: 'end_turn',
    usage: { inputTokens: 9, outputTokens: 2, totalTokens: 11 },
  },
  gemini: {
    candidates: [{ content: { parts: [{ text: 'A dot.' }], role: 'model' }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
  },
  responses: {
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    output: [],
    usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
  },
  anthropic: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'c',
    content: [{ type: 'text', text: 'A dot.' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 9, output_tokens: 2 },
  },
};

/** One vendor that speaks as each is spoken to, and a host of pictures. */
async function start(media = 'allow_private: [127.0.0.0/8]') {
  const vendor = await startVendor();
  vendor.answer(({ url }, response) => {
    if (url.includes('/converse')) json(response, 200, JSON.stringify(answers.converse));
    else if (url.includes('generateContent')) json(response, 200, JSON.stringify(answers.gemini));
    else if (/messages|rawPredict/.test(url))
      json(response, 200, JSON.stringify(answers.anthropic));
    else
      json(
        response,
        200,
        url.endsWith('/responses') ? JSON.stringify(answers.responses) : completion('A dot.'),
      );
  });
  const asked: string[] = [];
  let answer = (_: IncomingMessage, response: ServerResponse): unknown =>
    response.end(Buffer.from(png, 'base64'));
  const host = createServer((request, response) => {
    asked.push(request.url ?? '');
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    host.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    host.closeAllConnections();
    host.close();
  });
  const channel = (name: string, prefix: string, upstream: string, key = 'up-key'): string =>
    `  - { name: ${name}, vendor: ${name}, base_url: "${vendor.url}${prefix}", api_key: ${key}, models: [{ id: of-${name}, upstream: "${upstream}" }] }`;
  const names = ['bedrock', 'gemini', 'vertex', 'anthropic', 'ollama', 'openai'];
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: `
settings: { media: { ${media} } }
models:
${names.map((name) => `  - { id: of-${name}, owned_by: x, kind: chat, max_output: 1000, price: { input: 1000, output: 1000 } }`).join('\n')}
channels:
${channel('bedrock', '', 'anthropic.claude-sonnet-4-5')}
${channel('gemini', '/v1beta', 'gemini-2.5-flash')}
${channel('vertex', '', 'claude-sonnet-4-5')}
${channel('anthropic', '/v1', 'claude-sonnet-4-5')}
${channel('ollama', '/v1', 'llava')}
${channel('openai', '/v1', 'gpt-4.1')}
`,
  });
  const { port } = host.address() as AddressInfo;
  return {
    vendor,
    running,
    asked,
    at: (path: string) => `http://127.0.0.1:${port}/${path}`,
    serve: (how: typeof answer) => (answer = how),
    sent: () => vendor.received.at(-1)?.text ?? '',
  };
}

const chat = (model: string, url: string) => ({
  model,
  max_tokens: 20,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it? 你好' },
        { type: 'image_url', image_url: { url } },
      ],
    },
  ],
});
const messages = (model: string, url: string, type = 'image') => ({
  model,
  max_tokens: 20,
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'What is it?' },
        { type, source: { type: 'url', url } },
      ],
    },
  ],
});
const responses = (model: string, url: string) => ({
  model,
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'What is it?' },
        { type: 'input_image', image_url: url },
      ],
    },
  ],
});
const asks = {
  '/v1/chat/completions': chat,
  '/v1/messages': messages,
  '/v1/responses': responses,
} as const;
const paths = Object.keys(asks) as (keyof typeof asks)[];
const params = {
  '/v1/chat/completions': 'messages[0].content[1].image_url.url',
  '/v1/messages': 'messages[0].content[1].source.url',
  '/v1/responses': 'input[0].content[1].image_url',
} as const;

test.each([
  ['of-bedrock', { image: { format: 'png', source: { bytes: png } } }],
  ['of-gemini', { inlineData: { mimeType: 'image/png', data: png } }],
  ['of-vertex', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }],
  ['of-ollama', { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } }],
])('a picture by address reaches %s as its bytes, in every client format', async (model, block) => {
  const { running, at, asked, sent } = await start();
  for (const path of paths) {
    const response = await running.post(path, asks[path](model, at('picture')));
    expect(response.status, path).toBe(200);
    expect(JSON.stringify(await response.json())).toContain('A dot.');
    expect(sent(), path).toContain(JSON.stringify(block));
    expect(sent()).not.toContain(at('picture'));
  }
  expect(asked).toEqual(['/picture', '/picture', '/picture']);
  expect(await running.usage()).toHaveLength(3);
});

test('a vendor that reads addresses gets the address, and nobody downloads it', async () => {
  const { running, asked, sent } = await start();
  const url = 'https://pictures.example/dot.png';
  for (const model of ['of-openai', 'of-anthropic', 'of-gemini']) {
    for (const path of paths) {
      expect((await running.post(path, asks[path](model, url))).status, `${model} ${path}`).toBe(
        200,
      );
      expect(sent()).toContain(url);
    }
  }
  expect(asked).toEqual([]);
});

test('input with such a picture is counted here, and nothing is downloaded for it', async () => {
  const { running, at, asked } = await start();
  const response = await running.post(
    '/v1/messages/count_tokens',
    messages('of-bedrock', at('picture')),
  );
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ input_tokens: expect.any(Number) });
  expect(asked).toEqual([]);
});

test('files are what their bytes say, and texts are read', async () => {
  const { running, at, sent, serve } = await start();
  serve((_, response) => response.end('%PDF-1.7\n…'));
  const file = { type: 'file', file: { filename: 'paper', file_data: at('paper') } };
  const ask = { model: 'of-bedrock', messages: [{ role: 'user', content: [file] }] };
  expect((await running.post('/v1/chat/completions', ask)).status).toBe(200);
  expect(sent()).toContain('"document":{"format":"pdf","name":"paper"');
  expect(
    (await running.post('/v1/messages', messages('of-vertex', at('paper'), 'document'))).status,
  ).toBe(200);
  expect(sent()).toContain('"media_type":"application/pdf"');
  serve((_, response) => response.end('Grüße'));
  expect(
    (await running.post('/v1/messages', messages('of-vertex', at('notes'), 'document'))).status,
  ).toBe(200);
  expect(JSON.parse(sent())).toMatchObject({
    messages: [{ content: [{}, { source: { type: 'text', data: 'Grüße' } }] }],
  });
});

test.each(paths)(
  'what cannot be downloaded is a 400 of %s that names it, costs nothing and asks no vendor',
  async (path) => {
    const { running, at, serve, vendor } = await start();
    const whys: string[] = [];
    for (const how of [404, '<!doctype html><p>Log in', 'location'] as const) {
      serve((_, response) => {
        if (how === 404) response.writeHead(404).end();
        else if (how === 'location')
          response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
        else response.end(how);
      });
      const response = await running.post(path, asks[path]('of-bedrock', at('a')));
      expect(response.status).toBe(400);
      const text = await response.text();
      expect(text).toContain(params[path]);
      whys.push(text);
    }
    expect(whys[0]).toContain('its host answered 404.');
    expect(whys[1]).toContain('a web page, no image.');
    expect(whys[2]).toContain('not on the public internet');
    expect(vendor.received).toEqual([]);
    expect(await running.balance()).toBe('100.00');
    expect(await running.usage()).toEqual([]);
    // Nobody's channel suffered for it.
    serve((_, response) => response.end(Buffer.from(png, 'base64')));
    expect((await running.post(path, asks[path]('of-bedrock', at('a')))).status).toBe(200);
  },
);

test('nothing that is not public is downloaded unless it is allowed', async () => {
  const { running, at, asked } = await start('redirects: 1');
  const response = await running.post('/v1/chat/completions', chat('of-bedrock', at('a')));
  expect(await response.json()).toMatchObject({
    error: { param: params['/v1/chat/completions'], code: 'invalid_request_error' },
  });
  expect(response.status).toBe(400);
  expect(asked).toEqual([]);
});

test('a client that leaves while its picture is on the way pays nothing', async () => {
  const { running, at, asked, serve, vendor } = await start();
  serve(() => {});
  const leaving = new AbortController();
  const left = running.post('/v1/chat/completions', chat('of-bedrock', at('slow')), {
    signal: leaving.signal,
  });
  await expect.poll(() => asked.length).toBe(1);
  leaving.abort();
  await expect(left).rejects.toThrow('aborted');
  await expect.poll(() => running.gateway.parts.watch.open).toBe(0);
  expect(vendor.received).toEqual([]);
  expect(await running.balance()).toBe('100.00');
});
