import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { forEachDatabase, sqliteUrl } from './databases.ts';
import { hello, startRunning } from './support/running.ts';
import {
  completion,
  json,
  type ScriptedVendor,
  sse,
  startVendor,
  streamOf,
} from './support/scripted-vendor.ts';

const keyOf = ({
  headers,
}: {
  headers: { authorization?: string | undefined };
}): string | undefined => headers.authorization?.replace('Bearer ', '');

const model =
  '{ id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }';
const channel = (name: string, { url }: ScriptedVendor, more: string): string =>
  `  - { name: ${name}, vendor: openai, base_url: "${url}/v1", models: [m1], ${more} }`;
const selling = (policy: string, ...channels: readonly string[]): string =>
  `groups: [{ name: default, policy: ${policy} }]\nmodels: [${model}]\nchannels:\n${channels.join('\n')}\n`;

const countsOf = (vendor: ScriptedVendor): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const request of vendor.received)
    counts[keyOf(request) ?? ''] = (counts[keyOf(request) ?? ''] ?? 0) + 1;
  return counts;
};

forEachDatabase((_name, _openFresh, fresh) => {
  test('of several keys one that is refused is left alone, the others go on, and it comes back by itself', async () => {
    const vendor = await startVendor();
    const configuration = selling(
      'weighted',
      channel('a', vendor, 'api_keys: [key-one, key-two, key-three]'),
    );
    const { url: databaseUrl } = await fresh(migrations);
    const running = await startRunning({ databaseUrl, configuration });
    const told: unknown[] = [];
    Object.assign(running.gateway.parts, { failed: (line: unknown) => told.push(line) });
    let refused = true;
    vendor.answer((request, response) => {
      if (refused && keyOf(request) === 'key-two')
        json(response, 401, '{"error":{"message":"no","code":null}}');
      else json(response, 200, completion());
    });
    for (let i = 0; i < 40; i++)
      expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
    const counts = countsOf(vendor);
    expect(counts['key-two']).toBe(1);
    expect(told).toMatchObject([{ channel: 'a', key: 2, fault: 'credentials' }]);
    expect(Math.min(counts['key-one'] ?? 0, counts['key-three'] ?? 0)).toBeGreaterThan(5);
    refused = false;
    const { clock } = running.gateway.parts;
    const now = clock.monotonicMs.bind(clock);
    Object.assign(running.gateway.parts, {
      clock: { now: clock.now.bind(clock), monotonicMs: () => now() + 20_000 },
    });
    for (let i = 0; i < 40; i++) await running.post('/v1/chat/completions', hello);
    expect(countsOf(vendor)['key-two'] ?? 0).toBeGreaterThan(3);
    await running.expectBooks();
  });

  test('keys and policies are what the database says, for whoever starts without the file', async () => {
    const vendor = await startVendor();
    const configuration = selling(
      'cost',
      channel('a', vendor, 'api_keys: [key-one, key-two], costs: { m1: { input: 1, output: 2 } }'),
    );
    const { url: databaseUrl } = await fresh(migrations);
    const { gateway } = await startRunning({ databaseUrl, configuration });
    const offer = gateway.parts.catalog().offer('default', 'm1');
    expect(offer?.group.policy).toBe('cost');
    expect(
      offer?.candidates.map(({ channel: { secret }, weight, cost }) => ({ secret, weight, cost })),
    ).toEqual([
      { secret: 'key-one', weight: 0.5, cost: 5_000_000 },
      { secret: 'key-two', weight: 0.5, cost: 5_000_000 },
    ]);
    const rows = await gateway.database.query('SELECT secret, more_secrets FROM channels');
    expect(JSON.stringify(rows)).not.toMatch(/key-(?:one|two)/);
  });
});

test("a vendor's own fault is not tried with each of its keys: the next is another channel", async () => {
  const [first, second] = [await startVendor(), await startVendor()];
  first.answer((_request, response) => json(response, 503, '{"error":{"message":"overloaded"}}'));
  const configuration = selling(
    'weighted',
    channel('a', first, 'api_keys: [one, two, three, four, five]'),
    channel('b', second, 'api_key: other, priority: 1'),
  );
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect([first.received.length, second.received.length]).toEqual([1, 1]);
});

test('a rate limit of one key moves the request to the next key of the same channel', async () => {
  const [first, second] = [await startVendor(), await startVendor()];
  let limited: string | undefined;
  first.answer((request, response) => {
    limited ??= keyOf(request);
    if (keyOf(request) === limited)
      json(response, 429, '{"error":{"message":"slow down"}}', { 'retry-after': '30' });
    else json(response, 200, completion());
  });
  const configuration = selling(
    'weighted',
    channel('a', first, 'api_keys: [one, two]'),
    channel('b', second, 'api_key: other, priority: 1'),
  );
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  for (let i = 0; i < 5; i++)
    expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect(second.received).toHaveLength(0);
  expect(countsOf(first)[limited ?? '']).toBe(1);
});

