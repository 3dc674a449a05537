import { DatabaseError } from './database.ts';
import { sqlitePath } from './open.ts';
import { SqliteConnection, isLocked } from './sqlite-host.ts';

/**
 * Held for as long as this process lives; the operating system lets go of it when the process dies,
 * however it dies.
 */
export interface ServingLock {
  release(): void;
}

/**
 * Proves that no other server works on the SQLite database of this address: an exclusive lock on a
 * second file beside it. Throws a `DatabaseError` that tells the operator what to do when another
 * one does. Undefined for a database in memory, which nobody else can reach, and for PostgreSQL,
 * which is made for many.
 */
export function acquireServingLock(url: string): ServingLock | undefined {
  const path = sqlitePath(url);
  if (path === undefined || path === ':memory:') return undefined;
  const connection = new SqliteConnection(`${path}.serving`);
  try {
    connection.execute({ sql: 'PRAGMA busy_timeout=0', params: [] });
    connection.execute({ sql: 'BEGIN EXCLUSIVE', params: [] });
  } catch (error) {
    connection.close();
    throw isLocked(error)
      ? new DatabaseError('busy', occupiedMessage(path), { cause: error })
      : error;
  }
  return {
    release() {
      // A connection with prepared statements closes later than the call; its lock must be released
      // now.
      connection.execute({ sql: 'ROLLBACK', params: [] });
      connection.close();
    },
  };
}

function occupiedMessage(path: string): string {
  return `another gateway serves from ${path}, and on SQLite there is one at a time. Stop it, or name another folder with --data; for several gateways on one database use PostgreSQL (DATABASE_URL)`;
}
