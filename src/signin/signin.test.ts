import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { askPlain, Wanderer } from '../../test/support/console.ts';
import { decide, type SigningIn, startSigningIn } from '../../test/support/signing-in.ts';
import { listIdentities, linkIdentity, userOfIdentity } from '../accounts/identities.ts';
import { setUserState } from '../accounts/users.ts';
import { check } from '../ledger/check.ts';
import { migrations } from '../app/schema.ts';
import { simWechatLoner } from '../../sim/signin/apps.ts';
import { enrol } from './enrol.ts';
import { csrfOf } from './session-cookie.ts';

const csrf = ({ url }: SigningIn, browser: Wanderer): Record<string, string> => {
  return { origin: url, 'x-csrf-token': csrfOf(/tollgate=(\w+)/.exec(browser.cookie)?.[1] ?? '') };
};

forEachDatabase((_, openFresh) => {
  test('a stranger becomes a user with an account, and is the same one the next time', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db);
    const [first, second, other] = [new Wanderer(), new Wanderer(), new Wanderer()];
    const back = await site.signIn(first, 'github', {
      person: 'linwei',
      next: '/usage?kind=chat#top',
    });
    expect([back.status, back.headers.location]).toEqual([302, '/usage?kind=chat#top']);
    const id = await site.who(first);
    expect(id).toMatch(/^usr_/);
    expect((await site.signIn(second, 'github', { person: 'linwei' })).headers.location).toBe('/');
    expect(await site.who(second)).toBe(id);
    await site.signIn(other, 'github', { person: 'octocat' });
    expect(await site.who(other)).not.toBe(id);
    expect(await listIdentities(db, id)).toMatchObject([{ provider: 'github', name: '林薇' }]);
    expect((await check(db)).ok).toBe(true);
    const cookie = back.headers['set-cookie']?.[0] ?? '';
    expect(cookie).toMatch(
      /^tollgate=[A-Za-z0-9]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/,
    );
    const stored = (await db.query('SELECT * FROM sessions')).flatMap((row) => Object.values(row));
    expect(stored).not.toContain(/tollgate=(\w+)/.exec(cookie)?.[1]);
  });

  test('two windows of one newcomer make one user', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db);
    const browsers = Array.from({ length: 5 }, () => new Wanderer());
    const addresses = await Promise.all(
      browsers.map((browser) => site.leave(browser, 'wechat', { person: 'lin' })),
    );
    await Promise.all(browsers.map((browser, i) => browser.get(addresses[i] ?? '')));
    const ids = new Set(await Promise.all(browsers.map((browser) => site.who(browser))));
    expect([ids.size, [...ids][0]]).toEqual([1, expect.stringMatching(/^usr_/)]);
    expect((await db.query('SELECT id FROM users')).length).toBe(1);
  });

  test('WeChat knows people by unionid, and by openid where there is none; who was known by the one is known by the other', async () => {
    const db = await openFresh({ migrations });
    const env = {
      WECHAT_APP_ID: simWechatLoner.appId,
      WECHAT_APP_SECRET: simWechatLoner.appSecret,
    };
    const alone = await startSigningIn(db, { env });
    const browser = new Wanderer();
    await alone.signIn(browser, 'wechat', { person: 'chen' });
    const id = await alone.who(browser);
    const [row] = await db.query('SELECT subject, name FROM identities');
    expect(row).toMatchObject({
      subject: expect.stringMatching(`^${simWechatLoner.appId}:o6_`),
      name: '陈晨',
    });
    const joined = {
      provider: 'wechat',
      subject: 'o6_union',
      formerly: String(row?.['subject']),
      name: '陈',
    };
    expect(await db.transact(() => userOfIdentity(joined))).toMatchObject({ id });
    expect(
      await db.transact(() =>
        userOfIdentity({ provider: 'wechat', subject: 'o6_union', name: '陈' }),
      ),
    ).toMatchObject({ id });
  });

  test('what a provider calls somebody is one line in which nothing hides', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db);
    for (const [provider, person] of [
      ['wechat', '\u202eecila\n the\u0000 first'],
      ['wechat', '\u2066\n'],
      ['github', 'long'.repeat(100)],
    ] as const)
      await site.signIn(new Wanderer(), provider, { person });
    const names = ['ecila the first', '微信用户', 'long'.repeat(25)].sort();
    expect(
      (await db.query('SELECT name FROM users')).map(({ name }) => String(name)).sort(),
    ).toEqual(names);
    expect(
      (await db.query('SELECT name FROM identities')).map(({ name }) => String(name)).sort(),
    ).toEqual(names);
  });

  test('a state is for the browser, the provider and the time that it was made for, once', async () => {
    const db = await openFresh({ migrations });
    let now = 1_700_000_000_000;
    const site = await startSigningIn(db, { clock: { now: () => now, monotonicMs: () => now } });
    const victim = new Wanderer();
    const mine = new Wanderer();
    const failure = async (browser: Wanderer, address: string) => {
      const { location } = (await browser.get(address)).headers;
      return [new URL(location ?? '', site.url).searchParams.get('error'), await site.who(browser)];
    };
    const address = await site.leave(mine, 'github', { person: 'octocat' });
    // Somebody else's sign-in, sent to a victim who would then work in that account.
    expect(await failure(victim, address)).toEqual(['state_mismatch', 'session_expired']);
    await site.leave(victim, 'github');
    expect(await failure(victim, address)).toEqual(['state_mismatch', 'session_expired']);
    expect(await failure(mine, address.replace(/state=\w+/, 'state='))).toEqual([
      'state_mismatch',
      'session_expired',
    ]);
    expect(await failure(mine, address.replace('/github/', '/wechat/'))).toEqual([
      'state_mismatch',
      'session_expired',
    ]);
    expect((await mine.get(address)).headers.location).toBe('/');
    expect(await site.who(mine)).toMatch(/^usr_/);
    const again = new Wanderer();
    for (const pair of mine.cookie.split('; '))
      if (pair.startsWith('tollgate-signin=')) again.plant('tollgate-signin', pair.slice(16));
    expect(await failure(again, address)).toEqual(['state_mismatch', 'session_expired']);
    const late = await site.leave(again, 'wechat', { person: 'lin' });
    now += 600_000;
    expect(await failure(again, late)).toEqual(['expired', 'session_expired']);
  });

  test('a code that was intercepted is worth nothing in another browser, nor twice', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db);
    const [victim, thief] = [new Wanderer(), new Wanderer()];
    const code = (address: string): string => new URL(address).searchParams.get('code') ?? '';
    const theirs = await site.leave(victim, 'github', { person: 'octocat' });
    const own = await site.leave(thief, 'github', { person: 'thief' });
    // PKCE: the code goes with what only the victim's browser has.
    const stolen = await thief.get(own.replace(code(own), code(theirs)));
    expect(stolen.headers.location).toBe('/sign-in?error=refused');
    expect(await site.who(thief)).toBe('session_expired');
    expect(site.troubles).toEqual([expect.stringContaining('bad_verification_code')]);
    const spent = await site.leave(victim, 'wechat', { person: 'lin' });
    await victim.get(spent);
    const next = await site.leave(thief, 'wechat', { person: 'thief' });
    expect((await thief.get(next.replace(code(next), code(spent)))).headers.location).toBe(
      '/sign-in?error=refused',
    );
    expect(site.troubles.join()).not.toContain(code(spent));
  });

  test('a person who declines, is suspended, is a stranger where sign-up is closed, or comes while the provider is away, learns why', async () => {
    const db = await openFresh({ migrations });
    const open = await startSigningIn(db);
    const browser = new Wanderer();
    for (const provider of ['github', 'wechat'] as const)
      expect(
        (await open.signIn(browser, provider, { deny: true, next: '/keys' })).headers.location,
      ).toBe('/sign-in?error=denied&next=%2Fkeys');
    // What GitHub sends for an address that the operator did not enter there.
    const back = new URL(await open.leave(browser, 'github', { deny: true }));
    back.searchParams.set('error', 'redirect_uri_mismatch');
    expect((await browser.get(back.href)).headers.location).toBe('/sign-in?error=refused');
    expect(open.troubles).toEqual(['it refused with the error redirect_uri_mismatch']);
    await open.signIn(browser, 'github', { person: 'octocat' });
    const id = await open.who(browser);
    const closed = await startSigningIn(db, { env: { TOLLGATE_SIGN_UP: 'off' } });
    expect(
      (await closed.signIn(new Wanderer(), 'github', { person: 'stranger' })).headers.location,
    ).toBe('/sign-in?error=sign_up_closed');
    expect(
      (await closed.signIn(new Wanderer(), 'github', { person: 'octocat' })).headers.location,
    ).toBe('/');
    await db.transact(() => setUserState(id, 'suspended'));
    expect(await open.who(browser)).toBe('suspended');
    const refused = await open.signIn(new Wanderer(), 'github', { person: 'octocat' });
    expect([refused.headers.location, refused.headers['set-cookie']]).toEqual([
      '/sign-in?error=suspended',
      undefined,
    ]);
    const away = await startSigningIn(db, { env: { GITHUB_API_URL: 'http://127.0.0.1:9' } });
    expect((await away.signIn(new Wanderer(), 'github')).headers.location).toBe(
      '/sign-in?error=unavailable',
    );
    const without = await startSigningIn(db, {
      env: { GITHUB_CLIENT_ID: '', GITHUB_CLIENT_SECRET: '' },
    });
    for (const name of ['github', 'gitlab', '__proto__'])
      expect((await browser.get(`${without.url}/auth/${name}/start`)).headers.location).toBe(
        '/sign-in?error=not_offered',
      );
  });

  test('a session that was there before is no way in: signing in begins a new one and ends it', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db);
    const [thief, victim, shown] = [new Wanderer(), new Wanderer(), new Wanderer()];
    await site.signIn(thief, 'github', { person: 'thief' });
    const planted = /tollgate=(\w+)/.exec(thief.cookie)?.[1] ?? '';
    victim.plant('tollgate', planted);
    await site.signIn(victim, 'github', { person: 'octocat' });
    expect(victim.cookie).not.toContain(planted);
    expect(await site.who(thief)).toBe('session_expired');
    shown.plant('tollgate', 'a'.repeat(43));
    await site.signIn(shown, 'github', { person: 'octocat' });
    expect(shown.cookie).not.toContain('a'.repeat(43));
  });

  test('a second way in is linked from within and nowhere else; the last one stays', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db);
    const [mine, other] = [new Wanderer(), new Wanderer()];
    await site.signIn(mine, 'github', { person: 'octocat' });
    await site.signIn(other, 'wechat', { person: 'lin' });
    const [me, them] = [await site.who(mine), await site.who(other)];
    const begin = async (browser: Wanderer, provider: string): Promise<string> =>
      JSON.parse(
        (
          await browser.post(
            `${site.url}/console/api/identities/${provider}`,
            {},
            { ...csrf(site, browser), 'content-type': null },
          )
        ).text,
      ).location;
    const unlink = async (browser: Wanderer, provider: string, at = site) => {
      const headers = { ...csrf(at, browser), cookie: browser.cookie };
      return askPlain(`${at.url}/console/api/identities/${provider}`, {
        method: 'DELETE',
        headers,
      });
    };
    expect((await unlink(mine, 'github')).json.error.code).toBe('last_identity');
    // Another user's identity is not taken away.
    expect(
      (await mine.get(await decide(await begin(mine, 'wechat'), 'lin'))).headers.location,
    ).toBe('/settings?error=identity_taken&next=%2Fsettings');
    // The user who began is not the person who came back.
    const begun = await decide(await begin(mine, 'wechat'), 'chen');
    const session = /(?:^|; )tollgate=(\w+)/.exec(mine.cookie)?.[1] ?? '';
    mine.plant('tollgate', /(?:^|; )tollgate=(\w+)/.exec(other.cookie)?.[1] ?? '');
    expect((await mine.get(begun)).headers.location).toContain('error=state_mismatch');
    expect((await listIdentities(db, them)).length).toBe(1);
    mine.plant('tollgate', session);
    expect(
      (await mine.get(await decide(await begin(mine, 'wechat'), 'chen'))).headers.location,
    ).toBe('/settings');
    expect((await listIdentities(db, me)).map(({ provider }) => provider).toSorted()).toEqual([
      'github',
      'wechat',
    ]);
    expect(
      (await mine.get(await decide(await begin(mine, 'wechat'), 'another'))).headers.location,
    ).toContain('error=identity_exists');
    // WeChat is no longer configured: GitHub is the only way in.
    const less = await startSigningIn(db, { env: { WECHAT_APP_ID: '', WECHAT_APP_SECRET: '' } });
    const listed = await askPlain(`${less.url}/console/api/identities`, {
      headers: { cookie: mine.cookie },
    });
    const removable = Object.fromEntries(
      listed.json.items.map((item: { provider: string; removable: boolean }) => [
        item.provider,
        item.removable,
      ]),
    );
    expect(removable).toEqual({ github: false, wechat: true });
    expect((await unlink(mine, 'github', less)).json.error.code).toBe('last_identity');
    // Both at once: one of them is the last.
    const done = await Promise.all([unlink(mine, 'github'), unlink(mine, 'wechat')]);
    expect(done.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
    expect((await listIdentities(db, me)).length).toBe(1);
    expect((await unlink(mine, 'gitlab')).status).toBe(404);
  });

  test('an identity belongs to one user, however many ask for it at once', async () => {
    const db = await openFresh({ migrations });
    const users = await Promise.all(
      ['a', 'b', 'c'].map((name) => db.transact(() => enrol(name, 'user', 1))),
    );
    const person = { provider: 'github', subject: '7', name: 'x' };
    const done = await Promise.all(
      users.map(({ id }) => db.transact(() => linkIdentity(id, person, 1))),
    );
    expect(done.toSorted()).toEqual(['linked', 'taken', 'taken']);
  });
});
