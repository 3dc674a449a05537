import { elements, type Member, members, stringEnd } from '../../base/json-edit.ts';
import { stringBytes } from './json.ts';

/**
 * The fast path of a stream. Almost all events of a stream differ in one short string alone. A
 * template is one event with holes where those strings are, and the client's event with the same
 * holes: matching is a comparison of constant bytes, and writing a join of constants and holes. It
 * is learned from what the slow path did with a marked copy of the event.
 */
export interface Template {
  /**
   * Constant bytes around the holes, of the vendor's event with its `data: ` and its end. One more
   * than there are holes.
   */
  readonly parts: readonly string[];
  /** Whether a hole's text is output that counts. */
  readonly counted: readonly boolean[];
  /** The client's event: constants and numbers of holes, in turn. */
  readonly out: readonly (string | number)[];
}

/** A string value inside an event: between its quotes. */
interface Hole {
  readonly start: number;
  readonly end: number;
  readonly counted: boolean;
}

const named = (found: readonly Member[], name: string): Member | undefined =>
  found.findLast((member) => member.name === name);

function inObject(text: string, at: number | undefined): readonly Member[] {
  return at !== undefined && text.charCodeAt(at) === 0x7b ? members(text, at) : [];
}

function firstElement(text: string, at: number | undefined): number | undefined {
  if (at === undefined || text.charCodeAt(at) !== 0x5b) return undefined;
  const all = elements(text, at);
  return all.length === 1 ? all[0]?.value : undefined;
}

/**
 * The strings that vary from event to event, in the order of the text. Undefined when the event is
 * not one plain delta.
 */
function holesOf(text: string, at: number): Hole[] | undefined {
  const top = inObject(text, at);
  const choice = inObject(text, firstElement(text, named(top, 'choices')?.value));
  const delta = inObject(text, named(choice, 'delta')?.value);
  const call = inObject(text, firstElement(text, named(delta, 'tool_calls')?.value));
  const detail = inObject(text, firstElement(text, named(delta, 'reasoning_details')?.value));
  const reasoning = named(delta, 'reasoning') ?? named(delta, 'reasoning_content');
  const places: [Member | undefined, boolean][] = [
    [named(delta, 'content'), true],
    [named(delta, 'reasoning'), true],
    [named(delta, 'reasoning_content'), true],
    [named(inObject(text, named(call, 'function')?.value), 'arguments'), true],
    [named(detail, 'text'), reasoning === undefined],
    [named(top, 'obfuscation'), false],
    [named(top, 'p'), false],
  ];
  const holes: Hole[] = [];
  for (const [member, counted] of places) {
    if (member && text.charCodeAt(member.value) === 0x22)
      holes.push({ start: member.value + 1, end: member.end - 1, counted });
  }
  return holes.some((hole) => hole.counted) ? holes.sort((a, b) => a.start - b.start) : undefined;
}

const mark = '\u0001';

/**
 * Learns from an event that changed nothing but text. `rewrite` is the slow path, which must not
 * change its state for such an event.
 */
export function learn(event: string, rewrite: (json: string) => string): Template | undefined {
  if (!event.startsWith('data:')) return undefined;
  const at = event.indexOf('{');
  const end = event.lastIndexOf('}') + 1;
  const holes = holesOf(event, at);
  if (!holes) return undefined;
  const parts: string[] = [];
  let marked = '';
  let from = 0;
  holes.forEach((hole, i) => {
    const part = event.slice(from, hole.start);
    parts.push(part);
    marked += `${part}${mark}${i}${mark}`;
    from = hole.end;
  });
  parts.push(event.slice(from));
  const text = rewrite(`${marked}${event.slice(from)}`.slice(at, marked.length + end - from));
  if (!text.includes(mark)) return undefined;
  const out = `data: ${text}\n\n`
    .split(mark)
    .map((piece, i) => (i % 2 ? Number(piece) : own(piece)));
  return { parts: parts.map(own), counted: holes.map((hole) => hole.counted), out };
}

/** A copy of its own: a slice would keep the whole piece of the stream that it was cut from. */
const own = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');

/**
 * The quote that ends the string whose inside begins at `at`, or -1 when it is not in `text`. Short
 * strings: faster than `indexOf`.
 */
function closingQuote(text: string, at: number): number {
  const near = Math.min(text.length, at + 256);
  for (let i = at; i < near; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) return i;
    if (c === 0x5c) i++;
  }
  if (near === text.length) return -1;
  try {
    return stringEnd(text, at - 1) - 1;
  } catch {
    return -1;
  }
}

/**
 * The client's event for the vendor's event at `at`, when it is this template's. One object is
 * filled again and again: nothing is allocated but the text.
 */
export class Match {
  /** The index after the event. */
  next = 0;
  bytes = 0;
  text = '';
  readonly #holes: string[] = [];

  take(text: string, at: number, template: Template): boolean {
    const { parts, counted } = template;
    const holes = this.#holes;
    let i = at;
    let bytes = 0;
    for (let n = 0; ; n++) {
      const part = parts[n] ?? '';
      const from = i;
      i += part.length;
      // A slice is no copy, and `===` compares words: three times faster than `startsWith`.
      if (text.slice(from, i) !== part) return false;
      if (n === counted.length) break;
      const end = closingQuote(text, i);
      if (end < 0) return false;
      const hole = text.slice(i, end);
      holes[n] = hole;
      if (counted[n]) bytes += hole.includes('\\') ? stringBytes(`"${hole}"`) : hole.length;
      i = end;
    }
    this.next = i;
    this.bytes = bytes;
    this.text = fill(template.out, holes);
    return true;
  }
}

function fill(out: readonly (string | number)[], holes: readonly string[]): string {
  let text = '';
  for (const piece of out) text += typeof piece === 'string' ? piece : (holes[piece] ?? '');
  return text;
}
