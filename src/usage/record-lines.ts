import type { Measure } from '../base/quantities.ts';
import type { Nano } from '../base/money.ts';

/**
 * One line of a usage record: quantity × rate, rounded up once. `rate` is nano-yuan per million
 * units at the group's multiplier.
 */
export interface RecordLine {
  readonly measure: Measure;
  readonly quantity: number;
  readonly rate: Nano;
  readonly cost: Nano;
  /** What the model's plain price was multiplied by, and why. */
  readonly terms?: string | undefined;
  /** Whose price it is, where it is not the record's model. */
  readonly model?: string | undefined;
}

type Written = readonly [
  Measure,
  number,
  string,
  string,
  { readonly terms?: string; readonly model?: string }?,
];

/** Reads the column `lines` of a usage record (record.ts). */
export function linesOf(text: string): readonly RecordLine[] {
  const written = JSON.parse(text) as readonly Written[];
  return written.map(([measure, quantity, rate, cost, told]) => ({
    measure,
    quantity,
    rate: BigInt(rate),
    cost: BigInt(cost),
    ...told,
  }));
}
