import Anthropic, {
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSimulatedGateway, type Temporary } from './support/temporary.ts';

/** What only this package has; all that packages have in common is in sdk/. */
let temporary: Temporary;
let client: Anthropic;

beforeAll(async () => {
  temporary = await openSimulatedGateway();
  client = new Anthropic({ baseURL: temporary.gateway.url, apiKey: temporary.key, maxRetries: 0 });
});
afterAll(() => temporary.close());

const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hello, who are you?' }];
const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather of a city',
  input_schema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};
test('a model that thinks tells its thoughts in a block before the text', async () => {
  const stream = client.messages.stream({
    model: 'deepseek-reasoner',
    max_tokens: 4_000,
    messages,
  });
  const message = await stream.finalMessage();
  expect(message.content.map((block) => block.type)).toEqual(['thinking', 'text']);
});

test('more than a model can write is as much as it can', async () => {
  const message = await client.messages.create({
    model: 'deepseek-chat',
    max_tokens: 20_000,
    messages,
  });
  expect(message.stop_reason).toBe('end_turn');
});

test('an answer that meets its limit says so', async () => {
  const message = await client.messages.create({ model: 'gpt-4o-mini', max_tokens: 2, messages });
  expect(message).toMatchObject({ stop_reason: 'max_tokens', usage: { output_tokens: 2 } });
});

test('the key may come as a bearer token', async () => {
  const bearer = new Anthropic({
    baseURL: temporary.gateway.url,
    apiKey: null,
    authToken: temporary.key,
  });
  expect(
    (await bearer.messages.create({ model: 'gpt-4o-mini', max_tokens: 100, messages })).type,
  ).toBe('message');
});

test('a wrong key, an unknown model, a wrong parameter and an empty balance are the errors that the package knows', async () => {
  const create = (from: Anthropic, more: object = {}) =>
    from.messages.create(
      { model: 'gpt-4o-mini', max_tokens: 100, messages, ...more },
      { maxRetries: 0 },
    );
  const stranger = new Anthropic({ baseURL: temporary.gateway.url, apiKey: 'sk-wrong' });
  await expect(create(stranger)).rejects.toThrow(AuthenticationError);
  await expect(create(client, { model: 'no-such-model' })).rejects.toThrow(NotFoundError);
  await expect(create(client, { temperature: 1.5 })).rejects.toThrow(BadRequestError);
  const poor = new Anthropic({ baseURL: temporary.gateway.url, apiKey: await temporary.poorKey() });
  const refused = create(poor);
  await expect(refused).rejects.toThrow(RateLimitError);
  await expect(refused).rejects.toMatchObject({
    type: 'billing_error',
    requestID: expect.stringMatching(/^req_/),
  });
});

test('a count of tokens for any model', async () => {
  expect(
    (
      await client.messages.countTokens({
        model: 'gpt-4o-mini',
        system: 'Be brief.',
        messages,
        tools: [weather],
      })
    ).input_tokens,
  ).toBeGreaterThan(20);
});

test('the books agree after all this', () => temporary.expectBooks());
