import { expect, onTestFinished, test } from 'vitest';
import { startSim } from '../sim/index.ts';
import { listIdentities } from '../src/accounts/identities.ts';
import { systemClock } from '../src/base/clock.ts';
import { formatYuan } from '../src/base/money.ts';
import { loadBundled } from '../src/catalog/bundled.ts';
import { changeChannel } from '../src/catalog/edit-channels.ts';
import { addGroup } from '../src/catalog/edit-groups.ts';
import { addModel, retireModel } from '../src/catalog/edit-models.ts';
import { storedCatalog } from '../src/catalog/stored-catalog.ts';
import { type UnitWorth, readNewApi } from '../src/imports/new-api.ts';
import type { ImportSummary } from '../src/imports/report.ts';
import { openSource, ImportSourceError } from '../src/imports/source.ts';
import { runImport } from '../src/imports/importer.ts';
import { check } from '../src/ledger/check.ts';
import { proofs } from '../src/app/schema.ts';
import { vendors } from '../src/providers/index.ts';
import type { Database } from '../src/storage/database.ts';
import { openSealer } from '../src/storage/seal.ts';
import { forEachDatabase, sqliteUrl } from './databases.ts';
import { makeNewApiDatabase } from './support/new-api-database.ts';
import { masterKey, startGateway } from './support/running.ts';

const letters = 'AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGhIjKl';
const key = (first: string): string => first + letters.slice(first.length);
const oldKey = '0f8fad5bd9cb469fa16570867728950e';

/** What an administrator has after a year; `vendor` is where its first channel goes. */
const installation = (vendor: string) => ({
  users: [
    {
      id: 1,
      username: 'root',
      password: 'x',
      role: 100,
      email: 'root@example.com',
      github_id: '583231',
      quota: 50_000_000,
      aff_quota: 5,
      created_at: 1_700_000_000,
    },
    { id: 2, username: 'alice', password: 'x', quota: 1_234_567, group: 'vip', wechat_id: 'oAbc' },
    { id: 3, username: 'bob', password: 'x', status: 2, quota: 777, github_id: 'bob' },
    { id: 4, username: 'carol', password: 'x', quota: -300 },
    { id: 5, username: 'dave', password: 'x', quota: 1_000, deleted_at: '2025-01-01 00:00:00' },
  ],
  tokens: [
    {
      id: 1,
      user_id: 2,
      key: key('alice1'),
      name: 'laptop',
      created_time: 1_700_000_100,
      accessed_time: 1_760_000_000,
      unlimited_quota: 1,
    },
    {
      id: 2,
      user_id: 2,
      key: key('alice2'),
      name: 'limited',
      remain_quota: 1,
      unlimited_quota: 0,
      group: 'default',
    },
    { id: 3, user_id: 2, key: key('alice3'), name: 'off', status: 2, unlimited_quota: 1 },
    {
      id: 4,
      user_id: 1,
      key: key('root1'),
      name: 'over',
      expired_time: 1_700_000_500,
      unlimited_quota: 1,
    },
    { id: 5, user_id: 1, key: oldKey, name: 'of one-api', unlimited_quota: 1 },
    { id: 6, user_id: 1, key: key('root2'), name: 'gone', deleted_at: '2025-01-01 00:00:00' },
    { id: 7, user_id: 5, key: key('dave1'), name: 'orphan', unlimited_quota: 1 },
    {
      id: 8,
      user_id: 2,
      key: key('alice4'),
      name: 'far',
      unlimited_quota: 1,
      allow_ips: '10.9.9.9\n10.8.0.0/16',
    },
    {
      id: 9,
      user_id: 2,
      key: key('alice5'),
      name: 'nowhere',
      unlimited_quota: 1,
      allow_ips: 'intranet',
    },
    {
      id: 10,
      user_id: 2,
      key: key('alice6'),
      name: 'house',
      unlimited_quota: 1,
      model_limits_enabled: 1,
      model_limits: 'house-model',
    },
  ],
  channels: [
    {
      ...{
        id: 1,
        type: 1,
        key: 'up-1\nup-2\nup-3',
        name: 'main',
        base_url: `${vendor}/openai`,
        models: 'gpt-4o,house-model,unpriced',
        group: 'default,vip',
      },
      ...{
        model_mapping: '{"house-model":"gpt-4o-mini"}',
        priority: 10,
        weight: 6,
        channel_info: '{"is_multi_key":true,"multi_key_status_list":{"1":2}}',
      },
    },
    {
      id: 2,
      type: 14,
      key: 'sk-ant',
      name: 'main',
      status: 3,
      models: 'claude-sonnet-4-5',
      param_override: '{"temperature":0}',
    },
    { id: 3, type: 2, key: 'mj', name: 'pictures', models: 'mj_imagine' },
  ],
  options: [
    { key: 'GroupRatio', value: '{"default":1,"vip":0.85}' },
    { key: 'ModelRatio', value: '{"gpt-4o":1.25,"house-model":0.075}' },
    { key: 'CompletionRatio', value: '{"gpt-4o":4,"house-model":1.5}' },
    { key: 'CacheRatio', value: '{"gpt-4o":0.5}' },
    { key: 'ModelPrice', value: '{"mj_imagine":0.1}' },
    { key: 'USDExchangeRate', value: '7.3' },
  ],
  redemptions: [
    { id: 1, key: 'c1', quota: 500_000 },
    { id: 2, key: 'c2', status: 3, quota: 500_000 },
  ],
});

