import { type Measure, measures, type Quantities } from '../../base/quantities.ts';
import type { Answer } from '../adapter.ts';

/** What all parts of a request count together; undefined when one of them told nothing. */
export function sumOf(answers: readonly Answer[]): Quantities | undefined {
  const total: Partial<Record<Measure, number>> = {};
  for (const { quantities } of answers) {
    if (quantities === undefined) return undefined;
    for (const measure of measures)
      if (quantities[measure] !== undefined)
        total[measure] = (total[measure] ?? 0) + quantities[measure];
  }
  return total;
}
