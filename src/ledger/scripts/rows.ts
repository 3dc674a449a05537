import type { Script, SqlValue } from '../../storage/database.ts';

/** Rows that one statement inserts. Few sizes, because each is a prepared statement of its own; large ones, because a call costs as much as a row. */
const sizes = [32, 8, 2, 1];
const written = new Map<string, string>();

/** Inserts rows in as few statements as their number allows. `into`: `INSERT INTO table (column, …)`; each row has a value for each column. */
export function* insertRows(into: string, rows: readonly (readonly SqlValue[])[]): Script<void> {
  let from = 0;
  for (const size of sizes) {
    for (; rows.length - from >= size; from += size) {
      const some = rows.slice(from, from + size);
      yield { sql: insertOf(into, size, some[0]?.length ?? 0), params: some.flat() };
    }
  }
}

/** The statement that inserts so many rows of so many columns. */
export function insertOf(into: string, rows: number, columns: number): string {
  const name = `${rows} ${into}`;
  let sql = written.get(name);
  if (sql === undefined) {
    const row = (r: number): string => `(${Array.from({ length: columns }, (_, c) => `$${r * columns + c + 1}`).join(', ')})`;
    sql = `${into} VALUES ${Array.from({ length: rows }, (_, r) => row(r)).join(', ')}`;
    written.set(name, sql);
  }
  return sql;
}
