import createMarkdown, { type Env, type Token } from 'markdown-it';
import { withFormulas } from './formula.ts';

/** A part of a text: what it is, and what is in it. */
export interface Node {
  readonly type: string;
  readonly token: Token;
  readonly children: readonly Node[];
}

/** A part at the top of a text, with the lines that it was read from. */
export interface Block {
  readonly node: Node;
  readonly source: string;
}

/** What is longer stays plain behind this many characters. */
export const lettersMax = 100_000;
const nestingMax = 40;
const partsMax = 20_000;
/** Each takes a while to draw: the others stay text. */
const formulasMax = 200;

/** No HTML: what looks like it is text. */
const markdown = createMarkdown({ html: false, linkify: true, maxNesting: nestingMax });
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
withFormulas(markdown);

/**
 * Reads Markdown. Undefined: it is nested so deep, or has so many parts, that it can only be shown
 * as the text that it is.
 */
export function parse(text: string): readonly Block[] | undefined {
  const env: Env = {};
  const tokens = markdown.parse(text, env);
  if (tokens.length > partsMax) return undefined;
  const all = tokens.flatMap((token) => [token, ...(token.children ?? [])]);
  if (all.length > partsMax || all.some(({ level }) => level >= nestingMax - 1)) return undefined;
  for (const token of all.filter(({ type }) => type === 'formula').slice(formulasMax))
    token.hidden = true;
  const lines = text.split('\n');
  // Links that a later line names change what stands before it.
  const named = Object.keys(env.references ?? {}).join(' ');
  return treeOf(tokens).map((node) => {
    const [from, to] = node.token.map ?? [0, 0];
    return { node, source: `${lines.slice(from, to).join('\n')}\n${named}` };
  });
}

interface Growing extends Node {
  readonly children: Growing[];
}

/** The list of openings and closings as a tree. */
function treeOf(tokens: readonly Token[]): readonly Node[] {
  const top: Growing[] = [];
  const open: Growing[][] = [top];
  const add = (all: readonly Token[]) => {
    for (const token of all) {
      if (token.type === 'inline') add(token.children ?? []);
      else if (token.nesting === -1) open.pop();
      else {
        const children: Growing[] = [];
        open.at(-1)?.push({ type: token.type.replace(/_open$/, ''), token, children });
        if (token.nesting === 1) open.push(children);
      }
    }
  };
  add(tokens);
  return top;
}

/** An address that a link may open: another page of the web, or a mail. */
export function safeAddress(address: string | number | null): string | undefined {
  if (typeof address !== 'string' || !URL.canParse(address)) return undefined;
  const { protocol, href } = new URL(address);
  return ['https:', 'http:', 'mailto:'].includes(protocol) ? href : undefined;
}

/**
 * Code with the marks shown that turn the direction of what follows them, or that nobody sees: what
 * a reader checks is what runs.
 */
export function revealed(code: string): string {
  return code.replace(
    /[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/g,
    (mark) => `[U+${mark.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
  );
}
