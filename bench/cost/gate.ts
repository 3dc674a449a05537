import type { Cost } from './cost.ts';

/** A cost that is this share above the accepted one fails the gate. */
export const worseMax = 0.1;

/**
 * The costs that are too high, as sentences; empty when all are fine. A figure without an accepted
 * one always passes.
 */
export function worse(cost: Cost, accepted: Partial<Cost>): string[] {
  return (['request', 'chunk'] as const).flatMap((what) => {
    const limit = accepted[what];
    if (limit === undefined || cost[what] <= limit * (1 + worseMax)) return [];
    const percent = Math.round((cost[what] / limit - 1) * 100);
    return [
      `a ${what} costs ${cost[what].toFixed(2)} times the reference, ${percent} % more than the ${limit.toFixed(2)} that were accepted`,
    ];
  });
}
