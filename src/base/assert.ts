/** Throws when what must hold does not: a bug of ours, never a client's mistake. */
export function assert(condition: unknown, why: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${why}`);
}
