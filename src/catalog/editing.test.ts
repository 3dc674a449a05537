import { expect, it } from 'vitest';
import { forEachDatabase, onPostgres } from '../../test/databases.ts';
import { holdLock } from '../../test/support/held-lock.ts';
import { changesMigrations } from '../storage/changes.ts';
import type { Database } from '../storage/database.ts';
import { openSealer } from '../storage/seal.ts';
import { buildSnapshot } from './build-snapshot.ts';
import { loadBundled } from './bundled.ts';
import { readConfiguration } from './config.ts';
import {
  addChannel,
  changeChannel,
  type ChannelEditContext,
  removeChannel,
  switchChannel,
} from './edit-channels.ts';
import { addGroup, changeGroup, removeGroup } from './edit-groups.ts';
import { addModel, changeModel, retireModel } from './edit-models.ts';
import { lockCatalogVersion } from './editing.ts';
import { catalogMigrations } from './migrations.ts';
import {
  bringPricesInForce,
  priceVersionAt,
  priceVersions,
  publishPrice,
} from './price-versions.ts';
import { loadCatalog, recordConfiguration } from './catalog-store.ts';
import { storedCatalog } from './stored-catalog.ts';
import { nanoPerMillion } from './price-members.ts';

const migrations = [...changesMigrations, ...catalogMigrations];
const sealer = openSealer(Buffer.alloc(32, 7));
const clock = { now: () => 1_000_000, monotonicMs: () => 0 };
const vendors = [{ id: 'acme', ownedBy: 'acme', baseUrl: 'https://acme.test' }];
const by = { source: 'console', actor: 'usr_op', at: 2_000_000 } as const;
const bundled = await loadBundled({ usdRatePpm: 7_000_000n, today: '2026-11-01' });
const context: ChannelEditContext = { sealer, vendors, bundled, by };
const file = `
groups:
  - { name: written, price_multiplier: 0.85 }
models:
  - { id: m, owned_by: o, price: { input: 1, output: 2 } }
channels:
  - { name: a, vendor: acme, api_key: secret-of-the-file, groups: [written], models: [m] }`;

async function recorded(db: Database, text: string): Promise<void> {
  const result = await readConfiguration(text, { env: {}, vendors, serves: () => true, now: 0 });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  await recordConfiguration(db, result.configuration, sealer, clock);
}

const price = (input: string) => ({
  rates: { input: nano(input), output: nano('2') },
  tiers: [],
  by: undefined,
});
function nano(yuan: string): bigint {
  const amount = nanoPerMillion('input', yuan);
  if (typeof amount !== 'bigint') throw new Error(amount.message);
  return amount;
}

