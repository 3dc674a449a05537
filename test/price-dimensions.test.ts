import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { onSqlite } from './databases.ts';
import { type Running, startRunning } from './support/running.ts';
import { json, type ScriptedVendor, sse, startVendor } from './support/scripted-vendor.ts';

/** Yuan for a million tokens are micro-yuan for one. */
const plain = 'price: { input: 1, output: 10 }';
const noFees = 'price: { input: 1, output: 10, list_fees: false }';

interface Shop {
  readonly running: Running;
  readonly vendor: ScriptedVendor;
}

type Body = Readonly<Record<string, unknown>>;

const message = (usage: object, more: object = {}) => ({
  id: 'msg_x',
  type: 'message',
  role: 'assistant',
  model: 'up',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage,
  ...more,
});

const response = (usage: object, more: object = {}) => ({
  id: 'resp_x',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'up',
  output: [
    {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
    },
  ],
  usage,
  ...more,
});

const completion = (usage: object, more: object = {}) => ({
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage,
  ...more,
});

const small = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
const smallChat = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
/** 100 tokens in and 10 out at the plain price. */
const smallCost = '0.0002';

const eventFrame = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;

function streamed(body: ReturnType<typeof message>): string {
  const { usage, content, ...rest } = body;
  const events: [string, object][] = [
    [
      'message_start',
      {
        type: 'message_start',
        message: { ...rest, content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      },
    ],
    [
      'content_block_start',
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ],
    [
      'content_block_delta',
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: content[0]?.text },
      },
    ],
    ['content_block_stop', { type: 'content_block_stop', index: 0 }],
    [
      'message_delta',
      { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage },
    ],
    ['message_stop', { type: 'message_stop' }],
  ];
  return events.map(([name, data]) => `event: ${name}\n${eventFrame(data)}`).join('');
}

