import { CohereClientV2, CohereError } from 'cohere-ai';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../index.ts';
import type { Json } from '../json.ts';

/** Cohere's own SDK, configured for the simulator. */
let sim: Sim;
let client: CohereClientV2;
beforeAll(async () => {
  sim = await startSim();
  client = new CohereClientV2({ token: 'k', environment: `${sim.url}/cohere`, maxRetries: 0 });
});
afterAll(() => sim.close());

const model = 'command-a-03-2025';
const thinker = 'command-a-plus-05-2026';
const user = (content: string) => ({ role: 'user' as const, content });
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [
  {
    type: 'function' as const,
    function: { name: 'get_weather', description: 'The weather of a city', parameters },
  },
];

interface Gathered {
  text: string;
  thinking: string;
  plan: string;
  arguments: string[];
  types: string[];
  finish: string | undefined;
}

async function gather(
  stream: Awaited<ReturnType<CohereClientV2['chatStream']>>,
): Promise<Gathered> {
  const all: Gathered = {
    text: '',
    thinking: '',
    plan: '',
    arguments: [],
    types: [],
    finish: undefined,
  };
  for await (const event of stream) {
    if (all.types.at(-1) !== event.type) all.types.push(event.type);
    if (event.type === 'content-delta') {
      all.text += event.delta?.message?.content?.text ?? '';
      all.thinking += event.delta?.message?.content?.thinking ?? '';
    }
    if (event.type === 'tool-plan-delta') all.plan += event.delta?.message?.toolPlan ?? '';
    if (event.type === 'tool-call-start') all.arguments.push('');
    if (event.type === 'tool-call-delta')
      all.arguments.push(
        (all.arguments.pop() ?? '') + (event.delta?.message?.toolCalls?.function?.arguments ?? ''),
      );
    if (event.type === 'message-end') all.finish = event.delta?.finishReason;
  }
  return all;
}

test('says the same whole and in a stream, and bills less than it reads', async () => {
  const messages = [user('Why is the sea salt? “Weil…” 海')];
  const whole = await client.chat({ model, messages });
  const [content] = whole.message.content ?? [];
  if (content?.type !== 'text') throw new Error('no text');
  expect(content.text).toContain('“Weil…” 海');
  expect(whole.finishReason).toBe('COMPLETE');
  expect(whole.usage?.tokens?.inputTokens).toBeGreaterThan(
    whole.usage?.billedUnits?.inputTokens ?? 0,
  );
  const stream = await gather(await client.chatStream({ model, messages }));
  expect(stream).toMatchObject({ text: content.text, finish: 'COMPLETE', plan: '' });
  expect(stream.types).toEqual([
    'message-start',
    'content-start',
    'content-delta',
    'content-end',
    'message-end',
  ]);
});

test('thinks where it reasons, unless it is told not to', async () => {
  const messages = [user('Why?')];
  const { message, usage } = await client.chat({ model: thinker, messages });
  expect(message.content?.[0]).toMatchObject({
    type: 'thinking',
    thinking: expect.stringContaining('should think'),
  });
  expect(usage?.tokens).toHaveProperty('inputTokens');
  expect((await gather(await client.chatStream({ model: thinker, messages }))).thinking).toContain(
    'should think',
  );
  const quiet = await client.chat({ model: thinker, messages, thinking: { type: 'disabled' } });
  expect(quiet.message.content).toMatchObject([{ type: 'text' }]);
});

test('plans its calls, makes them, and reads their results', async () => {
  const messages = [user('The weather in both Paris and Rome, please')];
  const { message, finishReason } = await client.chat({ model, messages, tools });
  expect(finishReason).toBe('TOOL_CALL');
  expect(message.toolPlan).toContain('I will use the get_weather');
  expect(message.toolCalls?.map((call) => call.function?.arguments)).toEqual([
    '{"city":"Paris"}',
    '{"city":"Rome"}',
  ]);
  const stream = await gather(await client.chatStream({ model, messages, tools }));
  expect(stream).toMatchObject({
    plan: message.toolPlan,
    arguments: ['{"city":"Paris"}', '{"city":"Rome"}'],
    finish: 'TOOL_CALL',
  });
  const results = (message.toolCalls ?? []).map(({ id }, i) => ({
    role: 'tool' as const,
    toolCallId: id,
    content: `2${i} degrees`,
  }));
  const { toolCalls = [], toolPlan = '' } = message;
  const answer = await client.chat({
    model,
    messages: [...messages, { role: 'assistant', toolCalls, toolPlan }, ...results],
    tools,
  });
  expect(answer.message.content?.[0]).toMatchObject({
    text: expect.stringContaining('21 degrees'),
  });
});

test('answers by schema, sees images and stops where it must', async () => {
  const jsonSchema = {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name', 'age'],
  };
  const answer = await client.chat({
    model,
    messages: [user('Our guest is Ada Lovelace, 36 years old.')],
    responseFormat: { type: 'json_object', jsonSchema },
  });
  expect(answer.message.content?.[0]).toEqual({
    type: 'text',
    text: '{"name":"Ada Lovelace","age":36}',
  });
  const url =
    'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  const content = [
    { type: 'text' as const, text: 'What is this?' },
    { type: 'image_url' as const, imageUrl: { url } },
  ];
  const seen = await client.chat({
    model: 'command-a-vision-07-2025',
    messages: [{ role: 'user', content }],
  });
  expect(seen.message.content?.[0]).toMatchObject({ text: expect.stringContaining('1×1 pixels') });
  expect((await client.chat({ model, messages: [user('Why?')], maxTokens: 3 })).finishReason).toBe(
    'MAX_TOKENS',
  );
  expect(
    (await client.chat({ model, messages: [user('Say: one two three')], stopSequences: [' two'] }))
      .finishReason,
  ).toBe('STOP_SEQUENCE');
});

