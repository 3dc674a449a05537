import { expect, it, onTestFinished } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import type { Clock } from '../base/clock.ts';
import { changesMigrations, watchChanges } from '../storage/changes.ts';
import { openSealer } from '../storage/seal.ts';
import { buildSnapshot } from './build-snapshot.ts';
import { readConfiguration } from './config.ts';
import type { Configuration } from './configuration.ts';
import { removeChannel } from './edit-channels.ts';
import { changeGroup } from './edit-groups.ts';
import { importPrices } from './import-prices.ts';
import { catalogMigrations } from './migrations.ts';
import { costOf } from './price.ts';
import { publishPrice } from './price-versions.ts';
import { groupNames, loadCatalog, recordConfiguration } from './catalog-store.ts';
import type { Snapshot } from './snapshot.ts';
import { catalogTopic } from './editing.ts';
import { unexpected } from '../../test/support/unexpected.ts';

const migrations = [...changesMigrations, ...catalogMigrations];
const sealer = openSealer(Buffer.alloc(32, 7));
const clockAt = (seconds: number): Clock => ({ now: () => seconds * 1000, monotonicMs: () => 0 });
const clock = clockAt(1_000);

async function configuration(
  changed: { input?: string; key?: string; weight?: number; more?: string; group?: string } = {},
): Promise<Configuration> {
  const text = `
groups:
  - { name: default, price_multiplier: 0.85, limits: { rpm: 600 } }
  ${changed.group ?? ''}
models:
  - { id: m/1, owned_by: o, context: 1000, modalities: { in: [text], out: [text] }, price: { input: ${changed.input ?? '1.5'}, output: 2, tiers: [{ above_input_tokens: 10, output: 3 }] } }
  - { id: film, owned_by: o, kind: video, durations: [5, 10], shutdown_date: 2027-01-01, price: { by: { 720p: 0.5 } } }
  ${changed.more ?? ''}
channels:
  - { name: a, vendor: acme, api_key: ${changed.key ?? 'top secret'}, weight: ${changed.weight ?? 1}, models: [{ id: m/1, upstream: up }, film] }
  - { name: b, vendor: acme, base_url: "http://127.0.0.1:1/v1", models: [m/1] }`;
  const vendors = [{ id: 'acme', ownedBy: 'acme', baseUrl: 'https://acme.test' }];
  const result = await readConfiguration(text, { env: {}, vendors, serves: () => true, now: 0 });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.configuration;
}

