import OpenAI, { BadRequestError, NotFoundError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Sim, startSim } from '../sim/index.ts';
import { vendors } from '../sim/vendors.ts';
import { openTemporaryGateway, type Temporary } from './support/temporary.ts';

/**
 * The official package's older endpoint against every vendor: native where the vendor has it, over
 * its chat elsewhere.
 */
interface Sold {
  readonly vendor: string;
  readonly upstream: string;
  /** What the vendor is asked at; chat where nothing is said. */
  readonly path?: string;
  readonly manyPrompts?: true;
}

const sold: readonly Sold[] = [
  { vendor: 'openai', upstream: 'gpt-3.5-turbo-instruct', path: '/completions', manyPrompts: true },
  { vendor: 'openai', upstream: 'gpt-4o-mini' },
  { vendor: 'openai', upstream: 'gpt-5-mini' },
  { vendor: 'azure', upstream: 'gpt-35-turbo-instruct', path: '/completions', manyPrompts: true },
  { vendor: 'azure', upstream: 'gpt-4.1' },
  { vendor: 'deepseek', upstream: 'deepseek-chat', path: '/beta/completions' },
  { vendor: 'deepseek', upstream: 'deepseek-reasoner' },
  { vendor: 'mistral', upstream: 'codestral-latest', path: '/fim/completions' },
  { vendor: 'mistral', upstream: 'mistral-small-latest' },
  { vendor: 'together', upstream: 'meta-llama/Llama-4-Maverick', path: '/completions' },
  {
    vendor: 'fireworks',
    upstream: 'accounts/fireworks/models/gpt-oss-20b',
    path: '/completions',
    manyPrompts: true,
  },
  { vendor: 'openrouter', upstream: 'openai/gpt-oss-120b', path: '/completions' },
  { vendor: 'siliconflow', upstream: 'Qwen/Qwen3-VL-32B-Instruct', path: '/completions' },
  { vendor: 'ollama', upstream: 'gemma3', path: '/completions' },
  { vendor: 'vllm', upstream: 'Qwen/Qwen3-8B', path: '/completions', manyPrompts: true },
  { vendor: 'llamacpp', upstream: 'gemma-3-4b-it', path: '/completions', manyPrompts: true },
  { vendor: 'qwen', upstream: 'qwen-plus' },
  { vendor: 'moonshot', upstream: 'kimi-k2.6' },
  { vendor: 'zhipu', upstream: 'glm-4.7' },
  { vendor: 'minimax', upstream: 'MiniMax-M2.7' },
  { vendor: 'volcengine', upstream: 'doubao-seed-2-0-pro-260215' },
  { vendor: 'hunyuan', upstream: 'hunyuan-turbos-latest' },
  { vendor: 'xai', upstream: 'grok-4.3' },
  { vendor: 'groq', upstream: 'llama-3.3-70b-versatile' },
  { vendor: 'perplexity', upstream: 'sonar' },
  { vendor: 'cerebras', upstream: 'qwen-3-235b-a22b-thinking-2507' },
  { vendor: 'huggingface', upstream: 'deepseek-ai/DeepSeek-R1' },
];

const modelOf = ({ vendor, upstream }: Sold): string => `${vendor}/${upstream.split('/').at(-1)}`;

let sim: Sim;
let temporary: Temporary;
let client: OpenAI;

function configuration(simUrl: string): string {
  const price = '{ input: 1, cached_input: 1, output: 2 }';
  const models = [
    ...sold.map(
      (one) =>
        `  - { id: "${modelOf(one)}", owned_by: v, kind: chat, context: 128000, max_output: 8192, price: ${price} }`,
    ),
  ];
  const channels = sold.map((one, i) => {
    const prefix = vendors.find(({ vendor }) => vendor === one.vendor)?.prefix ?? '';
    return `  - { name: c${i}, vendor: ${one.vendor}, base_url: "${simUrl}${prefix}", api_key: k, groups: [default], models: [{ id: "${modelOf(one)}", upstream: "${one.upstream}" }] }`;
  });
  return `groups: [{ name: default, price_multiplier: 1.0 }]\nmodels:\n${models.join('\n')}\nchannels:\n${channels.join('\n')}\n`;
}