test.each([
  ['sim-400', 400],
  ['sim-401', 401],
  ['sim-402', 402],
  ['sim-404', 404],
  ['sim-429', 429],
  ['sim-500', 500],
  ['sim-503', 503],
  ['sim-context', 400],
  ['sim-policy', 400],
  ['gpt-4o', 404],
])('refuses as the package expects: %s', async (named, statusCode) => {
  const error: unknown = await client
    .chat({ model: named, messages: [user('Hi')] })
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CohereError);
  expect(error).toMatchObject({ statusCode });
});

describe('refuses', () => {
  const ask = async (body: object): Promise<{ status: number; body: Json }> => {
    const response = await fetch(`${sim.url}/cohere/v2/chat`, {
      method: 'POST',
      headers: { authorization: 'Bearer k' },
      body: JSON.stringify({ model, messages: [user('Hi')], ...body }),
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } };
  const assistantTurn = { role: 'assistant', tool_calls: [call] };
  const format = (json_schema: object): object => ({
    response_format: { type: 'json_object', json_schema },
  });
  const strict = { type: 'function', function: { name: 'f', parameters, strict: true } };

  test.each<readonly [string, object, number, RegExp]>([
    ['an unknown member', { n: 2 }, 422, /unknown field: parameter 'n' is not a valid field/],
    ['OpenAI’s word for strict tools', { tools: [strict] }, 422, /parameter 'strict'/],
    [
      'a name of the speaker',
      { messages: [{ ...user('Hi'), name: 'Ada' }] },
      422,
      /parameter 'name'/,
    ],
    [
      'an unknown role',
      { messages: [{ role: 'function', content: 'Hi' }] },
      400,
      /role 'function' is not valid/,
    ],
    ['nothing said', { messages: [user('')] }, 400, /message must be at least 1 token long/],
    ['no messages', { messages: [] }, 400, /messages must not be empty/],
    [
      'the assistant’s last word',
      { messages: [user('Hi'), { role: 'assistant', content: 'Hi' }] },
      400,
      /at least 1 token long or tool results/,
    ],
    [
      'a part that is no part',
      { messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] },
      400,
      /content type 'input_audio'/,
    ],
    [
      'an image for a model that sees none',
      {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://h/a.png' } }] },
        ],
      },
      400,
      /image content is not supported/,
    ],
    [
      'a call without an answer',
      { messages: [user('Hi'), assistantTurn, user('And?')] },
      400,
      /did not have response messages: a/,
    ],
    [
      'an answer without a call',
      { messages: [user('Hi'), { role: 'tool', tool_call_id: 'b', content: '1' }] },
      400,
      /tool_call_id 'b' does not match/,
    ],
    [
      'arguments that are no object',
      {
        messages: [
          user('Hi'),
          { ...assistantTurn, tool_calls: [{ ...call, function: { name: 'f', arguments: '1' } }] },
          { role: 'tool', tool_call_id: 'a', content: '1' },
        ],
      },
      400,
      /valid JSON object/,
    ],
    [
      'a choice in lower case',
      { tools: [{ ...strict, function: { name: 'f', parameters } }], tool_choice: 'required' },
      400,
      /tool_choice must be one of/,
    ],
    ['a must without tools', { tool_choice: 'REQUIRED' }, 400, /requires tools/],
    ['too much heat', { temperature: 1.5 }, 400, /temperature must be between 0 and 1 inclusive/],
    ['a nucleus of all', { p: 1 }, 400, /p must be between 0.01 and 0.99/],
    [
      'both penalties',
      { frequency_penalty: 0.5, presence_penalty: 0.5 },
      400,
      /cannot specify both/,
    ],
    ['six stop sequences', { stop_sequences: ['a', 'b', 'c', 'd', 'e', 'f'] }, 400, /at most 5/],
    [
      'OpenAI’s format',
      { response_format: { type: 'json_schema' } },
      400,
      /must be one of 'text', 'json_object'/,
    ],
    [
      'JSON beside tools',
      { ...format(parameters), tools: [{ ...strict, function: { name: 'f', parameters } }] },
      400,
      /not supported with tools/,
    ],
    [
      'an object without required members',
      format({ type: 'object', properties: {} }),
      400,
      /at least one required/,
    ],
    ['a schema of schemas', format({ ...parameters, allOf: [] }), 400, /'allOf' is not supported/],
    [
      'thoughts of a model that has none',
      { thinking: { type: 'enabled' } },
      400,
      /thinking is not supported/,
    ],
    [
      'a budget of nothing',
      { model: thinker, thinking: { type: 'enabled', token_budget: 0 } },
      400,
      /positive integer/,
    ],
  ])('%s', async (_what, body, status, message) => {
    const answer = await ask(body);
    expect(answer.status).toBe(status);
    expect(answer.body['message']).toMatch(message);
    expect(answer.body['id']).toMatch(/^[\da-f-]{36}$/);
  });
});
