import { expect, test } from 'vitest';
import { forEachDatabase, onSqlite } from '../../test/databases.ts';
import { askPlain, Wanderer } from '../../test/support/console.ts';
import { startSigningIn } from '../../test/support/signing-in.ts';
import { linkLifeMs, linkIdentity } from '../accounts/identities.ts';
import { setUserState } from '../accounts/users.ts';
import { migrations } from '../app/schema.ts';
import { enrol, issueLink, linkAddress, operatorLink } from '../signin/enrol.ts';
import type { Database } from '../storage/database.ts';

const start = 1_700_000_000_000;

async function newLink(db: Database, at: number): Promise<{ userId: string; token: string }> {
  const user = await db.transact(() => enrol('Ada', 'operator', at));
  const made = await db.transact(() => issueLink(user.id, at));
  return { userId: user.id, token: made?.secret ?? '' };
}

forEachDatabase((_, openFresh) => {
  test('a link signs in once, and looking at it does not use it up', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db, {
      clock: { now: () => start, monotonicMs: () => performance.now() },
    });
    const { userId, token } = await newLink(db, start);
    const address = linkAddress(site.url, token);
    const [previewer, mine, thief] = [new Wanderer(), new Wanderer(), new Wanderer()];
    for (let i = 0; i < 3; i++) {
      const page = await previewer.get(address);
      expect([page.status, page.headers['set-cookie']]).toEqual([200, undefined]);
      expect(page.text).toContain('Sign in as “');
    }
    const used = await mine.post(`${site.url}/auth/link`, { token });
    expect([used.status, used.headers.location]).toEqual([303, '/operator']);
    expect(await site.who(mine)).toBe(userId);
    // A link from a history, a log or a glance at the screen comes too late.
    const stolen = await thief.post(`${site.url}/auth/link`, { token });
    expect([stolen.status, stolen.headers['set-cookie']]).toEqual([410, undefined]);
    expect((await thief.get(address)).text).toContain(
      'This link was used or has expired. Make a new one on the server: tollgate link --user ID',
    );
    expect((await thief.get(address, { 'accept-language': 'zh-CN,zh' })).text).toContain(
      '此链接已使用或已过期',
    );
    const stored = (await db.query('SELECT * FROM sign_in_links')).flatMap((row) =>
      Object.values(row),
    );
    expect(stored).not.toContain(token);
  });

  test('of many who use a link at once, one gets in', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db, {
      clock: { now: () => start, monotonicMs: () => performance.now() },
    });
    const { token } = await newLink(db, start);
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => new Wanderer().post(`${site.url}/auth/link`, { token })),
    );
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      303,
      ...Array(7).fill(410),
    ]);
    expect((await db.query('SELECT id FROM sessions')).length).toBe(1);
  });

  test('the operator is made where there is none, and gets a link for as long as there is no other way in', async () => {
    const db = await openFresh({ migrations });
    // Two nodes that start for the first time at once.
    const [first, second] = await Promise.all([
      operatorLink(db, ['github'], start),
      operatorLink(db, ['github'], start),
    ]);
    expect([first, second]).toEqual([
      expect.stringMatching(/^\w{43}$/),
      expect.stringMatching(/^\w{43}$/),
    ]);
    const operators = await db.query("SELECT id FROM users WHERE role = 'operator'");
    expect(operators.length).toBe(1);
    const id = String(operators[0]?.['id']);
    await db.transact(() =>
      linkIdentity(id, { provider: 'github', subject: '1', name: 'x' }, start),
    );
    expect(await operatorLink(db, ['github'], start)).toBeUndefined();
    expect(await operatorLink(db, [], start)).toBeDefined();
    expect(await operatorLink(db, ['wechat'], start)).toBeDefined();
    expect(
      await db.query("SELECT action, target FROM audit WHERE action = 'sign_in_link.create'"),
    ).toHaveLength(4);
  });
});

onSqlite((_, openFresh) => {
  test('a link ends, is for pages of ours to use, and is nothing to those who are suspended', async () => {
    const db = await openFresh({ migrations });
    let now = start;
    const site = await startSigningIn(db, {
      clock: { now: () => now, monotonicMs: () => performance.now() },
    });
    const post = async (token: string, headers = {}) => {
      const { status, headers: told } = await new Wanderer().post(
        `${site.url}/auth/link`,
        { token },
        headers,
      );
      return told.location ?? status;
    };
    const { userId, token } = await newLink(db, now);
    for (const origin of [null, 'null', 'https://evil.example'])
      expect(await post(token, { origin })).toBe(403);
    for (const wrong of ['', 'x', `${token}x`, token.toLowerCase(), "' OR 1=1 --"])
      expect(await post(wrong)).toBe(410);
    expect(await post('x'.repeat(5_000))).toBe(410);
    expect(await post(token, { 'content-type': ';' })).toBe(410);
    await db.transact(() => setUserState(userId, 'suspended'));
    expect(await post(token)).toBe('/sign-in?error=suspended');
    const later = await newLink(db, now);
    now += linkLifeMs;
    expect(await post(later.token)).toBe(410);
    expect(await db.transact(() => issueLink('nobody', now))).toBeUndefined();
  });

  test('the page of a link lets nothing run, frame it or send it elsewhere, and repeats nothing of its address but a link that works', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db);
    const browser = new Wanderer();
    const bad = await browser.get(
      `${site.url}/auth/link?token=${encodeURIComponent('"><script>alert(1)</script>')}`,
    );
    expect([bad.status, bad.text.includes('script')]).toEqual([410, false]);
    expect(bad.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-.*'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(bad.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'same-origin',
    });
  });

  test('behind https every cookie is for this host and for https alone', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db, {
      publicUrl: 'https://ai.example.com',
      clock: { now: () => start, monotonicMs: () => performance.now() },
    });
    const browser = new Wanderer();
    const away = await browser.get(`${site.url}/auth/github/start`);
    expect(away.headers['set-cookie']?.[0]).toMatch(
      /^__Host-tollgate-signin=\w{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=600; Secure$/,
    );
    expect(new URL(away.headers.location ?? '').searchParams.get('redirect_uri')).toBe(
      'https://ai.example.com/auth/github/callback',
    );
    const { token } = await newLink(db, start);
    const elsewhere = await browser.post(`${site.url}/auth/link`, { token });
    expect(elsewhere.status).toBe(403);
    expect(elsewhere.text).toContain('Sign-in works at https://ai.example.com only.');
    const used = await browser.post(
      `${site.url}/auth/link`,
      { token },
      { origin: 'https://ai.example.com' },
    );
    expect(used.headers['set-cookie']?.[0]).toMatch(
      /^__Host-tollgate=\w{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=7776000; Secure$/,
    );
  });

  test('an address that tries too often waits, and a preview begins nothing', async () => {
    const db = await openFresh({ migrations });
    const site = await startSigningIn(db);
    const browser = new Wanderer();
    expect((await askPlain(`${site.url}/auth/github/start`, { method: 'HEAD' })).status).toBe(404);
    expect(await db.query('SELECT state FROM sign_in_attempts')).toEqual([]);
    const answers = [];
    for (let i = 0; i < 40; i++)
      answers.push(await browser.post(`${site.url}/auth/link`, { token: 'a'.repeat(43) }));
    const last = answers.at(-1);
    expect([last?.status, Number(last?.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await browser.get(`${site.url}/auth/github/start`)).status).toBe(429);
  });
});
