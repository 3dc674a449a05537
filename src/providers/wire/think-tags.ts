/**
 * Splits text that begins with `<think>…</think>` into reasoning and answer, piece by piece. Pieces
 * are the insides of JSON strings as the vendor escaped them (`\n`, and `\u003c` for `<` from Go's
 * encoder), so that nothing is decoded and encoded again.
 */
export interface ThinkState {
  stage: 'start' | 'inside' | 'outside';
  /** What may be the beginning of a tag and waits for the next piece. */
  held: string;
  /** A tag has just ended: the line ends after it belong to it. */
  trim: boolean;
}

export interface Split {
  readonly reasoning: string;
  readonly content: string;
}

export const thinkState = (): ThinkState => ({ stage: 'start', held: '', trim: false });

/** Whether every piece from now on is answer, untouched. */
export const settled = (state: ThinkState): boolean => state.stage === 'outside' && !state.trim;

const space = /^(?: |\\n|\\r|\\t)+/;
const opening = /^(?:<|\\u003[cC])think(?:>|\\u003[eE])/;
const closing = /(?:<|\\u003[cC])\/think(?:>|\\u003[eE])/;
const openings = ['<think>', '\\u003cthink\\u003e', '\\u003Cthink\\u003E'];
const closings = ['</think>', '\\u003c/think\\u003e', '\\u003C/think\\u003E'];

/** How many of the last characters could be the beginning of one of the tags. */
function tail(text: string, tags: readonly string[]): number {
  let longest = 0;
  for (const tag of tags) {
    for (let n = Math.min(tag.length - 1, text.length); n > longest; n--)
      if (text.endsWith(tag.slice(0, n))) longest = n;
  }
  return longest;
}

/** Feeds one piece. `last` releases what is held. */
export function splitThink(state: ThinkState, piece: string, last: boolean): Split {
  const text = state.held + piece;
  state.held = '';
  if (state.stage === 'start') return begin(state, text, last);
  return state.stage === 'inside'
    ? inside(state, text, last)
    : { reasoning: '', content: trimmed(state, text) };
}

function begin(state: ThinkState, text: string, last: boolean): Split {
  const bare = text.replace(space, '');
  const match = opening.exec(bare);
  if (match) {
    state.stage = 'inside';
    state.trim = true;
    return inside(state, bare.slice(match[0].length), last);
  }
  if (!last && openings.some((tag) => tag.startsWith(bare))) {
    state.held = text;
    return { reasoning: '', content: '' };
  }
  state.stage = 'outside';
  return { reasoning: '', content: text };
}

function inside(state: ThinkState, text: string, last: boolean): Split {
  const match = closing.exec(text);
  if (match) {
    const reasoning = trimmed(state, text.slice(0, match.index));
    state.stage = 'outside';
    state.trim = true;
    return { reasoning, content: trimmed(state, text.slice(match.index + match[0].length)) };
  }
  const keep = last ? 0 : tail(text, closings);
  state.held = text.slice(text.length - keep);
  return { reasoning: trimmed(state, text.slice(0, text.length - keep)), content: '' };
}

/** Without the white space that follows a tag, which may fill pieces of its own. */
function trimmed(state: ThinkState, text: string): string {
  if (!state.trim) return text;
  const bare = text.replace(space, '');
  if (bare !== '') state.trim = false;
  return bare;
}
