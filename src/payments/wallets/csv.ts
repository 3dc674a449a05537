/**
 * Rows of a bill by the names in its head; one with another number of cells has none. `split` cuts
 * a line, and takes off what stands around its cells.
 */
export function rowsByName(
  head: string,
  lines: readonly string[],
  split: (line: string, columns: number) => readonly string[],
): readonly ReadonlyMap<string, string>[] {
  const names = head.split(',').map((name) => name.trim());
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const cells = split(line, names.length);
      return new Map(
        cells.length === names.length ? names.map((name, index) => [name, cells[index] ?? '']) : [],
      );
    });
}
