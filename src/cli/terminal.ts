import { stripVTControlCharacters } from 'node:util';
import type { Env } from '../base/env.ts';
import { toPlainText } from '../base/plain-text.ts';

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
type Style = keyof typeof codes;

/** Text for a terminal; `forStream` takes the style away where nobody would see it. */
export function paint(style: Style, text: string): string {
  const [on, off] = codes[style];
  return text === '' ? '' : `\u001b[${on}m${text}\u001b[${off}m`;
}

/** A stream that may be a terminal. */
export interface OutputStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** FORCE_COLOR decides where it is set; otherwise terminals have colour unless NO_COLOR is set. */
export function showsColour({ isTTY }: Pick<OutputStream, 'isTTY'>, env: Env): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  return isTTY === true && env['NO_COLOR'] === undefined && env['TERM'] !== 'dumb';
}

/** The text with its styles, or without them. */
export const forStream = (text: string, stream: OutputStream, env: Env = process.env): string =>
  showsColour(stream, env) ? text : stripVTControlCharacters(text);

const good: ReadonlySet<string> = new Set([
  'active',
  'healthy',
  'ok',
  'credited',
  'running',
  'answered',
  'sold',
]);
const middling = new Set([
  'degraded',
  'cooling',
  'draining',
  'drained',
  'waiting',
  'scanned',
  'expired',
  'closed',
  'left',
  'length',
  'no node',
]);

/** Nothing is known of it yet. */
const neutral: ReadonlySet<string> = new Set(['untried']);

/** Whether a state calls for somebody to look at it. */
export const isTrouble = (state: string): boolean => !good.has(state) && !neutral.has(state);

/**
 * A state is green, yellow or red, or unpainted while nothing is known of it. A status is a state by
 * its first digit.
 */
export function paintState(state: string): string {
  const word = state.trim();
  if (word === '' || neutral.has(word)) return state;
  if (good.has(word) || /^[123]\d\d$/.test(word)) return paint('green', state);
  return paint(middling.has(word) || /^4\d\d$/.test(word) ? 'yellow' : 'red', state);
}

export const paintMoney = (amount: string): string => paint('cyan', amount);

const names = new Set(['name', 'model', 'channel', 'user']);
const states = new Set(['state', 'status', 'outcome']);
const money = new Set(['balance', 'yuan', 'amount']);
const figures = new Set(['requests', 'share', 'errors', 'ms', 'yuan', 'amount', 'running']);

/** A column's style follows from its head. */
function paintCell(head: string, cell: string): string {
  if (names.has(head)) return paint('bold', cell);
  if (states.has(head)) return paintState(cell);
  return money.has(head) ? paintMoney(cell) : cell;
}

const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/;

/** The columns of a terminal that a text takes: an East Asian character takes two. */
export const widthOf = (text: string): number =>
  [...text].reduce((width, character) => width + (wide.test(character) ? 2 : 1), 0);

/**
 * A table for people: columns as wide as their widest cell, figures to the right. Cells may hold
 * what strangers wrote.
 */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const cells = rows.map((row) => row.map(toPlainText));
  const widths = heads.map((head, i) =>
    Math.max(widthOf(head), ...cells.map((row) => widthOf(row[i] ?? ''))),
  );
  const line = (row: readonly string[], look: (head: string, cell: string) => string): string =>
    row
      .map((cell, i) => {
        const head = heads[i] ?? '';
        const space = ' '.repeat((widths[i] ?? 0) - widthOf(cell));
        if (figures.has(head)) return space + look(head, cell);
        return look(head, cell) + (i === row.length - 1 ? '' : space);
      })
      .join('  ')
      .trimEnd();
  return [
    line(heads, (_, head) => paint('dim', head)),
    ...cells.map((row) => line(row, paintCell)),
  ];
}
