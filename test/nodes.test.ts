import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest';
import { setKeyStatus } from '../src/accounts/keys.ts';
import { changeKey, userKey } from '../src/accounts/user-keys.ts';
import { setUserState } from '../src/accounts/users.ts';
import { systemClock } from '../src/base/clock.ts';
import { recordConfiguration } from '../src/catalog/catalog-store.ts';
import type { Gateway } from '../src/app/gateway.ts';
import { migrations } from '../src/app/schema.ts';
import { migrate } from '../src/storage/migrate.ts';
import { openSealer } from '../src/storage/seal.ts';
import { onPostgres } from './databases.ts';
import type { KeyWish } from './support/customer.ts';
import { expectNothingLost, startLoad } from './support/fault-load.ts';
import { type RedisServer, startRedis } from './support/redis-server.ts';
import {
  configurationFrom,
  hello,
  masterKey,
  oneModel,
  type Running,
  startGateway,
  startRunning,
} from './support/running.ts';
import { startVendor } from './support/scripted-vendor.ts';

const yuan = 1_000_000_000n;

interface Nodes {
  readonly here: Running;
  readonly there: Gateway;
  readonly databaseUrl: string;
  /** Status and headers of one request with this key at one of the nodes. */
  ask(node: 'here' | 'there', key: string): Promise<Response>;
  /** What a new configuration says is recorded, as a node does that starts with it. */
  configure(change: (written: string) => string): Promise<void>;
}

