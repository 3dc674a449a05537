import { request } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import type { Browser } from '../../../test/support/console.ts';
import { charge, startUserConsole, topUp } from '../../../test/support/console-user.ts';
import { addAnnouncement } from '../../accounts/announcements.ts';
import { endSession } from '../../accounts/sessions.ts';
import { setUserRole, setUserState } from '../../accounts/users.ts';
import { systemClock } from '../../base/clock.ts';
import { migrations } from '../../app/schema.ts';

interface Heard {
  readonly event: string;
  readonly id: string;
  readonly data: ReturnType<typeof JSON.parse>;
}

/** Collects the events that a page gets from now on. */
async function listen(
  url: string,
  { cookie }: Browser,
  lastId?: string,
): Promise<{ readonly heard: Heard[]; ended(): boolean; leave(): void }> {
  const heard: Heard[] = [];
  let over = false;
  const headers = { cookie, ...(lastId === undefined ? {} : { 'last-event-id': lastId }) };
  const asking = request(`${url}/console/api/events`, { headers, agent: false });
  onTestFinished(() => void asking.destroy());
  await new Promise<void>((resolve, reject) => {
    asking.on('error', reject);
    asking.on('response', (response) => {
      expect(response.headers['content-type']).toContain('text/event-stream');
      let text = '';
      response.on('error', () => undefined);
      response.on('end', () => {
        over = true;
      });
      response.on('data', (part: Buffer) => {
        text += part.toString('utf8');
        const parts = text.split('\n\n');
        text = parts.pop() ?? '';
        for (const part of parts) {
          const member = (name: string): string =>
            new RegExp(`^${name}: (.*)$`, 'm').exec(part)?.[1] ?? '';
          if (member('event') !== '')
            heard.push({
              event: member('event'),
              id: member('id'),
              data: JSON.parse(member('data')),
            });
        }
      });
      resolve();
    });
    asking.end();
  });
  return { heard, ended: () => over, leave: () => asking.destroy() };
}

const key = async (browser: Browser): Promise<string> =>
  (
    await browser.ask('keys', {
      method: 'POST',
      body: { name: 'k', group: 'default' },
      headers: { 'idempotency-key': 'form-0001' },
    })
  ).json.key.id;

