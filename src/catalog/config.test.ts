import { describe, expect, it } from 'vitest';
import { readConfiguration } from './config.ts';
import type { ConfigurationContext } from './configuration.ts';
import { describeProblems } from './problem.ts';

const context: ConfigurationContext = {
  env: { KEY: 'secret', ZERO: '0' },
  vendors: [
    { id: 'acme', ownedBy: 'acme-labs', baseUrl: 'https://acme.test/v1' },
    { id: 'local', ownedBy: 'nobody' },
    { id: 'anthropic', ownedBy: 'anthropic', baseUrl: 'https://anthropic.test/v1' },
  ],
  serves: () => true,
  now: Date.UTC(2026, 10, 21),
};

async function read(text: string, changed: Partial<ConfigurationContext> = {}) {
  const result = await readConfiguration(text, { ...context, ...changed });
  if (!result.ok) throw new Error(describeProblems('c.yaml', result.problems));
  return result.configuration;
}

async function problems(text: string, changed: Partial<ConfigurationContext> = {}) {
  const result = await readConfiguration(text, { ...context, ...changed });
  return result.ok ? [] : describeProblems('c.yaml', result.problems).split('\n');
}

const model = (price: string, more = '') =>
  `models:\n  - { id: m, owned_by: o, ${more} price: ${price} }\n`;
const priceOf = async (price: string, more = '') =>
  (await read(model(price, more))).models[0]?.price;

