import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionCreateParamsNonStreaming,
  ChatCompletionMessageParam,
} from 'openai/resources';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ownFormats } from '../sim/vendors.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { openTemporaryGateway, type Temporary } from './support/temporary.ts';

/**
 * Models of Anthropic and Bedrock through the gateway, where their vendors look closest: thoughts
 * that come back, calls, refusals.
 */
const upstreams = {
  haiku: ['anthropic', 'claude-haiku-4-5'],
  opus: ['anthropic', 'claude-opus-4-8'],
  'opus-5-5': ['anthropic', 'claude-opus-5-5'],
  sonnet: ['bedrock', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  'sonnet-4-6': ['bedrock', 'us.anthropic.claude-sonnet-4-6'],
  nova: ['bedrock', 'us.amazon.nova-lite-v1:0'],
  'nova-2': ['bedrock', 'us.amazon.nova-2-lite-v1:0'],
  llama: ['bedrock', 'us.meta.llama4-maverick-17b-instruct-v1:0'],
} as const;
const everybody = Object.keys(upstreams);
const signing = ['haiku', 'opus', 'opus-5-5', 'sonnet', 'sonnet-4-6'];
const played =
  'sim-401 sim-402 sim-429 sim-503 sim-500 sim-400 sim-context sim-policy sim-html-error sim-html-200 sim-bad-json sim-no-usage sim-cached'.split(
    ' ',
  );
const broken = ['sim-cut-after-3', 'sim-half-event', 'sim-error-in-stream', 'sim-bad-json'];

function configuration(url: string): string {
  const lines = Object.entries(upstreams).flatMap(([id, [vendor, upstream]]) =>
    ['', ...(['haiku', 'nova'].includes(id) ? new Set([...played, ...broken]) : [])].map(
      (scenario) => ({
        id: scenario === '' ? id : `${id}+${scenario}`,
        vendor,
        upstream: scenario === '' ? upstream : `${upstream}+${scenario}`,
      }),
    ),
  );
  const channel = ({ id, vendor, upstream }: (typeof lines)[number]): string => {
    const { prefix, key = 'sk-ant-sim' } = ownFormats.find(
      (format) => format.vendor === vendor,
    ) ?? { prefix: '' };
    return `  - { name: ${id}, vendor: ${vendor}, base_url: "${url}${prefix}", api_key: "${key}", groups: [default], models: [{ id: ${id}, upstream: "${upstream}" }] }`;
  };
  const price =
    '{ input: 10, cached_input: 1, cache_write_5m: 12, cache_write_1h: 20, output: 50 }';
  const models = lines.map(
    ({ id }) =>
      `  - { id: ${id}, owned_by: x, kind: chat, context: 200000, max_output: 8000, modalities: { in: [text, image], out: [text] }, price: ${price} }`,
  );
  return ['models:', ...models, 'channels:', ...lines.map(channel), ''].join('\n');
}

let sim: Sim;
let temporary: Temporary;
let openai: OpenAI;
let anthropic: Anthropic;
beforeAll(async () => {
  sim = await startSim();
  temporary = await openTemporaryGateway(configuration(sim.url));
  openai = new OpenAI({
    baseURL: `${temporary.gateway.url}/v1`,
    apiKey: temporary.key,
    maxRetries: 0,
  });
  anthropic = new Anthropic({
    baseURL: temporary.gateway.url,
    apiKey: temporary.key,
    maxRetries: 0,
  });
});
afterAll(async () => {
  await temporary.close();
  await sim.close();
});

const weather = {
  type: 'function' as const,
  function: {
    name: 'get_weather',
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  },
};
const both: ChatCompletionMessageParam = {
  role: 'user',
  content: 'The weather in both Paris and Rome, please.',
};
const lastSent = (): string => sim.requests.at(-1)?.body.toString() ?? '';
const signatures = (text: string): string[] =>
  [...text.matchAll(/"signature":"([^"]{20,})"/g)].map(([, signature]) => signature ?? '');

/** The question, the model's calls as they came, their results, and one more word of the user. */
function resultsOf(
  message: ChatCompletionAssistantMessageParam,
  then: readonly ChatCompletionMessageParam[] = [],
): ChatCompletionMessageParam[] {
  const results = (message.tool_calls ?? []).map(({ id }) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: '21',
  }));
  return [both, message, ...results, ...then];
}

