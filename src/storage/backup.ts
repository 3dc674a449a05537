import { rm, writeFile } from 'node:fs/promises';
import { type Database, DatabaseError } from './database.ts';

/**
 * Writes a whole, consistent copy of a SQLite database into `file`, which must not exist, while
 * others go on writing.
 */
export async function backup(database: Database, file: string): Promise<void> {
  if (database.dialect === 'postgres') {
    throw new DatabaseError(
      'other',
      'This database is PostgreSQL: back it up with pg_dump, or with your provider’s snapshots.',
    );
  }
  // It has all that the database has: it is its owner's alone, as an empty file that is filled.
  await writeFile(file, '', { mode: 0o600, flag: 'wx' });
  try {
    await database.query('VACUUM INTO $1', [file]);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}
