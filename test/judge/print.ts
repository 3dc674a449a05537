/** Writes a line, apart from what tests log. */
export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Prints each way in which something goes wrong: its count and an example, most frequent first. */
export function printWays<Found extends { readonly id: string }>(
  all: readonly Found[],
  waysOf: (found: Found) => readonly string[],
): void {
  const ways = new Map<string, Found[]>();
  for (const found of all)
    for (const way of waysOf(found)) ways.set(way, [...(ways.get(way) ?? []), found]);
  for (const [way, those] of [...ways].toSorted((a, b) => b[1].length - a[1].length))
    print(`  ${String(those.length).padStart(4)} ${way} (${those[0]?.id})`);
}

/** A reason as it is counted: without places in lists, and not too long. */
export const countedAs = (why: string): string => why.replaceAll(/\[\d+\]/g, '[]').slice(0, 160);
