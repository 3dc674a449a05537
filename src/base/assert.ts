/** Throws when an invariant does not hold: a bug in Tollgate, never a client's mistake. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${why}`);
}
