import { Validator } from '@seriousme/openapi-schema-validator';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Refusal } from '../src/base/refusal.ts';
import { simConfig } from '../sim/catalog.ts';
import { wav } from '../sim/media/wav.ts';
import { fullPath } from '../src/api/endpoint.ts';
import { parseChat } from '../src/api/chat.ts';
import { parseCompletion } from '../src/api/completions.ts';
import { parseEmbeddings } from '../src/api/vectors.ts';
import { parseMessages } from '../src/api/messages.ts';
import { examples, routeName, type openApi } from '../src/api/openapi/document.ts';
import { isCharged, type Operation } from '../src/api/schema.ts';
import { operations } from '../src/api/openapi/operations.ts';
import { parseResponse } from '../src/api/responses.ts';
import { refusals } from '../src/base/refusal.ts';
import { recordingsAt, recordingsFolder } from './recorded-traffic.ts';
import { openaiChat } from './sdk/openai-chat.ts';
import { openaiResponses } from './sdk/openai-responses.ts';
import { pngUrl } from './sdk/sdk.ts';
import { type Body, type Probe, Schemas } from './support/openapi-probes.ts';
import { openSimulatedGateway, openTemporaryGateway, type Temporary } from './support/temporary.ts';
import { context, sentJson } from './support/parsed-request.ts';

type Document = ReturnType<typeof openApi>;

let simulated: Temporary;
/** Of which no vendor can be reached: whatever is not refused is a 503. */
let lonely: Temporary;
let document: Document;
let schemas: Schemas;

beforeAll(async () => {
  simulated = await openSimulatedGateway();
  lonely = await openTemporaryGateway(simConfig('http://127.0.0.1:9'));
  document = JSON.parse(await (await fetch(`${simulated.gateway.url}/openapi.json`)).text());
  schemas = new Schemas(document);
});
afterAll(async () => {
  await lonely.close();
  await simulated.close();
});

const named: readonly (readonly [string, string, Operation])[] = Object.entries(operations).map(
  ([name, operation]) => {
    const [method = '', path = ''] = name.split(' ');
    return [method, path, operation];
  },
);
const posted = named.filter(([method, , { body }]) => method === 'POST' && body !== undefined);

/** The models of paths that name one. */
const [textModel, vectorModel] = ['claude-haiku-4-5', 'gemini-embedding-001'];

/** A response of the document that is no 200. */
interface ErrorResponse {
  readonly description: string;
  readonly content: {
    readonly 'application/json': {
      readonly examples: Readonly<Record<string, { readonly value: ErrorBody }>>;
    };
  };
}
/** In all formats: chat has `code` as a string, Google's as a number beside `status`. */
interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type?: string;
    readonly code?: string | number | null;
    readonly status?: string;
  };
}

/** The error response of an endpoint. */
function errorResponse({ id }: Operation, status: number): ErrorResponse {
  const found = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .find((each) => 'operationId' in each && each.operationId === id);
  expect(found, `${id} ${status}`).toHaveProperty(['responses', String(status)]);
  const { responses } = found as {
    readonly responses: Readonly<Record<string, { readonly $ref: string }>>;
  };
  const name = responses[status]?.$ref.split('/').at(-1) ?? '';
  return document.components.responses[name] as ErrorResponse;
}

/** The endpoint's document has an example with this status and these members of the error. */
function expectDescribed(name: string, status: number, { error }: ErrorBody): void {
  const operation = operations[name];
  // Paths of one response or video.
  if (operation === undefined) return;
  const response = errorResponse(operation, status);
  const kindOf = ({ type, code, status: named }: ErrorBody['error']) => [type, code, named];
  expect(
    Object.values(response.content['application/json'].examples).map(({ value }) =>
      kindOf(value.error),
    ),
    `${name} ${status}`,
  ).toContainEqual(kindOf(error));
}

