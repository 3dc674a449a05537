import { expect, test } from 'vitest';
import { forEachDatabase, onPostgres } from '../../test/databases.ts';
import type { Clock } from '../base/clock.ts';
import type { Database, SqlValue } from '../storage/database.ts';
import { migrate } from '../storage/migrate.ts';
import { usageMigrations } from './migrations.ts';
import { createPartitions, partitionAt } from './partitions.ts';
import { usagePage, type UsagePosition, type UsageQuery } from './page.ts';
import { recordColumns } from './record.ts';

const november = Date.UTC(2026, 10, 21);
const at = (now: number): Clock => ({ now: () => now, monotonicMs: () => now });

/** `count` records of some accounts, `stepMs` apart, two at each instant. */
async function fill(
  database: Database,
  count: number,
  from: number,
  stepMs: number,
  accounts: number,
  columns: readonly (typeof recordColumns)[number][] = recordColumns,
): Promise<void> {
  const names = ['id', 'account', 'cost', 'shortfall', ...columns.map(({ name }) => name)].join();
  const numbers =
    database.dialect === 'postgres'
      ? `generate_series(0, ${count - 1}) AS s(n)`
      : `(WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n+1 FROM s WHERE n<${count - 1}) SELECT n FROM s)`;
  const values = columns.map(({ name, type }) => {
    if (name === 'reserved_at' || name === 'finished_at')
      return `${from}+CAST(n/2 AS BIGINT)*${stepMs}`;
    return name === 'status' ? "'ok'" : type === 'text' ? "'x'" : '1';
  });
  const text = database.dialect === 'postgres' ? 'n::text' : 'CAST(n AS TEXT)';
  await database.query(
    `INSERT INTO usage (${names}) SELECT 'r${from}-' || ${text}, 'a' || (n % ${accounts}), 5, 0, ${values.join()} FROM ${numbers}`,
  );
}

async function partitions(database: Database): Promise<Record<string, number>> {
  const rows = await database.query(
    'SELECT tableoid::regclass::text AS name, count(*) AS n FROM usage GROUP BY 1',
  );
  return Object.fromEntries(rows.map(({ name, n }) => [name, Number(n)]));
}

test('a month begins and ends at midnight in UTC, in every year', () => {
  const december = { table: 'usage_2026_12', from: Date.UTC(2026, 11), to: Date.UTC(2027, 0) };
  expect([partitionAt(Date.UTC(2026, 11)), partitionAt(Date.UTC(2027, 0) - 1)]).toEqual([
    december,
    december,
  ]);
  expect(partitionAt(december.to).table).toBe('usage_2027_01');
});

