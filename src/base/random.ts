/** Uniform in [0, 1). Comes in by argument where tests must repeat a run. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();

/** A repeatable generator (mulberry32) for tests and simulations, which print their seed. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
