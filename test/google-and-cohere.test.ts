import OpenAI, { APIError } from 'openai';
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionMessageParam,
} from 'openai/resources';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { models, simConfig } from '../sim/catalog.ts';
import { simServiceAccount } from '../sim/google/token.ts';
import { type Sim, startSim } from '../sim/index.ts';
import type { Row } from '../src/storage/database.ts';
import { hello, startRunning } from './support/running.ts';
import { openTemporaryGateway, type Temporary } from './support/temporary.ts';

/**
 * What the table of packages does not look at, over the vendors that sign, plan and filter:
 * signatures, charges, and what becomes of each refusal.
 */
const refused = [
  'sim-400',
  'sim-401',
  'sim-402',
  'sim-404',
  'sim-429-7s',
  'sim-500',
  'sim-503',
  'sim-context',
  'sim-policy',
  'sim-html-error',
];
const broken = [
  'sim-cut-after-3',
  'sim-half-event',
  'sim-bad-json',
  'sim-reset-after-3',
  'sim-error-in-stream',
];
const more = ['sim-slow-100ms', 'sim-filtered', 'sim-no-usage', 'sim-hang-after-3'];

let sim: Sim;
let temporary: Temporary;
let client: OpenAI;
beforeAll(async () => {
  sim = await startSim();
  temporary = await openTemporaryGateway(simConfig(sim.url, [...refused, ...broken, ...more]));
  client = new OpenAI({
    baseURL: `${temporary.gateway.url}/v1`,
    apiKey: temporary.key,
    maxRetries: 0,
  });
});
afterAll(async () => {
  await temporary.close();
  await sim.close();
});

const sold = models.filter(({ vendor }) => ['gemini', 'vertex', 'cohere'].includes(vendor));
const user = (content: string): ChatCompletionMessageParam => ({ role: 'user', content });
const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const tools = [
  {
    type: 'function' as const,
    function: { name: 'get_weather', description: 'The weather of a city', parameters },
  },
];

async function failure(promise: PromiseLike<unknown>): Promise<APIError> {
  const error: unknown = await Promise.resolve(promise).catch((reason: unknown) => reason);
  if (error instanceof APIError) return error;
  throw new Error('it succeeded');
}

/** The newest usage record of a model, once it is written. */
async function record(model: string): Promise<Row> {
  const find = async (): Promise<Row | undefined> =>
    (
      await temporary.gateway.database.query(
        'SELECT * FROM usage ORDER BY reserved_at DESC, id DESC',
      )
    ).find((row) => row['model'] === model);
  await expect.poll(find).toBeDefined();
  return (await find()) ?? {};
}

const lastBody = (): string => sim.requests.at(-1)?.body.toString('utf8') ?? '';

describe.each(['gemini-3.1-pro', 'gemini-3-flash'])('signatures of %s', (model) => {
  const asked = [user('The weather in both Paris and Rome, please')];
  const results = (message: ChatCompletionAssistantMessageParam): ChatCompletionMessageParam[] =>
    (message.tool_calls ?? []).map(({ id }, i) => ({
      role: 'tool',
      tool_call_id: id,
      content: `2${i} degrees`,
    }));

  test('go back by way of the client that keeps what it does not know, whole and streamed', async () => {
    for (const stream of [false, true]) {
      const told = stream
        ? (
            await client.chat.completions
              .stream({ model, messages: asked, tools, reasoning_effort: 'high' })
              .finalChatCompletion()
          ).choices[0]?.message
        : (
            await client.chat.completions.create({
              model,
              messages: asked,
              tools,
              reasoning_effort: 'high',
            })
          ).choices[0]?.message;
      if (told === undefined) throw new Error('no answer');
      // The package keeps only the last piece of what it does not know itself.
      expect(Reflect.get(told, 'reasoning_content')).toContain(stream ? '.' : 'should think');
      const signature: unknown = Object(told.tool_calls?.[0])['extra_content']?.google
        .thought_signature;
      expect(signature).toEqual(expect.any(String));
      const answer = await client.chat.completions.create({
        model,
        messages: [...asked, told, ...results(told)],
        tools,
      });
      expect(answer.choices[0]?.message.content).toContain('21 degrees');
      expect(lastBody()).toContain(`"thoughtSignature":${JSON.stringify(signature)}`);
    }
  });

  test('go back for the client that drops them', async () => {
    const told = (await client.chat.completions.create({ model, messages: asked, tools }))
      .choices[0]?.message;
    const plain = {
      role: 'assistant' as const,
      content: null,
      tool_calls: (told?.tool_calls ?? []).map((call) => structuredClone(call)),
    };
    const signature: unknown = Object(plain.tool_calls[0])['extra_content']?.google
      .thought_signature;
    for (const call of plain.tool_calls) Reflect.deleteProperty(call, 'extra_content');
    const answer = await client.chat.completions.create({
      model,
      messages: [...asked, plain, ...results(plain)],
      tools,
    });
    expect(answer.choices[0]?.message.content).toContain('21 degrees');
    expect(lastBody()).toContain(`"thoughtSignature":${JSON.stringify(signature)}`);
  });

  test('are not missed in calls that another model made', async () => {
    const call = {
      id: 'call_other',
      type: 'function' as const,
      function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
    };
    const foreign = { role: 'assistant' as const, tool_calls: [call] };
    const answer = await client.chat.completions.create({
      model,
      messages: [...asked, foreign, ...results(foreign)],
      tools,
    });
    expect(answer.choices[0]?.message.content).toContain('20 degrees');
  });
});