describe.each(everybody)('%s over chat', (model) => {
  const asking = {
    model,
    tools: [weather],
    messages: [both],
    max_completion_tokens: 6000,
  } satisfies ChatCompletionCreateParamsNonStreaming;

  test('parallel calls, their results, and words beside them', async () => {
    const { message } = (await openai.chat.completions.create(asking)).choices[0] ?? {};
    if (message === undefined) throw new Error('no answer');
    expect(
      message.tool_calls?.map((call) => (call.type === 'function' ? call.function.arguments : '')),
    ).toEqual(['{"city":"Paris"}', '{"city":"Rome"}']);
    const messages = resultsOf({ ...message, content: 'I look.' }, [
      { role: 'user', content: 'Hurry, please.' },
    ]);
    const { choices, usage } = await openai.chat.completions.create({ ...asking, messages });
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: expect.stringContaining('Hurry') },
    });
    expect(usage?.total_tokens).toBeGreaterThan(50);
    expect(
      (await openai.chat.completions.create({ ...asking, messages: resultsOf(message) })).choices[0]
        ?.message.content,
    ).toContain('21');
  });

  test('a call that must be made is made', async () => {
    const messages = [{ role: 'user' as const, content: 'Hello.' }];
    const forced = { type: 'function' as const, function: { name: 'get_weather' } };
    for (const tool_choice of ['required' as const, forced])
      expect(
        (await openai.chat.completions.create({ ...asking, messages, tool_choice })).choices[0]
          ?.finish_reason,
      ).toBe('tool_calls');
    expect(
      (await openai.chat.completions.create({ ...asking, tool_choice: 'none' })).choices[0]
        ?.finish_reason,
    ).toBe('stop');
  });

  test('parameters that the model refuses do not reach it', async () => {
    const all = {
      temperature: 1.7,
      top_p: 0.5,
      seed: 7,
      frequency_penalty: 1,
      presence_penalty: 1,
      logit_bias: { 1: 1 },
      stop: ['\n', 'zzz'],
    };
    const more = {
      user: 'u',
      parallel_tool_calls: false,
      service_tier: 'default' as const,
      reasoning_effort: 'high' as const,
    };
    const strict = {
      ...weather,
      function: {
        ...weather.function,
        strict: true,
        parameters: { ...weather.function.parameters, additionalProperties: false },
      },
    };
    const { choices } = await openai.chat.completions.create({
      ...asking,
      ...all,
      ...more,
      tools: [strict],
    });
    // Claude alone can be told to make one call at a time.
    expect(choices[0]?.message.tool_calls).toHaveLength(signing.includes(model) ? 1 : 2);
  });

  test('a long system prompt that is marked is written to the cache, where there is one', async () => {
    const text = 'The quick brown fox jumps over the lazy dog. '.repeat(120);
    const marked = { type: 'text' as const, text, cache_control: { type: 'ephemeral', ttl: '1h' } };
    const messages: ChatCompletionMessageParam[] = [
      { role: 'system', content: [marked] },
      { role: 'user', content: 'Hi' },
    ];
    const { usage } = await openai.chat.completions.create({ model, messages });
    expect(usage?.prompt_tokens).toBeGreaterThan(1000);
    expect(/cache_control|cachePoint/.test(lastSent())).toBe(model !== 'llama');
  });
});

