import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { SMTPServer } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { newCustomer } from '../../test/support/customer.ts';
import { isEmail } from '../accounts/text-fields.ts';
import { changeUser } from '../accounts/users.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { recordConfiguration } from '../catalog/catalog-store.ts';
import { writeReport } from '../gateway/reports/report.ts';
import { credit } from '../ledger/ledger.ts';
import { openHold } from '../ledger/transactions/hold.ts';
import { migrations } from '../app/schema.ts';
import type { Database } from '../storage/database.ts';
import { openSealer } from '../storage/seal.ts';
import { Notifications } from './notifications.ts';
import { notificationSettings, type NotificationSettings } from './settings.ts';

class TurnedClock implements Clock {
  turnedMs = 0;
  now(): number {
    return systemClock.now() + this.turnedMs;
  }
  monotonicMs(): number {
    return systemClock.monotonicMs();
  }
}

interface Letter {
  readonly to: readonly string[];
  readonly text: string;
}

/** A mail server like an operator's, with a password. */
async function startPostOffice(
  beforeTaken: () => Promise<void> = async () => undefined,
): Promise<{ readonly url: string; readonly letters: Letter[] }> {
  const letters: Letter[] = [];
  const server = new SMTPServer({
    authMethods: ['PLAIN', 'LOGIN'],
    allowInsecureAuth: true,
    disabledCommands: ['STARTTLS'],
    onAuth: (auth, _session, done) =>
      done(auth.password === 'secret' ? null : new Error('no'), { user: 'tollgate' }),
    onData(stream, session, done) {
      const pieces: Buffer[] = [];
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      const taken = async () => {
        await beforeTaken();
        done();
      };
      stream.on('end', () => {
        letters.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text: Buffer.concat(pieces).toString(),
        });
        void taken();
      });
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `smtp://tollgate:secret@127.0.0.1:${address.port}`, letters };
}

