import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startSim } from '../sim/index.ts';
import { storedCatalog } from '../src/catalog/stored-catalog.ts';
import { importPricesCommand } from '../src/cli/catalogue.ts';
import { importLitellm } from '../src/cli/import-litellm.ts';
import { forEachDatabase, sqliteUrl } from './databases.ts';
import { configurationFrom, startRunning } from './support/running.ts';

async function folder(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'tollgate-litellm-'));
  onTestFinished(() => rm(made, { recursive: true, force: true }));
  return made;
}

/** What a command prints. */
async function printed(command: () => Promise<void>): Promise<string> {
  const log = vi.spyOn(console, 'log').mockImplementation(() => undefined);
  const error = vi.spyOn(console, 'error').mockImplementation(() => undefined);
  try {
    await command();
    return log.mock.calls.flat().join('\n');
  } finally {
    log.mockRestore();
    error.mockRestore();
  }
}

const configuration = (vendor: string): string => `
model_list:
  - model_name: gpt-4o
    litellm_params: { model: openai/gpt-4o, api_base: "${vendor}/openai/v1", api_key: os.environ/OPENAI_KEY, rpm: 100 }
  - model_name: house
    litellm_params: { model: openai/gpt-4o-mini, api_base: "${vendor}/openai/v1", api_key: os.environ/OPENAI_KEY }
  - model_name: house
    litellm_params: { model: anthropic/claude-haiku-4-5, api_base: "${vendor}/anthropic", api_key: "lit\${eral", order: 2, weight: 3 }
  - model_name: own
    litellm_params: { model: hosted_vllm/qwen, api_base: "http://10.0.0.7:8000/v1" }
    model_info: { input_cost_per_token: 0.00000015, output_cost_per_token: 6e-7, max_input_tokens: 32768 }
  - model_name: listed
    litellm_params: { model: xai/grok-next, api_key: k }
  - { model_name: unknown, litellm_params: { model: xai/nobody-knows, api_key: k } }
  - { model_name: strange, litellm_params: { model: sagemaker/x } }
  - { model_name: "*", litellm_params: { model: "openai/*", api_key: os.environ/OPENAI_KEY } }
router_settings: { fallbacks: [{ gpt-4o: [house] }] }
general_settings: { master_key: sk-1234 }
`;

const list = JSON.stringify({
  sample_spec: { litellm_provider: 'one of', input_cost_per_token: 0 },
  'xai/grok-next': {
    litellm_provider: 'xai',
    mode: 'chat',
    input_cost_per_token: 2e-6,
    output_cost_per_token: 1e-5,
    max_input_tokens: 256_000,
  },
  'gpt-4o': {
    ...{
      litellm_provider: 'openai',
      mode: 'chat',
      input_cost_per_token: 2.5e-6,
      output_cost_per_token: 1e-5,
      cache_read_input_token_cost: 1.25e-6,
    },
    ...{
      input_cost_per_token_above_200k_tokens: 5e-6,
      output_cost_per_token_above_200k_tokens: 2e-5,
    },
  },
  'gpt-4o-mini': {
    litellm_provider: 'openai',
    mode: 'chat',
    input_cost_per_token: 0,
    output_cost_per_token: 0,
  },
});

async function files(vendor: string) {
  const place = await folder();
  const [config, prices, out] = ['litellm.yaml', 'prices.json', 'tollgate.yaml'].map((name) =>
    join(place, name),
  ) as [string, string, string];
  await writeFile(config, configuration(vendor));
  await writeFile(prices, list);
  return { config, prices, out };
}

