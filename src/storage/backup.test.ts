import { expect, test } from 'vitest';
import { onPostgres, onSqlite } from '../../test/databases.ts';
import { backup } from './sqlite.ts';
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
});

onPostgres((_, openFresh) => {
  test('PostgreSQL is left to its own tools', async () => {
    await expect(backup(await openFresh(), '/never/written')).rejects.toThrow('pg_dump');
  });
});