interface Posted {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An operator's webhook endpoint; it answers with `statuses`, one after the other, then 204. */
async function startHook(
  ...statuses: number[]
): Promise<{ readonly url: string; readonly posted: Posted[] }> {
  const posted: Posted[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (piece: Buffer) => (body += piece.toString()));
    request.on('end', () => {
      posted.push({ headers: request.headers, body });
      response.writeHead(statuses.shift() ?? 204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}/hook`, posted };
}

const secret = `whsec_${Buffer.from('0123456789abcdef').toString('base64')}`;

/** The body of a mail whose text had to be encoded. */
const bodyOf = ({ text }: Letter): string => {
  const [head = '', body = ''] = text.split(/\r\n\r\n([^]*)/);
  if (/base64/i.test(head)) return Buffer.from(body, 'base64').toString();
  return Buffer.from(
    body
      .replace(/=\r\n/g, '')
      .replace(/=([0-9A-F]{2})/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      ),
    'latin1',
  ).toString();
};

forEachDatabase((_name, openFresh) => {
  const clock = new TurnedClock();
  const troubles: unknown[] = [];
  const notificationsOn = (
    database: Database,
    settings: NotificationSettings,
    onAttempt: (why: string | undefined) => void = () => undefined,
  ): Notifications =>
    new Notifications({
      ...{ database, clock, settings, home: 'https://ai.example.com' },
      onAttempt: (_id, _way, why) => onAttempt(why),
      onError: (error) => troubles.push(error),
    });

  const poor = async (
    database: Database,
    email: string | null,
    language: 'zh' | 'en' | null = 'en',
  ): Promise<string> => {
    const { userId } = await newCustomer(database, 5_000_000_000n);
    await database.transact(() =>
      changeUser(userId, 1, { lowBalance: 10_000_000_000n, email, language }),
    );
    return userId;
  };

  test('a user whose balance is low hears of it once, and again after it was topped up and spent', async () => {
    const [database, office] = [await openFresh({ migrations }), await startPostOffice()];
    const notifications = notificationsOn(database, {
      email: { url: office.url, from: 'Tollgate <noreply@example.com>', to: [] },
      troubleMs: 0,
    });
    const ada = await poor(database, 'ada@example.com');
    await poor(database, 'li@example.com', 'zh');
    const nameless = await poor(database, null);
    await poor(database, 'evil@example.com>, <all@example.com');
    await notifications.look();
    await notifications.look();
    expect(office.letters.map(({ to }) => to).sort()).toEqual([
      ['ada@example.com'],
      ['li@example.com'],
    ]);
    const [mine, theirs] = ['ada@example.com', 'li@example.com'].map((to) =>
      office.letters.find((letter) => letter.to[0] === to),
    );
    expect(mine?.text).toMatch(/^Subject: Your balance is low\r$/m);
    expect(mine && bodyOf(mine)).toContain('https://ai.example.com/top-up');
    expect(theirs && bodyOf(theirs)).toContain('你的可用余额为 ¥5.00，低于你设置的 ¥10.00');
    await database.transact(() => changeUser(nameless, 2, { email: 'new@example.com' }));
    await notifications.look();
    await notifications.look();
    expect(office.letters.filter(({ to }) => to[0] === 'new@example.com')).toHaveLength(1);
    const grant = { account: ada, from: 'grants', code: 'grant', at: clock.now() };
    await credit(database, { ...grant, id: 'more', amount: 20_000_000_000n });
    await notifications.look();
    await database.transact(() => changeUser(ada, 2, { lowBalance: 30_000_000_000n }));
    await notifications.look();
    expect(office.letters.filter(({ to }) => to[0] === 'ada@example.com')).toHaveLength(1);
    clock.turnedMs += 3_600_000;
    await notifications.look();
    await notifications.look();
    expect(office.letters.filter(({ to }) => to[0] === 'ada@example.com')).toHaveLength(2);
    await notifications.close();
    expect(troubles).toEqual([]);
  });

  test('what a video holds is not available, and counts towards a low balance', async () => {
    const [database, office] = [await openFresh({ migrations }), await startPostOffice()];
    const notifications = notificationsOn(database, {
      email: { url: office.url, from: 'noreply@example.com', to: [] },
      troubleMs: 0,
    });
    const { userId: account } = await newCustomer(database, 10_000_000_000n);
    await database.transact(() =>
      changeUser(account, 1, { lowBalance: 5_000_000_000n, email: 'ada@example.com' }),
    );
    await notifications.look();
    expect(office.letters).toEqual([]);
    const hold = { id: 'video_1', account, amount: 9_000_000_000n, at: clock.now() };
    expect(await database.transact(() => openHold(hold))).toBe('open');
    await notifications.look();
    const texts = office.letters.map(bodyOf).join();
    expect(texts).toContain('Your available balance is ¥1.00, below your limit of ¥5.00.');
    await notifications.close();
  });

  test('a channel whose key is refused is told of at once, one that fails after a while, and both when they are well again', async () => {
    const [database, office, hook] = [
      await openFresh({ migrations }),
      await startPostOffice(),
      await startHook(),
    ];
    const email = {
      url: office.url,
      from: 'noreply@example.com',
      to: ['ops@example.com', 'night@example.com'],
    };
    const notifications = notificationsOn(database, {
      email,
      webhook: { url: hook.url, secret },
      troubleMs: 300_000,
    });
    const facts = {
      vendor: 'openai',
      baseUrl: undefined,
      secret: 'k',
      groups: ['default'],
      priority: 0,
      weight: 1,
      models: new Map(),
    };
    const channels = ['refused', 'failing', 'fine'].map((name) => ({ ...facts, name }));
    await recordConfiguration(
      database,
      { groups: [], models: [], channels, warnings: [] },
      openSealer(Buffer.alloc(32, 1)),
      systemClock,
    );
    const see = async (
      states: Readonly<Record<string, 'healthy' | 'degraded' | 'parked'>>,
      answering = true,
    ): Promise<void> => {
      const why = { healthy: undefined, degraded: 'server_error', parked: 'credentials' } as const;
      const seen = Object.entries(states).map(([name, state]) => [
        name,
        {
          ...{ state, why: why[state], since: clock.now(), until: undefined, running: 0 },
          recent: { attempts: answering ? 2 : 1, failed: state === 'healthy' && answering ? 0 : 1 },
        },
      ]);
      const recent = { requests: 0, errors: 0, firsts: [] };
      const report = {
        node: 'n',
        at: clock.now(),
        openStreams: 0,
        recent,
        databaseMs: 0,
        channels: Object.fromEntries(seen),
      };
      await database.transact(() => writeReport(report, [], []));
      await notifications.look();
    };
    const events = () =>
      hook.posted
        .map(({ body }) => JSON.parse(body))
        .map(({ type, data }) => `${type} ${data.channel}`);
    await see({ refused: 'parked', failing: 'degraded', fine: 'healthy' });
    expect(events()).toEqual(['channel.trouble refused']);
    expect(JSON.parse(hook.posted[0]?.body ?? '')).toMatchObject({
      data: { why: 'credentials', since: expect.stringMatching(/Z$/) },
    });
    clock.turnedMs += 200_000;
    await see({ refused: 'parked', failing: 'degraded' });
    expect(events()).toHaveLength(1);
    clock.turnedMs += 200_000;
    await see({ refused: 'parked', failing: 'degraded' });
    expect(events()).toEqual(['channel.trouble refused', 'channel.trouble failing']);
    // Nothing has answered: the process that saw the trouble has gone, or a new one has begun.
    await database.query('DELETE FROM node_report');
    await notifications.look();
    await see({ refused: 'healthy', failing: 'healthy' }, false);
    expect(events()).toHaveLength(2);
    await see({ refused: 'healthy', failing: 'degraded' });
    // The trouble comes and goes: within the hour there is no further alert.
    await see({ refused: 'parked', failing: 'degraded' });
    await see({ refused: 'healthy', failing: 'healthy' });
    expect(events().slice(2)).toEqual(['channel.recovered refused', 'channel.recovered failing']);
    clock.turnedMs += 3_600_000;
    await see({ refused: 'healthy', failing: 'healthy' });
    await see({ refused: 'parked', failing: 'healthy' });
    expect(events().slice(4)).toEqual(['channel.trouble refused']);
    expect(office.letters).toHaveLength(10);
    expect(new Set(office.letters.flatMap(({ to }) => to))).toEqual(
      new Set(['ops@example.com', 'night@example.com']),
    );
    await notifications.close();
  });

  test('a webhook is signed as Standard Webhooks has it, and asked again later until it takes it', async () => {
    const [database, hook] = [await openFresh({ migrations }), await startHook(500, 429)];
    const onAttempt: (string | undefined)[] = [];
    const notifications = notificationsOn(
      database,
      { webhook: { url: hook.url, secret }, troubleMs: 0 },
      (why) => onAttempt.push(why),
    );
    const user = await poor(database, null);
    await notifications.look();
    await notifications.look();
    expect(onAttempt).toEqual(['status 500']);
    for (const wait of [31_000, 121_000, 700_000]) {
      clock.turnedMs += wait;
      await notifications.look();
    }
    expect(onAttempt).toEqual(['status 500', 'status 429', undefined]);
    const ids = hook.posted.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    for (const { headers, body } of hook.posted) {
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`;
      expect(headers['webhook-signature']).toBe(
        `v1,${createHmac('sha256', '0123456789abcdef').update(signed).digest('base64')}`,
      );
    }
    expect(JSON.parse(hook.posted[0]?.body ?? '')).toMatchObject({
      type: 'balance.low',
      data: { user, balance: '5.00', threshold: '10.00' },
    });
    await notifications.close();
  });

