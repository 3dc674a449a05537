import type { Migration } from './database.ts';

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
