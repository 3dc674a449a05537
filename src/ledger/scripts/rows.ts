import type { Script, SqlValue } from '../../storage/database.ts';

/**
 * Rows that one statement inserts. Few sizes, because each is a prepared statement of its own;
 * large ones, because a call costs as much as a row.
 */
const sizes = [32, 16, 8, 4, 2, 1];
const written = new Map<string, string>();

/**
 * Inserts rows in as few statements as their number allows. `into`:
 * `INSERT INTO table (column, …)`; `values`: those of the first row, then of the next.
 */
export function* insertRows(
  into: string,
  count: number,
  values: readonly SqlValue[],
): Script<void> {
  const columns = values.length / count;
  let from = 0;
  for (const size of sizes) {
    for (; count - from >= size; from += size) {
      yield {
        sql: insertOf(into, size, columns),
        params: values.slice(from * columns, (from + size) * columns),
      };
    }
  }
}

/** The statement that inserts so many rows of so many columns. */
export function insertOf(into: string, rows: number, columns: number): string {
  const name = `${rows} ${into}`;
  let sql = written.get(name);
  if (sql === undefined) {
    const row = (r: number): string =>
      `(${Array.from({ length: columns }, (_, c) => `$${r * columns + c + 1}`).join(', ')})`;
    sql = `${into} VALUES ${Array.from({ length: rows }, (_, r) => row(r)).join(', ')}`;
    written.set(name, sql);
  }
  return sql;
}
