import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { onPostgres, onSqlite } from '../../test/databases.ts';
import type { Database } from './database.ts';
import { backup } from './backup.ts';
import { open } from './open.ts';

onSqlite((_, openFresh, fresh) => {
  test('a backup is a whole copy, and overwrites nothing', async () => {
    const { url } = await fresh();
    const db = await openFresh({
      migrations: [
        {
          id: '1',
          statements: ['CREATE TABLE thing (id BIGINT)', 'INSERT INTO thing VALUES (1), (2)'],
        },
      ],
    });
    const file = `${url.slice('sqlite:'.length)}.backup`;
    await backup(db, file);
    await expect(backup(db, file)).rejects.toThrow('exists');
    const copy = await open(`sqlite:${file}`);
    expect(await copy.query('SELECT id FROM thing')).toEqual([{ id: 1n }, { id: 2n }]);
    await copy.close();
  });

  test('a backup has its name when it is whole, and one that is broken off has none', async () => {
    const { url } = await fresh();
    const db = await openFresh();
    const file = `${url.slice('sqlite:'.length)}.backup`;
    const names: string[][] = [];
    const beside = () =>
      readdirSync(dirname(file)).filter((name) => name.startsWith(basename(file)));
    const watched = (then: () => Promise<void>): Database => ({
      dialect: db.dialect,
      query: async (sql, params) => {
        const rows = await db.query(sql, params);
        names.push(beside());
        await then();
        return rows;
      },
      transact: (script) => db.transact(script),
      snapshot: (script) => db.snapshot(script),
      call: (procedure, input) => db.call(procedure, input),
      close: () => db.close(),
    });
    const broken = watched(() => Promise.reject(new Error('broken off')));
    await expect(backup(broken, file)).rejects.toThrow('broken off');
    expect([names, beside()]).toEqual([[['tollgate.db.backup.part']], []]);
    await backup(
      watched(async () => undefined),
      file,
    );
    expect(beside()).toEqual(['tollgate.db.backup']);
  });
});

onPostgres((_, openFresh) => {
  test('PostgreSQL is left to its own tools', async () => {
    await expect(backup(await openFresh(), '/never/written')).rejects.toThrow('pg_dump');
  });
});
