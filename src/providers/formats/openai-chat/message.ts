import {
  jsonText,
  parse,
  type Raw,
  rawElements,
  rawMembers,
  rawText,
  isPresent,
  stringBytes,
  utf8,
} from '../../../base/json.ts';
import { StopText } from '../../conversation/stop-text.ts';
import type { ChatQuirks } from './quirks.ts';

/**
 * Splits text that begins with `<think>…</think>` into reasoning and answer, piece by piece. Pieces
 * are the insides of JSON strings as the vendor escaped them (`\n`, and `\u003c` for `<` from Go's
 * encoder), so that nothing is decoded and encoded again.
 */
interface ThinkState {
  stage: 'start' | 'inside' | 'outside';
  /** The possible beginning of a tag, held back until the next piece. */
  held: string;
  /** A tag has just ended: the line ends after it belong to it. */
  trim: boolean;
}

interface Split {
  readonly reasoning: string;
  readonly content: string;
}

const thinkState = (): ThinkState => ({ stage: 'start', held: '', trim: false });

/** Whether all further pieces are answer and need no change. */
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

/** Splits one piece. `last` releases the text that is held back. */
function splitThink(state: ThinkState, piece: string, last: boolean): Split {
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

/** The text without the white space after a tag, which may fill several pieces. */
function trimmed(state: ThinkState, text: string): string {
  if (!state.trim) return text;
  const bare = text.replace(space, '');
  if (bare !== '') state.trim = false;
  return bare;
}

/** The state of a choice. A whole answer begins and ends with a fresh one. */
export interface ChoiceState {
  roleGiven: boolean;
  finished: boolean;
  /** The tool calls by the client's index, with the vendor's index and id. */
  readonly calls: { readonly index: number; readonly id: string }[];
  readonly think: ThinkState;
  /** The text of cumulative reasoning details so far, as escaped. */
  details: string;
  /** Cuts the text at the client's stop texts that the vendor does not watch for. */
  readonly stop: StopText | undefined;
}

export const choiceState = (stops?: readonly string[]): ChoiceState => ({
  roleGiven: false,
  finished: false,
  calls: [],
  think: thinkState(),
  details: '',
  stop: stops && new StopText(stops),
});

/**
 * `whole`: the message is no delta. `last`: the choice ends with it. `newId` makes the id of a call
 * without one.
 */
export interface Normalising {
  readonly quirks: ChatQuirks;
  readonly newId: (n: number) => string;
  readonly whole: boolean;
  readonly last: boolean;
}

/** The inside of a JSON string's text; `''` for anything else. */
const inner = (text: string | undefined): string =>
  text !== undefined && text.charCodeAt(0) === 0x22 ? text.slice(1, -1) : '';

/**
 * Joins the parts with which Mistral's thinking models answer instead of a string
 * (docs.mistral.ai/capabilities/reasoning, 2026-06):
 * `[{type: "thinking", thinking: [{type: "text", text}]}, {type: "text", text}]`.
 */
function flattenParts(message: Raw): void {
  const content = message.get('content');
  if (content?.charCodeAt(0) !== 0x5b) return;
  let text = '';
  let reasoning = '';
  for (const element of rawElements(content)) {
    const part = rawMembers(element);
    text += inner(part.get('text'));
    const thinking = part.get('thinking');
    reasoning += inner(thinking);
    for (const piece of rawElements(thinking)) reasoning += inner(rawMembers(piece).get('text'));
  }
  message.set('content', `"${text}"`);
  if (reasoning) message.set('reasoning_content', `"${reasoning}"`);
}

/**
 * Gives reasoning text its one name. It comes as `reasoning` (Groq, Ollama, vLLM and OpenRouter),
 * as `reasoning_details` alone, or in tags inside the text.
 */
function nameReasoning(message: Raw, state: ChoiceState, quirks: ChatQuirks): void {
  const reasoning = message.get('reasoning');
  if (reasoning !== undefined) {
    message.delete('reasoning');
    if (reasoning.charCodeAt(0) === 0x22 && !isPresent(message.get('reasoning_content')))
      message.set('reasoning_content', reasoning);
  } else if (message.has('reasoning_details') && !isPresent(message.get('reasoning_content'))) {
    const text = detailsText(message, state, quirks);
    if (text) message.set('reasoning_content', `"${text}"`);
  }
}

function detailsText(message: Raw, state: ChoiceState, quirks: ChatQuirks): string {
  let text = '';
  for (const element of rawElements(message.get('reasoning_details'))) {
    const detail = rawMembers(element);
    text += inner(detail.get('text')) || inner(detail.get('summary'));
  }
  if (!quirks.cumulativeReasoning) return text;
  const news = text.startsWith(state.details) ? text.slice(state.details.length) : text;
  state.details = text.startsWith(state.details) ? text : state.details + text;
  return news;
}

function untagThinking(message: Raw, state: ChoiceState, last: boolean): void {
  const content = message.get('content');
  const waiting = last && state.think.held !== '';
  if (content?.charCodeAt(0) !== 0x22 && !waiting) return;
  const split = splitThink(state.think, inner(content), last);
  message.set('content', `"${split.content}"`);
  if (split.reasoning) message.set('reasoning_content', `"${split.reasoning}"`);
}

/** Cuts a message before the first of the client's stop texts. */
function cutAtStop(message: Raw, stop: StopText, last: boolean): void {
  const content = message.get('content');
  const text = parse(utf8(content ?? '""'));
  const before = stop.push(typeof text === 'string' ? text : '') + (last ? stop.end() : '');
  if (content?.charCodeAt(0) === 0x22 || before !== '') message.set('content', jsonText(before));
  // Calls after the stop text are dropped. The reasoning of a whole answer came before its text.
  if (stop.met) message.delete('tool_calls');
}

/**
 * The client's index of this call, and whether the call begins here: it does if a name comes with
 * an unknown index or another id.
 */
function place(call: Raw, state: ChoiceState, named: boolean): { index: number; fresh: boolean } {
  const vendorIndex = Number(call.get('index') ?? Number.NaN);
  const id = inner(call.get('id'));
  const begin = (index: number) => ({ index: state.calls.push({ index, id }) - 1, fresh: true });
  if (Number.isNaN(vendorIndex)) {
    const known = id ? state.calls.findIndex((c) => c.id === id) : state.calls.length - 1;
    return known >= 0 && (id || !named)
      ? { index: known, fresh: false }
      : begin(state.calls.length);
  }
  // The last match counts: some vendors give every parallel call index 0 and continue the newest
  // one.
  const known = state.calls.findLastIndex((c) => c.index === vendorIndex);
  const other = known >= 0 && named && id !== '' && state.calls[known]?.id !== id;
  return known >= 0 && !other ? { index: known, fresh: false } : begin(vendorIndex);
}

interface Normalised {
  readonly text: string;
  readonly bytes: number;
}

function normaliseCall(
  text: string,
  state: ChoiceState,
  { newId, whole }: Normalising,
): Normalised {
  const call = rawMembers(text);
  const fn = rawMembers(call.get('function') ?? '');
  const custom = call.get('custom');
  const { index, fresh } = whole
    ? { index: state.calls.push({ index: 0, id: inner(call.get('id')) }) - 1, fresh: true }
    : place(call, state, isPresent(fn.get('name')) || custom !== undefined);
  const args = fn.get('arguments');
  if (args !== undefined && args.charCodeAt(0) !== 0x22)
    fn.set('arguments', args === 'null' ? '""' : JSON.stringify(args));
  if (whole) call.delete('index');
  else call.set('index', String(index));
  // A delta has id, type and name once per call
  // (developers.openai.com/api/reference/chat-completions, 2026-08).
  if (fresh) {
    const repeated = state.calls.some(
      (other, i) => i < index && other.id === state.calls[index]?.id,
    );
    if (!isPresent(call.get('id')) || repeated) call.set('id', JSON.stringify(newId(index)));
    if (!isPresent(call.get('type')))
      call.set('type', custom === undefined ? '"function"' : '"custom"');
    if (fn.size && args === undefined) fn.set('arguments', '""');
  } else {
    call.delete('id');
    call.delete('type');
    fn.delete('name');
  }
  if (fn.size) call.set('function', rawText(fn));
  else if (!fresh) call.delete('function');
  const argumentsJson =
    custom === undefined ? fn.get('arguments') : rawMembers(custom).get('input');
  return {
    text: rawText(call),
    bytes:
      isPresent(argumentsJson) && argumentsJson.charCodeAt(0) === 0x22
        ? stringBytes(argumentsJson)
        : 0,
  };
}

/**
 * Turns a vendor's message or delta into OpenAI's format, in place. Returns the bytes of text,
 * reasoning and arguments in it.
 */
export function normaliseMessage(
  message: Raw,
  state: ChoiceState,
  normalising: Normalising,
): number {
  const { quirks, whole, last } = normalising;
  flattenParts(message);
  if (quirks.thinkTags && !settled(state.think)) untagThinking(message, state, last);
  nameReasoning(message, state, quirks);
  if (state.stop) cutAtStop(message, state.stop, last);
  let bytes = 0;
  for (const name of ['content', 'reasoning_content', 'refusal']) {
    const text = message.get(name);
    if (isPresent(text) && text.charCodeAt(0) === 0x22) bytes += stringBytes(text);
  }
  const calls = message.get('tool_calls');
  if (calls !== undefined) {
    const normalised = rawElements(calls).map((call) => normaliseCall(call, state, normalising));
    if (normalised.length)
      message.set('tool_calls', `[${normalised.map((call) => call.text).join(',')}]`);
    else message.delete('tool_calls');
    for (const call of normalised) bytes += call.bytes;
  }
  if (whole || !state.roleGiven) message.set('role', '"assistant"');
  else message.delete('role');
  state.roleGiven = true;
  if (whole && !message.has('content')) message.set('content', 'null');
  return bytes;
}

/**
 * Vendors' finish reasons and OpenAI's; `error` stands for a fault. Collected from the vendors'
 * references and recorded traffic, 2026-11.
 */
const reasons: Readonly<Record<string, string>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
  function_call: 'function_call',
  end_turn: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  complete: 'stop',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  insufficient_system_resource: 'length',
  tool_use: 'tool_calls',
  tool_call: 'tool_calls',
  sensitive: 'content_filter',
  safety: 'content_filter',
  recitation: 'content_filter',
  refusal: 'content_filter',
  error: 'error',
  abort: 'error',
  network_error: 'error',
};

/**
 * OpenAI's finish reason for the vendor's, `error` for a failure, undefined while there is none.
 */
export function finishReason(text: string | undefined): string | undefined {
  if (!isPresent(text)) return undefined;
  const word = text.slice(1, -1).toLowerCase();
  return reasons[word] ?? 'stop';
}
