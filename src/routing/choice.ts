import type { Policy } from '../base/policy.ts';
import type { Weighted } from './candidate.ts';

/** What one request asks of the choice. */
export interface Choice {
  readonly policy: Policy;
  /**
   * A number that requests have in common which should meet again; undefined: this one belongs to
   * no other.
   */
  readonly together: number | undefined;
  /**
   * Speeds of streams and of whole answers cannot be compared: to the first byte, or to the last.
   */
  readonly streamed: boolean;
}

export const byWeight: Choice = { policy: 'weighted', together: undefined, streamed: false };

/** Below 0: `a` comes before `b` whatever their weights, above 0: after it. */
export function order(a: Weighted, b: Weighted, { policy }: Choice): number {
  if (a.priority !== b.priority || policy !== 'cost') return a.priority - b.priority;
  const [ofA, ofB] = [a.cost ?? Infinity, b.cost ?? Infinity];
  return ofA === ofB ? 0 : ofA - ofB;
}

/** The slowest keeps this part of its share, so that it is seen when it has become fast. */
const slowestShare = 1 / 16;

/** Twice as slow is asked a quarter as often. Who has not been measured counts as the fastest. */
export function shareOf({ weight }: Weighted, ms: number | undefined, fastestMs: number): number {
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
export const arrival = (luck: number, share: number): number => -Math.log(luck) / share;

/**
 * The luck of these two with each other, on every node the same. `hash` is what `togetherOf` makes
 * of the candidate's id.
 */
export function luckOf(together: number, hash: number): number {
  let mixed = together ^ hash;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 4_294_967_296;
}

/** A number for what these texts have in common (FNV-1a). */
export function togetherOf(texts: readonly string[]): number {
  let hash = 0x811c9dc5;
  for (const text of texts) {
    for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
    hash = Math.imul(hash ^ 0xff, 0x01000193);
  }
  return hash >>> 0;
}
