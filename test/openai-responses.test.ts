import OpenAI, { APIError, BadRequestError, NotFoundError } from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import type { ResponseCreateParamsNonStreaming } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSchema } from './responses-schema.ts';
import { openSimulatedGateway } from './support/temporary.ts';

/** What responses have beside answers, which are in sdk/. */
const schema = openSchema();
let temporary: Awaited<ReturnType<typeof openSimulatedGateway>>;
let client: OpenAI;

beforeAll(async () => {
  temporary = await openSimulatedGateway();
  client = new OpenAI({
    baseURL: `${temporary.gateway.url}/v1`,
    apiKey: temporary.key,
    maxRetries: 0,
  });
});
afterAll(() => temporary.close());

const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a city',
  strict: false,
  parameters: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};

async function streamed(
  body: Omit<ResponseCreateParamsNonStreaming, 'stream'>,
): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of await client.responses.create({ ...body, stream: true })) {
    events.push(event);
    expect(schema.event({ ...event })).toBe('');
  }
  return events;
}

test.each(['gpt-5.6-terra', 'deepseek-reasoner'])(
  '%s: a conversation that the client keeps itself, thoughts included',
  async (model) => {
    const question = { role: 'user' as const, content: 'Call get_weather for Paris.' };
    const first = await client.responses.create({
      model,
      input: [question],
      tools: [weather],
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    const call = first.output.find((item) => item.type === 'function_call');
    if (call?.type !== 'function_call') throw new Error('no tool was called');
    const second = await client.responses.create({
      model,
      store: false,
      tools: [weather],
      input: [
        question,
        ...first.output.filter(
          (item) => item.type === 'reasoning' || item.type === 'function_call',
        ),
        { type: 'function_call_output', call_id: call.call_id, output: '21' },
      ],
    });
    expect(second.output_text).toBeTruthy();
  },
);

test('a conversation may change its model from turn to turn', async () => {
  let previous: string | undefined;
  for (const model of [
    'gpt-5-mini',
    'gpt-4o-mini',
    'deepseek-reasoner',
    'gpt-5.6-terra',
    'grok-4.3',
    'qwen-plus',
  ]) {
    const response = await client.responses.create({
      model,
      input: `Hello from ${model}`,
      previous_response_id: previous ?? null,
    });
    expect(response.output_text).toBeTruthy();
    previous = response.id;
  }
  const items = await client.responses.inputItems.list(previous ?? '', {
    order: 'asc',
    limit: 100,
  });
  expect(items.data.filter((item) => item.type === 'message' && item.role === 'user')).toHaveLength(
    6,
  );
});

test('a list gives each input item once, and ends, where an id occurs twice', async () => {
  const said = (text: string, id?: string) => ({ role: 'user' as const, content: text, id });
  const ask = async (input: unknown, previous?: string) => {
    const { id } = await client.responses.create({
      model: 'deepseek-chat',
      input: input as OpenAI.Responses.ResponseInput,
      previous_response_id: previous ?? null,
    });
    const ids: string[] = [];
    for await (const item of client.responses.inputItems.list(id, { limit: 1, order: 'asc' })) {
      ids.push(item.id ?? '');
      if (ids.length > 8) break;
    }
    return { id, ids };
  };
  const twice = await ask([said('One', 'msg_a'), said('Two', 'msg_a'), said('Three', 'msg_b')]);
  expect(twice.ids).toEqual(['msg_a', 'msg_b']);
  const first = await ask([said('One', 'msg_c')]);
  for (const again of [said('One', 'msg_c'), { type: 'item_reference', id: 'msg_c' }]) {
    const { ids } = await ask([again, said('Two', 'msg_d')], first.id);
    expect(ids).toEqual(['msg_c', expect.stringMatching(/^msg_/), 'msg_d']);
  }
});

test('items may be referred to by their ids', async () => {
  const model = 'glm-4.7';
  const first = await client.responses.create({
    model,
    input: 'Call get_weather for Paris.',
    tools: [weather],
  });
  const call = first.output.find((item) => item.type === 'function_call');
  if (call?.type !== 'function_call') throw new Error('no tool was called');
  const second = await client.responses.create({
    model,
    tools: [weather],
    input: [
      { role: 'user', content: 'Call get_weather for Paris.' },
      { type: 'item_reference', id: call.id ?? '' },
      { type: 'function_call_output', call_id: call.call_id, output: '21' },
    ],
  });
  expect(second.output_text).toBeTruthy();
});

test('the model for load runs answers here as well, whole and streamed', async () => {
  expect((await client.responses.create({ model: 'sim-fast', input: 'Hello' })).status).toBe(
    'completed',
  );
  const events: string[] = [];
  for await (const { type } of await client.responses.create({
    model: 'sim-fast',
    input: 'Hello',
    stream: true,
  }))
    events.push(type);
  expect(events.at(-1)).toBe('response.completed');
});

test('functions on a model that takes them beside reasoning on /responses only: chat reaches it all the same', async () => {
  const model = 'gpt-5.6-terra';
  const messages = [{ role: 'user' as const, content: 'Call get_weather for Paris.' }];
  const { name, description, parameters } = weather;
  const tools = [{ type: 'function' as const, function: { name, description, parameters } }];
  temporary.sim.clear();
  const first = await client.chat.completions.create({
    model,
    messages,
    tools,
    temperature: 0.2,
    stop: ['never'],
  });
  expect(temporary.sim.requests.at(-1)?.path).toBe('/openai/v1/responses');
  const message = first.choices[0]?.message;
  const call = message?.tool_calls?.[0];
  if (message === undefined || call?.type !== 'function') throw new Error('no tool was called');
  expect(first.choices[0]?.finish_reason).toBe('tool_calls');
  const result = { role: 'tool' as const, tool_call_id: call.id, content: '21' };
  const second = await client.chat.completions.create({
    model,
    messages: [...messages, message, result],
    tools,
  });
  expect(second.choices[0]?.message.content).toBeTruthy();
  const sent: { readonly input: readonly { readonly type: string }[] } = JSON.parse(
    temporary.sim.requests.at(-1)?.body.toString('utf8') ?? '',
  );
  expect(sent.input.map(({ type }) => type)).toEqual([
    'message',
    'reasoning',
    'function_call',
    'function_call_output',
  ]);
  const runner = client.chat.completions.stream({ model, messages, tools });
  const streamedCall = (await runner.finalChatCompletion()).choices[0]?.message.tool_calls?.[0];
  expect(streamedCall).toMatchObject({ type: 'function', function: { name: 'get_weather' } });
  await client.chat.completions.create({ model, messages, tools, reasoning_effort: 'none' });
  expect(temporary.sim.requests.at(-1)?.path).toBe('/openai/v1/chat/completions');
});

test('responses are kept, listed and deleted, and belong to their account', async () => {
  const made = await client.responses.create({
    model: 'gpt-4o-mini',
    input: 'Remember this.',
    metadata: { topic: 'tests' },
  });
  const kept = await client.responses.retrieve(made.id);
  expect(kept).toMatchObject({
    id: made.id,
    status: 'completed',
    metadata: { topic: 'tests' },
    output: made.output,
  });
  const stranger = new OpenAI({
    baseURL: client.baseURL,
    apiKey: await temporary.poorKey(),
    maxRetries: 0,
  });
  await expect(stranger.responses.retrieve(made.id)).rejects.toBeInstanceOf(NotFoundError);
  const items = await client.responses.inputItems.list(made.id);
  expect(items.data).toMatchObject([
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Remember this.' }] },
  ]);
  const next = client.responses.create({
    model: 'gpt-4o-mini',
    input: 'And?',
    previous_response_id: made.id,
  });
  await expect(next).resolves.toMatchObject({ previous_response_id: made.id });
  await client.responses.delete(made.id);
  await expect(client.responses.retrieve(made.id)).rejects.toBeInstanceOf(NotFoundError);
  await expect(
    client.responses.create({ model: 'gpt-4o-mini', input: 'And?', previous_response_id: made.id }),
  ).rejects.toMatchObject({
    status: 400,
    code: 'previous_response_not_found',
  });
  const forgotten = await client.responses.create({
    model: 'gpt-4o-mini',
    input: 'Forget this.',
    store: false,
  });
  await expect(client.responses.retrieve(forgotten.id)).rejects.toBeInstanceOf(NotFoundError);
  const events = await streamed({ model: 'qwen-plus', input: 'Streamed.' });
  const end = events.at(-1);
  if (end?.type !== 'response.completed')
    throw new Error('the last event is the completed response');
  expect(await client.responses.retrieve(end.response.id)).toMatchObject({
    output: end.response.output,
  });
});

test('a response in the background is there when it is done, and can be cancelled', async () => {
  const begun = await client.responses.create({
    model: 'gpt-4o-mini',
    input: 'Take your time.',
    background: true,
  });
  expect(begun).toMatchObject({ status: 'queued', background: true, output: [] });
  await expect
    .poll(async () => (await client.responses.retrieve(begun.id)).status)
    .toBe('completed');
  expect((await client.responses.retrieve(begun.id)).output_text).toBeTruthy();
  const endless = await client.responses.create({
    model: 'sim-hang',
    input: 'Never.',
    background: true,
  });
  expect(await client.responses.cancel(endless.id)).toMatchObject({ status: 'cancelled' });
  expect(await client.responses.retrieve(endless.id)).toMatchObject({ status: 'cancelled' });
  await expect.poll(() => temporary.sim.requests.at(-1)?.left).toBe(true);
  const failing = await client.responses.create({
    model: 'sim-401',
    input: 'No.',
    background: true,
  });
  await expect
    .poll(async () => (await client.responses.retrieve(failing.id)).status)
    .toBe('failed');
});

test('input is counted without being answered', async () => {
  const { input_tokens: few } = await client.responses.inputTokens.count({
    model: 'glm-4.7',
    input: 'Hello',
  });
  const { input_tokens: many } = await client.responses.inputTokens.count({
    model: 'glm-4.7',
    input: 'Hello '.repeat(100),
  });
  expect(few).toBeGreaterThan(0);
  expect(many).toBeGreaterThan(few + 90);
});

test('a vendor that counts is asked, and one that compacts', async () => {
  const { input_tokens: told } = await client.responses.inputTokens.count({
    model: 'gpt-5-mini',
    input: 'Hello',
  });
  expect(temporary.sim.requests.at(-1)?.path).toBe('/openai/v1/responses/input_tokens');
  expect(told).toBeGreaterThan(0);
  const first = await client.responses.create({ model: 'gpt-5-mini', input: 'Hello' });
  const short = await client.responses.compact({
    model: 'gpt-5-mini',
    previous_response_id: first.id,
    input: 'Goodbye',
  });
  expect(short).toMatchObject({ object: 'response.compaction' });
  expect(short.output.at(-1)?.type).toBe('compaction');
});

test('where the vendor does not compact, the model sums the conversation up, and any model goes on from it', async () => {
  const said = [
    { role: 'user' as const, content: 'We launch on Tuesday.' },
    { role: 'assistant' as const, content: 'Understood: on Tuesday.' },
  ];
  const short = await client.responses.compact({ model: 'glm-4.7', input: said });
  expect(temporary.sim.requests.at(-1)?.body.toString()).toContain(
    'assistant: Understood: on Tuesday.',
  );
  expect(short).toMatchObject({
    object: 'response.compaction',
    output: [{ type: 'message', role: 'user' }, { type: 'compaction' }],
  });
  expect(short.usage.input_tokens).toBeGreaterThan(0);
  expect(JSON.stringify(short.output)).not.toContain('Understood');

  const input = [
    ...(short.output as OpenAI.Responses.ResponseInputItem[]),
    { role: 'user' as const, content: 'When is it?' },
  ];
  for (const model of ['gpt-5-mini', 'claude-haiku-4-5', 'mistral-small-latest']) {
    const { id } = await client.responses.create({ model, input });
    await client.responses.create({ model, previous_response_id: id, input: 'Are you sure?' });
    const [first = '', second = ''] = temporary.sim.requests
      .slice(-2)
      .map(({ body }) => body.toString());
    expect(first).toMatch(
      /We launch on Tuesday.*replaced by this summary of it.*Sum up the conversation below.*When is it\?/s,
    );
    expect(second).toMatch(/replaced by this summary of it.*When is it\?.*Are you sure\?/s);
  }
});

test('errors have the classes and parameters that the package promises', async () => {
  const hosted = client.responses.create({
    model: 'glm-4.7',
    input: 'Hi',
    tools: [{ type: 'web_search' }],
  });
  await expect(hosted).rejects.toMatchObject({ status: 400, param: 'tools[0].type' });
  await expect(
    client.responses.create({ model: 'glm-4.7', input: 'Hi', max_output_tokens: 3 }),
  ).rejects.toBeInstanceOf(BadRequestError);
  await expect(client.responses.create({ model: 'nothing', input: 'Hi' })).rejects.toBeInstanceOf(
    NotFoundError,
  );
  await expect(client.responses.create({ model: 'sim-401', input: 'Hi' })).rejects.toMatchObject({
    status: 503,
  });
  await expect(streamed({ model: 'sim-error-in-stream', input: 'Hi' })).rejects.toBeInstanceOf(
    APIError,
  );
  await expect(streamed({ model: 'sim-cut-after-3', input: 'Hi' })).rejects.toBeInstanceOf(
    APIError,
  );
});

test('after all that the books are right', async () => {
  await temporary.expectBooks();
});
