import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { charge, noon, startUserConsole } from '../../../test/support/console-user.ts';
import { setUserRole } from '../../accounts/users.ts';
import { nanoPerYuan } from '../../base/money.ts';
import { credit } from '../../ledger/ledger.ts';
import { migrations } from '../../app/schema.ts';

const clock = { now: () => noon, monotonicMs: () => 0 };

forEachDatabase((_name, openFresh) => {
  test('operators alone read where the configuration file is', async () => {
    const { newUser, database } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const fileOf = async () => (await browser.ask('session')).json.configuration_file;
    expect(await fileOf()).toBeUndefined();
    await database.transact(() => setUserRole(browser.userId, 'operator'));
    expect(await fileOf()).toBe('/etc/tollgate.yaml');
  });

  test('what is kept of a user can be taken away, without a secret in it', async () => {
    const { newUser, database } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    await credit(database, {
      ...{
        id: 'grant',
        account: browser.userId,
        from: 'grants',
        amount: 5n * nanoPerYuan,
        code: 'grant',
        ref: 'test',
        at: noon,
      },
    });
    const headers = { 'idempotency-key': 'a-form-for-a-key' };
    const { json: made } = await browser.ask('keys', {
      method: 'POST',
      body: { name: 'ci', group: 'default' },
      headers,
    });
    await charge(database, {
      id: 'req_1',
      account: browser.userId,
      keyId: made.key.id,
      at: noon,
      lines: [['input', 1, 1n, nanoPerYuan]],
    });
    const { json: kept, status } = await browser.ask('account.json');
    expect(status).toBe(200);
    expect(kept).toMatchObject({
      me: { id: browser.userId },
      balance: { total: '4.000000000', held: '0.000000000' },
      keys: [{ id: made.key.id, name: 'ci' }],
      devices: [{ ip: '127.0.0.1' }],
      orders: [],
    });
    expect(JSON.stringify(kept)).not.toContain(made.secret);
  });

  test('an account that its owner closes has no keys and no console, keeps its books, and says who did it', async () => {
    const { newUser, database } = await startUserConsole(await openFresh({ migrations }), clock);
    const browser = await newUser();
    const close = (id: string) => browser.ask('me/close', { method: 'POST', body: { id } });
    expect((await close('usr_other')).json.error.fields).toEqual({ id: 'mismatch' });
    expect((await close(browser.userId)).status).toBe(204);
    expect((await browser.ask('keys')).json.error.code).toBe('suspended');
    expect(
      await database.query("SELECT actor, target FROM audit WHERE action='user.close'"),
    ).toEqual([{ actor: browser.userId, target: `user:${browser.userId}` }]);
    expect(
      await database.query('SELECT frozen FROM account WHERE id=$1', [browser.userId]),
    ).toEqual([{ frozen: 1n }]);
  });
});
