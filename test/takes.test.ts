import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { droppedCharsMax, droppedText } from '../src/gateway/progress.ts';
import { forEachDatabase } from './databases.ts';
import { hello, startRunning } from './support/running.ts';
import { json, startVendor } from './support/scripted-vendor.ts';

/**
 * `both` is sold over three vendors, of which the first would read over `n`, and the second refuses
 * it; `one` and `two` over these alone.
 */
const sold = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: both, owned_by: deepseek, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: one, owned_by: deepseek, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: two, owned_by: groq, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: first, vendor: zhipu, base_url: "${url}/first", api_key: up-key, groups: [default], models: [{ id: both, upstream: glm-5.3 }, { id: one, upstream: glm-5.3 }] }
  - { name: second, vendor: groq, base_url: "${url}/second", api_key: up-key, groups: [default], models: [{ id: both, upstream: llama }, { id: two, upstream: llama }], priority: 2 }
  - { name: third, vendor: openai, base_url: "${url}/third", api_key: up-key, groups: [default], models: [{ id: both, upstream: gpt-4o }, { id: m1, upstream: gpt-4o }], priority: 3 }
`;

/** `plain` has no fee for the tool; over the vendor of `house` nobody can ask for it. */
const tools = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: plain, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1, output: 1, web_search: 1 } }
  - { id: house, owned_by: x, kind: chat, context: 128000, max_output: 1000, price: { input: 1, output: 1, file_search: 1 } }
  - { id: searches, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1, output: 1, file_search: 1, modes: { flex: { times: 1/2 } } } }
channels:
  - { name: first, vendor: openai, base_url: "${url}", api_key: up-key, models: [plain, searches] }
  - { name: second, vendor: openai-compatible, base_url: "${url}", api_key: up-key, models: [house] }
`;

