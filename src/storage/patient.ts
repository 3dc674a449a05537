import type { Database, Script, Statement } from './database.ts';

/**
 * From here on the server does not end a statement of this transaction for its length, and we wait
 * for it as long.
 */
export const patience: Statement = { sql: 'SET LOCAL statement_timeout = 0', params: [] };

/**
 * To be yielded first in a transaction of the background that may take its time: nobody waits for
 * it. On SQLite every statement may.
 */
export function* patiently({ dialect }: Pick<Database, 'dialect'>): Script<void> {
  if (dialect === 'postgres') yield patience;
}
