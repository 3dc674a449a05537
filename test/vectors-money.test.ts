import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { migrations } from '../src/app/schema.ts';
import { onSqlite } from './databases.ts';
import { type Running, startRunning } from './support/running.ts';

let sim: Sim;
beforeAll(async () => {
  sim = await startSim();
});
afterAll(() => sim.close());
beforeEach(() => sim.clear());

/** A thousandth of a yuan a token, a hundredth a search. */
const configuration = (channels: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: embed, owned_by: simulator, kind: embedding, price: { input: 1000 } }
  - { id: search, owned_by: simulator, kind: rerank, price: { request: 0.01 } }
  - { id: reader, owned_by: simulator, kind: rerank, price: { input: 1000 } }
  - { id: judge, owned_by: simulator, kind: moderation, price: { request: 0 } }
  - { id: chat, owned_by: simulator, kind: chat, price: { input: 1000, output: 1000 } }
channels:
${channels}`;

interface Answer {
  readonly data: readonly { readonly index: number }[];
  readonly results: readonly unknown[];
  readonly usage: { readonly prompt_tokens: number; readonly total_tokens: number };
  readonly meta: unknown;
  readonly error: { readonly message: string };
}

async function answerOf(reply: Response): Promise<Answer> {
  return JSON.parse(await reply.text());
}

interface Channel {
  readonly vendor: string;
  readonly prefix: string;
  readonly models: Readonly<Record<string, string>>;
}

const openai = { vendor: 'openai', prefix: '/openai/v1' };
const bedrock = { vendor: 'bedrock', prefix: '/bedrock' };
const cohere = { vendor: 'cohere', prefix: '/cohere/v2' };

const channelLine = ({ vendor, prefix, models }: Channel, i: number): string => {
  const sold = Object.entries(models).map(
    ([id, upstream]) => `{ id: ${id}, upstream: "${upstream}" }`,
  );
  return `  - { name: c${i}, vendor: ${vendor}, base_url: "${sim.url}${prefix}", api_key: sk-sim, priority: ${i}, groups: [default], models: [${sold.join(', ')}] }`;
};

onSqlite((_, __, fresh) => {
  const start = async (channels: readonly Channel[], yuan = '10'): Promise<Running> =>
    startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(channels.map(channelLine).join('\n')),
      yuan,
    });

  test('vectors cost what their input does, once, under their own name', async () => {
    const running = await start([{ ...openai, models: { embed: 'text-embedding-3-small' } }]);
    const reply = await running.post('/v1/embeddings', {
      model: 'embed',
      input: ['red fox', 'blue whale'],
    });
    const { usage } = await answerOf(reply);
    expect(usage).toEqual({ prompt_tokens: 4, total_tokens: 4 });
    expect(await running.balance()).toBe('9.996');
    expect(await running.usage()).toMatchObject([
      {
        capability: 'embeddings',
        status: 'ok',
        input_tokens: 4n,
        output_tokens: 0n,
        estimated: 0n,
        stream: 0n,
      },
    ]);
    await running.expectBooks();
  });

  test('what the vendor does not count is counted here, told, and marked', async () => {
    const running = await start([
      { ...openai, models: { embed: 'text-embedding-3-small+sim-no-usage' } },
    ]);
    const reply = await running.post('/v1/embeddings', {
      model: 'embed',
      input: ['red fox', 'blue whale'],
    });
    const { usage, data } = await answerOf(reply);
    expect(data).toHaveLength(2);
    const [record] = await running.usage();
    expect(record).toMatchObject({ estimated: 1n, input_tokens: BigInt(usage.prompt_tokens) });
    expect(usage.prompt_tokens).toBe(4);
    expect(await running.balance()).toBe('9.996');
  });

  test('one request in many parts is one charge, and a part that fails is tried elsewhere with all the others', async () => {
    const input = Array.from({ length: 20 }, (_unused, i) => `text ${i}`);
    const running = await start([
      { ...bedrock, models: { embed: 'amazon.titan-embed-text-v2:0+sim-500' } },
      { ...bedrock, prefix: '/bedrock', models: { embed: 'amazon.titan-embed-text-v2:0' } },
    ]);
    const { data, usage } = await answerOf(
      await running.post('/v1/embeddings', { model: 'embed', input }),
    );
    expect(data.map(({ index }) => index)).toEqual(input.map((_unused, i) => i));
    expect(sim.requests.filter(({ status }) => status === 200)).toHaveLength(20);
    expect(await running.usage()).toMatchObject([
      { attempts: 2n, channel: 'c1', input_tokens: BigInt(usage.total_tokens) },
    ]);
    await running.expectBooks();
  });

  test('a client that leaves stops all parts, and pays for nothing', async () => {
    const running = await start([
      { ...bedrock, models: { embed: 'amazon.titan-embed-text-v2:0+sim-hang' } },
    ]);
    const leaving = new AbortController();
    const input = Array.from({ length: 20 }, (_unused, i) => `text ${i}`);
    const asked = running.post(
      '/v1/embeddings',
      { model: 'embed', input },
      { signal: leaving.signal },
    );
    await expect.poll(() => sim.requests.length).toBe(8);
    leaving.abort();
    await expect(asked).rejects.toThrow(/abort/i);
    await expect.poll(() => sim.requests.filter(({ left }) => left).length).toBe(8);
    expect(sim.requests).toHaveLength(8);
    // What was sent is recorded, at no cost (R3).
    await expect.poll(() => running.usage()).toMatchObject([{ status: 'left', cost: 0n }]);
    expect(await running.balance()).toBe('10.00');
    await running.expectBooks();
  });

  test('texts that the money does not reach are refused before the vendor is asked; tokens are counted as what they are', async () => {
    const running = await start(
      [{ ...openai, models: { embed: 'text-embedding-3-small' } }],
      '0.02',
    );
    const refused = await running.post('/v1/embeddings', {
      model: 'embed',
      input: 'word '.repeat(500),
    });
    expect(refused.status).toBe(429);
    expect(await answerOf(refused)).toMatchObject({ error: { code: 'insufficient_quota' } });
    const tokens = (count: number) =>
      running.post('/v1/embeddings', {
        model: 'embed',
        input: Array.from({ length: count }, () => 7),
      });
    expect((await tokens(21)).status).toBe(429);
    expect(sim.requests).toHaveLength(0);
    expect((await tokens(20)).status).toBe(200);
    expect(await running.balance()).toBe('0.00');
    await running.expectBooks();
  });

  test('scores cost by units of search: one for each hundred documents begun', async () => {
    const running = await start([{ ...cohere, models: { search: 'rerank-v3.5' } }], '0.04');
    const ask = (count: number) =>
      running.post('/v1/rerank', {
        model: 'search',
        query: 'where?',
        documents: Array.from({ length: count }, (_unused, i) => `place ${i}`),
      });
    const answer = await answerOf(await ask(250));
    expect(answer.results).toHaveLength(250);
    expect(answer.meta).toEqual({ billed_units: { search_units: 3 } });
    expect(await running.balance()).toBe('0.01');
    expect((await ask(101)).status).toBe(429);
    expect((await ask(100)).status).toBe(200);
    expect(await running.balance()).toBe('0.00');
    expect(await running.usage()).toMatchObject([
      { capability: 'rerank' },
      { capability: 'rerank' },
    ]);
    await running.expectBooks();
  });

  test('what is sold by tokens is not free where the vendor counts searches', async () => {
    const running = await start([{ ...cohere, models: { reader: 'rerank-v3.5' } }]);
    const answer = await answerOf(
      await running.post('/v1/rerank', {
        model: 'reader',
        query: 'where?',
        documents: ['here', 'there'],
      }),
    );
    expect(answer.usage.total_tokens).toBe(6);
    expect(await running.usage()).toMatchObject([{ estimated: 1n, input_tokens: 6n }]);
    expect(await running.balance()).toBe('9.994');
    await running.expectBooks();
  });

  test('moderation is free, also without money, and still leaves a record', async () => {
    const running = await start([{ ...openai, models: { judge: 'omni-moderation-latest' } }], '0');
    const reply = await running.post('/v1/moderations', {
      model: 'judge',
      input: 'Have a great day!',
    });
    expect(await answerOf(reply)).toMatchObject({ model: 'judge', results: [{ flagged: false }] });
    expect(await running.usage()).toMatchObject([
      { capability: 'moderations', status: 'ok', model: 'judge' },
    ]);
    expect(await running.balance()).toBe('0.00');
    await running.expectBooks();
  });

  test('a model is asked at its own endpoint', async () => {
    const running = await start([
      {
        ...openai,
        models: {
          embed: 'text-embedding-3-small',
          chat: 'gpt-4o',
          judge: 'omni-moderation-latest',
        },
      },
    ]);
    const message = [{ role: 'user', content: 'Hi' }];
    const rows: readonly (readonly [string, object, string])[] = [
      ['/v1/embeddings', { model: 'chat', input: 'Hi' }, '/v1/chat/completions'],
      ['/v1/embeddings', { model: 'judge', input: 'Hi' }, '/v1/moderations'],
      ['/v1/moderations', { model: 'embed', input: 'Hi' }, '/v1/embeddings'],
      ['/v1/rerank', { model: 'embed', query: 'Hi', documents: ['Hi'] }, '/v1/embeddings'],
      ['/v1/chat/completions', { model: 'embed', messages: message }, '/v1/embeddings'],
      ['/v1/completions', { model: 'embed', prompt: 'Hi' }, '/v1/embeddings'],
      ['/v1/responses', { model: 'embed', input: 'Hi' }, '/v1/embeddings'],
      ['/v1/messages', { model: 'embed', max_tokens: 5, messages: message }, '/v1/embeddings'],
      ['/v1/messages/count_tokens', { model: 'embed', messages: message }, '/v1/embeddings'],
    ];
    for (const [path, body, right] of rows) {
      const reply = await running.post(path, body);
      expect(reply.status, path).toBe(400);
      expect((await answerOf(reply)).error.message, path).toContain(`Call it at ${right}`);
    }
    expect((await running.post('/v1/embeddings', { model: 'nobody', input: 'Hi' })).status).toBe(
      404,
    );
    expect(sim.requests).toHaveLength(0);
    expect(await running.usage()).toEqual([]);
  });
});
