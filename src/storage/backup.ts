import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Database, DatabaseError } from './database.ts';
import { partOf, syncFolder } from './folder-blobs.ts';

/**
 * Writes a whole, consistent copy of a SQLite database into `file`, which must not exist, while
 * others go on writing. The copy gets its name when it is whole and on disk: whatever breaks it off
 * leaves `partOf(file)`, which nobody takes for a backup.
 */
export async function backup(database: Database, file: string): Promise<void> {
  if (database.dialect === 'postgres') {
    throw new DatabaseError(
      'other',
      'This database is PostgreSQL: back it up with pg_dump, or with your provider’s snapshots.',
    );
  }
  const part = partOf(file);
  // The copy holds all data, so the file is created for its owner alone, and filled then.
  await writeFile(part, '', { mode: 0o600, flag: 'wx' });
  try {
    await database.query('VACUUM INTO $1', [part]);
    if (existsSync(file)) throw new DatabaseError('other', `${file} exists`);
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
  await syncFolder(dirname(file));
}