forEachDatabase((_name, openFresh) => {
  test('a charge and the balance after it are sent to its owner alone, once, from any process', async () => {
    const { database, url, newUser } = await startUserConsole(
      await openFresh({ migrations }),
      systemClock,
      { lookEveryMs: 20 },
    );
    const [owner, other] = [await newUser(), await newUser()];
    const keyId = await key(owner);
    const now = Date.now();
    await topUp(database, owner.userId, 5_000_000_000n, now - 5_000);
    await charge(database, {
      account: owner.userId,
      keyId,
      id: 'req_before',
      at: now - 4_000,
      lines: [['input', 1, 1n, 7n]],
    });
    const mine = await listen(url, owner);
    const theirs = await listen(url, other);
    await expect.poll(() => mine.heard.map(({ event }) => event)).toEqual(['balance']);
    expect(mine.heard[0]?.data.available).toBe('4.999999993');
    // Finished before the page opened, and committed after it.
    await charge(database, {
      account: owner.userId,
      keyId,
      id: 'req_late',
      at: now - 2_000,
      lines: [['input', 3, 1n, 9n]],
    });
    await expect
      .poll(() => mine.heard.map(({ event }) => event))
      .toEqual(['balance', 'charge', 'balance']);
    expect(mine.heard[1]?.data).toMatchObject({
      id: 'req_late',
      cost: '0.000000009',
      key_name: 'k',
      tokens: { input: 3 },
    });
    expect(mine.heard[2]?.data.available).toBe('4.999999984');

    mine.leave();
    await charge(database, {
      account: owner.userId,
      keyId,
      id: 'req_away',
      at: Date.now(),
      lines: [['input', 1, 1n, 1n]],
    });
    const back = await listen(url, owner, mine.heard.at(-1)?.id);
    await expect.poll(() => back.heard.map(({ data }) => data.id)).toContain('req_away');
    expect(theirs.heard.map(({ event }) => event)).toEqual(['balance']);
  });

  test('of very many charges the latest are told at once', async () => {
    const { database, url, newUser } = await startUserConsole(
      await openFresh({ migrations }),
      systemClock,
      { lookEveryMs: 20 },
    );
    const owner = await newUser();
    const keyId = await key(owner);
    const now = Date.now();
    await topUp(database, owner.userId, 5_000_000_000n, now - 20_000);
    for (let i = 0; i < 120; i++)
      await charge(database, {
        account: owner.userId,
        keyId,
        id: `req_${i}`,
        at: now - 15_000 + i,
        lines: [['input', 1, 1n, 1n]],
      });
    const { heard } = await listen(url, owner, String(now - 16_000));
    await expect.poll(() => heard.filter(({ event }) => event === 'charge').length).toBe(100);
    const told = heard.flatMap(({ event, data }) => (event === 'charge' ? [data.id] : []));
    expect([told[0], told.at(-1)]).toEqual(['req_20', 'req_119']);
  });

  test('orders and announcements are told', async () => {
    const order = { id: 'ord_1', state: 'credited', refunded: '0.000000000' } as never;
    let orders: { changedAt: number; order: never }[] = [];
    const { database, url, newUser } = await startUserConsole(
      await openFresh({ migrations }),
      systemClock,
      {
        lookEveryMs: 20,
        ordersSince: async () => orders,
      },
    );
    const browser = await newUser();
    const { heard } = await listen(url, browser);
    await expect.poll(() => heard.length).toBe(1);
    orders = [{ changedAt: Date.now(), order }];
    await expect.poll(() => heard.at(-1)).toMatchObject({ event: 'order', data: { id: 'ord_1' } });
    const text = { zh: '维护', en: 'Maintenance' };
    const told = {
      title: text,
      text,
      level: 'info',
      from: Date.now(),
      to: undefined,
      group: undefined,
    } as const;
    await database.transact(() =>
      addAnnouncement(told, { author: 'usr_1', madeWith: 'form-0001', at: Date.now() }),
    );
    await expect
      .poll(() => heard.at(-1))
      .toMatchObject({ event: 'announcement', data: { changed: true } });
  });

  test('nothing is sent to a user who has left, was suspended or is no operator any more', async () => {
    const { database, url, newUser } = await startUserConsole(
      await openFresh({ migrations }),
      systemClock,
      { lookEveryMs: 20 },
    );
    const operator = async () => {
      const browser = await newUser();
      await database.transact(() => setUserRole(browser.userId, 'operator'));
      return { browser, ...(await listen(url, browser)) };
    };
    const [left, suspended, demoted] = [await operator(), await operator(), await operator()];
    const all = [left, suspended, demoted];
    await expect.poll(() => all.map(({ heard }) => heard.length)).toEqual([1, 1, 1]);
    await endSession(database, left.browser.userId, left.browser.sessionId);
    await database.transact(() => setUserState(suspended.browser.userId, 'suspended'));
    await database.transact(() => setUserRole(demoted.browser.userId, 'user'));
    await database.query("UPDATE change SET version=version+1 WHERE topic='catalog'");
    for (const { browser } of all)
      await topUp(database, browser.userId, 5_000_000_000n, Date.now(), browser.userId);
    await expect
      .poll(() => demoted.heard.map(({ event }) => event))
      .toEqual(['balance', 'balance']);
    await expect.poll(() => all.map(({ ended }) => ended())).toEqual([true, true, false]);
    expect([left.heard.length, suspended.heard.length]).toEqual([1, 1]);
  });

  test('one user has so many streams and no more, until one of them ends', async () => {
    const { url, newUser } = await startUserConsole(await openFresh({ migrations }), systemClock, {
      lookEveryMs: 20,
    });
    const [browser, other] = [await newUser(), await newUser()];
    const streams = await Promise.all(Array.from({ length: 20 }, () => listen(url, browser)));
    const refused = await browser.ask('events');
    expect(refused).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } });
    expect(refused.headers['retry-after']).toBe('30');
    await listen(url, other);
    streams[0]?.leave();
    await new Promise((resolve) => setTimeout(resolve, 100));
    await listen(url, browser);
  });
});