const worth: UnitWorth = {
  perDollar: { numerator: 500_000n, denominator: 1n },
  rate: { numerator: 73n, denominator: 10n },
};

async function importInto(
  database: Database,
  source: string,
  { apply = true, origin = 'new-api' } = {},
): Promise<ImportSummary> {
  const opened = await openSource(source);
  try {
    const at = systemClock.now();
    const bundled = await loadBundled({ usdRatePpm: 7_300_000n, today: '2026-11-21' });
    const sealer = openSealer(masterKey);
    return await runImport(database, await readNewApi(opened), {
      origin,
      worth,
      apply,
      sealer,
      vendors: [...vendors.values()],
      bundled,
      at,
    });
  } finally {
    await opened.close();
  }
}

async function startVendors() {
  const sim = await startSim();
  onTestFinished(() => sim.close());
  return sim;
}

/** All rows that an import may write, so that two states can be held to each other. */
const everything = async (database: Database): Promise<string> => {
  const tables = [
    'users',
    'api_keys',
    'identities',
    'account',
    'transfer',
    'model_groups',
    'models',
    'price_versions',
    'channels',
    'audit',
    'imported',
  ];
  const rows = await Promise.all(
    tables.map((table) => database.query(`SELECT * FROM ${table} ORDER BY 1, 2`)),
  );
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'bigint' ? String(value) : value,
  );
};

const balancesOf = async (database: Database): Promise<Readonly<Record<string, string>>> => {
  const rows = await database.query(
    'SELECT u.name, a.credits-a.debits AS balance FROM users u JOIN account a ON a.id=u.id',
  );
  return Object.fromEntries(
    rows.map((row) => [String(row['name']), formatYuan(BigInt(row['balance'] ?? 0))]),
  );
};

