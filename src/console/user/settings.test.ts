import { expect, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { noon, startUserConsole } from '../../../test/support/console-user.ts';
import { migrations } from '../../app/schema.ts';

forEachDatabase((_name, openFresh) => {
  test('a user says where a low balance is told, and takes it back', async () => {
    const { newUser } = await startUserConsole(await openFresh({ migrations }), {
      now: () => noon,
      monotonicMs: () => 0,
    });
    const browser = await newUser();
    const say = (version: number, body: object) =>
      browser.ask('me', { method: 'PATCH', body, headers: { 'if-match': String(version) } });
    expect((await browser.ask('session')).json).toMatchObject({
      limit_zone: 'UTC+8',
      features: { email: true },
      me: { settings: { email: null }, version: 1 },
    });
    const said = await say(1, { email: ' ada@example.com ', low_balance: '10' });
    expect(said.json).toMatchObject({
      settings: { email: 'ada@example.com', low_balance: '10.000000000' },
      version: 2,
    });
    for (const email of ['nobody', 'a@b.cn, c@d.cn', 'a@b.cn\r\nBcc: c@d.cn', ''])
      expect((await say(2, { email })).json, email).toMatchObject({
        error: { fields: { email: 'invalid' } },
      });
    expect((await say(2, { email: null })).json).toMatchObject({
      settings: { email: null, low_balance: '10.000000000' },
    });
  });
});
