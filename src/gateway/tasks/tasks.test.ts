import type { ServerResponse } from 'node:http';
import { describe, expect, it, vi } from 'vitest';
import { forEachDatabase } from '../../../test/databases.ts';
import { newCustomer } from '../../../test/support/customer.ts';
import {
  aFilm,
  type FilmVendor,
  films,
  startFilmVendor,
} from '../../../test/support/film-vendor.ts';
import { openTaskNode, type TaskNode } from '../../../test/support/task-node.ts';
import { json } from '../../../test/support/scripted-vendor.ts';
import { pause, systemTimers } from '../../base/clock.ts';
import { nanoPerYuan } from '../../base/money.ts';
import { check } from '../../ledger/check.ts';
import { balance } from '../../ledger/ledger.ts';
import { ledgerProcedures } from '../../ledger/procedures.ts';
import { migrations } from '../../app/schema.ts';
import type { Database } from '../../storage/database.ts';
import { taskProof } from './migrations.ts';
import type { Task } from './task.ts';

const hour = 3_600_000;
const running = { status: 'in_progress', progress: 40 };

interface Stage {
  readonly database: Database;
  readonly vendor: FilmVendor;
  readonly node: TaskNode;
  readonly account: string;
  task(id: string): Promise<Task | undefined>;
  spendable(): Promise<bigint>;
}

