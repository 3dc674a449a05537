import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import OpenAI, { APIError, BadRequestError, NotFoundError } from 'openai';
import type { ResponseStreamEvent } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { simConfig } from '../sim/catalog.ts';
import { type Sim, startSim } from '../sim/index.ts';
import { openTemporaryGateway, type Temporary } from './support/temporary.ts';

/** Two changes: the base URL and the key. */
let sim: Sim;
let temporary: Temporary;
let client: OpenAI;

beforeAll(async () => {
  sim = await startSim();
  temporary = await openTemporaryGateway(simConfig(sim.url));
  client = new OpenAI({ baseURL: `${temporary.gateway.url}/v1`, apiKey: temporary.key, maxRetries: 0 });
});
afterAll(async () => {
  await temporary.close();
  await sim.close();
});

const models = [
  'deepseek-chat',
  'deepseek-reasoner',
  'qwen-plus',
  'glm-4.7',
  'kimi-k2.6',
  'MiniMax-M2.7',
  'doubao-seed-2-0-pro',
  'mistral-small-latest',
  'llama-3.3-70b',
  'openai/gpt-oss-120b',
];
const weather = {
  type: 'function' as const,
  name: 'get_weather',
  description: 'The weather of a city',
  strict: false,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
};

describe.each(models)('%s', (model) => {
  test('a whole response', async () => {
    const response = await client.responses.create({ model, input: 'Hello, who are you?' });
    expect(response).toMatchObject({ object: 'response', model, status: 'completed' });
    expect(response.output_text).toBeTruthy();
    expect(response.usage?.total_tokens).toBe((response.usage?.input_tokens ?? 0) + (response.usage?.output_tokens ?? 0));
  });

  test('a stream', async () => {
    const events = await streamed({ model, input: 'Hello, who are you?' });
    expect(events.map(({ sequence_number: n }) => n)).toEqual(events.map((_, i) => i));
    const said = events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : [])).join('');
    const end = events.at(-1);
    if (end?.type !== 'response.completed') throw new Error('the last event is the completed response');
    expect(
      end.response.output
        .flatMap((item) => (item.type === 'message' ? item.content : []))
        .map((part) => (part.type === 'output_text' ? part.text : ''))
        .join(''),
    ).toBe(said);
  });

  test('tools, whole and streamed, and their results by the id of the response alone', async () => {
    const first = await client.responses.create({ model, input: 'Call get_weather for Paris.', tools: [weather] });
    const call = first.output.find((item) => item.type === 'function_call');
    if (call?.type !== 'function_call') throw new Error('no tool was called');
    expect(call.name).toBe('get_weather');
    expect(typeof JSON.parse(call.arguments).city).toBe('string');
    const second = await client.responses.create({
      model,
      previous_response_id: first.id,
      input: [{ type: 'function_call_output', call_id: call.call_id, output: '{"celsius": 21}' }],
      tools: [weather],
    });
    expect(second.output_text).toBeTruthy();
    expect(second.previous_response_id).toBe(first.id);
    const final = await client.responses.stream({ model, input: 'Call get_weather for Paris.', tools: [weather] }).finalResponse();
    expect(final.output.find((item) => item.type === 'function_call')).toMatchObject({ name: 'get_weather' });
  });
});

async function streamed(body: Omit<OpenAI.Responses.ResponseCreateParamsStreaming, 'stream'>): Promise<ResponseStreamEvent[]> {
  const events: ResponseStreamEvent[] = [];
  for await (const event of await client.responses.create({ ...body, stream: true })) events.push(event);
  return events;
}
void Ajv2020;
void readFileSync;
void APIError;
void BadRequestError;
void NotFoundError;
