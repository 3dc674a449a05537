import assert from 'node:assert/strict';
import { bump, lockVersion } from '../storage/changes.ts';
import type { Row, Transaction } from '../storage/database.ts';
import type { ConfigProblem } from './problem.ts';
import { type StoredEntry, type Columns, upsert } from './stored-catalog.ts';

/**
 * The result of a change. `read_only`: the configuration names the object, and only the file can
 * change it. `conflict`: the object has another version by now. `before` is undefined for a new
 * object, `after` for a removed one.
 */
export type EditResult<Thing> = EditDone<Thing> | EditRefused<Thing>;

export type EditRefused<Thing> =
  | { readonly kind: 'absent' | 'exists' }
  | { readonly kind: 'read_only' | 'conflict'; readonly current: Thing }
  | { readonly kind: 'wrong'; readonly problems: readonly ConfigProblem[] };

export interface EditDone<Thing> {
  readonly kind: 'done';
  readonly before: Thing | undefined;
  readonly after: Thing | undefined;
}

/** The object to change, and the version that the author read. `version` undefined: any. */
export interface EditTarget {
  readonly name: string;
  readonly version: number | undefined;
}

/** A table of the catalog: its key column, and the function that reads a row. */
export interface CatalogTable<Thing extends StoredEntry> {
  readonly name: 'model_groups' | 'models' | 'channels';
  readonly key: 'name' | 'id';
  readonly read: (row: Row) => Thing;
}

export function* rowOf<Thing extends StoredEntry>(
  { name, key }: CatalogTable<Thing>,
  value: string,
): Transaction<Row | undefined> {
  const [row] = yield { sql: `SELECT * FROM ${name} WHERE ${key}=$1`, params: [value] };
  return row;
}

/**
 * The row of an object that may be changed now, or the reason why not. `free`: the change touches
 * only columns that the configuration does not own.
 */
export function* editableRow<Thing extends StoredEntry>(
  table: CatalogTable<Thing>,
  { name, version }: EditTarget,
  free = false,
): Transaction<{ readonly row: Row } | EditRefused<Thing>> {
  const row = yield* rowOf(table, name);
  if (row === undefined) return { kind: 'absent' };
  const current = table.read(row);
  if (!free && current.origin === 'configuration') return { kind: 'read_only', current };
  if (version !== undefined && version !== current.version) return { kind: 'conflict', current };
  return { row };
}

/** Writes the row, and notifies every process if it changed. */
export function* writeRow<Thing extends StoredEntry>(
  table: CatalogTable<Thing>,
  before: Row | undefined,
  columns: Columns,
  at: number,
): Transaction<EditDone<Thing>> {
  const statements = upsert(table.name, columns, before, at);
  for (const statement of statements) yield statement;
  if (statements.length > 0) yield bump(catalogTopic);
  const after = yield* rowOf(table, String(columns[table.key]));
  return { kind: 'done', before: before && table.read(before), after: after && table.read(after) };
}

export function* removeRow<Thing extends StoredEntry>(
  table: CatalogTable<Thing>,
  row: Row,
): Transaction<EditDone<Thing>> {
  yield {
    sql: `DELETE FROM ${table.name} WHERE ${table.key}=$1`,
    params: [row[table.key] ?? null],
  };
  yield bump(catalogTopic);
  return { kind: 'done', before: table.read(row), after: undefined };
}

/**
 * JSON in the form that the schemas of the configuration file read: numbers become text, so that
 * 0.1 is exact, and null members are left out.
 */
export function asWritten(value: unknown): unknown {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(asWritten);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, one]) => (one === null ? [] : [[name, asWritten(one)]])),
  );
}

/** The members of a change that are null: the change removes them. */
export function nullMembers(value: Readonly<Record<string, unknown>>): ReadonlySet<string> {
  return new Set(Object.keys(value).filter((name) => value[name] === null));
}

export type WrittenMembers = Readonly<Record<string, unknown>>;

/** The topic that notifies every process of a change of the catalog. */
export const catalogTopic = 'catalog';

/** Locks the catalog for this transaction; returns its version. */
export function* lockCatalogVersion(): Transaction<bigint> {
  const [row] = yield lockVersion(catalogTopic);
  assert(typeof row?.['version'] === 'bigint', 'the catalog has a version');
  return row['version'];
}
