import { formatYuan, type Nano } from '../base/money.ts';
import type { Instant, Yuan } from './contract.ts';

/** Money as the contract has it: always nine decimals. */
export function yuan(amount: Nano): Yuan {
  const [whole = '0', fraction = ''] = formatYuan(amount).split('.');
  return `${whole}.${fraction.padEnd(9, '0')}`;
}

/** The inverse of `yuan`. */
export const nanoOf = (amount: Yuan): Nano => BigInt(amount.replace('.', ''));

export const instant = (at: number): Instant => new Date(at).toISOString();

export const instantOrNull = (at: number | undefined): Instant | null =>
  at === undefined ? null : instant(at);

export const yuanOrNull = (amount: Nano | undefined): Yuan | null =>
  amount === undefined ? null : yuan(amount);

/** A part of a whole, 0 to 1; null when the whole is nothing. */
export const ratioOf = (part: bigint, whole: bigint): number | null =>
  whole === 0n ? null : Number((part * 1_000_000n) / whole) / 1_000_000;

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