describe.each(signing)('thoughts of %s', (model) => {
  test('come back over chat as they were signed, whole and from a stream', async () => {
    const asking = {
      model,
      tools: [weather],
      messages: [both],
      max_completion_tokens: 6000,
      reasoning_effort: 'medium' as const,
    };
    const { message: whole } = (await openai.chat.completions.create(asking)).choices[0] ?? {};
    const details = new Map<number, Record<string, unknown>>();
    const stream = await openai.chat.completions.create({ ...asking, stream: true });
    const calls: { id: string; name: string; arguments: string }[] = [];
    for await (const { choices } of stream) {
      const delta = choices[0]?.delta;
      const pieces: unknown =
        delta === undefined ? undefined : Reflect.get(delta, 'reasoning_details');
      for (const piece of Array.isArray(pieces) ? pieces : []) {
        const before = details.get(piece.index) ?? {};
        details.set(piece.index, {
          ...before,
          ...piece,
          text: String(before['text'] ?? '').concat(piece.text ?? ''),
        });
      }
      for (const { index, id, function: said } of delta?.tool_calls ?? []) {
        calls[index] ??= { id: id ?? '', name: said?.name ?? '', arguments: '' };
        const call = calls[index];
        if (call !== undefined) call.arguments += said?.arguments ?? '';
      }
    }
    const told: ChatCompletionAssistantMessageParam = {
      role: 'assistant',
      content: null,
      tool_calls: calls.map(({ id, ...said }) => ({ id, type: 'function', function: said })),
    };
    const streamed = Object.assign(told, { reasoning_details: [...details.values()] });
    if (whole === undefined) throw new Error('no answer');
    for (const message of [whole, streamed]) {
      const { choices } = await openai.chat.completions.create({
        ...asking,
        messages: resultsOf(message),
      });
      expect(choices[0]?.message.content).toContain('21');
      expect(signatures(lastSent())).toEqual(signatures(JSON.stringify(message)));
      expect(signatures(lastSent())).toHaveLength(1);
    }
    const { content, tool_calls: made } = whole;
    const forgetful = await openai.chat.completions.create({
      ...asking,
      messages: resultsOf({ role: 'assistant', content, ...(made && { tool_calls: made }) }),
    });
    expect(forgetful.choices[0]?.message.content).toContain('21');
  });

  test('come back over messages as they were signed', async () => {
    const tools: Anthropic.Tool[] = [
      {
        name: 'get_weather',
        input_schema: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    ];
    const question: Anthropic.MessageParam = { role: 'user', content: 'The weather in Paris?' };
    const asking = {
      model,
      max_tokens: 6000,
      tools,
      thinking: { type: 'enabled' as const, budget_tokens: 2000 },
    };
    const answers = [
      await anthropic.messages.create({ ...asking, messages: [question] }),
      await anthropic.messages.stream({ ...asking, messages: [question] }).finalMessage(),
    ];
    for (const { content } of answers) {
      const call = content.find((block) => block.type === 'tool_use');
      const results: Anthropic.ToolResultBlockParam[] = [
        { type: 'tool_result', tool_use_id: call?.id ?? '', content: '21' },
      ];
      const messages: Anthropic.MessageParam[] = [
        question,
        { role: 'assistant', content },
        { role: 'user', content: results },
      ];
      const { content: end } = await anthropic.messages.create({ ...asking, messages });
      expect(end.at(-1)).toMatchObject({ type: 'text', text: expect.stringContaining('21') });
      expect(signatures(lastSent())).toEqual(signatures(JSON.stringify(content)));
      expect(signatures(lastSent())).toHaveLength(1);
    }
  });

  test('of one Claude stay away from a model of another family', async () => {
    const asking = {
      tools: [weather],
      max_completion_tokens: 6000,
      reasoning_effort: 'medium' as const,
    };
    const { message } =
      (await openai.chat.completions.create({ ...asking, model, messages: [both] })).choices[0] ??
      {};
    if (message === undefined) throw new Error('no answer');
    for (const other of ['nova', 'llama', 'nova-2']) {
      const { choices } = await openai.chat.completions.create({
        ...asking,
        model: other,
        messages: resultsOf(message),
      });
      expect(choices[0]?.message.content).toContain('21');
    }
  });
});

describe.each(['haiku', 'nova'])('what %s refuses', (model) => {
  const ask = (scenario: string, stream = false) =>
    openai.chat.completions
      .create({ model: `${model}+${scenario}`, messages: [both], stream })
      .then(
        () => undefined,
        (error: unknown) => error,
      );

  test.each([
    ['sim-401', { status: 503 }],
    ['sim-402', { status: 503 }],
    ['sim-429', { status: 503 }],
    ['sim-503', { status: 503 }],
    ['sim-400', { status: 400 }],
    ['sim-context', { status: 400, code: 'context_length_exceeded' }],
    ['sim-policy', { status: 400, code: 'content_policy_violation' }],
  ])('%s', async (scenario, refusal) => {
    expect(await ask(scenario)).toMatchObject(refusal);
    expect(await ask(scenario, true)).toMatchObject(refusal);
  });

  test.each(['sim-500', 'sim-html-error', 'sim-html-200', 'sim-bad-json'])(
    '%s is the vendor’s failure',
    async (scenario) => {
      const error = await ask(scenario);
      expect(Number(Reflect.get(Object(error), 'status'))).toBeGreaterThanOrEqual(500);
    },
  );

  test.each(broken)('%s in mid-stream is an error after what was said', async (scenario) => {
    let said = '';
    const stream = await openai.chat.completions.create({
      model: `${model}+${scenario}`,
      messages: [{ role: 'user', content: 'Hello.' }],
      stream: true,
    });
    await expect(async () => {
      for await (const { choices } of stream) said += choices[0]?.delta.content ?? '';
    }).rejects.toBeInstanceOf(OpenAI.APIError);
    expect(said).not.toBe('');
  });

  test('an answer without a count is counted here, and what came from the cache is told', async () => {
    const create = (scenario: string) =>
      openai.chat.completions.create({ model: `${model}+${scenario}`, messages: [both] });
    expect((await create('sim-no-usage')).usage?.total_tokens).toBeGreaterThan(10);
    expect(
      (await create('sim-cached')).usage?.prompt_tokens_details?.cached_tokens,
    ).toBeGreaterThan(5);
  });
});

test.each(['haiku', 'sonnet'])('tokens of %s are its vendor’s count', async (model) => {
  const messages = [{ role: 'user' as const, content: 'Hello, who are you?' }];
  const { input_tokens: counted } = await anthropic.messages.countTokens({ model, messages });
  expect(sim.requests.at(-1)?.path).toMatch(/count[-_]tokens$/);
  expect(
    (await anthropic.messages.create({ model, max_tokens: 100, messages })).usage.input_tokens,
  ).toBe(counted);
});

test('after all that the books are right', () => temporary.expectBooks());
