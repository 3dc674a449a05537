import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startSim } from './index.ts';

/** Endpoints that `test/sdk` does not call through the gateway. */
let sim: Sim;
let client: OpenAI;

beforeAll(async () => {
  sim = await startSim();
  client = new OpenAI({ baseURL: `${sim.url}/openai/v1`, apiKey: 'sk-sim', maxRetries: 0 });
});
afterAll(() => sim.close());

const user = (content: string) => [{ role: 'user' as const, content }];
const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
test('the same request gets the same words, another seed other ones', async () => {
  const answerWith = async (seed: number) =>
    (await client.chat.completions.create({ model: 'gpt-4o', messages: user('Why?'), seed }))
      .choices[0]?.message.content;
  expect(await answerWith(1)).toBe(await answerWith(1));
  expect(await answerWith(1)).not.toBe(await answerWith(2));
});

test('what the prompt dictates is said; a stop sequence, a limit and n are honoured', async () => {
  const ask = async (more: object) =>
    (
      await client.chat.completions.create({
        model: 'gpt-4o',
        messages: user('Say: one two three four'),
        ...more,
      })
    ).choices;
  expect((await ask({}))[0]?.message.content).toBe('one two three four');
  expect((await ask({ stop: [' three'] }))[0]).toMatchObject({
    finish_reason: 'stop',
    message: { content: 'one two' },
  });
  expect((await ask({ max_completion_tokens: 2 }))[0]).toMatchObject({
    finish_reason: 'length',
    message: { content: 'one two' },
  });
  expect((await ask({ n: 3 })).map(({ index }) => index)).toEqual([0, 1, 2]);
});

describe('streams', () => {
  test('say the same as a whole answer, and usage comes when asked for', async () => {
    const request = { model: 'gpt-4o', messages: user('Was ist ein Käse? 🧀') };
    const stream = await client.chat.completions.create({
      ...request,
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = '';
    let total = 0;
    for await (const { choices, usage } of stream) {
      text += choices[0]?.delta.content ?? '';
      total = usage?.total_tokens ?? total;
    }
    const whole = await client.chat.completions.create(request);
    expect(text).toBe(whole.choices[0]?.message.content);
    expect(total).toBe(whole.usage?.total_tokens);
  });

  test('tell no usage unasked', async () => {
    for await (const chunk of await client.chat.completions.create({
      model: 'gpt-4o',
      messages: user('Hi'),
      stream: true,
    }))
      expect(chunk).not.toHaveProperty('usage');
  });
});

describe('tools', () => {
  test('are left alone for other questions, forbidden or forced by tool_choice', async () => {
    const finish = async (
      text: string,
      tool_choice: 'auto' | 'none' | 'required',
      parallel_tool_calls = true,
    ) =>
      (
        await client.chat.completions.create({
          model: 'gpt-4o',
          messages: user(text),
          tools: [weather],
          tool_choice,
          parallel_tool_calls,
        })
      ).choices[0];
    expect((await finish('Who are you?', 'auto'))?.finish_reason).toBe('stop');
    expect((await finish('The weather in Paris?', 'none'))?.finish_reason).toBe('stop');
    expect((await finish('Who are you?', 'required'))?.finish_reason).toBe('tool_calls');
    expect(
      (await finish('The weather in both Paris and Rome', 'auto', false))?.message.tool_calls,
    ).toHaveLength(1);
  });
});

test('logprobs come for each token when asked for', async () => {
  const { choices } = await client.chat.completions.create({
    model: 'gpt-4o',
    messages: user('Say: hi there'),
    logprobs: true,
    top_logprobs: 2,
  });
  expect(
    choices[0]?.logprobs?.content?.map(({ token, top_logprobs }) => [token, top_logprobs.length]),
  ).toEqual([
    ['hi', 2],
    [' there', 2],
  ]);
});

test('errors arrive as the SDK knows them', async () => {
  const ask = (more: object, key = 'sk-sim') =>
    new OpenAI({
      baseURL: `${sim.url}/openai/v1`,
      apiKey: key,
      maxRetries: 0,
    }).chat.completions.create({
      model: 'gpt-4o',
      messages: user('Hi'),
      ...more,
    });
  await expect(ask({}, 'sk-wrong-1234567')).rejects.toMatchObject({
    status: 401,
    code: 'invalid_api_key',
  });
  await expect(ask({ model: 'gpt-nonexistent' })).rejects.toMatchObject({
    status: 404,
    code: 'model_not_found',
  });
  await expect(ask({ temperature: 3 })).rejects.toMatchObject({
    status: 400,
    code: 'decimal_above_max_value',
    param: 'temperature',
  });
  await expect(ask({ model: 'sim-429' })).rejects.toMatchObject({
    status: 429,
    code: 'rate_limit_exceeded',
  });
  await expect(ask({ model: 'sim-503' })).rejects.toBeInstanceOf(OpenAI.InternalServerError);
});
