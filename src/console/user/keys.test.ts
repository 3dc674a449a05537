import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { charge, noon, startUserConsole, topUp } from '../../../test/support/console-user.ts';
import { hashOf } from '../../accounts/keys.ts';
import { migrations } from '../../app/schema.ts';
import type { Browser } from '../../../test/support/console.ts';

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
      only_models: 'unknown',
    });
    expect(await fields({ addresses: ['10.0.0.1', 'everywhere'] })).toEqual({
      addresses: 'not_an_address',
    });
    expect(await fields({ rpm: 0 })).toEqual({ rpm: 'too_small' });
  });

  test('a key changes by the version that was read, keeps its group and gets no limit that it never had', async () => {
    const { database, newUser } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const { key } = (await make(browser, { name: 'a', group: 'default', limit: '5' })).json;
    const patch = (body: object, version: number) =>
      browser.ask(`keys/${key.id}`, {
        method: 'PATCH',
        body,
        headers: { 'if-match': String(version) },
      });
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
    expect((await patch({ daily_limit: '1' }, changed.json.version)).json.error.fields).toEqual({
      daily_limit: 'limit_fixed',
    });
    expect((await patch({ group: 'economy' }, changed.json.version)).status).toBe(400);
    const disabled = await browser.ask(`keys/${key.id}/disable`, { method: 'POST' });
    expect(disabled.json.state).toBe('disabled');
    const enabled = await browser.ask(`keys/${key.id}/enable`, { method: 'POST' });
    expect(enabled.json).toMatchObject({ state: 'active', name: 'b' });
    const { history } = (await browser.ask(`keys/${key.id}`)).json;
    expect(history).toHaveLength(4);
    expect(
      history.find(({ changes }: { changes: readonly { member: string }[] }) =>
        changes.some(({ member }) => member === 'limit'),
      ),
    ).toMatchObject({
      action: 'key.update',
      by: 'user',
      changes: [
        { member: 'name', before: 'a', after: 'b' },
        { member: 'limit', before: '5.000000000', after: '7.500000000' },
      ],
    });
    const acts = await database.query('SELECT action, account FROM audit ORDER BY id');
    expect(acts.map(({ action }) => action).sort()).toEqual([
      'key.create',
      'key.update',
      'key.update',
      'key.update',
    ]);
    expect(new Set(acts.map(({ account }) => account))).toEqual(new Set([browser.userId]));
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
