import { expect, test } from 'vitest';
import { setUserRole } from '../src/accounts/users.ts';
import { migrations } from '../src/app/schema.ts';
import type { OperatorRequest } from '../src/console/contract.ts';
import { refund } from '../src/ledger/ledger.ts';
import { forEachDatabase } from './databases.ts';
import { signedInAs } from './support/console.ts';
import { newCustomer } from './support/customer.ts';
import { hello, startRunning } from './support/running.ts';
import { completion, json, startVendor } from './support/scripted-vendor.ts';

const secretText = 'the text of a prompt that nobody else may read';

const twoChannels = (one: string, two: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
  - { id: m1, owned_by: openai, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }
channels:
  - { name: first-channel, vendor: openai, base_url: "${one}/v1", api_key: up-key, groups: [default], models: [{ id: m1, upstream: up }] }
  - { name: second-channel, vendor: openai, base_url: "${two}/v1", api_key: up-key, groups: [default], models: [{ id: m1, upstream: up }], priority: 9 }
`;

forEachDatabase((_name, _openFresh, fresh) => {
  async function start() {
    const [one, two] = [await startVendor(), await startVendor()];
    const { url: databaseUrl } = await fresh(migrations);
    const running = await startRunning({
      databaseUrl,
      configuration: twoChannels(one.url, two.url),
      yuan: '10',
    });
    const { database } = running.gateway;
    const user = await signedInAs(running.url, database, running.userId);
    const boss = await newCustomer(database, 0n);
    const operator = await signedInAs(running.url, database, boss.userId);
    await database.transact(() => setUserRole(boss.userId, 'operator'));
    const overloaded = (vendor: typeof one): void =>
      vendor.answer((_, response) =>
        json(response, 503, JSON.stringify({ error: { message: `busy with ${secretText}` } })),
      );
    return { ...running, one, two, database, user, operator, overloaded };
  }
  type Started = Awaited<ReturnType<typeof start>>;

  const ask = async (on: Started, body: object) => {
    const response = await on.post('/v1/chat/completions', {
      ...hello,
      messages: [{ role: 'user', content: secretText }],
      ...body,
    });
    await response.text();
    return { status: response.status, id: response.headers.get('x-request-id') ?? '' };
  };
  const found = (on: Started, id: string) =>
    expect.poll(async () => (await on.user.ask(`requests/${id}`)).status, { timeout: 10_000 });

  test('a request that every channel failed is found by its id: by the user without the channels, by the operator with them', async () => {
    const on = await start();
    on.overloaded(on.one);
    on.overloaded(on.two);
    const { status, id } = await ask(on, {});
    expect(status).toBe(503);
    await found(on, id).toBe(200);
    const own = await on.user.ask(`requests/${id}`);
    expect(own.json).toMatchObject({
      id,
      endpoint: 'POST /v1/chat/completions',
      model: 'm1',
      status: 503,
      outcome: 'unavailable',
      charged: false,
    });
    expect(own.json.attempts.length).toBeGreaterThanOrEqual(2);
    for (const hidden of ['first-channel', 'second-channel', 'openai', 'overloaded', secretText])
      expect(own.text).not.toContain(hidden);
    const { json: all, text } = await on.operator.ask(`operator/requests/${id}`);
    const attempts: OperatorRequest['attempts'] = all.attempts;
    expect(new Set(attempts.map(({ channel }) => channel))).toEqual(
      new Set(['first-channel', 'second-channel']),
    );
    expect(attempts[0]?.fault).toMatchObject({ status: 503, stage: 'waiting', may_retry: true });
    expect(text).not.toContain(secretText);
    expect(all.user.id).toBe(on.userId);
    const palette = await on.operator.ask(`find?q=${id}`);
    expect(palette.json.items).toMatchObject([{ path: `/operator/requests/${id}` }]);
    expect((await on.user.ask(`find?q=${id}`)).json.items).toMatchObject([
      { path: `/requests/${id}` },
    ]);
  });

  test('a request that a second channel answered shows both attempts beside its charge', async () => {
    const on = await start();
    on.overloaded(on.one);
    on.two.answer((_, response) => json(response, 200, completion()));
    const { status, id } = await ask(on, {});
    expect(status).toBe(200);
    await expect
      .poll(async () => (await on.operator.ask(`operator/requests/${id}`)).json?.attempts?.length, {
        timeout: 10_000,
      })
      .toBe(2);
    const { json: all } = await on.operator.ask(`operator/requests/${id}`);
    expect(all).toMatchObject({ charged: true, status: 200, channel: 'second-channel' });
    expect(all.attempts.map(({ fault }: { fault: unknown }) => fault === null)).toEqual([
      false,
      true,
    ]);
    // The log measures until the last byte is handed over, the charge until the charge.
    await on.database.query('UPDATE request_log SET duration_ms=duration_ms+85');
    const charge = (await on.user.ask(`usage/${id}`)).json;
    for (const { json: shown } of [
      await on.user.ask(`requests/${id}`),
      await on.operator.ask(`operator/requests/${id}`),
    ]) {
      expect(shown.total_ms).toBe(charge.total_ms);
      expect(shown.attempts.at(-1).ended_ms).toBe(charge.total_ms);
    }
    expect((await on.user.ask('requests')).json.items).toEqual([]);
    expect((await on.operator.ask('operator/requests')).json.items).toEqual([]);
    expect((await on.operator.ask('operator/requests?all=1')).json.items).toHaveLength(1);

    const shown = async () => {
      const { json: own } = await on.user.ask(`requests/${id}`);
      const { json: all } = await on.operator.ask(`operator/requests/${id}`);
      const [listed] = (await on.operator.ask('operator/requests?all=1')).json.items;
      expect(all).toMatchObject({ refunded: own.refunded, attempts_made: own.attempts_made });
      return [own.refunded, listed.attempts_made, listed.attempts.length, own.attempts.length];
    };
    expect(await shown()).toEqual(['none', 2, 2, 2]);
    // The log forgets, and the charge keeps the number.
    await on.database.query('DELETE FROM request_log');
    expect(await shown()).toEqual(['none', 2, 0, 0]);
    const csv = (await on.operator.ask('operator/requests.csv?all=1')).text;
    expect(csv).toMatch(/,,2\r\n$/);
    const back = async (refundId: string, amount: bigint) =>
      refund(on.database, { id: refundId, original: id, amount, at: Date.now() });
    await back('refund-of-part', 1n);
    expect((await shown())[0]).toBe('part');
    const [record] = await on.database.query('SELECT cost-shortfall AS paid FROM usage');
    await back('refund-of-the-rest', BigInt(record?.['paid'] ?? 0) - 1n);
    expect((await shown())[0]).toBe('whole');
  });

  test('a list that asks for more than is kept says from when on failed requests are kept', async () => {
    const on = await start();
    const keptFrom = async (query: string) => [
      (await on.user.ask(`requests?${query}`)).json.kept_from,
      (await on.operator.ask(`operator/requests?user=${on.userId}&${query}`)).json.kept_from,
    ];
    expect(await keptFrom('from=-24h')).toEqual([null, null]);
    expect(await keptFrom('from=-30d'), 'a new user misses none').toEqual([null, null]);
    await on.database.query('UPDATE users SET created_at = 0', []);
    const weekAgo = Date.now() - 7 * 86_400_000;
    for (const from of await keptFrom('from=-30d'))
      expect(Math.abs(Date.parse(from) - weekAgo)).toBeLessThan(60_000);
    const cut = Date.now() - 3_600_000;
    await on.database.query(
      'INSERT INTO request_log_cut (account, complete_from) VALUES ($1, $2)',
      [on.userId, cut],
    );
    const since = new Date(cut).toISOString();
    expect(await keptFrom('from=-24h')).toEqual([since, since]);
    expect((await on.operator.ask('operator/requests?from=-24h')).json.kept_from).toBeNull();
  });

  test('operators list all requests, answered and failed, page by page and by each filter', async () => {
    const on = await start();
    on.two.answer((_, response) => json(response, 200, completion()));
    on.one.answer((_, response) => json(response, 200, completion()));
    const charged = [await ask(on, {}), await ask(on, {})];
    on.overloaded(on.one);
    const retried = await ask(on, {});
    const missing = await ask(on, { model: 'no-such-model' });
    await found(on, missing.id).toBe(200);
    const newestFirst = [missing, retried, ...charged.toReversed()].map(({ id }) => id);
    const idsOf = async (query: string): Promise<readonly string[]> => {
      const { json: page } = await on.operator.ask(`operator/requests?${query}`);
      const ids = page.items.map(({ id }: OperatorRequest) => id);
      if (page.next === null) return ids;
      return [...ids, ...(await idsOf(`${query}&after=${encodeURIComponent(page.next)}`))];
    };
    await expect.poll(() => idsOf('all=1'), { timeout: 10_000 }).toEqual(newestFirst);
    expect(await idsOf('all=1&limit=1')).toEqual(newestFirst);
    expect(await idsOf('from=-1h')).toEqual([missing.id]);
    const answered = newestFirst.slice(1);
    for (const query of [
      ...['status=200', 'status=2xx', 'model=m1', 'code=ok', 'from=-1h&limit=2&model=m1'],
      `user=${on.userId}&model=m1`,
    ])
      expect(await idsOf(`all=1&${query}`), query).toEqual(answered);
    expect(await idsOf('all=1&status=4xx')).toEqual([missing.id]);
    expect(await idsOf('all=1&channel=second-channel')).toEqual([retried.id]);
    expect(await idsOf(`all=1&id=${charged[0]?.id}`)).toEqual([charged[0]?.id]);
    expect(await idsOf('all=1&user=usr_other')).toEqual([]);
    expect(await idsOf('all=1&to=-1h')).toEqual([]);
    const { json: page } = await on.operator.ask('operator/requests?all=1');
    for (const { id, total_ms: totalMs } of page.items as readonly OperatorRequest[])
      expect((await on.operator.ask(`operator/requests/${id}`)).json.total_ms).toBe(totalMs);
    const csv = (await on.operator.ask('operator/requests.csv?all=1')).text;
    for (const id of newestFirst) expect(csv.split(id)).toHaveLength(2);
  });

  test('refusals before a vendor is called are found, with the model that the body named', async () => {
    const on = await start();
    const missing = await ask(on, { model: 'no-such-model' });
    const wrong = await ask(on, { temperature: 'hot' });
    const away = await on.post('/v1/nowhere', {});
    expect([missing.status, wrong.status, away.status]).toEqual([404, 400, 404]);
    await expect
      .poll(async () => (await on.user.ask('requests')).json.items.length, { timeout: 10_000 })
      .toBe(3);
    const { items } = (await on.user.ask('requests')).json;
    expect(items).toMatchObject([
      { outcome: 'unknown_url', endpoint: 'POST /v1/nowhere' },
      { outcome: 'invalid_type', param: 'temperature', model: 'm1' },
      { outcome: 'model_not_found', model: 'no-such-model', status: 404 },
    ]);
    expect((await on.user.ask('requests?status=4xx&model=m1')).json.items).toHaveLength(1);
    expect((await on.user.ask('requests?status=hot')).status).toBe(400);
  });

  test('another account reads nothing of it, and a stranger leaves nothing', async () => {
    const on = await start();
    const { id } = await ask(on, { model: 'no-such-model' });
    await found(on, id).toBe(200);
    const other = await newCustomer(on.database, 0n);
    const reader = await signedInAs(on.url, on.database, other.userId);
    expect((await reader.ask(`requests/${id}`)).status).toBe(404);
    expect((await reader.ask(`find?q=${id}`)).json.items).toEqual([]);
    expect((await reader.ask('operator/requests')).status).toBe(403);
    const stranger = await fetch(`${on.url}/v1/models`, {
      headers: { authorization: 'Bearer sk-nobody' },
    });
    expect(stranger.status).toBe(401);
    const csv = await on.operator.ask('operator/requests.csv');
    expect(csv.text.trimEnd().split('\r\n')).toHaveLength(2);
    expect(csv.text).toContain(id);
  });
});
