import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase } from './databases.ts';
import { hello, type Running, startRunning } from './support/running.ts';
import {
  completion,
  json,
  type ScriptedVendor,
  sse,
  startVendor,
  streamOf,
} from './support/scripted-vendor.ts';

interface House {
  readonly running: Running;
  readonly first: ScriptedVendor;
  readonly second: ScriptedVendor;
}

/** The first vendor, which sells `cheap`, is down; the second sells `dear` and answers. */
async function house(databaseUrl: string, group = '', yuan = '100'): Promise<House> {
  const [first, second] = [await startVendor(), await startVendor()];
  first.answer((_request, response) => json(response, 503, '{"error":{"message":"overloaded"}}'));
  second.answer(({ text }, response) =>
    JSON.parse(text).stream === true
      ? sse(response).end(streamOf(['Hi']))
      : json(response, 200, completion('Hi')),
  );
  const model = 'owned_by: openai, kind: chat, context: 128000, max_output: 1000';
  const configuration = `
groups: [{ name: default${group} }]
models:
  - { id: cheap, ${model}, price: { input: 1, output: 1 } }
  - { id: dear, ${model.replace('1000', '2000')}, price: { input: 1000, output: 1000 } }
  - { id: vectors, owned_by: openai, kind: embedding, price: { input: 1 } }
channels:
  - { name: a, vendor: openai, base_url: "${first.url}/v1", api_key: key-of-the-first, models: [cheap, vectors] }
  - { name: b, vendor: deepseek, base_url: "${second.url}/v1", api_key: k, models: [{ id: dear, upstream: up }] }
`;
  return { running: await startRunning({ databaseUrl, configuration, yuan }), first, second };
}

const path = '/v1/chat/completions';
const asked = { ...hello, model: 'cheap', max_tokens: 100 };
/** 29 tokens at a thousandth of a yuan. */
const cost = 29_000_000n;

forEachDatabase((_name, _openFresh, fresh) => {
  test('the next model of the list answers, names itself and is charged at its price', async () => {
    const { running, first, second } = await house((await fresh(migrations)).url);
    const reply = await running.post(path, { ...asked, models: ['cheap', 'dear'] });
    expect(await reply.json()).toMatchObject({ model: 'dear' });
    expect([first.received.length, second.received.length]).toEqual([1, 1]);
    const sent = JSON.parse(second.received[0]?.text ?? '');
    expect([sent.model, 'models' in sent]).toEqual(['up', false]);
    expect(await running.usage()).toMatchObject([{ model: 'dear', channel: 'b', cost }]);
    await running.expectBooks();
  });

  test('the header of the output limit is that of the model that answers', async () => {
    const { running } = await house((await fresh(migrations)).url);
    const models = ['cheap', 'dear'];
    const reply = await running.post(path, { ...asked, max_tokens: 1_500, models });
    expect(await reply.json()).toMatchObject({ model: 'dear' });
    expect(reply.headers.get('x-tollgate-max-tokens')).toBeNull();
  });

  test('a refusal of the first vendor hides its own key when the other model fails too', async () => {
    const { running, first, second } = await house((await fresh(migrations)).url);
    const refused = { error: { message: 'bad tool for key-of-the-first' } };
    first.answer((_request, response) => json(response, 400, JSON.stringify(refused)));
    second.answer((_request, response) => json(response, 503, '{"error":{"message":"busy"}}'));
    const reply = await running.post(path, { ...asked, models: ['cheap', 'dear'] });
    const text = await reply.text();
    expect(reply.status).toBe(400);
    expect(text).toContain('bad tool for');
    expect(text).not.toContain('key-of-the-first');
    expect([first.received.length, second.received.length > 0]).toEqual([1, true]);
  });

  test('the list of the group holds where the request has none, without models that cannot serve', async () => {
    const list = ', fallback_models: [vectors, gone, dear]';
    const { running, second } = await house((await fresh(migrations)).url, list);
    const stream = await (await running.post(path, { ...asked, stream: true })).text();
    expect(stream).toContain('"model":"dear"');
    expect(stream.match(/data: \[DONE\]/g)).toHaveLength(1);
    expect(await running.usage()).toMatchObject([{ model: 'dear', cost }]);
    const alone = await running.post(path, { ...asked, models: [] });
    expect([alone.status, second.received.length]).toEqual([503, 1]);
    await running.expectBooks();
  });

  test('every format of text falls back', async () => {
    const { running } = await house((await fresh(migrations)).url, ', fallback_models: [dear]');
    const messages = [{ role: 'user', content: 'Hi' }];
    const bodies = {
      '/v1/messages': { model: 'cheap', max_tokens: 100, messages },
      '/v1/responses': { model: 'cheap', input: 'Hi' },
      '/v1/completions': { model: 'cheap', prompt: 'Hi', models: ['dear'] },
    };
    for (const [endpoint, body] of Object.entries(bodies)) {
      const reply = await running.post(endpoint, body);
      expect([endpoint, ((await reply.json()) as { model: string }).model]).toEqual([
        endpoint,
        'dear',
      ]);
    }
    await running.expectBooks();
  });

  test('money for the dearest model is needed, and given back when nobody answers', async () => {
    const { running, second } = await house((await fresh(migrations)).url, '', '0.01');
    const poor = await running.post(path, { ...asked, models: ['dear'] });
    expect([poor.status, second.received.length]).toEqual([429, 0]);
    second.answer((_request, response) => json(response, 500, '{}'));
    const own = await running.post(path, asked);
    expect(own.status).toBe(503);
    expect(await running.balance()).toBe('0.01');
    await running.expectBooks();
  });
});

test('a wrong list is refused and costs nothing', async () => {
  const { running, first } = await house('sqlite::memory:');
  const refused = async (models: unknown) => {
    const reply = await running.post(path, { ...asked, models });
    return [reply.status, ((await reply.json()) as { error: { param: string } }).error.param];
  };
  expect(await refused('dear')).toEqual([400, 'models']);
  expect(await refused(['dear', 7])).toEqual([400, 'models[1]']);
  expect(await refused(['dear', 'gone'])).toEqual([404, 'models[1]']);
  expect(await refused(['vectors'])).toEqual([400, 'model']);
  expect(await refused(Array.from({ length: 9 }, () => 'dear'))).toEqual([400, 'models']);
  expect(first.received).toEqual([]);
  expect(await running.balance()).toBe('100.00');
});
