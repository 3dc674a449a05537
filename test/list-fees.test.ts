import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { onSqlite } from './databases.ts';
import { type Running, startRunning } from './support/running.ts';
import { json, type ScriptedVendor, sse, startVendor } from './support/scripted-vendor.ts';

type Body = Readonly<Record<string, unknown>>;

interface Channel {
  readonly vendor: string;
  readonly upstream: string;
}

interface Shop {
  readonly running: Running;
  readonly vendors: readonly ScriptedVendor[];
}

const completion = (more: Body = {}) => ({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, ...more },
});

const response = (output: readonly Body[]) => ({
  id: 'resp_x',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'up',
  output,
  usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 },
});

const message = (searches: number) => ({
  id: 'msg_x',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: {
    input_tokens: 100,
    output_tokens: 10,
    server_tool_use: { web_search_requests: searches },
  },
});

const search = (id: string) => ({
  type: 'web_search_call',
  id,
  status: 'completed',
  action: { type: 'search' },
});
const chat = '/v1/chat/completions';
const hello = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const ask = { model: 'm', input: 'Hi' };
const claude = { ...hello, max_tokens: 50 };
const gpt5 = { vendor: 'openai', upstream: 'gpt-5-mini' };
const searchTool = (parameters: Body) => [{ type: 'openrouter:web_search', parameters }];

