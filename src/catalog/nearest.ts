/**
 * The name that was probably meant: the one fewest letters away, when that is at most a third of
 * them; else the first that has all its words, such as `above_input_tokens` for `above_input`.
 */
export function nearest(written: string, names: Iterable<string>): string | undefined {
  const all = [...names];
  let best: string | undefined;
  let least = Math.max(1, Math.floor(written.length / 3)) + 1;
  for (const name of all) {
    const letters = distance(written.toLowerCase(), name.toLowerCase());
    if (letters < least) {
      best = name;
      least = letters;
    }
  }
  if (best !== undefined) return best;
  const words = written.split('_');
  return all.find((name) => {
    const its = name.split('_');
    return words.every((word) => its.includes(word));
  });
}

/** `, did you mean 'x'?`, or nothing. */
export function didYouMean(written: string, names: Iterable<string>): string {
  const name = nearest(written, names);
  return name === undefined ? '' : `, did you mean '${name}'?`;
}

/** Letters to insert, delete, change or swap with their neighbour (optimal string alignment). */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const steps = [
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      ];
      if (swapped) steps.push((before[column - 2] ?? 0) + 1);
      current.push(Math.min(...steps));
    }
    before = last;
    last = current;
  }
  return last[b.length] ?? 0;
}