async function ask(
  to: Temporary,
  method: string,
  path: string,
  body?: string | FormData,
  headers: Record<string, string> = {},
): Promise<Response> {
  const answer = await fetch(
    `${to.gateway.url}${fullPath({ path })
      .replace(/\*:embed|\*:batchEmbed/, (at) => at.replace('*', vectorModel))
      .replace('*:', `${textModel}:`)}`,
    {
      method,
      headers: {
        authorization: `Bearer ${to.key}`,
        ...(typeof body === 'string' && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    },
  );
  if (answer.status >= 400)
    expectDescribed(`${method} ${path}`, answer.status, JSON.parse(await answer.clone().text()));
  return answer;
}

/** As JSON where the endpoint takes it, else as a form with a recording. */
function packed({ body = {} }: Operation, content: Body): string | FormData {
  if (body['application/json'] !== undefined) return JSON.stringify(content);
  const form = new FormData();
  for (const [name, value] of Object.entries(content))
    if (name !== 'file') form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  form.set('file', new Blob([new Uint8Array(wav('Hello'))]), 'hello.wav');
  return form;
}

const exampleOf = ({ id }: Operation): Body => examples[id]?.example ?? {};

describe('the document', () => {
  test('is OpenAPI 3.1, by another’s reading', async () => {
    expect(document.openapi).toBe('3.1.0');
    expect(await new Validator().validate({ ...document })).toEqual({ valid: true });
  });

  test('tells its operations apart by their summaries', () => {
    const summaries = Object.values(operations).map(({ summary }) => summary);
    expect(summaries).toEqual([...new Set(summaries)]);
  });

  test('has every endpoint that is served, and no other', () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) =>
        routeName({
          method: method === 'get' ? 'GET' : method === 'post' ? 'POST' : 'DELETE',
          path,
        }),
      ),
    );
    expect(described.map((name) => name.replace(/\{.*?\}/g, '…')).sort()).toEqual(
      Object.keys(operations)
        .map((name) => name.replace(/\S+$/, (path) => fullPath({ path })))
        .map((name) => name.replace(/(?<=\/)(?::\w+|\*)/g, '…'))
        .sort(),
    );
    const ids = named.map(([, , { id }]) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('has every refusal, except those of requests that reach no endpoint', () => {
    const text = JSON.stringify(document.components.responses);
    expect(Object.keys(refusals).filter((name) => !text.includes(`\`${name}\``))).toEqual([
      'expectation_failed',
      'head_too_large',
      'method_not_supported',
      'upgrade_not_served',
    ]);
  });

  test('fills in every place of an error message', () => {
    for (const [name, response] of Object.entries(document.components.responses)) {
      const { description, content } = response as ErrorResponse;
      for (const [refusal, { value }] of Object.entries(content['application/json'].examples)) {
        const { message } = value.error;
        expect(message, `${name} ${refusal}`).not.toMatch(/\{\w+\}|''|undefined|: *$/);
        expect(description, `${name} ${refusal}`).toContain(`\`${refusal}\``);
      }
    }
  });

  test('says of every endpoint that a key may be used from the wrong address, whoever calls it', () => {
    for (const [path, methods] of Object.entries(document.paths))
      for (const [method, operation] of Object.entries(methods))
        expect(operation, `${method} ${path}`).toHaveProperty(['responses', '403']);
  });

  test('is sent once, needs no key, and comes packed to a client that unpacks it', async () => {
    const ask = (headers: Readonly<Record<string, string>>) =>
      fetch(`${simulated.gateway.url}/openapi.json`, { headers });
    const [packed, plain] = [
      await ask({ 'accept-encoding': 'gzip' }),
      await ask({ 'accept-encoding': 'identity' }),
    ];
    expect([packed.headers.get('content-encoding'), plain.headers.get('content-encoding')]).toEqual(
      ['gzip', null],
    );
    expect(Number(packed.headers.get('content-length'))).toBeLessThan(60_000);
    expect(await packed.text()).toBe(await plain.text());
    const tag = plain.headers.get('etag') ?? '';
    expect(packed.headers.get('etag')).not.toBe(tag);
    const again = await ask({ 'if-none-match': tag, 'accept-encoding': 'identity' });
    expect([again.status, await again.text()]).toEqual([304, '']);
  });
});

/**
 * What a model decides for itself: the document says so in words, and only what no model takes in
 * its schema.
 */
const ofTheModel = new Set([
  ...[
    'n',
    'size',
    'quality',
    'duration',
    'seconds',
    'image',
    'images',
    'mask',
    'input_reference',
    'last_image',
    'reference_images',
  ],
  ...['best_of', 'prompt', 'response_format', 'previous_response_id', 'input'],
]);

/** Whether the gateway says no to this member. */
async function refuses(
  operation: Operation,
  path: string,
  { param, body }: Probe,
): Promise<string | undefined> {
  const answer = await ask(lonely, 'POST', path, packed(operation, body));
  const { error } = JSON.parse(await answer.text());
  if (answer.status !== 400) return undefined;
  const bare = param.replace('[]', '');
  const name: string = error.param ?? /'([^']*)'/.exec(error.message)?.[1] ?? '';
  return new RegExp(`^${bare}(?:$|[[.])`).test(name) ? error.message : undefined;
}

