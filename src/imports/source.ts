import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Database, DatabaseError, type Row } from '../storage/database.ts';
import { open } from '../storage/open.ts';

/** Another program's database, which is read and never written. */
export interface ImportSource {
  /** All rows of a table, in the order of `by`; undefined when there is no such table. */
  rows(table: string, by: string): Promise<readonly Row[] | undefined>;
  close(): Promise<void>;
}

/** The database cannot be read. The message is for the operator who named it. */
export class ImportSourceError extends Error {}

/** Opens a SQLite file, or the PostgreSQL database at an address. Throws an `ImportSourceError`. */
export async function openSource(place: string): Promise<ImportSource> {
  if (place === '')
    throw new ImportSourceError('name a SQLite file, or the address of a PostgreSQL database');
  if (/^postgres(?:ql)?:\/\//.test(place))
    return sourceOf(
      place,
      () => open(place),
      '',
      'information_schema.tables WHERE table_schema=current_schema() AND table_name=$1',
    );
  if (/^mysql:|@tcp\(|@unix\(/.test(place))
    throw new ImportSourceError(
      'MySQL is not read. Let that program move to SQLite or PostgreSQL first, or copy its tables users, tokens, channels and options into a SQLite file (the tool mysql2sqlite does), and name that',
    );
  const path = resolve(place.replace(/^sqlite:(?:\/\/)?/, ''));
  if (!existsSync(path)) throw new ImportSourceError(`there is no file ${path}`);
  return sourceOf(
    place,
    () => attached(path),
    'source.',
    "source.sqlite_master WHERE type='table' AND name=$1",
  );
}

/**
 * Opens the file for reading only, attached to an empty database in memory: the file does not
 * change, and the program that uses it may go on.
 */
async function attached(path: string): Promise<Database> {
  const database = await open('sqlite::memory:');
  await database.query('ATTACH DATABASE $1 AS source', [`${pathToFileURL(path).href}?mode=ro`]);
  return database;
}

/** `schema`: what a table's name begins with. `tables`: where the database lists its tables. */
async function sourceOf(
  place: string,
  opening: () => Promise<Database>,
  schema: string,
  tables: string,
): Promise<ImportSource> {
  const withTable = `SELECT 1 FROM ${tables}`;
  const database = await readOrFail(place.replace(/\/\/.*@/, '//…@'), async () => {
    const opened = await opening();
    await opened.query(withTable, ['users']);
    return opened;
  });
  return {
    async rows(table, by) {
      if ((await database.query(withTable, [table])).length === 0) return undefined;
      const sql = `SELECT * FROM ${schema}${table} ORDER BY ${by}`;
      return readOrFail(`its table ${table}`, () => database.query(sql));
    },
    close: () => database.close(),
  };
}

async function readOrFail<T>(what: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    throw new ImportSourceError(`${what} cannot be read: ${error.message}`, { cause: error });
  }
}
