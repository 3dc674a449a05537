import { expect, test } from 'vitest';
import { dayMs } from '../base/calendar.ts';
import { forEachDatabase, onSqlite } from '../../test/databases.ts';
import { newBrowser, signedInAs, startConsole } from '../../test/support/console.ts';
import { sessionRoutes } from '../console/user/sign-in.ts';
import { migrations } from '../app/schema.ts';
import { expireSignIns } from './sign-in-attempts.ts';
import { openSite } from '../signin/site.ts';
import { enrol, suspendUser } from '../signin/enrol.ts';
import { linkHolder, makeLink } from './identities.ts';
import {
  idleMs,
  lifeMs,
  listSessions,
  resumeSession,
  sessionsMax,
  startSession,
} from './sessions.ts';
import { changeUser, setUserRole } from './users.ts';

forEachDatabase((_, openFresh) => {
  test('a session lives on while it is used, but not for ever', async () => {
    const db = await openFresh({ migrations });
    const { id: userId } = await db.transact(() => enrol('Ada', 'user', 0));
    const begin = (at: number) =>
      db.transact(() =>
        startSession({ userId, way: 'github', browser: 'Firefox', ip: '192.0.2.1', at }),
      );
    const [used, idle] = [await begin(0), await begin(0)];
    const alive = async (secret: string, at: number) =>
      (await resumeSession(db, { secret, ip: '192.0.2.2', at })) !== undefined;
    let last = 0;
    while (await alive(used.secret, last + 10 * dayMs)) last += 10 * dayMs;
    expect(last).toBe(80 * dayMs);
    const again = await begin(0);
    expect(await alive(again.secret, idleMs - 1)).toBe(true);
    expect(await alive(again.secret, idleMs - 1 + idleMs)).toBe(false);
    expect(await alive(idle.secret, idleMs)).toBe(false);
    expect(lifeMs).toBe(90 * dayMs);
    expect(await resumeSession(db, { secret: 'short', ip: '', at: 0 })).toBeUndefined();
    await expireSignIns(db, { now: () => lifeMs, monotonicMs: () => 0 });
    expect(await db.query('SELECT id FROM sessions')).toEqual([]);
  });

  test('whose role changes has it at once; where and when a session was used is written down', async () => {
    const db = await openFresh({ migrations });
    const { id: userId } = await db.transact(() => enrol('Ada', 'user', 0));
    const { secret } = await db.transact(() =>
      startSession({ userId, way: 'link', browser: 'b'.repeat(1_000), ip: '192.0.2.1', at: 0 }),
    );
    await db.transact(() => setUserRole(userId, 'operator'));
    expect(await resumeSession(db, { secret, ip: '192.0.2.9', at: 120_000 })).toMatchObject({
      user: { role: 'operator' },
      session: { seenAt: 120_000, ip: '192.0.2.9' },
    });
    expect(await listSessions(db, userId, 120_000)).toMatchObject([
      { ip: '192.0.2.9', seenAt: 120_000, createdAt: 0, browser: 'b'.repeat(300) },
    ]);
  });

  test('a session and a link from before a suspension do not live again with the user', async () => {
    const db = await openFresh({ migrations });
    const [{ id: userId }, { id: other }] = [
      await db.transact(() => enrol('Ada', 'user', 0)),
      await db.transact(() => enrol('Bo', 'user', 0)),
    ];
    const ways = async (user: string) => ({
      session: await db.transact(() =>
        startSession({ userId: user, way: 'link', browser: 'Firefox', ip: '192.0.2.1', at: 0 }),
      ),
      link: await db.transact(() => makeLink(user, 0)),
    });
    const [mine, theirs] = [await ways(userId), await ways(other)];
    const alive = async ({ session, link }: Awaited<ReturnType<typeof ways>>) => [
      (await resumeSession(db, { secret: session.secret, ip: '', at: 1 }))?.user.state,
      (await linkHolder(db, link?.secret ?? '', 1))?.state,
    ];
    await db.transact(() => suspendUser(userId, true));
    expect(await alive(mine)).toEqual(['suspended', 'suspended']);
    await db.transact(() => suspendUser(userId, false));
    expect(await alive(mine)).toEqual([undefined, undefined]);
    expect(await alive(theirs)).toEqual(['active', 'active']);
    // Restoring a user who is not suspended ends nothing.
    await db.transact(() => suspendUser(other, false));
    expect(await alive(theirs)).toEqual(['active', 'active']);
  });

  test('settings change by their version, and what is left out stays', async () => {
    const db = await openFresh({ migrations });
    const user = await db.transact(() => enrol('Ada', 'user', 0));
    expect(user).toMatchObject({
      state: 'active',
      zone: 'Asia/Shanghai',
      language: undefined,
      lowBalance: undefined,
      shortcuts: true,
      version: 1,
    });
    const changed = await db.transact(() =>
      changeUser(user.id, 1, { language: 'en', lowBalance: 5n, shortcuts: false }),
    );
    expect(changed).toEqual({
      ...user,
      language: 'en',
      lowBalance: 5n,
      shortcuts: false,
      version: 2,
    });
    expect(
      await db.transact(() => changeUser(user.id, 1, { zone: 'Europe/Berlin' })),
    ).toBeUndefined();
    expect(
      await db.transact(() =>
        changeUser(user.id, 2, { zone: 'Europe/Berlin', language: null, lowBalance: null }),
      ),
    ).toEqual({
      ...user,
      zone: 'Europe/Berlin',
      shortcuts: false,
      version: 3,
    });
  });

  test('one user has so many sessions at most: the one that was not used for longest ends', async () => {
    const db = await openFresh({ migrations });
    const { id: userId } = await db.transact(() => enrol('Ada', 'user', 0));
    const secrets: string[] = [];
    for (let at = 0; at <= sessionsMax; at++)
      secrets.push(
        (await db.transact(() => startSession({ userId, way: 'link', browser: '', ip: '', at })))
          .secret,
      );
    const alive = await Promise.all(
      secrets.map(
        async (secret) => (await resumeSession(db, { secret, ip: '', at: 100 })) !== undefined,
      ),
    );
    expect([alive[0], alive.filter(Boolean).length]).toEqual([false, sessionsMax]);
  });
});

onSqlite((_, openFresh) => {
  test('a user sees the browsers that are signed in, ends any of them at once, and no other user does', async () => {
    const db = await openFresh({ migrations });
    const url = await startConsole(db, sessionRoutes({ database: db, site: openSite(undefined) }));
    const mine = await newBrowser(url, db);
    const lost = await signedInAs(url, db, mine.userId);
    const stranger = await newBrowser(url, db);
    const listed = (await mine.ask('sessions')).json.items;
    expect(
      listed.map(({ id, current }: { id: string; current: boolean }) => [id, current]).toSorted(),
    ).toEqual(
      [
        [mine.sessionId, true],
        [lost.sessionId, false],
      ].toSorted(),
    );
    expect((await stranger.ask(`sessions/${lost.sessionId}`, { method: 'DELETE' })).status).toBe(
      404,
    );
    expect((await lost.ask('sessions')).status).toBe(200);
    expect((await mine.ask(`sessions/${lost.sessionId}`, { method: 'DELETE' })).status).toBe(204);
    expect((await lost.ask('sessions')).json.error.code).toBe('session_expired');
    const out = await mine.ask('session', { method: 'DELETE' });
    expect([out.status, out.headers['set-cookie']?.[0]]).toEqual([
      204,
      'tollgate=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0',
    ]);
    expect((await mine.ask('sessions')).status).toBe(401);
  });
});
