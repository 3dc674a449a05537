import type { Policy } from '../base/policy.ts';
import type { Weighted } from './candidate.ts';
import { arrival, byWeight, luckOf, order, togetherOf } from './choice.ts';

/** Fewer candidates than these are looked at one by one. */
export const crowdMin = 8;

/**
 * Those of a long list who come first as long as all are well, with what finds one of them without
 * a look at each.
 */
export interface Crowd {
  /** Where they stand in the list. */
  readonly places: readonly number[];
  readonly weights: Float64Array;
  /** At each place the weights up to there, its own included. */
  readonly sums: Float64Array;
  /** Of their ids. */
  readonly hashes: Uint32Array;
}

/** Empty when nobody has any weight. */
export function crowdOf(candidates: readonly Weighted[], policy: Policy): Crowd {
  const choice = { ...byWeight, policy };
  let members: Weighted[] = [];
  let places: number[] = [];
  for (const [place, candidate] of candidates.entries()) {
    if (candidate.weight <= 0) continue;
    const [first] = members;
    const comes = first === undefined ? -1 : order(candidate, first, choice);
    if (comes > 0) continue;
    if (comes < 0) [members, places] = [[], []];
    members.push(candidate);
    places.push(place);
  }
  let sum = 0;
  const weights = Float64Array.from(members, ({ weight }) => weight);
  return {
    places,
    weights,
    sums: weights.map((weight) => (sum += weight)),
    hashes: Uint32Array.from(members, ({ id }) => togetherOf([id])),
  };
}

/**
 * The place of whom this luck, in [0, 1), falls on: as often as the weights say. -1: the crowd is
 * empty.
 */
export function drawnFrom({ places, sums }: Crowd, luck: number): number {
  const wanted = luck * (sums.at(-1) ?? 0);
  let [low, high] = [0, sums.length - 1];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sums[middle] ?? 0) > wanted) high = middle;
    else low = middle + 1;
  }
  return places[low] ?? -1;
}

/**
 * The place of who wins the race for what belongs together: the same one that a look at each
 * candidate finds. -1: the crowd is empty.
 */
export function winnerOf({ places, weights, hashes }: Crowd, together: number): number {
  let winner = 0;
  let first = Infinity;
  for (let i = 0; i < hashes.length; i++) {
    const arrives = arrival(luckOf(together, hashes[i] ?? 0), weights[i] ?? 0);
    if (arrives >= first) continue;
    first = arrives;
    winner = i;
  }
  return places[winner] ?? -1;
}
