import { expect, test } from 'vitest';
import { minuteMs } from '../../base/calendar.ts';
import { forEachDatabase } from '../../../test/databases.ts';
import type { Browser } from '../../../test/support/console.ts';
import { charge, noon, startUserConsole, topUp } from '../../../test/support/console-user.ts';
import { migrations } from '../../app/schema.ts';
import type { Database, SqlValue } from '../../storage/database.ts';
import { rollUp } from '../../usage/rollup.ts';
import { releasedTasks } from './tasks.ts';

const clock = { now: () => noon, monotonicMs: () => 0 };

async function insertTask(
  database: Database,
  account: string,
  id: string,
  more: Readonly<Record<string, SqlValue>>,
): Promise<void> {
  const values: Readonly<Record<string, SqlValue>> = {
    ...{
      id,
      account,
      key_id: 'key_gone',
      limits: '[]',
      capability: 'video',
      model: 'film',
      group_name: 'default',
    },
    ...{
      channel: 'a@1',
      upstream_model: 'up',
      upstream_id: 'up_1',
      seconds: 10,
      size: '1280x720',
      variants: '[]',
      claims: 1,
      next_poll_at: 0,
    },
    ...{ bill: '[["second",10,"595000000000000","5950000000"]]', cost: 5_950_000_000n, ...more },
  };
  const columns = Object.keys(values);
  const places = columns.map((_, index) => `$${index + 1}`).join();
  await database.query(
    `INSERT INTO task (${columns.join()}) VALUES (${places})`,
    Object.values(values),
  );
}

const started = async (openFresh: (options: object) => Promise<Database>) => {
  const database = await openFresh({ migrations });
  const files = {
    find: async (_: string, id: string) => ({
      id,
      account: '',
      type: 'video/mp4',
      bytes: 1,
      createdAt: 0,
      expiresAt: noon,
    }),
    urlOf: ({ id }: { readonly id: string }, host: string | undefined) =>
      `http://${host}/files/${id}.mp4`,
  };
  const released = (userId: string, from: number, to: number) =>
    releasedTasks(database, userId, from, to);
  return startUserConsole(database, clock, { files, released });
};

const ids = (answer: { json: { items: readonly { id: string }[] } }) =>
  answer.json.items.map(({ id }) => id);

forEachDatabase((_name, openFresh) => {
  test('videos on their way and those of the last day, with what they hold, cost and became', async () => {
    const { database, url, newUser } = await started(openFresh);
    const [browser, other]: readonly Browser[] = [await newUser(), await newUser()];
    if (browser === undefined || other === undefined) throw new Error('there are two users');
    const mine = browser.userId;
    await insertTask(database, mine, 'video_old', {
      state: 'failed',
      created_at: noon - 25 * 60 * minuteMs,
      ended_at: noon - 24 * 60 * minuteMs,
    });
    const failed = {
      state: 'failed',
      error_code: 'content_policy_violation',
      error: 'The prompt was refused.',
    };
    await insertTask(database, mine, 'video_failed', {
      ...failed,
      created_at: noon - 177 * minuteMs,
      ended_at: noon - 153 * minuteMs,
    });
    await insertTask(database, mine, 'video_done', {
      state: 'completed',
      percent: 100,
      file: 'fil_1',
      created_at: noon - 9 * minuteMs,
      ended_at: noon - 2 * minuteMs,
    });
    await insertTask(database, mine, 'video_runs', {
      state: 'running',
      percent: 0,
      created_at: noon - minuteMs,
    });
    await insertTask(database, other.userId, 'video_theirs', { state: 'queued', created_at: noon });

    const all = await browser.ask('tasks');
    expect(ids(all)).toEqual(['video_runs', 'video_done', 'video_failed']);
    const host = new URL(url).host;
    expect(all.json.items).toMatchObject([
      {
        state: 'processing',
        progress: null,
        held: '5.950000000',
        charged: '0.000000000',
        ended_at: null,
        video_url: null,
      },
      {
        state: 'completed',
        progress: 100,
        held: '0.000000000',
        charged: '5.950000000',
        video_url: `http://${host}/files/fil_1.mp4`,
      },
      {
        state: 'failed',
        charged: '0.000000000',
        error: { code: 'content_policy_violation', message: 'The prompt was refused.' },
      },
    ]);
    const first = await browser.ask('tasks?limit=2');
    const second = await browser.ask(`tasks?limit=2&after=${first.json.next}`);
    expect([...ids(first), ...ids(second), second.json.next]).toEqual([
      'video_runs',
      'video_done',
      'video_failed',
      null,
    ]);
    expect(ids(await browser.ask(`tasks?limit=2&after=${second.json.prev}`))).toEqual(ids(first));

    expect((await browser.ask('tasks/video_done')).json).toMatchObject({
      lines: [
        {
          class: 'second',
          quantity: '10',
          price: { amount: '0.595', per: 1, unit: 'second' },
          charged: '5.950000000',
        },
      ],
      usual_ms: null,
      expires_at: new Date(noon - 9 * minuteMs + 86_400_000).toISOString(),
    });
    for (const id of ['video_theirs', 'video_old', 'video_nobody'])
      expect((await browser.ask(`tasks/${id}`)).status).toBe(404);
  });

  test('what was held for nothing stands beside the charges of its day, without an amount', async () => {
    const { database, newUser } = await started(openFresh);
    const browser = await newUser();
    await topUp(database, browser.userId, 9_000_000_000n, noon - 300 * minuteMs);
    const made = {
      account: browser.userId,
      keyId: 'key_gone',
      lines: [['second', 5, 1n, 2_975_000_000n]] as const,
    };
    await charge(database, { ...made, id: 'video_a', at: noon - 180 * minuteMs });
    await charge(database, { ...made, id: 'video_b', at: noon - 100 * minuteMs });
    const failed = {
      state: 'failed',
      error_code: 'timeout',
      error: 'It took too long.',
      created_at: noon - 177 * minuteMs,
    };
    await insertTask(database, browser.userId, 'video_failed', {
      ...failed,
      ended_at: noon - 153 * minuteMs,
    });
    while (await rollUp(database, noon)) continue;
    const { json } = await browser.ask('statement/2026-11-21');
    expect(ids({ json })).toEqual(['video_a', 'video_failed', 'video_b']);
    expect(json.items).toMatchObject([
      { what: 'charge', amount: '-2.975000000', balance: '6.025000000' },
      {
        what: 'not_charged',
        held: '5.950000000',
        held_at: new Date(noon - 177 * minuteMs).toISOString(),
        error: 'It took too long.',
      },
      { what: 'charge', balance: '3.050000000' },
    ]);
  });
});
