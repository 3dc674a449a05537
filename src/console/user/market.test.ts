import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { hourMs } from '../../base/calendar.ts';
import { forEachDatabase } from '../../../test/databases.ts';
import { askPlain } from '../../../test/support/console.ts';
import { charge, noon, startUserConsole, topUp } from '../../../test/support/console-user.ts';
import { migrations } from '../../app/schema.ts';
import { writeRequests } from '../../request-log/queries.ts';
import type { Database } from '../../storage/database.ts';
import { rollUp } from '../../usage/rollup.ts';

const shell = {
  name: 'Tollgate',
  methods: [],
  wallets: [],
  walletPages: {},
  amounts: { least: 1n, most: 2n },
  email: false,
  demo: undefined,
};

/** A clock that stands still until the test moves it. */
const stillClock = () => {
  const clock = { ms: 0, now: () => noon + clock.ms, monotonicMs: () => clock.ms };
  return clock;
};

/** Four answered requests of one hour, one of them cut, and one that no channel answered. */
async function fill(database: Database, account: string): Promise<void> {
  await topUp(database, account, 9_000_000_000n, noon - 9 * hourMs);
  for (const [index, status] of ['ok', 'ok', 'ok', 'cut'].entries())
    await charge(database, {
      id: `req_${index}`,
      account,
      keyId: 'key_1',
      at: noon - 2 * hourMs + index,
      lines: [['output', 69, 1n, 69n]],
      status,
      outputTokens: 69,
    });
  const at = noon - 2 * hourMs;
  const id = `req_${at.toString(16).padStart(12, '0')}`;
  const failed = { at, account, keyId: 'key_1', endpoint: undefined, channel: 'secret-channel' };
  const rest = { outcome: 'unavailable', param: undefined, durationMs: 9, attempts: [] };
  await database.transact(() =>
    writeRequests([
      { id: `${id}a`, ...failed, model: 'glm', status: 503, ...rest },
      { id: `${id}b`, ...failed, model: 'glm', status: 400, ...rest },
    ]),
  );
  while (await rollUp(database, noon)) continue;
}

