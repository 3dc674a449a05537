import { expect, test } from 'vitest';
import { systemClock } from '../src/base/clock.ts';
import { loadBundled } from '../src/catalog/bundled.ts';
import { storedCatalog } from '../src/catalog/stored-catalog.ts';
import { readNewApi } from '../src/imports/new-api.ts';
import type { ImportSummary } from '../src/imports/report.ts';
import { openSource } from '../src/imports/source.ts';
import { runImport } from '../src/imports/importer.ts';
import { check } from '../src/ledger/check.ts';
import { migrations, proofs } from '../src/app/schema.ts';
import { vendors } from '../src/providers/index.ts';
import type { Database } from '../src/storage/database.ts';
import { migrate } from '../src/storage/migrate.ts';
import { open } from '../src/storage/open.ts';
import { openSealer } from '../src/storage/seal.ts';
import { sqliteUrl } from './databases.ts';
import { makeNewApiDatabase } from './support/new-api-database.ts';
import { masterKey } from './support/running.ts';

type Rows = Parameters<typeof makeNewApiDatabase>[1];

const largest = 2n ** 63n - 1n;
const user = (id: number, more: Rows[string][number] = {}) => ({
  id,
  username: `u${id}`,
  password: 'x',
  ...more,
});
const key = (id: number, more: Rows[string][number] = {}) => ({
  ...{ id, user_id: 1, key: `${id}`.padStart(48, 'k'), name: 'k', unlimited_quota: 1 },
  ...more,
});
const channel = (id: number, more: Rows[string][number] = {}) => ({
  id,
  type: 1,
  key: 'up',
  name: `c${id}`,
  models: 'gpt-4o',
  ...more,
});

/** A database with these rows, taken into a fresh installation. */
async function imported(
  rows: Rows,
): Promise<{ readonly report: ImportSummary; readonly database: Database }> {
  const place = await sqliteUrl();
  await makeNewApiDatabase(place, { users: [user(1)], ...rows });
  const source = await openSource(place);
  const database = await open(await sqliteUrl());
  await migrate(database, migrations);
  try {
    const at = systemClock.now();
    const bundled = await loadBundled({ usdRatePpm: 7_300_000n, today: '2026-11-21' });
    const worth = {
      perDollar: { numerator: 500_000n, denominator: 1n },
      rate: { numerator: 73n, denominator: 10n },
    };
    const sealer = openSealer(masterKey);
    const wish = {
      origin: 'new-api',
      worth,
      apply: true,
      sealer,
      vendors: [...vendors.values()],
      bundled,
      at,
    };
    return { report: await runImport(database, await readNewApi(source), wish), database };
  } finally {
    await source.close();
  }
}

const notesOn = ({ notes }: ImportSummary, what: string): readonly string[] =>
  notes.filter((one) => one.what === what).map(({ note }) => note);

test('a balance that no account could hold stays behind with its user, and nobody else does', async () => {
  const users = [
    user(1, { quota: 500_000 }),
    user(2, { quota: largest }),
    user(3, { quota: '1e300' }),
    user(4, { quota: -largest - 1n }),
  ];
  const { report, database } = await imported({ users, tokens: [key(1), key(2, { user_id: 2 })] });
  expect(report.leftOut.map(({ what }) => what)).toEqual([
    'user 2 (u2)',
    'user 3 (u3)',
    'key 2 (k)',
  ]);
  expect(report.leftOut[0]?.why).toContain('1000000000.00 yuan');
  expect(report.users).toMatchObject({ taken: 2, left: 2 });
  expect(report.sums.transferred).toBe(7_300_000_000n);
  expect(await check(database, proofs)).toMatchObject({ ok: true });
  await database.close();
});

test('balances that no ledger could add up stay behind where they become too much', async () => {
  const { report, database } = await imported({
    users: [1, 2, 3, 4].map((id) => user(id, { quota: 30_000_000_000_000n })),
  });
  expect(report.users).toMatchObject({ taken: 2, left: 2 });
  expect(await check(database, proofs)).toMatchObject({ ok: true });
  await database.close();
});

test('times beyond any calendar are none, and a limit that nobody can reach is none', async () => {
  const users = [user(1, { created_at: 2n ** 62n })];
  const tokens = [
    key(1, { expired_time: 2n ** 62n, accessed_time: 2n ** 62n, created_time: largest }),
    key(2, { unlimited_quota: 0, remain_quota: largest }),
  ];
  const { report, database } = await imported({ users, tokens });
  expect(report.keys.taken).toBe(2);
  expect(
    await database.query('SELECT expires_at, last_used_at, spend_limit FROM api_keys'),
  ).toEqual(
    Array.from({ length: 2 }, () => ({ expires_at: null, last_used_at: null, spend_limit: null })),
  );
  await database.close();
});

