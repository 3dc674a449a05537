import OpenAI, {
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { models } from '../sim/catalog.ts';
import { openSimulatedGateway, type Temporary } from './support/temporary.ts';

/** What only this package has; all that packages have in common is in sdk/. */
let temporary: Temporary;
let client: OpenAI;

beforeAll(async () => {
  temporary = await openSimulatedGateway();
  client = new OpenAI({ baseURL: `${temporary.gateway.url}/v1`, apiKey: temporary.key });
});
afterAll(() => temporary.close());

const prompt = [{ role: 'user' as const, content: 'Hello, who are you?' }];
test('models: list and retrieve, ids with slashes too', async () => {
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids).toEqual(expect.arrayContaining(models.map(({ id }) => id)));
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
  const unknown = await failure(
    client.chat.completions.create({ model: 'nothing', messages: prompt }),
  );
  expect(unknown).toBeInstanceOf(NotFoundError);
  expect(unknown.code).toBe('model_not_found');
  const hot = await failure(
    client.chat.completions.create({ model: 'gpt-4o-mini', messages: prompt, temperature: 3 }),
  );
  expect(hot).toBeInstanceOf(BadRequestError);
  expect(hot).toMatchObject({ code: 'invalid_request_error', param: 'temperature' });
  const long = await failure(
    client.chat.completions.create({ model: 'sim-context', messages: prompt }),
  );
  expect(long).toMatchObject({ status: 400, code: 'context_length_exceeded' });
  const policy = await failure(
    client.chat.completions.create({ model: 'sim-policy', messages: prompt }),
  );
  expect(policy).toMatchObject({ status: 400, code: 'content_policy_violation' });
  const down = await failure(
    client.chat.completions.create({ model: 'sim-401', messages: prompt }, { maxRetries: 0 }),
  );
  expect(down).toMatchObject({ status: 503, code: null });
  const poor = new OpenAI({ baseURL: client.baseURL, apiKey: await temporary.poorKey() });
  const empty = await failure(
    poor.chat.completions.create({ model: 'gpt-4o-mini', messages: prompt }),
  );
  expect(empty).toBeInstanceOf(RateLimitError);
  expect(empty.code).toBe('insufficient_quota');
});

test('an error in mid-stream reaches the package as an error', async () => {
  const stream = await client.chat.completions.create({
    model: 'sim-cut-after-3',
    messages: prompt,
    stream: true,
  });
  let text = '';
  await expect(async () => {
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
  }).rejects.toBeInstanceOf(APIError);
  expect(text).not.toBe('');
});

test('a stream that the client breaks off ends quietly', async () => {
  const stream = await client.chat.completions.create({
    model: 'sim-long-2000',
    messages: prompt,
    stream: true,
  });
  for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
  expect(stream.controller.signal.aborted).toBe(true);
});

test('after all that the books are right', async () => {
  await temporary.expectBooks();
});
