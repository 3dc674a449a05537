import type { ReactNode } from 'react';
import type { MoneyColumn } from './money-column.tsx';
import type { CellColumn, Column } from './table.tsx';

type Unnamed<Row, Id> = { readonly id: Id } & (
  | Omit<CellColumn<Row>, 'id' | 'header'>
  | Omit<MoneyColumn<Row>, 'id' | 'header'>
);

/** Columns whose headers are the words of their ids. */
export function named<Row, Id extends string>(
  words: Readonly<Record<Id, ReactNode>>,
  columns: readonly Unnamed<Row, Id>[],
): readonly Column<Row>[] {
  return columns.map((column) => ({ ...column, header: words[column.id] }));
}
