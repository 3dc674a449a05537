import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startSim } from '../sim/index.ts';
import { loadBundled } from '../src/catalog/bundled.ts';
import { storedCatalog } from '../src/catalog/stored-catalog.ts';
import { importPricesCommand } from '../src/cli/prices.ts';
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
    expect.stringMatching(
      /^model house: anthropic\/claude-haiku-4-5 costs input 7, .* first deployment: input 1.05, /,
    ),
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

/** The configuration that a LiteLLM file becomes, and the report. */
async function converted(file: string) {
  const config = join(await folder(), 'litellm.yaml');
  await writeFile(config, file);
  const options = { rate: '7', json: true } as const;
  const told = JSON.parse(await printed(() => importLitellm(config, options, {})));
  const text = String(told.configuration);
  const read = await configurationFrom(text.replaceAll(/(?<!\$)\$\{[A-Z_]+\}/g, 'variable'));
  return { told, text, read, model: (id: string) => read.models.find((one) => one.id === id) };
}

test('a limit of requests is no limit of the model, and each other parameter is told', async () => {
  const prices = 'input_cost_per_token: 0.000001, output_cost_per_token: 0.000002';
  const { told, model } = await converted(`
model_list:
  - model_name: house
    litellm_params: { model: openai/house-1, api_key: k, max_tokens: 512, temperature: 0.2, ${prices} }
  - model_name: own
    litellm_params: { model: openai/own-1, api_key: k }
    model_info: { max_tokens: 4096, max_input_tokens: 32768, ${prices} }
  - model_name: gpt-5
    litellm_params: { model: openai/gpt-5, api_key: k, max_tokens: 100, ${prices} }
environment_variables: { OPENAI_API_KEY: sk-1 }
`);
  expect(model('house')).toMatchObject({ context: undefined, outputTokensMax: undefined });
  expect(model('own')).toMatchObject({ context: 32_768, outputTokensMax: 4_096 });
  expect(model('gpt-5')).toMatchObject({ context: 400_000, outputTokensMax: 128_000 });
  expect(told.notes).toEqual([
    'environment_variables are not taken: set them where Tollgate runs',
    'model house: not taken of its deployment: max_tokens, temperature',
    'model gpt-5: not taken of its deployment: max_tokens',
  ]);
});

test('deployments of one name keep their shares, and a second price is told', async () => {
  const { told, read } = await converted(`
model_list:
  - model_name: dup
    litellm_params: { model: openai/gpt-4o-mini, api_key: k1, input_cost_per_token: 0.00000015, output_cost_per_token: 0.0000006, weight: 0.9 }
  - model_name: dup
    litellm_params: { model: openai/gpt-4o, api_key: k2, input_cost_per_token: 0.0000025, output_cost_per_token: 0.00001, weight: 0.1 }
  - model_name: dup
    litellm_params: { model: openai/gpt-4o-mini, api_key: k3, input_cost_per_token: 0.00000015, output_cost_per_token: 0.0000006 }
`);
  expect(read.channels.map(({ weight }) => weight)).toEqual([9, 1, 10]);
  expect(told.notes).toEqual([
    'model dup: openai/gpt-4o costs input 17.5, output 70, and is sold at the price of the first deployment: input 1.05, output 4.2',
  ]);
});

test('a model with its own price or another name keeps the facts of the bundled list', async () => {
  const { model } = await converted(`
model_list:
  - model_name: gpt-5
    litellm_params: { model: openai/gpt-5, api_key: k }
    model_info: { input_cost_per_token: 0.000002, output_cost_per_token: 0.00001 }
  - { model_name: pic, litellm_params: { model: openai/gpt-image-1, api_key: k } }
  - { model_name: film, litellm_params: { model: openai/sora-2, api_key: k } }
  - model_name: az
    litellm_params: { model: azure/my-deployment, api_base: "https://x.openai.azure.com", api_key: k }
    model_info: { base_model: azure/gpt-4o }
`);
  const bundled = await loadBundled({ usdRatePpm: 7_000_000n, today: '2026-11-21' });
  for (const [id, as] of Object.entries({
    ...{ 'gpt-5': 'gpt-5', pic: 'gpt-image-1', film: 'sora-2', az: 'gpt-4o' },
  })) {
    const facts = bundled.get(as)?.facts;
    const price = id === 'gpt-5' ? model(id)?.price : facts?.price;
    expect(model(id), id).toEqual({ ...facts, id, price });
  }
});