onPostgres((_name, _openFresh, fresh) => {
  let redis: RedisServer | undefined;
  beforeAll(async () => {
    if (inject('redis') !== undefined) redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  async function startNodes(limits = '', redisUrl?: string): Promise<Nodes> {
    const { url: databaseUrl } = await fresh();
    const vendor = await startVendor();
    const configuration = oneModel(vendor.url).replace(
      '{ name: default, price_multiplier: 1.0 }',
      `{ name: default, price_multiplier: 1.0${limits} }`,
    );
    const options = { databaseUrl, configuration, ...(redisUrl === undefined ? {} : { redisUrl }) };
    const here = await startRunning(options);
    const there = await startGateway(options);
    const urls = { here: here.url, there: there.url };
    return {
      here,
      there,
      databaseUrl,
      ask: (node, key) =>
        fetch(`${urls[node]}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(hello),
        }),
      configure: async (change) => {
        await recordConfiguration(
          here.gateway.database,
          await configurationFrom(change(configuration)),
          openSealer(masterKey),
          systemClock,
        );
      },
    };
  }

  test.skipIf(inject('redis') === undefined)(
    'two nodes answer as many as the limits allow, and their headers count together',
    async () => {
      const { ask, here } = await startNodes(', limits: { rpm: 12 }', redis?.url);
      const first = await ask('here', here.key);
      const second = await ask('there', here.key);
      expect(
        [first, second].map(({ headers }) => headers.get('x-ratelimit-remaining-requests')),
      ).toEqual(['11', '10']);
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, i) => ask(i % 2 === 0 ? 'here' : 'there', here.key)),
      );
      const refused = answers.filter(({ status }) => status === 429);
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
      expect(refused).toHaveLength(20);
      for (const { headers } of refused) {
        expect([
          headers.get('x-ratelimit-limit-requests'),
          headers.get('x-ratelimit-remaining-requests'),
        ]).toEqual(['12', '0']);
        expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(4);
        expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(5);
      }
      const metrics = await fetch(`${here.url}/metrics`, {
        headers: { authorization: 'Bearer metrics' },
      });
      expect(await metrics.text()).toContain('tollgate_shared_state_up 1');
    },
  );

  test.skipIf(inject('redis') === undefined)(
    'when the state that they share is killed, requests go on, nobody is refused for it, and it counts again when it is back',
    async () => {
      const server = await startRedis();
      onTestFinished(() => server.stop());
      const { ask, here } = await startNodes(
        ', limits: { rpm: 1000, concurrency: 50 }',
        server.url,
      );
      expect((await ask('here', here.key)).status).toBe(200);
      await server.kill();
      const during = await Promise.all(
        Array.from({ length: 20 }, (_, i) => ask(i % 2 === 0 ? 'here' : 'there', here.key)),
      );
      expect(new Set(during.map(({ status }) => status))).toEqual(new Set([200]));
      await server.start();
      const remaining = async (node: 'here' | 'there') =>
        Number((await ask(node, here.key)).headers.get('x-ratelimit-remaining-requests'));
      await expect
        .poll(async () => (await remaining('here')) - (await remaining('there')), {
          timeout: 5_000,
        })
        .toBe(1);
      await here.expectBooks();
    },
  );

  test('two nodes together spend no more of a key than its limits: in all, in a day, in a month', async () => {
    const { ask, here } = await startNodes();
    const most = yuan / 10n;
    const spendsWithin = async (wish: KeyWish): Promise<void> => {
      const { id, secret } = await here.newKey(wish);
      const burst = await Promise.all(
        Array.from({ length: 24 }, (_, i) => ask(i % 2 === 0 ? 'here' : 'there', secret)),
      );
      for (const { status } of burst) expect([200, 429]).toContain(status);
      for (const node of ['here', 'there'] as const)
        await expect
          .poll(async () => (await ask(node, secret)).status, { timeout: 10_000 })
          .toBe(429);
      const records = (await here.usage()).filter((row) => row['key_id'] === id);
      const spent = records.reduce((sum, row) => sum + BigInt(row['cost'] ?? 0), 0n);
      expect(spent).toBeLessThanOrEqual(most);
      expect(spent).toBeGreaterThanOrEqual((most * 6n) / 10n);
    };
    await Promise.all([
      spendsWithin({ limit: most }),
      spendsWithin({ dailyLimit: most }),
      spendsWithin({ monthlyLimit: most }),
    ]);
    await here.expectBooks();
  });

  test('a change is effective on the other node within a second: key, user, group, price, channel', async () => {
    const { ask, here, there, configure } = await startNodes();
    const { database } = here.gateway;
    const within = async (expected: unknown, look: () => Promise<unknown>) =>
      expect.poll(look, { timeout: 1_000, interval: 20 }).toEqual(expected);
    const status = async (key: string) => (await ask('there', key)).status;
    const one = await here.newKey();
    const two = await here.newKey({ limit: yuan });
    expect([await status(one.secret), await status(two.secret)]).toEqual([200, 200]);

    await database.transact(() => setKeyStatus(one.id, 'disabled'));
    await within(401, () => status(one.secret));
    await database.transact(function* () {
      const key = yield* userKey(here.userId, two.id);
      if (key !== undefined) yield* changeKey(key, { terms: { models: ['hidden'] } });
    });
    await within(404, () => status(two.secret));
    const limited = await database.transact(function* () {
      const key = yield* userKey(here.userId, two.id);
      return key && (yield* changeKey(key, { limit: 1n }));
    });
    expect(limited).toMatchObject({ limit: 1n, models: ['hidden'] });

    await configure((written) => written.replace('1.0 }', '1.0, limits: { rpm: 7 } }'));
    await within('7', async () =>
      (await ask('there', here.key)).headers.get('x-ratelimit-limit-requests'),
    );
    await configure((written) =>
      written.replace('price: { input: 1000, output: 1000 }', 'price: { input: 0, output: 0 }'),
    );
    const cost = async () => {
      await ask('there', here.key);
      return (await here.usage()).at(-1)?.['cost'];
    };
    await within(0n, cost);
    await configure((written) =>
      written.replace('models: [{ id: m1, upstream: up }]', 'models: [hidden]'),
    );
    await within(404, () => status(here.key));
    await configure((written) => written);
    await within(200, () => status(here.key));

    await there.database.transact(() => setUserState(here.userId, 'suspended'));
    await within(401, async () => (await ask('here', here.key)).status);
  });

  test('a release behind the schema goes on: a newer one migrates every table while its nodes serve, they settle, and start again', async () => {
    const { ask, here, there, databaseUrl } = await startNodes();
    const { database } = there;
    const load = startLoad([here, there], here.key, 8);
    const more = async (): Promise<void> => {
      const from = load.deliveredBy.map((count) => count + 50);
      await expect
        .poll(() => load.deliveredBy.every((count, i) => count >= (from[i] ?? 0)), {
          timeout: 15_000,
        })
        .toBe(true);
    };
    await more();
    const tables = await database.query(
      "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace ORDER BY random()",
    );
    const names = tables.map((row) => String(row['relname']));
    expect(names.length).toBeGreaterThan(20);
    const next = {
      id: '9999-next-release',
      statements: [
        ...names.map((name) => `ALTER TABLE ${name} ADD COLUMN of_next_release TEXT`),
        'CREATE TABLE of_next_release (id TEXT PRIMARY KEY)',
      ],
    };
    expect(await migrate(database, [...migrations, next])).toEqual([next.id]);
    await more();
    await load.stop();
    // Nobody was refused, and nobody's connection broke: who came in between has waited.
    expect([[...load.refused], load.broken]).toEqual([[], [0, 0]]);
    expect(load.longestMs()).toBeLessThan(10_000);
    await expectNothingLost(database, load);
    const { secret } = await here.newKey();
    expect((await ask('there', secret)).status).toBe(200);
    expect(await migrate(database, migrations)).toEqual([]);
    const again = await startGateway({
      databaseUrl,
      configuration: oneModel('http://127.0.0.1:1'),
    });
    expect((await fetch(`${again.url}/readyz`)).status).toBe(200);
    await here.expectBooks();
  });
});
