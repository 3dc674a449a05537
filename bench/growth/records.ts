import type { Database } from '../../src/storage/database.ts';
import { open } from '../../src/storage/open.ts';
import { countOf } from '../history.ts';
import { compareSizes, type Size } from './compare.ts';
import { keysOf, manyKeys } from './keys.ts';
import { newDatabase } from './postgres.ts';
import { said, type Table } from './table.ts';

/** As many as a history has (history.ts), each with a key. */
const users = 200;

/**
 * Compares an empty database with one that `npm run bench:console` has filled, of the same kind, on
 * the same server.
 */
export async function compareRecords(
  url: string,
  rounds: number,
): Promise<{ readonly table: Table; readonly words: string }> {
  const database = await open(url);
  try {
    const count = await countOf(database, 'usage');
    const postgres = database.dialect === 'postgres';
    const sizes: Size[] = [
      {
        label: '0',
        wish: {
          ...(postgres ? { databaseUrl: await newDatabase(url) } : {}),
          keys: (its) => manyKeys(its, users, users),
        },
      },
      { label: said(count), wish: { databaseUrl: url, keys: keysOfUsers } },
    ];
    const before = await rowsScanned(database);
    const table = await compareSizes(
      `records, ${postgres ? 'PostgreSQL' : 'SQLite'}`,
      sizes,
      rounds,
    );
    return { table, words: postgres ? scanText(before, await rowsScanned(database)) : '' };
  } finally {
    await database.close();
  }
}

async function keysOfUsers(database: Database): Promise<readonly string[]> {
  const rows = await database.query(`SELECT id FROM users ORDER BY id LIMIT ${users}`);
  return keysOf(
    database,
    rows.map(({ id }) => String(id)),
    rows.length,
  );
}

/** Rows of large tables that PostgreSQL read by full scans, by its own counters. */
async function rowsScanned(database: Database): Promise<number> {
  if (database.dialect !== 'postgres') return 0;
  const sql = `SELECT COALESCE(SUM(seq_tup_read), 0) AS n FROM pg_stat_user_tables WHERE relname='transfer' OR relname='usage_default' OR relname LIKE 'usage\\_2%'`;
  const [row] = await database.query(sql);
  return Number(row?.['n']);
}

const scanText = (before: number, after: number): string =>
  `Rows of usage records and transfers that PostgreSQL read by going through a table instead of an index, in the whole run with the full database: ${said(after - before)}.`;
