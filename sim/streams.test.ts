import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask, firstChoice, prompt, type TestReply, usage } from './test-client.ts';
import { type Sim, startSim } from './index.ts';
import type { Json } from './json.ts';
import { vendors } from './vendors.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());

const stream = async (vendor: string, more: Json = {}): Promise<TestReply> => {
  const prefix = vendors.find((dialect) => dialect.vendor === vendor)?.prefix ?? '';
  return ask(sim.url + prefix, {
    model: 'sim-chat',
    messages: prompt('Say: one two three'),
    stream: true,
    ...more,
  });
};
const withUsage = { stream_options: { include_usage: true } };
/** The chunks of a stream, without `[DONE]`. */
const chunks = ({ events }: TestReply): readonly Json[] =>
  events.filter((event) => 'id' in event || 'choices' in event);
const endOf = (reply: TestReply): Json => chunks(reply).at(-1) ?? {};

test('OpenAI: usage is null until the last chunk, which has no choice', async () => {
  const all = chunks(await stream('openai', withUsage));
  expect(all.slice(0, -1).every((chunk) => chunk['usage'] === null)).toBe(true);
  expect(all.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 3 } });
  expect(firstChoice(all[0])).toMatchObject({
    delta: { role: 'assistant', content: '', refusal: null },
    logprobs: null,
    finish_reason: null,
  });
});

test('Azure: an empty chunk with the prompt’s filter results comes first', async () => {
  const [first, second] = chunks(await stream('azure'));
  expect(first).toMatchObject({
    id: '',
    model: '',
    choices: [],
    prompt_filter_results: [{ prompt_index: 0 }],
  });
  expect(firstChoice(second)).toHaveProperty('content_filter_results');
});

test('DeepSeek: usage on the finish chunk, null before it', async () => {
  const reply = await stream('deepseek');
  expect(reply.text.startsWith(': keep-alive')).toBe(true);
  expect(endOf(reply)).toMatchObject({
    choices: [{ finish_reason: 'stop', delta: { content: '' } }],
    usage: { prompt_cache_miss_tokens: expect.any(Number) },
  });
  expect(chunks(reply)[0]?.['usage']).toBeNull();
});

test('Groq: usage in x_groq, and where it was asked for as well; errors are named events', async () => {
  const plain = endOf(await stream('groq'));
  expect(plain).toMatchObject({
    choices: [{ finish_reason: 'stop' }],
    x_groq: { usage: { completion_tokens: 3 } },
  });
  expect(plain).not.toHaveProperty('usage');
  expect(endOf(await stream('groq', withUsage))).toMatchObject({
    choices: [],
    usage: { completion_tokens: 3 },
  });
  expect((await stream('groq', { model: 'sim-error-in-stream' })).text).toMatch(
    /event: error\ndata: \{"error":\{.*"status_code":500\}\}\n\n$/,
  );
});

test('OpenRouter: comments first, the usage chunk repeats the finish reason, an error is a chunk', async () => {
  const reply = await stream('openrouter');
  expect(reply.text.startsWith(': OPENROUTER PROCESSING\n\n')).toBe(true);
  const finishes = chunks(reply).filter((chunk) => firstChoice(chunk)['finish_reason'] === 'stop');
  expect(finishes).toHaveLength(2);
  expect(finishes[1]).toMatchObject({ provider: 'Sim', usage: { cost: expect.any(Number) } });
  expect(endOf(await stream('openrouter', { model: 'sim-error-in-stream' }))).toMatchObject({
    error: { code: 502 },
    choices: [{ finish_reason: null }],
  });
});

test('Perplexity: everything so far on every chunk, and no [DONE]', async () => {
  const reply = await stream('perplexity');
  const all = chunks(reply);
  expect(all.map((chunk) => Object(firstChoice(chunk)['message'])['content'])).toEqual([
    '',
    'one',
    'one two',
    'one two three',
    'one two three',
  ]);
  expect(all.every((chunk) => 'usage' in chunk && 'citations' in chunk)).toBe(true);
  expect(endOf(reply)).toMatchObject({
    usage: { completion_tokens: 3, cost: { request_cost: 0.005 } },
  });
  expect(reply.text).not.toContain('[DONE]');
});

