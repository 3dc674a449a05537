import type { Measure } from '../base/quantities.ts';
import type { Nano } from '../base/money.ts';

/** One line of a usage record: quantity × rate, rounded up once. `rate` is nano-yuan per million units at the group's multiplier. */
export interface RecordLine {
  readonly measure: Measure;
  readonly quantity: number;
  readonly rate: Nano;
  readonly cost: Nano;
}

/** Reads the column `lines` of a usage record (record.ts). */
export function linesOf(text: string): readonly RecordLine[] {
  const written = JSON.parse(text) as readonly (readonly [Measure, number, string, string])[];
  return written.map(([measure, quantity, rate, cost]) => ({
    measure,
    quantity,
    rate: BigInt(rate),
    cost: BigInt(cost),
  }));
}
