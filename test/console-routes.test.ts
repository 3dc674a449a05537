import { expect, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { consolePath } from '../src/console/server.ts';
import { setUserState } from '../src/accounts/users.ts';
import { sqliteUrl } from './databases.ts';
import { askPlain, newBrowser } from './support/console.ts';
import { oneModel, startGateway } from './support/running.ts';

test('every route of the console says who may, and holds to it', { timeout: 120_000 }, async () => {
  const gateway = await startGateway({
    databaseUrl: await sqliteUrl(migrations),
    configuration: oneModel('http://127.0.0.1:9'),
  });
  const { url, database } = gateway;
  const opened = await gateway.pages.open();
  expect(opened.routes.length).toBeGreaterThan(5);
  const [user, suspended, operator] = [
    await newBrowser(url, database),
    await newBrowser(url, database),
    await newBrowser(url, database, 'operator'),
  ];
  await database.transact(() => setUserState(suspended.userId, 'suspended'));
  for (const { method, path, role } of opened.routes) {
    const name = `${method} ${path}`;
    // The id names nothing: this test does not check what an allowed user gets.
    const address = `${url}${consolePath}/${path.replace(/:\w+|\*/g, 'nobodys')}`;
    const forged = {
      method,
      headers: {
        cookie: user.cookie,
        ...(method === 'GET' ? {} : { origin: 'https://evil.example', 'x-csrf-token': user.csrf }),
      },
    };
    if (method !== 'GET')
      expect((await askPlain(address, forged)).json?.error.code, name).toBe('csrf');
    if (role === 'anyone') continue;
    const stranger = await askPlain(address, { method, headers: { origin: url } });
    expect([stranger.status, stranger.json?.error.code], name).toEqual([401, 'session_expired']);
    const ask = async (browser: typeof user, headers: Record<string, string | null> = {}) => {
      const { status, json } = await browser.ask(address.slice(url.length), { method, headers });
      return [status, json?.error.code];
    };
    expect(await ask(suspended), name).toEqual([403, 'suspended']);
    if (method !== 'GET')
      expect(await ask(user, { 'x-csrf-token': operator.csrf }), name).toEqual([
        403,
        role === 'operator' ? 'operator_only' : 'csrf',
      ]);
    if (role === 'operator') expect(await ask(user), name).toEqual([403, 'operator_only']);
    // What is nobody's, or another's, is not there.
    else if (method === 'GET' && path.includes(':')) expect((await ask(user))[0], name).toBe(404);
  }
});

test('nothing lies beside the rows', async () => {
  const gateway = await startGateway({
    databaseUrl: await sqliteUrl(migrations),
    configuration: oneModel('http://127.0.0.1:9'),
  });
  const { url, database } = gateway;
  const opened = await gateway.pages.open();
  const operator = await newBrowser(url, database, 'operator');
  for (const path of [
    'operator',
    'operator/',
    'users',
    'admin',
    '__proto__',
    'session%2F..',
    'session/nobodys',
    'Session',
  ])
    if (!opened.routes.some((route) => route.path === path && route.method === 'GET'))
      expect((await operator.ask(path)).json?.error.code, path).toBe('not_found');
});
