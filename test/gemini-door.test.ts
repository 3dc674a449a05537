import type { ServerResponse } from 'node:http';
import { GoogleGenAI, Type } from '@google/genai';
import { expect, onTestFinished, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { type RunningOptions, startRunning } from './support/running.ts';
import { png } from './sdk/sdk.ts';
import { completion, json, type Received, sse, startVendor } from './support/scripted-vendor.ts';

/** A vendor of Google's own format, and one of OpenAI's, from the client's request to the charge. */
const configuration = (url: string, more = ''): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - id: gem
    owned_by: google
    kind: chat
    context: 200000
    max_output: 1000
    modalities: { in: [text, image], out: [text] }
    price: { input: 1000, cached_input: 100, output: 5000, reasoning: 5000 }
  - { id: chat/m, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: vec, owned_by: google, kind: embedding, context: 8000, price: { input: 1000 } }
  - { id: vec-2, owned_by: openai, kind: embedding, context: 8000, price: { input: 1000 } }
channels:
  - { name: a, vendor: gemini, base_url: "${url}/v1beta", api_key: up-key, groups: [default], models: [{ id: gem, upstream: gemini-3-flash }, { id: vec, upstream: gemini-embedding-001 }] }
  - { name: c, vendor: openai, base_url: "${url}/v1", api_key: up-key, groups: [default], models: [{ id: chat/m, upstream: up }, vec-2] }
${more}`;

const hello = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
const usageMetadata = {
  promptTokenCount: 50,
  cachedContentTokenCount: 40,
  candidatesTokenCount: 4,
  thoughtsTokenCount: 2,
  totalTokenCount: 56,
  x_future: 1.0,
};
const whole = {
  candidates: [
    {
      content: {
        parts: [{ text: 'Hello!', thoughtSignature: 'c2ln', x_part: [1] }],
        role: 'model',
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata,
  modelVersion: 'gemini-3-flash-preview',
  responseId: 'up-id',
};
/** 10 input, 40 cached, 4 and 2 written, at the prices above: thousandths of a yuan. */
const cost = (10 * 1000 + 40 * 100 + 6 * 5000) / 1e6;

const event = (data: object): string => `data: ${JSON.stringify(data)}\r\n\r\n`;
const piece = (text: string, more: object = {}): object => ({
  candidates: [{ content: { parts: [{ text }], role: 'model' }, index: 0, ...more }],
  modelVersion: 'gemini-3-flash-preview',
  responseId: 'up-id',
});
const last = { ...piece('lo!', { finishReason: 'STOP' }), usageMetadata };

const answer = (request: Received, response: ServerResponse): void => {
  if (!request.url.includes('streamGenerateContent'))
    return json(response, 200, JSON.stringify(whole));
  sse(response).end(event(piece('Hel')) + event(last));
};

const shown = (value: object, id: string): string =>
  JSON.stringify(value).replace('up-id', id).replace('gemini-3-flash-preview', 'gem');

forEachDatabase((_name, _openFresh, fresh) => {
  async function begin(
    options: {
      yuan?: string;
      limits?: RunningOptions['limits'];
      requestLog?: RunningOptions['requestLog'];
      more?: (url: string) => string;
    } = {},
  ) {
    const vendor = await startVendor();
    vendor.answer(answer);
    const { more, ...rest } = options;
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(vendor.url, more?.(vendor.url)),
      ...rest,
    });
    const ask = (method: string, body: unknown = hello, headers: Record<string, string> = {}) =>
      fetch(`${running.url}/v1beta/models/${method}`, {
        method: 'POST',
        headers: { 'x-goog-api-key': running.key, 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    return { vendor, running, ask };
  }

  test('a whole answer: the client’s bytes go up, the vendor’s come back, each class of tokens has its price', async () => {
    const { vendor, running, ask } = await begin();
    const sent =
      '{"contents": [{"parts":[{"text":"Hello","thoughtSignature":"AAAA"}]}], "generation_config":{"max_output_tokens":50, "top_p":0.950}}';
    const response = await ask('gem:generateContent', sent, { 'x-other': 'kept here' });
    expect(response.status).toBe(200);
    const id = response.headers.get('x-request-id')?.slice(4) ?? '';
    expect(await response.text()).toBe(shown(whole, id));
    const [got] = vendor.received;
    expect(got).toMatchObject({
      url: '/v1beta/models/gemini-3-flash:generateContent',
      text: sent,
    });
    expect(got?.headers).toMatchObject({ 'x-goog-api-key': 'up-key' });
    expect(got?.headers['x-other']).toBeUndefined();
    expect(await running.balance()).toBe(String(100 - cost));
    const [record] = await running.usage();
    expect(record).toMatchObject({
      status: 'ok',
      capability: 'generate_content',
      model: 'gem',
      input_tokens: 50n,
      output_tokens: 6n,
      estimated: 0n,
    });
    await running.expectBooks();
  });

  test('only the model, a limit beyond the model’s, and our own signatures change', async () => {
    const { vendor, ask } = await begin();
    const ours = Buffer.from('tgsig1[]').toString('base64');
    const calls = [
      { functionCall: { name: 'f', args: {} }, thoughtSignature: ours },
      { text: 'x', thought_signature: ours },
    ];
    const sent = {
      model: 'models/gem',
      contents: [...hello.contents, { role: 'model', parts: calls }],
      generation_config: { max_output_tokens: '5000', topP: 0.5 },
    };
    const response = await ask('gem:generateContent', sent);
    expect(response.headers.get('x-tollgate-max-tokens')).toBe('1000');
    expect(JSON.parse(vendor.received[0]?.text ?? '')).toEqual({
      model: 'models/gemini-3-flash',
      contents: [
        ...hello.contents,
        {
          role: 'model',
          parts: [
            {
              functionCall: { name: 'f', args: {} },
              thoughtSignature: 'skip_thought_signature_validator',
            },
            { text: 'x' },
          ],
        },
      ],
      generation_config: { max_output_tokens: 1000, topP: 0.5 },
    });
  });

  test('a stream: its events as they came but for id and model, the last one after the charge', async () => {
    const { running, ask } = await begin();
    const response = await ask('gem:streamGenerateContent?alt=sse');
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const reader = response.body?.getReader();
    let body = '';
    for (let done = false; !done && !body.includes('STOP'); ) {
      const read = await reader?.read();
      body += Buffer.from(read?.value ?? []).toString();
      done = read?.done ?? true;
    }
    expect(await running.usage()).toMatchObject([
      { status: 'ok', input_tokens: 50n, output_tokens: 6n },
    ]);
    const id = response.headers.get('x-request-id')?.slice(4) ?? '';
    expect(body).toBe(`data: ${shown(piece('Hel'), id)}\n\ndata: ${shown(last, id)}\n\n`);
    expect(await running.balance()).toBe(String(100 - cost));
    await running.expectBooks();
  });

  test('without alt=sse the same stream is one JSON array', async () => {
    const { running, ask } = await begin();
    const response = await ask('gem:streamGenerateContent');
    expect(response.headers.get('content-type')).toBe('application/json; charset=UTF-8');
    const id = response.headers.get('x-request-id')?.slice(4) ?? '';
    expect(await response.text()).toBe(`[${shown(piece('Hel'), id)}\n,\n${shown(last, id)}\n]`);
    await running.expectBooks();
  });

  /** What a client reads of an answer until it ends or breaks. */
  async function readAll(response: Response): Promise<{ body: string; broken: boolean }> {
    const reader = response.body?.getReader();
    let body = '';
    try {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done) return { body, broken: false };
        body += Buffer.from(value ?? []).toString();
      }
    } catch {
      return { body, broken: true };
    }
  }

  test.each([
    ['gem', () => event(piece('Hello wor'))],
    [
      'gem',
      () => event(piece('Hello wor')) + event({ error: { code: 503, status: 'UNAVAILABLE' } }),
    ],
    ['chat%2Fm', () => 'data: {"choices":[{"index":0,"delta":{"content":"Hello wor"}}]}\n\n'],
  ])('a stream of %s that breaks is an error and a broken connection (%#)', async (model, told) => {
    const { vendor, running, ask } = await begin();
    vendor.answer((_request, response) => sse(response).end(told()));
    const events = await readAll(await ask(`${model}:streamGenerateContent?alt=sse`));
    expect(events.broken).toBe(true);
    const blocks = events.body.split('\n\n');
    expect(blocks.every((block) => block === '' || block.startsWith('data: {'))).toBe(true);
    expect(JSON.parse(blocks.at(-2)?.slice(6) ?? '')).toMatchObject({
      error: { code: 503, status: 'UNAVAILABLE' },
    });
    expect(blocks.at(-2)?.startsWith('data: {"error":')).toBe(true);
    const list = await readAll(await ask(`${model}:streamGenerateContent`));
    expect(list.broken).toBe(true);
    expect(JSON.parse(list.body).at(-1)).toMatchObject({ error: { code: 503 } });
    expect(await running.usage()).toMatchObject([{ status: 'cut' }, { status: 'cut' }]);
    await running.expectBooks();
  });

  test('a vendor that sends a list of its answers in place of events is read, whole or broken off', async () => {
    const { vendor, running, ask } = await begin();
    const list = `[${JSON.stringify(piece('Hel'))},\n${JSON.stringify(last)}]`;
    vendor.answer((_request, response) => json(response, 200, list));
    const answered = await (await ask('gem:streamGenerateContent?alt=sse')).text();
    expect(answered.split('\n\n')).toHaveLength(3);
    vendor.answer((_request, response) => json(response, 200, list.slice(0, -30)));
    const cut = await ask('gem:streamGenerateContent?alt=sse');
    expect([cut.status, JSON.parse(await cut.text()).error.status]).toEqual([503, 'UNAVAILABLE']);
    expect(await running.usage()).toMatchObject([{ status: 'ok' }]);
    await running.expectBooks();
  });

  const endless = async (_request: unknown, response: ServerResponse): Promise<void> => {
    let stopped = false;
    sse(response);
    response.on('close', () => {
      stopped = true;
    });
    for (let i = 0; i < 400 && !stopped; i++) {
      response.write(event(piece('word '.repeat(4))));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  test('a stream whose money ends stops for MAX_TOKENS; a whole answer is cut the same way', async () => {
    const { vendor, running, ask } = await begin({ yuan: '0.5' });
    vendor.answer(endless);
    const body = await (await ask('gem:streamGenerateContent?alt=sse')).text();
    expect(JSON.parse(body.split('\n\n').at(-2)?.slice(6) ?? '')).toMatchObject({
      candidates: [{ finishReason: 'MAX_TOKENS' }],
      modelVersion: 'gem',
    });
    expect(await running.usage()).toMatchObject([{ status: 'length' }]);
    expect(Number(await running.balance())).toBeGreaterThanOrEqual(0);
    await running.expectBooks();
    const poor = await begin({ yuan: '0.5' });
    poor.vendor.answer(endless);
    const cut = JSON.parse(await (await poor.ask('gem:generateContent')).text());
    expect(cut).toMatchObject({ candidates: [{ finishReason: 'MAX_TOKENS' }] });
    expect(cut.candidates[0].content.parts[0].text).toContain('word word');
    expect(cut.candidates[0].content.parts).toHaveLength(1);
    expect(poor.vendor.received[0]?.url).toContain('streamGenerateContent');
    await poor.running.expectBooks();
  });

  test('the key comes in a header, as a bearer token or in the query, where no log, trace or record has it', async () => {
    const { running } = await begin();
    const { key, url } = running;
    const asked = (path: string, headers: Record<string, string> = {}) =>
      fetch(`${url}${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(hello),
      });
    const path = '/v1beta/models/gem:generateContent';
    const statuses = async (...answers: Promise<Response>[]) =>
      (await Promise.all(answers)).map(({ status }) => status);
    expect(
      await statuses(
        asked(path, { 'x-goog-api-key': key }),
        asked(path, { authorization: `Bearer ${key}` }),
        asked(path, { authorization: `Bearer ${key}`, 'x-goog-api-key': '' }),
        asked(`${path}?key=${key}`),
        asked(`/v1/models/models%2Fgem%3AgenerateContent?key=${key}`),
        asked(`/v1beta1/publishers/google/models/gem:generateContent`, { 'x-goog-api-key': key }),
        asked(`/v1beta/models/nothing:generateContent?key=${key}`),
        asked(`/v1beta/nothing?key=${key}`),
      ),
    ).toEqual([200, 200, 200, 200, 200, 200, 404, 404]);
    const { database } = running.gateway;
    const log = () => database.query('SELECT * FROM request_log');
    await expect.poll(async () => (await log()).length, { timeout: 10_000 }).toBe(2);
    const kept = JSON.stringify([await log(), await running.usage()], (_name, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
    expect(kept).toContain('nothing');
    expect(kept).not.toContain(key);
  });

  test('a missing key is 403, a wrong one 400 with its reason, an empty balance 429 without a delay', async () => {
    const { running, ask } = await begin({ yuan: '0' });
    const missing = await fetch(`${running.url}/v1beta/models/gem:generateContent`, {
      method: 'POST',
      body: '{}',
    });
    expect([missing.status, await missing.json()]).toMatchObject([
      403,
      { error: { code: 403, status: 'PERMISSION_DENIED' } },
    ]);
    const wrong = await ask('gem:generateContent', hello, { 'x-goog-api-key': 'sk-wrong' });
    expect([wrong.status, await wrong.json()]).toMatchObject([
      400,
      {
        error: {
          code: 400,
          status: 'INVALID_ARGUMENT',
          details: [{ reason: 'API_KEY_INVALID', domain: 'googleapis.com' }],
        },
      },
    ]);
    const poor = await ask('gem:generateContent');
    const { error } = JSON.parse(await poor.text());
    expect([poor.status, error.status]).toEqual([429, 'RESOURCE_EXHAUSTED']);
    expect(error.details).toEqual([
      {
        '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
        reason: 'QUOTA_EXHAUSTED',
        domain: 'googleapis.com',
      },
    ]);
  });

  test.each([
    ['no contents', {}, 'contents'],
    ['empty contents', { contents: [] }, 'contents'],
    [
      'a role of another format',
      { contents: [{ role: 'assistant', parts: [] }] },
      'contents[0].role',
    ],
    ['parts that are none', { contents: [{ parts: 'x' }] }, 'contents[0].parts'],
    ['a text that is none', { contents: [{ parts: [{ text: 1 }] }] }, 'contents[0].parts[0].text'],
    [
      'a call without a name',
      { contents: [{ role: 'model', parts: [{ functionCall: { args: {} } }] }] },
      'contents[0].parts[0].functionCall.name',
    ],
    [
      'a function without a name',
      { ...hello, tools: [{ functionDeclarations: [{ description: 'x' }] }] },
      'tools[0].functionDeclarations[0].name',
    ],
    [
      'a limit that is no number',
      { ...hello, generationConfig: { maxOutputTokens: 'many' } },
      'generationConfig.maxOutputTokens',
    ],
    [
      'a member in both spellings',
      { ...hello, generationConfig: {}, generation_config: { maxOutputTokens: 9 } },
      'generationConfig',
    ],
    [
      'content kept at the vendor',
      { ...hello, cachedContent: 'cachedContents/x' },
      'cachedContent',
    ],
    [
      'a search without a price',
      { ...hello, tools: [{ google_search: {} }] },
      'tools[0].googleSearch',
    ],
    ['a store of files', { ...hello, tools: [{ fileSearch: {} }] }, 'tools[0].fileSearch'],
  ])('%s is refused by name and costs nothing', async (_what, body, param) => {
    const { vendor, running, ask } = await begin();
    const response = await ask('gem:generateContent', body);
    const { error } = JSON.parse(await response.text());
    expect([response.status, error.status]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(error.message).toContain(param);
    expect(vendor.received).toEqual([]);
    expect(await running.usage()).toEqual([]);
  });

  test('a count is the vendor’s where it tells one, ours where not, and costs nothing', async () => {
    const { vendor, running, ask } = await begin();
    vendor.answer((_request, response) => json(response, 200, '{"totalTokens":8,"x":1}'));
    const whole = { generateContentRequest: { model: 'models/gem', ...hello } };
    expect(await (await ask('gem:countTokens', whole)).text()).toBe('{"totalTokens":8,"x":1}');
    expect(vendor.received[0]).toMatchObject({
      url: '/v1beta/models/gemini-3-flash:countTokens',
      text: JSON.stringify(whole).replace('models/gem', 'models/gemini-3-flash'),
    });
    const ours = JSON.parse(await (await ask('chat/m:countTokens')).text());
    expect(ours.totalTokens).toBeGreaterThan(0);
    expect(vendor.received).toHaveLength(1);
    expect(await running.balance()).toBe('100.00');
    expect(await running.usage()).toEqual([]);
  });

  test('vectors: passed on to a vendor of the format, bridged to another', async () => {
    const { vendor, running, ask } = await begin();
    const one = { content: { parts: [{ text: 'Hello' }] }, taskType: 'RETRIEVAL_QUERY' };
    vendor.answer((request, response) =>
      json(
        response,
        200,
        request.url.endsWith('/embeddings')
          ? '{"object":"list","data":[{"index":0,"embedding":[0.10,1]},{"index":1,"embedding":[2,3]}],"usage":{"prompt_tokens":2,"total_tokens":2}}'
          : '{"embedding":{"values":[0.10,1]},"x":1}',
      ),
    );
    expect(await (await ask('vec:embedContent', one)).text()).toBe(
      '{"embedding":{"values":[0.10,1]},"x":1,"usageMetadata":{"promptTokenCount":1}}',
    );
    expect(vendor.received[0]).toMatchObject({
      url: '/v1beta/models/gemini-embedding-001:embedContent',
      text: JSON.stringify(one),
    });
    const many = await ask('vec-2:batchEmbedContents', {
      requests: [
        { model: 'models/vec-2', ...one },
        { ...one, content: { parts: [{ text: 'you' }] } },
      ],
    });
    expect(many.headers.get('x-tollgate-dropped')).toBe('taskType');
    expect(await many.text()).toBe(
      '{"embeddings":[{"values":[0.10,1]},{"values":[2,3]}],"usageMetadata":{"promptTokenCount":2}}',
    );
    expect(JSON.parse(vendor.received[1]?.text ?? '')).toMatchObject({ input: ['Hello', 'you'] });
    expect(await running.usage()).toMatchObject([
      { capability: 'embed_content', model: 'vec', estimated: 1n },
      { capability: 'embed_content', model: 'vec-2', input_tokens: 2n, estimated: 0n },
    ]);
    await running.expectBooks();
  });

  test('models: in pages, by name, and under /v1 where the key shows the format', async () => {
    const { running } = await begin();
    const get = async (path: string, headers: Record<string, string> = {}) =>
      JSON.parse(await (await fetch(running.url + path, { headers })).text());
    const google = { 'x-goog-api-key': running.key };
    const names = (list: { models: { name: string }[] }) => list.models.map(({ name }) => name);
    const all = await get('/v1beta/models', google);
    expect(names(all)).toEqual(['models/chat/m', 'models/gem', 'models/vec', 'models/vec-2']);
    expect(all.models[1]).toMatchObject({
      name: 'models/gem',
      inputTokenLimit: 200_000,
      outputTokenLimit: 1_000,
      supportedGenerationMethods: ['generateContent', 'countTokens'],
    });
    const page = await get('/v1beta/models?pageSize=3', google);
    expect([names(page).length, typeof page.nextPageToken]).toEqual([3, 'string']);
    const rest = await get(`/v1beta/models?pageSize=3&pageToken=${page.nextPageToken}`, google);
    expect([names(rest), rest.nextPageToken]).toEqual([['models/vec-2'], undefined]);
    expect((await get('/v1beta/models/chat%2Fm', google)).name).toBe('models/chat/m');
    expect((await get(`/v1/models?key=${running.key}`)).models).toHaveLength(4);
    expect((await get('/v1/models', google)).models).toHaveLength(4);
    const bearer = { authorization: `Bearer ${running.key}` };
    expect((await get('/v1/models', bearer)).object).toBe('list');
    expect((await get('/v1beta/models', bearer)).models).toHaveLength(4);
    expect((await get('/v1beta/models/none', google)).error.status).toBe('NOT_FOUND');
    expect((await get('/v1beta/models?pageSize=x', google)).error.status).toBe('INVALID_ARGUMENT');
  });

  test('a path that is not served is a 404 in the format of the client, wherever its key is', async () => {
    const { running } = await begin();
    const { key } = running;
    const at = async (method: string, path: string, headers: Record<string, string>) => {
      const response = await fetch(running.url + path, { method, headers });
      return [response.status, JSON.parse(await response.text())];
    };
    const google = { error: { status: 'NOT_FOUND' } };
    const messages = { type: 'error', error: { type: 'not_found_error' } };
    const chat = { error: { code: 'unknown_url' } };
    for (const path of ['/v1/cachedContents', '/v1/batches', '/v1/interactions']) {
      expect(await at('GET', path, { 'x-goog-api-key': key })).toMatchObject([404, google]);
      expect(await at('GET', `${path}?key=${key}`, {})).toMatchObject([404, google]);
    }
    for (const path of ['/v1/skills', '/v1/files', '/v1/complete']) {
      expect(await at('POST', path, { 'x-api-key': key })).toMatchObject([404, messages]);
      const bearer = { authorization: `Bearer ${key}` };
      const both = { ...bearer, 'anthropic-version': '2023-06-01' };
      expect(await at('POST', path, both)).toMatchObject([404, messages]);
      expect(await at('POST', path, bearer)).toMatchObject([404, chat]);
    }
    expect(await at('PUT', '/v1/files', { 'x-api-key': key })).toMatchObject([404, messages]);
    expect(await at('GET', '/v1/skills', { 'x-api-key': 'sk-wrong' })).toMatchObject([401, {}]);
    for (const method of ['batchGenerateContent', 'predict', 'asyncBatchEmbedContent']) {
      const path = `/v1beta/models/gem:${method}`;
      const [status, body] = await at('POST', path, { 'x-goog-api-key': key });
      expect([status, body.error.message]).toEqual([404, `Invalid URL (POST ${path})`]);
    }
    const hint = (method: string, path: string, right: string): string =>
      `Invalid URL (${method} ${path}). Use ${right}: check the base URL of your client.`;
    for (const [method, path, right] of [
      ['POST', '/v1beta/models/gem:generateContent/', '/v1beta/models/gem:generateContent'],
      ['POST', '//v1beta/models/gem:generateContent', '/v1beta/models/gem:generateContent'],
      ['POST', '/v1/v1beta/models/gem:generateContent', '/v1beta/models/gem:generateContent'],
      ['GET', '/v1beta/models/', '/v1beta/models'],
    ] as const)
      expect(await at(method, path, { 'x-goog-api-key': key })).toMatchObject([
        404,
        { error: { status: 'NOT_FOUND', message: hint(method, path, right) } },
      ]);
    for (const path of ['/v1/messages/', '//v1/messages', '/v1/v1/messages'])
      expect(await at('POST', path, { 'x-api-key': key })).toMatchObject([
        404,
        { type: 'error', error: { message: hint('POST', path, '/v1/messages') } },
      ]);
  });

  test('faults of the path, of the length and of the modality are told in the format', async () => {
    const { vendor, running, ask } = await begin();
    const errorAt = async (path: string) => {
      const response = await fetch(running.url + path, { headers: { 'x-goog-api-key': 'any' } });
      return { http: response.status, ...JSON.parse(await response.text()).error };
    };
    for (const path of ['/v1beta/models/x%ZZ', '/v1beta1/%ZZ', `/v1beta/files/${'a'.repeat(501)}`])
      expect(await errorAt(path)).toMatchObject({ http: 404, code: 404, status: 'NOT_FOUND' });
    expect(await errorAt('/v1/chat/x%ZZ')).toMatchObject({ code: 'unknown_url' });
    const asked = vendor.received.length;
    vendor.answer((_request, response) =>
      json(
        response,
        400,
        JSON.stringify({
          error: { message: 'Too long', code: 'context_length_exceeded', param: 'messages' },
        }),
      ),
    );
    const long = JSON.parse(await (await ask('chat%2Fm:generateContent')).text()).error;
    expect(long.details[0].fieldViolations).toEqual([
      { field: 'contents', description: 'Too long' },
    ]);
    for (const config of [
      { generationConfig: { responseModalities: ['IMAGE'] } },
      { generation_config: { response_modalities: ['TEXT', 'image'] } },
    ]) {
      const refused = await ask('gem:generateContent', { ...hello, ...config });
      const { error } = JSON.parse(await refused.text());
      expect(error.message).toMatch(/'gem'.*responseModalities.*text/);
      expect(error).toMatchObject({ code: 400, status: 'INVALID_ARGUMENT' });
    }
    expect(vendor.received).toHaveLength(asked + 1);
    expect(await running.balance()).toBe('100.00');
    vendor.answer(answer);
    const texts = { generationConfig: { responseModalities: ['TEXT'] } };
    expect((await ask('gem:generateContent', { ...hello, ...texts })).status).toBe(200);
  });

  test('another model answers where the first cannot, in the same format, and the answer names it', async () => {
    const { vendor, running, ask } = await begin();
    vendor.answer((request, response) =>
      request.url.includes('chat/completions')
        ? json(response, 200, completion())
        : json(response, 503, '{"error":{"code":503,"status":"UNAVAILABLE","message":"no"}}'),
    );
    const body = JSON.parse(
      await (await ask('gem:generateContent', { ...hello, models: ['chat/m'] })).text(),
    );
    expect(body).toMatchObject({
      candidates: [{ content: { parts: [{ text: 'Hello!' }] } }],
      modelVersion: 'chat/m',
    });
    expect(vendor.received[0]?.text).not.toContain('models');
    expect(await running.usage()).toMatchObject([{ model: 'chat/m', channel: 'c' }]);
    await running.expectBooks();
  });

  test('a search that has a price is charged by the queries that the answer tells', async () => {
    const priced = (url: string) => `
  - { name: s, vendor: gemini, base_url: "${url}/v1beta", api_key: up-key, groups: [default], models: [{ id: found, upstream: gemini-3-flash }] }
`;
    const vendor = await startVendor();
    const groundingMetadata = { webSearchQueries: ['a', 'b'] };
    const [candidate] = whole.candidates;
    vendor.answer((_request, response) =>
      json(
        response,
        200,
        JSON.stringify({ ...whole, candidates: [{ ...candidate, groundingMetadata }] }),
      ),
    );
    const text = configuration(vendor.url, priced(vendor.url)).replace(
      'models:\n',
      'models:\n  - { id: found, owned_by: google, kind: chat, max_output: 1000, price: { input: 1000, output: 1000, grounding_query: 0.25 } }\n',
    );
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: text,
    });
    const response = await fetch(`${running.url}/v1beta/models/found:generateContent`, {
      method: 'POST',
      headers: { 'x-goog-api-key': running.key, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, tools: [{ google_search: {} }] }),
    });
    expect(await response.text()).toContain('webSearchQueries');
    expect(JSON.parse(vendor.received[0]?.text ?? '').tools).toEqual([{ google_search: {} }]);
    // 50 and 6 tokens, a thousandth of a yuan each, and two queries.
    expect(await running.balance()).toBe(String(100 - 0.056 - 0.5));
    await running.expectBooks();
  });

  const weather = {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: {
      type: Type.OBJECT,
      properties: { city: { type: Type.STRING } },
      required: ['city'],
    },
  };

  test.each(['gemini-2.5-flash', 'claude-haiku-4-5', 'gpt-4o-mini', 'deepseek-chat'])(
    'Google’s own package with %s: text, stream, tools, schema, picture, count, error',
    { timeout: 60_000 },
    async (model) => {
      const sim = await startSim();
      onTestFinished(() => sim.close());
      const running = await startRunning({
        databaseUrl: (await fresh(migrations)).url,
        configuration: simConfig(sim.url),
      });
      const { models, chats } = new GoogleGenAI({
        apiKey: running.key,
        httpOptions: { baseUrl: running.url },
      });
      const contents = 'Why is the sea salt? “Weil…” 海';
      const answered = await models.generateContent({ model, contents });
      expect(answered.text).toContain(contents);
      expect(answered.modelVersion).toBe(model);
      let streamed = '';
      for await (const piece of await models.generateContentStream({ model, contents }))
        streamed += piece.text ?? '';
      expect(streamed).toBe(answered.text);
      const chat = chats.create({
        model,
        config: { tools: [{ functionDeclarations: [weather] }] },
      });
      const called = await chat.sendMessage({ message: 'What is the weather in Paris?' });
      expect(called.functionCalls).toMatchObject([
        { name: 'get_weather', args: { city: 'Paris' } },
      ]);
      const [{ id, name } = {}] = called.functionCalls ?? [];
      const functionResponse = {
        ...(id === undefined ? {} : { id }),
        name: name ?? '',
        response: { output: '21 degrees' },
      };
      expect((await chat.sendMessage({ message: { functionResponse } })).text).toContain(
        '21 degrees',
      );
      const person = await models.generateContent({
        model,
        contents: 'Our guest is Ada Lovelace, 36 years old. Answer in JSON.',
        config: {
          responseMimeType: 'application/json',
          responseSchema: {
            type: Type.OBJECT,
            properties: { name: { type: Type.STRING }, age: { type: Type.INTEGER } },
            required: ['name', 'age'],
          },
        },
      });
      expect(JSON.parse(person.text ?? '')).toMatchObject({ name: 'Ada Lovelace', age: 36 });
      const sees = model !== 'deepseek-chat';
      const picture = models.generateContent({
        model,
        contents: [
          { inlineData: { mimeType: 'image/png', data: png } },
          { text: 'What is in this image?' },
        ],
      });
      if (sees) expect((await picture).text).toContain('1×1');
      else await expect(picture).rejects.toMatchObject({ status: 400 });
      const counted = await models.countTokens({ model, contents });
      expect(counted.totalTokens).toBeGreaterThan(5);
      await expect(models.generateContent({ model: 'none', contents })).rejects.toMatchObject({
        status: 404,
      });
      expect((await models.get({ model })).name).toBe(`models/${model}`);
      await running.expectBooks();
    },
  );

  test('Google’s own package makes vectors and lists all models, page by page', async () => {
    const sim = await startSim();
    onTestFinished(() => sim.close());
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: simConfig(sim.url),
    });
    const { models } = new GoogleGenAI({
      apiKey: running.key,
      httpOptions: { baseUrl: running.url },
    });
    for (const model of ['gemini-embedding-001', 'text-embedding-3-small']) {
      const { embeddings } = await models.embedContent({ model, contents: ['a', 'b'] });
      expect(embeddings?.map(({ values }) => (values?.length ?? 0) > 10)).toEqual([true, true]);
    }
    const names: (string | undefined)[] = [];
    for await (const { name } of await models.list({ config: { pageSize: 20 } })) names.push(name);
    expect(names).toContain('models/deepseek-chat');
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(40);
    await running.expectBooks();
  });
});