test('what Cohere planned and thought goes back to it', async () => {
  for (const [model, member] of [
    ['command-a', '"tool_plan":"I will use the get_weather'],
    ['command-a-plus', '"thinking":"The user wants to know'],
  ] as const) {
    const asked = [user('What is the weather in Paris?')];
    const told = (await client.chat.completions.create({ model, messages: asked, tools }))
      .choices[0]?.message;
    if (told === undefined) throw new Error('no answer');
    const result = {
      role: 'tool' as const,
      tool_call_id: told.tool_calls?.[0]?.id ?? '',
      content: '21 degrees',
    };
    await client.chat.completions.create({ model, messages: [...asked, told, result], tools });
    expect(lastBody()).toContain(member);
  }
});

describe.each(sold)('$vendor: $id', ({ id, vendor }) => {
  test('a client that leaves stops the vendor within a second, and pays for what it got', async () => {
    const model = `${id}+sim-slow-100ms`;
    sim.clear();
    const stream = await client.chat.completions.create({
      model,
      messages: [user('Why?')],
      stream: true,
    });
    let pieces = 0;
    for await (const chunk of stream) if (chunk.choices.length > 0 && ++pieces === 4) break;
    await expect
      .poll(() => sim.requests.map(({ left }) => left), { timeout: 1_000, interval: 20 })
      .toEqual([true]);
    await expect.poll(async () => (await record(model))['status']).toBe('left');
    const { output_tokens: output, input_tokens: input, cost } = await record(model);
    const whole = await client.chat.completions.create({ model: id, messages: [user('Why?')] });
    expect(Number(input)).toBeGreaterThan(0);
    expect(Number(output)).toBeGreaterThan(0);
    expect(Number(output)).toBeLessThan(whole.usage?.completion_tokens ?? 0);
    expect(Number(cost)).toBeGreaterThan(0);
  });

  test.each(refused)('%s is the client’s or ours, as it is for every vendor', async (scenario) => {
    const error = await failure(
      client.chat.completions.create({ model: `${id}+${scenario}`, messages: [user('Hi')] }),
    );
    const codes: Readonly<Record<string, string>> = {
      'sim-400': 'invalid_request_error',
      'sim-context': 'context_length_exceeded',
      'sim-policy': 'content_policy_violation',
    };
    const code = codes[scenario];
    expect({ status: error.status, code: error.code }).toEqual(
      code === undefined ? { status: 503, code: null } : { status: 400, code },
    );
    // Vertex does not say when (recorded).
    if (scenario === 'sim-429-7s')
      expect(error.headers?.get('retry-after')).toBe(vendor === 'vertex' ? '5' : '7');
  });

  test.each(broken)(
    '%s ends the client’s stream with an error, and is charged',
    async (scenario) => {
      const model = `${id}+${scenario}`;
      const finishes: unknown[] = [];
      await expect(async () => {
        for await (const { choices } of await client.chat.completions.create({
          model,
          messages: [user('Hi')],
          stream: true,
        }))
          finishes.push(...choices.map((choice) => choice.finish_reason));
      }).rejects.toBeInstanceOf(APIError);
      expect(finishes.filter(Boolean)).toEqual([]);
      expect(await record(model)).toMatchObject({ status: 'cut' });
    },
  );

  test('an answer without usage is counted', async () => {
    const model = `${id}+sim-no-usage`;
    const { usage } = await client.chat.completions.create({
      model,
      messages: [user('Say hello')],
    });
    expect(usage?.completion_tokens).toBeGreaterThan(0);
    expect(await record(model)).toMatchObject({ estimated: 1n });
  });
});

test.each(sold.filter(({ vendor }) => vendor !== 'cohere'))(
  '$id: what its vendor filters is told as filtered',
  async ({ id }) => {
    const asked = { model: `${id}+sim-filtered`, messages: [user('Why?')] };
    expect((await client.chat.completions.create(asked)).choices[0]?.finish_reason).toBe(
      'content_filter',
    );
    const stream = client.chat.completions.stream(asked);
    expect((await stream.finalChatCompletion()).choices[0]?.finish_reason).toBe('content_filter');
  },
);

test('Vertex is asked with a token of the service account, fetched once for Gemini and Claude alike', async () => {
  const running = await startRunning({
    databaseUrl: 'sqlite::memory:',
    configuration: `
groups: [{ name: default, price_multiplier: 1.0 }]
models:
  - { id: m1, owned_by: google, kind: chat, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: m2, owned_by: anthropic, kind: chat, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: a, vendor: vertex, base_url: "${sim.url}/vertex/v1", api_key: ${JSON.stringify(simServiceAccount(sim.url))}, groups: [default], models: [{ id: m1, upstream: gemini-2.5-pro }, { id: m2, upstream: claude-sonnet-4-5@20250929 }] }
`,
  });
  sim.clear();
  for (const model of ['m1', 'm2'])
    expect((await running.post('/v1/chat/completions', { ...hello, model })).status).toBe(200);
  expect(sim.requests.map(({ path }) => path)).toEqual([
    '/vertex/token',
    '/vertex/v1/projects/sim-project/locations/global/publishers/google/models/gemini-2.5-pro:generateContent',
    '/vertex/v1/projects/sim-project/locations/global/publishers/anthropic/models/claude-sonnet-4-5%4020250929:rawPredict',
  ]);
  await running.expectBooks();
});

test('after all that the books are right', () => temporary.expectBooks());
