import {
  formatYuan,
  longestFraction,
  type MoneyContext,
  parseYuan,
  type Yuan,
} from '../format/money.ts';
import { Money } from './money.tsx';
import type { CellColumn } from './table.tsx';

/** A column of amounts with aligned decimal points, whatever decimals its rows have. */
export interface MoneyColumn<Row> extends Omit<CellColumn<Row>, 'cell' | 'align' | 'sortBy'> {
  readonly amount: (row: Row) => Yuan | null;
  readonly as: MoneyContext;
  readonly estimated?: (row: Row) => boolean;
}

export function drawnMoney<Row>(
  rows: readonly Row[],
  { amount, as, estimated, ...column }: MoneyColumn<Row>,
): CellColumn<Row> {
  const places = longestFraction(
    rows.flatMap((row) => amount(row) ?? []).map((each) => formatYuan(each, as)),
  );
  return {
    ...column,
    align: 'right',
    sortBy: (row) => {
      const of = amount(row);
      return of === null ? null : parseYuan(of);
    },
    cell: (row) => (
      <Money amount={amount(row)} as={as} places={places} estimated={estimated?.(row) ?? false} />
    ),
  };
}
