import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { hourMs } from '../src/base/calendar.ts';
import { rotateKey } from '../src/accounts/key-secrets.ts';
import { hashOf } from '../src/accounts/keys.ts';
import { userKey } from '../src/accounts/user-keys.ts';
import { migrations } from '../src/app/schema.ts';
import { systemClock } from '../src/base/clock.ts';
import { check } from '../src/ledger/check.ts';
import { open } from '../src/storage/open.ts';
import { forEachDatabase } from './databases.ts';
import { type Browser, newBrowser, signedInAs } from './support/console.ts';
import { newCustomer } from './support/customer.ts';
import { hello, oneModel, startGateway, startRunning } from './support/running.ts';
import { type GatewayProcess, startProcess } from './support/process.ts';
import { completion, json, sse, startVendor, streamOf } from './support/scripted-vendor.ts';

const yuan = 1_000_000_000n;
/** Thousandths of a yuan for one answer of the vendor. */
const answerCost = 29;
const crashes = 3;

const within = { timeout: 2_000, interval: 20 };

async function ask(url: string, secret: string): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body: JSON.stringify(hello),
  });
  await answer.text();
  return answer.status;
}

const keyIn = async (browser: Browser, id: string) => (await browser.ask(`keys/${id}`)).json;

/** Sends a change with the key's present version. */
async function act(browser: Browser, id: string, method: string, path: string, body: object = {}) {
  const { version } = await keyIn(browser, id);
  const headers = { 'if-match': String(version) };
  return browser.ask(`keys/${id}${path}`, { method, headers, body });
}

