import { markdownTable } from '../markdown-table.ts';

/** A table of a page: cells as text. */
export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export const said = (count: number): string => count.toLocaleString('en');
export const times = (ratio: number): string => `${ratio.toFixed(2)} ×`;

/** As Markdown; figures are right-aligned. */
export const markdown = ({ head, rows }: Table): string => markdownTable(head, rows, 0);
