import type { Policy } from '../base/policy.ts';
import type { Weighted } from './candidate.ts';
import { byWeight, order } from './choice.ts';

/** Fewer candidates than these are looked at one by one. */
export const crowdMin = 8;

/** Those of a long list who come first as long as all are well, with the sums of their weights, so that one is found without a look at each. */
export interface Crowd<C extends Weighted> {
  readonly members: readonly C[];
  /** At each place the weights up to there, its own included. */
  readonly sums: Float64Array;
}

/** Empty when nobody has any weight. */
export function crowdOf<C extends Weighted>(candidates: readonly C[], policy: Policy): Crowd<C> {
  const choice = { ...byWeight, policy };
  let members: C[] = [];
  for (const candidate of candidates) {
    if (candidate.weight <= 0) continue;
    const [first] = members;
    const place = first === undefined ? -1 : order(candidate, first, choice);
    if (place < 0) members = [candidate];
    else if (place === 0) members.push(candidate);
  }
  let sum = 0;
  return { members, sums: Float64Array.from(members, ({ weight }) => (sum += weight)) };
}

/** The member whom this luck, in [0, 1), falls on: as often as its weight says. */
export function memberOf<C extends Weighted>({ members, sums }: Crowd<C>, luck: number): C | undefined {
  const wanted = luck * (sums.at(-1) ?? 0);
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sums[middle] ?? 0) > wanted) high = middle;
    else low = middle + 1;
  }
  return members[low];
}
