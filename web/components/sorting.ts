import type { Language } from '../words/language.ts';

/** What rows are sorted by; null comes last in both directions. */
export type SortValue = string | number | bigint | null;

interface SortableColumn<Row> {
  readonly id: string;
  readonly sortBy?: ((row: Row) => SortValue) | 'server';
}

/**
 * A sorted copy, texts in the order of `language`. `sort` is a column's id, with a minus for the
 * greatest first; another text leaves the order as it is, and so does a column that the server has
 * sorted.
 */
export function sortedBy<Row>(
  rows: readonly Row[],
  columns: readonly SortableColumn<Row>[],
  sort: string,
  language: Language = 'en',
): readonly Row[] {
  const falling = sort.startsWith('-');
  const by = columns.find(({ id }) => id === sort.slice(falling ? 1 : 0))?.sortBy;
  if (typeof by !== 'function') return rows;
  const sign = falling ? -1 : 1;
  return rows
    .map((row) => ({ row, value: by(row) }))
    .toSorted((a, b) => {
      if (a.value === null || b.value === null)
        return Number(a.value === null) - Number(b.value === null);
      return sign * compare(a.value, b.value, language);
    })
    .map(({ row }) => row);
}

type Comparable = NonNullable<SortValue>;

function compare(a: Comparable, b: Comparable, language: Language): number {
  if (typeof a === 'string' && typeof b === 'string')
    return a.localeCompare(b, language, { numeric: true });
  return a < b ? -1 : a > b ? 1 : 0;
}

export function directionOf(sort: string, column: string): 'ascending' | 'descending' | 'none' {
  return sort === column ? 'ascending' : sort === `-${column}` ? 'descending' : 'none';
}

/**
 * The sort after a press on a column's header: numbers begin with the greatest, texts with A; the
 * third press is the list's own order again.
 */
export function pressed(sort: string, column: string, first: 'rising' | 'falling'): string {
  const ways = first === 'rising' ? [column, `-${column}`] : [`-${column}`, column];
  return ways[ways.indexOf(sort) + 1] ?? '';
}
