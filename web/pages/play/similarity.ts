/** The cosine of two vectors: 1 for the same direction; 0 where one has no length. */
export function cosine(a: readonly number[], b: readonly number[]): number {
  let [both, ofA, ofB] = [0, 0, 0];
  for (const [at, x] of a.entries()) {
    const y = b[at] ?? 0;
    both += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return ofA === 0 || ofB === 0 ? 0 : both / Math.sqrt(ofA * ofB);
}

/** The lines that say something: each is a text. */
export const textsOf = (typed: string): readonly string[] =>
  typed
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
