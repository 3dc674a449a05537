import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { dayMs } from '../base/calendar.ts';
import { migrations } from '../app/schema.ts';
import type { Database, Row, Transaction } from '../storage/database.ts';
import { forgetWindows, wrongWindows } from './limit-windows.ts';

/** The database, and how many rows each statement returned. */
function counting(database: Database): { readonly database: Database; readonly rows: number[] } {
  const rows: number[] = [];
  const counted = (found: readonly Row[]): readonly Row[] => {
    rows.push(found.length);
    return found;
  };
  function* watched<T>(script: () => Transaction<T>): Transaction<T> {
    const steps = script();
    let step = steps.next();
    while (!step.done) step = steps.next(counted(yield step.value));
    return step.value;
  }
  return {
    rows,
    database: {
      dialect: database.dialect,
      query: async (sql, params) => counted(await database.query(sql, params)),
      transact: (script) => database.transact(() => watched(script)),
      snapshot: (script, length) => database.snapshot(() => watched(script), length),
      call: (procedure, input) => database.call(procedure, input),
      close: () => database.close(),
    },
  };
}

forEachDatabase((_name, openFresh) => {
  test('however many windows of limits there are, each statement reads or deletes few of them', async () => {
    const open = await openFresh({ migrations });
    const now = Date.UTC(2026, 10, 27, 12);
    const days = Array.from({ length: 60 }, (_, day) =>
      new Date(now - day * dayMs).toISOString().slice(0, 10),
    );
    for (let key = 0; key < 40; key++) {
      const ids = ['total', ...days.map((day) => `day:${day}`)].map(
        (name) => `key:K${key}:${name}`,
      );
      await open.query(
        `INSERT INTO account (id, kind, debits) VALUES ${ids.map((_, i) => `($${i + 1}, 'limit', 0)`).join()}`,
        ids,
      );
    }
    await open.query("UPDATE account SET held=1 WHERE id='key:K7:day:2026-09-29'");
    await open.query(
      "UPDATE account SET debits=1 WHERE id IN ('key:K0:day:2026-11-27', 'key:K39:day:2026-10-20')",
    );
    const proof = counting(open);
    const wrong = await proof.database.snapshot(wrongWindows);
    expect(wrong.map((row) => row['id']).sort()).toEqual([
      'key:K0:day:2026-11-27',
      'key:K39:day:2026-10-20',
    ]);
    expect(Math.max(...proof.rows)).toBe(500);
    const { database, rows } = counting(open);
    expect(await forgetWindows(database, now)).toBe(40 * 19 - 1);
    expect(Math.max(...rows)).toBe(500);
    // Five pages, and at most one deletion for each.
    expect(rows.length).toBeLessThanOrEqual(10);
    const [left] = await open.query("SELECT COUNT(*) AS n FROM account WHERE kind='limit'");
    expect(left?.['n']).toBe(40n * 42n + 1n);
    expect(await forgetWindows(open, now)).toBe(0);
  });
});
