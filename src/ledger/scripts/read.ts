import { assert } from '../../base/assert.ts';
import type { Row } from '../../storage/database.ts';

/** The column of an integer that is never NULL. */
export function integer(row: Row | undefined, column: string): bigint {
  const value = row?.[column];
  assert(typeof value === 'bigint', `${column} is an integer`);
  return value;
}

/** The same for a column that may be NULL, or a row that may be absent: then 0. */
export function integerOrZero(row: Row | undefined, column: string): bigint {
  const value = row?.[column] ?? 0n;
  assert(typeof value === 'bigint', `${column} is an integer`);
  return value;
}

export function text(row: Row | undefined, column: string): string {
  const value = row?.[column];
  assert(typeof value === 'string', `${column} is a text`);
  return value;
}
