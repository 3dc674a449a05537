import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { onSqlite } from './databases.ts';
import { startRunning } from './support/running.ts';
import { json, startVendor } from './support/scripted-vendor.ts';

/** Requests in Google's format that a client writes so that less is counted than is read. */
const configuration = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: gem, owned_by: google, kind: chat, context: 200000, max_output: 1000, modalities: { in: [text, file], out: [text] }, price: { input: 1000, output: 1000 } }
  - { id: plain, owned_by: google, kind: chat, context: 200000, max_output: 1000, modalities: { in: [text], out: [text] }, price: { input: 1000, output: 1000 } }
  - { id: vec, owned_by: google, kind: embedding, context: 8000, price: { input: 1000 } }
  - { id: claude, owned_by: anthropic, kind: chat, context: 200000, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: a, vendor: gemini, base_url: "${url}/v1beta", api_key: up-key, groups: [default], models: [{ id: gem, upstream: gemini-3-flash }, { id: plain, upstream: gemini-3-flash }, { id: vec, upstream: gemini-embedding-001 }] }
  - { name: b, vendor: anthropic, base_url: "${url}", api_key: up-key, groups: [default], models: [{ id: claude, upstream: claude-haiku-4-5 }] }
`;

/** 180,000 tokens, or 180 yuan. */
const long = 'word '.repeat(180_000);
const base64 = Buffer.from(long).toString('base64');
const answer = JSON.stringify({
  candidates: [{ content: { parts: [{ text: 'Hi' }], role: 'model' }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 180_000, candidatesTokenCount: 1 },
});
const generationConfig = { maxOutputTokens: 10 };
const user = (part: object): object => ({ role: 'user', parts: [part] });
const asking = (part: object, config: object = {}): object => ({
  contents: [user(part)],
  generationConfig: { ...generationConfig, ...config },
});
const answered = (args: object, response: object): object => ({
  contents: [
    user({ text: 'Hello' }),
    {
      role: 'model',
      parts: [{ functionCall: { name: 'f', args }, thoughtSignature: 'c2ln' }],
    },
    user({ functionResponse: { name: 'f', response } }),
  ],
  generationConfig,
});
const text = { parts: [{ text: 'a' }] };
const file = (fileUri: string): object => asking({ fileData: { mimeType: 'text/plain', fileUri } });

onSqlite((_name, _openFresh, fresh) => {
  async function begin(yuan: string) {
    const vendor = await startVendor();
    vendor.answer((_request, response) => json(response, 200, answer));
    const databaseUrl = (await fresh(migrations)).url;
    const running = await startRunning({
      databaseUrl,
      configuration: configuration(vendor.url),
      yuan,
    });
    const ask = (method: string, body: object): Promise<Response> =>
      running.post(`/v1beta/models/${method}`, body);
    return { vendor, running, ask };
  }

  test.for<readonly [string, object]>([
    ['in a member of a result that is named as media are', answered({}, { data: long })],
    ['in the name of a member of a result', answered({}, { [long]: 1 })],
    ['in the arguments of a call', answered({ role: long }, { ok: true })],
    [
      'in a schema',
      asking(
        { text: 'Hello' },
        {
          responseMimeType: 'application/json',
          responseSchema: { type: 'OBJECT', description: long },
        },
      ),
    ],
    ['in a file of text', asking({ inlineData: { mimeType: 'text/plain', data: base64 } })],
  ])('a text %s is paid for, or is not sent', async ([_where, body]) => {
    const { vendor, running, ask } = await begin('30');
    const response = await ask('gem:generateContent', body);
    expect(response.status).toBe(429);
    expect(vendor.received).toEqual([]);
    await running.expectBooks();
  });

  test('a text in the input of a tool call of /v1/messages is paid for, or is not sent', async () => {
    const { vendor, running } = await begin('30');
    const id = 'toolu_1';
    const response = await running.post('/v1/messages', {
      model: 'claude',
      max_tokens: 10,
      tools: [{ name: 'f', input_schema: { type: 'object' } }],
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'f', input: { url: long } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
      ],
    });
    expect(response.status).toBe(429);
    expect(vendor.received).toEqual([]);
    await running.expectBooks();
  });

  test.for<readonly [string, object]>([
    ['in the body', asking({ inlineData: { mimeType: 'text/plain', data: base64 } })],
    ['by address', file('https://files.example/a.txt')],
  ])('a file of text %s is charged whole', async ([_where, body]) => {
    const { running, ask } = await begin('1000');
    expect((await ask('gem:generateContent', body)).status).toBe(200);
    expect(await running.usage()).toMatchObject([{ input_tokens: 180_000n }]);
    await running.expectBooks();
  });

  test.for<readonly [string, string, object, string]>([
    ['a file by address, for a model of text', 'plain', file('https://a.example'), 'fileData'],
    ['a file in a bucket', 'gem', file('gs://bucket/secret.txt'), 'fileUri'],
    [
      'a file in the vendor’s store',
      'gem',
      file('https://generativelanguage.googleapis.com/v1beta/files/abc'),
      'fileUri',
    ],
    [
      'media among the instructions',
      'gem',
      {
        ...asking({ text: 'Hello' }),
        systemInstruction: { parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
      },
      'systemInstruction',
    ],
    [
      'media in a result, without a list',
      'plain',
      asking({
        functionResponse: {
          name: 'f',
          response: {},
          parts: { inlineData: { mimeType: 'video/mp4', data: 'AAAA' } },
        },
      }),
      'inlineData',
    ],
  ])('%s is refused by name and costs nothing', async ([_what, model, body, param]) => {
    const { vendor, running, ask } = await begin('1000');
    const response = await ask(`${model}:generateContent`, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(param);
    expect(vendor.received).toEqual([]);
    expect(await running.balance()).toBe('1000.00');
  });

  test.for<readonly [string, object, string]>([
    ['embedContent', { content: text, requests: [{ content: text }] }, 'requests'],
    ['batchEmbedContents', { content: text, requests: [{ content: text }] }, 'content'],
    [
      'embedContent',
      { content: { parts: [{ text: 'a', inlineData: { mimeType: 'image/png', data: 'AAAA' } }] } },
      'inlineData',
    ],
  ])('%s refuses what it does not count', async ([method, body, param]) => {
    const { vendor, ask } = await begin('1000');
    const response = await ask(`vec:${method}`, body);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(param);
    expect(vendor.received).toEqual([]);
  });

  test('the title of a vector is charged', async () => {
    const { vendor, running, ask } = await begin('1000');
    vendor.answer((_request, response) => json(response, 200, '{"embedding":{"values":[1]}}'));
    const response = await ask('vec:embedContent', {
      content: text,
      taskType: 'RETRIEVAL_DOCUMENT',
      title: 'word '.repeat(500),
    });
    expect(response.status).toBe(200);
    const [record] = await running.usage();
    expect(Number(record?.['input_tokens'])).toBeGreaterThan(499);
  });
});