describe('readConfiguration', () => {
  it('fills in what is left out', async () => {
    const { groups, models, channels, warnings } = await read(`
groups: [{ name: default }]
models: [{ id: m/1, price: { input: 1, output: 2 } }]
channels: [{ name: a, vendor: acme, models: [m/1] }]`);
    expect(groups).toEqual([{ name: 'default', multiplierPpm: 1_000_000n, limits: {} }]);
    expect(models).toMatchObject([
      { id: 'm/1', ownedBy: 'acme-labs', kind: 'chat', context: undefined, modalities: undefined },
    ]);
    expect(channels).toEqual([
      {
        name: 'a',
        vendor: 'acme',
        baseUrl: undefined,
        secret: undefined,
        groups: ['default'],
        priority: 0,
        weight: 1,
        models: new Map([['m/1', 'm/1']]),
      },
    ]);
    expect(warnings).toEqual([]);
    expect((await read('')).groups.map((group) => group.name)).toEqual(['default']);
  });

  it('warns of a file that sells nothing', async () => {
    expect((await read('')).warnings).toEqual([
      'nothing can be asked for: there are no models and no channels',
    ]);
    expect((await read(model('{ input: 1, output: 1 }'))).warnings).toEqual([
      'nothing can be asked for: there are no channels',
    ]);
    expect((await read('channels: [{ name: a, vendor: acme, models: [] }]')).warnings).toEqual([
      'channel a: it has no models',
    ]);
  });

  it('warns of models with a price that no channel sells', async () => {
    const withModels = async (ids: readonly string[]) => {
      const models = ids.map((id) => `{ id: ${id}, price: { input: 1, output: 1 } }`).join();
      const channels = '[{ name: a, vendor: acme, models: [sold] }]';
      return (await read(`models: [${models}]\nchannels: ${channels}\n`)).warnings;
    };
    expect(await withModels(['sold'])).toEqual([]);
    expect(await withModels(['sold', 'mine'])).toEqual([
      'mine: no channel sells it; add its id to `models` of a channel',
    ]);
    expect(await withModels(['sold', 'mine', 'yours'])).toEqual([
      'mine, yours: no channel sells them; add their ids to `models` of a channel',
    ]);
  });

  it('takes of the media settings what is written, and hosts, addresses and networks alone', async () => {
    expect((await read('')).media).toEqual({});
    const written = await read(
      'settings: { media: { urls: 0, file_bytes: 5, total_ms: 7, allow_private: [files.internal, "::1", 10.0.0.0/8] } }',
    );
    expect(written.media).toEqual({
      urlsMax: 0,
      fileBytesMax: 5,
      totalMs: 7,
      allowPrivate: ['files.internal', '::1', '10.0.0.0/8'],
    });
    const kept = await read(
      'settings: { media: { kept_files: 1, kept_bytes: 2, kept_file_bytes: 3, kept_seconds: 4 } }',
    );
    expect(kept.media).toEqual({
      kept: { filesMax: 1, bytesMax: 2, fileBytesMax: 3, keptMs: 4_000 },
    });
    expect(
      await problems(
        'settings: { media: { idle_ms: 0, allow_private: [10.0.0.0/33, "http://files"] } }',
      ),
    ).toEqual([
      "c.yaml:1: settings.media.idle_ms: must be a whole number of 1 or more, not '0'",
      "c.yaml:1: settings.media.allow_private[0]: must be a host, an address or a network such as 10.0.0.0/8, not '10.0.0.0/33'",
      "c.yaml:1: settings.media.allow_private[1]: must be a host, an address or a network such as 10.0.0.0/8, not 'http://files'",
    ]);
  });

  it('reads every member', async () => {
    const { groups, models, channels } = await read(`
groups:
  - { name: cheap, price_multiplier: 0.85, limits: { rpm: 600, tpm: 1000000, concurrency: 64 } }
models:
  - id: film
    owned_by: studio
    kind: video
    context: 1000
    max_output: 50
    modalities: { in: [text, image], out: [video] }
    durations: [5, 10]
    top_speed: 90
    shutdown_date: 2027-01-31
    price: { second: 0.7, by: { 720p: 0.7, 1080p: 1.2 } }
channels:
  - name: one
    vendor: local
    base_url: http://127.0.0.1:8000/v1
    api_key: \${KEY}
    groups: [cheap]
    models: [{ id: film, upstream: film-2 }]
    priority: 3
    weight: 0`);
    expect(groups).toEqual([
      {
        name: 'cheap',
        multiplierPpm: 850_000n,
        limits: { rpm: 600, tpm: 1_000_000, concurrency: 64 },
      },
    ]);
    expect(models).toEqual([
      {
        id: 'film',
        ownedBy: 'studio',
        kind: 'video',
        context: 1000,
        outputTokensMax: 50,
        modalities: { in: ['text', 'image'], out: ['video'] },
        topSpeed: 90,
        durations: [5, 10],
        shutdownDate: '2027-01-31',
        price: {
          rates: { second: 700_000_000_000_000n },
          tiers: [],
          by: {
            measure: 'second',
            rates: { '720p': 700_000_000_000_000n, '1080p': 1_200_000_000_000_000n },
          },
        },
      },
    ]);
    expect(channels).toEqual([
      {
        name: 'one',
        vendor: 'local',
        baseUrl: 'http://127.0.0.1:8000/v1',
        secret: 'secret',
        groups: ['cheap'],
        priority: 3,
        weight: 0,
        models: new Map([['film', 'film-2']]),
      },
    ]);
  });

  it('takes several keys, what a vendor takes, and a policy', async () => {
    const { groups, channels } = await read(`
groups: [{ name: default, policy: cost }]
models: [{ id: m, owned_by: o, price: { input: 1, output: 2 } }]
channels: [{ name: a, vendor: acme, api_keys: [one, two, one, \${KEY}], models: [m], costs: { m: { input: 0.5, output: 1 } } }]`);
    expect(groups).toMatchObject([{ policy: 'cost' }]);
    const ended = await read(`
models: [{ id: m, owned_by: o, price: { input: 1, output: 2 } }]
channels:
  - { name: a, vendor: acme, api_key: "sk-1\\n", models: [m] }
  - { name: b, vendor: acme, api_key: "{\\n}", models: [m] }`);
    expect(ended.channels).toMatchObject([{ secret: 'sk-1' }, { secret: '{\n}' }]);
    expect(channels).toMatchObject([{ secret: 'one', moreSecrets: ['two', 'secret'] }]);
    expect(channels[0]?.costs?.get('m')?.rates).toEqual({
      input: 500_000_000n,
      output: 1_000_000_000n,
    });
  });

  it('R3: reads of a channel that its vendor bills cancelled input, and tells what is wrong with it', async () => {
    const written = (value: string) => `
models: [{ id: m, owned_by: o, price: { input: 1, output: 2 } }]
channels:
  - { name: a, vendor: acme, models: [m], bills_cancelled_input: ${value} }
  - { name: b, vendor: acme, models: [m] }`;
    expect(
      (await read(written('true'))).channels.map(({ billsCancelledInput }) => billsCancelledInput),
    ).toEqual([true, undefined]);
    expect((await read(written('false'))).channels[0]?.billsCancelledInput).toBeUndefined();
    expect(await problems(written('sometimes'))).toEqual([
      "c.yaml:4: channels[0].bills_cancelled_input: must be true or false, not 'sometimes'",
    ]);
  });

  it('tells that the id of a model in a channel is no text', async () => {
    const written = 'channels: [{ name: a, vendor: acme, models: [{ id: {} }] }]';
    expect(await problems(written)).toContain(
      'c.yaml:1: channels[0].models[0].id: must be text, not a group of members',
    );
  });

  it('tells fallbacks that no channel sells, and usual pictures that nobody may ask for', async () => {
    const sold = `
models: [{ id: m, owned_by: o, price: { input: 1, output: 2 } }]
channels: [{ name: a, vendor: acme, models: [m] }]`;
    const { warnings } = await read(`${sold}
groups: [{ name: default, fallback_models: [m, m2] }, { name: b, fallback_models: [m] }]`);
    expect(warnings).toEqual(['group default: no channel sells m2 of its fallback_models']);
    const image = (written: string) =>
      problems(`models: [{ id: p, kind: image, price: { image: 1 }, image: ${written} }]`);
    expect(
      await image('{ sizes: [64x64], usual: { size: 46x64, quality: hihg }, qualities: [hd] }'),
    ).toEqual([
      "c.yaml:1: models[0].image.usual.size: must be one of 64x64, not '46x64'",
      "c.yaml:1: models[0].image.usual.quality: must be one of hd, not 'hihg'",
    ]);
    expect(await image('{ usual: { quality: hihg } }')).toEqual([
      expect.stringContaining(
        "usual.quality: must be one of standard, hd, low, medium, high, auto, not 'hihg'",
      ),
    ]);
    for (const right of [
      '{ usual: { size: 46x64, quality: hd } }',
      '{ sizes: [1x1], any_size: { step: 2 }, usual: { size: 2x2 } }',
    ])
      expect(await image(right), right).toEqual([]);
  });

  it('refuses a key that no header can carry', async () => {
    const written = `
models: [{ id: m, owned_by: o, price: { input: 1, output: 2 } }]
channels: [{ name: a, vendor: acme, api_key: "sk-\\nx", models: [m] }]`;
    expect(await problems(written)).toEqual(['c.yaml:3: channels[0].api_key: must be one line']);
  });

  it('tells what is wrong with keys, costs and policies', async () => {
    const lines = await problems(`
groups: [{ name: default, policy: fastest }]
models: [{ id: m, owned_by: o, price: { input: 1, output: 2 } }]
channels:
  - { name: a, vendor: acme, api_key: one, api_keys: [two], models: [m], costs: { n: { input: 1, output: 1 } } }
  - { name: b, vendor: acme, api_keys: [], models: [m], costs: { m: { input: 1 } } }`);
    expect(lines.slice(0, 5)).toEqual([
      "c.yaml:2: groups[0].policy: must be one of weighted, latency, cost, sticky, not 'fastest'",
      'c.yaml:5: channels[0].api_keys: stands beside api_key: write all keys here',
      'c.yaml:5: channels[0].costs.n: is not a model of this channel',
      'c.yaml:6: channels[1].api_keys: must not be empty',
      'c.yaml:6: channels[1].costs.m: a chat model needs a price for input and output, or request (0 where it is free)',
    ]);
  });

  it('tells everything that is wrong at once, each with its line and the nearest right name', async () => {
    expect(
      await problems(`setings: {}
groups:
  - { name: default, price_multiplyer: 2, limits: { rpm: -1, tpm: lots } }
  - { name: default }
models:
  - { id: m, kind: chatt, price: { inptu: 1, output: 1 } }
  - id: n
  - { id: k, price: { input: 0.0000000001, output: 1 } }
channels:
  - name: a
    vendor: acmee
    base_url: nowhere
    api_key: \${NOPE}
    groups: [defualt]
    models: [m, { id: nn, upstraem: x }, mm]
  - { name: b, vendor: local, models: [m, m] }
  - { name: "c\\nd", vendor: acme, base_url: "https://ann:pw@host/v1", models: [m] }
  - just text`),
    ).toEqual([
      "c.yaml:1: setings: unknown member 'setings', did you mean 'settings'?",
      "c.yaml:3: groups[0].limits.rpm: must be a whole number of 1 or more, not '-1'",
      "c.yaml:3: groups[0].limits.tpm: must be a whole number of 1 or more, not 'lots'",
      "c.yaml:3: groups[0].price_multiplyer: unknown member 'price_multiplyer', did you mean 'price_multiplier'?",
      "c.yaml:4: groups[1].name: 'default' is already in line 3",
      "c.yaml:6: models[0].kind: must be one of chat, completion, embedding, image, transcription, speech, rerank, moderation, video, not 'chatt', did you mean 'chat'?",
      "c.yaml:6: models[0].price.inptu: unknown member 'inptu', did you mean 'input'?",
      'c.yaml:7: models[1].price: is required',
      'c.yaml:8: models[2].price.input: must have at most 9 decimals, but is 0.0000000001',
      "c.yaml:11: channels[0].vendor: there is no vendor 'acmee', did you mean 'acme'?",
      "c.yaml:12: channels[0].base_url: must be an address such as https://host/v1, without ? and #, not 'nowhere'",
      'c.yaml:13: channels[0].api_key: the environment variable NOPE is not set',
      "c.yaml:14: channels[0].groups[0]: there is no group 'defualt', did you mean 'default'?",
      "c.yaml:15: channels[0].models[1].upstraem: unknown member 'upstraem', did you mean 'upstream'?",
      "c.yaml:15: channels[0].models[1]: there is no model 'nn', neither in this file nor in the bundled list, did you mean 'n'?",
      "c.yaml:15: channels[0].models[2]: there is no model 'mm', neither in this file nor in the bundled list, did you mean 'm'?",
      'c.yaml:16: channels[1].base_url: is required: local has no address that is the same for everyone',
      "c.yaml:16: channels[1].models[1]: 'm' is already in this channel",
      'c.yaml:17: channels[2].name: must be one line of 1 to 100 characters',
      'c.yaml:17: channels[2].base_url: must not have a name and a password in it: they would be shown, and sent nowhere. Write api_key',
      "c.yaml:18: channels[3]: must be a group of members, not 'just text'",
    ]);
  });

  it('refuses what is no YAML, no map and no list where one belongs', async () => {
    expect(await problems('a: [')).toHaveLength(1);
    expect(await problems('- a')).toEqual(['c.yaml:1: must be a group of members, not a list']);
    expect(await problems('groups: 5\nmodels: { id: m }')).toEqual([
      "c.yaml:1: groups: must be a list, not '5'",
      'c.yaml:2: models: must be a list, not a group of members',
    ]);
  });
});

