import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import type { Procedures, Transaction } from './database.ts';
import { open } from './open.ts';

const coins = {
  id: '0001-coin',
  statements: [
    'CREATE TABLE coin (id TEXT PRIMARY KEY, worth BIGINT NOT NULL CHECK (worth >= 0), face TEXT)',
  ],
};

const procedures = {
  *insert({ ids }: { readonly ids: readonly string[] }): Transaction<string> {
    for (const id of ids)
      yield { sql: 'INSERT INTO coin (id, worth) VALUES ($1, $2)', params: [id, 7n] };
    const [row] = yield { sql: 'SELECT COUNT(*) AS n FROM coin', params: [] };
    return `${row?.['n']} coins`;
  },
  *insertAlone({ ids }: { readonly ids: readonly string[] }): Transaction<void> {
    for (const id of ids)
      yield { sql: 'INSERT INTO coin (id, worth) VALUES ($1, 1)', params: [id], autocommit: true };
  },
} satisfies Procedures;

forEachDatabase((name, openFresh) => {
  const openCoins = () => openFresh({ migrations: [coins], procedures });

  test('integers come out as bigint whatever produced them', async () => {
    const db = await openCoins();
    await db.query('INSERT INTO coin (id, worth) VALUES ($1, $2), ($3, $4)', [
      'a',
      9_223_372_036_854_775_807n,
      'b',
      0,
    ]);
    const [row] = await db.query(
      "SELECT worth, (SELECT COUNT(*) FROM coin) AS n, (SELECT SUM(worth) FROM coin) AS total, 1 AS one, 0.5 AS half, face FROM coin WHERE id = 'a'",
    );
    expect(row).toEqual({
      worth: 9_223_372_036_854_775_807n,
      n: 2n,
      total: 9_223_372_036_854_775_807n,
      one: 1n,
      half: 0.5,
      face: null,
    });
  });

  test('placeholders may repeat and come in any order, and quoted dollars are text', async () => {
    const db = await openCoins();
    await db.query('INSERT INTO coin (worth, id, face) VALUES ($2, $1, $1)', ['a', 3n]);
    expect(
      await db.query(`SELECT id, face, '$1' AS quoted FROM coin WHERE worth = $1 LIMIT $2`, [
        3n,
        5,
      ]),
    ).toEqual([{ id: 'a', face: 'a', quoted: '$1' }]);
  });

  test('a transaction commits what its script yielded and returns its result', async () => {
    const db = await openCoins();
    expect(await db.transact(() => procedures.insert({ ids: ['a', 'b'] }))).toBe('2 coins');
    expect(await db.query('SELECT id FROM coin ORDER BY id')).toEqual([{ id: 'a' }, { id: 'b' }]);
  });

  test('a script that throws leaves nothing behind', async () => {
    const db = await openCoins();
    const failing = db.transact(function* (): Transaction<void> {
      yield* procedures.insert({ ids: ['a'] });
      throw new Error('changed my mind');
    });
    await expect(failing).rejects.toThrow('changed my mind');
    expect(await db.query('SELECT id FROM coin')).toEqual([]);
  });

  test('a violated constraint is told apart, and rolls the transaction back', async () => {
    const db = await openCoins();
    await expect(db.call('insert', { ids: ['a', 'a'] })).rejects.toMatchObject({
      kind: 'constraint',
    });
    await expect(
      db.query('INSERT INTO coin (id, worth) VALUES ($1, $2)', ['a', -1n]),
    ).rejects.toMatchObject({ kind: 'constraint' });
    await expect(db.query('SELECT nonsense')).rejects.toMatchObject({ kind: 'other' });
    // A value that is too large, or of another type, will never fit.
    const unfit =
      db.dialect === 'sqlite'
        ? [
            "INSERT INTO coin (id, worth) VALUES ('b', 'x') RETURNING id",
            'SELECT zeroblob(1000000001)',
          ]
        : [
            "INSERT INTO coin (id, worth) VALUES (repeat('b', 1000000), 1)",
            "INSERT INTO coin (id, worth) VALUES ('b', 1e30)",
          ];
    for (const sql of unfit)
      await expect(db.query(sql)).rejects.toMatchObject({ kind: 'constraint' });
    expect(await db.query('SELECT id FROM coin')).toEqual([]);
  });

  test('a procedure runs where the database lives', async () => {
    const db = await openCoins();
    expect(await db.call('insert', { ids: ['a', 'b', 'c'] })).toBe('3 coins');
    await expect(db.call('absent', {})).rejects.toMatchObject({ kind: 'other' });
  });

  test('statements marked autocommit need no transaction on PostgreSQL', async () => {
    const db = await openCoins();
    await expect(db.call('insertAlone', { ids: ['a', 'a'] })).rejects.toMatchObject({
      kind: 'constraint',
    });
    expect(await db.query('SELECT id FROM coin')).toEqual(name === 'postgres' ? [{ id: 'a' }] : []);
  });

  test('concurrent transactions on one database all happen', async () => {
    const db = await openCoins();
    const work = Array.from({ length: 40 }, (_, i) =>
      i % 2
        ? db.call('insert', { ids: [`${i}`] })
        : db.transact(() => procedures.insert({ ids: [`${i}`] })),
    );
    await Promise.all(work);
    expect(await db.query('SELECT COUNT(*) AS n FROM coin')).toEqual([{ n: 40n }]);
  });

  test.each([undefined, 'brief'] as const)(
    'a snapshot sees one state and writes nothing: %s',
    async (length) => {
      const db = await openCoins();
      await db.call('insert', { ids: ['a'] });
      const count = function* (): Transaction<unknown> {
        return (yield { sql: 'SELECT COUNT(*) AS n FROM coin', params: [] })[0]?.['n'];
      };
      expect(await db.snapshot(count, length)).toBe(1n);
      await expect(db.snapshot(() => procedures.insert({ ids: ['b'] }), length)).rejects.toThrow(
        /read-?only/,
      );
      expect(await db.call('insert', { ids: ['c'] })).toBe('2 coins');
    },
  );
});

test('an address of another database is refused by its name', async () => {
  await expect(open('mysql://host/name')).rejects.toThrow("not 'mysql:'");
  await expect(open('postgres://postgres@127.0.0.1:1/none')).rejects.toMatchObject({
    kind: 'busy',
  });
  await expect(open('sqlite:/nowhere/at/all.db')).rejects.toMatchObject({ kind: 'busy' });
});