onSqlite((_, __, fresh) => {
  async function open(vendorName: string, models: readonly string[], more = ''): Promise<Shop> {
    const vendor = await startVendor();
    const ids = models.map((model) => /id: ([\w.-]+)/.exec(model)?.[1] ?? '');
    const configuration = `
groups:
  - { name: default, price_multiplier: 1.0 }
${more}
models:
${models.map((model) => `  - { owned_by: v, context: 200000, ${model} }`).join('\n')}
channels:
  - { name: a, vendor: ${vendorName}, base_url: "${vendor.url}", api_key: key, groups: [default], models: [${ids
    .filter((id) => id !== 'elsewhere')
    .map((id) => `{ id: ${id}, upstream: up-${id} }`)
    .join(', ')}] }
  - { name: b, vendor: ${vendorName}, base_url: "${vendor.url}", api_key: key, groups: [default], models: [${ids.includes('elsewhere') ? 'elsewhere' : ''}] }
`;
    const running = await startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration,
      yuan: '100',
    });
    return { running, vendor };
  }

  const chatModel = (price = plain, id = 'm') => `id: ${id}, kind: chat, max_output: 100, ${price}`;

  async function spent({ running }: Shop): Promise<string> {
    const nano = 100_000_000_000n - BigInt(Math.round(Number(await running.balance()) * 1e9));
    return String(Number(nano) / 1e9);
  }

  const hello = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
  const claude = { ...hello, max_tokens: 50 };

  async function refused(
    shop: Shop,
    path: string,
    body: Body,
    param: string | null,
    status = 400,
  ): Promise<string> {
    const reply = await shop.running.post(path, body);
    const answer: unknown = await reply.json();
    const { error } = answer as { error: { param?: string | null; message: string } };
    expect(error.message, JSON.stringify(answer)).not.toBe('');
    expect(reply.status).toBe(status);
    if (error.param !== undefined) expect(error.param).toBe(param);
    expect(shop.vendor.received).toHaveLength(0);
    expect(await spent(shop)).toBe('0');
    return error.message;
  }

  async function answered(shop: Shop, path: string, body: Body, beta?: string): Promise<unknown> {
    const reply = await shop.running.post(
      path,
      body,
      beta === undefined ? {} : { headers: { 'anthropic-beta': beta } },
    );
    const text = await reply.text();
    expect(reply.status, text).toBe(200);
    await shop.running.expectBooks();
    return text;
  }

  const sent = ({ vendor }: Shop): Body => JSON.parse(vendor.received.at(-1)?.text ?? '{}');

  async function lines({ running }: Shop): Promise<readonly unknown[]> {
    const [record] = await running.usage();
    return JSON.parse(String(record?.['lines']));
  }

  test.each(['ultrafast', 'priority', 'fast', 'PRIORITY', 'scale', 'flex', 'tomorrow', 7])(
    'H1, R9: a service tier without a price is refused: %s',
    async (tier) => {
      const shop = await open('openai', [chatModel()]);
      for (const [path, body] of [
        ['/v1/chat/completions', hello],
        ['/v1/responses', { model: 'm', input: 'Hi' }],
      ] as const)
        expect(
          await refused(shop, path, { ...body, service_tier: tier }, 'service_tier'),
        ).toContain('is not sold');
    },
  );

  test('R9: `auto` is sent as `default`, so that the account’s settings choose no dearer tier', async () => {
    const shop = await open('openai', [chatModel()]);
    shop.vendor.answer((request, reply) =>
      json(
        reply,
        200,
        JSON.stringify(
          request.url.endsWith('/responses') ? response(small) : completion(smallChat),
        ),
      ),
    );
    await answered(shop, '/v1/chat/completions', { ...hello, service_tier: 'auto' });
    expect(sent(shop)['service_tier']).toBe('default');
    await answered(shop, '/v1/responses', { model: 'm', input: 'Hi', service_tier: 'auto' });
    expect(sent(shop)['service_tier']).toBe('default');
    await answered(shop, '/v1/chat/completions', { ...hello, service_tier: 'default' });
    expect(sent(shop)['service_tier']).toBe('default');
  });

  const modes =
    'price: { input: 1, output: 10, modes: { flex: { times: 1/2 }, fast: { times: 2 }, ultrafast: { times: 6, only: [responses] } } }';

  test.each([
    ['flex', 'flex', '0.0001', '× 1/2 (flex)'],
    ['priority', 'priority', '0.0004', '× 2 (fast)'],
    ['fast', 'priority', '0.0004', '× 2 (fast)'],
    ['ultrafast', 'ultrafast', '0.0012', '× 6 (ultrafast)'],
    ['ultrafast', 'default', '0.0002', undefined],
    ['flex', 'something-new', '0.0002', undefined],
    ['flex', undefined, '0.0001', '× 1/2 (flex)'],
  ])('H1: %s is asked and %s served: %s yuan', async (asked, served, cost, terms) => {
    const shop = await open('openai', [chatModel(modes)]);
    shop.vendor.answer((_request, reply) =>
      json(reply, 200, JSON.stringify(response(small, { service_tier: served }))),
    );
    await answered(shop, '/v1/responses', { model: 'm', input: 'Hi', service_tier: asked });
    expect(sent(shop)['service_tier']).toBe(asked);
    expect(await spent(shop)).toBe(cost);
    const told = terms === undefined ? [] : [{ terms }];
    expect(await lines(shop)).toEqual([
      ['input', 100, expect.any(String), expect.any(String), ...told],
      ['output', 10, expect.any(String), expect.any(String), ...told],
    ]);
  });

  test('H1: a mode is sold where it is sold: chat has no ultrafast, and a stream of flex is charged as what its chunks say', async () => {
    const shop = await open('openai', [chatModel(modes)]);
    expect(
      await refused(
        shop,
        '/v1/chat/completions',
        { ...hello, service_tier: 'ultrafast' },
        'service_tier',
      ),
    ).toContain('flex, fast');
    const chunk = (more: object) =>
      eventFrame({
        id: 'x',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'up',
        service_tier: 'flex',
        ...more,
      });
    shop.vendor.answer((_request, reply) =>
      sse(reply).end(
        chunk({
          choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' }, finish_reason: null }],
        }) +
          chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
          chunk({ choices: [], usage: smallChat }) +
          'data: [DONE]\n\n',
      ),
    );
    await answered(shop, '/v1/chat/completions', { ...hello, stream: true, service_tier: 'flex' });
    expect(await spent(shop)).toBe('0.0001');
  });

  test('H1: a vendor that serves a dearer tier than was asked for is not paid for by the user', async () => {
    const shop = await open('openai', [chatModel(modes)]);
    shop.vendor.answer((_request, reply) =>
      json(reply, 200, JSON.stringify(response(small, { service_tier: 'ultrafast' }))),
    );
    await answered(shop, '/v1/responses', { model: 'm', input: 'Hi', service_tier: 'fast' });
    expect(await spent(shop)).toBe('0.0004');
  });

  const iterations = [
    { type: 'message', input_tokens: 1_000, output_tokens: 20 },
    { type: 'compaction', input_tokens: 180_000, output_tokens: 3_500 },
    { type: 'message', input_tokens: 3_000, output_tokens: 80 },
  ];

  const compacting = { context_management: { edits: [{ type: 'compact_20260112' }] } };

  test.each([false, true])(
    'H2: each iteration is charged, and what only they count is not lost (stream: %s)',
    async (stream) => {
      const shop = await open('anthropic', [chatModel()]);
      const body = message({ input_tokens: 4_000, output_tokens: 100, iterations });
      shop.vendor.answer((_request, reply) =>
        stream ? sse(reply).end(streamed(body)) : json(reply, 200, JSON.stringify(body)),
      );
      await answered(
        shop,
        '/v1/messages',
        { ...claude, stream, ...compacting },
        'compact-2026-01-12',
      );
      expect(await lines(shop)).toEqual([
        ['input', 184_000, '1000000000', '184000000'],
        ['output', 3_600, '10000000000', '36000000'],
      ]);
      expect(await shop.running.usage()).toMatchObject([
        { input_tokens: 184_000n, output_tokens: 3_600n },
      ]);
    },
  );

  test('H2: long context is told of each iteration by itself', async () => {
    const tiers =
      'price: { input: 1, output: 10, tiers: [{ above_input_tokens: 100000, input: 2, output: 15 }] }';
    const shop = await open('anthropic', [chatModel(tiers)]);
    const body = message({ input_tokens: 4_000, output_tokens: 100, iterations });
    shop.vendor.answer((_request, reply) => json(reply, 200, JSON.stringify(body)));
    await answered(shop, '/v1/messages', { ...claude, ...compacting }, 'compact-2026-01-12');
    expect(await lines(shop)).toEqual([
      ['input', 4_000, '1000000000', '4000000'],
      ['output', 100, '10000000000', '1000000'],
      ['input', 180_000, '2000000000', '360000000', { terms: 'above 100000 input tokens' }],
      ['output', 3_500, '15000000000', '52500000', { terms: 'above 100000 input tokens' }],
    ]);
  });

  const painter =
    'id: gpt-image-1, kind: image, price: { input: 5, image_input: 8, image_output: 40 }';

  test.each([false, true])(
    'H3: pictures within a response cost what the model that paints them costs (stream: %s)',
    async (stream) => {
      const shop = await open('openai', [chatModel(), painter]);
      const usage = {
        input_tokens: 300,
        input_tokens_details: { image_tokens: 200, text_tokens: 100 },
        output_tokens: 4_000,
        output_tokens_details: { image_tokens: 4_000, text_tokens: 0 },
        total_tokens: 4_300,
      };
      const painted = {
        type: 'image_generation_call',
        id: 'ig_1',
        status: 'completed',
        result: 'aGk=',
        size: '1024x1024',
        quality: 'high',
      };
      const body = response(small, {
        output: [painted],
        tool_usage: { image_gen: usage, web_search: { num_requests: 0 } },
      });
      const completed = `event: response.completed\n${eventFrame({ type: 'response.completed', sequence_number: 0, response: body })}`;
      shop.vendor.answer((_request, reply) =>
        stream ? sse(reply).end(completed) : json(reply, 200, JSON.stringify(body)),
      );
      await answered(shop, '/v1/responses', {
        model: 'm',
        input: 'A cat',
        stream,
        tools: [{ type: 'image_generation' }],
      });
      expect(sent(shop)['tools']).toEqual([{ type: 'image_generation', model: 'up-gpt-image-1' }]);
      const own = { model: 'gpt-image-1' };
      expect(await lines(shop)).toEqual([
        ['input', 100, '1000000000', '100000'],
        ['output', 10, '10000000000', '100000'],
        ['input', 100, '5000000000', '500000', own],
        ['image_input', 200, '8000000000', '1600000', own],
        ['image_output', 4_000, '40000000000', '160000000', own],
      ]);
    },
  );

  test('H4: a region without a price is refused; with one it multiplies all tokens', async () => {
    const without = await open('anthropic', [chatModel()]);
    await refused(without, '/v1/messages', { ...claude, inference_geo: 'us' }, 'inference_geo');
    const shop = await open('anthropic', [
      chatModel('price: { input: 1, output: 10, places: { us: { times: 1.1 } } }'),
    ]);
    shop.vendor.answer((_request, reply) =>
      json(reply, 200, JSON.stringify(message({ input_tokens: 100, output_tokens: 10 }))),
    );
    await answered(shop, '/v1/messages', { ...claude, inference_geo: 'us' });
    expect(await lines(shop)).toEqual([
      ['input', 100, '1100000000', '110000', { terms: '× 11/10 (us)' }],
      ['output', 10, '11000000000', '110000', { terms: '× 11/10 (us)' }],
    ]);
    await answered(shop, '/v1/messages', { ...claude, inference_geo: 'global' });
    expect(await spent(shop)).toBe('0.00042');
  });

  test('H4: speed, region and group are one fraction, and the speed is the one that served', async () => {
    const both =
      'price: { input: 1, output: 10, modes: { fast: { times: 2 } }, places: { us: { times: 1.1 } } }';
    const shop = await open('anthropic', [chatModel(both)]);
    shop.vendor.answer((_request, reply) =>
      json(
        reply,
        200,
        JSON.stringify(message({ input_tokens: 100, output_tokens: 10, speed: 'fast' })),
      ),
    );
    await answered(
      shop,
      '/v1/messages',
      { ...claude, inference_geo: 'us', speed: 'fast' },
      'fast-mode-2026-02-01',
    );
    expect(await lines(shop)).toMatchObject([
      ['input', 100, '2200000000', '220000', { terms: '× 2 (fast) × 11/10 (us)' }],
      ['output', 10, '22000000000', '220000', { terms: '× 2 (fast) × 11/10 (us)' }],
    ]);
  });

  const advisorTool = (model: string) => ({ type: 'advisor_20260301', name: 'advisor', model });

  test('H5: a model that the body names must be sold to the key, over the same channel, and be of the right kind', async () => {
    const shop = await open('anthropic', [chatModel(), chatModel(plain, 'elsewhere')]);
    await refused(
      shop,
      '/v1/messages',
      { ...claude, tools: [advisorTool('hidden')] },
      'tools[0].model',
      404,
    );
    expect(
      await refused(
        shop,
        '/v1/messages',
        { ...claude, tools: [advisorTool('elsewhere')] },
        'tools[0].model',
      ),
    ).toContain('No channel');
    await refused(
      shop,
      '/v1/messages',
      { ...claude, fallbacks: [{ model: 'hidden' }] },
      'fallbacks[0].model',
      404,
    );
    const openai = await open('openai', [chatModel()]);
    const tools = [{ type: 'image_generation', model: 'gpt-image-2' }];
    await refused(
      openai,
      '/v1/responses',
      { model: 'm', input: 'Hi', tools },
      'tools[0].model',
      404,
    );
    const itself = [{ type: 'image_generation', model: 'm' }];
    await refused(
      openai,
      '/v1/responses',
      { model: 'm', input: 'Hi', tools: itself },
      'tools[0].model',
    );
    const models = ['m', 'hidden'];
    await refused(openai, '/v1/chat/completions', { ...hello, models }, 'models[1]', 404);
  });

  test('H5: an advisor is asked by the vendor’s name for it and charged at its own price', async () => {
    const shop = await open('anthropic', [
      chatModel(),
      chatModel('price: { input: 5, output: 50 }', 'wise'),
    ]);
    const told = [
      { type: 'message', input_tokens: 60, output_tokens: 4 },
      { type: 'advisor_message', model: 'up-wise', input_tokens: 2_529, output_tokens: 38 },
      { type: 'message', input_tokens: 40, output_tokens: 6 },
    ];
    shop.vendor.answer((_request, reply) =>
      json(
        reply,
        200,
        JSON.stringify(message({ input_tokens: 100, output_tokens: 10, iterations: told })),
      ),
    );
    await answered(shop, '/v1/messages', { ...claude, tools: [advisorTool('wise')] });
    expect(sent(shop)['tools']).toEqual([{ ...advisorTool('up-wise'), max_uses: 4 }]);
    expect(await lines(shop)).toEqual([
      ['input', 100, '1000000000', '100000'],
      ['output', 10, '10000000000', '100000'],
      ['input', 2_529, '5000000000', '12645000', { model: 'wise' }],
      ['output', 38, '50000000000', '1900000', { model: 'wise' }],
    ]);
  });

  test('H5: an answer of a fallback is charged as what answered', async () => {
    const shop = await open('anthropic', [
      chatModel(),
      chatModel('price: { input: 5, output: 50 }', 'other'),
    ]);
    shop.vendor.answer((_request, reply) =>
      json(
        reply,
        200,
        JSON.stringify(message({ input_tokens: 100, output_tokens: 10 }, { model: 'up-other' })),
      ),
    );
    await answered(shop, '/v1/messages', { ...claude, fallbacks: [{ model: 'other' }] });
    expect(sent(shop)['fallbacks']).toEqual([{ model: 'up-other' }]);
    expect(await lines(shop)).toEqual([
      ['input', 100, '5000000000', '500000', { model: 'other' }],
      ['output', 10, '50000000000', '500000', { model: 'other' }],
    ]);
  });

  test.each([
    ['web_search', { type: 'web_search' }],
    ['a search by an old name', { type: 'web_search_preview_2025_03_11' }],
    ['file_search', { type: 'file_search', vector_store_ids: ['vs_1'] }],
    ['code_interpreter', { type: 'code_interpreter', container: { type: 'auto' } }],
    ['mcp', { type: 'mcp', server_label: 'x', server_url: 'https://example.com' }],
    ['a shell in a container', { type: 'shell', environment: { type: 'container_auto' } }],
    ['a tool that nobody knows', { type: 'mind_reading' }],
  ])(
    'R4: a tool that the vendor runs is off where the price has no fee for it: %s',
    async (_name, tool) => {
      const shop = await open('openai', [chatModel(noFees)]);
      await refused(
        shop,
        '/v1/responses',
        { model: 'm', input: 'Hi', tools: [tool] },
        'tools[0].type',
      );
      const input = [
        { role: 'user', content: 'Hi' },
        { type: 'additional_tools', role: 'developer', tools: [tool] },
      ];
      await refused(shop, '/v1/responses', { model: 'm', input }, 'input[1].tools[0].type');
    },
  );

  test.each([
    'web_search_20250305',
    'web_fetch_20260209',
    'code_execution_20260120',
    'mcp_toolset',
    'mind_reading_20270101',
  ])('R4: Anthropic’s server tool %s is off where the price has no fee for it', async (type) => {
    const shop = await open('anthropic', [chatModel(noFees)]);
    await refused(
      shop,
      '/v1/messages',
      { ...claude, tools: [{ type, name: 'x' }] },
      'tools[0].type',
    );
  });

  test.each([
    [{ web_search_options: {} }, 'web_search_options'],
    [{ search_parameters: { mode: 'on' } }, 'search_parameters'],
    [{ enable_search: true }, 'enable_search'],
    [{ plugins: [{ id: 'web' }] }, 'plugins[0]'],
    [{ tools: [{ type: 'openrouter:web_search' }] }, 'tools[0].type'],
    [{ tools: [{ google_search: {} }] }, 'tools[0]'],
    [{ tools: [{ type: 'builtin_function', function: { name: '$web_search' } }] }, 'tools[0].type'],
  ])('R4: a search in chat is off where nobody knows its fee: %j', async (more, param) => {
    const shop = await open('openai-compatible', [chatModel()]);
    await refused(shop, '/v1/chat/completions', { ...hello, ...more }, param);
  });

  test('R4: tools that the client runs pass, whatever they are called', async () => {
    const shop = await open('openai', [chatModel()]);
    shop.vendor.answer((_request, reply) => json(reply, 200, JSON.stringify(response(small))));
    const names = ['apply_patch', 'local_shell', 'computer', 'computer_use_preview', 'tool_search'];
    const tools = [
      { type: 'function', name: 'f', parameters: {} },
      { type: 'custom', name: 'c' },
      ...names.map((type) => ({ type })),
    ];
    await answered(shop, '/v1/responses', {
      model: 'm',
      input: 'Hi',
      tools: [...tools, { type: 'shell', environment: { type: 'local' } }],
    });
    expect(sent(shop)['max_tool_calls']).toBeUndefined();
    expect(await spent(shop)).toBe(smallCost);
  });

  test('R4: with a fee, calls are bounded, reserved, and charged as often as the answer reports', async () => {
    const shop = await open('openai', [
      chatModel(
        'price: { input: 1, output: 10, web_search: 0.07, code_session: 0.2, modes: { flex: { times: 1/2 } } }',
      ),
    ]);
    const search = (type: string) => ({
      type: 'web_search_call',
      id: `ws_${type}`,
      status: 'completed',
      action: { type },
    });
    const output = [
      search('search'),
      search('open_page'),
      search('search'),
      { type: 'code_interpreter_call', id: 'ci', container_id: 'c1' },
    ];
    shop.vendor.answer((_request, reply) =>
      json(reply, 200, JSON.stringify(response(small, { output, service_tier: 'flex' }))),
    );
    const tools = [
      { type: 'web_search' },
      { type: 'code_interpreter', container: { type: 'auto' } },
    ];
    await answered(shop, '/v1/responses', { model: 'm', input: 'Hi', tools, service_tier: 'flex' });
    expect(sent(shop)['max_tool_calls']).toBe(8);
    const flex = { terms: '× 1/2 (flex)' };
    expect(await lines(shop)).toEqual([
      ['input', 100, '500000000', '50000', flex],
      ['output', 10, '5000000000', '50000', flex],
      ['web_search', 2, '70000000000000', '140000000'],
      ['code_session', 1, '200000000000000', '200000000'],
    ]);
  });

  test('R4: a vendor that reports more calls than were allowed is paid for those that were', async () => {
    const shop = await open('anthropic', [
      chatModel('price: { input: 1, output: 10, web_search: 0.07 }'),
    ]);
    const usage = {
      input_tokens: 100,
      output_tokens: 10,
      server_tool_use: { web_search_requests: 5_000 },
    };
    shop.vendor.answer((_request, reply) => json(reply, 200, JSON.stringify(message(usage))));
    const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }];
    await answered(shop, '/v1/messages', { ...claude, tools });
    expect(await lines(shop)).toContainEqual(['web_search', 3, '70000000000000', '210000000']);
    await answered(shop, '/v1/messages', claude);
    expect(await spent(shop)).toBe('0.2104');
  });

  test('R4: who cannot pay for the calls that a tool may make is refused before the vendor is asked', async () => {
    const shop = await open('openai', [
      chatModel('price: { input: 1, output: 10, web_search: 20 }'),
    ]);
    await refused(
      shop,
      '/v1/responses',
      { model: 'm', input: 'Hi', tools: [{ type: 'web_search' }] },
      null,
      429,
    );
  });

  test.each([
    ['/v1/responses', { model: 'm', prompt: { id: 'pmpt_1' } }, 'prompt'],
    [
      '/v1/responses',
      {
        model: 'm',
        input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }],
      },
      'input[0].content[0].file_id',
    ],
    [
      '/v1/responses',
      {
        model: 'm',
        input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file-1' }] }],
      },
      'input[0].content[0].file_id',
    ],
    [
      '/v1/responses',
      { model: 'm', input: 'Hi', tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
      'tools[0].container',
    ],
    [
      '/v1/chat/completions',
      {
        model: 'm',
        messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }],
      },
      'messages[0].content[0].file.file_id',
    ],
    [
      '/v1/chat/completions',
      { model: 'm', preset: 'mine', messages: [{ role: 'user', content: 'Hi' }] },
      'preset',
    ],
  ])(
    'R9: what is kept in the operator’s account at the vendor is not reached by its id: %s %j',
    async (path, body, param) => {
      const shop = await open('openai', [
        chatModel('price: { input: 1, output: 10, code_session: 1 }'),
      ]);
      expect(await refused(shop, path, body, param)).toContain("stored at the model's vendor");
    },
  );

  test.each([
    [{ container: 'container_1' }, 'container'],
    [
      {
        messages: [
          {
            role: 'user',
            content: [{ type: 'document', source: { type: 'file', file_id: 'file_1' } }],
          },
        ],
      },
      'x',
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'container_upload', file_id: 'file_1' }] }] },
      'x',
    ],
  ])('R9: nor by Anthropic’s format: %j', async (more, param) => {
    const shop = await open('anthropic', [chatModel()]);
    expect(await refused(shop, '/v1/messages', { ...claude, ...more }, param)).toContain(
      "stored at the model's vendor",
    );
  });
});