test('a LiteLLM configuration becomes one of ours: channels, upstream models, prices at the rate, and what is not taken', async () => {
  const { config, prices, out } = await files('http://127.0.0.1:1');
  const options = { prices, out, rate: '7', json: true } as const;
  const told = JSON.parse(await printed(() => importLitellm(config, options, {})));
  expect(told.left_out.map((one: { what: string }) => one.what)).toEqual([
    'model unknown',
    'model strange',
    'model *',
  ]);
  expect(told.notes).toEqual([
    expect.stringContaining('fallbacks'),
    expect.stringContaining('virtual keys'),
    expect.stringContaining('rpm of a deployment is not taken'),
  ]);
  expect((await stat(out)).mode & 0o777).toBe(0o600);
  const text = await readFile(out, 'utf8');
  expect(text).toContain('api_key: ${OPENAI_KEY}');
  const read = await configurationFrom(text.replaceAll('${OPENAI_KEY}', 'up-key'));
  expect(
    read.channels.map(({ name, vendor, baseUrl, secret, priority, weight, models }) => [
      name,
      vendor,
      baseUrl,
      secret,
      priority,
      weight,
      [...models],
    ]),
  ).toEqual([
    [
      'openai',
      'openai',
      'http://127.0.0.1:1/openai/v1',
      'up-key',
      0,
      1,
      [
        ['gpt-4o', 'gpt-4o'],
        ['house', 'gpt-4o-mini'],
      ],
    ],
    [
      'anthropic',
      'anthropic',
      'http://127.0.0.1:1/anthropic/v1',
      'lit${eral',
      2,
      3,
      [['house', 'claude-haiku-4-5']],
    ],
    ['vllm', 'vllm', 'http://10.0.0.7:8000/v1', undefined, 0, 1, [['own', 'qwen']]],
    ['xai', 'xai', undefined, 'k', 0, 1, [['listed', 'grok-next']]],
  ]);
  const model = (id: string) => read.models.find((one) => one.id === id);
  expect(model('own')).toMatchObject({
    context: 32_768,
    price: { rates: { input: 1_050_000_000n, output: 4_200_000_000n } },
  });
  expect(model('listed')).toMatchObject({
    context: 256_000,
    price: { rates: { input: 14_000_000_000n, output: 70_000_000_000n } },
  });
  expect(model('house')?.price.rates.input).toBeGreaterThan(0n);
  await expect(importLitellm(config, options, {})).rejects.toThrow(/already exists/);
});

test('what came of it answers', async () => {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const { config, out } = await files(sim.url);
  await printed(() => importLitellm(config, { out }, {}));
  const text = (await readFile(out, 'utf8')).replaceAll('${OPENAI_KEY}', 'up-key');
  const running = await startRunning({ databaseUrl: await sqliteUrl(), configuration: text });
  const response = await running.post('/v1/chat/completions', {
    model: 'house',
    messages: [{ role: 'user', content: 'Hello' }],
    max_tokens: 20,
  });
  expect(response.status).toBe(200);
  await running.expectBooks();
});

forEachDatabase((_name, _openFresh, fresh) => {
  test("LiteLLM's list of prices changes what is sold, at the rate, and makes nothing free", async () => {
    const databaseUrl = (await fresh()).url;
    const sold = (id: string) => `  - { id: ${id}, kind: chat, price: { input: 1, output: 2 } }`;
    const channel =
      '  - { name: a, vendor: openai, api_key: k, models: [gpt-4o, gpt-4o-mini, house] }';
    const running = await startRunning({
      databaseUrl,
      configuration: [
        'models:',
        ...['gpt-4o', 'gpt-4o-mini', 'house'].map(sold),
        'channels:',
        channel,
      ].join('\n'),
    });
    const { prices } = await files('http://127.0.0.1:1');
    const env = { DATABASE_URL: databaseUrl, TOLLGATE_USD_RATE: '7' };
    const told = JSON.parse(await printed(() => importPricesCommand(prices, { json: true }, env)));
    expect(told).toMatchObject({
      applied: true,
      changed: [{ id: 'gpt-4o' }],
      refused: [],
      without: ['gpt-4o-mini', 'house'],
    });
    const { models } = await storedCatalog(running.gateway.database);
    expect(models.find(({ id }) => id === 'gpt-4o')?.price).toEqual({
      rates: { input: 17_500_000_000n, cached_input: 8_750_000_000n, output: 70_000_000_000n },
      tiers: [
        { aboveInputTokens: 200_000, rates: { input: 35_000_000_000n, output: 140_000_000_000n } },
      ],
      by: undefined,
    });
    expect(models.find(({ id }) => id === 'gpt-4o-mini')?.price.rates.input).toBe(1_000_000_000n);
    expect(
      JSON.parse(await printed(() => importPricesCommand(prices, { json: true }, env))),
    ).toMatchObject({ applied: false, changed: [] });
  });
});
