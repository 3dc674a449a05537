import type { Row, Transaction } from '../storage/database.ts';
import { SqlParameters } from '../storage/sql.ts';
import { chargedWithin, recordsCondition, type TimeRange, type UsageFilter } from './ranges.ts';

/** What an account's records can be ordered by besides their time. */
export type UsageOrder = 'input' | 'output' | 'first_byte' | 'total' | 'cost';

const columns: Readonly<Record<UsageOrder, string>> = {
  input: 'r.input_tokens',
  output: 'r.output_tokens',
  first_byte: 'r.first_byte_ms',
  total: 'r.duration_ms',
  cost: 'r.cost-r.shortfall',
};
/** Stands for an absent value, which comes last in either direction. */
const beyond = { falling: -1, rising: Number.MAX_SAFE_INTEGER } as const;

/** The value and the id of a record: a position in the order. */
export interface SortedPosition {
  readonly value: number;
  readonly id: string;
}

export interface SortedQuery extends TimeRange {
  readonly account: string;
  readonly filter: UsageFilter;
  readonly order: UsageOrder;
  readonly way: 'falling' | 'rising';
  /** The page after this position, or before it with `back`. */
  readonly after?: SortedPosition | undefined;
  readonly back: boolean;
  readonly limit: number;
}

export interface SortedPage {
  readonly rows: readonly Row[];
  /** There are more records beyond the last one of this direction. */
  readonly more: boolean;
}

/**
 * One page of an account's records in the order of a value. No index has it: all records of the
 * range are read, so the caller bounds their number. Run it in a snapshot.
 */
export function* sortedPage(question: SortedQuery): Transaction<SortedPage> {
  const { account, filter, way, after, back, limit } = question;
  const values = new SqlParameters();
  const value = valueOf(question);
  const falls = (way === 'falling') !== back;
  const condition = chargedWithin(values, account, question) + recordsCondition(values, filter);
  const behind =
    after === undefined
      ? ''
      : ` AND (${value}, r.id)${falls ? '<' : '>'}(${values.place(after.value)}, ${values.place(after.id)})`;
  const down = falls ? ' DESC' : '';
  const rows = yield {
    sql: `SELECT r.*, ${value} AS sorted_by FROM usage r WHERE ${condition}${behind}
      ORDER BY ${value}${down}, r.id${down} LIMIT ${values.place(limit + 1)}`,
    params: values.params,
  };
  const page = rows.slice(0, limit);
  return { rows: back ? page.toReversed() : page, more: rows.length > limit };
}

const valueOf = ({ order, way }: SortedQuery): string =>
  `COALESCE(${columns[order]}, ${beyond[way]})`;

export const sortedPositionOf = (row: Row): SortedPosition => ({
  value: Number(row['sorted_by']),
  id: String(row['id']),
});