forEachDatabase((_, openFresh) => {
  it('loads what was recorded', async () => {
    const db = await openFresh({ migrations });
    const given = await configuration();
    expect(await recordConfiguration(db, given, sealer, clock)).toEqual({
      changed: true,
      keptPrices: [],
      replacedPrices: [],
    });
    const { version, groups, models, channels } = await loadCatalog(db, sealer);
    expect(version).toBe('1');
    expect(groups).toEqual(given.groups);
    expect(models).toEqual(
      [...given.models].reverse().map((model) => ({ ...model, created: 1_000 })),
    );
    expect(channels).toEqual(given.channels.map((channel) => ({ ...channel, revision: 1 })));
    expect(await groupNames(db)).toEqual(['default']);
  });

  it('a seed fills an empty catalog, which belongs to the database from then on', async () => {
    const db = await openFresh({ migrations });
    const seed = { ...(await configuration()), seed: true } as const;
    await recordConfiguration(db, seed, sealer, clock);
    const first = await loadCatalog(db, sealer);
    expect(first.groups).toEqual(seed.groups);
    expect(first.channels.map(({ secret }) => secret)).toEqual(['top secret', undefined]);
    const by = { source: 'console', at: 2_000_000 } as const;
    const price = seed.models[1]?.price ?? expect.fail();
    await db.transact(() => publishPrice('m/1', price, by));
    expect(
      await db.transact(() => changeGroup({ name: 'default', version: 1 }, { policy: 'cost' }, 2)),
    ).toMatchObject({ kind: 'done' });
    await db.transact(() => removeChannel({ name: 'a', version: undefined }));

    // Another start of the same seed, whose vendors have another port by now.
    const moved = seed.channels.map((channel) =>
      channel.baseUrl === undefined ? channel : { ...channel, baseUrl: 'http://127.0.0.1:2/v1' },
    );
    await recordConfiguration(db, { ...seed, channels: moved }, sealer, clockAt(3_000));
    const second = await loadCatalog(db, sealer);
    expect(second.models.find(({ id }) => id === 'm/1')?.price).toEqual(price);
    expect(second.groups).toMatchObject([{ policy: 'cost' }]);
    expect(second.channels).toMatchObject([{ name: 'b', baseUrl: 'http://127.0.0.1:2/v1' }]);
  });

  it('a seed takes over what a configuration recorded before', async () => {
    const db = await openFresh({ migrations });
    const given = await configuration();
    await recordConfiguration(db, given, sealer, clock);
    await recordConfiguration(db, { ...given, seed: true }, sealer, clock);
    for (const table of ['model_groups', 'models', 'channels'])
      expect(await db.query(`SELECT DISTINCT origin FROM ${table}`)).toEqual([
        { origin: 'console' },
      ]);
  });

  it('keeps secrets sealed, and seals them anew under another master key', async () => {
    const db = await openFresh({ migrations });
    await recordConfiguration(db, await configuration(), sealer, clock);
    expect(JSON.stringify(await db.query('SELECT secret, name FROM channels'))).not.toContain(
      'top secret',
    );
    const other = openSealer(Buffer.alloc(32, 8));
    await expect(loadCatalog(db, other)).rejects.toThrow('master key');
    expect((await recordConfiguration(db, await configuration(), other, clock)).changed).toBe(true);
    expect((await loadCatalog(db, other)).channels[0]?.secret).toBe('top secret');
  });

  it('changes nothing when nothing changed', async () => {
    const db = await openFresh({ migrations });
    await recordConfiguration(db, await configuration(), sealer, clock);
    const before = await db.query('SELECT * FROM channels');
    expect(await recordConfiguration(db, await configuration(), sealer, clockAt(2_000))).toEqual({
      changed: false,
      keptPrices: [],
      replacedPrices: [],
    });
    expect(await db.query('SELECT * FROM channels')).toEqual(before);
    expect((await loadCatalog(db, sealer)).version).toBe('1');
  });

  it('counts a channel as another one when its secret or address changes, not when its weight does', async () => {
    const db = await openFresh({ migrations });
    await recordConfiguration(db, await configuration(), sealer, clock);
    await recordConfiguration(db, await configuration({ weight: 5 }), sealer, clock);
    expect((await loadCatalog(db, sealer)).channels[0]).toMatchObject({ weight: 5, revision: 1 });
    await recordConfiguration(db, await configuration({ key: 'another' }), sealer, clock);
    expect((await loadCatalog(db, sealer)).channels).toMatchObject([
      { name: 'a', secret: 'another', revision: 3 },
      { name: 'b', revision: 1 },
    ]);
  });

  it('fixes when a model was created at its first recording, also across its absence', async () => {
    const db = await openFresh({ migrations });
    const more = '- { id: late, owned_by: o, price: { request: 1 } }';
    const created = async () =>
      new Map((await loadCatalog(db, sealer)).models.map((model) => [model.id, model.created]));
    await recordConfiguration(db, await configuration({ more }), sealer, clock);
    await recordConfiguration(db, await configuration(), sealer, clockAt(2_000));
    expect([...(await created()).keys()]).toEqual(['film', 'm/1']);
    await recordConfiguration(db, await configuration({ more }), sealer, clockAt(3_000));
    expect((await created()).get('late')).toBe(1_000);
  });

  it('forgets groups that are configured no more', async () => {
    const db = await openFresh({ migrations });
    await recordConfiguration(
      db,
      await configuration({ group: '- { name: extra }' }),
      sealer,
      clock,
    );
    expect(await groupNames(db)).toEqual(['default', 'extra']);
    await recordConfiguration(db, await configuration(), sealer, clock);
    expect(await groupNames(db)).toEqual(['default']);
  });

  it('is recorded once by many processes at once', async () => {
    const db = await openFresh({ migrations });
    const given = await configuration();
    const all = await Promise.all(
      Array.from({ length: 4 }, () => recordConfiguration(db, given, sealer, clock)),
    );
    expect(all.filter(({ changed }) => changed)).toHaveLength(1);
    expect((await loadCatalog(db, sealer)).version).toBe('1');
  });

  it('is heard of and priced anew in a running process within a second', async () => {
    const db = await openFresh({ migrations });
    await recordConfiguration(db, await configuration(), sealer, clock);
    let snapshot: Snapshot = buildSnapshot(await loadCatalog(db, sealer), () => true);
    const watch = watchChanges(
      db,
      {
        [catalogTopic]: async () => {
          snapshot = buildSnapshot(await loadCatalog(db, sealer), () => true);
        },
      },
      unexpected,
    );
    onTestFinished(() => watch.stop());
    const price = () => {
      const offer = snapshot.offer('default', 'm/1');
      return offer && costOf(offer.tariff, { input: 1_000_000, output: 0 }).total;
    };
    expect(price()).toBe(1_275_000_000n);
    await importPrices(db, '[{ "id": "m/1", "price": { "input": 2, "output": 2 } }]', {
      dry: false,
      clock,
    });
    await expect.poll(price, { timeout: 1_000, interval: 20 }).toBe(1_700_000_000n);
  });

  it('keeps an imported price until the configuration names another one', async () => {
    const db = await openFresh({ migrations });
    const input = async () =>
      (await loadCatalog(db, sealer)).models.find((model) => model.id === 'm/1')?.price.rates.input;
    await recordConfiguration(db, await configuration(), sealer, clock);
    await importPrices(db, '- { id: m/1, price: { input: 2, output: 2 } }', { dry: false, clock });
    expect(await input()).toBe(2_000_000_000n);
    expect(await recordConfiguration(db, await configuration(), sealer, clock)).toEqual({
      changed: false,
      keptPrices: ['m/1'],
      replacedPrices: [],
    });
    expect(await input()).toBe(2_000_000_000n);
    expect(
      await recordConfiguration(db, await configuration({ input: '1.7' }), sealer, clock),
    ).toEqual({
      changed: true,
      keptPrices: [],
      replacedPrices: ['m/1'],
    });
    expect(await input()).toBe(1_700_000_000n);
    // The price of the configuration replaces its own: nothing is lost.
    expect(
      await recordConfiguration(db, await configuration({ input: '1.8' }), sealer, clock),
    ).toEqual({
      changed: true,
      keptPrices: [],
      replacedPrices: [],
    });
  });

  it('shows the effect of a price list before it is taken over, and then takes it over whole', async () => {
    const db = await openFresh({ migrations });
    await recordConfiguration(db, await configuration(), sealer, clock);
    const list = `models:
  - { id: m/1, context: 5, price: { input: 3, cached_input: 0.1, output: 2 } }
  - { id: film, price: { by: { 720p: 0.5 } } }`;
    const effect = {
      added: [],
      changed: [
        {
          id: 'm/1',
          differences: [
            {
              ...{ member: 'input', from: '1.5', to: '3' },
              ...{ measure: 'input', farOff: false, percent: 100 },
            },
            {
              ...{ member: 'output above 10', from: '3', to: undefined },
              ...{ measure: 'output', farOff: false, percent: undefined },
            },
            {
              ...{ member: 'cached_input', from: undefined, to: '0.1' },
              ...{ measure: 'cached_input', farOff: false, percent: undefined },
            },
          ],
          windowsRemoved: [],
        },
      ],
      unchanged: ['film'],
      refused: [],
      farOff: [],
    };
    expect(await importPrices(db, list, { dry: true, clock })).toEqual({
      applied: false,
      ...effect,
    });
    expect((await loadCatalog(db, sealer)).version).toBe('1');
    expect(await importPrices(db, list, { dry: false, clock })).toEqual({
      applied: true,
      ...effect,
    });
    expect((await loadCatalog(db, sealer)).version).toBe('2');
    expect(await importPrices(db, list, { dry: false, clock })).toEqual({
      applied: false,
      added: [],
      changed: [],
      unchanged: ['m/1', 'film'],
      refused: [],
      farOff: [],
    });
  });

  it('takes over nothing of a price list with a mistake in it, and names the line', async () => {
    const db = await openFresh({ migrations });
    await recordConfiguration(db, await configuration(), sealer, clock);
    const result = await importPrices(
      db,
      `- { id: m/1, price: { input: 3, output: 2 } }
- { id: m/2, price: { input: 3, output: 2 } }
- { id: film, price: { input: 1 } }
- { id: film, price: { second: -1 } }`,
      { dry: false, clock },
    );
    expect(result).toMatchObject({
      applied: false,
      refused: [
        { line: 2, message: "there is no model 'm/2' to price, did you mean 'm/1'?" },
        {
          line: 3,
          message:
            'a video model needs a price for second, or output, or request (0 where it is free)',
        },
        { line: 4, message: "'film' is already in line 3" },
        { line: 4, message: 'must not be negative, but is -1' },
      ],
    });
    expect((await loadCatalog(db, sealer)).version).toBe('1');
    expect((await importPrices(db, 'just text', { dry: false, clock })).refused).toHaveLength(1);
  });

  it('takes over no price for a quality that requests for the model cannot name', async () => {
    const db = await openFresh({ migrations });
    const more =
      '- { id: art, owned_by: o, kind: image, image: { qualities: [hd] }, price: { image: 1 } }';
    await recordConfiguration(db, await configuration({ more }), sealer, clock);
    const list = (quality: string) => `- { id: art, price: { image: 1, by: { ${quality}: 2 } } }`;
    expect(await importPrices(db, list('1024x1024/hdd'), { dry: false, clock })).toMatchObject({
      applied: false,
      refused: [{ path: '[0].price.by.1024x1024/hdd', message: expect.stringContaining("'hd'?") }],
    });
    expect((await importPrices(db, list('1024x1024/hd'), { dry: false, clock })).applied).toBe(
      true,
    );
  });
});