beforeAll(async () => {
  sim = await startSim();
  temporary = await openTemporaryGateway(configuration(sim.url));
  client = new OpenAI({
    baseURL: `${temporary.gateway.url}/v1`,
    apiKey: temporary.key,
    maxRetries: 0,
  });
});
beforeEach(() => sim.clear());
afterAll(async () => {
  await temporary.close();
  await sim.close();
});

const prompt = 'Hello, who are you?';
const asked = (): string => sim.requests.map(({ path }) => path.replace(/\?.*$/, '')).join(' ');

describe.each(sold)('$vendor $upstream', (one) => {
  const model = modelOf(one);

  test('a text is completed', async () => {
    const answer = await client.completions.create({ model, prompt, max_tokens: 400 });
    expect(answer).toMatchObject({
      object: 'text_completion',
      model,
      id: expect.stringMatching(/^cmpl-/),
    });
    expect(answer.choices).toHaveLength(1);
    expect(answer.choices[0]).toMatchObject({
      index: 0,
      logprobs: null,
      finish_reason: expect.stringMatching(/^(stop|length)$/),
    });
    expect(answer.choices[0]?.text).not.toBe('');
    expect(answer.usage?.total_tokens).toBe(
      (answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0),
    );
    expect(asked().endsWith(one.path ?? '/chat/completions')).toBe(true);
  });

  test('a text is completed while it is written', async () => {
    const body = {
      model,
      prompt,
      max_tokens: 400,
      stream: true,
      stream_options: { include_usage: true },
    } as const;
    const stream = await client.completions.create(body);
    let text = '';
    let total = 0;
    const ends: string[] = [];
    for await (const chunk of stream) {
      expect(chunk).toMatchObject({
        object: 'text_completion',
        model,
        id: expect.stringMatching(/^cmpl-/),
      });
      text += chunk.choices[0]?.text ?? '';
      if (chunk.choices[0]?.finish_reason) ends.push(chunk.choices[0].finish_reason);
      total = chunk.usage?.total_tokens ?? total;
    }
    expect(text).not.toBe('');
    expect(ends).toEqual([expect.stringMatching(/^(stop|length)$/)]);
    expect(total).toBeGreaterThan(0);
  });

  test('nobody sees usage who did not ask for it', async () => {
    const stream = await client.completions.create({ model, prompt, stream: true });
    for await (const chunk of stream) expect(chunk).not.toHaveProperty('usage');
  });

  test('several prompts are several texts, in one answer and one charge', async () => {
    const answer = await client.completions.create({
      model,
      prompt: ['One', 'Two'],
      n: 1,
      echo: true,
      max_tokens: 400,
    });
    expect(answer.choices.map(({ index, text }) => [index, text.slice(0, 3)])).toEqual([
      [0, 'One'],
      [1, 'Two'],
    ]);
    expect(answer.usage?.total_tokens).toBe(
      (answer.usage?.prompt_tokens ?? 0) + (answer.usage?.completion_tokens ?? 0),
    );
    expect(sim.requests).toHaveLength(one.manyPrompts ? 1 : 2);
  });

  test('several prompts are streamed where the vendor does it, and are a 400 elsewhere', async () => {
    const call = client.completions.create({
      model,
      prompt: ['One', 'Two'],
      max_tokens: 20,
      stream: true,
    });
    if (one.manyPrompts)
      for await (const chunk of await call) expect(chunk.object).toBe('text_completion');
    else await expect(call).rejects.toMatchObject({ status: 400, param: 'prompt' });
  });

  test('tokens are read where the vendor reads them, and are a 400 elsewhere', async () => {
    const call = client.completions.create({ model, prompt: [9906, 11], max_tokens: 20 });
    if (one.manyPrompts) expect((await call).choices).toHaveLength(1);
    else
      await expect(call).rejects.toMatchObject({
        status: 400,
        param: 'prompt',
        type: 'invalid_request_error',
      });
  });

  test('the prompt comes back when it is asked for', async () => {
    const whole = await client.completions.create({ model, prompt, echo: true, max_tokens: 400 });
    expect(whole.choices[0]?.text.startsWith(prompt)).toBe(true);
    let text = '';
    for await (const chunk of await client.completions.create({
      model,
      prompt,
      echo: true,
      max_tokens: 400,
      stream: true,
    }))
      text += chunk.choices[0]?.text ?? '';
    expect(text.startsWith(prompt)).toBe(true);
    expect(text.length).toBeGreaterThan(prompt.length);
  });

  test('a suffix goes to vendors that know what it is, and is a 400 elsewhere', async () => {
    const call = client.completions.create({
      model,
      prompt: 'def fib(n):',
      suffix: 'print(fib(10))',
      max_tokens: 20,
    });
    if (one.path === undefined)
      await expect(call).rejects.toMatchObject({ status: 400, param: 'suffix' });
    else {
      await call;
      expect(JSON.parse(sim.requests.at(-1)?.body.toString() ?? '')).toMatchObject({
        suffix: 'print(fib(10))',
      });
    }
  });
});