test('a conversation stays where its cache is, another account and another conversation do not follow it', async () => {
  const vendor = await startVendor();
  const keys = Array.from({ length: 8 }, (_, i) => `key-${i}`);
  const configuration = selling('sticky', channel('a', vendor, `api_keys: [${keys.join(', ')}]`));
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  const turns = [
    { role: 'system', content: 'You are brief.' },
    { role: 'user', content: 'What is a toll?' },
    { role: 'assistant', content: 'A fee.' },
    { role: 'user', content: [{ type: 'text', text: 'And a gate?' }] },
  ];
  const ask = async (body: object, path = '/v1/chat/completions'): Promise<string | undefined> => {
    expect((await running.post(path, { ...hello, ...body })).status).toBe(200);
    return keyOf(vendor.received.at(-1) ?? { headers: {} });
  };
  const first = await ask({ messages: turns.slice(0, 2) });
  for (let i = 0; i < 5; i++) expect(await ask({ messages: turns })).toBe(first);
  const others = new Set<string | undefined>();
  for (let i = 0; i < 24; i++)
    others.add(await ask({ messages: [{ role: 'user', content: `Question ${i}` }] }));
  expect(others.size).toBeGreaterThan(4);
  const named = await ask({ messages: turns, prompt_cache_key: 'k' });
  for (let i = 0; i < 5; i++)
    expect(
      await ask({ messages: [{ role: 'user', content: String(i) }], prompt_cache_key: 'k' }),
    ).toBe(named);
  const messages = await ask(
    { system: 'You are brief.', messages: turns.slice(1, 2) },
    '/v1/messages',
  );
  expect(await ask({ system: 'You are brief.', messages: turns.slice(1, 4) }, '/v1/messages')).toBe(
    messages,
  );
});

test.each(['systemInstruction', 'system_instruction'])(
  "conversations in Google's format are spread, and each stays where its cache is: %s",
  async (instructions) => {
    const vendor = await startVendor();
    const keys = Array.from({ length: 8 }, (_, i) => `key-${i}`);
    const configuration = selling('sticky', channel('a', vendor, `api_keys: [${keys.join(', ')}]`));
    const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
    const ask = async (system: string, ...texts: string[]): Promise<string | undefined> => {
      const contents = texts.map((text, i) => ({
        role: i % 2 === 0 ? 'user' : 'model',
        parts: [{ text }],
      }));
      const body = { contents, [instructions]: { parts: [{ text: system }] } };
      expect((await running.post('/v1beta/models/m1:generateContent', body)).status).toBe(200);
      return keyOf(vendor.received.at(-1) ?? { headers: {} });
    };
    const first = await ask('Be brief.', 'What is a toll?');
    for (let i = 0; i < 5; i++)
      expect(await ask('Be brief.', 'What is a toll?', 'A fee.', `Question ${i}`)).toBe(first);
    const [byQuestion, byInstructions] = [
      new Set<string | undefined>(),
      new Set<string | undefined>(),
    ];
    for (let i = 0; i < 24; i++) {
      byQuestion.add(await ask('Be brief.', `Question ${i}`));
      byInstructions.add(await ask(`Be as brief as ${i}.`, 'What is a toll?'));
    }
    expect(Math.min(byQuestion.size, byInstructions.size)).toBeGreaterThan(4);
  },
);

test('a request that names its cache is sticky where nothing else is, and moves only while its channel fails', async () => {
  const vendor = await startVendor();
  const configuration = selling('weighted', channel('a', vendor, 'api_keys: [one, two, three]'));
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  const ask = async (): Promise<string | undefined> => {
    expect(
      (await running.post('/v1/chat/completions', { ...hello, prompt_cache_key: 'mine' })).status,
    ).toBe(200);
    return keyOf(vendor.received.at(-1) ?? { headers: {} });
  };
  const home = await ask();
  expect(await ask()).toBe(home);
  vendor.answer((request, response) => {
    if (keyOf(request) === home)
      json(response, 429, '{"error":{"message":"slow down"}}', { 'retry-after': '1' });
    else json(response, 200, completion());
  });
  const away = await ask();
  expect(away).not.toBe(home);
  expect(await ask()).toBe(away);
  vendor.answer((_request, response) => json(response, 200, completion()));
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  expect(await ask()).toBe(home);
});

test('the faster of two channels is asked more, by the first byte of streams', async () => {
  const [fast, slow] = [await startVendor(), await startVendor()];
  const after =
    (ms: number) =>
    (_request: unknown, response: Parameters<Parameters<ScriptedVendor['answer']>[0]>[1]) =>
      setTimeout(() => sse(response).end(streamOf(['Hello'])), ms);
  fast.answer(after(1));
  slow.answer(after(60));
  const configuration = selling(
    'latency',
    channel('fast', fast, 'api_key: a'),
    channel('slow', slow, 'api_key: b'),
  );
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  for (let i = 0; i < 60; i++)
    await (await running.post('/v1/chat/completions', { ...hello, stream: true })).text();
  expect(fast.received.length).toBeGreaterThan(40);
  expect(slow.received.length).toBeGreaterThan(0);
  await running.expectBooks();
});

test('the cheaper of two vendors is asked until it fails', async () => {
  const [cheap, dear] = [await startVendor(), await startVendor()];
  const configuration = selling(
    'cost',
    channel('dear', dear, 'api_key: b, costs: { m1: { input: 9, output: 9 } }'),
    channel('cheap', cheap, 'api_key: a, costs: { m1: { input: 1, output: 1 } }'),
  );
  const running = await startRunning({ databaseUrl: await sqliteUrl(migrations), configuration });
  for (let i = 0; i < 10; i++)
    expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect([cheap.received.length, dear.received.length]).toEqual([10, 0]);
  cheap.answer((_request, response) => json(response, 500, '{"error":{"message":"no"}}'));
  for (let i = 0; i < 10; i++)
    expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect([cheap.received.length, dear.received.length]).toEqual([20, 10]);
});
