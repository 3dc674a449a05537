import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { usageMigrations } from './migrations.ts';
import { recordColumns } from './record.ts';

const names = ['id', 'account', 'cost', 'shortfall', ...recordColumns.map(({ name }) => name)];
const sql = `INSERT INTO usage (${names.join()}) VALUES (${names.map((_, i) => `$${i + 1}`).join()})`;
const values = (id: string, shortfall: bigint) => [
  id,
  'user_1',
  10n,
  shortfall,
  ...recordColumns.map(({ name, type }) => (name === 'status' ? 'ok' : type === 'text' ? 'x' : 1n)),
];

forEachDatabase((_, openFresh) => {
  test('the table holds a record as the till writes it', async () => {
    const db = await openFresh({ migrations: usageMigrations });
    await db.query(sql, values('req_1', 10n));
    const [row] = await db.query('SELECT * FROM usage');
    expect(Object.keys(row ?? {}).sort()).toEqual([...names].sort());
    expect(Object.values(row ?? {})).not.toContain(null);
  });

  test('one request has one record, and no more shortfall than cost', async () => {
    const db = await openFresh({ migrations: usageMigrations });
    await db.query(sql, values('req_1', 0n));
    await expect(db.query(sql, values('req_1', 0n))).rejects.toMatchObject({ kind: 'constraint' });
    await expect(db.query(sql, values('req_2', 11n))).rejects.toMatchObject({ kind: 'constraint' });
    await expect(db.query(sql, values('req_3', -1n))).rejects.toMatchObject({ kind: 'constraint' });
  });
});
