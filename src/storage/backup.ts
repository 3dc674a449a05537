import { type Database, DatabaseError } from './database.ts';

/** Writes a whole, consistent copy of a SQLite database into `file`, which must not exist, while others go on writing. */
export async function backup(database: Database, file: string): Promise<void> {
  if (database.dialect === 'postgres') {
    throw new DatabaseError('other', 'This database is PostgreSQL: back it up with pg_dump, or with your provider’s snapshots.');
  }
  await database.query('VACUUM INTO $1', [file]);
}
