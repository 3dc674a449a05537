import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { forEachDatabase, onPostgres } from '../../test/databases.ts';
import type { Migration } from './database.ts';
import { migrate } from './migrate.ts';

const first: Migration = {
  id: '0001-shelf',
  statements: [
    'CREATE TABLE shelf (id TEXT PRIMARY KEY, books BIGINT NOT NULL)',
    "INSERT INTO shelf VALUES ('a', 1)",
  ],
};
const second: Migration = {
  id: '0002-shelf',
  statements: [
    { sqlite: '', postgres: 'ALTER TABLE shelf SET (fillfactor = 50)' },
    'ALTER TABLE shelf ADD COLUMN room TEXT',
    'UPDATE shelf SET books = books + 1',
  ],
};

forEachDatabase((_, openFresh, fresh) => {
  test('each migration runs once, in the order of ids', async () => {
    const db = await openFresh();
    expect(await migrate(db, [first])).toEqual(['0001-shelf']);
    expect(await migrate(db, [second, first])).toEqual(['0002-shelf']);
    expect(await migrate(db, [first, second])).toEqual([]);
    expect(await db.query('SELECT * FROM shelf')).toEqual([{ id: 'a', books: 2n, room: null }]);
  });

  test('a release that is older than the schema is told', async () => {
    const db = await openFresh();
    const told: (readonly string[])[] = [];
    const onNewer = (ids: readonly string[]) => void told.push(ids);
    await migrate(db, [first, second], { onNewer });
    expect(told).toEqual([]);
    expect(await migrate(db, [first], { onNewer })).toEqual([]);
    expect(told).toEqual([['0002-shelf']]);
  });

  test('eight processes that start at once migrate once', async () => {
    const { open } = await fresh();
    const handles = await Promise.all(Array.from({ length: 8 }, () => open()));
    const ran = await Promise.all(handles.map((db) => migrate(db, [first, second])));
    expect(ran.flat()).toEqual(['0001-shelf', '0002-shelf']);
    expect(await handles[0]?.query('SELECT books FROM shelf')).toEqual([{ books: 2n }]);
  });

  test('a migration that fails leaves nothing of any', async () => {
    const db = await openFresh();
    const broken: Migration = {
      id: '0003-broken',
      statements: ['CREATE TABLE half (id TEXT)', 'CREATE TABLE shelf (id TEXT)'],
    };
    await expect(migrate(db, [first, second, broken])).rejects.toThrow(/shelf/);
    expect(await migrate(db, [first, second])).toEqual(['0001-shelf', '0002-shelf']);
  });

  test('columns take only their type', async () => {
    const db = await openFresh({ migrations: [first] });
    await expect(db.query("INSERT INTO shelf VALUES ('b', 'many')")).rejects.toMatchObject({
      kind: 'constraint',
    });
  });
});

onPostgres((_, _openFresh, fresh) => {
  const desk: Migration = {
    id: '0000-desk',
    statements: ['CREATE TABLE desk (id TEXT PRIMARY KEY)'],
  };
  const both: Migration = {
    id: '0003-both',
    statements: ['ALTER TABLE desk ADD COLUMN room TEXT', 'ALTER TABLE shelf ADD COLUMN room TEXT'],
  };

  /**
   * A client works on the table shelf while a migration needs the table desk and then shelf;
   * `gaveWay` collects the errors that made it give way.
   */
  async function atWork() {
    const { url, open } = await fresh([desk, first]);
    const database = await open();
    const client = new pg.Client(url);
    await client.connect();
    onTestFinished(() => client.end());
    await client.query('BEGIN');
    await client.query('UPDATE shelf SET books = 5');
    const gaveWay: string[] = [];
    const migrated = migrate(database, [desk, first, both], {
      gaveWay: ({ message }) => void gaveWay.push(message),
    });
    return { database, client, gaveWay, migrated };
  }

  test('a migration waits briefly for a client at work on a table, then gives way until the table is free', async () => {
    const { database, client, gaveWay, migrated } = await atWork();
    await expect.poll(() => gaveWay.length, { timeout: 10_000 }).toBeGreaterThan(0);
    // Its earlier changes are rolled back, and hold nobody up.
    expect(await database.query('SELECT * FROM desk')).toEqual([]);
    await client.query('COMMIT');
    expect(await migrated).toEqual(['0003-both']);
    expect(gaveWay[0]).toContain('lock timeout');
    expect(await database.query('SELECT books, room FROM shelf')).toEqual([
      { books: 5n, room: null },
    ]);
  });

  test('in a deadlock the other client goes on, and the migration is retried', async () => {
    const { database, client, gaveWay, migrated } = await atWork();
    // PostgreSQL ends the one that looks for a deadlock: the migration, however slow this test is.
    await client.query(`SET deadlock_timeout = '1min'`);
    const waits = async () =>
      (await database.query('SELECT 1 FROM pg_locks WHERE NOT granted')).length;
    await expect.poll(waits, { interval: 20 }).toBeGreaterThan(0);
    expect((await client.query('SELECT * FROM desk')).rows).toEqual([]);
    await client.query('COMMIT');
    expect(await migrated).toEqual(['0003-both']);
    expect(gaveWay[0]).toContain('deadlock');
  });
});
