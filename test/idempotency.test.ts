import { mkdtemp, rm } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { systemClock } from '../src/base/clock.ts';
import { nanoPerYuan, parseYuan } from '../src/base/money.ts';
import type { OperatorTrend } from '../src/console/contract.ts';
import { check } from '../src/ledger/check.ts';
import { balance, credit } from '../src/ledger/ledger.ts';
import { open } from '../src/storage/open.ts';
import { type Fresh, forEachDatabase, onPostgres } from './databases.ts';
import { newBrowser } from './support/console.ts';
import { newCustomer } from './support/customer.ts';
import { startProcess } from './support/process.ts';
import { hello, oneModel, type Running, startGateway, startRunning } from './support/running.ts';
import {
  chunk,
  completion,
  json,
  type ScriptedVendor,
  sse,
  startVendor,
  streamOf,
} from './support/scripted-vendor.ts';

const path = '/v1/chat/completions';

interface Started {
  readonly vendor: ScriptedVendor;
  readonly running: Running;
  readonly databaseUrl: string;
}

async function startOn(fresh: Fresh): Promise<Started> {
  const vendor = await startVendor();
  const { url: databaseUrl } = await fresh(migrations);
  return {
    vendor,
    running: await startRunning({ databaseUrl, configuration: oneModel(vendor.url) }),
    databaseUrl,
  };
}

const withVoice = (url: string): string =>
  oneModel(url)
    .replace(
      'channels:',
      '  - { id: voice, owned_by: openai, kind: speech, price: { character: 0.0001 } }\nchannels:',
    )
    .replace('upstream: up }', 'upstream: up }, { id: voice, upstream: tts-1 }');

const ask = (running: Running, key: string, body: object = hello, signal?: AbortSignal) =>
  running.post(path, body, { headers: { 'idempotency-key': key }, ...(signal && { signal }) });

async function expectOneCharge(running: Running): Promise<void> {
  expect(await running.usage()).toHaveLength(1);
  await running.expectBooks();
}

const nano = (yuan: string): bigint => parseYuan(yuan) ?? 0n;

/** The operator's overview and the proof of the ledger say what the user paid in the end. */
async function expectNetRevenue({ url, gateway }: Running, paid: bigint): Promise<void> {
  const operator = await newBrowser(url, gateway.database, 'operator');
  await operator.ask('operator/ledger/check', { method: 'POST' });
  const [proof] = (await operator.ask('operator/ledger/checks')).json.items;
  const trend: OperatorTrend = (await operator.ask('operator/trend?period=today')).json;
  const total = (parts: readonly { readonly revenue: string }[]) =>
    parts.reduce((sum, { revenue }) => sum + nano(revenue), 0n);
  expect(paid).toBeGreaterThan(0n);
  expect(nano(proof.customers.charges)).toBe(paid);
  expect(nano(trend.period.revenue)).toBe(paid);
  expect([trend.series, trend.models, trend.users].map(total)).toEqual([paid, paid, paid]);
  expect(trend.period).toMatchObject({ requests: 2, active_users: 1 });
}

