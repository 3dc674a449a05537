import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { backup } from './backup.ts';
import { open } from './open.ts';

forEachDatabase((name, _, fresh) => {
  test('a backup is a whole copy, or a clear word where there can be none', async () => {
    const { url, open: openIt } = await fresh();
    const db = await openIt();
    if (name === 'postgres') {
      await expect(backup(db, '/tmp/never')).rejects.toThrow('pg_dump');
      return;
    }
    await db.query('CREATE TABLE thing (id INTEGER)');
    await db.query('INSERT INTO thing VALUES (1), (2)');
    const file = `${url.slice('sqlite:'.length)}.backup`;
    await backup(db, file);
    await expect(backup(db, file)).rejects.toThrow('exists');
    const copy = await open(`sqlite:${file}`);
    expect(await copy.query('SELECT id FROM thing')).toEqual([{ id: 1n }, { id: 2n }]);
    await copy.close();
  });
});