test('Zhipu and xAI: no finish_reason before the last chunk', async () => {
  for (const vendor of ['zhipu', 'xai']) {
    const choices = chunks(await stream(vendor)).map(firstChoice);
    expect(choices.filter((choice) => 'finish_reason' in choice)).toHaveLength(1);
  }
});

test('xAI: completion tokens leave reasoning out', async () => {
  const counts = usage(await stream('xai', { ...withUsage, model: 'sim-think' }));
  expect(counts).toMatchObject({
    completion_tokens: 3,
    completion_tokens_details: { reasoning_tokens: expect.any(Number) },
  });
  expect(Number(counts?.['total_tokens'])).toBeGreaterThan(Number(counts?.['prompt_tokens']) + 3);
});

test('Moonshot: usage sits in the finishing choice', async () => {
  expect(firstChoice(endOf(await stream('moonshot')))).toMatchObject({
    finish_reason: 'stop',
    usage: { completion_tokens: 3 },
  });
});

test('Mistral: thinking is a part of the content, calls come whole and without a type', async () => {
  const thought = chunks(await stream('mistral', { model: 'sim-think' }))[1];
  expect(firstChoice(thought)).toMatchObject({
    delta: { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'The' }] }] },
  });
  const tools = [{ type: 'function', function: { name: 'ping', parameters: { type: 'object' } } }];
  const call = chunks(await stream('mistral', { tools, messages: prompt('ping') }))[1];
  expect(firstChoice(call)).toMatchObject({
    delta: {
      tool_calls: [
        {
          index: 0,
          id: expect.stringMatching(/^\w{9}$/),
          function: { name: 'ping', arguments: '{}' },
        },
      ],
    },
  });
});

test('Together: text beside the delta; SiliconFlow: usage grows with each chunk', async () => {
  expect(firstChoice(chunks(await stream('together'))[1])).toMatchObject({
    text: 'one',
    delta: { content: 'one', token_id: expect.any(Number) },
  });
  const growing = chunks(await stream('siliconflow')).map(
    (chunk) => Object(chunk['usage'])['completion_tokens'],
  );
  expect(growing).toEqual([0, 1, 2, 3, 3]);
});

test('scenarios shape the answer: echo, length, emptiness, cache, slowness, silence, bad JSON, pages', async () => {
  const whole = (model: string, more: Json = {}) =>
    stream('openai', { model, stream: false, ...more });
  expect(firstChoice((await whole('sim-echo')).json)).toMatchObject({
    message: { content: 'Say: one two three' },
  });
  expect((await whole('sim-long-500')).json).toMatchObject({ usage: { completion_tokens: 500 } });
  expect((await whole('sim-long-500', { max_tokens: 20 })).json).toMatchObject({
    choices: [{ finish_reason: 'length' }],
    usage: { completion_tokens: 20 },
  });
  expect((await whole('sim-empty')).json).toMatchObject({
    choices: [{ message: { content: '' }, finish_reason: 'stop' }],
    usage: { completion_tokens: 0 },
  });
  expect((await whole('sim-cached')).json).toMatchObject({
    usage: { prompt_tokens: 12, prompt_tokens_details: { cached_tokens: 9 } },
  });
  expect((await whole('sim-bad-json')).json).toEqual({});
  expect([
    (await whole('sim-html-error')).status,
    (await whole('sim-html-200')).headers.get('content-type'),
  ]).toEqual([502, 'text/html; charset=utf-8']);
  const before = performance.now();
  await stream('openai', { model: 'sim-slow-100ms' });
  expect(performance.now() - before).toBeGreaterThan(99);
  const silent = performance.now();
  expect((await stream('openai', { model: 'sim-silent-1' })).text).toContain('[DONE]');
  expect(performance.now() - silent).toBeGreaterThan(999);
});

test('sim-fast: 1 KB whole, a stream when asked', async () => {
  const request = { model: 'sim-fast' };
  expect((await stream('openai', { ...request, stream: false })).text).toHaveLength(1024);
  expect(endOf(await stream('openai', { ...request, ...withUsage }))).toMatchObject({
    usage: { completion_tokens: 20 },
  });
});
