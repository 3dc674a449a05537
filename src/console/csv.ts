/** Programs that open tables take UTF-8 for what it is when this comes first. */
export const csvStart = '\uFEFF';

type Cell = string | number | null;

/**
 * Text that a spreadsheet would take for a formula is quoted as text; amounts and offsets of zones
 * are none.
 */
function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const isNumber = /^-?\d+(\.\d+)?$|^[+-]\d\d:\d\d$/.test(cell);
  // Spreadsheets of East Asia take the wide forms of these signs as well.
  const text = !isNumber && /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellText).join()}\r\n`;