describe('prices', () => {
  it('are exact, whether written as numbers or as text', async () => {
    expect(
      await priceOf(
        '{ input: 0.1, cached_input: "0.000000001", output: 1e-3, request: 0.000000000000001 }',
      ),
    ).toEqual({
      rates: { input: 100_000_000n, cached_input: 1n, output: 1_000_000n, request: 1n },
      tiers: [],
      by: undefined,
    });
  });

  it('set both retentions by cache_write, unless one has its own', async () => {
    expect((await priceOf('{ input: 1, output: 1, cache_write: 2 }'))?.rates).toMatchObject({
      cache_write_5m: 2_000_000_000n,
      cache_write_1h: 2_000_000_000n,
    });
    expect(
      (await priceOf('{ input: 1, output: 1, cache_write: 2, cache_write_1h: 3 }'))?.rates,
    ).toMatchObject({
      cache_write_5m: 2_000_000_000n,
      cache_write_1h: 3_000_000_000n,
    });
  });

  it('have tiers that ascend', async () => {
    expect(
      (
        await priceOf(
          '{ input: 1, output: 1, tiers: [{ above_input_tokens: 32000, input: 2, cache_write: 3 }] }',
        )
      )?.tiers,
    ).toEqual([
      {
        aboveInputTokens: 32_000,
        rates: {
          input: 2_000_000_000n,
          cache_write_5m: 3_000_000_000n,
          cache_write_1h: 3_000_000_000n,
        },
      },
    ]);
    expect(
      await problems(
        model(
          '{ input: 1, output: 1, tiers: [{ above_input_tokens: 9 }, { above_input_tokens: 9 }] }',
        ),
      ),
    ).toEqual([
      'c.yaml:2: models[0].price.tiers[1].above_input_tokens: must be more than in the tier before it (9)',
    ]);
  });

  it('vary by variant in what the model is sold by', async () => {
    expect(
      (await priceOf('{ image: 0.3, by: { 1024x1024/hd: 0.6 } }', 'kind: image,'))?.by,
    ).toEqual({
      measure: 'image',
      rates: { '1024x1024/hd': 600_000_000_000_000n },
    });
    expect((await priceOf('{ by: { 720p: 2 } }', 'kind: video,'))?.by?.measure).toBe('second');
    expect((await priceOf('{ output: 1, by: { 720p: 2 } }', 'kind: video,'))?.by).toEqual({
      measure: 'output',
      rates: { '720p': 2_000_000_000n },
    });
    expect(await problems(model('{ image: 1, by: { hd: cheap } }', 'kind: image,'))).toEqual([
      "c.yaml:2: models[0].price.by.hd: must be a decimal number, not 'cheap'",
    ]);
  });

  it('vary only by sizes and qualities that a request can name', async () => {
    const of = (by: string, more = '') =>
      problems(model(`{ image: 1, by: { ${by} } }`, `kind: image, ${more}`));
    expect(await of('1024x1024/hdd: 2, hihg: 3')).toEqual([
      "c.yaml:2: models[0].price.by.1024x1024/hdd: must be one of standard, medium, hd, high, low, auto, not 'hdd', did you mean 'hd'?",
      "c.yaml:2: models[0].price.by.hihg: must be one of standard, medium, hd, high, low, auto, not 'hihg', did you mean 'high'?",
    ]);
    expect(await of('1024x1024: 1, 2K/low: 2, hd: 3')).toEqual([]);
    expect(await of('1024x1024/ultra: 2', 'image: { qualities: [plain, ultra] },')).toEqual([]);
    expect(await of('1024x1024/hd: 2', 'image: { qualities: [plain, ultra] },')).toHaveLength(1);
    const sizes = 'sizes: [auto, 1024x1024, 512x512]';
    expect(await of('1024x1024/hd: 2, 512x512: 1, 2K: 3', `image: { ${sizes} },`)).toEqual([]);
    expect(await of('1024x1042: 2', `image: { ${sizes} },`)).toEqual([
      "c.yaml:2: models[0].price.by.1024x1042: must be one of auto, 1024x1024, 512x512, not '1024x1042', did you mean '1024x1024'?",
    ]);
    expect(await of('1024x1042: 2', `image: { ${sizes}, any_size: { ratio: 3 } },`)).toEqual([]);
  });

  it('are never left out, and 0 only when it is written', async () => {
    expect(await problems(model(''))).toEqual(['c.yaml:2: models[0].price: is required']);
    expect(await problems(model('{}'))).toEqual([
      'c.yaml:2: models[0].price: a chat model needs a price for input and output, or request (0 where it is free)',
    ]);
    expect(await problems(model('{ output: 1 }'))).toHaveLength(1);
    expect(await problems(model('{ input: 1, output: 1 }', 'kind: video,'))).toEqual([]);
    expect(await problems(model('{ input: 1 }', 'kind: video,'))).toHaveLength(1);
    expect(await problems(model('{ input: -1, output: 1 }'))).toEqual([
      'c.yaml:2: models[0].price.input: must not be negative, but is -1',
    ]);
    expect((await priceOf('{ input: 0, output: ${ZERO} }'))?.rates).toEqual({
      input: 0n,
      output: 0n,
    });
  });

  it('take multipliers of at most six decimals', async () => {
    const group = (multiplier: string) =>
      `groups: [{ name: default, price_multiplier: ${multiplier} }]`;
    expect((await read(group('"1.234567"'))).groups[0]?.multiplierPpm).toBe(1_234_567n);
    expect((await read(group('0'))).groups[0]?.multiplierPpm).toBe(0n);
    expect(await problems(group('0.1234567'))).toEqual([
      'c.yaml:1: groups[0].price_multiplier: must have at most 6 decimals, but is 0.1234567',
    ]);
  });
});