test.each(posted.map(([, path, operation]) => [path, operation] as const))(
  '%s refuses what its schema does, and nothing else',
  async (path, operation) => {
    const form = operation.body?.['application/json'] === undefined;
    const schema =
      operation.body?.['application/json'] ?? operation.body?.['multipart/form-data'] ?? {};
    const good = { ...exampleOf(operation), ...(form && { file: '' }) };
    expect(schemas.misfit(schema, good)).toBe(undefined);
    const wrong: string[] = [];
    for (const probe of schemas.probesOf(schema, good)) {
      // Forms carry text alone, and the recording is always there.
      if (form && (probe.param === 'file' || typeof probe.body[probe.param] !== 'string')) continue;
      const message = await refuses(operation, path, probe);
      if (
        probe.good ? message !== undefined && !ofTheModel.has(probe.param) : message === undefined
      )
        wrong.push(`${probe.what}: ${message ?? 'is taken, and the schema says no'}`);
    }
    expect(wrong).toEqual([]);
  },
  60_000,
);

test('C11: every query refuses what its schema does, and nothing else', async () => {
  const headers = { 'x-api-key': simulated.key };
  const made: { readonly id: string } = JSON.parse(
    await (
      await ask(
        simulated,
        'POST',
        '/responses',
        JSON.stringify({ model: 'gpt-4o', input: 'Hello' }),
      )
    ).text(),
  );
  const wrong: string[] = [];
  // A film takes longer than this test, and a generation is asked for by the id of one request.
  const left = ['/videos/:id/content', '/generation'];
  for (const [method, path, { query }] of named.filter(([, of]) => !left.includes(of)))
    for (const { param, value, good } of schemas.queriesOf(query ?? {})) {
      const place = path.replace(':id', made.id);
      expect(place).not.toContain(':');
      const answer = await ask(
        simulated,
        method,
        `${place}?${param}=${encodeURIComponent(value)}`,
        undefined,
        headers,
      );
      if (answer.status !== (good ? 200 : 400))
        wrong.push(
          `${path}?${param}=${value}: ${answer.status} ${(await answer.text()).slice(0, 200)}`,
        );
    }
  expect(wrong).toEqual([]);
});

test.each(['', '1e1', '0x5'])('a page is asked for in digits, not as %j', async (limit) => {
  const answer = await ask(simulated, 'GET', `/videos?limit=${limit}`);
  const { error } = JSON.parse(await answer.text());
  expect([answer.status, error.message]).toEqual([
    400,
    `Invalid 'limit': expected a value between 1 and 100, in digits, but got '${limit}' instead.`,
  ]);
});

