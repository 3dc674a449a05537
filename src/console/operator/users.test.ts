import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { type Browser, newBrowser, signedInAs } from '../../../test/support/console.ts';
import { eventsIn, startOperatorConsole } from '../../../test/support/console-operator.ts';
import { sold } from '../../../test/support/console-user.ts';
import { newCustomer, newTestKey } from '../../../test/support/customer.ts';
import { writeAudit } from '../../accounts/audit.ts';
import { createKey, setKeyStatus } from '../../accounts/keys.ts';
import { setUserEmail } from '../../accounts/users.ts';
import { systemClock } from '../../base/clock.ts';
import { check } from '../../ledger/check.ts';
import { checkRun, startCheck } from '../../ledger/check-runs.ts';
import { balance } from '../../ledger/ledger.ts';
import { migrations } from '../../app/schema.ts';
import type { AuditEntry } from '../contract.ts';
import { announcementsFor } from './announcements.ts';
import { unexpected } from '../../../test/support/unexpected.ts';

const yuan = 1_000_000_000n;

forEachDatabase((_name, openFresh) => {
  test('money is given and taken back once for each form, with its reason, and never beyond what is there', async () => {
    const { post, operator, database, acts } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const { userId } = await newCustomer(database, 5n * yuan);
    const give = (body: object, key?: string) => post(`users/${userId}/credit`, body, key);
    expect((await give({ amount: '0', reason: 'x' })).json.error.fields).toEqual({
      amount: 'below_minimum',
    });
    expect((await give({ amount: '10000000.000000001', reason: 'x' })).json.error.fields).toEqual({
      amount: 'above_maximum',
    });
    expect((await give({ amount: '1', reason: ' ' })).json.error.fields).toEqual({
      reason: 'empty',
    });
    const first = await give({ amount: '10.5', reason: 'compensation' }, 'form-credit');
    expect(first.json).toMatchObject({
      user: { id: userId, balance: '15.500000000' },
      transfer: expect.stringMatching(/^grant_/),
    });
    expect((await give({ amount: '10.5', reason: 'compensation' }, 'form-credit')).json).toEqual(
      first.json,
    );
    expect((await give({ amount: '11', reason: 'compensation' }, 'form-credit')).status).toBe(409);
    const both = await Promise.all([
      give({ amount: '1', reason: 'y' }, 'form-twice'),
      give({ amount: '1', reason: 'y' }, 'form-twice'),
    ]);
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    const take = (amount: string, key?: string) =>
      post(`users/${userId}/debit`, { amount, reason: 'a mistake' }, key);
    expect((await take('6.5', 'form-debit')).json.user.balance).toBe('10.000000000');
    expect((await take('6.5', 'form-debit')).json.user.balance).toBe('10.000000000');
    expect(await take('10.000000001')).toMatchObject({
      status: 409,
      json: { error: { code: 'insufficient' } },
    });
    expect((await balance(database, userId))?.balance).toBe(10n * yuan);
    expect((await post('users/usr_nobody/credit', { amount: '1', reason: 'x' })).status).toBe(404);
    expect(await acts()).toEqual([
      `user.debit ${userId}`,
      `user.credit ${userId}`,
      `user.credit ${userId}`,
    ]);
    const { json: trail } = await operator.ask(`operator/audit?account=${userId}&limit=1`);
    expect(trail.items[0]).toMatchObject({
      reason: 'a mistake',
      actor: { kind: 'operator', id: operator.userId },
    });
    expect(
      (await operator.ask(`operator/audit?account=${userId}&limit=1&after=${trail.next}`)).json
        .items,
    ).toHaveLength(1);
    expect((await operator.ask(`operator/audit?limit=1&after=${trail.next}`)).json.error.code).toBe(
      'invalid_cursor',
    );
    expect(await check(database)).toMatchObject({ ok: true });
  });

  test('the audit trail names users and keys, whether the action names them by kind or by id', async () => {
    const database = await openFresh({ migrations });
    const { operator } = await startOperatorConsole(database, sold);
    const { userId, key } = await newCustomer(database, 0n);
    let at = systemClock.now();
    const act = (action: string, target: string) =>
      database.transact(() =>
        writeAudit(++at, {
          actorKind: 'user',
          actor: userId,
          action,
          target,
          account: userId,
        }),
      );
    await act('key.update', key.id);
    await act('user.close', `user:${userId}`);
    await act('order.close', 'ord_1');
    const unnamed = await database.transact(() =>
      createKey({ userId, name: '', group: 'default', limit: undefined, expiresAt: undefined, at }),
    );
    const unnamedId = unnamed?.key.id ?? '';
    await act('key.create', unnamedId);
    await act('price.import', 'prices');
    const user = { id: userId, name: 'test' };
    const { json } = await operator.ask(`operator/audit?account=${userId}&limit=5`);
    expect(json.items).toMatchObject(
      [
        { kind: 'prices', id: 'prices', name: null },
        { kind: 'key', id: unnamedId, name: null },
        { kind: 'order', id: 'ord_1', name: null },
        { kind: 'user', ...user },
        { kind: 'key', id: key.id, name: 'test' },
      ].map((target) => ({ target, account: user, actor: { kind: 'user', ...user } })),
    );
  });

  test('a suspended user has no console and no money to spend; the last operator stays one', async () => {
    const { post, operator, database, url } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const other = await newBrowser(url, database, 'operator');
    expect((await post(`users/${other.userId}/suspend`, { reason: 'left' })).json.user.state).toBe(
      'suspended',
    );
    expect((await other.ask('operator/users')).json.error.code).toBe('suspended');
    expect((await balance(database, other.userId))?.frozen).toBe(true);
    expect((await post(`users/${operator.userId}/suspend`, { reason: 'x' })).status).toBe(409);
    expect(
      (await post(`users/${operator.userId}/role`, { role: 'user', reason: 'x' })).json.error.code,
    ).toBe('last_operator');
    expect((await post(`users/${other.userId}/restore`, { reason: 'back' })).json.user.state).toBe(
      'active',
    );
    expect(
      (await post(`users/${operator.userId}/role`, { role: 'user', reason: 'enough' })).json.user
        .role,
    ).toBe('user');
    expect((await operator.ask('operator/users')).json.error.code).toBe('operator_only');
  });

  test('who is an operator no more moves no money, although the request began before', async () => {
    const { post, operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const { userId } = await newCustomer(database, 5n * yuan);
    const held = (sign: '+' | '-') =>
      database.query(`UPDATE account SET held=held${sign}$2 WHERE id=$1`, [userId, 5n * yuan]);
    await held('+');
    const taking = post(`users/${userId}/debit`, { amount: '2', reason: 'x' });
    // The debit waits for money that comes back, and calls it in.
    await expect
      .poll(
        async () => (await database.query('SELECT call_in FROM account WHERE id=$1', [userId]))[0],
      )
      .not.toEqual({ call_in: 0n });
    await database.query("UPDATE users SET role='user' WHERE id=$1", [operator.userId]);
    await held('-');
    expect((await taking).json.error.code).toBe('operator_only');
    expect((await balance(database, userId))?.balance).toBe(5n * yuan);
    expect(await database.query('SELECT id FROM transfer WHERE debit=$1', [userId])).toEqual([]);
  });

  test('of operators who act on each other at once, one is left', async () => {
    const { operator, database, url } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const other = await newBrowser(url, database, 'operator');
    const turn = (by: Browser, other: Browser, what: string, body: object) =>
      by.ask(`operator/users/${other.userId}/${what}`, {
        method: 'POST',
        body: { reason: 'x', ...body },
      });
    const suspensions = await Promise.all([
      turn(operator, other, 'suspend', {}),
      turn(other, operator, 'suspend', {}),
    ]);
    expect(suspensions.map(({ status }) => status).sort()).toEqual([200, 403]);
    const [first, second] = suspensions[0]?.status === 200 ? [operator, other] : [other, operator];
    expect((await turn(first, second, 'restore', {})).status).toBe(200);
    const back = await signedInAs(url, database, second.userId);
    const own = [
      turn(first, first, 'role', { role: 'user' }),
      turn(back, back, 'role', { role: 'user' }),
    ];
    expect((await Promise.all(own)).map(({ status }) => status).sort()).toEqual([200, 409]);
  });

  test('users are found by name and state, page by page', async () => {
    const { operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    for (let i = 0; i < 3; i++) await newCustomer(database, yuan);
    const { json: first } = await operator.ask('operator/users?limit=2');
    const { json: rest } = await operator.ask(`operator/users?limit=2&after=${first.next}`);
    expect([...first.items, ...rest.items]).toHaveLength(4);
    expect(rest.next).toBeNull();
    expect((await operator.ask('operator/users?role=operator')).json.items).toMatchObject([
      { id: operator.userId, keys: 0 },
    ]);
    expect((await operator.ask('operator/users?q=TES&state=active')).json.items).toHaveLength(4);
    expect((await operator.ask('operator/users?q=%25')).json.items).toHaveLength(0);
    expect((await operator.ask(`operator/users?q=${first.items[0].id}`)).json.items).toMatchObject([
      { balance: '1.000000000', keys: 1, keys_all: 1, email: null },
    ]);
  });

  test('users of one name are told apart by the end of the id and by their e-mail', async () => {
    const { operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const { userId: twin } = await newCustomer(database, yuan);
    const { userId, key } = await newCustomer(database, yuan);
    await database.transact(() => setUserEmail(userId, 'Wei_1@Example.com'));
    await newTestKey(database, userId);
    await database.transact(() => setKeyStatus(key.id, 'disabled'));
    const ids = async (q: string) =>
      (await operator.ask(`operator/users?q=${encodeURIComponent(q)}`)).json.items.map(
        ({ id }: { readonly id: string }) => id,
      );
    expect(await ids('wei_1@example')).toEqual([userId]);
    expect(await ids('weix1@')).toEqual([]);
    await database.query('UPDATE users SET name=$1 WHERE id=$2', ['Émile ÜNAL', userId]);
    for (const part of ['Émile', 'mile ÜN']) expect(await ids(part)).toEqual([userId]);
    // A PostgreSQL of the locale C knows the cases of A to Z alone.
    if (database.dialect === 'sqlite') expect(await ids('émile ünal')).toEqual([userId]);
    for (const id of [twin, userId])
      for (const end of [id.slice(-6), `…${id.slice(-6)}`]) expect(await ids(end)).toEqual([id]);
    expect(await ids(twin.slice(-5))).toEqual([]);
    expect((await operator.ask(`operator/users/${userId}`)).json).toMatchObject({
      email: 'Wei_1@Example.com',
      keys: 1,
      keys_all: 2,
    });
  });

  /** A rule that keeps a proof running until another one has tried to begin. */
  const long = {
    long: 'WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id+1 FROM n WHERE id<1000000) SELECT id FROM n WHERE id<0',
  };

  test('the ledger is proved rule by rule, by one at a time, and the proof is found again', async () => {
    const { operator, database } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
      {
        proofs: { orders: 'SELECT id FROM users WHERE 1=0' },
      },
    );
    await newCustomer(database, 7n * yuan);
    const run = async () =>
      eventsIn((await operator.ask('operator/ledger/check', { method: 'POST', body: {} })).text);
    const ids = await Promise.all([
      startCheck(database, systemClock, long, unexpected),
      startCheck(database, systemClock, long, unexpected),
    ]);
    expect(new Set(ids).size).toBe(1);
    await expect
      .poll(async () => (await checkRun(database, ids[0], Date.now()))?.running, {
        timeout: 15_000,
      })
      .toBe(false);
    const done = (await run()).at(-1);
    expect(done).toMatchObject({
      event: 'done',
      data: {
        ok: true,
        running: false,
        customers: { balance: '7.000000000', credits: '7.000000000' },
      },
    });
    expect(done?.data.rules.map(({ state }: { state: string }) => state)).not.toContain('failed');
    expect(done?.data.rules.at(-1)).toMatchObject({ rule: 'orders', state: 'ok' });
    await database.query("UPDATE account SET credits=credits+1 WHERE kind='user'");
    expect((await run()).at(-1)?.data.rules).toContainEqual(
      expect.objectContaining({
        rule: 'credits',
        state: 'failed',
        problems: expect.arrayContaining([
          expect.objectContaining({ text: expect.stringContaining('transferred=') }),
        ]),
      }),
    );
    const { json: checks } = await operator.ask('operator/ledger/checks');
    expect(checks.items.map(({ ok }: { ok: boolean }) => ok)).toEqual([false, true, true]);
    const { json: overview } = await operator.ask('operator/overview');
    expect(overview.attention).toMatchObject([
      { code: 'ledger_check_failed', values: { rules: 'credits' } },
    ]);
    expect(overview.ledger_check).toEqual({
      ok: false,
      nightly: false,
      started_at: checks.items[0].started_at,
    });
  });

  test('an announcement reaches its readers, while it lasts', async () => {
    const { post, patch, operator, database, acts } = await startOperatorConsole(
      await openFresh({ migrations }),
      sold,
    );
    const { userId } = await newCustomer(database, 0n, { group: 'economy' });
    const words = {
      title: { zh: '维护', en: 'Maintenance' },
      text: { zh: '今晚', en: 'Tonight' },
      level: 'warn',
    };
    const made = await post('announcements', { ...words, group: 'economy' }, 'form-announce');
    expect(made).toMatchObject({
      status: 201,
      json: { state: 'shown', group: 'economy', version: 1 },
    });
    expect(
      (await post('announcements', { ...words, group: 'economy' }, 'form-announce')).json.id,
    ).toBe(made.json.id);
    expect((await post('announcements', { ...words, group: 'nowhere' })).json.error.fields).toEqual(
      { group: 'unknown' },
    );
    expect((await post('announcements', { ...words, text: { zh: '今晚' } })).status).toBe(400);
    const now = Date.now() + 1_000;
    expect(await announcementsFor(database, userId, now)).toMatchObject([
      { title: words.title, level: 'warn' },
    ]);
    expect(await announcementsFor(database, operator.userId, now)).toEqual([]);
    const later = await patch(`announcements/${made.json.id}`, 1, {
      group: null,
      from: new Date(now + 3_600_000).toISOString(),
    });
    expect(later.json).toMatchObject({ state: 'planned', group: null, version: 2 });
    expect((await patch(`announcements/${made.json.id}`, 1, { level: 'bad' })).status).toBe(409);
    expect(await announcementsFor(database, userId, now)).toEqual([]);
    expect(
      (await operator.ask(`operator/announcements/${made.json.id}`, { method: 'DELETE' })).status,
    ).toBe(204);
    expect((await operator.ask('operator/announcements')).json.items).toEqual([]);
    const trail = await operator.ask('operator/audit');
    expect(trail.json.items.map(({ target }: AuditEntry) => target.title)).toEqual([
      words.title,
      words.title,
      words.title,
    ]);
    expect((await acts()).map((act) => act.split(' ')[0])).toEqual([
      'announcement.remove',
      'announcement.update',
      'announcement.create',
    ]);
  });
});