forEachDatabase((_name, openFresh) => {
  async function start(publicGroup: string | undefined) {
    const clock = stillClock();
    const database = await openFresh({ migrations });
    const console = await startUserConsole(database, clock, { shell: { ...shell, publicGroup } });
    const ask = (path: string, headers = {}) =>
      askPlain(`${console.url}/console/api/${path}`, { headers });
    return { ...console, clock, ask };
  }

  test('without the setting, and with a group that does not exist, there is no market', async () => {
    for (const group of [undefined, 'gone']) {
      const { ask, newUser } = await start(group);
      expect((await ask('session')).json.features.public_models).toBe(false);
      for (const path of ['market', 'market/glm'])
        expect((await ask(path)).json.error.code).toBe('not_found');
      // A session opens nothing: signed-in users have a list of their own.
      const { cookie } = await newUser();
      expect((await ask('market', { cookie })).status).toBe(404);
    }
  });

  test('shows models, prices, abilities and speed of the public group, and nothing else', async () => {
    const { ask, newUser, database } = await start('economy');
    const user = await newUser();
    await fill(database, user.userId);
    expect((await ask('session')).json.features.public_models).toBe(true);
    const { json, text } = await ask('market');
    expect(json).toMatchObject({ group: 'economy', groups: ['economy'] });
    expect(json.items.map(({ id }: { id: string }) => id)).toEqual(['glm', 'vendor/painter']);
    const speed = {
      requests: null,
      first_byte_median_ms: expect.any(Number),
      total_median_ms: 6_900,
      output_per_second: 10,
      success_share: 0.6,
    };
    expect(json.items[0]).toMatchObject({
      tools: true,
      speed,
      prices: expect.arrayContaining([
        expect.objectContaining({ class: 'input', amount: '2.125' }),
      ]),
    });
    expect(json.items[1]).toMatchObject({ tools: false, reasoning: false, speed: null });
    const model = await ask('market/glm');
    expect(model.json.by_group).toMatchObject([{ group: 'economy', multiplier: '0.85' }]);
    expect(model.json.speed).toEqual(speed);
    expect(model.json.history.points).toHaveLength(28);
    expect(model.json.history.points.filter((one: { speed: unknown }) => one.speed)).toHaveLength(
      1,
    );
    expect((await ask('market/vendor/painter')).json.id).toBe('vendor/painter');
    // Sold to the other group alone.
    expect((await ask('market/alone')).status).toBe(404);
    for (const answer of [text, model.text])
      for (const secret of ['default', 'alone', 'up-key', 'secret-channel', '"a"', '127.0.0.1'])
        expect(answer).not.toContain(secret);
    // Users see how many requests there were, and every group.
    expect((await user.ask('models/glm')).json).toMatchObject({
      speed: { ...speed, requests: 5 },
      by_group: [{ group: 'default' }, { group: 'economy' }],
    });
    expect((await user.ask('models')).json.items).toHaveLength(3);
  });

  test('a request of this minute is in the figures of its model at once', async () => {
    const { newUser, database, clock } = await start('default');
    const user = await newUser();
    await topUp(database, user.userId, 9_000_000_000n, noon - 9 * hourMs);
    const speedOf = async () =>
      (await user.ask('models')).json.items.find(({ id }: { id: string }) => id === 'glm').speed;
    expect(await speedOf()).toBeNull();
    const made = { account: user.userId, keyId: 'key_1', outputTokens: 69 };
    const lines = [['output', 69, 1n, 69n]] as const;
    for (const [id, ago] of [['req_1', 8 * hourMs] as const, ['req_2', 1_000] as const]) {
      await charge(database, { id, at: noon - ago, lines, ...made });
      while (await rollUp(database, noon)) continue;
    }
    clock.ms = 10_000;
    const { json } = await user.ask('models/glm');
    expect(json).toMatchObject({ id: 'glm', speed: { requests: 2, success_share: 1 } });
    expect(await speedOf()).toMatchObject({ requests: 2, output_per_second: 10 });
    expect(json.history.points.at(-1).speed.requests).toBe(1);
  });

  test('an answer is made once a minute, and packed where the client takes it', async () => {
    const { ask, newUser, database, clock, url } = await start('default');
    const before = await ask('market/glm');
    expect(before.json.speed).toBeNull();
    await fill(database, (await newUser()).userId);
    clock.ms = 59_000;
    expect((await ask('market/glm')).text).toBe(before.text);
    const packed = await bytesOf(`${url}/console/api/market/glm`);
    expect(packed.encoding).toBe('gzip');
    expect(gunzipSync(packed.bytes).toString()).toBe(before.text);
    clock.ms = 60_000;
    expect((await ask('market/glm')).json.speed).not.toBeNull();
  });

  test('a flood from one address is refused, and users are served meanwhile', async () => {
    const { ask, newUser, url } = await start('default');
    const user = await newUser();
    const forged = { cookie: `tollgate=${'x'.repeat(40)}` };
    const flood = Promise.all(Array.from({ length: 400 }, () => ask('market', forged)));
    const served = await Promise.all(
      Array.from({ length: 20 }, () => user.ask(`${url}/console/api/models`.slice(url.length))),
    );
    expect(new Set(served.map(({ status }) => status))).toEqual(new Set([200]));
    const answers = await flood;
    const passed = answers.filter(({ status }) => status === 200);
    expect(passed).toHaveLength(60);
    expect(new Set(passed.map(({ text }) => text)).size).toBe(1);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(340);
    expect(Number(refused[0]?.headers['retry-after'])).toBeGreaterThan(0);
  });
});

function bytesOf(url: string): Promise<{ readonly encoding: unknown; readonly bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { headers: { 'accept-encoding': 'gzip' } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({ encoding: response.headers['content-encoding'], bytes: Buffer.concat(parts) }),
      );
    });
    asking.on('error', reject);
    asking.end();
  });
}
