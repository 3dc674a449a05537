import { describe, expect, it } from 'vitest';
import { defaultUsdRatePpm, loadBundled } from './bundled.ts';
import type { ConfigurationContext } from './configuration.ts';
import { environmentConfiguration } from './environment.ts';

const vendors: ConfigurationContext['vendors'] = [
  {
    id: 'openai',
    ownedBy: 'openai',
    baseUrl: 'https://openai.test/v1',
    env: { apiKey: 'OPENAI_API_KEY', baseUrl: 'OPENAI_BASE_URL' },
  },
  {
    id: 'deepseek',
    ownedBy: 'deepseek',
    baseUrl: 'https://deepseek.test',
    env: { apiKey: 'DEEPSEEK_API_KEY' },
  },
  { id: 'own', ownedBy: 'own', env: { apiKey: 'OWN_KEY', baseUrl: 'OWN_URL' } },
  { id: 'mute', ownedBy: 'mute' },
];

async function configure(env: Record<string, string>, changed: Partial<ConfigurationContext> = {}) {
  const context = {
    env,
    vendors,
    serves: (_: string, kind: string) => kind === 'chat',
    now: Date.UTC(2026, 10, 21),
    ...changed,
  };
  const result = await environmentConfiguration(context);
  if (!result.ok)
    throw new Error(result.problems.map(({ path, message }) => `${path} ${message}`).join());
  return result.configuration;
}

describe('environmentConfiguration', () => {
  it('makes no channels without keys', async () => {
    expect(await configure({ DEEPSEEK_API_KEY: '' })).toMatchObject({
      groups: [{ name: 'default' }],
      models: [],
      channels: [],
      warnings: [],
    });
  });

  it('takes no client of this gateway for a vendor', async () => {
    const env = { OPENAI_API_KEY: 'a', OPENAI_BASE_URL: 'http://127.0.0.1:8080/v1' };
    const own = await configure(env, { ownPort: 8_080 });
    expect([own.channels, own.warnings]).toEqual([
      [],
      [expect.stringContaining('OPENAI_API_KEY holds a key of this gateway')],
    ]);
    const other = await configure(env, { ownPort: 9_000 });
    expect(other.channels.map(({ name }) => name)).toEqual(['openai']);
    const short = { ...env, OPENAI_BASE_URL: 'http://localhost/v1' };
    expect((await configure(short, { ownPort: 80 })).channels).toEqual([]);
    const same = { ...env, TOLLGATE_API_KEY: 'a' };
    expect((await configure(same, { ownPort: 9_000 })).channels).toEqual([]);
    const unset = { ...env, OPENAI_API_KEY: '' };
    expect(await configure(unset, { ownPort: 8_080 })).toMatchObject({
      channels: [],
      warnings: [],
    });
  });

  it('makes a channel for each key, with the models that the vendor sells and can be asked for', async () => {
    const { channels, models } = await configure({
      OPENAI_API_KEY: 'a',
      OPENAI_BASE_URL: 'http://127.0.0.1:9/v1',
      DEEPSEEK_API_KEY: 'b',
    });
    expect(channels).toMatchObject([
      {
        name: 'openai',
        vendor: 'openai',
        baseUrl: 'http://127.0.0.1:9/v1',
        secret: 'a',
        groups: ['default'],
        priority: 0,
        weight: 1,
      },
      { name: 'deepseek', vendor: 'deepseek', baseUrl: undefined, secret: 'b' },
    ]);
    expect(channels[1]?.models).toEqual(
      new Map([
        ['deepseek-chat', 'deepseek-flash'], // an old name of what is still sold
        ['deepseek-flash', 'deepseek-flash'],
        ['deepseek-reasoner', 'deepseek-flash'],
        ['deepseek-v4-flash', 'deepseek-flash'],
        ['deepseek-v4-pro', 'deepseek-v4-pro'],
      ]),
    );
    expect(models.every((model) => model.kind === 'chat')).toBe(true);
    expect(models.map((model) => model.id)).not.toContain('gpt-4'); // retired by its vendor
    expect(models.find((model) => model.id === 'gpt-6-sol')?.price.rates).toMatchObject({
      input: 14_400_000_000n,
      output: 72_000_000_000n,
    });
  });

  it('leaves out what was shut down by today', async () => {
    const ids = async (now: number) =>
      (await configure({ OPENAI_API_KEY: 'a' }, { now })).models.map((model) => model.id);
    expect(await ids(Date.UTC(2026, 10, 21))).toContain('o3');
    expect(await ids(Date.UTC(2026, 11, 12))).not.toContain('o3');
  });

  it('lets the best stand-in that there is sell what no vendor sells any more', async () => {
    const { channels, warnings } = await configure(
      { DEEPSEEK_API_KEY: 'b' },
      { serves: () => true },
    );
    expect(channels[0]?.models.get('gpt-3.5-turbo-instruct')).toBe('deepseek-flash');
    expect(warnings).toEqual([]);
    const both = await configure(
      { OPENAI_API_KEY: 'a', DEEPSEEK_API_KEY: 'b' },
      { serves: () => true },
    );
    expect(both.channels.map((channel) => channel.models.get('gpt-3.5-turbo-instruct'))).toEqual([
      'gpt-6-luna',
      undefined,
    ]);
  });

  it('makes no channel that would have nothing to sell, and says so', async () => {
    expect(await configure({ OWN_KEY: 'x', OWN_URL: 'http://own.test' })).toMatchObject({
      channels: [],
      warnings: [
        'the bundled list has no models of own: name them in a configuration file',
        'nothing can be asked for: there are no models and no channels',
      ],
    });
  });

  it('reads keys and addresses by the rules of the file', async () => {
    const { channels } = await configure({ OPENAI_API_KEY: 'sk-abc\n', DEEPSEEK_API_KEY: ' \n' });
    expect(channels.map(({ name, secret }) => [name, secret])).toEqual([['openai', 'sk-abc']]);
    await expect(configure({ OPENAI_API_KEY: 'sk-\nabc' })).rejects.toThrow(
      'OPENAI_API_KEY must be one line',
    );
    for (const [address, why] of [
      ['nourl', 'must be an address such as https://host/v1'],
      ['https://user:password@host/v1', 'must not have a name and a password in it'],
    ] as const) {
      const env = { OPENAI_API_KEY: 'a', OPENAI_BASE_URL: address };
      await expect(configure(env)).rejects.toThrow(`OPENAI_BASE_URL ${why}`);
    }
    expect(await configure({ OPENAI_BASE_URL: 'nourl' })).toMatchObject({ channels: [] });
  });

  it('says which address is missing, and refuses a rate that is none', async () => {
    expect((await configure({ OWN_KEY: 'x', DEEPSEEK_API_KEY: 'b' })).warnings).toEqual([
      'OWN_KEY is set, but own needs its address too: OWN_URL',
    ]);
    await expect(configure({ TOLLGATE_USD_RATE: '-1' })).rejects.toThrow(
      'TOLLGATE_USD_RATE must not be negative',
    );
  });
});

