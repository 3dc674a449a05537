/** A table of a page: cells as text. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export const said = (count: number): string => count.toLocaleString('en');
export const times = (ratio: number): string => `${ratio.toFixed(2)} ×`;

/** As Markdown; figures are right-aligned. */
export function markdown({ head, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---:')), ...rows.map(line)].join('\n');
}