forEachDatabase((name, _openFresh, fresh) => {
  const start = () => startOn(fresh);

  test.each([false, true])(
    'a submission that is repeated is answered the same and charged once (stream: %s)',
    async (stream) => {
      const { vendor, running } = await start();
      const first = await ask(running, 'k', { ...hello, stream });
      const said = await first.text();
      expect(first.headers.get('idempotent-replayed')).toBeNull();
      const again = await ask(running, 'k', { ...hello, stream });
      expect(await again.text()).toBe(said);
      expect([
        again.status,
        again.headers.get('idempotent-replayed'),
        again.headers.get('content-type'),
      ]).toEqual([200, 'true', first.headers.get('content-type')]);
      expect(vendor.received).toHaveLength(1);
      await expectOneCharge(running);
    },
  );

  test('sound and a list of Google’s are answered byte for byte as before', async () => {
    const vendor = await startVendor();
    const { url: databaseUrl } = await fresh(migrations);
    const running = await startRunning({ databaseUrl, configuration: withVoice(vendor.url) });
    const sound = Buffer.from(Array.from({ length: 512 }, (_, i) => i % 256));
    vendor.answer(({ url }, response) =>
      url.endsWith('/audio/speech')
        ? response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(sound)
        : sse(response).end(streamOf(['Hel', 'lo'])),
    );
    const submissions = [
      ['/v1/audio/speech', { model: 'voice', input: 'Hello', voice: 'alloy' }, 'audio/mpeg'],
      [
        '/v1beta/models/m1:streamGenerateContent',
        { contents: [{ parts: [{ text: 'Hello' }] }] },
        'application/json; charset=UTF-8',
      ],
    ] as const;
    for (const [at, body, type] of submissions) {
      const submit = () => running.post(at, body, { headers: { 'idempotency-key': at } });
      const [first, again] = [await submit(), await submit()];
      const said = Buffer.from(await first.arrayBuffer());
      expect(Buffer.from(await again.arrayBuffer()).equals(said)).toBe(true);
      expect([first, again].map(({ headers }) => headers.get('content-type'))).toEqual([
        type,
        type,
      ]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      if (at === '/v1/audio/speech') expect(said.equals(sound)).toBe(true);
      else expect(JSON.parse(said.toString())).toHaveLength(3);
    }
    expect(vendor.received).toHaveLength(2);
    expect(await running.usage()).toHaveLength(2);
    await running.expectBooks();
  });

  /** From now on nothing can be written there. */
  const closed = (running: Running) =>
    running.gateway.database.query(
      name === 'sqlite'
        ? `CREATE TRIGGER closed BEFORE INSERT ON answer BEGIN SELECT RAISE(ABORT, 'closed'); END`
        : 'ALTER TABLE answer ADD CONSTRAINT closed CHECK (false) NOT VALID',
    );
  const opened = (running: Running) =>
    running.gateway.database.query(
      name === 'sqlite' ? 'DROP TRIGGER closed' : 'ALTER TABLE answer DROP CONSTRAINT closed',
    );

  test.each([
    ['money', {}, path, 'insufficient_quota'],
    ['requests', { limits: '{ rpm: 1 }' }, path, 'rate_limit_exceeded'],
    ['a model', { model: 'm2' }, path, 'model_not_found'],
    [
      'money, in the background',
      { background: true, input: 'Hello' },
      '/v1/responses',
      'insufficient_quota',
    ],
  ])(
    'what is refused for want of %s leaves nothing behind, and its key is new',
    async (want, { limits, ...asked }: Record<string, unknown>, at, code) => {
      const vendor = await startVendor();
      const { url: databaseUrl } = await fresh(migrations);
      const configuration = oneModel(vendor.url).replace('price_multiplier: 1.0', (text) =>
        typeof limits === 'string' ? `${text}, limits: ${limits}` : text,
      );
      const running = await startRunning({
        databaseUrl,
        configuration,
        yuan: want.startsWith('money') ? '0.001' : '100',
      });
      const { messages, ...rest } = hello;
      const body =
        'input' in asked
          ? { model: rest.model, max_output_tokens: 50, ...asked }
          : { ...rest, messages, ...asked };
      if (limits !== undefined) expect((await running.post(path, hello)).status).toBe(200);
      const before = vendor.received.length;
      const submit = () => running.post(at, body, { headers: { 'idempotency-key': 'k' } });
      await closed(running);
      for (let i = 0; i < 2; i++)
        expect(await (await submit()).json()).toMatchObject({ error: { code } });
      await opened(running);
      expect(vendor.received).toHaveLength(before);
      expect(await running.gateway.database.query('SELECT key FROM answer')).toEqual([]);
      if (!want.startsWith('money')) return;
      const { userId: account } = running;
      await credit(running.gateway.database, {
        id: 'grant_later',
        account,
        amount: nanoPerYuan,
        from: 'grants',
        code: 'grant',
        at: 1,
      });
      const said = await submit();
      expect(said.status).toBe(200);
      expect(await (await submit()).text()).toBe(await said.text());
      await expect.poll(() => vendor.received.length).toBe(1);
      if (at === path) expect(await running.usage()).toHaveLength(1);
      await running.expectBooks();
    },
  );

  test('a key names one request of one account', async () => {
    const { vendor, running } = await start();
    await (await ask(running, 'k')).text();
    const other = await ask(running, 'k', { ...hello, max_tokens: 49 });
    expect(other.status).toBe(400);
    expect(await other.json()).toMatchObject({ error: { code: 'idempotency_key_reuse' } });
    expect((await ask(running, 'k'.repeat(256))).status).toBe(400);
    expect((await ask(running, 'l', { ...hello, max_tokens: 49 })).status).toBe(200);
    expect(vendor.received).toHaveLength(2);
  });

  test('who repeats a submission while it runs waits for its answer', async () => {
    const { vendor, running } = await start();
    let finish = (): void => {};
    vendor.answer((_request, response) => {
      finish = () => json(response, 200, completion());
    });
    const asked = Array.from({ length: 5 }, () => ask(running, 'k'));
    await expect.poll(() => vendor.received.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    finish();
    const said = await Promise.all(asked.map(async (answer) => (await answer).text()));
    expect(new Set(said).size).toBe(1);
    expect(vendor.received).toHaveLength(1);
    await expectOneCharge(running);
  });

  test('who waited for a submission that failed is answered by a request of its own', async () => {
    const { vendor, running } = await start();
    let finish = (): void => {};
    vendor.answer((_request, response) => {
      finish = () => json(response, 400, '{"error":{"message":"no"}}');
      vendor.answer((_again, better) => json(better, 200, completion()));
    });
    const asked = Array.from({ length: 5 }, () => ask(running, 'k'));
    await expect.poll(() => vendor.received.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 300));
    finish();
    const statuses = await Promise.all(asked.map(async (answer) => (await answer).status));
    expect(statuses.toSorted()).toEqual([200, 200, 200, 200, 400]);
    expect(vendor.received).toHaveLength(2);
    await expectOneCharge(running);
  });

  test('a client that leaves finds the answer when it comes again', async () => {
    const { vendor, running } = await start();
    let finish = (): void => {};
    vendor.answer((_request, response) => {
      sse(response).write(chunk({ role: 'assistant', content: 'Hel' }));
      finish = () => response.end(streamOf(['lo']));
    });
    const leaving = new AbortController();
    const left = await ask(running, 'k', { ...hello, stream: true }, leaving.signal);
    await left.body?.getReader().read();
    leaving.abort();
    await new Promise((resolve) => setTimeout(resolve, 50));
    finish();
    const said = await (await ask(running, 'k', { ...hello, stream: true })).text();
    expect(said).toContain('Hel');
    expect(said.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(vendor.received).toHaveLength(1);
    await expectOneCharge(running);
  });

  test('what was refused or broken off is not remembered: the next try is a new one', async () => {
    const { vendor, running } = await start();
    vendor.answer((_request, response) => json(response, 400, '{"error":{"message":"no"}}'));
    expect((await ask(running, 'k')).status).toBe(400);
    vendor.answer((_request, response) =>
      sse(response).end(chunk({ role: 'assistant', content: 'Hel' })),
    );
    const cut = await ask(running, 'l', { ...hello, stream: true });
    expect(await cut.text()).toContain('"error"');
    vendor.answer((request, response) =>
      request.text.includes('"stream":true')
        ? sse(response).end(streamOf(['Hello']))
        : json(response, 200, completion()),
    );
    expect((await ask(running, 'k')).status).toBe(200);
    expect(await (await ask(running, 'l', { ...hello, stream: true })).text()).toContain('[DONE]');
    await running.expectBooks();
  });

  test('a submission whose process died, charged or not, is run again after its time, and charged once in all', async () => {
    const { vendor, running } = await start();
    const { database } = running.gateway;
    const before = await running.balance();
    const said = await (await ask(running, 'k')).text();
    const after = await running.balance();
    // As a crash leaves it: the charge is committed, the answer is not, and nobody says any more
    // that it runs.
    await database.query('UPDATE answer SET lease_until=$1, content_type=NULL, body=NULL', [
      systemClock.now() + 400,
    ]);
    expect((await ask(running, 'k')).headers.get('idempotent-replayed')).toBeNull();
    expect(vendor.received).toHaveLength(2);
    expect(await running.balance()).toBe(after);
    expect(Number(after)).toBeLessThan(Number(before));
    expect(await running.usage()).toHaveLength(2);
    expect((await database.query("SELECT id FROM transfer WHERE code='refund'")).length).toBe(1);
    await expectNetRevenue(running, nano(before) - nano(after));
    expect(await (await ask(running, 'k')).text()).not.toBe('');
    expect(said).toContain('Hello');
    await running.expectBooks();
  });

  test('a charge whose refund fails is refunded with the next try', async () => {
    const { running } = await start();
    const { database } = running.gateway;
    await (await ask(running, 'k')).text();
    const after = await running.balance();
    await database.query('UPDATE answer SET lease_until=1, content_type=NULL, body=NULL');
    const [forbid, allow] =
      name === 'postgres'
        ? [
            "ALTER TABLE transfer ADD CONSTRAINT no_refund CHECK (code <> 'refund')",
            'ALTER TABLE transfer DROP CONSTRAINT no_refund',
          ]
        : [
            "CREATE TRIGGER no_refund BEFORE INSERT ON transfer WHEN NEW.code = 'refund' BEGIN SELECT RAISE(ABORT, 'no'); END",
            'DROP TRIGGER no_refund',
          ];
    await database.query(forbid);
    expect((await ask(running, 'k')).status).toBeGreaterThanOrEqual(500);
    await database.query(allow);
    await database.query('UPDATE answer SET lease_until=1');
    expect((await ask(running, 'k')).status).toBe(200);
    expect(await running.balance()).toBe(after);
    expect((await database.query("SELECT id FROM transfer WHERE code='refund'")).length).toBe(1);
    await running.expectBooks();
  });

  test('a process that only seemed dead pays its own charge back', async () => {
    const { vendor, running } = await start();
    const { database } = running.gateway;
    const held: (() => void)[] = [];
    vendor.answer((_request, response) => {
      held.push(() => json(response, 200, completion()));
    });
    const slow = ask(running, 'k');
    await expect.poll(() => held.length).toBe(1);
    await database.query('UPDATE answer SET lease_until=1');
    const second = ask(running, 'k');
    await expect.poll(() => held.length).toBe(2);
    held[1]?.();
    const said = await (await second).text();
    held[0]?.();
    expect((await slow).status).toBe(200);
    await expect
      .poll(
        async () => (await database.query("SELECT id FROM transfer WHERE code='refund'")).length,
      )
      .toBe(1);
    expect(await (await ask(running, 'k')).text()).toBe(said);
    expect(await running.usage()).toHaveLength(2);
    await running.expectBooks();
  });

  test('a process that only seemed dead pays back what it charged for a stream that broke off', async () => {
    const { vendor, running } = await start();
    const { database } = running.gateway;
    const held: ServerResponse[] = [];
    vendor.answer((_request, response) => {
      sse(response).write(chunk({ role: 'assistant', content: 'Hel' }));
      held.push(response);
    });
    const submit = () => ask(running, 'k', { ...hello, stream: true });
    const slow = await submit();
    await database.query('UPDATE answer SET lease_until=1');
    const second = await submit();
    held[1]?.end(streamOf(['lo']));
    expect(await second.text()).toContain('[DONE]');
    held[0]?.destroy();
    expect(await slow.text()).toContain('"error"');
    const charges = await running.usage();
    expect(charges.map(({ status }) => status).sort()).toEqual(['cut', 'ok']);
    const cut = charges.find(({ status }) => status === 'cut');
    expect(cut?.cost).toBeGreaterThan(0n);
    const refunds = () => database.query("SELECT ref, amount FROM transfer WHERE code='refund'");
    await expect.poll(refunds).toEqual([{ ref: cut?.id, amount: cut?.cost }]);
    await running.expectBooks();
  });

  test('an answer is forgotten after a day', async () => {
    const { vendor, running } = await start();
    await (await ask(running, 'k')).text();
    await running.gateway.database.query('UPDATE answer SET expires_at=1');
    expect(
      (await ask(running, 'k', { ...hello, max_tokens: 7 })).headers.get('idempotent-replayed'),
    ).toBeNull();
    expect(vendor.received).toHaveLength(2);
    expect(await running.usage()).toHaveLength(2);
  });

  test('kill -9 in the middle of a submission: the next process answers it, for one charge', {
    timeout: 60_000,
  }, async () => {
    const vendor = await startVendor();
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-submission-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const place =
      name === 'sqlite' ? `sqlite:${join(folder, 'tollgate.db')}` : (await fresh(migrations)).url;
    const options = { folder, configuration: oneModel(vendor.url), env: { DATABASE_URL: place } };
    let gateway = await startProcess(options);
    onTestFinished(() => gateway.kill());
    const database = await open(place);
    onTestFinished(() => database.close());
    const { userId, key } = await newCustomer(database, nanoPerYuan);
    const submit = () =>
      fetch(gateway.url + path, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key.secret}`,
          'content-type': 'application/json',
          'idempotency-key': 'k',
        },
        body: JSON.stringify(hello),
      });
    vendor.answer(() => {});
    const lost = submit().catch(() => undefined);
    await expect.poll(() => vendor.received.length).toBe(1);
    await gateway.kill();
    await lost;
    gateway = await startProcess(options);
    // On SQLite the next process knows that it is alone; on PostgreSQL half a minute has to pass.
    if (name === 'postgres') await database.query('UPDATE answer SET lease_until=1');
    vendor.answer((_request, response) => json(response, 200, completion()));
    const said = await (await submit()).text();
    expect(said).toContain('Hello!');
    expect(await (await submit()).text()).toBe(said);
    expect(vendor.received).toHaveLength(2);
    expect((await database.query('SELECT id FROM usage')).length).toBe(1);
    expect((await balance(database, userId))?.balance).toBe(nanoPerYuan - 29_000_000n);
    expect(await check(database)).toMatchObject({ ok: true, problems: [] });
  });
});

onPostgres((_name, _openFresh, fresh) => {
  test('what one node answered, another repeats', async () => {
    const { vendor, running, databaseUrl } = await startOn(fresh);
    const there = await startGateway({ databaseUrl, configuration: oneModel(vendor.url) });
    onTestFinished(() => there.close().catch(() => undefined));
    const headers = {
      authorization: `Bearer ${running.key}`,
      'content-type': 'application/json',
      'idempotency-key': 'k',
    };
    const both = [running.url, there.url].map((url) =>
      fetch(url + path, { method: 'POST', headers, body: JSON.stringify(hello) }),
    );
    const said = await Promise.all(both.map(async (answer) => (await answer).text()));
    expect(said[1]).toBe(said[0]);
    expect(vendor.received).toHaveLength(1);
    await expectOneCharge(running);
  });
});
