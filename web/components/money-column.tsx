import type { ReactNode } from 'react';
import {
  formatYuan,
  longestFraction,
  type MoneyContext,
  parseYuan,
  type Yuan,
} from '../format/money.ts';
import { Money } from './money.tsx';
import type { Column } from './table.tsx';

interface MoneyColumn<Row> {
  readonly id: string;
  readonly header: ReactNode;
  readonly amount: (row: Row) => Yuan | null;
  readonly as: MoneyContext;
  readonly estimated?: (row: Row) => boolean;
}

/** A column of amounts with aligned decimal points, whatever decimals its rows have. */
export function moneyColumn<Row>(
  rows: readonly Row[],
  { id, header, amount, as, estimated }: MoneyColumn<Row>,
): Column<Row> {
  const places = longestFraction(
    rows.flatMap((row) => amount(row) ?? []).map((each) => formatYuan(each, as)),
  );
  return {
    id,
    header,
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
