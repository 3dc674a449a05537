const entriesMax = 10_000;

/**
 * The same function, which makes each text's value once; for names that return all the time. When
 * too many have been held, all are forgotten.
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
