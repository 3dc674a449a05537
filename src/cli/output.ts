/** An expected end of a command: the message is for the person at the keyboard, without a stack. */
export class Failure extends Error {}

/** Prints the result: one JSON value with `--json`, else the lines for people. */
export function print(json: boolean, value: unknown, lines: readonly string[]): void {
  console.log(json ? JSON.stringify(value) : lines.join('\n'));
}

/** A table for people: columns as wide as their widest cell. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const all = [heads, ...rows];
  const widths = heads.map((_, i) => Math.max(...all.map((row) => (row[i] ?? '').length)));
  return all.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