forEachDatabase((_name, openFresh) => {
  async function stage(
    configuration: (url: string) => string = films,
    limits: Parameters<typeof openTaskNode>[2] = {},
    kept: Parameters<typeof openTaskNode>[3] = {},
  ): Promise<Stage> {
    const database = await openFresh({ migrations, procedures: ledgerProcedures });
    const vendor = await startFilmVendor();
    const node = await openTaskNode(database, configuration(vendor.url), limits, kept);
    const { userId: account } = await newCustomer(database, 20n * nanoPerYuan);
    node.tasks.start();
    const task = (id: string): Promise<Task | undefined> => node.tasks.find(account, id);
    return {
      database,
      vendor,
      node,
      account,
      task,
      spendable: async () => (await balance(database, account))?.spendable ?? -1n,
    };
  }

  const end = (task: Stage['task'], id: string) =>
    expect.poll(async () => (await task(id))?.state, { interval: 10 });
  const books = async ({ database }: Stage): Promise<void> =>
    expect(await check(database, taskProof)).toMatchObject({ ok: true, problems: [] });

  describe('time', () => {
    it('a task past its limit is asked for once more, cancelled at its vendor and failed, and its money is back', async () => {
      // So far apart that none is under way while the clock is turned: its claim would seem to be
      // over, and the task would be polled, and cancelled, by two.
      const minute = 60_000;
      const on = await stage(films, { pollMsMin: minute, pollMsMax: minute });
      const { vendor, node, account } = on;
      vendor.state = running;
      const { id } = await node.submit(account);
      node.clock.turnedMs = minute + 1_000;
      await end(on.task, id).toBe('running');
      expect(await on.spendable()).toBe(13n * nanoPerYuan);
      node.clock.turnedMs = hour + 1_000;
      await end(on.task, id).toBe('failed');
      expect((await on.task(id))?.error).toEqual({
        code: 'timeout',
        message: 'Task timed out and was cancelled.',
      });
      await expect.poll(() => vendor.cancelled).toEqual(['up_1']);
      expect(await on.spendable()).toBe(20n * nanoPerYuan);
      await books(on);
    });

    it('a video that is made while the clock is set back ends when it was submitted, not before', async () => {
      const on = await stage();
      const { vendor, node, account, database } = on;
      vendor.onPoll = () => {
        node.clock.turnedMs = -2 * hour;
        return false;
      };
      const { id } = await node.submit(account);
      await end(on.task, id).toBe('completed');
      const [record] = await database.query('SELECT reserved_at, finished_at FROM usage');
      expect(record?.['finished_at']).toBe(record?.['reserved_at']);
      await books(on);
    });

    it('a video that is there at that last look is delivered', async () => {
      const on = await stage();
      const { vendor, node, account } = on;
      vendor.state = running;
      const { id } = await node.submit(account);
      await end(on.task, id).toBe('running');
      vendor.onPoll = (_id, response) => {
        response.destroy();
        return true;
      };
      await expect.poll(async () => (await on.task(id))?.faults).toBeGreaterThan(0);
      vendor.onPoll = undefined;
      vendor.state = { status: 'completed' };
      node.clock.turnedMs = hour + 1_000;
      await end(on.task, id).toBe('completed');
      expect(await on.spendable()).toBe(13n * nanoPerYuan);
      await books(on);
      await expect
        .poll(() => node.told)
        .toEqual([
          {
            ...{
              id,
              user: account,
              key: 'key_test',
              model: 'sora-2',
              group: 'default',
              channel: 'films',
            },
            ...{ outcome: 'completed', costNano: '7000000000', durationMs: expect.any(Number) },
          },
        ]);
    });

    /** The answers to the next requests for a film's bytes: half of them, and then `after`. */
    function halves(
      vendor: FilmVendor,
      after: (response: ServerResponse) => void,
    ): { asked: number } {
      const counted = { asked: 0 };
      vendor.answer(({ url }, response) => {
        if (!url.includes('/content')) return json(response, 200, '{"status":"completed"}');
        counted.asked += 1;
        response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': aFilm.length });
        response.write(aFilm.subarray(0, aFilm.length - 1), () => after(response));
      });
      return counted;
    }

    it.each([
      ['once more', 1, 'completed', 13n],
      ['no more than twice', 9, 'failed', 20n],
    ])(
      'a finished video whose copy breaks is copied after that, %s',
      async (_, broken, how, left) => {
        const on = await stage();
        const { vendor, node, account } = on;
        vendor.state = running;
        const { id } = await node.submit(account);
        await end(on.task, id).toBe('running');
        const copies = halves(vendor, (response) =>
          copies.asked <= broken ? response.destroy() : response.end(aFilm.subarray(-1)),
        );
        node.clock.turnedMs = hour + 1_000;
        await end(on.task, id).toBe(how);
        expect(copies.asked).toBe(Math.min(broken + 1, 3));
        expect(await on.spendable()).toBe(left * nanoPerYuan);
        await books(on);
      },
    );

    it('a finished video whose copy a shutdown breaks off is delivered by the next process', async () => {
      const on = await stage();
      const { vendor, node, account } = on;
      vendor.state = running;
      const { id } = await node.submit(account);
      await end(on.task, id).toBe('running');
      let copied = (_response: ServerResponse): void => {};
      const copies = halves(vendor, (response) => copied(response));
      await expect.poll(() => copies.asked).toBe(1);
      node.clock.turnedMs = hour + 1_000;
      await node.close();
      expect(await on.task(id)).toMatchObject({ state: 'running', faults: 0 });
      copied = (response) => response.end(aFilm.subarray(-1));
      const next = await openTaskNode(on.database, films(vendor.url));
      next.clock.turnedMs = hour + 60_000;
      next.tasks.start();
      await end(on.task, id).toBe('completed');
      expect(await on.spendable()).toBe(13n * nanoPerYuan);
      await books(on);
    });

    it('a task is not there any more when it is a day old', async () => {
      const on = await stage();
      const { node, account } = on;
      const { id } = await node.submit(account);
      await end(on.task, id).toBe('completed');
      node.clock.turnedMs = 24 * hour - 60_000;
      expect(await on.task(id)).toMatchObject({ id });
      expect(
        await node.tasks.list(account, { limit: 10, order: 'desc', after: undefined }),
      ).toHaveLength(1);
      node.clock.turnedMs = 24 * hour;
      expect(await on.task(id)).toBeUndefined();
      expect(
        await node.tasks.list(account, { limit: 10, order: 'desc', after: undefined }),
      ).toEqual([]);
      expect(await node.tasks.remove(account, id)).toBe('unknown');
      node.clock.turnedMs = 8 * 24 * hour;
      expect(await node.tasks.expire()).toBe(1);
      await books(on);
    });

    it('a task that its vendor has lost fails, but not in its first minute', async () => {
      const on = await stage();
      const { vendor, node, account } = on;
      vendor.onPoll = (_id, response) => {
        json(response, 404, '{"error":{"message":"no such video","code":"not_found"}}');
        return true;
      };
      const { id } = await node.submit(account);
      await expect.poll(() => vendor.polls).toBeGreaterThan(3);
      expect((await on.task(id))?.state).toBe('queued');
      node.clock.turnedMs = 61_000;
      await end(on.task, id).toBe('failed');
      expect(await on.spendable()).toBe(20n * nanoPerYuan);
      await books(on);
    });
  });

  describe('a submission', () => {
    const two = (url: string): string =>
      films(
        url,
        `  - { name: second, vendor: openai-compatible, base_url: "${url}/second", api_key: second-key, models: [sora-2], priority: 1 }`,
      );

    it.each([
      [
        'an answer that cannot be read',
        (r: Parameters<typeof json>[0]) =>
          r.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      ],
      [
        'an answer without an id',
        (r: Parameters<typeof json>[0]) => json(r, 200, '{"status":"queued"}'),
      ],
      [
        'a server error',
        (r: Parameters<typeof json>[0]) => json(r, 500, '{"error":{"message":"oops"}}'),
      ],
      ['a broken connection', (r: Parameters<typeof json>[0]) => r.destroy()],
    ])('that may have been accepted is sent to nobody else: %s', async (_what, answer) => {
      const on = await stage(two);
      on.vendor.onSubmit = (response) => {
        answer(response);
        return true;
      };
      await expect(on.node.submit(on.account)).rejects.toMatchObject({ refusal: 'unavailable' });
      expect(on.vendor.received.filter(({ method }) => method === 'POST')).toHaveLength(1);
      expect(await on.spendable()).toBe(20n * nanoPerYuan);
      expect(await on.database.query('SELECT id FROM task')).toEqual([]);
      await books(on);
    });

    it('has the price of its moment, also when the next vendor gets it in a dearer hour', async () => {
      const dearer = '{ name: day, zone: UTC, from: "09:00", to: "18:00", times: 3 }';
      const price = `{ second: 0.7, windows: [${dearer}] }`;
      const on = await stage((url) => two(url).replace('{ second: 0.7 }', price));
      const morning = 24 * hour + 9 * hour - 20_000;
      on.node.clock.turnedMs = morning - (Date.now() % (24 * hour));
      on.vendor.onSubmit = (response, { url }) => {
        if (!url.startsWith('/v1/')) return false;
        on.node.clock.turnedMs += 40_000;
        json(response, 429, '{"error":{"message":"no"}}');
        return true;
      };
      const { id } = await on.node.submit(on.account);
      await end(on.task, id).toBe('completed');
      expect((await on.task(id))?.channel).toMatch(/^second@/);
      expect(await on.spendable()).toBe(13n * nanoPerYuan);
      await books(on);
    });

    it.each([429, 401, 402, 503])(
      'that a vendor refuses with %i goes to the next, which has it from then on',
      async (status) => {
        const on = await stage(two);
        on.vendor.onSubmit = (response, { url }) => {
          if (!url.startsWith('/v1/')) return false;
          json(response, status, '{"error":{"message":"no"}}');
          return true;
        };
        const { id } = await on.node.submit(on.account);
        await end(on.task, id).toBe('completed');
        expect((await on.task(id))?.channel).toMatch(/^second@/);
        expect(
          on.vendor.received
            .filter(({ method }) => method === 'GET')
            .every(
              ({ url, headers }) =>
                url.startsWith('/second/') && headers.authorization === 'Bearer second-key',
            ),
        ).toBe(true);
        await books(on);
      },
    );

    it('that is wrong is the client’s to mend, and leaves nothing', async () => {
      const on = await stage(two);
      on.vendor.onSubmit = (response) => {
        json(
          response,
          400,
          '{"error":{"message":"seconds must be 4, 8 or 12","param":"seconds","code":"invalid_value"}}',
        );
        return true;
      };
      await expect(on.node.submit(on.account)).rejects.toMatchObject({
        refusal: 'vendor_bad_request',
        message: expect.stringContaining('4, 8 or 12'),
      });
      on.vendor.onSubmit = (response) => {
        json(
          response,
          400,
          '{"error":{"message":"Your request was blocked","code":"moderation_blocked"}}',
        );
        return true;
      };
      await expect(on.node.submit(on.account)).rejects.toMatchObject({
        refusal: 'content_policy_violation',
      });
      expect(await on.spendable()).toBe(20n * nanoPerYuan);
      expect(await on.database.query('SELECT id FROM task')).toEqual([]);
      await books(on);
    });

    it('goes to a channel that makes the asked length; no channel shortens it', async () => {
      const on = await stage((url) =>
        films(url)
          .replace(
            '{ id: sora-2, upstream: up-video }',
            '{ id: sora-2, upstream: short, durations: [5, 10] }',
          )
          .concat(
            `  - { name: long, vendor: openai-compatible, base_url: "${url}/v1", models: [{ id: sora-2, upstream: long, durations: [15] }], priority: 1 }`,
          ),
      );
      const { userId } = await newCustomer(on.database, 100n * nanoPerYuan);
      for (const seconds of [5, 10, 15]) await on.node.submit(userId, { seconds });
      expect([...on.vendor.tasks.values()].map(({ model, seconds }) => [model, seconds])).toEqual([
        ['short', '5'],
        ['short', '10'],
        ['long', '15'],
      ]);
      await expect(on.node.submit(userId, { seconds: 20 })).rejects.toMatchObject({
        refusal: 'invalid_value',
        param: 'duration',
      });
    });

    it('of which nobody knows what came of it fails when its time to be submitted is over, and is not sent again', async () => {
      const on = await stage();
      const { vendor, node, account } = on;
      vendor.onSubmit = () => true;
      const submitting = node
        .submit(account, { taskId: 'video_lost' })
        .catch((error: unknown) => error);
      const submissions = () => vendor.received.filter(({ method }) => method === 'POST');
      await expect.poll(submissions).toHaveLength(1);
      expect((await on.task('video_lost'))?.state).toBe('new');
      node.clock.turnedMs = 200_000;
      await end(on.task, 'video_lost').toBe('failed');
      expect(await on.spendable()).toBe(20n * nanoPerYuan);
      expect(submissions()).toHaveLength(1);
      await node.close();
      // The slow submitter learns that it no longer owns the task.
      expect(await submitting).toMatchObject({ refusal: 'unavailable' });
      await books(on);
    });

    it('with the key of an earlier one whose answer never arrived is that one', async () => {
      const on = await stage();
      on.vendor.state = running;
      const first = await on.node.submit(on.account, { idempotencyKey: 'once' });
      const again = await on.node.submit(on.account, { idempotencyKey: 'once' });
      expect(again.id).toBe(first.id);
      expect(on.vendor.tasks.size).toBe(1);
      const { userId: other } = await newCustomer(on.database, 20n * nanoPerYuan);
      expect((await on.node.submit(other, { idempotencyKey: 'once' })).id).not.toBe(first.id);
      await books(on);
    });
  });

  describe('the vendor that has the task', () => {
    it('is asked with the key and at the address that it was submitted with, whatever is sold meanwhile', async () => {
      const on = await stage();
      const { vendor, node, account } = on;
      vendor.state = running;
      const { id } = await node.submit(account);
      await end(on.task, id).toBe('running');
      await node.sell(films(`${vendor.url}/elsewhere`).replace('up-key', 'new-key'));
      const before = vendor.received.length;
      await expect
        .poll(() => vendor.received.length + 1000 * node.troubles.length)
        .toBeGreaterThan(before + 2);
      expect(node.troubles).toEqual([]);
      vendor.state = { status: 'completed' };
      await end(on.task, id).toBe('completed');
      expect(
        new Set(
          vendor.received
            .slice(1)
            .map(({ url, headers }) => `${url.split('/')[1]} ${headers.authorization}`),
        ),
      ).toEqual(new Set(['v1 Bearer up-key']));
      await node.submit(account);
      expect(vendor.received.at(-1)?.headers.authorization).toBe('Bearer new-key');
      expect(node.troubles).toEqual([]);
      await books(on);
    });

    it('is told to nobody: its tasks belong to their account', async () => {
      const on = await stage();
      const { id } = await on.node.submit(on.account);
      await end(on.task, id).toBe('completed');
      const { userId: other } = await newCustomer(on.database, 0n);
      expect(await on.node.tasks.find(other, id)).toBeUndefined();
      expect(await on.node.tasks.remove(other, id)).toBe('unknown');
      expect(
        await on.node.tasks.list(other, { limit: 10, order: 'asc', after: undefined }),
      ).toEqual([]);
      expect(await on.node.tasks.list(other, { limit: 10, order: 'asc', after: id })).toBe(
        'no such task',
      );
    });
  });

  describe('the price of a submission', () => {
    const tokens = 100_000;
    const seedance = (url: string, price: string): string =>
      films(
        url,
        `  - { name: metered, vendor: volcengine, base_url: "${url}/metered", api_key: up-key, models: [{ id: measured, upstream: doubao-seedance-2-0-260128 }] }`,
      ).replace(
        'channels:',
        `  - { id: measured, owned_by: bytedance, kind: video, durations: [10], price: ${price} }\nchannels:`,
      );

    it.each([
      ['by the second', '{ second: 0.7 }', '{ second: 2.1 }', 7n * nanoPerYuan],
      ['by tokens', '{ output: 46 }', '{ output: 92 }', (46n * nanoPerYuan) / 10n],
    ])('is what a video costs that its vendor meters: %s', async (_how, first, later, cost) => {
      const on = await stage((url) => seedance(url, first));
      let status = 'running';
      on.vendor.answer((received, response) => {
        if (received.method === 'POST') return json(response, 200, '{"id":"cgt-1"}');
        if (received.url.endsWith('.mp4')) return response.end(aFilm);
        const content = { video_url: `${on.vendor.url}/film.mp4` };
        const usage = { completion_tokens: tokens };
        return json(response, 200, JSON.stringify({ id: 'cgt-1', status, content, usage }));
      });
      const changes = [
        seedance(on.vendor.url, later),
        seedance(on.vendor.url, first).replace('multiplier: 1.0', 'multiplier: 3.0'),
        films(on.vendor.url),
      ];
      for (const changed of changes) {
        await on.node.sell(seedance(on.vendor.url, first));
        const { userId } = await newCustomer(on.database, 100n * nanoPerYuan);
        const { id } = await on.node.submit(userId, { model: 'measured' });
        await on.node.sell(changed);
        status = 'succeeded';
        await expect
          .poll(async () => (await on.node.tasks.find(userId, id))?.state, { interval: 10 })
          .toBe('completed');
        status = 'running';
        expect((await balance(on.database, userId))?.spendable).toBe(100n * nanoPerYuan - cost);
      }
      await books(on);
    });

    it('bounds the charge, whatever the vendor reports: what is beyond is the loss of the house', async () => {
      const on = await stage((url) => seedance(url, '{ output: 46 }'));
      on.vendor.answer((received, response) => {
        if (received.method === 'POST') return json(response, 200, '{"id":"cgt-1"}');
        if (received.url.endsWith('.mp4')) return response.end(aFilm);
        const content = { video_url: `${on.vendor.url}/film.mp4` };
        const usage = { completion_tokens: 1_000_000 };
        const done = { id: 'cgt-1', status: 'succeeded', content, usage };
        return json(response, 200, JSON.stringify(done));
      });
      const { userId } = await newCustomer(on.database, 100n * nanoPerYuan);
      const { id } = await on.node.submit(userId, { model: 'measured' });
      const [hold] = await on.database.query('SELECT amount FROM hold WHERE id=$1', [id]);
      await expect
        .poll(async () => (await on.node.tasks.find(userId, id))?.state, { interval: 10 })
        .toBe('completed');
      const held = BigInt(hold?.['amount'] ?? 0);
      const excess = 46n * nanoPerYuan - held;
      expect((await balance(on.database, userId))?.spendable).toBe(100n * nanoPerYuan - held);
      const [record] = await on.database.query(
        'SELECT cost, shortfall, excess, lines, reported FROM usage WHERE id=$1',
        [id],
      );
      expect(record).toMatchObject({ cost: held, shortfall: 0n, excess });
      expect(record?.['lines']).toContain('["output",219113,');
      expect(record?.['reported']).toContain('["output",1000000,');
      const [loss] = await on.database.query(
        "SELECT amount, ref FROM transfer WHERE debit='losses' AND credit='vendors'",
      );
      expect(loss).toEqual({ amount: excess, ref: id });
      const reported = { output: 1_000_000 };
      const told = { id, channel: 'metered', model: 'measured', excess, reported };
      await expect.poll(() => on.node.overruns).toEqual([told]);
      await books(on);
    });
  });

  describe('room for files', () => {
    it.each([
      ['files', { filesMax: 1 }],
      ['bytes', { bytesMax: 100 }],
    ])('that a video was accepted with is there when it is made: %s', async (what, kept) => {
      const on = await stage(films, {}, kept);
      const { vendor, node, account } = on;
      vendor.state = running;
      const { id } = await node.submit(account);
      const refusal = { refusal: 'too_many_files' };
      if (what === 'files') await expect(node.submit(account)).rejects.toMatchObject(refusal);
      await on.database.query(
        'INSERT INTO file_account (account, files, bytes) VALUES ($1, 1, 100)',
        [account],
      );
      vendor.state = { status: 'completed' };
      await end(on.task, id).toBe('completed');
      expect(await on.spendable()).toBe(13n * nanoPerYuan);
      await expect(node.submit(account)).rejects.toMatchObject(refusal);
      expect(vendor.tasks.size).toBe(1);
      await books(on);
    });

    it('ends at the largest file: a video that is larger fails, and is copied once', async () => {
      const on = await stage(films, {}, { fileBytesMax: 100 });
      const { id } = await on.node.submit(on.account);
      await end(on.task, id).toBe('failed');
      expect((await on.task(id))?.error?.message).toMatch(/too large/);
      expect(on.vendor.received.filter(({ url }) => url.includes('/content'))).toHaveLength(1);
      expect(await on.spendable()).toBe(20n * nanoPerYuan);
      await books(on);
    });
  });

  describe('a removal', () => {
    /** Calls `after` once, between this statement and what follows it. */
    function afterOne(database: Database, sql: string, after: () => Promise<void>): void {
      const query = database.query.bind(database);
      const spy = vi.spyOn(database, 'query').mockImplementation(async (text, params) => {
        const rows = await query(text, params);
        if (!text.startsWith(sql)) return rows;
        spy.mockRestore();
        await after();
        return rows;
      });
    }
    const files = ({ database }: Stage) => database.query('SELECT id FROM file');

    it('of a task that is completed meanwhile leaves no video behind', async () => {
      const on = await stage();
      const { vendor, node, account } = on;
      vendor.state = running;
      const { id } = await node.submit(account);
      afterOne(on.database, 'SELECT * FROM task WHERE id=$1', async () => {
        vendor.state = { status: 'completed' };
        await end(on.task, id).toBe('completed');
      });
      expect(await node.tasks.remove(account, id)).toBe('running');
      expect(await files(on)).toHaveLength(1);
      expect(await node.tasks.remove(account, id)).toBe('removed');
      expect(await files(on)).toEqual([]);
      expect(await on.task(id)).toBeUndefined();
      await books(on);
    });

    it('that fails can be repeated', async () => {
      const on = await stage();
      const { node, account } = on;
      const { id } = await node.submit(account);
      await end(on.task, id).toBe('completed');
      afterOne(on.database, 'SELECT * FROM file WHERE id=$1', () =>
        Promise.reject(new Error('the database is away')),
      );
      await expect(node.tasks.remove(account, id)).rejects.toThrow('away');
      expect(await node.tasks.remove(account, id)).toBe('removed');
      expect(await files(on)).toEqual([]);
      await books(on);
    });
  });

  it('polls of all channels together stay within their limit', async () => {
    const minute = 60_000;
    const names = ['one', 'two', 'three'];
    const channels = (url: string): string => `
groups:
  - { name: default, price_multiplier: 1.0 }
models:
${names.map((name) => `  - { id: ${name}, owned_by: openai, kind: video, durations: [10], price: { second: 0.1 } }`).join('\n')}
channels:
${names.map((name) => `  - { name: ${name}, vendor: openai-compatible, base_url: "${url}/v1", api_key: k, models: [${name}] }`).join('\n')}
`;
    const on = await stage(channels, { pollMsMin: minute, pollMsMax: minute, pollsMax: 2 });
    on.vendor.onPoll = () => true;
    for (const model of [...names, ...names]) await on.node.submit(on.account, { model });
    on.node.clock.turnedMs = minute + 1_000;
    await expect.poll(() => on.vendor.polls).toBe(2);
    await pause(systemTimers, 100);
    expect(on.vendor.polls).toBe(2);
    expect(on.node.tasks.polls.busy).toBe(2);
  });

  it('a key’s limit holds for what runs, and is free again when it fails', async () => {
    const on = await stage();
    on.vendor.state = running;
    const principal = {
      keyId: 'key_small',
      userId: on.account,
      group: 'default',
      limit: 10n * nanoPerYuan,
      dailyLimit: 100n * nanoPerYuan,
      expiresAt: undefined,
    };
    const { id } = await on.node.submit(on.account, { principal });
    await expect(on.node.submit(on.account, { principal })).rejects.toMatchObject({
      refusal: 'insufficient_quota',
    });
    await books(on);
    on.vendor.state = { status: 'failed', error: { code: 'x', message: 'y' } };
    await end(on.task, id).toBe('failed');
    on.vendor.state = { status: 'completed' };
    const second = await on.node.submit(on.account, { principal });
    await end(on.task, second.id).toBe('completed');
    await expect(on.node.submit(on.account, { principal })).rejects.toMatchObject({
      refusal: 'insufficient_quota',
    });
    expect(
      await on.database.query(
        "SELECT debits, held FROM account WHERE kind='limit' ORDER BY id LIMIT 1",
      ),
    ).toEqual([{ debits: 7n * nanoPerYuan, held: 0n }]);
    await books(on);
  });
});
