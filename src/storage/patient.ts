import type { Database, Script } from './database.ts';

/** To be yielded first in a transaction of the background that may take its time: nobody waits for it. On SQLite every statement may. */
export function* patiently({ dialect }: Pick<Database, 'dialect'>): Script<void> {
  if (dialect === 'postgres') yield { sql: 'SET LOCAL statement_timeout = 0', params: [] };
}
