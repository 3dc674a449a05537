import Anthropic, { APIUserAbortError, AuthenticationError, BadRequestError, NotFoundError, RateLimitError } from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { openTemporaryGateway, type Temporary } from './support/temporary.ts';

/** Two changes: the base URL and the key. Everything else is what the package's own documentation writes. */
let sim: Sim;
let temporary: Temporary;
let client: Anthropic;

beforeAll(async () => {
  sim = await startSim();
  temporary = await openTemporaryGateway(simConfig(sim.url));
  client = new Anthropic({ baseURL: temporary.gateway.url, apiKey: temporary.key, maxRetries: 0 });
});
afterAll(async () => {
  await temporary.close();
  await sim.close();
});

/** One model of each vendor that the demo sells. */
const models = [
  'gpt-4o-mini',
  'gpt-5-mini',
  'gpt-4.1',
  'deepseek-chat',
  'deepseek-reasoner',
  'qwen-plus',
  'glm-4.7',
  'kimi-k2.6',
  'MiniMax-M2.7',
  'doubao-seed-2-0-pro',
  'mistral-small-latest',
  'grok-4.3',
  'llama-3.3-70b',
  'openai/gpt-oss-120b',
  'claude-haiku-4-5',
  'bedrock/claude-4.5',
  'nova-2-lite',
  'llama-4-scout',
];
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello, who are you?' }];
const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
};
const askWeather: Anthropic.MessageParam[] = [{ role: 'user', content: 'Call get_weather for Paris.' }];
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const textOf = (message: Anthropic.Message): string => message.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
const callOf = (message: Anthropic.Message): Anthropic.ToolUseBlock => {
  const call = message.content.find((block) => block.type === 'tool_use');
  if (call === undefined) throw new Error(`no tool was called: ${JSON.stringify(message)}`);
  return call;
};

describe.each(models)('%s', (model) => {
  test('a message', async () => {
    const message = await client.messages.create({ model, max_tokens: 2_000, system: 'Be brief.', messages });
    expect(message).toMatchObject({ type: 'message', role: 'assistant', model, stop_reason: 'end_turn', stop_sequence: null });
    expect(message.id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(textOf(message)).not.toBe('');
    expect(message.usage.input_tokens + (message.usage.cache_read_input_tokens ?? 0)).toBeGreaterThan(0);
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(message._request_id).toMatch(/^req_[0-9a-f]{32}$/);
  });

  test('a stream', async () => {
    const stream = client.messages.stream({ model, max_tokens: 2_000, messages });
    const types: string[] = [];
    let text = '';
    stream.on('streamEvent', (event) => types.push(event.type));
    stream.on('text', (piece) => (text += piece));
    const message = await stream.finalMessage();
    expect(text).not.toBe('');
    expect(textOf(message)).toBe(text);
    expect(message).toMatchObject({ model, stop_reason: 'end_turn' });
    expect(message.usage.output_tokens).toBeGreaterThan(0);
    expect(message.usage.input_tokens + (message.usage.cache_read_input_tokens ?? 0)).toBeGreaterThan(0);
    expect([types[0], ...types.slice(-2)]).toEqual(['message_start', 'message_delta', 'message_stop']);
  });

  test('tools, whole and streamed, and their results', async () => {
    const asking = { model, max_tokens: 2_000, tools: [weather] };
    const first = await client.messages.create({ ...asking, messages: askWeather });
    expect(first.stop_reason).toBe('tool_use');
    const call = callOf(first);
    expect(call.name).toBe('get_weather');
    expect(call.input).toEqual({ city: expect.any(String) });
    const second = await client.messages.create({
      ...asking,
      messages: [
        ...askWeather,
        { role: 'assistant', content: first.content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '{"celsius": 21}' }] },
      ],
    });
    expect(textOf(second)).not.toBe('');
    const streamed = callOf(await client.messages.stream({ ...asking, messages: askWeather }).finalMessage());
    expect(streamed).toMatchObject({ name: 'get_weather', input: { city: expect.any(String) } });
  });

  test('thinking may be asked of any model', async () => {
    const message = await client.messages.create({
      model,
      max_tokens: 4_000,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      metadata: { user_id: 'u' },
      messages,
    });
    expect(textOf(message)).not.toBe('');
  });
});