test('what a vendor does natively reaches it as it was written', async () => {
  const body =
    '{ "model":"vllm/Qwen3-8B", "prompt": "Say \\u00e9",  "max_tokens": 5, "n":2, "best_of":2, "min_p": 0.050, "user": "12345678901234567890" }';
  const headers = { authorization: `Bearer ${temporary.key}`, 'content-type': 'application/json' };
  const answer = await fetch(`${temporary.gateway.url}/v1/completions`, {
    method: 'POST',
    headers,
    body,
  });
  expect(answer.status).toBe(200);
  expect(sim.requests.at(-1)?.body.toString()).toBe(body.replace('vllm/Qwen3-8B', 'Qwen/Qwen3-8B'));
});

test('how likely each token was is told in the endpoint’s own shape', async () => {
  const [whole, stream] = await Promise.all([
    client.completions.create({ model: 'openai/gpt-4o-mini', prompt, logprobs: 2, max_tokens: 5 }),
    client.completions.create({
      model: 'openai/gpt-4o-mini',
      prompt,
      logprobs: 2,
      max_tokens: 5,
      stream: true,
    }),
  ]);
  const logprobs = whole.choices[0]?.logprobs;
  expect(logprobs?.tokens?.join('')).toBe(whole.choices[0]?.text);
  expect(logprobs?.text_offset?.[0]).toBe(prompt.length);
  expect(logprobs?.top_logprobs?.every((top) => Object.keys(top).length === 2)).toBe(true);
  expect(logprobs?.token_logprobs).toHaveLength(logprobs?.tokens?.length ?? -1);
  const offsets: number[] = [];
  for await (const { choices } of stream)
    offsets.push(...(choices[0]?.logprobs?.text_offset ?? []));
  expect(offsets).toEqual(logprobs?.text_offset);
});

test.each([
  [{ best_of: 3 }, 'best_of'],
  [{ max_tokens: 0 }, 'max_tokens'],
  [{ echo: true, logprobs: 1 }, 'logprobs'],
] as const)('%o cannot be said in chat, and says so', async (extra, param) => {
  const call = client.completions.create({ model: 'openai/gpt-4o-mini', prompt, ...extra });
  await expect(call).rejects.toBeInstanceOf(BadRequestError);
  await expect(call).rejects.toMatchObject({ param });
  expect(sim.requests).toEqual([]);
});

test('two answers are two choices', async () => {
  const answer = await client.completions.create({
    model: 'openai/gpt-4o-mini',
    prompt,
    n: 2,
    max_tokens: 30,
  });
  expect(answer.choices.map(({ index }) => index)).toEqual([0, 1]);
  const texts = new Map<number, string>();
  for await (const { choices } of await client.completions.create({
    model: 'openai/gpt-4o-mini',
    prompt,
    n: 2,
    max_tokens: 30,
    stream: true,
  }))
    for (const { index, text } of choices) texts.set(index, (texts.get(index) ?? '') + text);
  expect([...texts].sort(([a], [b]) => a - b).map(([, text]) => text)).toEqual(
    answer.choices.map(({ text }) => text),
  );
});

test('a model that nobody sells is a 404', async () => {
  await expect(client.completions.create({ model: 'nobody', prompt })).rejects.toBeInstanceOf(
    NotFoundError,
  );
});

test('every answer was charged once', () => temporary.expectBooks());
