import type { Cost } from './cost.ts';

/** Worse by this share of what was accepted, and the gate is shut. */
export const worseMax = 0.1;

/** What is worse than it may be, in words; empty: all is well. */
export function worse(cost: Cost, accepted: Cost): string[] {
  return (['request', 'chunk'] as const)
    .filter((what) => cost[what] > accepted[what] * (1 + worseMax))
    .map((what) => {
      const percent = Math.round((cost[what] / accepted[what] - 1) * 100);
      return `a ${what} costs ${cost[what].toFixed(2)} times the reference, ${percent} % more than the ${accepted[what].toFixed(2)} that were accepted`;
    });
}