test('the sums are compared when somebody stays behind, too', async () => {
  const rows = {
    users: [user(1, { quota: 500_000 }), user(2, { quota: 1, deleted_at: '2025-01-01' })],
  };
  const { report, database } = await imported(rows);
  expect(report.sums.compared).toBe(1);
  await database.close();
});

test('channels keep their order whatever their priorities are, and their weights as far as there are any', async () => {
  const channels = [
    channel(1, { priority: largest, weight: largest }),
    channel(2, { priority: -largest - 1n, weight: -4 }),
    channel(3),
    channel(4),
  ];
  const { report, database } = await imported({ channels });
  expect(report.channels).toMatchObject({ taken: 4, left: 0 });
  const made = (await storedCatalog(database)).channels;
  expect(made.map(({ name, priority, weight }) => [name, priority, weight])).toEqual([
    ['c1', 0, 1_000_000],
    ['c2', 2, 1],
    ['c3', 1, 1],
    ['c4', 1, 1],
  ]);
  await database.close();
});

test('names and addresses are one line, whatever stood there', async () => {
  const users = [
    user(1, { email: 'a@b.example\r\nBcc: x@y.example' }),
    user(2, { email: 'ada@example.com' }),
    user(3, { group: 'vip\r\nx' }),
  ];
  const { report, database } = await imported({
    users,
    channels: [channel(1, { name: 'main\r\nBcc: x@y.example\u202e' })],
  });
  expect(await database.query('SELECT email FROM users ORDER BY name')).toEqual([
    { email: null },
    { email: 'ada@example.com' },
    { email: null },
  ]);
  expect(notesOn(report, 'user 1 (u1)')).toEqual(['its e-mail address is none']);
  expect(report.leftOut.map(({ what }) => what)).toEqual(['group vip\r\nx']);
  expect((await storedCatalog(database)).channels.map(({ name }) => name)).toEqual([
    'main Bcc: x@y.example',
  ]);
  await database.close();
});

test('a type is a number of the table, not a member of every object', async () => {
  const { report, database } = await imported({
    channels: ['constructor', '__proto__'].map((type, id) => channel(id + 1, { type })),
  });
  expect(
    report.leftOut.filter(({ what }) => what.startsWith('channel')).map(({ why }) => why),
  ).toEqual([
    'nothing here speaks as its type constructor does',
    'nothing here speaks as its type __proto__ does',
  ]);
  await database.close();
});

test('what was saved about prices and is not taken is told by name, and so is what is free', async () => {
  const options = Object.entries({
    ModelRatio: '{"gpt-4o":0,"gpt-4o-mini":"many"}',
    GroupRatio: '{"default":1,"staff":0,"odd":-1}',
    CacheRatio: '{broken',
    GroupGroupRatio: '{"vip":{"default":0.5}}',
    TopupGroupRatio: '{}',
    'group_ratio_setting.group_special_usable_group': '{"vip":{"+:x":"x"}}',
    'billing_setting.billing_expr': '{"gpt-4o":"tier(1)"}',
    'tool_price_setting.prices': '{"web_search":10}',
    ModelRequestRateLimitGroup: '{"default":[0,1000]}',
    UserUsableGroups: '{"default":"all","odd":"odd"}',
    SystemName: 'Prices',
  }).map(([name, value]) => ({ key: name, value }));
  const { report, database } = await imported({
    options,
    channels: [channel(1, { models: 'gpt-4o,gpt-4o-mini' })],
  });
  const [untaken] = report.notes.filter(({ what }) => what === 'options');
  expect(untaken?.note).toMatch(
    /: GroupGroupRatio, ModelRequestRateLimitGroup, billing_setting.billing_expr, group_ratio_setting.group_special_usable_group, tool_price_setting.prices$/,
  );
  expect(notesOn(report, 'option CacheRatio')).toEqual([
    'it cannot be read, and counts as not saved',
  ]);
  expect(notesOn(report, 'option ModelRatio')).toEqual([
    "what it says of gpt-4o-mini is no ratio ('many'), and counts as not saved",
  ]);
  expect(notesOn(report, 'option GroupRatio')).toEqual([
    "what it says of odd is no ratio ('-1'), and counts as not saved",
  ]);
  expect(notesOn(report, 'model gpt-4o')).toContain('it is free there, and here');
  expect(notesOn(report, 'group staff')).toEqual([
    'everything is free there, and here',
    'users could not choose it there (UserUsableGroups); here everybody may make a key of it',
  ]);
  await database.close();
});

test('what cannot be read is told in one sentence, without the password', async () => {
  await expect(openSource('')).rejects.toThrow(/name a SQLite file/);
  await expect(openSource('postgres://u:sec/ret@127.0.0.1:1/x')).rejects.toThrow(
    /^(?!.*sec).*cannot be read/,
  );
  const ours = await sqliteUrl();
  const database = await open(ours);
  await migrate(database, migrations);
  const source = await openSource(ours);
  await expect(readNewApi(source)).rejects.toThrow('it has no table tokens');
  await source.close();
  await database.close();
});
