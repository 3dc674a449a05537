import { expect, onTestFinished, test } from 'vitest';
import { hourMs } from '../../base/calendar.ts';
import { forEachDatabase } from '../../../test/databases.ts';
import { charge, noon, startUserConsole, topUp } from '../../../test/support/console-user.ts';
import { hashOf, importKey, openKeyring } from '../../accounts/keys.ts';
import { migrations } from '../../app/schema.ts';
import { check } from '../../ledger/check.ts';
import { rollUp } from '../../usage/rollup.ts';
import type { Browser } from '../../../test/support/console.ts';
import { unexpected } from '../../../test/support/unexpected.ts';

const clock = { now: () => noon, monotonicMs: () => 0 };
const yuan = 1_000_000_000n;

const make = (browser: Browser, body: object, idempotency = 'form-0001') =>
  browser.ask('keys', { method: 'POST', body, headers: { 'idempotency-key': idempotency } });

forEachDatabase((_name, openFresh) => {
  test('a key is made once, and its secret is shown once', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const wish = {
      name: ' ci ',
      group: 'economy',
      limit: '5.00',
      expires_at: '2026-12-01T00:00:00.000Z',
    };
    const made = await make(browser, wish);
    expect(made).toMatchObject({
      status: 201,
      json: {
        key: {
          name: 'ci',
          group: 'economy',
          state: 'active',
          limit: '5.000000000',
          spent: '0.000000000',
          daily_limit: null,
          last_used_at: null,
        },
      },
    });
    const { secret, key } = made.json;
    expect(secret).toMatch(/^sk-[A-Za-z0-9]{48}$/);
    const [stored] = await database.query('SELECT hash FROM api_keys WHERE id=$1', [key.id]);
    expect(stored?.['hash']).toBe(hashOf(secret));
    const again = await make(browser, wish);
    expect(again.json).toEqual({ key, secret: null });
    const both = await Promise.all([
      make(browser, wish, 'form-0002'),
      make(browser, wish, 'form-0002'),
    ]);
    expect(new Set(both.map(({ json }) => json.key.id)).size).toBe(1);
    expect(both.filter(({ json }) => json.secret !== null)).toHaveLength(1);
    expect(
      (await browser.ask('keys')).json.items.map(({ id }: { id: string }) => id).sort(),
    ).toEqual([both[0]?.json.key.id, key.id].sort());
    expect((await browser.ask('keys')).text).not.toContain(secret);
    for (const other of [
      { ...wish, name: 'other' },
      { ...wish, limit: '0.01' },
      { ...wish, group: 'default' },
    ])
      expect((await make(browser, other, 'form-0002')).json.error.code).toBe('conflict');
  });

  test('what is wrong with a wish for a key is told by field', async () => {
    const { newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const fields = async (body: object) => (await make(browser, body)).json.error.fields;
    expect(await fields({ name: '', group: 'default' })).toEqual({ name: 'empty' });
    for (const name of ['a\u0000b', 'two\nlines', 'gpj.\u202eexe', 'half \ud800'])
      expect(await fields({ name, group: 'default' })).toEqual({ name: 'invalid' });
    expect(await fields({ name: 'x', group: 'nowhere' })).toEqual({ group: 'unknown' });
    expect(await fields({ name: 'x', group: 'default', limit: '1e3' })).toEqual({
      limit: 'not_an_amount',
    });
    expect(
      await fields({ name: 'x', group: 'default', expires_at: '2026-11-01T00:00:00Z' }),
    ).toEqual({ expires_at: 'in_the_past' });
    const without = await browser.ask('keys', {
      method: 'POST',
      body: { name: 'x', group: 'default' },
    });
    expect(without.json.error.code).toBe('idempotency_key_missing');
  });

  test('a key is confined to models of its group, to addresses and to rates, and let out again', async () => {
    const { newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const [group] = (await browser.ask('groups')).json.items;
    const [model] = (await browser.ask(`models?group=${group.name}`)).json.items;
    const terms = {
      only_models: [model.id],
      addresses: ['10.0.0.0/8', '::1'],
      rpm: 5,
      tpm: 100,
      concurrency: 2,
    };
    const { key } = (await make(browser, { name: 'a', group: group.name, ...terms })).json;
    expect(key).toMatchObject(terms);
    expect((await browser.ask(`keys/${key.id}`)).json.models).toEqual([model.id]);
    const patch = (body: object, version: number) =>
      browser.ask(`keys/${key.id}`, {
        method: 'PATCH',
        body,
        headers: { 'if-match': String(version) },
      });
    const changed = await patch({ addresses: null, rpm: 7, only_models: [] }, key.version);
    expect(changed).toMatchObject({
      status: 200,
      json: { ...terms, only_models: null, addresses: null, rpm: 7 },
    });
    const { history } = (await browser.ask(`keys/${key.id}`)).json;
    expect(history.flatMap(({ changes }: { changes: object[] }) => changes)).toContainEqual({
      member: 'addresses',
      before: '10.0.0.0/8, ::1',
      after: null,
    });
    const fields = async (body: object) =>
      (await patch(body, changed.json.version)).json.error.fields;
    expect(await fields({ only_models: ['nobody-sells-this'] })).toEqual({
      only_models: `group ${group.name} does not sell 'nobody-sells-this'`,
    });
    expect(await fields({ addresses: ['10.0.0.1', 'everywhere'] })).toEqual({
      addresses: 'not_an_address',
    });
    expect(await fields({ rpm: 0 })).toEqual({ rpm: 'too_small' });
  });

  const patcher = (browser: Browser, id: string) => (body: object, version: number) =>
    browser.ask(`keys/${id}`, { method: 'PATCH', body, headers: { 'if-match': String(version) } });

  test('a key changes by the version that was read, its group too', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const { key } = (await make(browser, { name: 'a', group: 'default', limit: '5' })).json;
    const patch = patcher(browser, key.id);
    const changed = await patch({ name: 'b', limit: '7.5' }, key.version);
    expect(changed).toMatchObject({
      status: 200,
      json: { name: 'b', limit: '7.500000000', group: 'default' },
    });
    const stale = await patch({ name: 'c' }, key.version);
    expect(stale).toMatchObject({
      status: 409,
      json: { error: { code: 'version_conflict' }, current: { name: 'b' } },
    });
    const disabled = await browser.ask(`keys/${key.id}/disable`, { method: 'POST' });
    expect(disabled.json.state).toBe('disabled');
    const enabled = await browser.ask(`keys/${key.id}/enable`, { method: 'POST' });
    expect(enabled.json).toMatchObject({ state: 'active', name: 'b' });
    const only = await patch({ only_models: ['alone'] }, enabled.json.version);
    const fields = async (body: object) => (await patch(body, only.json.version)).json.error.fields;
    expect(await fields({ group: 'nowhere' })).toEqual({ group: 'unknown' });
    expect(await fields({ group: 'economy' })).toEqual({
      only_models: "group economy does not sell 'alone'",
    });
    const moved = await patch({ group: 'economy', only_models: [] }, only.json.version);
    expect(moved.json).toMatchObject({ group: 'economy', only_models: null });
    const { history } = (await browser.ask(`keys/${key.id}`)).json;
    expect(history).toHaveLength(6);
    const changes = history.flatMap((act: { changes: object[] }) => act.changes);
    expect(changes).toContainEqual({
      member: 'group',
      before: 'default',
      after: 'economy',
    });
    expect(history).toContainEqual(
      expect.objectContaining({
        action: 'key.update',
        by: 'user',
        changes: [
          { member: 'name', before: 'a', after: 'b' },
          { member: 'limit', before: '5.000000000', after: '7.500000000' },
        ],
      }),
    );
    const acts = await database.query('SELECT account FROM audit');
    expect(new Set(acts.map(({ account }) => account))).toEqual(new Set([browser.userId]));
  });

  test('a limit that is added counts what was spent before, and may be lowered and taken away', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await topUp(database, browser.userId, 10n * yuan, noon - 40 * 86_400_000);
    const { key } = (await make(browser, { name: 'a', group: 'default' })).json;
    const paid = (id: string, at: number, cost: bigint) =>
      charge(database, {
        ...{ id, at, account: browser.userId, keyId: key.id },
        lines: [['output', 1, cost, cost]],
      });
    const midnight = Date.UTC(2026, 10, 20, 16);
    await paid('req_last_month', Date.UTC(2026, 9, 31, 15, 59), yuan);
    await paid('req_this_month', noon - 3 * 86_400_000, yuan);
    await paid('req_yesterday', midnight - 60_000, yuan);
    // It began yesterday, and counts there.
    await paid('req_midnight', midnight + 1_000, yuan);
    await paid('req_today', noon - 600_000, yuan / 2n);
    const patch = patcher(browser, key.id);
    const limits = { limit: '10', daily_limit: '1', monthly_limit: '5' };
    const added = await patch(limits, key.version);
    expect(added).toMatchObject({
      status: 200,
      json: {
        state: 'active',
        spent: '4.500000000',
        limit: '10.000000000',
        daily: { spent: '0.500000000', resets_at: '2026-11-21T16:00:00.000Z' },
        monthly: { spent: '3.500000000', resets_at: '2026-11-30T16:00:00.000Z' },
      },
    });
    const rows = await database.query(
      "SELECT id, debits FROM account WHERE kind='limit' ORDER BY id",
    );
    expect(rows.map(({ debits }) => debits)).toEqual([
      yuan / 2n,
      (7n * yuan) / 2n,
      (9n * yuan) / 2n,
    ]);
    const proven = async () => (await check(database)).problems;
    expect(await proven()).toEqual([]);
    const lowered = await patch({ daily_limit: '0.5' }, added.json.version);
    expect(lowered.json).toMatchObject({ state: 'limit_reached', daily_limit: '0.500000000' });
    const removed = await patch({ daily_limit: null, limit: null }, lowered.json.version);
    expect(removed.json).toMatchObject({ state: 'active', daily: null, limit: null });
    // While the limit is away, nothing counts in it; when it is back, that counts, too.
    await paid('req_later', noon + 90_000, yuan / 4n);
    const counted = (more: string) =>
      database.query(`UPDATE account SET debits=${more} WHERE id LIKE '%:month:%'`);
    await counted(`debits+${yuan / 4n}`);
    expect(await proven()).toEqual([]);
    const back = await patch({ daily_limit: '2' }, removed.json.version);
    expect(back.json.daily.spent).toBe('0.750000000');
    expect(await proven()).toEqual([]);
    // Requests that ran when the limit came may be missing, and no others.
    await counted('debits-1');
    expect(await proven()).toEqual([]);
    for (const wrong of ['debits+2', '0']) {
      await counted(wrong);
      expect(await proven()).toMatchObject([{ row: { id: expect.stringContaining(':month:') } }]);
    }
    expect((await patch({ daily_limit: '-1' }, back.json.version)).json.error.fields).toEqual({
      daily_limit: 'not_an_amount',
    });
  });

  test('a limit that is added after a clock was ahead counts what was spent since', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await topUp(database, browser.userId, 10n * yuan, noon - 40 * 86_400_000);
    const { key } = (await make(browser, { name: 'a', group: 'default' })).json;
    const paid = (id: string, at: number) =>
      charge(database, {
        ...{ id, at, account: browser.userId, keyId: key.id },
        lines: [['output', 1, yuan, yuan]],
      });
    await paid('req_before', noon - 3 * hourMs);
    while (await rollUp(database, noon + 7 * 86_400_000)) continue;
    await paid('req_since', noon - 2 * hourMs);
    const limits = { limit: '10', daily_limit: '9', monthly_limit: '9' };
    expect((await patcher(browser, key.id)(limits, key.version)).status).toBe(200);
    const windows = await database.query("SELECT debits FROM account WHERE kind='limit'");
    expect(windows.map(({ debits }) => debits)).toEqual([2n * yuan, 2n * yuan, 2n * yuan]);
    expect((await check(database)).problems).toEqual([]);
  });

  test('a key gets a new secret, the old one works for the grace, and an older one ends', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const { key, secret } = (await make(browser, { name: 'a', group: 'default', limit: '5' })).json;
    const rotate = (body: object, version: number) =>
      browser.ask(`keys/${key.id}/rotate`, {
        method: 'POST',
        body,
        headers: { 'if-match': String(version) },
      });
    let now = noon;
    const keyring = openKeyring(database, { now: () => now, monotonicMs: () => now }, unexpected);
    onTestFinished(() => keyring.close());
    const opens = async (secret: string) => {
      await keyring.refresh();
      return (keyring.known(secret) ?? (await keyring.lookUp(secret))) !== 'unknown';
    };
    expect((await rotate({ grace: '2h' }, key.version)).json.error.fields).toEqual({
      grace: 'unknown',
    });
    const both = await Promise.all([
      rotate({ grace: '1h' }, key.version),
      rotate({ grace: '1h' }, key.version),
    ]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const rotated = both.find(({ status }) => status === 200)?.json;
    expect(rotated.key).toMatchObject({
      ...{ id: key.id, name: 'a', limit: key.limit },
      old_secret: { last4: key.last4, works_until: '2026-11-21T07:05:00.000Z' },
    });
    expect(rotated.secret.slice(-4)).toBe(rotated.key.last4);
    expect([await opens(secret), await opens(rotated.secret)]).toEqual([true, true]);
    now = noon + 3_600_000;
    expect([await opens(secret), await opens(rotated.secret)]).toEqual([false, true]);
    now = noon;
    const again = await rotate({ grace: '7d' }, rotated.key.version);
    const works = async () => [
      await opens(secret),
      await opens(rotated.secret),
      await opens(again.json.secret),
    ];
    expect(await works()).toEqual([false, true, true]);
    const ended = await browser.ask(`keys/${key.id}/end-old-secret`, { method: 'POST' });
    expect(ended.json.old_secret).toBeNull();
    expect(await works()).toEqual([false, false, true]);
    const trail = await database.query('SELECT action, before, after FROM audit');
    expect(trail.map(({ action }) => action).sort()).toEqual([
      ...['key.create', 'key.end_old_secret', 'key.rotate', 'key.rotate'],
    ]);
    for (const hidden of [secret, rotated.secret, again.json.secret])
      expect(JSON.stringify(trail)).not.toContain(hidden);
    // An import does not bring a secret back that was replaced.
    const imported = { secret, enabled: true, lastUsedAt: undefined, limit: undefined };
    const like = { userId: browser.userId, name: 'a', group: 'default', expiresAt: undefined };
    expect(await database.transact(() => importKey({ ...like, ...imported, at: noon }))).toBe(
      'there',
    );
  });

  test('a deleted key is gone from lists, and its records keep its name', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await topUp(database, browser.userId, 10n * yuan, noon - 86_400_000);
    const { key, secret } = (await make(browser, { name: 'mine', group: 'default' })).json;
    await charge(database, {
      ...{ id: 'req_1', at: noon - 600_000, account: browser.userId, keyId: key.id },
      lines: [['output', 1, yuan, yuan]],
    });
    const remove = (version: number) =>
      browser.ask(`keys/${key.id}`, {
        method: 'DELETE',
        headers: { 'if-match': String(version) },
      });
    expect((await remove(key.version + 1)).json.error.code).toBe('version_conflict');
    expect((await remove(key.version)).status).toBe(204);
    expect((await remove(key.version)).status).toBe(404);
    expect((await browser.ask('keys')).json.items).toEqual([]);
    expect((await browser.ask(`keys/${key.id}`)).status).toBe(404);
    expect((await browser.ask('usage/req_1')).json).toMatchObject({ key_name: 'mine' });
    const keyring = openKeyring(database, clock, unexpected);
    onTestFinished(() => keyring.close());
    expect(await keyring.lookUp(secret)).toBe('unknown');
    const trail = await database.query("SELECT before FROM audit WHERE action='key.delete'");
    expect(trail.map(({ before }) => JSON.parse(String(before)))).toEqual([
      { name: 'mine', group: 'default' },
    ]);
  });

  test('a use that was not written to its key has the hour of its charge', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await topUp(database, browser.userId, 10n * yuan, noon - 9 * hourMs);
    const { id } = (await make(browser, { name: 'web', group: 'default' })).json.key;
    await charge(database, {
      ...{ id: 'req_1', at: noon - 8 * hourMs, account: browser.userId, keyId: id },
      lines: [['output', 1, yuan, yuan]],
    });
    while (await rollUp(database, noon)) continue;
    const usedAt = async () => Date.parse((await browser.ask('keys')).json.items[0].last_used_at);
    expect(await usedAt(), 'no use comes before the key').toBe(noon);
    await database.query('UPDATE api_keys SET created_at=5 WHERE id=$1', [id]);
    expect(await usedAt()).toBe(Math.floor(noon / hourMs - 8) * hourMs);
  });

  test('keys are found by name, id and last characters, and come in four orders', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await topUp(database, browser.userId, 10n * yuan, noon - 86_400_000);
    const names = ['web 10', 'Web 9', 'ci_x', 'app'];
    for (const [n, name] of names.entries())
      await make(browser, { name, group: 'default' }, `form-${n}-abcdef`);
    const list = async (query: string) => (await browser.ask(`keys?${query}`)).json.items;
    const named = async (query: string) =>
      (await list(query)).map(({ name }: { name: string }) => name);
    const created = await list('');
    const web = created.find(({ name }: { name: string }) => name === 'Web 9');
    expect((await named('q=WEB')).sort()).toEqual(['Web 9', 'web 10']);
    expect(await named('q=ci%5f')).toEqual(['ci_x']);
    expect(await named(`q=${web.id}`)).toEqual(['Web 9']);
    expect(await named(`q=${web.last4}`)).toEqual(['Web 9']);
    expect(await named('sort=name')).toEqual(['app', 'ci_x', 'Web 9', 'web 10']);
    await database.query('UPDATE api_keys SET last_used_at=5 WHERE id=$1', [web.id]);
    await charge(database, {
      ...{ id: 'req_1', at: noon - 600_000, account: browser.userId, keyId: web.id },
      lines: [['output', 1, yuan, yuan]],
    });
    expect((await named('sort=used'))[0]).toBe('Web 9');
    const [used] = await list('q=Web 9');
    const [record] = (await browser.ask('usage')).json.items;
    expect(Date.parse(used.last_used_at)).toBe(Date.parse(record.at) - record.total_ms);
    expect((await named('sort=spent'))[0]).toBe('Web 9');
    const first = await browser.ask('keys?sort=name&limit=3');
    expect(await named(`sort=name&limit=3&after=${first.json.next}`)).toEqual(['web 10']);
    expect((await browser.ask(`keys?sort=used&after=${first.json.next}`)).json.error.code).toBe(
      'invalid_cursor',
    );
    expect((await browser.ask('keys?sort=size')).status).toBe(400);
  });

  test("another user's key is not there at all", async () => {
    const { newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const [owner, other] = [await newUser(), await newUser()];
    const { key } = (await make(owner, { name: 'mine', group: 'default' })).json;
    const absent = await other.ask('keys/key_nobody');
    for (const answer of [
      await other.ask(`keys/${key.id}`),
      await other.ask(`keys/${key.id}`, {
        method: 'PATCH',
        body: { name: 'x' },
        headers: { 'if-match': '0' },
      }),
      await other.ask(`keys/${key.id}/disable`, { method: 'POST' }),
      await other.ask(`keys/${key.id}/end-old-secret`, { method: 'POST' }),
      await other.ask(`keys/${key.id}/rotate`, {
        method: 'POST',
        body: { grace: 'now' },
        headers: { 'if-match': '0' },
      }),
      await other.ask(`keys/${key.id}`, { method: 'DELETE', headers: { 'if-match': '0' } }),
    ]) {
      expect(answer.status).toBe(404);
      expect({ ...answer.json.error, request_id: '' }).toEqual({
        ...absent.json.error,
        request_id: '',
      });
    }
    expect((await other.ask('keys')).json.items).toEqual([]);
  });

  test('keys come in pages, there and back, and a cursor of another list is refused', async () => {
    const { newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const [browser, other] = [await newUser(), await newUser()];
    for (let n = 0; n < 5; n++)
      await make(browser, { name: `k${n}`, group: 'default' }, `form-${n}-abcdef`);
    const names = (answer: { json: { items: { name: string }[] } }) =>
      answer.json.items.map(({ name }) => name);
    const all = (await browser.ask('keys')).json.items.map(({ name }: { name: string }) => name);
    const first = await browser.ask('keys?limit=2');
    const second = await browser.ask(`keys?limit=2&after=${first.json.next}`);
    const third = await browser.ask(`keys?limit=2&after=${second.json.next}`);
    expect([...names(first), ...names(second), ...names(third)]).toEqual(all);
    expect([first.json.prev, third.json.next]).toEqual([null, null]);
    const back = await browser.ask(`keys?limit=2&after=${third.json.prev}`);
    expect(names(back)).toEqual(names(second));
    expect(names(await browser.ask(`keys?limit=2&after=${back.json.prev}`))).toEqual(names(first));
    expect((await other.ask(`keys?after=${first.json.next}`)).json.error.code).toBe(
      'invalid_cursor',
    );
  });

  test('what a key spent, of its limit, and who its detail says it is', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await topUp(database, browser.userId, 10n * yuan, noon - 40 * 86_400_000);
    const { key } = (await make(browser, { name: 'a', group: 'economy', limit: '1.5' })).json;
    const made = { account: browser.userId, keyId: key.id, group: 'economy' };
    await charge(database, {
      ...made,
      id: 'req_1',
      at: noon - 30 * 86_400_000,
      lines: [['output', 1000, 10n * yuan, yuan]],
    });
    await charge(database, {
      ...made,
      id: 'req_2',
      at: noon - 600_000,
      lines: [['output', 500, 10n * yuan, yuan / 2n]],
    });
    expect((await browser.ask('keys')).json.items).toMatchObject([
      { spent: '1.500000000', spent_this_month: '0.500000000', state: 'limit_reached' },
    ]);
    const detail = await browser.ask(`keys/${key.id}`);
    expect(detail.json).toMatchObject({
      requests_last_hour: 1,
      models: ['glm', 'vendor/painter'],
      top: [{ model: 'glm', cost: '0.500000000', share: 1, requests: 1 }],
      series: { zone: 'Asia/Shanghai', series: [{ id: 'glm', cost: '0.500000000' }] },
    });
    expect(detail.json.series.days).toHaveLength(30);
    expect((await browser.ask('groups')).json.items).toMatchObject([
      { name: 'default', multiplier: '1.00', models: 3 },
      { name: 'economy', multiplier: '0.85', models: 2 },
    ]);
  });
});
