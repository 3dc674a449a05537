import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startSim } from '../sim/index.ts';
import { parseYuan } from '../src/base/money.ts';
import { check } from '../src/ledger/check.ts';
import { migrations, proofs } from '../src/app/schema.ts';
import { forEachDatabase, sqliteUrl } from './databases.ts';
import { type Browser, newBrowser } from './support/console.ts';
import { hello, oneModel, startGateway } from './support/running.ts';
import { startVendor } from './support/scripted-vendor.ts';

async function start(databaseUrl: string) {
  const vendor = await startVendor();
  const sim = await startSim();
  onTestFinished(() => sim.close());
  const gateway = await startGateway({
    databaseUrl,
    configuration: oneModel(vendor.url),
    payments: sim.wallets.settings,
  });
  const { url, database } = gateway;
  let forms = 0;
  const post = (
    who: Browser,
    path: string,
    body: object = {},
    headers: Record<string, string> = {},
  ) =>
    who.ask(path, {
      method: 'POST',
      body,
      headers: { 'idempotency-key': `form-${String(++forms).padStart(6, '0')}`, ...headers },
    });
  return {
    gateway,
    vendor,
    url,
    database,
    post,
    browser: (role?: 'operator') => newBrowser(url, database, role),
    newKey: async (who: Browser) => (await post(who, 'keys', { name: 'k', group: 'default' })).json,
    call: (secret: string) =>
      fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify(hello),
      }),
    async paid(who: Browser, amount: string): Promise<string> {
      const { order } = (await post(who, 'orders', { amount, wallet: 'alipay' })).json;
      sim.wallets.pay(order.qr);
      await expect
        .poll(async () => (await who.ask(`orders/${order.id}`)).json.state)
        .toBe('credited');
      return order.id;
    },
  };
}

test('invented sessions of one address are refused unread after a while, and others are served', async () => {
  const { url, browser } = await start(await sqliteUrl(migrations));
  const alice = await browser();
  const address = `${url}/console/api/sessions`;
  const from = (localAddress: string, cookie: string): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const asking = request(address, { localAddress, headers: { cookie } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      asking.on('error', reject).end();
    });
  const statuses: (number | undefined)[] = [];
  for (let round = 0; round < 14; round += 1)
    statuses.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, (_, n) =>
          from('127.0.0.2', `tollgate=${`${round}x${n}x`.padEnd(43, 'a')}`),
        ),
      )),
    );
  expect(statuses.slice(0, 600)).toEqual(Array(600).fill(401));
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(50);
  expect(await from('127.0.0.1', alice.cookie)).toBe(200);
  // A session that is real uses up nothing.
  for (let round = 0; round < 14; round += 1)
    expect(
      await Promise.all(Array.from({ length: 40 }, () => from('127.0.0.3', alice.cookie))),
    ).toEqual(Array(40).fill(200));
});

test("nothing of somebody else's is had by its id, by a cursor or by a member that is not offered", async () => {
  const { post, newKey, call, paid, browser } = await start(await sqliteUrl(migrations));
  const [alice, mallory] = [await browser(), await browser()];
  const orders = [await paid(alice, '1.00'), await paid(alice, '2.00')];
  const { key, secret } = await newKey(alice);
  for (let i = 0; i < 2; i++) expect((await call(secret)).status).toBe(200);
  const charges = (await alice.ask('usage?limit=1')).json;
  expect(charges.items[0].key_name).toBe('k');
  const reads = [`keys/${key.id}`, `orders/${orders[0]}`, `usage/${charges.items[0].id}`];
  for (const path of reads) {
    expect((await alice.ask(path)).status, path).toBe(200);
    expect((await mallory.ask(path)).status, path).toBe(404);
  }
  for (const path of [
    `keys/${key.id}/disable`,
    `keys/${key.id}/enable`,
    `orders/${orders[0]}/check`,
    `orders/${orders[0]}/close`,
  ])
    expect((await post(mallory, path)).status, path).toBe(404);
  expect((await mallory.ask(`sessions/${alice.sessionId}`, { method: 'DELETE' })).status).toBe(404);
  expect((await post(mallory, 'play/chat', hello, { 'x-paying-key': key.id })).status).toBe(404);
  for (const path of [`usage?key=${key.id}`, `usage?request=${charges.items[0].id}`])
    expect((await mallory.ask(path)).json.items, path).toEqual([]);
  for (const list of ['usage', 'orders', 'keys']) {
    if (list === 'keys') await newKey(alice);
    const { next } = (await alice.ask(`${list}?limit=1`)).json;
    expect((await alice.ask(`${list}?limit=1&after=${next}`)).status, list).toBe(200);
    expect((await mallory.ask(`${list}?limit=1&after=${next}`)).json.error.code, list).toBe(
      'invalid_cursor',
    );
    expect(
      (await alice.ask(`${list}?limit=1&after=${next.slice(0, -2)}`)).json.error.code,
      list,
    ).toBe('invalid_cursor');
  }
  for (const body of [
    { role: 'operator' },
    { state: 'active' },
    { balance: '1' },
    '{"__proto__":{"role":"operator"}}',
  ])
    expect(
      (await mallory.ask('me', { method: 'PATCH', body, headers: { 'if-match': '1' } })).status,
    ).toBe(400);
  expect(
    (await post(mallory, 'keys', { name: 'k', group: 'default', user_id: alice.userId })).status,
  ).toBe(400);
  expect((await mallory.ask('session')).json).toMatchObject({
    me: { role: 'user' },
    balance: { total: '0.000000000' },
  });
});

