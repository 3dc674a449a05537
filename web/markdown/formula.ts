import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it';

/** A longer formula stays text: nobody reads it, and drawing it takes long. */
export const formulaLettersMax = 4_000;

interface Found {
  readonly tex: string;
  readonly display: boolean;
  readonly end: number;
}

/**
 * The formula that begins at `at`: `$…$`, `$$…$$`, `\(…\)` or `\[…\]`. A dollar sign is money,
 * unless what follows it is no space, and its partner follows no space and precedes no digit.
 */
export function formulaAt(text: string, at: number): Found | undefined {
  const fence = openings.find(([open]) => text.startsWith(open, at));
  if (fence === undefined) return undefined;
  const [open, close, display] = fence;
  const begin = at + open.length;
  const length =
    open === '$'
      ? dollarIn(text.slice(begin, begin + formulaLettersMax))
      : nextOf(text, close, begin) - begin;
  const tex = text.slice(begin, begin + length);
  if (length <= 0 || length > formulaLettersMax || tex.trim() === '') return undefined;
  return { tex: tex.trim(), display, end: begin + length + close.length };
}

const openings = [
  ['$$', '$$', true],
  ['\\[', '\\]', true],
  ['\\(', '\\)', false],
  ['$', '$', false],
] as const;

const last = new Map<
  string,
  { readonly text: string; readonly from: number; readonly at: number }
>();

/**
 * Where the next `close` stands; -1: nowhere. The last search is remembered: a text with many
 * openings and no closing is searched once.
 */
function nextOf(text: string, close: string, from: number): number {
  const before = last.get(close);
  if (before?.text === text && before.from <= from && (before.at === -1 || before.at >= from))
    return before.at;
  const at = text.indexOf(close, from);
  last.set(close, { text, from, at });
  return at;
}

/** Where the closing dollar sign stands; -1: there is none. */
function dollarIn(text: string): number {
  if (/^\s/.test(text)) return -1;
  const at = /(?<!\\)\$/.exec(text)?.index ?? -1;
  return at > 0 && !/\s/.test(text[at - 1] ?? '') && !/\d/.test(text[at + 1] ?? '') ? at : -1;
}

/** Reads formulas: a block where one stands alone, else part of the line. */
export function withFormulas(markdown: MarkdownIt): void {
  markdown.inline.ruler.before('escape', 'formula', inline);
  markdown.block.ruler.before('fence', 'formula', block, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  });
}

function inline(state: StateInline, silent: boolean): boolean {
  const found = formulaAt(state.src, state.pos);
  if (found === undefined) return false;
  if (!silent) {
    const token = state.push('formula', 'math', 0);
    token.content = found.tex;
    token.markup = found.display ? 'display' : '';
  }
  state.pos = found.end;
  return true;
}

function block(state: StateBlock, start: number, end: number, silent: boolean): boolean {
  const at = (state.bMarks[start] ?? 0) + (state.tShift[start] ?? 0);
  if (!/^(?:\$\$|\\\[)/.test(state.src.slice(at, at + 2))) return false;
  if ((state.sCount[start] ?? 0) - state.blkIndent >= 4) return false;
  const found = formulaAt(state.src, at);
  if (found === undefined) return false;
  let last = start;
  while (last < end && (state.eMarks[last] ?? 0) < found.end) last++;
  if (last >= end || state.src.slice(found.end, state.eMarks[last]).trim() !== '') return false;
  if (silent) return true;
  const token = state.push('formula', 'math', 0);
  token.block = true;
  token.content = found.tex;
  token.markup = 'display';
  token.map = [start, last + 1];
  state.line = last + 1;
  return true;
}
