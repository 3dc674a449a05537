import type { SqlValue } from '../../storage/database.ts';

const special = /["\\]/g;

/**
 * PostgreSQL's text form of an array,
 * https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO. Texts are always quoted, so that
 * none is taken for NULL.
 */
export function arrayLiteral(values: readonly SqlValue[]): string {
  let literal = '{';
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (i > 0) literal += ',';
    if (typeof value === 'string') literal += `"${value.replace(special, '\\$&')}"`;
    else literal += value === null || value === undefined ? 'NULL' : value;
  }
  return `${literal}}`;
}
