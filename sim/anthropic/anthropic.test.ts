import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../index.ts';
import type { Json } from '../json.ts';

/**
 * Anthropic's SDK, straight at the simulated vendor. It uses the newest version; `old` uses the one
 * before.
 */
let sim: Sim;
let client: Anthropic;
let old: Anthropic;
beforeAll(async () => {
  sim = await startSim();
  const options = { baseURL: `${sim.url}/anthropic`, apiKey: 'sk-ant-sim', maxRetries: 0 };
  client = new Anthropic(options);
  old = new Anthropic({ ...options, defaultHeaders: { 'anthropic-version': '2023-06-01' } });
});
afterAll(() => sim.close());

const model = 'claude-haiku-4-5';
const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello, who are you?' }];
const weather: Anthropic.Tool = {
  name: 'get_weather',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};
const basic = { model, max_tokens: 1000, messages };
const thinking = { type: 'enabled' as const, budget_tokens: 2000 };
const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const long = 'The quick brown fox jumps over the lazy dog. '.repeat(120);

/** The vendor's response to a body that is sent unchanged. */
async function post(
  body: Json,
  headers: Readonly<Record<string, string>> = {},
  path = '/messages',
) {
  const response = await fetch(`${sim.url}/anthropic/v1${path}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': 'sk-ant-sim',
      'anthropic-version': '2023-06-01',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

const complaint = async (
  more: Json,
  headers?: Readonly<Record<string, string>>,
): Promise<string> => {
  const { status, text } = await post({ ...basic, ...more }, headers);
  const { type, error, request_id: id } = JSON.parse(text);
  expect({ status, type, kind: error?.type, id }).toMatchObject({
    status: 400,
    type: 'error',
    kind: 'invalid_request_error',
    id: expect.stringMatching(/^req_011C/),
  });
  return error.message;
};

describe('answers', () => {
  test('a message, and the same in a stream', async () => {
    const message = await client.messages.create(basic);
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model,
      stop_reason: 'end_turn',
      stop_sequence: null,
    });
    expect(message.id).toMatch(/^msg_01/);
    expect(message._request_id).toMatch(/^req_011C/);
    expect(message.usage).toMatchObject({
      cache_creation: { ephemeral_5m_input_tokens: 0 },
      service_tier: 'standard',
    });
    const stream = client.messages.stream(basic);
    const types: string[] = [];
    stream.on('streamEvent', ({ type }) => types.push(type));
    const streamed = await stream.finalMessage();
    expect(streamed.content).toEqual(message.content);
    expect(streamed.usage.output_tokens).toBe(message.usage.output_tokens);
    expect(types.slice(0, 3)).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
    ]);
    expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop']);
  });

  test('the stream as it is written', async () => {
    const { text } = await post({
      ...basic,
      stream: true,
      messages: [{ role: 'user', content: 'Say hi' }],
    });
    const names = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
    expect(names).toEqual(
      'message_start content_block_start ping content_block_delta content_block_stop message_delta message_stop'.split(
        ' ',
      ),
    );
    expect(text).toMatch(
      /"usage":\{"input_tokens":\d+,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":1\} *\}/,
    );
  });

  test('calls, at once and in pieces, with their results', async () => {
    const request = {
      ...basic,
      tools: [weather],
      messages: [{ role: 'user' as const, content: 'The weather in both Paris and Rome, please.' }],
    };
    const first = await client.messages.stream(request).finalMessage();
    const calls = first.content.filter((block) => block.type === 'tool_use');
    expect(calls.map(({ input }) => input)).toEqual([{ city: 'Paris' }, { city: 'Rome' }]);
    expect(first.stop_reason).toBe('tool_use');
    const results = calls.map(({ id }) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: '21',
    }));
    const turns = [
      ...request.messages,
      { role: 'assistant' as const, content: first.content },
      { role: 'user' as const, content: results },
    ];
    expect((await client.messages.create({ ...request, messages: turns })).stop_reason).toBe(
      'end_turn',
    );
  });

  test('thoughts are signed and come back with their signature, or not at all', async () => {
    const request = {
      ...basic,
      max_tokens: 4000,
      thinking,
      tools: [weather],
      messages: [{ role: 'user' as const, content: 'The weather in Paris?' }],
    };
    const first = await client.messages.stream(request).finalMessage();
    const [thought, call] = first.content;
    if (thought?.type !== 'thinking' || call?.type !== 'tool_use')
      throw new Error(JSON.stringify(first.content));
    const back = (content: Anthropic.ContentBlockParam[]) =>
      client.messages.create({
        ...request,
        messages: [
          ...request.messages,
          { role: 'assistant', content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '21' }] },
        ],
      });
    expect((await back(first.content)).content.at(-1)).toMatchObject({ type: 'text' });
    await expect(back([call])).rejects.toThrow(
      'Expected `thinking` or `redacted_thinking`, but found `tool_use`',
    );
    await expect(back([{ ...thought, signature: 'abcd' }, call])).rejects.toThrow(
      'Invalid `signature` in `thinking` block',
    );
    await expect(back([{ ...thought, thinking: 'else' }, call])).rejects.toThrow(
      'cannot be modified',
    );
  });

  test('newer models keep their thoughts to themselves unless asked', async () => {
    const request = { ...basic, model: 'claude-opus-4-8', max_tokens: 4000 };
    const [silent] = (await client.messages.create({ ...request, thinking: { type: 'adaptive' } }))
      .content;
    expect(silent).toMatchObject({
      type: 'thinking',
      thinking: '',
      signature: expect.stringMatching(/.{20}/),
    });
    const [summarized] = (
      await client.messages.create({
        ...request,
        thinking: { type: 'adaptive', display: 'summarized' },
      })
    ).content;
    expect(summarized).toMatchObject({ thinking: expect.stringMatching(/think first/) });
  });

  test('the display of progress updates needs its beta, and shows no reasoning', async () => {
    const request = {
      model: 'claude-opus-5-5',
      max_tokens: 4000,
      thinking: { type: 'adaptive', display: 'updates' },
    };
    const { text } = await post(
      { ...basic, ...request },
      { 'anthropic-beta': 'claude-code-20250219, thinking-display-updates-2026-08-18' },
    );
    expect(JSON.parse(text)).toMatchObject({
      content: [{ type: 'thinking', thinking: '' }, { type: 'text' }],
    });
    expect(await complaint(request, { 'anthropic-beta': 'claude-code-20250219' })).toMatch(
      /^thinking\.adaptive\.display: Input should be /,
    );
  });

  test('marks are written to the cache for five minutes or an hour, and read from it', async () => {
    const system = (ttl: '5m' | '1h') => [
      { type: 'text' as const, text: long, cache_control: { type: 'ephemeral' as const, ttl } },
    ];
    const { usage: minutes } = await client.messages.create({ ...basic, system: system('5m') });
    expect(minutes.cache_creation?.ephemeral_5m_input_tokens).toBeGreaterThan(1024);
    expect(minutes.cache_creation_input_tokens).toBe(
      minutes.cache_creation?.ephemeral_5m_input_tokens,
    );
    const { usage: hour } = await client.messages.create({ ...basic, system: system('1h') });
    expect(hour.cache_creation).toEqual({
      ephemeral_5m_input_tokens: 0,
      ephemeral_1h_input_tokens: minutes.cache_creation_input_tokens,
    });
    const { usage: read } = await client.messages.create({
      ...basic,
      model: `${model}+sim-cached`,
      system: system('5m'),
    });
    expect(read.cache_read_input_tokens).toBeGreaterThan(500);
    const all = ({
      input_tokens: input,
      cache_creation_input_tokens: made,
      cache_read_input_tokens: got,
    }: Anthropic.Usage): number => input + (made ?? 0) + (got ?? 0);
    expect([all(hour), all(read)]).toEqual([all(minutes), all(minutes)]);
  });

  test('counts, models, stop sequences, limits and schemas', async () => {
    const { input_tokens: counted } = await client.messages.countTokens({
      model,
      messages,
      tools: [weather],
    });
    expect(counted).toBe(
      (await client.messages.create({ ...basic, tools: [weather] })).usage.input_tokens,
    );
    expect((await client.models.list()).data.map(({ id }) => id)).toContain(model);
    expect(
      await client.messages.create({
        ...basic,
        messages: [{ role: 'user', content: 'Say one two three' }],
        stop_sequences: ['two'],
      }),
    ).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'two',
      content: [{ text: 'one ' }],
    });
    expect(await client.messages.create({ ...basic, max_tokens: 2 })).toMatchObject({
      stop_reason: 'max_tokens',
      usage: { output_tokens: 2 },
    });
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer' } },
      required: ['n'],
      additionalProperties: false,
    };
    const json = await client.messages.create({
      ...basic,
      output_config: { format: { type: 'json_schema', schema } },
    });
    expect(JSON.parse(json.content[0]?.type === 'text' ? json.content[0].text : '')).toEqual({
      n: expect.any(Number),
    });
  });

  test('images are seen', async () => {
    const image = {
      type: 'image' as const,
      source: { type: 'base64' as const, media_type: 'image/png' as const, data: png },
    };
    const { content } = await client.messages.create({
      ...basic,
      messages: [{ role: 'user', content: [image] }],
    });
    expect(content[0]).toMatchObject({ text: expect.stringMatching(/PNG image of 1×1/) });
  });
});

describe('refusals', () => {
  const block = (...content: Json[]): Json => ({ messages: [{ role: 'user', content }] });
  const call = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} };
  const imageOf = (media_type: string, data = png): Json =>
    block({ type: 'image', source: { type: 'base64', media_type, data } });
  const mark = { cache_control: { type: 'ephemeral' } };

  test.each<[string, Json]>([
    ['max_tokens: Field required', { max_tokens: undefined }],
    [
      'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5',
      { max_tokens: 100_000 },
    ],
    ['frequency_penalty: Extra inputs are not permitted', { frequency_penalty: 1 }],
    [
      'messages.0.name: Extra inputs are not permitted',
      { messages: [{ role: 'user', content: 'Hi', name: 'x' }] },
    ],
    ['Unexpected role "system"', { messages: [{ role: 'system', content: 'Hi' }] }],
    ['messages: at least one message is required', { messages: [] }],
    ['messages: text content blocks must be non-empty', block({ type: 'text', text: '' })],
    [
      'messages: final assistant content cannot end with trailing whitespace',
      { messages: [...messages, { role: 'assistant', content: 'I ' }] },
    ],
    [
      'does not support assistant message prefill',
      { model: 'claude-opus-4-6', messages: [...messages, { role: 'assistant', content: 'I' }] },
    ],
    [
      'unexpected `tool_use_id` found in `tool_result` blocks: toolu_1',
      block({ type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }),
    ],
    [
      'without `tool_result` blocks immediately after: toolu_1',
      { messages: [...messages, { role: 'assistant', content: [call] }, ...messages] },
    ],
    [
      ".tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
      { messages: [...messages, { role: 'assistant', content: [{ ...call, id: 'a.b' }] }] },
    ],
    ['temperature: range: 0..1', { temperature: 1.5 }],
    [
      '`temperature` and `top_p` cannot both be specified for this model',
      { temperature: 0.5, top_p: 0.5 },
    ],
    [
      '`temperature` is deprecated for claude-opus-4-8',
      { model: 'claude-opus-4-8', temperature: 0.5 },
    ],
    ['`max_tokens` must be greater than `thinking.budget_tokens`', { thinking }],
    [
      'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
      { thinking: { type: 'enabled', budget_tokens: 10 } },
    ],
    [
      '`temperature` may only be set to 1 when thinking is enabled',
      { max_tokens: 4000, thinking, temperature: 0.5 },
    ],
    [
      'Thinking may not be enabled when tool_choice forces tool use',
      { max_tokens: 4000, thinking, tools: [weather], tool_choice: { type: 'any' } },
    ],
    [
      'This model does not support thinking',
      { model: 'claude-3-5-sonnet-20241022', max_tokens: 4000, thinking },
    ],
    ['adaptive thinking is not supported on this model', { thinking: { type: 'adaptive' } }],
    [
      '"thinking.type.disabled" is not supported for this model',
      { model: 'claude-opus-5-5', thinking: { type: 'disabled' } },
    ],
    [
      'tool_choice: type "tool" and "any" are not supported for this model',
      { model: 'claude-opus-5-5', tools: [weather], tool_choice: { type: 'any' } },
    ],
    ['tool_choice may only be specified while providing tools', { tool_choice: { type: 'auto' } }],
    [
      "Tool 'x' not found in provided tools",
      { tools: [weather], tool_choice: { type: 'tool', name: 'x' } },
    ],
    ['tools: Tool names must be unique', { tools: [weather, weather] }],
    ['tools.0.custom.input_schema: Field required', { tools: [{ name: 'a' }] }],
    [
      "tools.0.custom.input_schema.type: Input should be 'object'",
      { tools: [{ name: 'a', input_schema: { type: 'string' } }] },
    ],
    [
      "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
      { tools: [{ ...weather, name: 'a b' }] },
    ],
    [
      "'additionalProperties' must be explicitly set to false",
      { tools: [{ name: 'a', strict: true, input_schema: { type: 'object' } }] },
    ],
    [
      'Circular reference detected in schema definitions: N -> N',
      {
        tools: [
          {
            name: 'a',
            strict: true,
            input_schema: {
              type: 'object',
              additionalProperties: false,
              $defs: { N: { $ref: '#/$defs/N' } },
            },
          },
        ],
      },
    ],
    [
      "For 'integer' type, property 'minimum' is not supported",
      {
        output_config: { format: { type: 'json_schema', schema: { type: 'integer', minimum: 1 } } },
      },
    ],
    [
      "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
      { model: 'claude-sonnet-4-6', output_config: { effort: 'xhigh' } },
    ],
    [
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
      block(...'abcde'.split('').map((text) => ({ type: 'text', text, ...mark }))),
    ],
    [
      "a ttl='1h' cache_control block must not come after a ttl='5m'",
      {
        system: [{ type: 'text', text: 'a', ...mark }],
        ...block({ type: 'text', text: 'b', cache_control: { type: 'ephemeral', ttl: '1h' } }),
      },
    ],
    [
      "media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'",
      imageOf('image/bmp'),
    ],
    ['the image appears to be a image/png image', imageOf('image/jpeg')],
    ['Could not process image', imageOf('image/png', 'AAAA')],
    [
      'Only HTTPS URLs are supported',
      block({ type: 'image', source: { type: 'url', url: 'http://a.example/b.png' } }),
    ],
    ["service_tier: Input should be 'auto' or 'standard_only'", { service_tier: 'default' }],
    ['stop_sequences: each stop sequence must contain non-whitespace', { stop_sequences: ['\n'] }],
    [
      'metadata.user_id: String should have at most 256 characters',
      { metadata: { user_id: 'x'.repeat(257) } },
    ],
  ])('%s', async (message, more) => expect(await complaint(more)).toContain(message));

  test('versions: none, one that nobody has, and the newest, which has no sampling parameters', async () => {
    expect(await complaint({}, { 'anthropic-version': '2024-01-01' })).toContain(
      'is not a valid version',
    );
    await expect(client.messages.create({ ...basic, ...{ temperature: 1 } })).rejects.toThrow(
      'temperature: Extra inputs are not permitted',
    );
    expect((await old.messages.create({ ...basic, ...{ temperature: 1 } })).type).toBe('message');
    const unversioned = await fetch(`${sim.url}/anthropic/v1/messages`, {
      method: 'POST',
      headers: { 'x-api-key': 'k' },
      body: '{}',
    });
    expect(await unversioned.json()).toMatchObject({
      error: { message: 'anthropic-version: header is required' },
    });
  });

  test('have the classes that the package knows', async () => {
    const ask = (named: string, from = client) => from.messages.create({ ...basic, model: named });
    await expect(
      ask(model, new Anthropic({ baseURL: client.baseURL, apiKey: 'sk-wrong' })),
    ).rejects.toThrow(AuthenticationError);
    await expect(ask('claude-does-not-exist')).rejects.toThrow(NotFoundError);
    await expect(ask('sim-context')).rejects.toThrow(BadRequestError);
    await expect(ask('sim-402')).rejects.toThrow('Your credit balance is too low');
    const limited = await ask('sim-429').catch((error: unknown) => error);
    expect(limited).toBeInstanceOf(RateLimitError);
    if (!(limited instanceof APIError)) throw limited;
    expect(limited.headers.get('retry-after')).toBe('1');
    expect(limited.headers.get('anthropic-ratelimit-requests-reset')).toMatch(/Z$/);
    await expect(ask('sim-500')).rejects.toThrow(InternalServerError);
    await expect(ask('sim-503')).rejects.toMatchObject({ status: 529, type: 'overloaded_error' });
  });

  test('a stream that fails says so in its midst', async () => {
    const stream = client.messages.stream({ ...basic, model: 'sim-error-in-stream' });
    let text = '';
    stream.on('text', (piece) => (text += piece));
    await expect(stream.finalMessage()).rejects.toThrow('Overloaded');
    expect(text).not.toBe('');
  });
});
