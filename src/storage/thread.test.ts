import { expect, test } from 'vitest';
import { sqliteUrl } from '../../test/databases.ts';
import { threadFrom } from '../../test/thread.ts';
import { systemClock } from '../base/clock.ts';
import type { Database, Transaction } from './database.ts';
import { migrate } from './migrate.ts';
import { open } from './open.ts';
import { SqliteHost } from './sqlite-host.ts';

const thread = threadFrom(new URL('../../test/sqlite-thread-fixture.ts', import.meta.url));
const counters = {
  id: '0001-counter',
  statements: ['CREATE TABLE counter (id TEXT PRIMARY KEY, n BIGINT NOT NULL CHECK (n < 1000000))'],
};

/** As many handles, each with a thread of its own, on one file: as several processes have. */
async function withThreads(
  count: number,
  work: (...databases: [Database, ...Database[]]) => Promise<void>,
): Promise<void> {
  const url = await sqliteUrl();
  const first = await open(url, { thread });
  const others = await Promise.all(Array.from({ length: count - 1 }, () => open(url, { thread })));
  try {
    await migrate(first, [counters]);
    await work(first, ...others);
  } finally {
    for (const database of [first, ...others]) await database.close();
  }
}

const read = function* (): Transaction<unknown> {
  return (yield { sql: "SELECT n FROM counter WHERE id = 'a'", params: [] })[0]?.['n'];
};

test('a procedure runs inside the thread, and bigints cross both ways', async () => {
  await withThreads(1, async (db) => {
    expect(await db.call('add', { id: 'a', n: 5n })).toBe(5n);
    expect(await db.call('add', { id: 'a', n: 2n })).toBe(7n);
    expect(await db.query('SELECT n FROM counter')).toEqual([{ n: 7n }]);
  });
});

test('errors keep their kind on the way out of the thread', async () => {
  await withThreads(1, async (db) => {
    await expect(db.call('add', { id: 'a', n: 1_000_000n })).rejects.toMatchObject({
      kind: 'constraint',
    });
    await expect(db.query('SELECT nonsense')).rejects.toMatchObject({ kind: 'other' });
    await expect(db.call('fail', {})).rejects.toThrow('out of sorts');
    expect(await db.query('SELECT n FROM counter')).toEqual([]);
  });
});

test('a transaction driven from outside is alone, and calls wait for its end', async () => {
  await withThreads(1, async (db) => {
    const slow = db.transact(function* (): Transaction<unknown> {
      yield { sql: "INSERT INTO counter VALUES ('a', 1)", params: [] };
      yield { sql: 'SELECT 1', params: [] };
      return yield* read();
    });
    const meanwhile = db.call('add', { id: 'a', n: 10n });
    expect(await slow).toBe(1n);
    expect(await meanwhile).toBe(11n);
  });
});

test('a long read delays no writer, and sees what was committed before it', async () => {
  await withThreads(1, async (db) => {
    await db.call('add', { id: 'a', n: 1n });
    let reading = true;
    let begun = (): void => undefined;
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const slow =
      'WITH RECURSIVE c (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 3000000) SELECT COUNT(*) AS n FROM c';
    const long = db.snapshot(function* (): Transaction<unknown> {
      const before = yield* read();
      begun();
      yield { sql: slow, params: [] };
      return [before, yield* read()];
    });
    const done = long.finally(() => {
      reading = false;
    });
    await beginning;
    for (let n = 2n; n <= 20n; n++) expect(await db.call('add', { id: 'a', n: 1n })).toBe(n);
    expect(reading).toBe(true);
    expect(await done).toEqual([1n, 1n]);
    expect(await db.snapshot(read)).toBe(20n);
  });
});

test('a thread that dies leaves its jobs unknown and undone, and is replaced', async () => {
  await withThreads(1, async (db) => {
    await db.call('add', { id: 'a', n: 1n });
    await expect(db.call('die', {})).rejects.toMatchObject({ kind: 'unknown' });
    expect(await db.call('add', { id: 'a', n: 1n })).toBe(2n);
  });
});

test('a step of a transaction that is gone is never committed on its own', () => {
  const host = new SqliteHost(':memory:', {}, systemClock);
  expect(() => host.perform({ do: 'step', sql: 'SELECT 1', params: [] })).toThrow('gone');
  expect(() => host.perform({ do: 'commit' })).toThrow('gone');
});

test('four writers of one file: nothing is lost, none starves', { timeout: 60_000 }, async () => {
  await withThreads(4, async (...databases) => {
    const until = systemClock.monotonicMs() + 1_500;
    const writers = databases.map(async (db) => {
      let commits = 0;
      let worstMs = 0;
      for (let at = systemClock.monotonicMs(); at < until; commits++) {
        await db.call('add', { id: 'a', n: 1n });
        const now = systemClock.monotonicMs();
        worstMs = Math.max(worstMs, now - at);
        at = now;
      }
      return { commits, worstMs };
    });
    const results = await Promise.all(writers);
    const total = results.reduce((sum, { commits }) => sum + commits, 0);
    expect(await databases[0].transact(read)).toBe(BigInt(total));
    for (const { commits } of results) expect(commits).toBeGreaterThan(total / 4 / 3);
  });
});