forEachDatabase((_, openFresh) => {
  it('keeps what the console made when the configuration is recorded again, and lets the configuration take what it names', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, file);
    await db.transact(() =>
      addGroup({ name: 'economy', price_multiplier: '0.5', limits: { rpm: 10 } }, 1),
    );
    await db.transact(() => addModel({ id: 'n', price: { input: '3', output: '4' } }, bundled, by));
    await db.transact(() =>
      addChannel(
        { name: 'b', vendor: 'acme', api_key: 'k', groups: ['economy'], models: ['m', 'n'] },
        context,
      ),
    );
    await recorded(db, file);
    const { groups, models, channels } = await storedCatalog(db);
    expect(groups.map(({ name, origin }) => [name, origin])).toEqual([
      ['economy', 'console'],
      ['written', 'configuration'],
    ]);
    expect(models.map(({ id, origin }) => [id, origin])).toEqual([
      ['m', 'configuration'],
      ['n', 'console'],
    ]);
    expect(channels.map(({ name, origin }) => [name, origin])).toEqual([
      ['a', 'configuration'],
      ['b', 'console'],
    ]);
    await recorded(db, `${file}\n  - { name: b, vendor: acme, groups: [written], models: [m] }`);
    expect((await storedCatalog(db)).channels[1]).toMatchObject({
      name: 'b',
      origin: 'configuration',
      secret: undefined,
    });
    await recorded(db, file);
    expect((await storedCatalog(db)).channels.map(({ name }) => name)).toEqual(['a']);
  });

  it('lets the console change nothing that the configuration names, but for switches and costs', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, file);
    const of = (name: string) => ({ name, version: undefined });
    expect(
      await db.transact(() => changeGroup(of('written'), { price_multiplier: '9' }, 1)),
    ).toMatchObject({ kind: 'read_only' });
    expect(await db.transact(() => changeModel(of('m'), { context: 1 }, 1))).toMatchObject({
      kind: 'read_only',
    });
    expect(await db.transact(() => changeChannel(of('a'), { weight: 9 }, context))).toMatchObject({
      kind: 'read_only',
    });
    expect(await db.transact(() => removeChannel(of('a')))).toMatchObject({ kind: 'read_only' });
    expect(await db.transact(() => removeGroup(of('written')))).toMatchObject({
      kind: 'read_only',
    });
    const costs = { m: { input: '0.5', output: '1' } };
    expect(await db.transact(() => changeChannel(of('a'), { costs }, context))).toMatchObject({
      kind: 'done',
    });
    expect(await db.transact(() => switchChannel(of('a'), 'draining', 1))).toMatchObject({
      after: { state: 'draining' },
    });
    await recorded(db, file);
    const [channel] = (await storedCatalog(db)).channels;
    expect(channel).toMatchObject({
      state: 'draining',
      origin: 'configuration',
      secret: { last4: 'file' },
    });
    expect(channel?.costs.get('m')?.rates).toEqual({ input: nano('0.5'), output: nano('1') });
    expect(
      buildSnapshot(await loadCatalog(db, sealer), () => true).offer('written', 'm'),
    ).toBeUndefined();
    await db.transact(() => switchChannel(of('a'), 'active', 1));
    expect(
      buildSnapshot(await loadCatalog(db, sealer), () => true).offer('written', 'm'),
    ).toBeDefined();
  });

  it('lets the group that nobody wrote down be changed, and keeps the change', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, 'groups: []');
    const done = await db.transact(() =>
      changeGroup(
        { name: 'default', version: 1 },
        { price_multiplier: '1.2', limits: { rpm: 5 } },
        1,
      ),
    );
    expect(done).toMatchObject({ kind: 'done', after: { multiplierPpm: 1_200_000n, version: 2 } });
    await recorded(db, 'groups: []');
    expect((await storedCatalog(db)).groups).toMatchObject([
      { name: 'default', multiplierPpm: 1_200_000n, limits: { rpm: 5 } },
    ]);
  });

  it('changes a channel by members, keeps the secret that is not said, and refuses a version that is over', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, file);
    await db.transact(() =>
      addChannel(
        {
          name: 'b',
          vendor: 'acme',
          api_key: 'a-long-secret-1234',
          groups: ['written'],
          models: ['m'],
        },
        context,
      ),
    );
    const done = await db.transact(() =>
      changeChannel(
        { name: 'b', version: 1 },
        { weight: 5, base_url: 'https://acme.test/v2' },
        context,
      ),
    );
    expect(done).toMatchObject({
      kind: 'done',
      before: { weight: 1, version: 1 },
      after: { weight: 5, version: 2, secret: { last4: '1234' } },
    });
    const bills = await db.transact(() =>
      changeChannel({ name: 'b', version: 2 }, { bills_cancelled_input: true }, context),
    );
    expect(bills).toMatchObject({
      kind: 'done',
      after: { billsCancelledInput: true, weight: 5, version: 3 },
    });
    // Members that are left out stay.
    const again = await db.transact(() =>
      changeChannel({ name: 'b', version: 3 }, { priority: 1 }, context),
    );
    expect(again).toMatchObject({
      kind: 'done',
      after: { billsCancelledInput: true, priority: 1, version: 4 },
    });
    const free = await db.transact(() =>
      changeChannel({ name: 'b', version: 4 }, { bills_cancelled_input: false }, context),
    );
    expect(free.kind === 'done' && free.after?.billsCancelledInput).toBeUndefined();
    expect(
      await db.transact(() => changeChannel({ name: 'b', version: 1 }, { weight: 6 }, context)),
    ).toMatchObject({
      kind: 'conflict',
      current: { version: 5, weight: 5 },
    });
    const sold = (await loadCatalog(db, sealer)).channels.find(({ name }) => name === 'b');
    expect(sold).toMatchObject({
      secret: 'a-long-secret-1234',
      baseUrl: 'https://acme.test/v2',
      revision: 3,
    });
    await db.transact(() =>
      changeChannel({ name: 'b', version: 5 }, { api_key: null, base_url: null }, context),
    );
    const bare = (await loadCatalog(db, sealer)).channels.find(({ name }) => name === 'b');
    expect([bare?.secret, bare?.baseUrl]).toEqual([undefined, undefined]);
    expect(
      JSON.stringify(await db.query('SELECT name, secret, secret_last4 FROM channels')),
    ).not.toContain('a-long-secret');
  });

  it('never sends a kept key to another host: an edit that changes the host contains the key again, or removes it', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, file);
    const rival = { id: 'rival', ownedBy: 'rival', baseUrl: 'https://rival.test/v1' };
    const both = { ...context, vendors: [...vendors, rival] };
    const change = (written: Record<string, unknown>) =>
      db.transact(() => changeChannel({ name: 'b', version: undefined }, { ...written }, both));
    await db.transact(() =>
      addChannel(
        { name: 'b', vendor: 'acme', api_key: 'kept-key-1234', groups: ['written'], models: ['m'] },
        both,
      ),
    );
    const elsewhere = [
      'https://rival.test',
      'http://acme.test',
      'https://acme.test:8443',
      'https://acme.test.rival.test',
    ];
    for (const base_url of elsewhere)
      expect(await change({ base_url }), base_url).toMatchObject({
        kind: 'wrong',
        problems: [{ path: 'api_key' }],
      });
    expect(await change({ vendor: 'rival' })).toMatchObject({
      kind: 'wrong',
      problems: [{ path: 'api_key' }],
    });
    expect(await change({ base_url: 'https://ACME.test/beta' })).toMatchObject({
      kind: 'done',
      after: { secret: { last4: '1234' } },
    });
    expect(
      await change({ base_url: 'https://rival.test', api_key: 'another-key-5678' }),
    ).toMatchObject({
      after: { secret: { last4: '5678' } },
    });
    expect(await change({ base_url: null })).toMatchObject({ kind: 'wrong' });
    expect(await change({ base_url: null, api_key: null })).toMatchObject({
      kind: 'done',
      after: { secret: undefined },
    });
    expect(await change({ base_url: 'https://rival.test' })).toMatchObject({ kind: 'done' });
  });

  it('a configuration that points a channel elsewhere without a key has none', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, file);
    await recorded(
      db,
      file.replace('api_key: secret-of-the-file', 'base_url: "https://rival.test"'),
    );
    expect((await loadCatalog(db, sealer)).channels).toMatchObject([
      { baseUrl: 'https://rival.test', secret: undefined },
    ]);
  });

  it('says what is wrong with a channel, member by member', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, file);
    const wrong = await db.transact(() =>
      addChannel(
        { name: 'b', vendor: 'acmee', groups: ['writen'], models: ['x'], weight: -1 },
        context,
      ),
    );
    expect(wrong.kind === 'wrong' && wrong.problems.map(({ path }) => path)).toEqual([
      'weight',
      'vendor',
      'groups[0]',
      'models[0]',
    ]);
    expect(
      await db.transact(() =>
        addChannel({ name: 'a', vendor: 'acme', models: ['m'], groups: ['written'] }, context),
      ),
    ).toEqual({
      kind: 'exists',
    });
  });

  it('sells what only the bundled list knows at its prices once a channel names it', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, 'groups: []');
    await db.transact(() =>
      addChannel(
        { name: 'b', vendor: 'acme', models: [{ id: 'deepseek-chat', upstream: 'd' }] },
        context,
      ),
    );
    expect((await storedCatalog(db)).models).toMatchObject([
      {
        id: 'deepseek-chat',
        origin: 'console',
        active: true,
        price: bundled.get('deepseek-chat')?.facts.price,
      },
    ]);
    expect(await priceVersions(db, 'deepseek-chat')).toMatchObject([
      { version: 1, source: 'console', actor: 'usr_op' },
    ]);
  });

  it('leaves a model delisted that its channel named before, and sells one again that it names anew', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, 'groups: []');
    const any = (name: string) => ({ name, version: undefined });
    const both = ['deepseek-chat', 'deepseek-reasoner'];
    await db.transact(() =>
      addChannel({ name: 'b', vendor: 'acme', models: ['deepseek-chat'] }, context),
    );
    await db.transact(() => publishPrice('deepseek-chat', price('5'), by));
    await db.transact(() => retireModel(any('deepseek-chat'), 6));
    const sold = async () =>
      (await storedCatalog(db)).models.filter(({ active }) => active).map(({ id }) => id);
    await db.transact(() => changeChannel(any('b'), { weight: 3, models: both }, context));
    expect(await sold()).toEqual(['deepseek-reasoner']);
    await db.transact(() => addChannel({ name: 'c', vendor: 'acme', models: both }, context));
    expect(await sold()).toEqual(both);
    expect((await storedCatalog(db)).models).toMatchObject([{ price: price('5') }, {}]);
  });

  it('changes a channel that names a delisted model, which the bundled list does not have', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, 'groups: []');
    const any = (name: string) => ({ name, version: undefined });
    const own = { id: 'own', kind: 'chat', price: { request: '1' } };
    const channel = { name: 'b', vendor: 'acme', models: ['own'] };
    await db.transact(() => addChannel(channel, context, [own]));
    await db.transact(() => retireModel(any('own'), 6));
    const change = (written: Record<string, unknown>) =>
      db.transact(() => changeChannel(any('b'), written, context));
    expect(await change({ weight: 3 })).toMatchObject({ kind: 'done', models: [] });
    expect(await change({ models: ['own', 'deepseek-chat'] })).toMatchObject({ kind: 'done' });
    expect(await change({ models: ['deepseek-chat'] })).toMatchObject({ kind: 'done' });
    expect(await change({ models: ['own'] })).toMatchObject({
      kind: 'wrong',
      problems: [{ path: 'models[0]' }],
    });
  });

  it('refuses a model without a price, and one that is there', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, file);
    expect(await db.transact(() => addModel({ id: 'n', kind: 'chat' }, bundled, by))).toMatchObject(
      {
        kind: 'wrong',
        problems: [{ path: 'price' }],
      },
    );
    expect(
      await db.transact(() => addModel({ id: 'n', price: { input: '1' } }, bundled, by)),
    ).toMatchObject({ kind: 'wrong' });
    expect(
      await db.transact(() => addModel({ id: 'm', price: { request: '1' } }, bundled, by)),
    ).toEqual({ kind: 'exists' });
  });

  it('changes what is known of a model, retires it, and sells it again with the date that it had', async () => {
    const db = await openFresh({ migrations });
    await db.transact(() =>
      addModel({ id: 'n', context: 100, durations: [5], price: { request: '1' } }, bundled, by),
    );
    const done = await db.transact(() =>
      changeModel({ name: 'n', version: 1 }, { context: 200, durations: null }, 5),
    );
    expect(done).toMatchObject({
      kind: 'done',
      after: { context: 200, durations: undefined, version: 2, created: 2_000 },
    });
    await db.transact(() => retireModel({ name: 'n', version: 2 }, 6));
    expect((await loadCatalog(db, sealer)).models).toEqual([]);
    const edited = await db.transact(() =>
      changeModel({ name: 'n', version: 3 }, { context: 300 }, 7),
    );
    expect(edited).toMatchObject({ after: { context: 300, active: false } });
    expect((await loadCatalog(db, sealer)).models).toEqual([]);
    await db.transact(() =>
      addModel({ id: 'n', price: { request: '2' } }, bundled, { ...by, at: 9_000_000 }),
    );
    expect((await storedCatalog(db)).models).toMatchObject([
      { id: 'n', created: 2_000, priceVersion: 2, active: true },
    ]);
  });

  it('sells a retired model again by its id alone as it was, at the whole price that it had', async () => {
    const db = await openFresh({ migrations });
    const written = {
      id: 'deepseek-chat',
      modalities: { in: ['text'], out: ['text'] },
      top_speed: 90,
      image: { sizes: ['512x512'] },
      price: {
        input: '1',
        output: '2',
        tiers: [{ above_output_tokens: '1000', times: '2' }],
        modes: { flex: { times: '0.5' } },
        list_fees: false,
      },
    };
    await db.transact(() => addModel(written, bundled, by));
    const [sold] = (await storedCatalog(db)).models;
    await db.transact(() => retireModel({ name: 'deepseek-chat', version: 1 }, 6));
    const done = await db.transact(() => addModel({ id: 'deepseek-chat' }, bundled, by));
    expect(done).toMatchObject({ kind: 'done' });
    expect((await storedCatalog(db)).models).toEqual([{ ...sold, version: 3, changedAt: by.at }]);
    expect(await priceVersions(db, 'deepseek-chat')).toHaveLength(1);
    expect(await db.transact(() => addModel({ id: 'deepseek-chat' }, bundled, by))).toEqual({
      kind: 'exists',
    });
  });

  it('changes the kind of a model only where its price and the one that waits are complete for it', async () => {
    const db = await openFresh({ migrations });
    const embedder = { id: 'n', kind: 'embedding', price: { input: '1' } };
    await db.transact(() => addModel(embedder, bundled, by));
    const to = (kind: string) =>
      db.transact(() => changeModel({ name: 'n', version: undefined }, { kind }, 5));
    const refused = { kind: 'wrong', problems: [{ path: 'kind', code: 'price_lacks' }] };
    expect(await to('image')).toMatchObject(refused);
    expect(await to('rerank')).toMatchObject({ kind: 'done' });
    const each = { rates: { image: nano('1') }, tiers: [], by: undefined };
    await db.transact(() => publishPrice('n', each, { ...by, effectiveAt: 3_000_000 }));
    expect(await to('embedding')).toMatchObject(refused);
    expect((await storedCatalog(db)).models).toMatchObject([{ kind: 'rerank' }]);
  });

  it('keeps the sizes and qualities of an image that its prices name', async () => {
    const db = await openFresh({ migrations });
    const image = { sizes: ['512x512', '1024x1024'], qualities: ['standard', 'high'] };
    const sold = { image: '1', by: { '1024x1024/hd': '2' } };
    await db.transact(() => addModel({ id: 'n', kind: 'image', image, price: sold }, bundled, by));
    const change = (written: Record<string, unknown>) =>
      db.transact(() => changeModel({ name: 'n', version: undefined }, written, 5));
    const path = 'price.by.1024x1024/hd';
    const refused = { kind: 'wrong', problems: [{ path, code: 'not_one_of' }] };
    expect(await change({ image: { ...image, sizes: ['512x512'] } })).toMatchObject(refused);
    expect(await change({ image: { ...image, qualities: ['standard'] } })).toMatchObject(refused);
    expect(await change({ image: { ...image, n: 2 } })).toMatchObject({ kind: 'done' });
    const coming = {
      rates: { image: nano('1') },
      tiers: [],
      by: { measure: 'image' as const, rates: { '512x512': nano('3') } },
    };
    await db.transact(() => publishPrice('n', coming, { ...by, effectiveAt: 3_000_000 }));
    expect(await change({ image: { ...image, sizes: ['1024x1024'] } })).toMatchObject({
      problems: [{ path: 'price.by.512x512' }],
    });
    expect(await change({ image: null })).toMatchObject({ kind: 'done' });
  });

  it('puts a price in force at its time, unless a later one was published', async () => {
    const db = await openFresh({ migrations });
    await recorded(db, file);
    const publish = (input: string, at: number, effectiveAt: number) =>
      db.transact(() => publishPrice('m', price(input), { ...by, at, effectiveAt }));
    const now = async () => (await loadCatalog(db, sealer)).models[0]?.price.rates.input;
    expect(await publish('5', 2_000_000, 3_000_000)).toBe(2);
    expect(await now()).toBe(nano('1'));
    expect(await bringPricesInForce(db, 2_999_999)).toBe(0);
    expect(await bringPricesInForce(db, 3_000_000)).toBe(1);
    expect(await now()).toBe(nano('5'));
    await publish('6', 3_000_001, 5_000_000);
    await publish('7', 3_000_002, 3_000_002);
    expect(await now()).toBe(nano('7'));
    expect(await bringPricesInForce(db, 5_000_001)).toBe(0);
    expect((await db.snapshot(() => priceVersionAt('m', 6_000_000)))?.version).toBe(4);
    expect((await db.snapshot(() => priceVersionAt('m', 2_500_000)))?.version).toBe(1);
    expect(await db.snapshot(() => priceVersionAt('m', 1))).toBeUndefined();
    await expect(db.query("UPDATE price_versions SET price='{}'")).rejects.toThrow('append-only');
  });
});

onPostgres((_name, _openFresh, fresh) => {
  it('leaves a price in force that was being published when an earlier one was due', async () => {
    const { url, open } = await fresh(migrations);
    const db = await open();
    await recorded(db, file);
    const times = { ...by, at: 2_000_000, effectiveAt: 3_000_000 };
    await db.transact(() => publishPrice('m', price('5'), times));
    const busy = 'SELECT pg_advisory_xact_lock(1)';
    const lock = await holdLock(url, busy);
    const published = db.transact(function* () {
      yield* lockCatalogVersion();
      yield* publishPrice('m', price('6'), { ...by, at: 3_000_000 });
      yield { sql: busy, params: [] };
    });
    await lock.waiting(1);
    const brought = bringPricesInForce(db, 3_000_001);
    await lock.waiting(2);
    await lock.release();
    await published;
    expect(await brought).toBe(0);
    expect((await storedCatalog(db)).models).toMatchObject([
      { price: price('6'), priceVersion: 3 },
    ]);
  });
});
