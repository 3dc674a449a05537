import { expect, onTestFinished, test, vi } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Env } from '../base/env.ts';
import { forEachDatabase } from '../../test/databases.ts';
import { charge } from '../../test/support/console-user.ts';
import { newCustomer } from '../../test/support/customer.ts';
import { hello, masterKey, oneModel, startRunning } from '../../test/support/running.ts';
import { completion, json, startVendor } from '../../test/support/scripted-vendor.ts';
import { auditPage } from '../accounts/audit.ts';
import { migrations } from '../app/schema.ts';
import { systemClock } from '../base/clock.ts';
import { recordConfiguration } from '../catalog/catalog-store.ts';
import { defaultGroup } from '../catalog/configuration.ts';
import { operatorRequests } from '../console/operator/requests.ts';
import { requestLogPage, writeRequests } from '../request-log/queries.ts';
import type { LoggedRequest } from '../request-log/entry.ts';
import { openSealer } from '../storage/seal.ts';
import { serves } from '../app/gateway.ts';
import { readConfiguration } from '../catalog/config.ts';
import { describeProblems } from '../catalog/problem.ts';
import { vendors } from '../providers/index.ts';
import { importPricesCommand } from './prices.ts';
import * as channel from './channel.ts';
import * as key from './key.ts';
import { link } from './link.ts';
import { followLog, logsCommand } from './logs.ts';
import { listModelsCommand } from './model.ts';
import { recordPayment } from '../payments/orders.ts';
import { listOrdersCommand, listUnmatchedCommand } from './order.ts';
import { statusCommand } from './status.ts';
import { usageCommand } from './usage.ts';
import * as user from './user.ts';

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Commands on one database; `shown` is the text for people, `value` the JSON. */
function commandsOn(databaseUrl: string) {
  vi.stubEnv('FORCE_COLOR', '0');
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  onTestFinished(() => {
    log.mockRestore();
    vi.unstubAllEnvs();
    process.exitCode = undefined;
  });
  const env = {
    DATABASE_URL: databaseUrl,
    TOLLGATE_MASTER_KEY: masterKey.toString('base64'),
  };
  const data = temporaryFolder();
  type Command<T> = (options: T, env: Readonly<Record<string, string>>) => Promise<void>;
  return {
    async value<const T extends object>(
      command: Command<T & { data: string; json: true }>,
      options: T,
    ) {
      await command({ ...options, data, json: true }, env);
      return JSON.parse(String(log.mock.lastCall?.[0]));
    },
    async shown<const T extends object>(command: Command<T & { data: string }>, options: T) {
      await command({ ...options, data }, env);
      return String(log.mock.lastCall?.[0]);
    },
  };
}