test.each(posted.map(([, path, operation]) => [path, operation] as const))(
  '%s takes an Idempotency-Key if it may be charged, and is then answered and charged once',
  async (path, operation) => {
    const submit = (key: string, to = simulated) =>
      ask(to, 'POST', path, packed(operation, exampleOf(operation)), { 'idempotency-key': key });
    const long = await submit('x'.repeat(300), lonely);
    const text = await long.text();
    expect(long.status === 400 && text.includes('Idempotency-Key'), text).toBe(
      isCharged(operation),
    );
    if (!isCharged(operation)) return;
    const charges = () => simulated.gateway.database.query('SELECT id FROM usage');
    const first = await submit(operation.id);
    const said = Buffer.from(await first.arrayBuffer());
    const before = await charges();
    const again = await submit(operation.id);
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(Buffer.from(await again.arrayBuffer()).equals(said)).toBe(true);
    expect(await charges()).toEqual(before);
  },
);

test('every example works, and every answer is as described', { timeout: 60_000 }, async () => {
  const ids: Record<string, string> = {};
  const expectFit = async (
    method: string,
    path: string,
    operation: Operation,
    body?: string | FormData,
  ) => {
    const answer = await ask(simulated, method, path, body);
    const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
    const text = await answer.text();
    expect(answer.status, `${method} ${path}: ${text.slice(0, 300)}`).toBe(200);
    const json = operation.answer['application/json'];
    if (type !== 'application/json' || json === undefined)
      return expect(Object.keys(operation.answer), path).toContain(type.replace(/\/.*/, '/*'));
    const value: Body = JSON.parse(text);
    expect(schemas.misfit(json, value), `${method} ${path}: ${text.slice(0, 300)}`).toBe(undefined);
    if (typeof value['id'] === 'string') ids[operation.id] = value['id'];
    ids['request'] ??= answer.headers.get('x-request-id') ?? '';
  };
  for (const [method, path, operation] of posted)
    await expectFit(method, path, operation, packed(operation, exampleOf(operation)));
  const found: Readonly<Record<string, string | undefined>> = {
    '/responses/:id': ids['createResponse'],
    '/responses/:id/input_items': ids['createResponse'],
    '/video/generations/:id': ids['submitVideo'],
    '/videos/:id': ids['createVideo'],
    '/models/*': 'openai/gpt-oss-120b',
  };
  for (const [method, path, operation] of named)
    if (path === '/generation') await expectFit(method, `${path}?id=${ids['request']}`, operation);
    else if (method === 'GET' && (found[path] !== undefined || !/[:*]/.test(path)))
      await expectFit(method, path.replace(/:\w+|\*/, found[path] ?? ''), operation);
  await expectFit(
    'DELETE',
    `/responses/${ids['createResponse']}`,
    operations['DELETE /responses/:id'] ?? expect.fail(),
  );
});

test('every chunk of a stream is as described', async () => {
  const { example = {} } = examples['createChatCompletion'] ?? {};
  const text = await (
    await ask(
      simulated,
      'POST',
      '/chat/completions',
      JSON.stringify({ ...example, stream: true, stream_options: { include_usage: true } }),
    )
  ).text();
  const lines = text.split('\n').filter((line) => line.startsWith('data: '));
  expect(lines.at(-1)).toBe('data: [DONE]');
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines.slice(0, -1))
    expect(
      schemas.misfit(
        { $ref: '#/components/schemas/ChatCompletionChunk' },
        JSON.parse(line.slice(6)),
      ),
      line,
    ).toBe(undefined);
});

