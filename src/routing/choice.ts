import type { RoutingPolicy } from '../base/routing-policy.ts';

/** What one request asks of the choice. */
export interface Choice {
  readonly policy: RoutingPolicy;
  /**
   * A number that requests have in common which should meet again; undefined: this one belongs to
   * no other.
   */
  readonly affinity: number | undefined;
  /**
   * Speeds of streams and of whole answers cannot be compared: to the first byte, or to the last.
   */
  readonly streamed: boolean;
}

export const byWeight: Choice = { policy: 'weighted', affinity: undefined, streamed: false };

/** Below 0: `a` comes before `b` whatever their weights, above 0: after it. */
export function order(a: RoutingCandidate, b: RoutingCandidate, { policy }: Choice): number {
  if (a.priority !== b.priority || policy !== 'cost') return a.priority - b.priority;
  const [ofA, ofB] = [a.cost ?? Infinity, b.cost ?? Infinity];
  return ofA === ofB ? 0 : ofA - ofB;
}

/** The slowest keeps this part of its share, so that it is seen when it has become fast. */
const slowestShare = 1 / 16;

/** Twice as slow is asked a quarter as often. Who has not been measured counts as the fastest. */
export function latencyShare(
  { weight }: RoutingCandidate,
  ms: number | undefined,
  fastestMs: number,
): number {
  const share = weight || 1;
  if (ms === undefined || ms <= fastestMs) return share;
  return share * Math.max((fastestMs / ms) ** 2, slowestShare);
}

/**
 * When a candidate arrives in a race that it wins as often as its share says (exponentially
 * distributed times). `luck` is in [0, 1): at random, or always the same for the same two, and then
 * a candidate that joins or leaves moves only those requests that it wins or had won (rendezvous
 * hashing).
 */
export const arrivalTime = (luck: number, share: number): number => -Math.log(luck) / share;

/**
 * The luck of these two with each other, on every node the same. `hash` is what `togetherOf` makes
 * of the candidate's id.
 */
export function hashFraction(together: number, hash: number): number {
  let mixed = together ^ hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 4_294_967_296;
}

/** A number for what these texts have in common (FNV-1a). */
export function hashTexts(texts: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0xff, 0x01000193);
  }
  return hash >>> 0;
}

/** What routing needs to know of a channel. Generic, so that it needs no catalog. */
export interface RoutingCandidate {
  /** One breaker for each id (channel and key). */
  readonly id: string;
  /** Lower first. */
  readonly priority: number;
  /** Share among those of the same priority; 0 = only when nothing else is left. */
  readonly weight: number;
  /** What a usual request costs there, in any one unit. Absent: nobody has said. */
  readonly cost?: number;
  /** By what its speed is remembered; absent: by its id. */
  readonly pace?: string;
}

/** How far an attempt had come when it failed. */
export type Stage = 'connecting' | 'waiting' | 'streaming';

/** Fewer candidates than these are looked at one by one. */
export const samplerMin = 8;

/**
 * Those of a long list who come first as long as all are well, with what finds one of them without
 * a look at each.
 */
export interface WeightedSampler {
  /** Where they stand in the list. */
  readonly places: readonly number[];
  readonly weights: Float64Array;
  /** At each place the weights up to there, its own included. */
  readonly sums: Float64Array;
  /** Of their ids. */
  readonly hashes: Uint32Array;
}

/** Empty when nobody has any weight. */
export function samplerFor(
  candidates: readonly RoutingCandidate[],
  policy: RoutingPolicy,
): WeightedSampler {
  const choice = { ...byWeight, policy };
  let members: RoutingCandidate[] = [];
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
    hashes: Uint32Array.from(members, ({ id }) => hashTexts([id])),
  };
}

/**
 * The place of whom this luck, in [0, 1), falls on: as often as the weights say. -1: the crowd is
 * empty.
 */
export function sampleFrom({ places, sums }: WeightedSampler, luck: number): number {
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
export function rendezvousWinner(
  { places, weights, hashes }: WeightedSampler,
  together: number,
): number {
  let winner = 0;
  let first = Infinity;
  for (let i = 0; i < hashes.length; i++) {
    const arrives = arrivalTime(hashFraction(together, hashes[i] ?? 0), weights[i] ?? 0);
    if (arrives >= first) continue;
    first = arrives;
    winner = i;
  }
  return places[winner] ?? -1;
}
