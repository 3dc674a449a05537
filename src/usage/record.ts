import type { Nano } from '../base/money.ts';
import type { Measure } from '../base/quantities.ts';
import type { Row, SqlValue } from '../storage/database.ts';
import { integerColumn, type JsonRows } from '../storage/sql.ts';

/**
 * The columns of a usage record that the gateway fills, in the order of `Charge.record`
 * (ledger/contract.ts). The till adds `id`, `account`, `cost` and `shortfall` and inserts the row
 * in the transaction of the charge.
 */
export const recordColumns = [
  { name: 'key_id', type: 'text' },
  { name: 'reserved_at', type: 'bigint' }, // wall clock, ms: when the money was reserved; decides the window of limits
  { name: 'finished_at', type: 'bigint' },
  { name: 'capability', type: 'text' },
  { name: 'model', type: 'text' },
  { name: 'group_name', type: 'text' },
  { name: 'channel', type: 'text' },
  { name: 'upstream_id', type: 'text' },
  { name: 'status', type: 'text' }, // 'ok' | 'cut' (vendor) | 'left' (client) | 'length' (money) | 'error'
  { name: 'stream', type: 'bigint' }, // 0 | 1
  { name: 'estimated', type: 'bigint' }, // 0 | 1: counted by us because the vendor reported no usage
  { name: 'first_byte_ms', type: 'bigint' },
  { name: 'duration_ms', type: 'bigint' },
  { name: 'attempts', type: 'bigint' },
  { name: 'input_tokens', type: 'bigint' }, // all input, cached included
  { name: 'output_tokens', type: 'bigint' }, // all output, reasoning included
  { name: 'lines', type: 'text' }, // JSON: [[measure, quantity, "nano per million", "nano"], …]; the last ones add up to `cost`
  { name: 'excess', type: 'bigint' }, // nano beyond `cost` that the vendor reported and the operator bears; null: nothing
  { name: 'reported', type: 'text' }, // `lines` of what the vendor reported, where that was more than the request can have cost
] as const satisfies readonly { readonly name: string; readonly type: 'text' | 'bigint' }[];

export type RecordValues = readonly SqlValue[];

/**
 * One line of a usage record: quantity × rate, rounded up once. `rate` is nano-yuan per million
 * units, with the group's multiplier.
 */
export interface RecordLine {
  readonly measure: Measure;
  readonly quantity: number;
  readonly rate: Nano;
  readonly cost: Nano;
  /** The multiplier on the model's plain price, and its reason. */
  readonly terms?: string | undefined;
  /** The model whose price applies, where it is not the record's. */
  readonly model?: string | undefined;
}

type StoredLine = readonly [
  Measure,
  number,
  string,
  string,
  { readonly terms?: string; readonly model?: string }?,
];

/** SQL: the parts of a stored line; the quantity is in millionths of its unit. */
export const lineMeasureSql = (lines: JsonRows): string => lines.text(0);
export const lineMicrosSql = (lines: JsonRows): string =>
  `CAST(ROUND(${lines.number(1)}*1000000) AS BIGINT)`;
export const lineCostSql = (lines: JsonRows): string => `CAST(${lines.text(3)} AS BIGINT)`;

/** What was paid for a usage record: its cost without the part that was forgiven. */
export const paidFor = (record: Row): Nano =>
  integerColumn(record, 'cost') - integerColumn(record, 'shortfall');

/** Reads the column `lines` of a usage record (record.ts). */
export function linesOf(text: string): readonly RecordLine[] {
  const written = JSON.parse(text) as readonly StoredLine[];
  return written.map(([measure, quantity, rate, cost, extra]) => ({
    measure,
    quantity,
    rate: BigInt(rate),
    cost: BigInt(cost),
    ...extra,
  }));
}
