/**
 * Splits text that begins with `<think>…</think>` into reasoning and answer, piece by piece. Pieces are the insides of JSON
 * strings as the vendor escaped them (`\n`, and `\u003c` for `<` from Go's encoder), so that nothing is decoded and encoded again.
 */
export interface ThinkState {
  stage: 'start' | 'inside' | 'outside';
  /** What may be the beginning of a tag and waits for the next piece. */
  held: string;
}

export interface Split {
  readonly reasoning: string;
  readonly content: string;
}

export const thinkState = (): ThinkState => ({ stage: 'start', held: '' });

const opening = /^(?: |\\n|\\r|\\t)*(?:<|\\u003[cC])think(?:>|\\u003[eE])(?:\\n)*/;
const closing = /(?:<|\\u003[cC])\/think(?:>|\\u003[eE])(?: |\\n)*/;
const openings = ['<think>', '\\u003cthink\\u003e', '\\u003Cthink\\u003E'];
const closings = ['</think>', '\\u003c/think\\u003e', '\\u003C/think\\u003E'];

/** How many of the last characters could be the beginning of one of the tags. */
function tail(text: string, tags: readonly string[]): number {
  let longest = 0;
  for (const tag of tags) {
    for (let n = Math.min(tag.length - 1, text.length); n > longest; n--) if (text.endsWith(tag.slice(0, n))) longest = n;
  }
  return longest;
}

/** Feeds one piece. `last` releases what is held. */
export function splitThink(state: ThinkState, piece: string, last: boolean): Split {
  const text = state.held + piece;
  state.held = '';
  if (state.stage === 'outside') return { reasoning: '', content: text };
  if (state.stage === 'start') {
    const match = opening.exec(text);
    if (!match) {
      const bare = text.replace(/^(?: |\\n|\\r|\\t)+/, '');
      if (!last && openings.some((tag) => tag.startsWith(bare))) {
        state.held = text;
        return { reasoning: '', content: '' };
      }
      state.stage = 'outside';
      return { reasoning: '', content: text };
    }
    state.stage = 'inside';
    return inside(state, text.slice(match[0].length), last);
  }
  return inside(state, text, last);
}

function inside(state: ThinkState, text: string, last: boolean): Split {
  const match = closing.exec(text);
  if (match) {
    state.stage = 'outside';
    return { reasoning: text.slice(0, match.index), content: text.slice(match.index + match[0].length) };
  }
  const keep = last ? 0 : tail(text, closings);
  state.held = text.slice(text.length - keep);
  return { reasoning: text.slice(0, text.length - keep), content: '' };
}
