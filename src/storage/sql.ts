import { assert } from '../base/assert.ts';
import type { SqlValue, Database, Migration, Transaction, Statement, Row } from './database.ts';

/** The conditions of a question whose parts may be left open, and the values for their places. */
export class WhereClause {
  readonly params: SqlValue[] = [];
  readonly #conditions: string[] = [];

  /** `?` in the condition stands for the value. Without a value nothing is asked. */
  add(condition: string, value: SqlValue | undefined): void {
    if (value !== undefined) this.#conditions.push(condition.replaceAll('?', this.place(value)));
  }

  /** A place for another value of the statement. */
  place(value: SqlValue): string {
    return `$${this.params.push(value)}`;
  }

  /** ` WHERE …`, or nothing. */
  get text(): string {
    return this.#conditions.length === 0 ? '' : ` WHERE ${this.#conditions.join(' AND ')}`;
  }
}

/**
 * What a SELECT of rows to be claimed ends with: rows that another claims at this moment are not
 * waited for. On SQLite there is one writer at a time, and nothing to skip.
 */
export function skipLocked({ dialect }: Pick<Database, 'dialect'>): string {
  return dialect === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : '';
}

/** How a column that holds a JSON array of arrays is read as rows. */
export interface JsonRows {
  /** To be joined: one row for each inner array. */
  readonly from: string;
  /** The inner array's item at `index`, as text or as a number. */
  text(index: number): string;
  number(index: number): string;
}

export function jsonRows({ dialect }: Pick<Database, 'dialect'>, column: string): JsonRows {
  return dialect === 'postgres'
    ? {
        from: `jsonb_array_elements(${column}::jsonb) AS j(value)`,
        text: (index) => `(j.value->>${index})`,
        number: (index) => `CAST(j.value->>${index} AS NUMERIC)`,
      }
    : {
        from: `json_each(${column}) AS j`,
        text: (index) => `json_extract(j.value, '$[${index}]')`,
        number: (index) => `json_extract(j.value, '$[${index}]')`,
      };
}

const sqliteForbids = (table: string, verb: 'update' | 'delete'): string =>
  `CREATE TRIGGER ${table}_never_${verb}d BEFORE ${verb} ON ${table} BEGIN SELECT RAISE(ABORT, '${table} is append-only'); END`;

/**
 * Statements of a migration after which the database itself refuses to change or remove a row of
 * `table`.
 */
export function appendOnly(table: string): Migration['statements'] {
  return [
    {
      sqlite: sqliteForbids(table, 'update'),
      postgres: `CREATE FUNCTION ${table}_is_append_only() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION '${table} is append-only' USING ERRCODE = 'integrity_constraint_violation'; END $$`,
    },
    {
      sqlite: sqliteForbids(table, 'delete'),
      postgres: `CREATE TRIGGER ${table}_never_changes BEFORE UPDATE OR DELETE OR TRUNCATE ON ${table}
        FOR EACH STATEMENT EXECUTE FUNCTION ${table}_is_append_only()`,
    },
  ];
}

/**
 * From here on the server does not end a statement of this transaction for its length, and we wait
 * for it as long.
 */
export const noTimeoutStatement: Statement = { sql: 'SET LOCAL statement_timeout = 0', params: [] };

/**
 * To be yielded first in a transaction of the background that may take its time: nobody waits for
 * it. On SQLite every statement may.
 */
export function* noStatementTimeout({ dialect }: Pick<Database, 'dialect'>): Transaction<void> {
  if (dialect === 'postgres') yield noTimeoutStatement;
}

/** The column of an integer that is never NULL. */
export function integerColumn(row: Row | undefined, column: string): bigint {
  const value = row?.[column];
  assert(typeof value === 'bigint', `${column} is an integer`);
  return value;
}

/** The same for a column that may be NULL, or a row that may be absent: then 0. */
export function integerColumnOrZero(row: Row | undefined, column: string): bigint {
  const value = row?.[column] ?? 0n;
  assert(typeof value === 'bigint', `${column} is an integer`);
  return value;
}

export function textColumn(row: Row | undefined, column: string): string {
  const value = row?.[column];
  assert(typeof value === 'string', `${column} is a text`);
  return value;
}