  test('of several nodes one speaks, and another goes on when it has gone', async () => {
    const [database, hook] = [await openFresh({ migrations }), await startHook()];
    const nodes = [1, 2, 3].map(() =>
      notificationsOn(database, { webhook: { url: hook.url, secret }, troubleMs: 0 }),
    );
    await poor(database, null);
    await Promise.all(nodes.map((node) => node.look()));
    expect(hook.posted).toHaveLength(1);
    await poor(database, null);
    await Promise.all(nodes.map((node) => node.close()));
    const next = notificationsOn(database, { webhook: { url: hook.url, secret }, troubleMs: 0 });
    await next.look();
    expect(hook.posted).toHaveLength(2);
    await next.close();
  });

  test('a mail server that takes its time gets each mail once, from one node', async () => {
    const database = await openFresh({ migrations });
    const nodes: Notifications[] = [];
    const office = await startPostOffice(async () => {
      clock.turnedMs += 40_000;
      await nodes[1]?.look();
    });
    const email = { url: office.url, from: 'noreply@example.com', to: [] };
    for (const _ of [1, 2]) nodes.push(notificationsOn(database, { email, troubleMs: 0 }));
    for (const name of ['a', 'b', 'c']) await poor(database, `${name}@example.com`);
    await nodes[0]?.look();
    expect(office.letters.flatMap(({ to }) => to).sort()).toEqual([
      'a@example.com',
      'b@example.com',
      'c@example.com',
    ]);
    expect(await database.query('SELECT DISTINCT state, attempts FROM notice')).toEqual([
      { state: 'sent', attempts: 1n },
    ]);
    await Promise.all(nodes.map((node) => node.close()));
  });

