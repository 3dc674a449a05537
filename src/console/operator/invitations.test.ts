import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { newBrowser } from '../../../test/support/console.ts';
import { startOperatorConsole } from '../../../test/support/console-operator.ts';
import { sold } from '../../../test/support/console-user.ts';
import { newCustomer } from '../../../test/support/customer.ts';
import { invitationLifeMs, useLink } from '../../accounts/identities.ts';
import { endSession, startSession } from '../../accounts/sessions.ts';
import { systemClock } from '../../base/clock.ts';
import { migrations } from '../../app/schema.ts';

const yuan = 1_000_000_000n;
const tokenIn = (path: string): string =>
  new URL(path, 'http://tollgate.test').searchParams.get('token') ?? '';

forEachDatabase((_name, openFresh) => {
  test('a new user is made once for each form, and signs in by the link of the answer', async () => {
    const { post, operator, database, acts } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    expect((await post('users', { name: ' ' })).json.error.fields).toEqual({ name: 'empty' });
    expect((await post('users', { name: 'x', role: 'root' })).status).toBe(400);
    const made = await Promise.all(
      [1, 2].map(() => post('users', { name: '陈一鸣' }, 'form-of-a-user')),
    );
    expect(made.map(({ status }) => status)).toEqual([201, 201]);
    const [first, second] = made;
    expect(second?.json.user.id).toBe(first?.json.user.id);
    expect(first?.json.user).toMatchObject({
      name: '陈一鸣',
      role: 'user',
      balance: '0.000000000',
      last_seen_at: null,
    });
    for (const other of [{ name: '李雷' }, { name: '陈一鸣', role: 'operator' }])
      expect(await post('users', other, 'form-of-a-user')).toMatchObject({
        status: 409,
        json: { error: { code: 'conflict', message: expect.stringContaining('another request') } },
      });
    const { items } = (await operator.ask('operator/users')).json;
    expect(items.filter(({ name }: { name: string }) => name === '陈一鸣')).toHaveLength(1);
    const id = String(first?.json.user.id);
    expect((await acts()).toSorted()).toEqual([
      `sign_in_link.create ${id}`,
      `sign_in_link.create ${id}`,
      `user.create ${id}`,
    ]);
    const { path, expires_at: expires } = first?.json ?? {};
    expect(Math.abs(Date.parse(expires) - systemClock.now() - invitationLifeMs)).toBeLessThan(
      60_000,
    );
    const now = systemClock.now();
    const holder = await database.transact(() => useLink(tokenIn(path), now));
    expect(holder?.id).toBe(id);
    expect(await database.transact(() => useLink(tokenIn(path), now))).toBeUndefined();
    const other = tokenIn(second?.json.path);
    expect(await database.transact(() => useLink(other, now))).toBeUndefined();
  });

  test('another link is made for a user who never signed in, and for nobody else', async () => {
    const { post, database, url } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const { json } = await post('users', { name: 'Lin', role: 'operator' });
    expect(json.user.role).toBe('operator');
    const again = await post(`users/${json.user.id}/link`, {});
    expect(again.status).toBe(201);
    expect(again.json.path).not.toBe(json.path);
    const seen = await newBrowser(url, database, 'user');
    expect(await post(`users/${seen.userId}/link`, {})).toMatchObject({
      status: 409,
      json: { error: { message: expect.stringContaining('signed in before') } },
    });
    expect((await post('users/usr_nobody/link', {})).status).toBe(404);
    const asUser = await seen.ask('operator/users', {
      method: 'POST',
      body: { name: 'x' },
      headers: { 'idempotency-key': 'form-of-a-user' },
    });
    expect(asUser.status).toBe(403);
  });

  test('a form that is sent again makes no link once its user has signed in', async () => {
    const { post, database } = await startOperatorConsole(await openFresh({ migrations }), sold);
    const form = () => post('users', { name: 'Wu' }, 'form-of-wu');
    const { json } = await form();
    const at = systemClock.now();
    const visit = { userId: json.user.id, way: 'link', browser: '', ip: '', at };
    await database.transact(() => startSession(visit));
    expect(await form()).toMatchObject({
      status: 409,
      json: { error: { message: expect.stringContaining('signed in before') } },
    });
  });

  test('a user who signed in once is not invited again when the session is over', async () => {
    const { post, operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const { id } = (await post('users', { name: 'Wu' })).json.user;
    const at = systemClock.now() - 60_000;
    const visit = { userId: id, way: 'link', browser: '', ip: '', at };
    const { session } = await database.transact(() => startSession(visit));
    await endSession(database, id, session.id);
    const { json } = await operator.ask(`operator/users/${id}`);
    const then = new Date(at).toISOString();
    expect(json).toMatchObject({ signed_in_at: then, last_seen_at: then, sign_ins: [] });
    expect(await post(`users/${id}/link`, {})).toMatchObject({ status: 409 });
  });

  test('of more users than are put in order, the newest are, and the answer says so', async () => {
    const { operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    await database.query(
      `INSERT INTO users (id, name, role, created_at)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<10000)
        SELECT 'usr_00000' || CAST(100000+i AS TEXT), 'n' || CAST(i AS TEXT), 'user', 0 FROM n`,
      [],
    );
    const ask = async (query: string) => (await operator.ask(`operator/users?${query}`)).json;
    const ordered = await ask('sort=name&limit=3');
    expect(ordered.ordered_newest).toBe(10_000);
    expect(ordered.items.map(({ name }: { name: string }) => name)).not.toContain('n1');
    expect((await ask('sort=name&limit=3&q=n1')).ordered_newest).toBeNull();
    expect((await ask('limit=3')).ordered_newest).toBeNull();
  });

  test('users are listed by name, balance, spending or last visit, page by page', async () => {
    const { operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    for (const amount of [3n, 30n, 7n]) await newCustomer(database, amount * yuan);
    const page = async (query: string) => (await operator.ask(`operator/users?${query}`)).json;
    const balances = async (query: string) =>
      (await page(query)).items.map(({ balance }: { balance: string }) => balance);
    expect(await balances('sort=balance')).toEqual([
      ...['30.000000000', '7.000000000', '3.000000000', '0.000000000'],
    ]);
    const first = await page('sort=balance&limit=2');
    const second = await page(`sort=balance&limit=2&after=${first.next}`);
    expect([first.items.length, first.prev, second.next]).toEqual([2, null, null]);
    expect(second.items.map(({ balance }: { balance: string }) => balance)).toEqual([
      ...['3.000000000', '0.000000000'],
    ]);
    const back = await page(`sort=balance&limit=2&after=${second.prev}`);
    expect(back.items).toEqual(first.items);
    const names = (await page('sort=name')).items.map(({ name }: { name: string }) => name);
    expect(names).toEqual(names.toSorted(new Intl.Collator('zh', { numeric: true }).compare));
    expect((await page('sort=seen')).items[0].role).toBe('operator');
    expect((await page('sort=spent')).items).toHaveLength(4);
    expect((await operator.ask('operator/users?sort=luck')).status).toBe(400);
    const other = await operator.ask(`operator/users?sort=name&after=${first.next}`);
    expect(other.status).toBe(400);
  });
});