test.each(['gpt-4o-mini', 'qwen3-vl-plus', 'mistral-small-latest', 'grok-4.3'])(
  'vision: %s sees the image that was sent',
  async (model) => {
    const message = await client.messages.create({
      model,
      max_tokens: 500,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
            { type: 'text', text: 'What is in this image?' },
          ],
        },
      ],
    });
    expect(textOf(message)).toMatch(/1\s*[x×]\s*1/);
  },
);

test.each(['gpt-4o-mini', 'mistral-small-latest', 'openai/gpt-oss-120b'])('JSON schema: %s answers what the schema says', async (model) => {
  const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false };
  const message = await client.messages.create({
    model,
    max_tokens: 500,
    messages: [{ role: 'user', content: 'Name a city.' }],
    output_config: { format: { type: 'json_schema', schema } },
  });
  expect(typeof JSON.parse(textOf(message)).name).toBe('string');
});

test('a model that thinks tells its thoughts in a block before the text', async () => {
  const stream = client.messages.stream({ model: 'deepseek-reasoner', max_tokens: 4_000, messages });
  const message = await stream.finalMessage();
  expect(message.content.map((block) => block.type)).toEqual(['thinking', 'text']);
});

test('more than a model can write is as much as it can', async () => {
  const message = await client.messages.create({ model: 'deepseek-chat', max_tokens: 20_000, messages });
  expect(message.stop_reason).toBe('end_turn');
});

test('an answer that meets its limit says so', async () => {
  const message = await client.messages.create({ model: 'gpt-4o-mini', max_tokens: 2, messages });
  expect(message).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 2 } });
});

test('the key may come as a bearer token', async () => {
  const bearer = new Anthropic({ baseURL: temporary.gateway.url, apiKey: null, authToken: temporary.key });
  expect((await bearer.messages.create({ model: 'gpt-4o-mini', max_tokens: 100, messages })).type).toBe('message');
});

test('a wrong key, an unknown model, a wrong parameter and an empty balance are the errors that the package knows', async () => {
  const create = (from: Anthropic, more: object = {}) =>
    from.messages.create({ model: 'gpt-4o-mini', max_tokens: 100, messages, ...more }, { maxRetries: 0 });
  const stranger = new Anthropic({ baseURL: temporary.gateway.url, apiKey: 'sk-wrong' });
  await expect(create(stranger)).rejects.toThrow(AuthenticationError);
  await expect(create(client, { model: 'no-such-model' })).rejects.toThrow(NotFoundError);
  await expect(create(client, { temperature: 1.5 })).rejects.toThrow(BadRequestError);
  const poor = new Anthropic({ baseURL: temporary.gateway.url, apiKey: await temporary.poorKey() });
  const refused = create(poor);
  await expect(refused).rejects.toThrow(RateLimitError);
  await expect(refused).rejects.toMatchObject({ type: 'billing_error', requestID: expect.stringMatching(/^req_/) });
});

test('a count of tokens for any model', async () => {
  expect(
    (await client.messages.countTokens({ model: 'gpt-4o-mini', system: 'Be brief.', messages, tools: [weather] })).input_tokens,
  ).toBeGreaterThan(20);
});

test('a client that leaves a stream hears nothing more', async () => {
  const stream = client.messages.stream({ model: 'sim-slow', max_tokens: 2_000, messages });
  const first = new Promise((resolve) => stream.once('text', resolve));
  stream.on('error', () => {});
  stream.on('abort', () => {});
  await first;
  stream.abort();
  await expect(stream.done()).rejects.toThrow(APIUserAbortError);
  await temporary.expectBooks();
});

test('the books agree after all this', () => temporary.expectBooks());
