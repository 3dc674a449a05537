import type { RoutingPolicy } from '../base/routing-policy.ts';

/** How one request wants its candidate chosen. */
export interface Choice {
  readonly policy: RoutingPolicy;
  /**
   * A number shared by requests that should reach the same candidate; undefined: the request has no
   * such group.
   */
  readonly affinity: number | undefined;
  /**
   * Whether the request streams: times to the first byte (streams) and to the last (whole answers)
   * cannot be compared.
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

/**
 * The slowest candidate keeps this part of its share, so that the gateway notices when it becomes
 * fast.
 */
const slowestShare = 1 / 16;

/**
 * A candidate twice as slow gets a quarter of the requests. An unmeasured candidate counts as the
 * fastest.
 */
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
 * distributed times). `luck` is in [0, 1): random, or fixed for a pair of request group and
 * candidate. With fixed luck, a candidate that joins or leaves moves only those requests that it
 * wins or had won (rendezvous hashing).
 */
export const arrivalTime = (luck: number, share: number): number => -Math.log(luck) / share;

/**
 * The fixed luck of a request group and a candidate, the same on every node. `hash` is `hashTexts`
 * of the candidate's id.
 */
export function hashFraction(together: number, hash: number): number {
  let mixed = together ^ hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 4_294_967_296;
}

/** A hash of these texts (FNV-1a). */
export function hashTexts(texts: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0xff, 0x01000193);
  }
  return hash >>> 0;
}

/** The facts of a channel that routing needs. Generic, so that routing needs no catalogue. */
export interface RoutingCandidate {
  /** Each id (channel and key) has one breaker. */
  readonly id: string;
  /** Lower first. */
  readonly priority: number;
  /** Share among those of the same priority; 0 = only when nothing else is left. */
  readonly weight: number;
  /** What a usual request costs there, in any one unit. Absent: unknown. */
  readonly cost?: number;
  /** The key under which its latency is remembered; absent: its id. */
  readonly pace?: string;
}

/** How far an attempt had come when it failed. */
export type Stage = 'connecting' | 'waiting' | 'streaming';

/** Below this number, candidates are examined one by one. */
export const samplerMin = 8;

/**
 * The candidates of a long list that come first while all are healthy, with the tables to find one
 * of them without examining each.
 */
export interface WeightedSampler {
  /** Positions in the list. */
  readonly places: readonly number[];
  readonly weights: Float64Array;
  /** At each position, the sum of the weights up to it, its own included. */
  readonly sums: Float64Array;
  /** Hashes of the ids. */
  readonly hashes: Uint32Array;
}

/** Empty when no candidate has any weight. */
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
 * The position that `luck`, in [0, 1), selects, as often as the weights say. -1: the sampler is
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
 * The position of the rendezvous winner for this group of requests: the same one that examining
 * each candidate finds. -1: the sampler is empty.
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
