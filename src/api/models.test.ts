import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  openSimulatedGateway,
  openTemporaryGateway,
  type Temporary,
} from '../../test/support/temporary.ts';

let simulated: Temporary;
beforeAll(async () => {
  simulated = await openSimulatedGateway();
});
afterAll(() => simulated.close());

type Headers = Readonly<Record<string, string>>;
const get = async (path: string, headers: Headers) => {
  const answer = await fetch(`${simulated.gateway.url}/v1${path}`, { headers, redirect: 'error' });
  return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) };
};
const bearer = (): Headers => ({ authorization: `Bearer ${simulated.key}` });
const version = { 'anthropic-version': '2023-06-01' };

test('C3: Anthropic’s package lists every model page by page, with either key header', async () => {
  const baseURL = simulated.gateway.url;
  const openai = new OpenAI({ baseURL: `${baseURL}/v1`, apiKey: simulated.key });
  const ids: string[] = [];
  for await (const { id } of openai.models.list()) ids.push(id);
  expect(ids.length).toBeGreaterThan(40);
  for (const way of [
    { apiKey: simulated.key, authToken: null },
    { apiKey: null, authToken: simulated.key },
  ]) {
    const client = new Anthropic({ baseURL, maxRetries: 0, ...way });
    for (const limit of [undefined, 7, 1_000]) {
      const listed: string[] = [];
      for await (const model of client.models.list(limit === undefined ? {} : { limit })) {
        expect(model.type).toBe('model');
        expect(new Date(model.created_at).toISOString().replace('.000Z', 'Z')).toBe(
          model.created_at,
        );
        listed.push(model.display_name);
      }
      expect(listed).toEqual(ids);
    }
    const backwards: string[] = [];
    const last = ids.at(-1) ?? '';
    for await (const page of (await client.models.list({ before_id: last, limit: 7 })).iterPages())
      backwards.unshift(...page.data.map(({ id }) => id));
    expect(backwards).toEqual(ids.slice(0, -1));
    expect(await client.models.retrieve('gpt-4o')).toMatchObject({
      id: 'gpt-4o',
      type: 'model',
      max_input_tokens: expect.any(Number),
    });
    await expect(client.models.retrieve('nothing')).rejects.toThrow(Anthropic.NotFoundError);
  }
});

const decimal = /^\d+(?:\.\d+)?$/;

test('C3: OpenAI’s clients get its members, and after them context, modalities and price', async () => {
  const { body } = await get('/models', bearer());
  expect(Object.keys(body)).toEqual(['object', 'data']);
  for (const model of body.data) {
    const { shutdown_date: _, ...members } = model;
    expect(Object.keys(members).slice(0, 4)).toEqual(['id', 'object', 'created', 'owned_by']);
    expect(model).toMatchObject({ name: model.id, currency: 'CNY' });
    expect(model.context_length).toBe(model.max_model_len);
    expect(model.architecture.modality).toBe(
      `${model.architecture.input_modalities.join('+')}->${model.architecture.output_modalities.join('+')}`,
    );
    for (const price of Object.values(model.pricing)) expect(price).toMatch(decimal);
    expect(Object.keys(model.pricing)).toEqual(expect.arrayContaining(['prompt', 'completion']));
  }
  expect((await get('/models/gpt-4o', bearer())).body).toEqual(
    body.data.find(({ id }: { readonly id: string }) => id === 'gpt-4o'),
  );
});

test('C3: Claude Code finds its models, whatever it sends beside limit=1000', async () => {
  for (const headers of [
    bearer(),
    { 'x-api-key': simulated.key },
    { ...bearer(), ...version },
    { ...bearer(), 'x-api-key': simulated.key },
  ]) {
    const since = performance.now();
    const { status, body } = await get('/models?limit=1000', headers);
    expect(performance.now() - since).toBeLessThan(3_000);
    expect([status, body.has_more, body.object]).toEqual([200, false, 'list']);
    expect([body.first_id, body.last_id]).toEqual([body.data[0].id, body.data.at(-1).id]);
    const found = body.data.filter(({ id }: { readonly id: string }) =>
      /claude|anthropic/.test(id),
    );
    expect(found.length).toBeGreaterThan(1);
    for (const model of found)
      expect(model).toMatchObject({
        type: 'model',
        object: 'model',
        created: expect.any(Number),
        owned_by: expect.any(String),
        display_name: model.id,
      });
  }
});

test('C3: a page that cannot be had is refused by name, in the shape of the client’s convention', async () => {
  const key = { 'x-api-key': simulated.key, ...version };
  for (const [query, message] of [
    ['limit=0', "Invalid 'limit': expected a value between 1 and 1000, but got 0 instead."],
    ['limit=1001', "Invalid 'limit': expected a value between 1 and 1000, but got 1001 instead."],
    ['limit=', "Invalid 'limit': expected a value between 1 and 1000, but got nothing instead."],
    ['after_id=nothing', "Invalid value for 'after_id': there is no model 'nothing' in the list."],
    [
      'after_id=gpt-4o&before_id=gpt-4o',
      "Invalid value for 'before_id': it cannot stand beside 'after_id'.",
    ],
  ] as const) {
    const { status, headers, body } = await get(`/models?${query}`, key);
    expect([status, body]).toMatchObject([
      400,
      { type: 'error', error: { type: 'invalid_request_error', message } },
    ]);
    expect(headers.get('request-id')).toMatch(/^req_/);
  }
  expect((await get('/models/nothing', key)).body).toMatchObject({
    type: 'error',
    error: { type: 'not_found_error' },
  });
  expect((await get('/models', { 'x-api-key': 'wrong' })).body).toMatchObject({
    type: 'error',
    error: { type: 'authentication_error' },
  });
  expect((await get('/models', {})).body).toMatchObject({ error: { code: 'invalid_api_key' } });
  // Parameters that older clients of OpenAI's send are ignored, as before.
  expect((await get('/models?limit=0&after_id=nothing', bearer())).status).toBe(200);
});

test('the price is that of the key’s group, per token, to the last digit', async () => {
  const temporary = await openTemporaryGateway(`
groups: [{ name: default, price_multiplier: 1.1 }]
models:
  - { id: chat, owned_by: openai, kind: chat, context: 128000, max_output: 1000, modalities: { in: [text, image], out: [text] },
      price: { input: 0.000001, cached_input: 0.5, output: 1000, web_search: 0.03, tiers: [{ above_input_tokens: 1000, input: 7 }] } }
  - { id: pictures, owned_by: openai, kind: image, price: { image: 0.1, by: { 2048x2048: 0.5 } } }
channels:
  - { name: a, vendor: openai, api_key: k, models: [chat, pictures] }
`);
  const headers = { authorization: `Bearer ${temporary.key}` };
  const read = async (id: string) =>
    JSON.parse(await (await fetch(`${temporary.gateway.url}/v1/models/${id}`, { headers })).text());
  expect(await read('chat')).toMatchObject({
    context_length: 128_000,
    max_completion_tokens: 1_000,
    architecture: { modality: 'text+image->text' },
    pricing: {
      prompt: '0.0000000000011',
      input_cache_read: '0.00000055',
      completion: '0.0011',
      web_search: '0.033',
    },
    top_provider: { context_length: 128_000, max_completion_tokens: 1_000 },
  });
  expect((await read('pictures')).pricing).toEqual({
    prompt: '0',
    completion: '0',
    image: '0.11',
  });
  await temporary.close();
});
