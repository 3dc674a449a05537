import { copyFileSync, existsSync, renameSync, rmSync, statSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { sqliteUrl } from '../../test/databases.ts';
import { disksCanBeMade, smallDisk } from '../../test/support/small-disk.ts';
import { threadFrom } from '../../test/thread.ts';
import { type Database, isAway } from './database.ts';
import { checkEveryMs, SqliteConnection } from './sqlite-host.ts';
import { migrate } from './migrate.ts';
import { open } from './open.ts';

const thread = threadFrom(new URL('../../test/sqlite-thread-fixture.ts', import.meta.url));
const counters = {
  id: '0001-counter',
  statements: ['CREATE TABLE counter (id TEXT PRIMARY KEY, n BIGINT NOT NULL)'],
};

/** Each way to write to the database. */
const writes: readonly ((database: Database) => Promise<unknown>)[] = [
  (database) => database.call('add', { id: 'a', n: 1n }),
  (database) =>
    database.query(
      "INSERT INTO counter VALUES ('b', 1) ON CONFLICT (id) DO UPDATE SET n = counter.n + 1",
    ),
  (database) =>
    database.transact(function* () {
      yield {
        sql: "INSERT INTO counter VALUES ('c', 1) ON CONFLICT (id) DO UPDATE SET n = counter.n + 1",
        params: [],
      };
    }),
];

const losses: readonly {
  readonly what: string;
  readonly lose: (path: string) => void;
  readonly back?: (path: string) => void;
}[] = [
  { what: 'removed', lose: (path) => rmSync(path) },
  {
    what: 'removed with all beside it',
    lose: (path) => ['', '-wal', '-shm'].forEach((end) => rmSync(path + end)),
  },
  {
    what: 'moved',
    lose: (path) => renameSync(path, `${path}.away`),
    back: (path) => renameSync(`${path}.away`, path),
  },
  { what: 'left without its log', lose: (path) => rmSync(`${path}-wal`) },
  {
    what: 'replaced by a copy',
    lose(path) {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
  },
];

test.each(losses)(
  'R7: what is written into a file that was $what is no success',
  async ({ lose, back }) => {
    const url = await sqliteUrl();
    const path = url.slice('sqlite:'.length);
    const database = await open(url, { thread });
    await migrate(database, [counters]);
    for (const write of writes) await write(database);
    lose(path);
    await wait(checkEveryMs);
    for (const write of writes) {
      const error = await write(database).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({
        kind: 'gone',
        message: expect.stringContaining('was removed or replaced'),
      });
      expect(isAway(error)).toBe(true);
    }
    await expect(database.query('SELECT n FROM counter')).rejects.toMatchObject({ kind: 'gone' });
    if (back !== undefined) {
      back(path);
      for (const write of writes) await write(database);
      expect(await database.query('SELECT n FROM counter ORDER BY id')).toHaveLength(3);
    }
    await database.close();
  },
);

test.each([
  ['in its thread', { thread }],
  ['in this thread', {}],
])('R7: a file that must exist is not created, %s', async (_, options) => {
  const url = `${await sqliteUrl()}?#`;
  const path = url.slice('sqlite:'.length);
  await expect(open(url, { ...options, mayCreate: false })).rejects.toThrow(
    'was removed or replaced',
  );
  expect(existsSync(path)).toBe(false);
  const made = await open(url, options);
  await migrate(made, [counters]);
  await made.close();
  const again = await open(url, { ...options, mayCreate: false });
  expect(await again.query('SELECT n FROM counter')).toEqual([]);
  await again.close();
});

const pages = {
  id: '0001-page',
  statements: ['CREATE TABLE page (id BIGINT PRIMARY KEY, text TEXT NOT NULL)'],
};
const megabyte = 1024 * 1024;

/** Rewrites the same few pages, so that the log grows and the database does not. */
const rewrite = {
  sql: 'INSERT INTO page SELECT value, hex(randomblob(1500)) FROM json_each($1) WHERE 1 ON CONFLICT (id) DO UPDATE SET text = excluded.text',
  params: [JSON.stringify(Array.from({ length: 50 }, (_, i) => i))],
};

test('R8: on a small volume the log stays small, however much is written', async () => {
  if (!disksCanBeMade)
    return console.warn('not tried: a small volume takes the right to mount one');
  const path = `${smallDisk(8).folder}/tollgate.db`;
  const database = await open(`sqlite:${path}`);
  await migrate(database, [pages]);
  // 80 MB in all.
  for (let i = 0; i < 400; i++) await database.query(rewrite.sql, rewrite.params);
  expect(statSync(`${path}-wal`).size).toBeLessThan(2 * megabyte);
  await database.close();
});

test('R8: a log that a crash has left, and that fills the volume, is emptied at the next start', async () => {
  if (!disksCanBeMade)
    return console.warn('not tried: a small volume takes the right to mount one');
  const disk = smallDisk(8);
  const path = `${disk.folder}/tollgate.db`;
  const first = await open(`sqlite:${path}`);
  await migrate(first, [pages]);
  await first.query(rewrite.sql, rewrite.params);
  await first.query('PRAGMA wal_checkpoint(TRUNCATE)');
  await first.close();
  // The connection is never closed, as when its process is killed, and its log is never emptied.
  const killed = new SqliteConnection(path);
  killed.execute({ sql: 'PRAGMA journal_mode=WAL', params: [] });
  killed.execute({ sql: 'PRAGMA wal_autocheckpoint=0', params: [] });
  expect(() => {
    for (let i = 0; i < 100; i++) killed.execute(rewrite);
  }).toThrow('full');
  disk.fill();
  const database = await open(`sqlite:${path}`);
  await database.query(rewrite.sql, rewrite.params);
  expect(statSync(`${path}-wal`).size).toBeLessThan(2 * megabyte);
  await database.close();
  killed.close();
});