forEachDatabase((_name, _openFresh, fresh) => {
  async function installed() {
    const place = await fresh(migrations);
    const database = await place.open();
    const one = { groups: [defaultGroup], models: [], channels: [], warnings: [] };
    await recordConfiguration(database, one, openSealer(masterKey), systemClock);
    return { database, ...commandsOn(place.url) };
  }

  test('a debit takes what is free and no more, once for each id, with its reason in the trail', async () => {
    const { database, value } = await installed();
    const { userId } = await newCustomer(database, 10_000_000_000n);
    const wish = { user: userId, amount: '4.00', reason: 'mistaken top-up' };
    expect(await value(user.debitUserCommand, { ...wish, id: 'once' })).toMatchObject({
      balance: '6.00',
    });
    expect(await value(user.debitUserCommand, { ...wish, id: 'once' })).toMatchObject({
      balance: '6.00',
    });
    await expect(
      value(user.debitUserCommand, { ...wish, id: 'once', amount: '3.00' }),
    ).rejects.toThrow('a debit with the id once exists');
    await expect(value(user.debitUserCommand, { ...wish, amount: '6.01' })).rejects.toThrow(
      'less than 6.01 yuan available: balance 6.00, of which tasks hold 0.00',
    );
    for (const [amount, words] of [
      ['0', '--amount is more than 0'],
      ['99999999999', '--amount is a sum below 1,000,000,000 yuan'],
      ['ten', "--amount is a sum in yuan such as 10.00, not 'ten'"],
    ] as const)
      await expect(value(user.debitUserCommand, { ...wish, amount })).rejects.toThrow(words);
    await expect(value(user.debitUserCommand, { ...wish, user: 'usr_nobody' })).rejects.toThrow(
      'there is no user usr_nobody',
    );
    await expect(value(user.debitUserCommand, { ...wish, reason: ' ' })).rejects.toThrow(
      '--reason is a text',
    );
    const trail = await auditPage(database, { account: userId, limit: 9 });
    expect(trail).toMatchObject([
      {
        actorKind: 'command',
        action: 'user.debit',
        reason: 'mistaken top-up',
        after: { amount: '-4.00', transfer: 'debit_once' },
      },
    ]);
  });

  test('a user is suspended and resumed; the last operator is not', async () => {
    const { database, value, shown } = await installed();
    const { userId } = await newCustomer(database, 1n);
    const reason = 'abuse';
    const turn = (id: string, yes: boolean) => (options: object, env: object) =>
      user.suspendUserCommand(id, yes, { ...options, reason }, { ...env });
    expect(await value(turn(userId, true), {})).toMatchObject({ id: userId, state: 'suspended' });
    expect(await shown(turn(userId, false), {})).toBe(`${userId} (test) is active`);
    const { id: boss } = await value(user.createUserCommand, { name: 'Boss', role: 'operator' });
    await expect(value(turn(boss, true), {})).rejects.toThrow('is the last operator');
    await value(user.createUserCommand, { name: 'Second', role: 'operator' });
    expect(await value(turn(boss, true), {})).toMatchObject({ state: 'suspended' });
    const trail = await auditPage(database, { account: userId, limit: 9 });
    expect(trail.map(({ action, actorKind, reason: why }) => [action, actorKind, why])).toEqual([
      ['user.restore', 'command', 'abuse'],
      ['user.suspend', 'command', 'abuse'],
    ]);
  });

  test('a user is named by a name that nobody else has, in every command', async () => {
    const { value, shown } = await installed();
    const { id: bob } = await value(user.createUserCommand, { name: 'Bob', role: 'user' });
    const wish = { user: 'Bob', amount: '4.00', reason: 'welcome' };
    expect(await value(user.creditUserCommand, wish)).toMatchObject({ id: bob, balance: '4.00' });
    expect(await value(user.debitUserCommand, wish)).toMatchObject({ id: bob, balance: '0.00' });
    const suspend = (options: object, env: object) =>
      user.suspendUserCommand('Bob', false, { ...options, reason: 'x' }, { ...env });
    expect(await value(suspend, {})).toMatchObject({ id: bob });
    expect(await value(key.createKeyCommand, { user: 'Bob', group: 'default' })).toMatchObject({
      group: 'default',
    });
    const address = await shown(link, { user: 'Bob', host: '0.0.0.0', port: 8_081 });
    expect(address).toMatch(/^http:\/\/127\.0\.0\.1:8081\/auth[^]*within 15 minutes/);
    expect(await shown(link, { user: bob, host: '::' })).toMatch(/^http:\/\/\[::1\]:8080\//);
    await value(user.createUserCommand, { name: 'Bob', role: 'user' });
    await expect(value(user.creditUserCommand, wish)).rejects.toThrow('2 users are called Bob');
    await expect(value(link, { user: 'Eve', host: 'h' })).rejects.toThrow('there is no user Eve');
  });

  test('an end is a day or a time that exists, and is told', async () => {
    const { value, shown } = await installed();
    await value(user.createUserCommand, { name: 'Bob', role: 'user' });
    const wish = { user: 'Bob', group: 'default' };
    for (const expires of ['2027-02-30', 'Ada 2099', '1/2/2027', '2099', '2020-01-01'])
      await expect(value(key.createKeyCommand, { ...wish, expires }), expires).rejects.toThrow(
        `--expires is a future time such as 2027-01-31, not '${expires}'`,
      );
    expect(await value(key.createKeyCommand, { ...wish, expires: '2099-01-31' })).toMatchObject({
      expires_at: Date.UTC(2099, 0, 31),
    });
    const expires = '2099-01-31T12:00:00+08:00';
    expect(await shown(key.createKeyCommand, { ...wish, expires })).toContain(
      'group default, until 2099-01-31T04:00:00.000Z;',
    );
    for (const since of ['2026-02-30', '2026-01-31 or so'])
      await expect(value(usageCommand, { by: 'model', since, limit: 9 })).rejects.toThrow(
        '--since is 30m',
      );
  });

  test('namesakes are told apart, and no letter or longer name hides a user', async () => {
    const { database, value } = await installed();
    const made = async (name: string) =>
      (await value(user.createUserCommand, { name, role: 'user' })).id;
    const credited = (name: string) =>
      value(user.creditUserCommand, { user: name, amount: '1.00', reason: 'welcome' });
    const emile = await made('Émile');
    const first = await made('Ada');
    await database.transact(function* () {
      for (let i = 0; i < 60; i++) yield* user.makeUser(`Canada ${i}`, 'user', systemClock.now());
    });
    expect(await credited('Émile')).toMatchObject({ id: emile });
    expect(await credited('Ada')).toMatchObject({ id: first });
    await expect(credited('émile')).rejects.toThrow('there is no user émile');
    const second = await made('Ada');
    await expect(credited('Ada')).rejects.toThrow(`2 users are called Ada: ${first}, ${second}`);
  });

  test('each spending limit of a key is told with its span, and none where there is none', async () => {
    const { database, shown } = await installed();
    const { key: made } = await newCustomer(database, 1n);
    const limit = (options: object) => (shared: { readonly data: string }, env: Env) =>
      key.limitKeyCommand(made.id, { ...shared, ...options }, env);
    expect(await shown(limit({ limit: '0.0001', monthlyLimit: '2' }), {})).toBe(
      `${made.id} may spend 0.0001 yuan in total, 2.00 yuan per month`,
    );
    expect(await shown(limit({ limit: 'none', monthlyLimit: 'none' }), {})).toBe(
      `${made.id} has no spending limit`,
    );
  });

  test('a model that no channel sells is listed as such', async () => {
    const { database, shown } = await installed();
    const read = await readConfiguration(
      `
models: [{ id: sold, price: { input: 1, output: 1 } }, { id: mine, price: { input: 1, output: 1 } }]
channels: [{ name: a, vendor: openai, api_key: k, models: [sold] }]
`,
      { env: {}, vendors: [...vendors.values()], serves, now: systemClock.now() },
    );
    if (!read.ok) throw new Error(describeProblems('it', read.problems));
    await recordConfiguration(database, read.configuration, openSealer(masterKey), systemClock);
    const listed = await shown(listModelsCommand, {});
    expect(listed).toMatch(/^sold +chat +openai +sold +1 /m);
    expect(listed).toMatch(/^mine +chat +\S+ +no channel +0 /m);
  });

  test('hours with another price are listed, and an import says which of them it removes', async () => {
    const { database, shown } = await installed();
    const read = await readConfiguration(
      `
groups: [{ name: default }]
models:
  - id: deepseek-chat
    kind: chat
    price:
      { input: 2, output: 3, windows: [
        { name: peak, zone: Asia/Shanghai, from: "09:00", to: "12:00", times: 2 },
        { name: night, zone: Asia/Shanghai, from: "23:00", to: "01:00", wraps: true, times: 1/2 }] }
channels: [{ name: a, vendor: deepseek, api_key: k, models: [deepseek-chat] }]
`,
      { env: {}, vendors: [...vendors.values()], serves, now: systemClock.now() },
    );
    if (!read.ok) throw new Error(describeProblems('it', read.problems));
    await recordConfiguration(database, read.configuration, openSealer(masterKey), systemClock);
    expect(await shown(listModelsCommand, {})).toContain(
      'output 3.00/M; 09:00–12:00 ×2, 23:00–01:00 ×1/2',
    );
    const list = join(temporaryFolder(), 'prices.yaml');
    writeFileSync(list, '[{ id: deepseek-chat, price: { input: 2, output: 4 } }]');
    const take = (options: { readonly data: string }, env: Env) =>
      importPricesCommand(list, options, env);
    expect((await shown(take, {})).split('\n')).toEqual([
      '1 price changed, 0 unchanged',
      '  deepseek-chat: output 3 → 4',
      '  deepseek-chat: removes the price windows (09:00–12:00 ×2, 23:00–01:00 ×1/2)',
      'the new prices are in force within a second',
    ]);
    expect(await shown(take, {})).toBe('0 prices changed, 1 unchanged');
    writeFileSync(list, '[{ id: deepseek-chat, price: { input: 2000, output: 4 } }]');
    const doubt = /^1 price would change.*\n.*input 2 → 2000\nprices of deepseek-chat .*units/;
    expect(await shown(take, { dryRun: true })).toMatch(doubt);
    expect(process.exitCode).toBeUndefined();
    expect(await shown(take, {})).toMatch(new RegExp(`${doubt.source}.*\\nnothing was changed$`));
    expect(process.exitCode).toBe(1);
    process.exitCode = undefined;
    const accept = { acceptFarOff: true };
    expect(await shown(take, { ...accept, dryRun: true })).toMatch(/^1 price would change/);
    expect(await shown(take, accept)).toMatch(/^1 price changed[^]*in force/);
  });

  const logged = (account: string, keyId: string, index: number): LoggedRequest => {
    const at = systemClock.now() - 60_000 + index;
    const attempt = { stage: 'waiting', beganMs: 1, endedMs: 9, mayRetry: true } as const;
    return {
      id: `req_${at.toString(16).padStart(12, '0')}${String(index).padStart(20, '0')}`,
      at,
      account,
      keyId,
      endpoint: 'POST /v1/chat/completions',
      model: index === 1 ? 'm1' : 'm2\u001b[2J',
      channel: 'a',
      status: index === 1 ? 503 : 429,
      outcome: index === 1 ? 'unavailable' : 'rate_limited',
      param: undefined,
      durationMs: 12,
      attempts: [{ ...attempt, channel: 'a', fault: 'overloaded', status: 503 }],
    };
  };

  test('the log is filtered, follows what comes, and tells one request with its attempts', async () => {
    const { database, value, shown } = await installed();
    const { userId, key } = await newCustomer(database, 1n);
    const [one, two] = [logged(userId, key.id, 1), logged(userId, key.id, 2)];
    await database.transact(() => writeRequests([one, two]));
    const logs = (id?: string) => (options: object, env: Readonly<Record<string, string>>) =>
      logsCommand(id, { limit: 50, ...options }, env);
    const ids = async (filter: object) =>
      (await value(logs(), filter)).map(({ id }: { id: string }) => id);
    expect(await ids({})).toEqual([one.id, two.id]);
    expect(await ids({ status: '5xx' })).toEqual([one.id]);
    expect(await ids({ user: 'test', key: key.id, model: 'm1', channel: 'a' })).toEqual([one.id]);
    expect(await ids({ code: 'unavailable', since: '1h' })).toEqual([one.id]);
    expect(await ids({ since: '2000-01-01', limit: 1 })).toEqual([two.id]);
    expect(await shown(logs(), { user: userId })).not.toContain('\u001b');
    await expect(value(logs(), { status: 'x' })).rejects.toThrow('--status is a status');
    await expect(value(logs(), { since: 'x' })).rejects.toThrow('--since is 30m, 24h');
    await expect(value(logs('req_none'), {})).rejects.toThrow('there is no request req_none');
    expect(await value(logs(one.id), {})).toMatchObject({
      id: one.id,
      charged: false,
      attempts: [{ channel: 'a', fault: { kind: 'overloaded', status: 503 } }],
    });
    await database.query("UPDATE api_keys SET name = '' WHERE id = $1", [key.id]);
    expect(await shown(logs(one.id), {})).toMatch(new RegExp(`\\n +key +${key.id}\\n`));
    expect(await shown(logs(one.id), {})).toMatch(/\n +took +\d+ ms\n/);
    expect(await shown(logs(one.id), {})).toMatch(/503 unavailable[^]*\n1 +a +overloaded +503/);
    const stop = new AbortController();
    const told: string[] = [];
    const seen = await operatorRequests(
      database,
      await database.snapshot(() => requestLogPage({ limit: 9 })),
    );
    const after = { ...logged(userId, key.id, 3), at: systemClock.now() + 5_000 };
    const late = {
      ...after,
      id: `req_${after.at.toString(16).padStart(12, '0')}${'0'.repeat(20)}`,
    };
    const tell = (requests: readonly { readonly id: string }[]): void => {
      told.push(...requests.map(({ id }) => id));
      stop.abort();
    };
    const following = followLog(database, { limit: 9 }, seen, tell, stop.signal, 10);
    await database.transact(() => writeRequests([late]));
    await following;
    expect(told).toEqual([late.id]);
  });

  test('usage adds up a period by model, key and user', async () => {
    const { database, value, shown } = await installed();
    const [ada, bob] = [
      await newCustomer(database, 10n ** 10n),
      await newCustomer(database, 10n ** 10n),
    ];
    const now = systemClock.now();
    const spend = (id: string, of: typeof ada, model: string, ageMs: number, cost: bigint) =>
      charge(database, {
        id,
        account: of.userId,
        keyId: of.key.id,
        at: now - ageMs,
        model,
        lines: [['input', 1, cost, cost]],
      });
    await spend('req_1', ada, 'm1', 1_000, 3_000_000_000n);
    await spend('req_2', ada, 'm2', 7_200_000, 1_000_000_000n);
    await spend('req_3', bob, 'm1', 1_000, 2_000_000_000n);
    const ask = (options: object) =>
      value(usageCommand, { by: 'model', since: '30d', limit: 50, ...options });
    expect(await ask({})).toMatchObject({
      requests: 3,
      yuan: '6.00',
      items: [
        { model: 'm1', requests: 2, yuan: '5.00' },
        { model: 'm2', requests: 1, yuan: '1.00' },
      ],
    });
    expect((await ask({ by: 'user', since: '1h' })).items).toMatchObject([
      { user: ada.userId, name: 'test', yuan: '3.00' },
      { user: bob.userId, name: 'test', yuan: '2.00' },
    ]);
    expect((await ask({ by: 'key', user: ada.userId })).items).toEqual([
      { key: ada.key.id, name: 'test', user: ada.userId, requests: 2, yuan: '4.00' },
    ]);
    expect((await ask({ model: 'm2', key: ada.key.id })).yuan).toBe('1.00');
    expect(await shown(usageCommand, { by: 'model', since: '30d', limit: 1 })).toMatch(
      /m1 +2 +5\.00 +83\.3 %\n3 requests, 6\.00 yuan since .*; 1 more with --limit$/,
    );
    await expect(ask({ user: 'test' })).rejects.toThrow('2 users are called test');
    expect(await shown(usageCommand, { by: 'model', since: '30d', limit: 5 })).toMatch(
      /m2 +1 +1\.00 +16\.7 %/,
    );
    await expect(ask({ until: '2000-01-01' })).rejects.toThrow('--since is before --until');
  });

  test('the state of a gateway: nobody runs, then one node and its channels, which can be tested', async () => {
    const before = await installed();
    expect(await before.value(statusCommand, {})).toMatchObject({ running: false, channels: [] });
    expect(await before.shown(statusCommand, {})).toContain('the gateway is not running');
    expect(await before.shown(listOrdersCommand, { limit: 5 })).toBe(
      'there are no matching orders',
    );
    expect(await before.shown(listUnmatchedCommand, { limit: 5 })).toBe(
      'there are no such payments',
    );
    await before.database.transact(() =>
      recordPayment(
        'alipay',
        { orderId: 'ord_gone', number: '2088', amount: 2_000_000_000n, currency: 'CNY', paidAt: 1 },
        1,
      ),
    );
    expect(await before.value(listUnmatchedCommand, { limit: 5 })).toEqual([
      {
        at: '1970-01-01T00:00:00.001Z',
        wallet: 'alipay',
        number: '2088',
        currency: 'CNY',
        why: 'no such order',
        order: 'ord_gone',
        amount: '2.000000000',
      },
    ]);
    expect(await before.shown(listUnmatchedCommand, { limit: 5 })).toMatch(
      /alipay +2088 +ord_gone +2\.00 +CNY +no such order/,
    );
    const vendor = await startVendor();
    vendor.answer((_, response) => json(response, 200, completion('It works.')));
    const { url } = await fresh();
    const running = await startRunning({
      databaseUrl: url,
      configuration: oneModel(vendor.url),
      yuan: '5',
    });
    const answer = await running.post('/v1/chat/completions', hello);
    await answer.text();
    const { value, shown } = commandsOn(url);
    const id = answer.headers.get('x-request-id') ?? '';
    expect(
      await shown((options, env) => logsCommand(id, { limit: 1, ...options }, env), {}),
    ).toMatch(/took +\d+ ms until it was charged\n +charged +yes/);
    await expect
      .poll(async () => (await value(statusCommand, {})).running, { timeout: 15_000 })
      .toBe(true);
    const status = await value(statusCommand, {});
    expect(status).toMatchObject({
      nodes: [{ open_streams: 0 }],
      today: { requests: 1 },
      channels: [{ name: 'a', state: 'healthy' }, { name: 'b' }],
    });
    expect(JSON.stringify(status)).not.toContain('up-key');
    expect(await shown(statusCommand, {})).toMatch(/gateway +running: 1 node, /);
    expect(await shown(channel.listChannelsCommand, {})).toMatch(/\na +openai +healthy +0 +1 /);
    const tested = (name: string, model?: string) => (options: object, env: object) =>
      channel.testChannelCommand(name, { ...options, ...(model && { model }) }, { ...env });
    expect(await value(tested('a'), {})).toMatchObject({
      ok: true,
      model: 'm1',
      capability: 'chat',
      answer: 'It works.',
    });
    vendor.answer((_, response) => json(response, 401, '{"error":{"message":"no: up-key"}}'));
    expect(await shown(tested('a'), {})).toMatch(/^a, chat with m1: failed \(401\)[^]*no: /);
    expect(process.exitCode).toBe(1);
    await expect(value(tested('x'), {})).rejects.toThrow('there is no channel x; ');
    await expect(value(tested('a', 'hidden'), {})).rejects.toThrow('a does not sell hidden');
    expect(await value(listModelsCommand, {})).toMatchObject([
      { id: 'hidden', channels: ['b'] },
      { id: 'm1', kind: 'chat', channels: ['a'] },
    ]);
    expect(await shown(listModelsCommand, {})).toMatch(
      /m1 +chat +openai +sold +1 +input 1000\.00\/M/,
    );
  });
});
