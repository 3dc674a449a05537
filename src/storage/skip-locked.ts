import type { Database } from './database.ts';

/**
 * What a SELECT of rows to be claimed ends with: rows that another claims at this moment are not
 * waited for. On SQLite there is one writer at a time, and nothing to skip.
 */
export function skipLocked({ dialect }: Pick<Database, 'dialect'>): string {
  return dialect === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : '';
}