  test('a mail that its server does not take in time is sent again later', async () => {
    const database = await openFresh({ migrations });
    let slow = true;
    const office = await startPostOffice(async () => {
      if (slow) await new Promise((resolve) => setTimeout(resolve, 3_000));
    });
    const tried: (string | undefined)[] = [];
    const email = { url: office.url, from: 'noreply@example.com', to: [] };
    const notifications = new Notifications({
      ...{ database, clock, settings: { email, troubleMs: 0 }, home: undefined, mailMs: 1_000 },
      onAttempt: (_id, _way, why) => tried.push(why),
      onError: (error) => troubles.push(error),
    });
    await poor(database, 'ada@example.com');
    await notifications.look();
    slow = false;
    clock.turnedMs += 31_000;
    await notifications.look();
    expect(tried).toEqual(['EABORT', undefined]);
    await notifications.close();
  });

  test('nobody to be reached is tried six times and given up, and no reason names the recipient', async () => {
    const database = await openFresh({ migrations });
    const onAttempt: (string | undefined)[] = [];
    const settings = {
      email: { url: 'smtp://127.0.0.1:1', from: 'a@example.com', to: [] },
      troubleMs: 0,
    };
    const notifications = notificationsOn(database, settings, (why) => onAttempt.push(why));
    await poor(database, 'ada@example.com');
    for (let attempt = 0; attempt < 9; attempt++) {
      await notifications.look();
      clock.turnedMs += 22_000_000;
    }
    expect(onAttempt).toHaveLength(6);
    expect(onAttempt.join()).not.toContain('ada@');
    expect(await database.query('SELECT state FROM notice')).toEqual([{ state: 'given_up' }]);
    await notifications.close();
  });
});

test('nothing is said unless it is configured, and a half configuration says what it lacks', () => {
  expect(notificationSettings({})).toBeUndefined();
  expect(notificationSettings({ SMTP_URL: 'smtp://mail.example.com' })).toMatch(/NOTIFY_FROM/);
  for (const alone of [{ NOTIFY_EMAIL: 'x@y.cn' }, { NOTIFY_FROM: 'a@b.cn' }])
    expect(notificationSettings(alone)).toMatch(/^NOTIFY_[A-Z]+ is for mails, which need SMTP_URL/);
  expect(notificationSettings({ NOTIFY_CHANNEL_MINUTES: 'x' })).toMatch(/is a whole number/);
  expect(notificationSettings({ NOTIFY_WEBHOOK: 'https://example.com' })).toMatch(
    /NOTIFY_WEBHOOK_SECRET/,
  );
  for (const weak of ['0123456789abcde', 'whsec_**********', 'whsec_MDEyMzQ1Njc4OQ=='])
    expect(
      notificationSettings({ NOTIFY_WEBHOOK: 'https://e.com', NOTIFY_WEBHOOK_SECRET: weak }),
      weak,
    ).toMatch(/16 bytes or more/);
  expect(
    notificationSettings({ NOTIFY_WEBHOOK: 'file:///etc/passwd', NOTIFY_WEBHOOK_SECRET: secret }),
  ).toMatch(/NOTIFY_WEBHOOK/);
  expect(
    notificationSettings({
      SMTP_URL: 'smtps://m.example.com',
      NOTIFY_FROM: 'a@b.cn',
      NOTIFY_EMAIL: 'x@y.cn, nobody',
    }),
  ).toMatch(/nobody/);
  expect(
    notificationSettings({
      SMTP_URL: 'smtps://m.example.com',
      NOTIFY_FROM: 'a@b.cn',
      NOTIFY_EMAIL: 'x@y.cn',
    }),
  ).toEqual({
    email: { url: 'smtps://m.example.com', from: 'a@b.cn', to: ['x@y.cn'] },
    troubleMs: 300_000,
  });
  for (const address of ['a@b', 'a b@c.de', 'a@b.cn\r\nBcc: c@d.ef', '<a@b.cn>', 'a@b.cn,c@d.cn'])
    expect(isEmail(address), address).toBe(false);
});
