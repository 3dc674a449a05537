import type { Cost } from './cost.ts';

/** Worse by this share of what was accepted, and the gate is shut. */
export const worseMax = 0.1;

/**
 * What is worse than it may be, in words; empty: all is well. Of what nobody has accepted a figure
 * nothing is known.
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