describe('the bundled list in a configuration file', () => {
  const channel = 'channels: [{ name: a, vendor: anthropic, models: [claude-haiku-5-5] }]';

  it('describes what the file does not, at the configured rate', async () => {
    const { models } = await read(`settings: { usd_rate: 7 }\n${channel}`);
    expect(models).toMatchObject([
      {
        id: 'claude-haiku-5-5',
        ownedBy: 'anthropic',
        price: { rates: { input: 700_000_000n, output: 3_500_000_000n } },
      },
    ]);
    expect(
      (await read(channel, { env: { TOLLGATE_USD_RATE: '8' } })).models[0]?.price.rates.input,
    ).toBe(800_000_000n);
    expect((await read(channel)).models[0]?.price.rates.input).toBe(720_000_000n);
    expect(await problems(`settings: { usd_rate: 0 }`)).toEqual([
      'c.yaml:1: settings.usd_rate: must be more than 0',
    ]);
    expect(await problems(channel, { env: { TOLLGATE_USD_RATE: 'x' } })).toEqual([
      "TOLLGATE_USD_RATE: must be a decimal number, not 'x'",
    ]);
  });

  it('gives way to what the file says of the same model', async () => {
    const { models } = await read(
      `models: [{ id: claude-haiku-5-5, price: { input: 1, output: 1 } }]\n${channel}`,
    );
    expect(models).toMatchObject([
      {
        id: 'claude-haiku-5-5',
        ownedBy: 'anthropic',
        context: undefined,
        price: { rates: { input: 1_000_000_000n } },
      },
    ]);
    expect(models).toHaveLength(1);
  });

  it('is what a channel sells that names no models', async () => {
    const { channels, models } = await read('channels: [{ name: a, vendor: anthropic }]');
    expect(channels[0]?.models.get('claude-haiku-4-5')).toBe('claude-haiku-4-5-20251001');
    expect(channels[0]?.models.has('claude-opus-4-1')).toBe(false); // retired by its vendor
    expect(models.map((each) => each.id)).toEqual([...(channels[0]?.models.keys() ?? [])]);
    expect(await problems('channels: [{ name: a, vendor: acme }]')).toEqual([
      'c.yaml:1: channels[0].models: is required: the bundled list has no models of acme',
    ]);
  });

  it('replaces ids that no vendor sells any more, where a channel names no models', async () => {
    const vendors = [
      ...context.vendors,
      { id: 'openai', ownedBy: 'openai', baseUrl: 'https://openai.test' },
    ];
    const sold = async (text: string) =>
      (await read(text, { vendors })).channels.map(({ models }) => models.get('dall-e-2'));
    const open = '{ name: a, vendor: openai }';
    expect(await sold(`channels: [${open}]`)).toEqual(['gpt-image-2.6-flare']);
    expect(await sold('channels: [{ name: a, vendor: openai, models: [gpt-6-sol] }]')).toEqual([
      undefined,
    ]);
    const own = '{ name: b, vendor: acme, models: [dall-e-2] }';
    expect(await sold(`channels: [${open}, ${own}]`)).toEqual([undefined, 'dall-e-2']);
  });

  it('warns of prices that nobody vouches for and of kinds that are not served', async () => {
    const { warnings } = await read(
      'channels: [{ name: a, vendor: acme, models: [speech-2.6-hd] }]',
      {
        serves: (_, kind) => kind === 'chat',
      },
    );
    expect(warnings).toHaveLength(2);
    expect(warnings.join()).toContain('speech-2.6-hd');
  });

  it('warns of the price of an old id only where the file names it', async () => {
    const vendors = [
      ...context.vendors,
      { id: 'deepseek', ownedBy: 'deepseek', baseUrl: 'https://deepseek.test' },
    ];
    const old = 'gpt-3.5-turbo-instruct';
    const warned = async (models: string) => {
      const text = `channels: [{ name: a, vendor: deepseek${models} }]`;
      const { channels, warnings } = await read(text, { vendors });
      expect(channels[0]?.models.get(old)).toBe('deepseek-flash');
      return warnings;
    };
    expect(await warned('')).toEqual([]);
    expect(await warned(`, models: [{ id: ${old}, upstream: deepseek-flash }]`)).toEqual([
      expect.stringContaining(`The bundled price of ${old} does not come from`),
    ]);
  });
});

it('refuses public models of a group that is not there', async () => {
  expect(await problems('settings: { public_models: defualt }\n')).toEqual([
    expect.stringContaining("there is no group 'defualt'"),
  ]);
  expect((await read('settings: { public_models: default }\n')).publicModels).toBe('default');
});