forEachDatabase((name, _openFresh, fresh) => {
  async function start() {
    const vendor = await startVendor();
    const options = {
      databaseUrl: (await fresh(migrations)).url,
      configuration: oneModel(vendor.url),
    };
    const running = await startRunning(options);
    const { database } = running.gateway;
    const browser = await signedInAs(running.url, database, running.userId);
    return { vendor, options, running, database, browser, made: await running.newKey() };
  }

  test('a limit that a key gets later counts what it has spent; a request that ran then does not count, and the books agree', async () => {
    const { vendor, running, browser, made } = await start();
    const { url } = running;
    let paid = 0;
    const status = async () => {
      const answer = await ask(url, made.secret);
      if (answer === 200) paid += answerCost;
      return answer;
    };
    const spent = () => (paid / 1000).toFixed(9);
    expect([await status(), await status()]).toEqual([200, 200]);
    let finish = (): void => undefined;
    vendor.answer((_request, response) => {
      finish = () => json(response, 200, completion());
    });
    const slow = status();
    await expect.poll(() => vendor.received.length, within).toBe(3);
    vendor.answer((_request, response) => json(response, 200, completion()));
    for (const limit of ['limit', 'daily_limit', 'monthly_limit']) {
      const added = await act(browser, made.id, 'PATCH', '', { [limit]: '0.058' });
      expect(added.json).toMatchObject({ state: 'limit_reached', spent: spent() });
      await expect.poll(status, within).toBe(429);
      const removed = await act(browser, made.id, 'PATCH', '', { [limit]: null });
      expect(removed.json.state).toBe('active');
    }
    finish();
    expect(await slow).toBe(200);
    await running.expectBooks();
    // What it spent without a limit counts when it gets one again, and a raised one lets it go on.
    await expect.poll(status, within).toBe(200);
    const again = await act(browser, made.id, 'PATCH', '', { daily_limit: '0.01' });
    expect(again.json.daily.spent).toBe(spent());
    await expect.poll(status, within).toBe(429);
    await act(browser, made.id, 'PATCH', '', { daily_limit: '5' });
    await expect.poll(status, within).toBe(200);
    await running.expectBooks();
  });

  test('an operator disables the key of a user, who sees that, and the operator or the user enables it', async () => {
    const { running, database, browser, made } = await start();
    const { url, userId } = running;
    const operator = await newBrowser(url, database, 'operator');
    const turn = (to: 'disable' | 'enable', of = userId, by = operator) =>
      by.ask(`operator/users/${of}/keys/${made.id}/${to}`, { method: 'POST' });
    const call = async () => {
      const headers = { authorization: `Bearer ${made.secret}` };
      const answer = await running.post('/v1/chat/completions', hello, { headers });
      return JSON.parse(await answer.text()).error?.code ?? answer.status;
    };
    expect((await turn('disable', userId, browser)).json.error.code).toBe('operator_only');
    for (const other of [operator.userId, 'usr_nobody'])
      expect((await turn('disable', other)).json.error.code, other).toBe('not_found');
    expect(await call()).toBe(200);
    expect((await turn('disable')).json).toMatchObject({ id: made.id, state: 'disabled' });
    await expect.poll(call, within).toBe('invalid_api_key');
    const { state, history } = await keyIn(browser, made.id);
    const change = { member: 'status', before: 'active', after: 'disabled' };
    expect([state, history[0]]).toMatchObject([
      'disabled',
      { action: 'key.update', by: 'operator', changes: [change] },
    ]);
    const { json: trail } = await operator.ask(`operator/audit?account=${userId}&limit=1`);
    expect(trail.items).toMatchObject([
      {
        action: 'key.update',
        actor: { kind: 'operator', id: operator.userId },
        target: { kind: 'key', id: made.id },
        ip: '127.0.0.1',
        changes: [change],
      },
    ]);
    expect((await turn('enable')).json.state).toBe('active');
    await expect.poll(call, within).toBe(200);
    await turn('disable');
    await expect.poll(call, within).toBe('invalid_api_key');
    expect((await act(browser, made.id, 'POST', '/enable')).json.state).toBe('active');
    await expect.poll(call, within).toBe(200);
    await act(browser, made.id, 'DELETE', '');
    expect((await turn('enable')).json.error.code).toBe('not_found');
    await running.expectBooks();
  });

  test('a rotated key in use: the old secret works until the grace ends, the new one throughout, and streams go on', async () => {
    const { vendor, running, database, browser, made } = await start();
    const { url, userId } = running;
    const old = made.secret;
    const { secret } = (await act(browser, made.id, 'POST', '/rotate', { grace: '1h' })).json;
    expect([await ask(url, old), await ask(url, secret)]).toEqual([200, 200]);
    let end = (): void => undefined;
    vendor.answer((_request, response) => {
      const [first = '', ...rest] = streamOf(['Hel', 'lo']).split(/(?<=\n\n)/);
      const stream = sse(response);
      stream.write(first);
      end = () => stream.end(rest.join(''));
    });
    const streamed = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${old}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, stream: true }),
    });
    vendor.answer((_request, response) => json(response, 200, completion()));
    // The same rotation, in the last three seconds of its grace.
    const last = await database.transact(function* () {
      const key = yield* userKey(userId, made.id);
      return key && (yield* rotateKey(key, '1h', systemClock.now() - hourMs + 3_000));
    });
    await expect.poll(() => ask(url, old), within).toBe(401);
    const newest = last?.secret ?? '';
    const seen: number[] = [];
    for (let i = 0; i < 60 && !seen.includes(401); i++) {
      seen.push(await ask(url, secret));
      expect(await ask(url, newest)).toBe(200);
      await wait(100);
    }
    expect(seen[0]).toBe(200);
    expect(seen.at(-1)).toBe(401);
    expect(await ask(url, secret)).toBe(401);
    end();
    expect(await streamed.text()).toContain('data: [DONE]');
    const charged = await running.usage();
    expect(charged.filter(({ stream, status }) => stream === 1n && status === 'ok')).toMatchObject([
      { key_id: made.id },
    ]);
    const third = (await act(browser, made.id, 'POST', '/rotate', { grace: '7d' })).json;
    expect([await ask(url, newest), await ask(url, third.secret)]).toEqual([200, 200]);
    await act(browser, made.id, 'POST', '/end-old-secret');
    await expect.poll(() => ask(url, newest), within).toBe(401);
    expect(await ask(url, third.secret)).toBe(200);
    await running.expectBooks();
  });

  test('a rotation whose answer was lost is repeated: its secret is replaced, and the old one works on', async () => {
    const { running, browser, made } = await start();
    const { url } = running;
    const { version } = await keyIn(browser, made.id);
    const rotate = (form: string, from: number, grace = '1h') =>
      browser.ask(`keys/${made.id}/rotate`, {
        method: 'POST',
        headers: { 'if-match': String(from), 'idempotency-key': form },
        body: { grace },
      });
    // The answer of the first is lost to the user, whose form knows the version before it.
    const lost = (await rotate('a-form-of-rotation', version)).json.secret;
    expect(await ask(url, lost)).toBe(200);
    const found = await rotate('a-form-of-rotation', version);
    expect(found.status).toBe(200);
    const { secret, key } = found.json;
    expect(key.old_secret.last4).toBe(made.secret.slice(-4));
    expect([await ask(url, made.secret), await ask(url, secret)]).toEqual([200, 200]);
    await expect.poll(() => ask(url, lost), within).toBe(401);
    expect((await rotate('another-form', version)).status).toBe(409);
    const hurried = await rotate('a-form-of-rotation', version, 'now');
    await expect.poll(() => ask(url, made.secret), within).toBe(401);
    // A grace that has ended stays ended.
    const last = await rotate('a-form-of-rotation', version, '7d');
    expect(last.json.key.old_secret).toBeNull();
    await expect.poll(() => ask(url, hurried.json.secret), within).toBe(401);
    expect([await ask(url, made.secret), await ask(url, last.json.secret)]).toEqual([401, 200]);
    // After another rotation the form is too late.
    const other = await rotate('another-form', last.json.key.version);
    expect(other.status).toBe(200);
    expect((await rotate('a-form-of-rotation', version)).status).toBe(409);
    expect([await ask(url, last.json.secret), await ask(url, other.json.secret)]).toEqual([
      200, 200,
    ]);
    await running.expectBooks();
  });

  test('a deleted key, and a replaced secret, end in every process within a second', async () => {
    const { options, running, browser, made } = await start();
    const other = name === 'postgres' ? (await startGateway(options)).url : running.url;
    const one = await running.newKey();
    expect([await ask(other, made.secret), await ask(other, one.secret)]).toEqual([200, 200]);
    await act(browser, made.id, 'DELETE', '');
    const { secret } = (await act(browser, one.id, 'POST', '/rotate', { grace: 'now' })).json;
    await expect.poll(() => ask(other, made.secret), within).toBe(401);
    await expect.poll(() => ask(other, one.secret), within).toBe(401);
    expect(await ask(other, secret)).toBe(200);
    const listed = (await browser.ask('keys')).json.items.map(({ id }: { id: string }) => id);
    expect(listed).not.toContain(made.id);
    const names = (await browser.ask('usage')).json.items.map(
      (each: { key_name: string }) => each.key_name,
    );
    expect(new Set(names)).toEqual(new Set(['test']));
    await running.expectBooks();
  });

  test(`kill -9 at ${crashes} instants of a rotation leaves one secret and its predecessor, both of which work`, {
    timeout: 120_000,
  }, async () => {
    const vendor = await startVendor();
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-keys-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const place = name === 'sqlite' ? undefined : (await fresh(migrations)).url;
    const env = { DATABASE_URL: place ?? '' };
    const options = { folder, configuration: oneModel(vendor.url), env };
    let gateway: GatewayProcess = await startProcess(options);
    onTestFinished(() => gateway.kill());
    const database = await open(place ?? `sqlite:${join(folder, 'tollgate.db')}`);
    onTestFinished(() => database.close());
    const { userId, key } = await newCustomer(database, 100n * yuan);
    let { secret } = key;
    for (let round = 0; round < crashes; round++) {
      const browser = await signedInAs(gateway.url, database, userId);
      const rotating = act(browser, key.id, 'POST', '/rotate', { grace: '24h' }).catch(() => null);
      await wait(round * 6);
      await gateway.kill();
      const told = (await rotating)?.json.secret;
      const [row] = await database.query('SELECT hash, version FROM api_keys WHERE id=$1', [
        key.id,
      ]);
      const before = await database.query(
        'SELECT hash FROM old_secrets WHERE key_id=$1 AND works_until>$2',
        [key.id, systemClock.now()],
      );
      const [trail] = await database.query(
        "SELECT COUNT(*) AS n FROM audit WHERE action='key.rotate'",
      );
      const [kept] = await database.query('SELECT COUNT(*) AS n FROM old_secrets');
      expect(trail?.['n']).toBe(kept?.['n']);
      expect(before.length).toBe(kept?.['n'] === 0n ? 0 : 1);
      expect(await check(database)).toMatchObject({ ok: true, problems: [] });
      gateway = await startProcess(options);
      if (told !== undefined) expect(row?.['hash']).toBe(hashOf(told));
      const known = [row?.['hash'], before[0]?.['hash']];
      expect(known).toContain(hashOf(told ?? secret));
      expect(await ask(gateway.url, told ?? secret)).toBe(200);
      // A secret that nobody was told is replaced, as its owner would.
      const next = await signedInAs(gateway.url, database, userId);
      secret = (await act(next, key.id, 'POST', '/rotate', { grace: '24h' })).json.secret;
      expect(await ask(gateway.url, secret)).toBe(200);
    }
    expect(await gateway.stop()).toBe(0);
    expect(await check(database)).toMatchObject({ ok: true, problems: [] });
  });
});