onSqlite((_, __, fresh) => {
  async function open(
    channels: readonly Channel[],
    more = '',
    multiplier = '1.0',
    yuan = '100',
    rate = '',
  ): Promise<Shop> {
    const vendors = await Promise.all(channels.map(() => startVendor()));
    const configuration = `
settings: { ${rate} }
groups: [{ name: default, price_multiplier: ${multiplier} }]
models:
  - { id: m, owned_by: v, kind: chat, context: 200000, max_output: 100, price: { input: 1, output: 10${more} } }
channels:
${channels
  .map(
    ({ vendor, upstream }, i) =>
      `  - { name: c${i}, vendor: ${vendor}, base_url: "${vendors[i]?.url}", api_key: key, priority: ${i}, groups: [default], models: [{ id: m, upstream: ${upstream} }] }`,
  )
  .join('\n')}
`;
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration,
      yuan,
    });
    return { running, vendors };
  }

  async function fees(
    { running, vendors }: Shop,
    path: string,
    body: Body,
    answer: object,
  ): Promise<readonly unknown[]> {
    for (const vendor of vendors)
      vendor.answer((_request, reply) => json(reply, 200, JSON.stringify(answer)));
    const reply = await running.post(path, body);
    expect(reply.status, await reply.text()).toBe(200);
    await running.expectBooks();
    const [record] = await running.usage();
    const lines: readonly (readonly unknown[])[] = JSON.parse(String(record?.['lines']));
    return lines.slice(2);
  }

  async function refused(
    { running, vendors }: Shop,
    path: string,
    body: Body,
    param: string,
  ): Promise<string> {
    const reply = await running.post(path, body);
    const answer: unknown = await reply.json();
    const { error } = answer as { error: { message: string } };
    expect(reply.status, error.message).toBe(400);
    expect(error.message).toContain(`'${param}'`);
    for (const vendor of vendors) expect(vendor.received).toHaveLength(0);
    return error.message;
  }

  test('a search is charged the vendor’s list fee, by the vendor’s model, the rate and the group', async () => {
    const preview = await open(
      [{ vendor: 'openai', upstream: 'gpt-4o-mini-search-preview' }],
      '',
      '1.5',
    );
    // 0.025 dollars × 7.2 × 1.5
    expect(await fees(preview, chat, { ...hello, web_search_options: {} }, completion())).toEqual([
      ['web_search', 1, '270000000000000', '270000000'],
    ]);
    const two = response([search('a'), search('b')]);
    const reasoning = await open([gpt5], '', '1.0', '100', 'usd_rate: 7');
    expect(
      await fees(reasoning, '/v1/responses', { ...ask, tools: [{ type: 'web_search' }] }, two),
    ).toEqual([['web_search', 2, '70000000000000', '140000000']]);
    const anthropic = await open([{ vendor: 'anthropic', upstream: 'claude-x' }]);
    const tools = [
      { type: 'web_search_20250305', name: 'web_search' },
      { type: 'web_fetch_20250910', name: 'web_fetch' },
    ];
    expect(await fees(anthropic, '/v1/messages', { ...claude, tools }, message(3))).toEqual([
      ['web_search', 3, '72000000000000', '216000000'],
    ]);
  });

  test('a search of OpenRouter is counted where its answers tell it, and more results than the fee is for are refused', async () => {
    const vendor = { vendor: 'openrouter', upstream: 'deepseek/deepseek-chat' };
    const shop = await open([vendor]);
    await refused(
      shop,
      chat,
      { ...hello, tools: searchTool({ max_results: 6 }) },
      'tools[0].parameters.max_results',
    );
    await refused(
      shop,
      chat,
      { ...hello, plugins: [{ id: 'web', max_results: 25 }] },
      'plugins[0].max_results',
    );
    const told = completion({
      server_tool_use_details: { web_search_requests: 2, tool_calls_requested: 2 },
    });
    expect(
      await fees(
        shop,
        chat,
        { ...hello, tools: searchTool({ max_uses: 3, max_results: 5 }) },
        told,
      ),
    ).toEqual([['web_search', 2, '144000000000000', '288000000']]);
    const own = await open([vendor], ', web_search: 0.5');
    expect(
      await fees(own, chat, { ...hello, tools: searchTool({ max_results: 25 }) }, told),
    ).toEqual([['web_search', 2, '500000000000000', '1000000000']]);
  });

  test('a search that the vendor would not hear of is not charged: words of other vendors are refused', async () => {
    for (const vendor of ['anthropic', 'openrouter', 'xai', 'openai']) {
      const shop = await open([{ vendor, upstream: 'x' }]);
      await refused(shop, chat, { ...hello, enable_search: true }, 'enable_search');
      await refused(shop, chat, { ...hello, search_context_size: 'high' }, 'search_context_size');
      await refused(
        shop,
        chat,
        { ...hello, search_parameters: { mode: 'on' } },
        'search_parameters',
      );
      await refused(
        shop,
        '/v1/responses',
        { ...ask, search_parameters: { mode: 'on' } },
        'search_parameters',
      );
      const venice = { venice_parameters: { enable_web_search: 'on' } };
      await refused(shop, chat, { ...hello, ...venice }, 'venice_parameters.enable_web_search');
      await refused(shop, chat, { ...hello, tools: [{ type: 'web_search' }] }, 'tools[0].type');
    }
    const own = await open([{ vendor: 'openai-compatible', upstream: 'x' }], ', web_search: 0.5');
    const told = completion({ num_sources_used: 2 });
    expect(await fees(own, chat, { ...hello, search_parameters: { mode: 'on' } }, told)).toEqual([
      ['web_search', 2, '500000000000000', '1000000000'],
    ]);
  });

  test('the fee of a container is for the smallest one', async () => {
    const code = (container: Body) => ({
      ...ask,
      tools: [{ type: 'code_interpreter', container: { type: 'auto', ...container } }],
    });
    const ran = response([{ type: 'code_interpreter_call', id: 'ci', container_id: 'c1' }]);
    const shop = await open([gpt5]);
    await refused(
      shop,
      '/v1/responses',
      code({ memory_limit: '4g' }),
      'tools[0].container.memory_limit',
    );
    expect(await fees(shop, '/v1/responses', code({ memory_limit: '1g' }), ran)).toEqual([
      ['code_session', 1, '216000000000000', '216000000'],
    ]);
    const own = await open([gpt5], ', code_session: 2');
    expect(await fees(own, '/v1/responses', code({ memory_limit: '4g' }), ran)).toEqual([
      ['code_session', 1, '2000000000000000', '2000000000'],
    ]);
  });

  test('all calls that a request may make are reserved at the list fee', async () => {
    const tools = [{ type: 'web_search' }];
    // Eight searches are 0.576 yuan, beside what they may read.
    const poor = await open([gpt5], '', '1.0', '0.57');
    const reply = await poor.running.post('/v1/responses', { ...ask, tools });
    expect(reply.status, await reply.text()).toBe(429);
    expect(poor.vendors[0]?.received).toHaveLength(0);
    const rich = await open([gpt5], '', '1.0', '0.65');
    expect(await fees(rich, '/v1/responses', { ...ask, tools }, response([]))).toEqual([]);
  });

  test('a price that names a fee, or says so, sells no tool at a list fee', async () => {
    const tools = [{ type: 'web_search' }];
    for (const more of [', list_fees: false', ', code_session: 1'])
      await refused(await open([gpt5], more), '/v1/responses', { ...ask, tools }, 'tools[0].type');
    const both = await open([gpt5], ', code_session: 1, list_fees: true');
    expect(await fees(both, '/v1/responses', { ...ask, tools }, response([search('a')]))).toEqual([
      ['web_search', 1, '72000000000000', '72000000'],
    ]);
  });

  test('stores of the operator’s account are searched only where the operator names a fee', async () => {
    const shop = await open([gpt5]);
    await refused(
      shop,
      '/v1/responses',
      { ...ask, tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
      'tools[0].type',
    );
  });

  test('of several channels only those whose vendor has a fee are asked, and the dearest fee is charged', async () => {
    const body = { ...hello, web_search_options: {} };
    const plain = { vendor: 'openai-compatible', upstream: 'x' };
    const cheap = { vendor: 'openai', upstream: 'gpt-5' };
    const dear = { vendor: 'openai', upstream: 'gpt-4o' };
    const shop = await open([plain, cheap, dear]);
    expect(await fees(shop, chat, body, completion())).toEqual([
      ['web_search', 1, '180000000000000', '180000000'],
    ]);
    expect(shop.vendors.map(({ received }) => received.length)).toEqual([0, 1, 0]);
    expect((await shop.running.post(chat, hello)).status).toBe(200);
    expect(shop.vendors.map(({ received }) => received.length)).toEqual([1, 1, 0]);
    const apart = await open([
      { vendor: 'anthropic', upstream: 'claude-x' },
      { vendor: 'openai', upstream: 'gpt-5' },
    ]);
    const tools = [{ type: 'web_fetch_20250910', name: 'web_fetch' }];
    const servers = [{ type: 'url', url: 'https://example.com', name: 'x' }];
    const told = await refused(
      apart,
      '/v1/messages',
      { ...claude, tools, mcp_servers: servers },
      'tools[0].type',
    );
    expect(told).toContain('No channel has all that is asked for.');
  });

  const found = (content: unknown): Body => ({
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content },
  });
  const begun = {
    id: 'msg_x',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [],
    usage: { input_tokens: 100 },
  };
  const cutStreams: readonly (readonly [string, Channel, string, Body, readonly Body[]])[] = [
    [
      'messages',
      { vendor: 'anthropic', upstream: 'claude-x' },
      '/v1/messages',
      { ...claude, tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
      [
        { type: 'message_start', message: begun },
        ...[[], [], { type: 'web_search_tool_result_error', error_code: 'unavailable' }].map(found),
      ],
    ],
    [
      'responses',
      gpt5,
      '/v1/responses',
      { ...ask, tools: [{ type: 'web_search' }] },
      [
        { type: 'response.created', response: response([]) },
        ...['a', 'b'].map((id, i) => ({
          type: 'response.output_item.done',
          output_index: i,
          item: search(id),
        })),
        { type: 'response.output_item.added', output_index: 2, item: search('c') },
      ],
    ],
  ];

  test.each(cutStreams)(
    'searches whose results were in a stream of %s that broke off are charged',
    async (_name, channel, path, body, events) => {
      const shop = await open([channel]);
      shop.vendors[0]?.answer((_request, reply) => {
        sse(reply).write(
          events
            .map((event) => `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`)
            .join(''),
        );
        setTimeout(() => reply.destroy(), 100);
      });
      const reply = await shop.running.post(path, { ...body, stream: true });
      expect(await reply.text()).toContain('error');
      await shop.running.expectBooks();
      const [record] = await shop.running.usage();
      expect(record).toMatchObject({ status: 'cut' });
      const lines: readonly (readonly unknown[])[] = JSON.parse(String(record?.['lines']));
      const quantities = lines.map(([measure, quantity]) => [measure, quantity]);
      expect(quantities).toContainEqual(['web_search', 2]);
    },
  );

  test('the usual size of Perplexity’s searches asks for nothing beyond the plain price', async () => {
    const shop = await open([{ vendor: 'perplexity', upstream: 'sonar' }]);
    for (const size of ['medium', 'high', 7])
      await refused(shop, chat, { ...hello, search_context_size: size }, 'search_context_size');
    expect(await fees(shop, chat, { ...hello, search_context_size: 'low' }, completion())).toEqual(
      [],
    );
  });
});