test('what the official package sends fits', { timeout: 60_000 }, async () => {
  const sent: { readonly path: string; readonly body: unknown }[] = [];
  const native = globalThis.fetch;
  const listening: typeof fetch = (input, init) => {
    const path = new URL(input instanceof Request ? input.url : input).pathname.replace('/v1', '');
    if (typeof init?.body === 'string') sent.push({ path, body: JSON.parse(init.body) });
    return native(input, init);
  };
  globalThis.fetch = listening;
  try {
    for (const open of [openaiChat, openaiResponses]) {
      const sdk = open(simulated.gateway.url, simulated.key);
      const question = { model: 'gpt-5-mini', prompt: 'Hello' };
      for (const more of [{}, { stream: true }, { image: true }, { schema: true }, { think: true }])
        await sdk.ask({ ...question, ...more });
      await (
        await sdk.ask({ ...question, prompt: 'What is the weather in Paris?', tools: true })
      ).reply(['Sunny']);
    }
    const client = new OpenAI({
      baseURL: `${simulated.gateway.url}/v1`,
      apiKey: simulated.key,
      fetch: listening,
    });
    await client.completions.create({ model: 'deepseek-chat', prompt: 'Once', stop: ['.'] });
    await client.embeddings.create({ model: 'text-embedding-3-small', input: ['one', 'two'] });
    await client.moderations.create({
      model: 'omni-moderation-latest',
      input: [{ type: 'image_url', image_url: { url: pngUrl } }],
    });
    await client.images.generate({ model: 'gpt-image-1', prompt: 'A fox', size: '1536x1024' });
    await client.audio.speech.create({
      model: 'gpt-4o-mini-tts',
      voice: 'alloy',
      input: 'Hello',
      response_format: 'wav',
    });
    await client.audio.transcriptions.create({
      model: 'whisper-1',
      file: await toFile(wav('Hello'), 'hello.wav'),
    });
  } finally {
    globalThis.fetch = native;
  }
  expect(new Set(sent.map(({ path }) => path)).size).toBe(7);
  for (const { path, body } of sent) {
    const schema = operations[`POST ${path}`]?.body?.['application/json'] ?? expect.fail(path);
    expect(schemas.misfit(schema, body), `${path} ${JSON.stringify(body).slice(0, 300)}`).toBe(
      undefined,
    );
  }
});

type Parse = (body: Body) => unknown;
/** Endpoint of recorded requests, ours, and who reads them at our door. */
const read: readonly (readonly [string, string, Parse])[] = [
  ['chat', 'ChatRequest', (body) => parseChat(context, sentJson(body))],
  ['completion', 'CompletionRequest', (body) => parseCompletion(context, sentJson(body))],
  ['embedding', 'EmbeddingsRequest', (body) => parseEmbeddings(context, sentJson(body))],
  ['messages', 'MessageRequest', (body) => parseMessages(context, sentJson(body))],
  ['responses', 'ResponseRequest', (body) => parseResponse(context, sentJson(body))],
];

describe.skipIf(recordingsFolder === undefined)('recorded requests', () => {
  test.each(read)(
    'at %s fit where the door takes them, and only there',
    (endpoint, name, parse) => {
      const bodies = recordingsAt(recordingsFolder ?? '', endpoint).flatMap(({ id, request }) =>
        request === undefined ? [] : [{ id, body: { model: 'm', ...request } }],
      );
      expect(bodies.length).toBeGreaterThan(10);
      const refused = (body: Body): string | undefined => {
        try {
          parse(body);
          return undefined;
        } catch (error) {
          // Not a matter of shape: an id may be well formed, and name what is nobody's to see.
          if (error instanceof Refusal && error.refusal === 'kept_at_the_vendor') return undefined;
          return String(error);
        }
      };
      const different = bodies.flatMap(({ id, body }) => {
        const [door, misfit] = [
          refused(body),
          schemas.misfit({ $ref: `#/components/schemas/${name}` }, body),
        ];
        return (door === undefined) === (misfit === undefined)
          ? []
          : [`${id}: ${door ?? 'taken'}, but ${misfit ?? 'fits'}`];
      });
      expect(different).toEqual([]);
    },
  );
});
