import { zoneDayAt } from '../base/calendar.ts';
import type { ConsoleReply } from './route.ts';

/** The byte order mark: spreadsheets recognize UTF-8 by it. */
export const csvStart = '\uFEFF';

type Cell = string | number | null;

/**
 * Text that a spreadsheet would run as a formula is quoted as text; amounts and zone offsets are
 * not formulas.
 */
function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const isNumber = /^-?\d+(\.\d+)?$|^[+-]\d\d:\d\d$/.test(cell);
  // East Asian spreadsheets accept the full-width forms of these signs as well.
  const text = !isNumber && /^[=+\-@\t\r\n＝＋－＠]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const csvLine = (cells: readonly Cell[]): string => `${cells.map(cellText).join()}\r\n`;

export const csvType = 'text/csv; charset=utf-8';

/** Sends a table to save as `<name>-<day>.csv`; the day is that of `at` in the zone. */
export async function sendCsv(
  reply: Pick<ConsoleReply, 'file'>,
  name: string,
  { zone, at }: { readonly zone: string; readonly at: number },
  text: AsyncIterable<string>,
): Promise<void> {
  await reply.file({ name: `${name}-${zoneDayAt(zone, at).day}.csv`, type: csvType, text });
}