describe('the bundled list', () => {
  const load = (today: string) => loadBundled({ usdRatePpm: defaultUsdRatePpm, today });

  it('has a complete price for every model', async () => {
    const bundled = await load('2026-11-21');
    expect(bundled.size).toBeGreaterThan(300);
    for (const { facts, source, asOf } of bundled.values()) {
      expect(
        Object.keys(facts.price.rates).length + Object.keys(facts.price.by?.rates ?? {}).length,
        facts.id,
      ).toBeGreaterThan(0);
      expect(source !== '' && /^20\d\d-\d\d(-\d\d)?$/.test(asOf), facts.id).toBe(true);
    }
  });

  it('converts dollars and keeps yuan', async () => {
    const bundled = await load('2026-11-21');
    const rates = (id: string) => bundled.get(id)?.facts.price.rates;
    // The price outside of the peak hours, whose price is twice as high.
    expect(rates('deepseek-v4-pro')).toEqual({
      input: 4_500_000_000n,
      cached_input: 150_000_000n,
      output: 13_500_000_000n,
    });
    expect(rates('claude-haiku-5-5')).toMatchObject({
      input: 720_000_000n,
      cached_input: 72_000_000n,
    });
    expect(rates('whisper-1')).toEqual({ second: 720_000_000_000n });
    expect(rates('tts-1')).toEqual({ character: 108_000_000_000n });
    expect(bundled.get('sora-2')?.facts.price.by).toEqual({
      measure: 'second',
      rates: { '720p': 720_000_000_000_000n },
    });
  });

  it('ends an offer price on its day', async () => {
    const input = async (today: string) =>
      (await load(today)).get('gemini-3.8-flash')?.facts.price.rates.input;
    expect(await input('2026-12-31')).toBe(5_400_000_000n);
    expect(await input('2027-01-01')).toBe(10_800_000_000n);
  });

  it('marks prices that are no word of the vendor', async () => {
    const bundled = await load('2026-11-21');
    expect(bundled.get('speech-2.6-hd')).toMatchObject({
      source: 'general-knowledge',
      doubtful: true,
    });
    expect(bundled.get('viduq3-turbo')?.doubtful).toBe(true);
    expect(bundled.get('claude-fable-5')?.doubtful).toBe(false);
  });
});
