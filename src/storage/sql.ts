import assert from 'node:assert/strict';
import { hourMs } from '../base/calendar.ts';
import type { SqlValue, Database, Migration, Transaction, Statement, Row } from './database.ts';

/** The values of a statement, each with its placeholder. They follow those of `before`. */
export class SqlParameters {
  readonly params: SqlValue[];

  constructor(before: readonly SqlValue[] = []) {
    this.params = [...before];
  }

  /** Adds a value to the statement and returns its placeholder. */
  place(value: SqlValue): string {
    return `$${this.params.push(value)}`;
  }

  /** The same for several values: `$3,$4,$5`. */
  placeAll(values: readonly SqlValue[]): string {
    return values.map((value) => this.place(value)).join();
  }
}

/** Builds a WHERE clause of optional conditions. */
export class WhereClause extends SqlParameters {
  readonly #conditions: string[] = [];

  /** `?` in the condition stands for the value. An undefined value adds no condition. */
  add(condition: string, value: SqlValue | undefined): void {
    if (value !== undefined) this.#conditions.push(condition.replaceAll('?', this.place(value)));
  }

  /** The column has one of the values. Undefined adds no condition. */
  addOneOf(column: string, values: readonly SqlValue[] | undefined): void {
    if (values !== undefined) this.#conditions.push(`${column} IN (${this.placeAll(values)})`);
  }

  /** A condition without a value. */
  always(condition: string): void {
    this.#conditions.push(condition);
  }

  /** ` WHERE …`, or nothing. */
  get text(): string {
    return this.#conditions.length === 0 ? '' : ` WHERE ${this.#conditions.join(' AND ')}`;
  }
}

/** Placeholders for the values of a list, `$1,$2,…`; the first one is `$first`. */
export const placeholders = (values: readonly SqlValue[], first = 1): string =>
  values.map((_, index) => `$${first + index}`).join();

/**
 * A pattern for `LOWER(column) LIKE LOWER(pattern) ESCAPE '!'` that matches values that contain the
 * text; wildcards in the text are escaped. The database lowers both sides, because not every
 * PostgreSQL knows the cases of all letters.
 */
export const containing = (text: string): string => `${endingIn(text)}%`;

/** The same for values that end in the text. */
export const endingIn = (text: string): string => `%${text.replace(/[!%_]/g, '!$&')}`;

/**
 * The end of a SELECT that claims rows: it skips rows that another transaction is claiming. On
 * SQLite there is one writer at a time, and nothing to skip.
 */
export function skipLocked({ dialect }: Pick<Database, 'dialect'>): string {
  return dialect === 'postgres' ? ' FOR UPDATE SKIP LOCKED' : '';
}

/** SQL: the beginning of the hour in which a time (wall clock, ms) lies. */
export const sqlHour = (time: string): string => `${time}-${time}%${hourMs}`;

/** SQL that reads a column with a JSON array of arrays as rows. */
export interface JsonRows {
  /** The table to join: one row for each inner array. */
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
 * After this statement the server ends no statement of the transaction for its length, and the
 * client waits longer as well.
 */
export const noTimeoutStatement: Statement = {
  sql: 'SET LOCAL statement_timeout = 0',
  params: [],
  noTimeout: true,
};

/**
 * To be yielded first in a background transaction that may take long. SQLite has no statement
 * timeout.
 */
export function* noStatementTimeout({ dialect }: Pick<Database, 'dialect'>): Transaction<void> {
  if (dialect === 'postgres') yield noTimeoutStatement;
}

/** The value of an integer column that is never NULL. */
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

/** The same for columns that may be NULL, or a row that may be absent: then undefined. */
export const optionalInteger = (row: Row | undefined, column: string): bigint | undefined =>
  (row?.[column] ?? null) === null ? undefined : integerColumn(row, column);

export const optionalNumber = (row: Row | undefined, column: string): number | undefined =>
  (row?.[column] ?? null) === null ? undefined : Number(integerColumn(row, column));

export const optionalText = (row: Row | undefined, column: string): string | undefined =>
  (row?.[column] ?? null) === null ? undefined : textColumn(row, column);