forEachDatabase((_name, _openFresh, fresh) => {
  async function start() {
    const vendor = await startVendor();
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: sold(vendor.url),
    });
    return { vendor, running };
  }

  test('a channel whose vendor does not take a member is passed over while another takes it, and is not asked', async () => {
    const { vendor, running } = await start();
    const response = await running.post('/v1/chat/completions', { ...hello, model: 'both', n: 2 });
    expect(response.status).toBe(200);
    expect(vendor.received.map(({ url }) => url)).toEqual(['/third/chat/completions']);
    await running.expectBooks();
    expect(await running.usage()).toMatchObject([{ channel: 'third', attempts: 1n }]);
  });

  test('what no channel of the model takes is a 400 that names the member and the models that take it, and costs nothing', async () => {
    const { vendor, running } = await start();
    const response = await running.post('/v1/chat/completions', { ...hello, model: 'one', n: 2 });
    expect(response.status).toBe(400);
    const { error } = JSON.parse(await response.text());
    expect(error).toMatchObject({
      code: 'unsupported_parameter',
      param: 'n',
      type: 'invalid_request_error',
    });
    expect(error.message).toMatch(
      /^The model 'one' does not support 'n': .* Models that take it: both, m1\.$/,
    );
    expect(vendor.received).toHaveLength(0);
    expect(await running.balance()).toBe('100.00');
    await running.expectBooks();
  });

  test('a list of models that is longer than ten says so', async () => {
    const vendor = await startVendor();
    const ids = Array.from({ length: 11 }, (_, i) => `m${10 + i}`);
    const more = ids
      .map((id) => `  - { id: ${id}, owned_by: x, kind: chat, price: { input: 1, output: 1 } }\n`)
      .join('');
    const configuration = sold(vendor.url)
      .replace('channels:\n', `${more}channels:\n`)
      .replace('upstream: gpt-4o }, {', `upstream: gpt-4o }, ${ids.join(', ')}, {`);
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration,
    });
    const response = await running.post('/v1/chat/completions', { ...hello, model: 'one', n: 2 });
    expect(JSON.parse(await response.text()).error.message).toMatch(
      / Models that take it: both, m1, m10, .*, m17, and more\.$/,
    );
  });

  test('what the price does not have is refused with the models that sell it and take it', async () => {
    const vendor = await startVendor();
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: tools(vendor.url),
    });
    const refused = async (more: object): Promise<unknown> => {
      const response = await running.post('/v1/responses', {
        model: 'plain',
        input: 'Hi',
        ...more,
      });
      const { error } = JSON.parse(await response.text());
      return [response.status, error.message];
    };
    const search = { type: 'file_search', vector_store_ids: ['vs_1'] };
    expect(await refused({ tools: [search] })).toEqual([
      400,
      "'tools[0].type': a tool that the vendor runs (file_search) is not sold for the model 'plain'. It has tools that you run yourself. Models that have it: searches.",
    ]);
    expect(await refused({ tools: [search], service_tier: 'flex' })).toEqual([
      400,
      "'service_tier': 'flex' is not sold for the model 'plain'. Only the standard one is sold. Models that have it: searches.",
    ]);
    expect(await refused({ tools: [{ type: 'web_search' }, search] })).toEqual([
      400,
      expect.stringMatching(/ No model of your key has it\.$/),
    ]);
    expect(vendor.received).toHaveLength(0);
    expect(await running.balance()).toBe('100.00');
  });

  test('where no channel takes it, a vendor that refuses it itself is asked for its own words, and they name the models that take it', async () => {
    const { vendor, running } = await start();
    const error = { message: "'n' : number must be at most 1", type: 'invalid_request_error' };
    vendor.answer((_, response) => json(response, 400, JSON.stringify({ error })));
    const response = await running.post('/v1/chat/completions', { ...hello, model: 'two', n: 2 });
    expect(response.status).toBe(400);
    expect(JSON.parse(await response.text()).error).toMatchObject({
      message: `${error.message}. Models that take it: both, m1.`,
      param: 'n',
    });
    expect(vendor.received).toHaveLength(1);
    expect(await running.balance()).toBe('100.00');
    await running.expectBooks();
  });

  test('a table that is older than its model costs nobody an answer', async () => {
    const { vendor, running } = await start();
    const response = await running.post('/v1/chat/completions', { ...hello, model: 'two', n: 2 });
    expect(response.status).toBe(200);
    expect(JSON.parse(vendor.received[0]?.text ?? '')).toMatchObject({ n: 2 });
    await running.expectBooks();
  });

  test('a channel that fails is no reason for a 400: it would have taken the request', async () => {
    const { vendor, running } = await start();
    vendor.answer((_, response) => response.writeHead(503).end());
    const response = await running.post('/v1/chat/completions', { ...hello, model: 'both', n: 2 });
    expect(response.status).toBe(503);
  });

  test('members that are left out are named, whole and streamed, in the client’s own names', async () => {
    const { vendor, running } = await start();
    const asked = { ...hello, model: 'm1', thinking: { type: 'enabled' }, top_k: 4 };
    for (const stream of [false, true]) {
      const response = await running.post('/v1/chat/completions', { ...asked, stream });
      expect(response.headers.get('x-tollgate-dropped')).toBe('thinking, top_k');
      await response.text();
    }
    const input = {
      model: 'one',
      input: 'Hello',
      text: { verbosity: 'low' },
      metadata: { a: 'b' },
    };
    const response = await running.post('/v1/responses', input);
    expect([response.status, response.headers.get('x-tollgate-dropped')]).toEqual([
      200,
      expect.stringContaining('text.verbosity'),
    ]);
    const plain = await running.post('/v1/chat/completions', { ...hello, model: 'm1' });
    expect(plain.headers.has('x-tollgate-dropped')).toBe(false);
    expect(vendor.received.every(({ text }) => !text.includes('top_k'))).toBe(true);
  });
});

test('the names of what is left out fit into a header, whatever a client sends', () => {
  expect(droppedText(['b', 'a', 'b', 'ü\n,x'])).toBe('???x, a, b');
  const many = droppedText(Array.from({ length: 500 }, (_, i) => `member_${i}`));
  expect(many.length).toBeLessThanOrEqual(droppedCharsMax);
  expect(many).toMatch(/, member_\d+, \.\.\.$/);
});
