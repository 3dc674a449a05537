import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import type { Migration } from './database.ts';
import { migrate } from './migrate.ts';

const first: Migration = {
  id: '0001-shelf',
  statements: ['CREATE TABLE shelf (id TEXT PRIMARY KEY, books BIGINT NOT NULL)', "INSERT INTO shelf VALUES ('a', 1)"],
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

  test('eight processes that start at once migrate once', async () => {
    const { open } = await fresh();
    const handles = await Promise.all(Array.from({ length: 8 }, () => open()));
    const ran = await Promise.all(handles.map((db) => migrate(db, [first, second])));
    expect(ran.flat()).toEqual(['0001-shelf', '0002-shelf']);
    expect(await handles[0]?.query('SELECT books FROM shelf')).toEqual([{ books: 2n }]);
  });

  test('a migration that fails leaves nothing of any', async () => {
    const db = await openFresh();
    const broken: Migration = { id: '0003-broken', statements: ['CREATE TABLE half (id TEXT)', 'CREATE TABLE shelf (id TEXT)'] };
    await expect(migrate(db, [first, second, broken])).rejects.toThrow(/shelf/);
    expect(await migrate(db, [first, second])).toEqual(['0001-shelf', '0002-shelf']);
  });

  test('columns take only their type', async () => {
    const db = await openFresh({ migrations: [first] });
    await expect(db.query("INSERT INTO shelf VALUES ('b', 'many')")).rejects.toMatchObject({ kind: 'constraint' });
  });
});
