import OpenAI, { APIError, AuthenticationError, BadRequestError, NotFoundError, RateLimitError } from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { openTemporaryGateway, type Temporary } from './support/temporary.ts';

/** Two changes: the base URL and the key. Everything else is what the package's own documentation writes. */
let sim: Sim;
let temporary: Temporary;
let client: OpenAI;

beforeAll(async () => {
  sim = await startSim();
  temporary = await openTemporaryGateway(simConfig(sim.url));
  client = new OpenAI({ baseURL: `${temporary.gateway.url}/v1`, apiKey: temporary.key });
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
const prompt = [{ role: 'user' as const, content: 'Hello, who are you?' }];
const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
  },
};
const askWeather = [{ role: 'user' as const, content: 'Call get_weather for Paris.' }];
const png = 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.each(models)('%s', (model) => {
  test('chat', async () => {
    const answer = await client.chat.completions.create({ model, messages: prompt });
    expect(answer).toMatchObject({ object: 'chat.completion', model });
    expect(answer.choices[0]?.message.content).toBeTruthy();
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.usage?.total_tokens).toBe((answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0));
  });

  test('streaming', async () => {
    const stream = await client.chat.completions.create({ model, messages: prompt, stream: true, stream_options: { include_usage: true } });
    let text = '';
    let total: number | undefined;
    const finishes: string[] = [];
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      if (chunk.choices[0]?.finish_reason) finishes.push(chunk.choices[0].finish_reason);
      total = chunk.usage?.total_tokens ?? total;
    }
    expect(text).not.toBe('');
    expect(finishes).toEqual(['stop']);
    expect(total).toBeGreaterThan(0);
  });

  test('tools, whole and streamed, and their results', async () => {
    const first = await client.chat.completions.create({ model, messages: askWeather, tools: [weather] });
    const call = first.choices[0]?.message.tool_calls?.[0];
    expect(first.choices[0]?.finish_reason).toBe('tool_calls');
    if (call?.type !== 'function' || first.choices[0] === undefined) throw new Error('no tool was called');
    expect(call.function.name).toBe('get_weather');
    expect(typeof JSON.parse(call.function.arguments).city).toBe('string');
    const second = await client.chat.completions.create({
      model,
      messages: [...askWeather, first.choices[0].message, { role: 'tool', tool_call_id: call.id, content: '{"celsius": 21}' }],
      tools: [weather],
    });
    expect(second.choices[0]?.message.content).toBeTruthy();
    const runner = client.chat.completions.stream({ model, messages: askWeather, tools: [weather] });
    const streamed = (await runner.finalChatCompletion()).choices[0]?.message.tool_calls?.[0];
    expect(streamed).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
  });
});

test.each(['gpt-4o-mini', 'qwen3-vl-plus', 'mistral-small-latest', 'grok-4.3'])(
  'vision: %s sees the image that was sent',
  async (model) => {
    const answer = await client.chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is in this image?' },
            { type: 'image_url', image_url: { url: png } },
          ],
        },
      ],
    });
    expect(answer.choices[0]?.message.content).toMatch(/1\s*[x×]\s*1/);
  },
);

test.each(['gpt-4o-mini', 'qwen-plus', 'mistral-small-latest', 'openai/gpt-oss-120b'])(
  'JSON schema: %s answers what the schema says',
  async (model) => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    };
    const answer = await client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Invent a person. Answer in JSON.' }],
      response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } },
    });
    const person = JSON.parse(answer.choices[0]?.message.content ?? '');
    expect(Object.keys(person).sort()).toEqual(['age', 'name']);
    expect(Number.isInteger(person.age)).toBe(true);
  },
);

test('models: list and retrieve, ids with slashes too', async () => {
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids).toEqual(expect.arrayContaining(models));
  expect(await client.models.retrieve('openai/gpt-oss-120b')).toMatchObject({
    id: 'openai/gpt-oss-120b',
    object: 'model',
    owned_by: 'openai',
  });
});

test('errors have the classes, codes and parameters that the package promises', async () => {
  const stranger = new OpenAI({ baseURL: client.baseURL, apiKey: `sk-${'x'.repeat(48)}` });
  const failure = async (promise: PromiseLike<unknown>): Promise<APIError> => {
    try {
      await promise;
    } catch (error) {
      if (error instanceof APIError) return error;
      throw error;
    }
    throw new Error('it succeeded');
  };
  const wrongKey = await failure(stranger.models.list());
  expect(wrongKey).toBeInstanceOf(AuthenticationError);
  expect(wrongKey).toMatchObject({ status: 401, code: 'invalid_api_key' });
  expect(wrongKey.requestID).toMatch(/^req_/);
  const unknown = await failure(client.chat.completions.create({ model: 'nothing', messages: prompt }));
  expect(unknown).toBeInstanceOf(NotFoundError);
  expect(unknown.code).toBe('model_not_found');
  const hot = await failure(client.chat.completions.create({ model: 'gpt-4o-mini', messages: prompt, temperature: 3 }));
  expect(hot).toBeInstanceOf(BadRequestError);
  expect(hot).toMatchObject({ code: 'invalid_request_error', param: 'temperature' });
  const long = await failure(client.chat.completions.create({ model: 'sim-context', messages: prompt }));
  expect(long).toMatchObject({ status: 400, code: 'context_length_exceeded' });
  const policy = await failure(client.chat.completions.create({ model: 'sim-policy', messages: prompt }));
  expect(policy).toMatchObject({ status: 400, code: 'content_policy_violation' });
  const down = await failure(client.chat.completions.create({ model: 'sim-401', messages: prompt }, { maxRetries: 0 }));
  expect(down).toMatchObject({ status: 503, code: null });
  const poor = new OpenAI({ baseURL: client.baseURL, apiKey: await temporary.poorKey() });
  const empty = await failure(poor.chat.completions.create({ model: 'gpt-4o-mini', messages: prompt }));
  expect(empty).toBeInstanceOf(RateLimitError);
  expect(empty.code).toBe('insufficient_quota');
});

test('an error in mid-stream reaches the package as an error', async () => {
  const stream = await client.chat.completions.create({ model: 'sim-cut-after-3', messages: prompt, stream: true });
  let text = '';
  await expect(async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  }).rejects.toBeInstanceOf(APIError);
  expect(text).not.toBe('');
});

test('a stream that the client breaks off ends quietly', async () => {
  const stream = await client.chat.completions.create({ model: 'sim-long-2000', messages: prompt, stream: true });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
  expect(stream.controller.signal.aborted).toBe(true);
});

test('after all that the books are right', async () => {
  await temporary.expectBooks();
});
