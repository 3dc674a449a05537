import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { models, simConfig } from '../sim/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { eventsOf, type ResponseEvent } from './responses-meaning.ts';
import { openaiSchema, openSchema } from './responses-schema.ts';
import { openTemporaryGateway, type Temporary } from './support/temporary.ts';

/** Every response and event has what the published descriptions demand, native and over chat. */
const schemas = [openSchema(), openaiSchema()];
const breaking = 'sim-error-in-stream';
const failing = 'sim-500';
let sim: Sim;
let temporary: Temporary;

beforeAll(async () => {
  sim = await startSim();
  temporary = await openTemporaryGateway(simConfig(sim.url, [breaking, failing]));
});
afterAll(async () => {
  await temporary.close();
  await sim.close();
});

const weather = {
  type: 'function',
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
const person = {
  type: 'object',
  properties: { name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
};
const input = 'Hello, who are you?';

type Json = { readonly [name: string]: unknown };

async function call(
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${temporary.gateway.url}/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${temporary.key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

function expectFine(wrong: string): void {
  if (wrong !== '') expect.fail(wrong);
}

function expectResponse(value: unknown): void {
  for (const schema of schemas) expectFine(schema.response(value));
}

async function create(body: object): Promise<Json> {
  const { status, text } = await call('POST', '/responses', body);
  if (status !== 200) expect.fail(text);
  const response: Json = JSON.parse(text);
  expectResponse(response);
  return response;
}

/** All events, numbered from 0, and each as it is described. */
async function stream(body: object): Promise<readonly ResponseEvent[]> {
  const events = eventsOf((await call('POST', '/responses', { ...body, stream: true })).text);
  expect(events.map(({ data }) => data['sequence_number'])).toEqual(events.map((_event, i) => i));
  for (const { name, data } of events) {
    expect(data['type']).toBe(name);
    for (const schema of schemas) expectFine(schema.event(data));
    if (data['response'] !== undefined) expectResponse(data['response']);
  }
  return events;
}

const typesOf = (response: Json): unknown[] =>
  [response['output']].flat().map((item) => Object(item).type);

/** One of each vendor is enough: how a vendor answers is the same for all of its models. */
const oneOfEach = models.filter(
  (model, i) =>
    models.findIndex(({ vendor }) => vendor === model.vendor) === i || model.skills.has('thinks'),
);

describe.each(oneOfEach)('$vendor: $id', ({ id: model, skills }) => {
  test('text, whole and streamed', async () => {
    const response = await create({
      model,
      input,
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      temperature: 0.5,
      user: 'u',
    });
    expect(typesOf(response)).toContain('message');
    expect((await stream({ model, input })).at(-1)?.name).toBe('response.completed');
  });

  test('thinking', async () => {
    const body = {
      model,
      input,
      reasoning: { effort: 'medium', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    };
    expect(typesOf(await create(body)).includes('reasoning')).toBe(
      skills.has('thinks') || skills.has('sums-up'),
    );
    await stream(body);
  });

  test('the end of what may be said', async () => {
    const body = { model, input, max_output_tokens: 16 };
    expect(await create(body)).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
    expect((await stream(body)).at(-1)?.name).toBe('response.incomplete');
  });

  test('an error in mid-stream and before it', async () => {
    expect((await stream({ model: `${model}+${breaking}`, input })).at(-1)?.name).toBe('error');
    const { status, text } = await call('POST', '/responses', {
      model: `${model}+${failing}`,
      input,
    });
    expect([status, Object.keys(JSON.parse(text))]).toEqual([503, ['error']]);
  });

  test('in the background, and what is kept of it', async () => {
    const { id, status } = await create({ model, input, background: true });
    expect(status).toBe('queued');
    const read = async (): Promise<Json> =>
      JSON.parse((await call('GET', `/responses/${String(id)}`)).text);
    await expect.poll(async () => (await read())['status']).toBe('completed');
    expectResponse(await read());
    const failed = await create({ model: `${model}+${failing}`, input, background: true });
    const readFailed = async (): Promise<Json> =>
      JSON.parse((await call('GET', `/responses/${String(failed['id'])}`)).text);
    await expect.poll(async () => (await readFailed())['status']).toBe('failed');
    expectResponse(await readFailed());
  });

  test('what is stored is what was answered', async () => {
    const kept = await create({ model, input });
    expect(JSON.parse((await call('GET', `/responses/${String(kept['id'])}`)).text)).toEqual(kept);
    const next = await create({ model, input, previous_response_id: kept['id'] });
    expect(next['previous_response_id']).toBe(kept['id']);
    const unkept = await create({ model, input, store: false });
    expect(unkept['store']).toBe(false);
    expect((await call('GET', `/responses/${String(unkept['id'])}`)).status).toBe(404);
  });
});

describe.each(oneOfEach.filter(({ skills }) => skills.has('tools')))(
  '$vendor: $id',
  ({ id: model }) => {
    test('two calls, whole and streamed', async () => {
      const body = {
        model,
        input: 'The weather in both Paris and Rome, please.',
        tools: [weather],
      };
      expect(typesOf(await create(body)).filter((type) => type === 'function_call')).toHaveLength(
        2,
      );
      const names = (await stream(body)).map(({ name }) => name);
      expect(names.filter((name) => name === 'response.function_call_arguments.done')).toHaveLength(
        2,
      );
    });
  },
);

describe.each(oneOfEach.filter(({ skills }) => skills.has('schema')))(
  '$vendor: $id',
  ({ id: model }) => {
    test('an answer by schema', async () => {
      const format = { type: 'json_schema', name: 'person', strict: true, schema: person };
      await create({ model, input: 'Name somebody. Answer in JSON.', text: { format } });
      await stream({ model, input: 'Name somebody. Answer in JSON.', text: { format } });
    });
  },
);