test('a channel has the credentials of its deployment, or the report says that it has none', async () => {
  const { told, text, read } = await converted(`
model_list:
  - { model_name: gpt-4o, litellm_params: { model: openai/gpt-4o } }
  - model_name: claude-sonnet-4-5
    litellm_params: { model: bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0, aws_access_key_id: ASIA1, aws_secret_access_key: S, aws_session_token: TOK, aws_region_name: eu-west-1 }
  - model_name: gemini-2.5-pro
    litellm_params: { model: vertex_ai/gemini-2.5-pro, vertex_project: p, vertex_credentials: /path/sa.json }
  - { model_name: gpt-4.1, litellm_params: { model: azure/gpt-4.1, litellm_credential_name: house } }
  - { model_name: gpt-4.1-mini, litellm_params: { model: azure/gpt-4.1-mini, api_key: k } }
  - { model_name: gpt-4o-mini, litellm_params: { model: openai/gpt-4o-mini, api_base: "http://10.0.0.7/v1" } }
credential_list:
  - { credential_name: house, credential_values: { api_key: os.environ/HOUSE_KEY, api_base: "https://x.openai.azure.com" } }
`);
  expect(text).toContain('api_key: ${OPENAI_API_KEY}');
  expect(read.channels.map(({ vendor, baseUrl, secret }) => [vendor, baseUrl, secret])).toEqual([
    ['openai', undefined, 'variable'],
    ['bedrock', 'https://bedrock-runtime.eu-west-1.amazonaws.com', 'ASIA1:S:TOK'],
    ['vertex', undefined, undefined],
    ['azure', 'https://x.openai.azure.com', 'variable'],
    ['openai', 'http://10.0.0.7/v1', undefined],
  ]);
  expect(told.left_out).toEqual([
    {
      what: 'model gpt-4.1-mini',
      why: 'azure has no address that is the same for everyone: write its api_base, or its aws_region_name',
    },
  ]);
  expect(told.notes).toEqual([
    'model gpt-4o: it names no api_key: its channel reads OPENAI_API_KEY',
    'model gemini-2.5-pro: not taken of its deployment: vertex_project, vertex_credentials',
    'model gemini-2.5-pro: it names no api_key: its channel has none',
    'model gpt-4o-mini: it names no api_key: its channel has none',
  ]);
});

test('an address may stand in a variable, which is not set yet', async () => {
  const config = join(await folder(), 'litellm.yaml');
  await writeFile(
    config,
    `
model_list:
  - { model_name: gpt-4o, litellm_params: { model: azure/gpt-4o, api_base: os.environ/AZURE_API_BASE, api_key: os.environ/AZURE_API_KEY } }
  - model_name: claude-sonnet-4-5
    litellm_params: { model: bedrock/anthropic.claude-sonnet-4-5-20250929-v1:0, api_key: k, aws_region_name: os.environ/REGION }
`,
  );
  const options = { rate: '7', json: true } as const;
  const told = JSON.parse(await printed(() => importLitellm(config, options, {})));
  expect(told.configuration).toContain('base_url: ${AZURE_API_BASE}');
  expect(told.configuration).toContain('base_url: https://bedrock-runtime.${REGION}.amazonaws.com');
});

test('a key with the signs of a variable stays as it is', async () => {
  const { read } = await converted(`
model_list:
  - { model_name: gpt-4o, litellm_params: { model: openai/gpt-4o, api_key: "sk-\${A}" } }
`);
  expect(read.channels).toMatchObject([{ secret: 'sk-${A}' }]);
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
