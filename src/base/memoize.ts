const entriesMax = 10_000;

/**
 * Caches the function's value for each text; for names that recur all the time. A full cache is
 * emptied.
 */
export function memoize<T>(
  make: (name: string) => T,
  most: number = entriesMax,
): (name: string) => T {
  const held = new Map<string, T>();
  return (name) => {
    const known = held.get(name);
    if (known !== undefined) return known;
    const made = make(name);
    if (held.size >= most) held.clear();
    held.set(name, made);
    return made;
  };
}
