import type { Cost } from './cost.ts';

/** A cost that is this share above the base's fails the gate. */
export const worseMax = 0.1;

/** The costs that are too high as multiples of the base's, as sentences; empty when none is. */
export function worse(cost: Cost): string[] {
  return (['request', 'chunk'] as const).flatMap((what) =>
    cost[what] <= 1 + worseMax
      ? []
      : [
          `a ${what} costs ${cost[what].toFixed(3)} times the base's, more than ${1 + worseMax} times`,
        ],
  );
}