forEachDatabase((_name, openFresh) => {
  test('pages of an account have each of its records once, newest first, within the time asked for', async () => {
    const database = await openFresh({ migrations: usageMigrations });
    await createPartitions(database, at(november));
    await fill(database, 300, november, 6 * 3_600_000, 3);
    const to = november + 30 * 86_400_000;
    const seen: UsagePosition[] = [];
    for (;;) {
      const after = seen.at(-1);
      const page = await database.snapshot(() =>
        usagePage({ account: 'a1', from: november, to, limit: 7, ...(after && { after }) }),
      );
      seen.push(
        ...page.rows.map((row) => ({
          chargedAt: Number(row['finished_at']),
          id: String(row['id']),
        })),
      );
      if (page.next === undefined) break;
      expect(page.next).toEqual(seen.at(-1));
    }
    const all = await database.query(
      "SELECT id FROM usage WHERE account='a1' AND finished_at<$1 ORDER BY finished_at DESC, id DESC",
      [to],
    );
    expect(seen.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(seen.length).toBeGreaterThan(50);
  });

  test('a page is read from the index of its account and time', async () => {
    const database = await openFresh({ migrations: usageMigrations });
    await createPartitions(database, at(november));
    await fill(database, 20_000, november, 300_000, 100);
    if (database.dialect === 'postgres') await database.query('ANALYZE usage');
    const statements: { readonly sql: string; readonly params: readonly SqlValue[] }[] = [];
    const run = (query: UsageQuery) => {
      const script = usagePage(query);
      for (let step = script.next(); step.done !== true; step = script.next([]))
        statements.push(step.value);
    };
    const question = { account: 'a1', from: november, to: november + 60 * 86_400_000, limit: 50 };
    run(question);
    run({ ...question, after: { chargedAt: november + 86_400_000, id: 'r' } });
    expect(statements).toHaveLength(2);
    for (const { sql, params } of statements) {
      const explain = database.dialect === 'postgres' ? 'EXPLAIN' : 'EXPLAIN QUERY PLAN';
      const plan = JSON.stringify(
        (await database.query(`${explain} ${sql}`, params)).map(
          (row) => row['QUERY PLAN'] ?? row['detail'],
        ),
      );
      expect(plan).toMatch(
        /Index Scan Backward using usage_2026_1\d_account_finished_at_id_idx|USING INDEX usage_of_account/,
      );
      expect(plan).not.toMatch(/Seq Scan|Sort Method|->  Sort |TEMP B-TREE|SCAN usage/);
    }
  });
});

onPostgres((_name, openFresh) => {
  test('a database of before keeps its records, and they come into their months', async () => {
    const database = await openFresh({ migrations: usageMigrations.slice(0, 1) });
    const ofBefore = recordColumns.filter(({ name }) => name !== 'excess' && name !== 'reported');
    await fill(database, 20, Date.UTC(2026, 8, 1), 5 * 86_400_000, 3, ofBefore);
    await migrate(database, usageMigrations);
    await fill(database, 4, november, 1_000, 3);
    expect(await partitions(database)).toEqual({ usage_default: 24 });
    await createPartitions(database, at(november));
    await createPartitions(database, at(november));
    expect(await partitions(database)).toEqual({
      usage_2026_09: 12,
      usage_2026_10: 8,
      usage_2026_11: 4,
    });
    await fill(database, 2, Date.UTC(2027, 0, 31), 1, 1);
    await fill(database, 2, Date.UTC(2027, 5, 1), 1, 1);
    expect(await partitions(database)).toMatchObject({ usage_2027_01: 2, usage_default: 2 });
    await createPartitions(database, at(Date.UTC(2027, 5, 2)));
    expect(await partitions(database)).toMatchObject({ usage_2027_06: 2 });
    await expect(fill(database, 2, Date.UTC(2027, 5, 1), 1, 1)).rejects.toMatchObject({
      kind: 'constraint',
    });
  });

  test('records are written while months are made, by several nodes', async () => {
    const database = await openFresh({ migrations: usageMigrations });
    // A row on its way into the default partition while its month is made has no place there: the
    // write fails as `busy` and is repeated.
    const write = async (i: number): Promise<void> => {
      try {
        await fill(database, 10, november + i * 86_400_000, 1_000, 3);
      } catch (error) {
        expect(error).toMatchObject({ kind: 'busy' });
        await write(i);
      }
    };
    const writing = Array.from({ length: 20 }, (_, i) => write(i));
    await Promise.all([
      ...writing,
      ...[0, 1, 2, 3].map((n) => createPartitions(database, at(november + n))),
    ]);
    await createPartitions(database, at(november));
    expect(await partitions(database)).toEqual({ usage_2026_11: 100, usage_2026_12: 100 });
  });

  test('a late record of a month that was detached stops no other month', async () => {
    const database = await openFresh({ migrations: usageMigrations });
    const august = Date.UTC(2026, 7, 10);
    await createPartitions(database, at(august));
    await fill(database, 4, august, 1_000, 3);
    await database.query('ALTER TABLE usage DETACH PARTITION usage_2026_08');
    await fill(database, 2, august + 3_600_000, 1_000, 3);
    await createPartitions(database, at(november));
    await fill(database, 2, november, 1_000, 3);
    expect(await partitions(database)).toEqual({ usage_default: 2, usage_2026_11: 2 });
  });
});
