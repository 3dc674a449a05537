import { zoneDayAt } from '../base/calendar.ts';
import type { ConsoleReply } from './route.ts';

/** The byte order mark: spreadsheets recognize UTF-8 by it. */
export const csvStart = '\uFEFF';

type Cell = string | number | null;

/**
 * Where a spreadsheet would begin a formula: at the start of a cell, and after characters at which
 * some of them divide cells whatever is quoted (a semicolon, where the decimal sign is a comma).
 * East Asian spreadsheets accept the full-width forms of the signs as well.
 */
const formulaStart = /^(?=[\t\r\n])|(?<=^|[;\t\r\n])(?=[=+\-@＝＋－＠])/g;

/** A formula becomes text; amounts and zone offsets are not formulas. */
function cellText(cell: Cell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const isNumber = /^-?\d+(\.\d+)?$|^[+-]\d\d:\d\d$/.test(cell);
  const text = isNumber ? cell : cell.replace(formulaStart, "'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
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