forEachDatabase((name, _openFresh, fresh) => {
  async function start() {
    const sim = await startVendors();
    const source =
      name === 'sqlite' ? (await sqliteUrl()).slice('sqlite:'.length) : (await fresh()).url;
    await makeNewApiDatabase(
      name === 'sqlite' ? `sqlite:${source}` : source,
      installation(sim.url),
    );
    const gateway = await startGateway({ databaseUrl: (await fresh()).url, configuration: '' });
    return { sim, source, gateway, database: gateway.database };
  }

  test('balances are the same to the nano, and old keys work where they worked', async () => {
    const { sim, source, gateway, database } = await start();
    const report = await importInto(database, source);
    expect(report.sums).toEqual({
      ...{ units: 51_235_344n, worth: 748_036_022_400n, transferred: 748_036_022_400n },
      ...{ owedUnits: 300n, deletedUnits: 1_000n, rewardUnits: 5n, compared: 3 },
    });
    expect(await balancesOf(database)).toEqual({
      root: '730.00',
      alice: '18.0246782',
      bob: '0.0113442',
      carol: '0.00',
    });
    const ask = async (secret: string, model: string) => {
      const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' };
      const body = JSON.stringify({
        model,
        messages: [{ role: 'user', content: 'Hello' }],
        max_tokens: 20,
      });
      const response = await fetch(`${gateway.url}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body,
      });
      return { status: response.status, body: await response.json() };
    };
    await expect
      .poll(async () => (await ask(`sk-${key('alice1')}`, 'house-model')).status, {
        timeout: 5_000,
      })
      .toBe(200);
    const sent = sim.requests.at(-1);
    expect(sent?.path).toBe('/openai/v1/chat/completions');
    expect(JSON.parse(String(sent?.body))).toMatchObject({ model: 'gpt-4o-mini' });
    expect((await ask(`sk-${oldKey}`, 'gpt-4o')).status).toBe(200);
    // One unit is 14,600 nano-yuan: less than any answer costs.
    expect(await ask(`sk-${key('alice2')}`, 'gpt-4o')).toMatchObject({
      status: 429,
      body: { error: { code: 'insufficient_quota' } },
    });
    expect((await ask(`sk-${key('alice4')}`, 'gpt-4o')).status).toBe(403);
    expect((await ask(`sk-${key('alice6')}`, 'gpt-4o')).status).toBe(404);
    expect((await ask(`sk-${key('alice6')}`, 'house-model')).status).toBe(200);
    for (const dead of ['alice3', 'root1', 'root2', 'dave1'])
      expect((await ask(`sk-${key(dead)}`, 'gpt-4o')).status, dead).toBe(401);
    expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
  });

  test('groups, prices and channels are what they were; what stays behind is told', async () => {
    const { source, database } = await start();
    const report = await importInto(database, source);
    const { groups, models, channels } = await storedCatalog(database);
    expect(groups.map(({ name: group, multiplierPpm }) => [group, multiplierPpm])).toEqual([
      ['default', 1_000_000n],
      ['vip', 850_000n],
    ]);
    const rates = (id: string) => models.find((model) => model.id === id)?.price.rates;
    // 1.25 × 2 dollars × 7.3 yuan for a million tokens.
    expect(rates('gpt-4o')).toMatchObject({
      input: 18_250_000_000n,
      cached_input: 9_125_000_000n,
      output: 73_000_000_000n,
    });
    expect(rates('house-model')).toEqual({ input: 1_095_000_000n, output: 1_642_500_000n });
    const sold = [
      ['gpt-4o', 'gpt-4o'],
      ['house-model', 'gpt-4o-mini'],
    ];
    expect(
      channels.map((channel) => [
        channel.name,
        channel.vendor,
        channel.state,
        channel.priority,
        channel.weight,
        [...channel.models],
      ]),
    ).toEqual([
      ['main', 'openai', 'active', 0, 6, sold],
      ['main (1/2)', 'openai', 'disabled', 0, 6, sold],
      ['main (2/1)', 'anthropic', 'disabled', 10, 1, [['claude-sonnet-4-5', 'claude-sonnet-4-5']]],
    ]);
    expect(report.leftOut.map(({ what }) => what)).toEqual([
      ...['model unpriced', 'channel 3 (pictures)'],
      ...['user 5 (dave)', 'key 6 (gone)', 'key 7 (orphan)', 'key 9 (nowhere)'],
    ]);
    expect(report.notes).toContainEqual({
      what: 'channel 2 (main)',
      note: 'not taken of it: param_override',
    });
    const [root] = await database.query(
      "SELECT id, role, email, created_at FROM users WHERE name='root'",
    );
    expect(root).toMatchObject({
      role: 'operator',
      email: 'root@example.com',
      created_at: 1_700_000_000_000n,
    });
    expect(await listIdentities(database, String(root?.['id']))).toMatchObject([
      { provider: 'github' },
    ]);
    expect(
      await database.query("SELECT actor_kind, target FROM audit WHERE action='import.apply'"),
    ).toMatchObject([{ actor_kind: 'command', target: 'import:new-api' }]);
    const [kept] = await database.query(
      'SELECT COUNT(*) AS n FROM api_keys WHERE hash LIKE $1 OR prefix LIKE $1',
      [`%${letters.slice(10, 20)}%`],
    );
    expect(kept?.['n']).toBe(0n);
  });

  test('a dry run writes nothing and says the same; a second run changes nothing; a third brings what is new', async () => {
    const { source, database } = await start();
    const before = await everything(database);
    const dry = await importInto(database, source, { apply: false });
    expect(await everything(database)).toBe(before);
    const first = await importInto(database, source);
    expect(first).toEqual(dry);
    const after = await everything(database);
    const second = await importInto(database, source);
    expect(await everything(database)).toBe(after);
    for (const part of ['users', 'keys', 'groups', 'models', 'channels'] as const) {
      expect(second[part], part).toMatchObject({
        taken: 0,
        before: first[part].taken,
        left: first[part].left,
      });
    }
    expect(second.sums).toEqual({ ...first.sums, compared: 0 });
  });
});

test('one installation is not taken for another, and a renamed user gets no keys by accident', async () => {
  const source = (await sqliteUrl()).slice('sqlite:'.length);
  await makeNewApiDatabase(`sqlite:${source}`, installation('http://127.0.0.1:1'));
  const { database } = await startGateway({ databaseUrl: await sqliteUrl(), configuration: '' });
  await importInto(database, source);
  const other = (await sqliteUrl()).slice('sqlite:'.length);
  const { users, ...rest } = installation('http://127.0.0.1:1');
  const tokens = [{ id: 1, user_id: 2, key: key('mallory'), name: 'm', unlimited_quota: 1 }];
  await makeNewApiDatabase(`sqlite:${other}`, {
    ...rest,
    users: users.map((user) => ({ ...user, username: `other-${user.username}` })),
    tokens,
  });
  const mistaken = await importInto(database, other);
  expect(mistaken.users).toEqual({ taken: 0, before: 0, left: 5 });
  expect(mistaken.keys).toEqual({ taken: 0, before: 0, left: 1 });
  const meant = await importInto(database, other, { origin: 'second' });
  expect(meant.users.taken).toBe(4);
  expect(meant.keys.taken).toBe(1);
  expect(await balancesOf(database)).toMatchObject({
    alice: '18.0246782',
    'other-alice': '18.0246782',
  });
});

test('a second installation changes no multiplier and no price that is in force', async () => {
  const { database } = await startGateway({ databaseUrl: await sqliteUrl(), configuration: '' });
  const installed = async (origin: string, groups: object, ratio: number) => {
    const source = (await sqliteUrl()).slice('sqlite:'.length);
    await makeNewApiDatabase(`sqlite:${source}`, {
      users: [{ id: 1, username: `root-${origin}`, password: 'x', role: 100, quota: 500_000 }],
      channels: [{ id: 1, type: 1, key: 'up', name: origin, models: 'gpt-4o', group: 'default' }],
      options: [
        { key: 'ModelRatio', value: JSON.stringify({ 'gpt-4o': ratio }) },
        { key: 'CompletionRatio', value: '{"gpt-4o":4}' },
        { key: 'CacheRatio', value: '{"gpt-4o":0.5}' },
        { key: 'GroupRatio', value: JSON.stringify(groups) },
      ],
    });
    return importInto(database, source, { origin });
  };
  const inForce = async () => {
    const { groups, models } = await storedCatalog(database);
    return [
      ...groups.map((group) => `${group.name} × ${Number(group.multiplierPpm) / 1e6}`),
      ...models.map(({ id, price }) => `${id} ${price.rates.input}`),
    ];
  };
  await installed('first', { default: 2, vip: 0.5 }, 1.25);
  await database.transact(function* () {
    return yield* addGroup({ name: 'own', price_multiplier: '0.8' }, systemClock.now());
  });
  const before = ['default × 2', 'own × 0.8', 'vip × 0.5', 'gpt-4o 18250000000'];
  expect(await inForce()).toEqual(before);
  const report = await installed('second', { default: 3, vip: 3, own: 9, new: 4 }, 0.001_25);
  expect(await inForce()).toEqual([before[0], 'new × 4', ...before.slice(1)]);
  expect(report.groups).toMatchObject({ taken: 1, left: 3 });
  expect(report.prices).toEqual([]);
  expect(report.leftOut).toEqual([
    { what: 'group default', why: 'it costs 3 there, and is here already with 2, which stays' },
    { what: 'group vip', why: 'it costs 3 there, and is here already with 0.5, which stays' },
    { what: 'group own', why: 'it costs 9 there, and is here already with 0.8, which stays' },
    {
      what: 'model gpt-4o',
      why: 'it is sold here already, at a price that stays: input 18.25 here, 0.01825 there; cached_input 9.125 here, 0.009125 there; output 73 here, 0.073 there',
    },
  ]);
  const { channels } = await storedCatalog(database);
  expect(channels.find((one) => one.name === 'second')?.models.has('gpt-4o')).toBe(true);
});

test('a key that is refused there is refused here, whatever its expiry and limit say now', async () => {
  const source = (await sqliteUrl()).slice('sqlite:'.length);
  const states = {
    works: {},
    'expires at 0': { expired_time: 0 },
    'expires at -5': { expired_time: -5 },
    'expired, without an expiry': { status: 3 },
    'exhausted, unlimited': { status: 4 },
    'exhausted, topped up': { status: 4, unlimited_quota: 0, remain_quota: 500_000 },
    'a state of a later release': { status: 5 },
    disabled: { status: 2 },
  };
  const tokens = Object.entries(states).map(([name, state], id) => ({
    ...{ id, user_id: 1, key: key(`state${id}`), name, unlimited_quota: 1 },
    ...state,
  }));
  await makeNewApiDatabase(`sqlite:${source}`, {
    users: [{ id: 1, username: 'root', password: 'x', role: 100, quota: 50_000_000 }],
    tokens,
  });
  const { url, database } = await startGateway({
    databaseUrl: await sqliteUrl(),
    configuration: '',
  });
  const report = await importInto(database, source);
  expect(report.keys.taken).toBe(tokens.length);
  for (const { key: secret, name } of tokens) {
    const headers = { authorization: `Bearer sk-${secret}` };
    const { status } = await fetch(`${url}/v1/models`, { headers });
    expect(status, name).toBe(name === 'works' ? 200 : 401);
  }
});

test('a model that kept its price here, and is delisted afterwards, stays delisted', async () => {
  const source = (await sqliteUrl()).slice('sqlite:'.length);
  await makeNewApiDatabase(`sqlite:${source}`, {
    users: [{ id: 1, username: 'root', password: 'x', role: 100, quota: 500_000 }],
    channels: [{ id: 1, type: 1, key: 'up', name: 'main', models: 'gpt-4o' }],
    options: [{ key: 'ModelRatio', value: '{"gpt-4o":1.25}' }],
  });
  const { database } = await startGateway({ databaseUrl: await sqliteUrl(), configuration: '' });
  const bundled = await loadBundled({ usdRatePpm: 7_300_000n, today: '2026-11-21' });
  const by = { source: 'console', at: systemClock.now() } as const;
  await database.transact(() =>
    addModel({ id: 'gpt-4o', kind: 'chat', price: { input: 1, output: 2 } }, bundled, by),
  );
  expect((await importInto(database, source)).models).toEqual({ taken: 0, before: 0, left: 1 });
  await database.transact(() => retireModel({ name: 'gpt-4o', version: undefined }, by.at));
  expect((await importInto(database, source)).models).toEqual({ taken: 0, before: 1, left: 0 });
  expect((await storedCatalog(database)).models).toMatchObject([{ id: 'gpt-4o', active: false }]);
});

test('a model without a price is sold over its old channels after it is given one', async () => {
  const source = (await sqliteUrl()).slice('sqlite:'.length);
  const of = (id: number, name: string, models: string) => ({
    ...{ id, type: 1, key: 'up', name, models },
    base_url: 'http://127.0.0.1:1',
  });
  await makeNewApiDatabase(`sqlite:${source}`, {
    users: [{ id: 1, username: 'root', password: 'x', role: 100, quota: 500_000 }],
    channels: [
      { ...of(1, 'main', 'gpt-4o,late,later'), model_mapping: '{"late":"late-1"}' },
      of(2, 'other', 'late'),
    ],
    options: [{ key: 'ModelRatio', value: '{"gpt-4o":1.25}' }],
  });
  const { database } = await startGateway({ databaseUrl: await sqliteUrl(), configuration: '' });
  const bundled = await loadBundled({ usdRatePpm: 7_300_000n, today: '2026-11-21' });
  const by = { source: 'console', at: systemClock.now() } as const;
  const sell = (id: string) =>
    database.transact(() =>
      addModel({ id, kind: 'chat', price: { input: 1, output: 2 } }, bundled, by),
    );
  const sold = async () =>
    (await storedCatalog(database)).channels.map(({ name, models }) => [name, ...models.values()]);
  await importInto(database, source);
  expect(await sold()).toEqual([['main', 'gpt-4o']]);
  await sell('late');
  const second = await importInto(database, source);
  expect(second.channels).toEqual({ taken: 2, before: 0, left: 0 });
  expect(await sold()).toEqual([
    ['main', 'gpt-4o', 'late-1'],
    ['other', 'late'],
  ]);
  // What an operator takes out of the channel stays out.
  await database.transact(() =>
    changeChannel(
      { name: 'main', version: undefined },
      { models: ['gpt-4o'] },
      {
        ...{ sealer: openSealer(masterKey), vendors: [...vendors.values()], bundled, by },
      },
    ),
  );
  await sell('later');
  await importInto(database, source);
  expect((await sold())[0]).toEqual(['main', 'gpt-4o', 'later']);
});

test('one-api is known by its columns, and its channels by its own numbers', async () => {
  const source = (await sqliteUrl()).slice('sqlite:'.length);
  const users = [
    { id: 1, username: 'root', password: 'x', role: 100, github_id: '583231', quota: 500_000 },
  ];
  const tokens = [{ id: 1, user_id: 1, key: key('one'), name: 'k', unlimited_quota: 1 }];
  const channels = [{ id: 1, type: 28, key: 'up', name: 'm', models: 'mistral-large-latest' }];
  await makeNewApiDatabase(
    `sqlite:${source}`,
    {
      users,
      tokens,
      channels,
      options: [{ key: 'ModelRatio', value: '{"mistral-large-latest":1}' }],
    },
    'one-api',
  );
  const { database } = await startGateway({ databaseUrl: await sqliteUrl(), configuration: '' });
  const report = await importInto(database, source);
  expect(report).toMatchObject({
    users: { taken: 1 },
    keys: { taken: 1 },
    channels: { taken: 1 },
    withoutSignIn: 1,
  });
  expect((await storedCatalog(database)).channels).toMatchObject([
    { name: 'm', vendor: 'mistral' },
  ]);
});

test('what cannot be read says why', async () => {
  await expect(openSource('mysql://root@localhost/oneapi')).rejects.toThrow(/MySQL is not read/);
  await expect(openSource('/nowhere/one-api.db')).rejects.toThrow(ImportSourceError);
  const url = await sqliteUrl();
  const source = await (async () => {
    await makeNewApiDatabase(url, {});
    return openSource(url);
  })();
  onTestFinished(() => source.close());
  expect(await source.rows('users', 'id')).toEqual([]);
});
