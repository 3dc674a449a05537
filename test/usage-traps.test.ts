import { describe, expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { measures, type Measure } from '../src/base/quantities.ts';
import { onSqlite } from './databases.ts';
import { eventFrame } from './support/event-stream.ts';
import { type Running, startRunning } from './support/running.ts';
import { json, type ScriptedVendor, sse, startVendor } from './support/scripted-vendor.ts';

/**
 * Every class of tokens has a price of its own, so that a token in the wrong class, twice or not at
 * all shows in the charge.
 */
const yuan: Readonly<Partial<Record<Measure, number>>> = {
  input: 1,
  cached_input: 20,
  cache_write_5m: 300,
  cache_write_1h: 4_000,
  output: 50_000,
  reasoning: 600_000,
  audio_input: 7_000_000,
  audio_output: 80_000_000,
  image_input: 900_000_000,
  image_output: 1_100_000_000,
};
/** Yuan for a million tokens are thousands of nano-yuan for one. */
const nanoPerYuanPerMillion = 1_000n;
const tierAbove = 1_000;
type Counted = Readonly<Partial<Record<Measure, number>>>;

const priceOf = (counted: Counted, factor = 1): bigint =>
  Object.entries(counted).reduce((sum, [name, n]) => {
    const measure = measures.find((one) => one === name);
    return (
      sum +
      BigInt(n * factor * (measure === undefined ? 0 : (yuan[measure] ?? 0))) *
        nanoPerYuanPerMillion
    );
  }, 0n);

const members = (factor: number): string =>
  Object.entries(yuan)
    .map(([name, price]) => `${name}: ${price * factor}`)
    .join(', ');
const configuration = (vendor: string, baseUrl: string, upstream: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: m1, owned_by: v, kind: chat, context: 128000, max_output: 1000, price: { ${members(1)} } }
  - { id: m2, owned_by: v, kind: chat, context: 128000, max_output: 1000, price: { ${members(1)}, tiers: [{ above_input_tokens: ${tierAbove}, ${members(2)} }] } }
channels:
  - { name: a, vendor: ${vendor}, base_url: "${baseUrl}", api_key: key, groups: [default], models: [{ id: m1, upstream: "${upstream}" }, { id: m2, upstream: "${upstream}" }] }
`;

type Form = 'chat' | 'responses' | 'messages' | 'gemini' | 'converse' | 'cohere';

/** The smallest whole answer of each format with this usage. */
const answers: Readonly<Record<Form, (usage: object) => object>> = {
  chat: (usage) => ({
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'up',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage,
  }),
  responses: (usage) => ({
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
  }),
  messages: (usage) => ({
    id: 'msg_x',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    usage,
  }),
  gemini: (usageMetadata) => ({
    candidates: [
      { content: { parts: [{ text: 'Hi' }], role: 'model' }, finishReason: 'STOP', index: 0 },
    ],
    usageMetadata,
    responseId: 'x',
  }),
  converse: (usage) => ({
    output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
    stopReason: 'end_turn',
    usage,
  }),
  cohere: (usage) => ({
    id: 'x',
    finish_reason: 'COMPLETE',
    message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
    usage,
  }),
};

interface Trap {
  readonly name: string;
  readonly vendor: string;
  readonly upstream: string;
  readonly form: Form;
  readonly usage: object;
  readonly counted: Counted;
  /** What a client of chat is told: prompt, completion. */
  readonly told: readonly [number, number];
}

const claude = { vendor: 'anthropic', upstream: 'claude-sonnet-4-5', form: 'messages' } as const;
const google = { vendor: 'gemini', upstream: 'gemini-2.5-flash', form: 'gemini' } as const;
const openai = { vendor: 'openai', upstream: 'gpt-4o', form: 'chat' } as const;

/**
 * wire-formats §4.3, §4.6, §5.2, §5.3: where vendors count what others leave out, and leave out
 * what others count.
 */
const traps: readonly Trap[] = [
  {
    ...claude,
    name: 'Anthropic counts what it read from and wrote to its cache outside of the input',
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 200,
      output_tokens: 5,
    },
    counted: { input: 10, cached_input: 200, cache_write_5m: 30, output: 5 },
    told: [240, 5],
  },
  {
    ...claude,
    name: 'Anthropic tells five minutes and an hour apart',
    usage: {
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 10 },
      cache_read_input_tokens: 0,
      output_tokens: 5,
    },
    counted: { input: 10, cache_write_5m: 20, cache_write_1h: 10, output: 5 },
    told: [40, 5],
  },
  {
    ...claude,
    name: 'Anthropic counts thoughts within the output',
    usage: { input_tokens: 10, output_tokens: 50, output_tokens_details: { thinking_tokens: 40 } },
    counted: { input: 10, output: 10, reasoning: 40 },
    told: [10, 50],
  },
  {
    ...google,
    name: 'Gemini counts thoughts outside of the candidates, and the cache within the prompt',
    usage: {
      promptTokenCount: 120,
      cachedContentTokenCount: 100,
      candidatesTokenCount: 32,
      thoughtsTokenCount: 132,
      totalTokenCount: 284,
    },
    counted: { input: 20, cached_input: 100, output: 32, reasoning: 132 },
    told: [120, 164],
  },
  {
    ...google,
    name: 'Gemini counts what tools read outside of the prompt',
    usage: {
      promptTokenCount: 20,
      toolUsePromptTokenCount: 300,
      candidatesTokenCount: 5,
      totalTokenCount: 325,
    },
    counted: { input: 320, output: 5 },
    told: [320, 5],
  },
  {
    ...google,
    name: 'Gemini tells sound and pictures by modality, those of the cache once more',
    usage: {
      promptTokenCount: 110,
      cachedContentTokenCount: 10,
      candidatesTokenCount: 45,
      totalTokenCount: 155,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 50 },
        { modality: 'AUDIO', tokenCount: 40 },
        { modality: 'IMAGE', tokenCount: 20 },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 10 }],
      candidatesTokensDetails: [
        { modality: 'TEXT', tokenCount: 5 },
        { modality: 'IMAGE', tokenCount: 40 },
      ],
    },
    counted: {
      input: 50,
      cached_input: 10,
      audio_input: 30,
      image_input: 20,
      output: 5,
      image_output: 40,
    },
    told: [110, 45],
  },
  {
    ...openai,
    name: 'OpenAI counts cache, thoughts and sound within its sums',
    usage: {
      prompt_tokens: 100,
      completion_tokens: 60,
      total_tokens: 160,
      prompt_tokens_details: { cached_tokens: 40, audio_tokens: 25 },
      completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 20 },
    },
    counted: {
      input: 35,
      cached_input: 40,
      audio_input: 25,
      output: 10,
      reasoning: 30,
      audio_output: 20,
    },
    told: [100, 60],
  },
  {
    ...openai,
    name: 'OpenAI tells pictures within its sums',
    usage: {
      prompt_tokens: 100,
      completion_tokens: 60,
      total_tokens: 160,
      prompt_tokens_details: { image_tokens: 90 },
      completion_tokens_details: { image_tokens: 55 },
    },
    counted: { input: 10, image_input: 90, output: 5, image_output: 55 },
    told: [100, 60],
  },
  {
    ...openai,
    vendor: 'openrouter',
    name: 'OpenRouter tells what was written to the cache within the prompt',
    usage: {
      prompt_tokens: 100,
      completion_tokens: 6,
      total_tokens: 106,
      prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 70 },
    },
    counted: { input: 10, cached_input: 20, cache_write_5m: 70, output: 6 },
    told: [100, 6],
  },
  {
    ...openai,
    vendor: 'deepseek',
    upstream: 'deepseek-chat',
    name: 'DeepSeek tells its cache beside the prompt',
    usage: {
      prompt_tokens: 100,
      completion_tokens: 6,
      total_tokens: 106,
      prompt_cache_hit_tokens: 64,
      prompt_cache_miss_tokens: 36,
    },
    counted: { input: 36, cached_input: 64, output: 6 },
    told: [100, 6],
  },
  {
    ...openai,
    vendor: 'xai',
    upstream: 'grok-4.3',
    name: 'xAI counts thoughts outside of the completion',
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 115,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 100 },
    },
    counted: { input: 6, cached_input: 4, output: 5, reasoning: 100 },
    told: [10, 105],
  },
  {
    ...openai,
    vendor: 'xai',
    upstream: 'grok-4.3',
    name: 'xAI caches a preamble that it does not count as prompt',
    usage: {
      prompt_tokens: 7,
      completion_tokens: 5,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 161 },
    },
    counted: { cached_input: 7, output: 5 },
    told: [7, 5],
  },
  {
    ...openai,
    vendor: 'mistral',
    upstream: 'voxtral-small-latest',
    name: 'Mistral counts sound outside of the prompt',
    usage: {
      prompt_tokens: 11,
      completion_tokens: 15,
      total_tokens: 401,
      prompt_audio_seconds: 5,
      prompt_tokens_details: { audio_tokens: 375, cached_tokens: 9 },
    },
    counted: { input: 2, cached_input: 9, audio_input: 375, output: 15 },
    told: [386, 15],
  },
  {
    ...openai,
    vendor: 'openai-compatible',
    upstream: 'gemini-2.5-flash',
    name: 'Google’s compatible endpoint tells thoughts only in the total',
    usage: { prompt_tokens: 35, completion_tokens: 12, total_tokens: 109 },
    counted: { input: 35, output: 12, reasoning: 62 },
    told: [35, 74],
  },
  {
    vendor: 'bedrock',
    upstream: 'anthropic.claude-sonnet-4-5-20250929-v1:0',
    form: 'converse',
    name: 'Converse counts its cache outside of the input, an hour by its time to live',
    usage: {
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 115,
      cacheReadInputTokens: 60,
      cacheWriteInputTokens: 40,
      cacheDetails: [
        { ttl: '5m', inputTokens: 30 },
        { ttl: '1h', inputTokens: 10 },
      ],
    },
    counted: { input: 10, cached_input: 60, cache_write_5m: 30, cache_write_1h: 10, output: 5 },
    told: [110, 5],
  },
  {
    vendor: 'cohere',
    upstream: 'command-a-03-2025',
    form: 'cohere',
    name: 'Cohere bills less than it counts, and tells both',
    usage: {
      billed_units: { input_tokens: 4, output_tokens: 3 },
      tokens: { input_tokens: 90, output_tokens: 8 },
      cached_tokens: 20,
    },
    counted: { input: 70, cached_input: 20, output: 8 },
    told: [90, 8],
  },
];

onSqlite((_, __, fresh) => {
  let vendor: ScriptedVendor;
  const start = async (trap: Pick<Trap, 'vendor' | 'upstream'>): Promise<Running> => {
    vendor = await startVendor();
    return startRunning({
      databaseUrl: (await fresh(migrations)).url,
      configuration: configuration(trap.vendor, vendor.url, trap.upstream),
      yuan: '1000000',
    });
  };
  const hello = { model: 'm1', messages: [{ role: 'user', content: 'Hi' }] };
  const charged = async (running: Running): Promise<bigint> => {
    const [transfer] = await running.gateway.database.query(
      'SELECT amount FROM transfer ORDER BY at DESC, id DESC LIMIT 1',
    );
    return BigInt(String(transfer?.['amount']));
  };
  const lines = async (running: Running): Promise<Record<string, number>> => {
    const [record] = await running.usage();
    const told: readonly (readonly [string, number])[] = JSON.parse(String(record?.['lines']));
    return Object.fromEntries(told);
  };

  test.each(traps)('$name', async (trap) => {
    const running = await start(trap);
    vendor.answer((_request, response) =>
      json(response, 200, JSON.stringify(answers[trap.form](trap.usage))),
    );
    const reply = await running.post('/v1/chat/completions', hello);
    expect(reply.status).toBe(200);
    const { usage } = JSON.parse(await reply.text());
    expect([usage.prompt_tokens, usage.completion_tokens, usage.total_tokens]).toEqual([
      ...trap.told,
      trap.told[0] + trap.told[1],
    ]);
    expect(await lines(running)).toEqual(trap.counted);
    expect(await charged(running)).toBe(priceOf(trap.counted));
    await running.expectBooks();
  });

  test('a response counts as chat does, under other names', async () => {
    const running = await start(openai);
    const usage = {
      input_tokens: 100,
      output_tokens: 60,
      total_tokens: 160,
      input_tokens_details: { cached_tokens: 40 },
      output_tokens_details: { reasoning_tokens: 30 },
    };
    vendor.answer((_request, response) =>
      json(response, 200, JSON.stringify(answers.responses(usage))),
    );
    expect(
      (await running.post('/v1/responses', { model: 'm1', input: 'Hi', store: false })).status,
    ).toBe(200);
    const counted = { input: 60, cached_input: 40, output: 30, reasoning: 30 };
    expect(await lines(running)).toEqual(counted);
    expect(await charged(running)).toBe(priceOf(counted));
  });

  test('a message’s last count is the count: it includes what the first one told', async () => {
    const running = await start(claude);
    const event = (data: { readonly type: string }): string =>
      `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
    const first = {
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 7,
      output_tokens: 1,
    };
    const split = { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 };
    const message = {
      ...answers.messages({ ...first, cache_creation: split }),
      content: [],
      stop_reason: null,
    };
    const events = [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { ...first, output_tokens: 75 },
      },
      { type: 'message_stop' },
    ];
    vendor.answer((_request, response) => sse(response).end(events.map(event).join('')));
    const reply = await running.post('/v1/chat/completions', { ...hello, stream: true });
    expect(await reply.text()).toContain('[DONE]');
    const counted = {
      input: 10,
      cached_input: 7,
      cache_write_5m: 10,
      cache_write_1h: 20,
      output: 75,
    };
    expect(await lines(running)).toEqual(counted);
    expect(await charged(running)).toBe(priceOf(counted));
  });

  test('a stream of Converse is counted by its metadata', async () => {
    const running = await start({ vendor: 'bedrock', upstream: 'amazon.nova-lite-v1:0' });
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      cacheReadInputTokens: 60,
      cacheWriteInputTokens: 0,
    };
    vendor.answer((_request, response) => {
      response.writeHead(200, { 'content-type': 'application/vnd.amazon.eventstream' });
      response.write(
        eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } }),
      );
      response.write(eventFrame('messageStop', { stopReason: 'end_turn' }));
      response.end(eventFrame('metadata', { usage }));
    });
    await (await running.post('/v1/chat/completions', { ...hello, stream: true })).text();
    expect(await lines(running)).toEqual({ input: 10, cached_input: 60, output: 5 });
  });

  describe('a price by the length of the context', () => {
    const counted = (input: number): Counted => ({
      input,
      cached_input: 400,
      cache_write_5m: 100,
      output: 3,
    });
    test.each([
      ['exactly as long as the tier', tierAbove - 500, 1],
      ['one token longer, cache included', tierAbove - 499, 2],
    ])('%s', async (_name, input, factor) => {
      const running = await start(claude);
      const usage = {
        input_tokens: input,
        cache_read_input_tokens: 400,
        cache_creation_input_tokens: 100,
        output_tokens: 3,
      };
      vendor.answer((_request, response) =>
        json(response, 200, JSON.stringify(answers.messages(usage))),
      );
      expect((await running.post('/v1/chat/completions', { ...hello, model: 'm2' })).status).toBe(
        200,
      );
      expect(await charged(running)).toBe(priceOf(counted(input), factor));
      await running.expectBooks();
    });
  });
});