test('amounts are what people write, and nothing else', async () => {
  const { post, browser } = await start(await sqliteUrl(migrations));
  const [user, operator] = [await browser(), await browser('operator')];
  for (const amount of [
    '-1',
    '+1',
    '1e3',
    'NaN',
    'Infinity',
    '0x10',
    '１．００',
    '٣',
    '1,5',
    ' 1',
    '',
    '1.0000000001',
    '1000000000',
    1,
    null,
  ]) {
    expect((await post(user, 'orders', { amount, wallet: 'alipay' })).status, String(amount)).toBe(
      400,
    );
    expect(
      (await post(operator, `operator/users/${user.userId}/credit`, { amount, reason: 'x' }))
        .status,
      String(amount),
    ).toBe(400);
    if (amount !== null)
      expect(
        (await post(user, 'keys', { name: 'k', group: 'default', limit: amount })).status,
      ).toBe(400);
  }
});

test('what is secret is in no answer', async () => {
  const { gateway, post, newKey, paid, browser, database } = await start(
    await sqliteUrl(migrations),
  );
  const operator = await browser('operator');
  await paid(operator, '1.00');
  const { secret } = await newKey(operator);
  const channel = {
    name: 'made',
    vendor: 'openai',
    base_url: 'http://127.0.0.1:9/v1',
    secret: 'sealed-and-not-shown',
    models: ['m1'],
  };
  expect((await post(operator, 'operator/channels', channel)).status).toBe(201);
  expect((await post(operator, 'keys', { name: '=1+1', group: 'default' })).status).toBe(201);
  const hashes = (
    await database.query('SELECT hash FROM api_keys UNION SELECT hash FROM sessions')
  ).map(({ hash }) => String(hash));
  const secrets = [
    secret,
    channel.secret,
    'up-key',
    operator.cookie.split('=')[1] ?? '',
    'PRIVATE KEY',
    ...hashes,
  ];
  const { routes } = await gateway.pages.open();
  const asked = routes.filter(({ method, path }) => method === 'GET' && path !== 'events');
  for (const { path } of asked) {
    const { text, headers } = await operator.ask(
      path.replace(':name', 'made').replace(/:user\b/, operator.userId),
    );
    for (const one of secrets) expect(text.includes(one), `${path} has ${one}`).toBe(false);
    expect(headers['set-cookie'], path).toBeUndefined();
    expect(headers['cache-control'], path).toBe('no-store');
    expect(headers['x-content-type-options'], path).toBe('nosniff');
  }
});

forEachDatabase((_name, _open, fresh) => {
  test('the last yuan is spent, paid back twice and taken away, all at once', {
    timeout: 30_000,
  }, async () => {
    const { url: databaseUrl } = await fresh(migrations);
    const { post, newKey, call, paid, browser, database } = await start(databaseUrl);
    const [user, operator] = [await browser(), await browser('operator')];
    const order = await paid(user, '1.00');
    const { secret } = await newKey(user);
    const refund = (amount: string) =>
      post(operator, `operator/orders/${order}/refund`, { amount, reason: 'x' });
    const debit = () =>
      post(operator, `operator/users/${user.userId}/debit`, { amount: '0.60', reason: 'x' });
    const calls = Array.from({ length: 12 }, () => call(secret));
    const moved = await Promise.all([refund('0.60'), refund('0.60'), debit()]);
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(moved.filter(({ status }) => status < 300).length).toBeLessThanOrEqual(1);
    for (const status of statuses) expect([200, 429]).toContain(status);
    const { balance } = (await user.ask('session')).json;
    const gone = BigInt(moved.filter(({ status }) => status < 300).length) * 600_000_000n;
    const [charged] = await database.query(
      "SELECT COALESCE(SUM(amount), 0) AS sum FROM transfer WHERE credit='revenue'",
    );
    expect(parseYuan(balance.total)).toBe(1_000_000_000n - gone - BigInt(charged?.['sum'] ?? 0));
    expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
  });
});
