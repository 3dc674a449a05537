import type { Skeleton } from './long-strings.ts';
import { memoize } from './memoize.ts';

/*
 * Edits JSON text by spans and never re-encodes what it does not change, so `12345678901234567890`,
 * `1.0`, key order and white space survive. Text is a `latin1` string: one character a byte, so
 * that offsets are byte offsets and UTF-8 passes untouched. The text must be JSON (the caller has
 * parsed it); on other text the functions end and throw `JsonSyntaxError` or return a useless
 * result, no worse.
 */

export class JsonSyntaxError extends Error {}

/** The position of an object's member: `"key"` begins at `start`, its value is `[value, end)`. */
export interface JsonMember {
  readonly name: string;
  readonly start: number;
  readonly value: number;
  readonly end: number;
}

export interface JsonSpan {
  readonly value: number;
  readonly end: number;
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * The JSON text of a value as `latin1`: the form that `editJson` takes. `undefined` is a mistake of
 * the caller.
 */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  // Only text beyond ASCII has another encoding than itself.
  return /[^\0-\x7f]/.test(text) ? latin1Of(text) : text;
}

/** `jsonText` of a name of the catalog, cached because names recur in every request. */
export const nameJson: (name: string) => string = memoize(jsonText);

/** The index after white space. */
function blank(text: string, at: number): number {
  for (let i = at; ; i++) {
    const c = text.charCodeAt(i);
    if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return i;
  }
}

/**
 * The index after the string that begins at `at`. Long strings (images) are crossed by `indexOf`,
 * which reads many bytes at once.
 */
export function stringEnd(text: string, at: number): number {
  let i = at + 1;
  for (;;) {
    const end = text.indexOf('"', i);
    if (end < 0) throw new JsonSyntaxError('a string does not end');
    let run = end - 1;
    while (text.charCodeAt(run) === backslash) run--;
    if ((end - run) % 2 === 1) return end + 1;
    i = end + 1;
  }
}

/**
 * The characters of an array of numbers. One match crosses a vector four times as fast as a loop
 * over its characters.
 */
const numbers = /[-+.\deE,\s]*/y;

function numbersEnd(text: string, at: number): number {
  numbers.lastIndex = at;
  numbers.test(text);
  return numbers.lastIndex;
}

/** The index after the value that begins at `at`; nested values are skipped by depth alone. */
function valueEnd(text: string, at: number): number {
  const first = text.charCodeAt(at);
  if (first === quote) return stringEnd(text, at);
  if (first !== 0x7b && first !== 0x5b) return scalarEnd(text, at);
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === quote) i = stringEnd(text, i) - 1;
    else if (c === 0x7b) depth++;
    else if (c === 0x5b) {
      depth++;
      i = numbersEnd(text, i + 1) - 1;
    } else if ((c === 0x7d || c === 0x5d) && --depth === 0) return i + 1;
  }
  throw new JsonSyntaxError('an object or array does not end');
}

function scalarEnd(text: string, at: number): number {
  let i = at;
  for (; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (
      c === 0x2c ||
      c === 0x7d ||
      c === 0x5d ||
      c === 0x20 ||
      c === 0x0a ||
      c === 0x0d ||
      c === 0x09
    )
      break;
  }
  if (i === at) throw new JsonSyntaxError('a value is missing');
  return i;
}

function nameAt(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  if (!/[\\\x80-\xff]/.test(raw)) return raw;
  const name: unknown = JSON.parse(Buffer.from(text.slice(start, end), 'latin1').toString('utf8'));
  return String(name);
}

/** Steps from a value's end to the next value's start, or `undefined` at the closing bracket. */
function next(text: string, at: number, close: number): number | undefined {
  const i = blank(text, at);
  const c = text.charCodeAt(i);
  if (c === close) return undefined;
  if (c !== 0x2c) throw new JsonSyntaxError('a comma or a closing bracket is missing');
  return blank(text, i + 1);
}

/**
 * The members of the object that begins at `at`, in order, duplicates included. Names are decoded.
 */
export function jsonMembers(text: string, at: number): JsonMember[] {
  const found: JsonMember[] = [];
  let start: number | undefined = blank(text, at + 1);
  if (text.charCodeAt(start) === 0x7d) return found;
  while (start !== undefined) {
    if (text.charCodeAt(start) !== quote) throw new JsonSyntaxError('a member name is missing');
    const nameEnd = stringEnd(text, start);
    const colon = blank(text, nameEnd);
    if (text.charCodeAt(colon) !== 0x3a) throw new JsonSyntaxError('a colon is missing');
    const value = blank(text, colon + 1);
    const end = valueEnd(text, value);
    found.push({ name: nameAt(text, start, nameEnd), start, value, end });
    start = next(text, end, 0x7d);
  }
  return found;
}

/** The elements of the array that begins at `at`. */
export function jsonElements(text: string, at: number): JsonSpan[] {
  const found: JsonSpan[] = [];
  let value: number | undefined = blank(text, at + 1);
  if (text.charCodeAt(value) === 0x5d) return found;
  while (value !== undefined) {
    const end = valueEnd(text, value);
    found.push({ value, end });
    value = next(text, end, 0x5d);
  }
  return found;
}

export type JsonPath = readonly (string | number)[];

/**
 * One change: `json` sets the member or element at `path` (absent members are inserted, absent
 * elements are not), `undefined` removes it, `name` renames it. `before` and `after` are new
 * elements beside the one at `path`, which stays.
 */
export interface JsonChange {
  readonly path: JsonPath;
  readonly json?: string | undefined;
  readonly name?: string;
  readonly before?: string;
  readonly after?: string;
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The changes below one value, by their next step. */
type Branch = Map<string | number, { change?: JsonChange; below: Branch }>;

function plan(changes: readonly JsonChange[]): Branch {
  const root: Branch = new Map();
  for (const change of changes) {
    let branch = root;
    for (let i = 0; i < change.path.length; i++) {
      const step = change.path[i] ?? '';
      let node = branch.get(step);
      if (!node) branch.set(step, (node = { below: new Map() }));
      if (i === change.path.length - 1) node.change = change;
      branch = node.below;
    }
  }
  return root;
}

const isRemoval = ({ json, name, before, after }: JsonChange): boolean =>
  json === undefined && name === undefined && before === undefined && after === undefined;

/**
 * JSON text of an object that holds what a branch would insert, or undefined when it would insert
 * nothing.
 */
function fresh(branch: Branch): string | undefined {
  const parts: string[] = [];
  for (const [step, node] of branch) {
    const inner = node.change ? node.change.json : fresh(node.below);
    if (typeof step === 'string' && inner !== undefined) parts.push(`${jsonText(step)}:${inner}`);
  }
  return parts.length ? `{${parts.join(',')}}` : undefined;
}

function cut(
  found: readonly Pick<JsonMember, 'start' | 'end'>[],
  removed: readonly boolean[],
  splices: Splice[],
): void {
  let kept = -1;
  for (let i = 0; i < found.length; i++) if (!removed[i]) kept = i;
  for (let i = 0; i < found.length; i++) {
    const member = found[i];
    const following = found[i + 1];
    if (!removed[i] || !member) continue;
    // A member goes with the comma after it; those behind the last kept one go with the comma
    // before them.
    if (i < kept && following)
      splices.push({ start: member.start, end: following.start, text: '' });
    else
      splices.push({
        start: i === 0 ? member.start : (found[i - 1]?.end ?? member.start),
        end: member.end,
        text: '',
      });
  }
}

function editObject(text: string, at: number, branch: Branch, splices: Splice[]): void {
  const found = jsonMembers(text, at);
  const removed = found.map((member) => {
    const change = branch.get(member.name)?.change;
    return change !== undefined && isRemoval(change);
  });
  cut(found, removed, splices);
  const missing: Branch = new Map(branch);
  found.forEach((member, i) => {
    const node = branch.get(member.name);
    missing.delete(member.name);
    if (!node || removed[i]) return;
    if (node.change?.name !== undefined)
      splices.push({
        start: member.start,
        end: stringEnd(text, member.start),
        text: jsonText(node.change.name),
      });
    editValue(text, member, node, splices);
  });
  const inserted = fresh(missing)?.slice(1, -1);
  if (inserted === undefined) return;
  const last = found.at(-1);
  const hasKept = removed.includes(false);
  splices.push({
    start: last?.end ?? at + 1,
    end: last?.end ?? at + 1,
    text: hasKept ? `,${inserted}` : inserted,
  });
}

function editValue(
  text: string,
  span: JsonSpan,
  node: { change?: JsonChange; below: Branch },
  splices: Splice[],
): void {
  if (node.change?.before !== undefined)
    splices.push({ start: span.value, end: span.value, text: `${node.change.before},` });
  if (node.change?.json !== undefined)
    splices.push({ start: span.value, end: span.end, text: node.change.json });
  else if (node.below.size) descend(text, span, node.below, splices);
  if (node.change?.after !== undefined)
    splices.push({ start: span.end, end: span.end, text: `,${node.change.after}` });
}

function descend(text: string, span: JsonSpan, branch: Branch, splices: Splice[]): void {
  const first = text.charCodeAt(span.value);
  if (first === 0x7b) return editObject(text, span.value, branch, splices);
  if (first === 0x5b) {
    const found = jsonElements(text, span.value);
    const removed = found.map((_, i) => {
      const change = branch.get(i)?.change;
      return change !== undefined && isRemoval(change);
    });
    if (removed.includes(true))
      cut(
        found.map(({ value, end }) => ({ start: value, end })),
        removed,
        splices,
      );
    found.forEach((element, i) => {
      const node = branch.get(i);
      if (node && !removed[i]) editValue(text, element, node, splices);
    });
    return;
  }
  // A parent that is no object (`"stream_options": null`) becomes one when something must go into
  // it.
  const instead = fresh(branch);
  if (instead !== undefined) splices.push({ start: span.value, end: span.end, text: instead });
}

function splicesOf(text: string, changes: readonly JsonChange[]): Splice[] {
  const splices: Splice[] = [];
  const value = blank(text, 0);
  if (changes.length) descend(text, { value, end: text.length }, plan(changes), splices);
  return splices.sort((a, b) => a.start - b.start || a.end - b.end);
}

/**
 * Applies the changes to every occurrence of their paths (a duplicate key is changed twice) and
 * keeps each other byte. Paths must not lie below one another.
 */
export function editJson(text: string, changes: readonly JsonChange[]): string {
  let result = '';
  let at = 0;
  for (const splice of splicesOf(text, changes)) {
    result += text.slice(at, splice.start) + splice.text;
    at = splice.end;
  }
  return result + text.slice(at);
}

/** `editJson` on UTF-8 bytes: one copy of the body, whatever its size. */
export function editJsonBytes(
  bytes: Buffer,
  changes: readonly JsonChange[],
  skeleton?: Skeleton,
): Buffer {
  const pieces = editJsonPieces(bytes, changes, skeleton);
  return pieces.length === 1 ? (pieces[0] ?? bytes) : Buffer.concat(pieces);
}

/**
 * As `editJsonBytes`, without a copy: returns parts of the body and the new text between them. With
 * the skeleton of `bytes`, their long strings are not read; that of other bytes is ignored.
 */
export function editJsonPieces(
  bytes: Buffer,
  changes: readonly JsonChange[],
  known?: Skeleton,
): Buffer[] {
  const skeleton = known?.json === bytes ? known : undefined;
  const splices = splicesOf((skeleton?.bytes ?? bytes).toString('latin1'), changes);
  const pieces: Buffer[] = [];
  let at = 0;
  for (const { start, end, text } of splices) {
    pieces.push(bytes.subarray(at, skeleton?.whole(start) ?? start), Buffer.from(text, 'latin1'));
    at = skeleton?.whole(end) ?? end;
  }
  pieces.push(at === 0 ? bytes : bytes.subarray(at));
  return pieces;
}

/**
 * The place of a member at the top of a JSON object whose value is the string `value`, when it is
 * certain without reading the rest: the name stands once in the text, and no letter is written as
 * an escape. The caller has parsed the text and seen the member there. Undefined otherwise.
 */
export function soleMember(text: string, name: string, value: string): JsonSpan | undefined {
  const key = `"${name}"`;
  const at = text.indexOf(key);
  if (at < 0 || text.includes(key, at + key.length) || text.includes('\\u')) return undefined;
  const start = blank(text, blank(text, at + key.length) + 1);
  const json = `"${value}"`;
  return text.startsWith(json, start) ? { value: start, end: start + json.length } : undefined;
}

/**
 * The place of the member as `soleMember` finds it, for a text without duplicate members: then
 * nothing of it has to be read where the member is the first one.
 */
function certainMember(text: string, name: string, value: string): JsonSpan | undefined {
  const first = `{"${name}":"${value}"`;
  if (!text.startsWith(first)) return soleMember(text, name, value);
  return { value: first.length - value.length - 2, end: first.length };
}

/**
 * The body of a request with another value of the member `name`, as `editJsonPieces` would write
 * it, where that member is found without reading all of it; else undefined. `was`: its present
 * value. The body has no duplicate members.
 */
export function replaceMember(
  { bytes, skeleton: known }: { readonly bytes: Buffer; readonly skeleton?: Skeleton | undefined },
  name: string,
  was: string,
  json: string,
): RequestBodyBytes | undefined {
  const skeleton = known?.json === bytes ? known : undefined;
  const text = (skeleton?.bytes ?? bytes).toString('latin1');
  const found = certainMember(text, name, was);
  if (found === undefined) return undefined;
  const { value, end } = found;
  if (skeleton === undefined && text.length <= latin1BytesMax)
    return { body: new Latin1(text.slice(0, value) + json + text.slice(end)) };
  return bodyOfPieces([
    bytes.subarray(0, skeleton?.whole(value) ?? value),
    Buffer.from(json, 'latin1'),
    bytes.subarray(skeleton?.whole(end) ?? end),
  ]);
}

/** A parsed JSON object of unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

declare const documentedAs: unique symbol;

/**
 * A JSON value that its vendor documents as `T`. Nothing has checked it: compare it with a
 * constant, or read it with `textOf`, `countOf`, `objectOf` or `listOf`.
 */
export type Unchecked<T> = unknown extends T
  ? unknown
  : { readonly [documentedAs]?: T } | Extract<T, Plain> | null | undefined;

type Plain = string | number | boolean;
/** `Unchecked<T>` in the form from which the compiler infers `T`. */
type Of<T> = { readonly [documentedAs]?: T } | Plain | null | undefined;
type ElementOf<T> = T extends readonly (infer E)[] ? E : never;
type ObjectOf<T> = unknown extends T ? JsonObject : Exclude<Extract<T, object>, readonly unknown[]>;

/**
 * A parsed JSON object that its vendor documents as `T`: the names of members are checked by the
 * compiler, their values are not.
 *
 * @example
 * interface Usage { readonly input_tokens: number; readonly details?: { readonly cached: number } }
 * const usage: Documented<Usage> | undefined = objectOf(parse(text));
 * const cached = countOf(objectOf(usage?.details)?.cached);
 */
export type Documented<T> = {
  readonly [K in keyof T]?: unknown extends T[K] ? unknown : Unchecked<NonNullable<T[K]>>;
};

export function isObject<T>(value: Of<T>): value is Documented<ObjectOf<T>>;
export function isObject(value: unknown): value is JsonObject;
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function objectOf<T>(value: Of<T>): Documented<ObjectOf<T>> | undefined;
export function objectOf(value: unknown): JsonObject | undefined;
export function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) ? value : undefined;
}

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
/** The value as a text, whatever its type: for a message that repeats it. */
export const stringOf = (value: unknown): string => String(value);
/**
 * More than any model reads or writes: a count beyond it is a vendor's mistake, and money must not
 * move by it.
 */
const countMax = 1e9;
export const countOf = (value: unknown): number | undefined =>
  Number.isInteger(value) && typeof value === 'number' && value >= 0 && value <= countMax
    ? value
    : undefined;
export const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;
export function listOf<T>(value: Of<T>): readonly Unchecked<ElementOf<T>>[];
export function listOf(value: unknown): readonly unknown[];
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
/** The objects among the elements of a list. */
export function objectsOf<T>(value: Of<T>): readonly Documented<ObjectOf<ElementOf<T>>>[];
export function objectsOf(value: unknown): readonly JsonObject[];
export function objectsOf(value: unknown): readonly JsonObject[] {
  return listOf(value).filter((element) => isObject(element));
}

/**
 * Parses `latin1` or UTF-16 text; undefined when it is not JSON. Strings of `latin1` text keep one
 * character a byte: good for structure, not for reading.
 */
export function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}

export const utf8 = (latin1: string): string => Buffer.from(latin1, 'latin1').toString('utf8');
export const latin1Of = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

/**
 * An object's members as the vendor wrote them: name → JSON text. To change the object, change this
 * map; unchanged members keep their bytes.
 */
export type Raw = Map<string, string>;

export function rawMembers(text: string): Raw {
  const raw: Raw = new Map();
  if (text.charCodeAt(0) !== 0x7b) return raw;
  for (const member of jsonMembers(text, 0))
    raw.set(member.name, text.slice(member.value, member.end));
  return raw;
}

export function rawElements(text: string | undefined): string[] {
  if (text === undefined || text.charCodeAt(0) !== 0x5b) return [];
  return jsonElements(text, 0).map((span) => text.slice(span.value, span.end));
}

/**
 * `"a":1,"b":2`: the inside of an object's text. Names are ASCII in every vendor's answer; others
 * are escaped.
 */
export function rawInside(raw: Raw): string {
  let text = '';
  for (const [name, value] of raw) text += `${text ? ',' : ''}${nameText(name)}:${value}`;
  return text;
}

export const rawText = (raw: Raw): string => `{${rawInside(raw)}}`;

const nameText = (name: string): string => (/^\w*$/.test(name) ? `"${name}"` : jsonText(name));

/** Whether JSON text holds a value: it is not absent, `null` or `""`. */
export const isPresent = (text: string | undefined): text is string =>
  text !== undefined && text !== 'null' && text !== '""';

/** How many bytes of UTF-8 a JSON string (with its quotes) stands for. */
export function stringBytes(text: string): number {
  let bytes = text.length - 2;
  for (let i = text.indexOf('\\'); i >= 0; i = text.indexOf('\\', i)) {
    if (text.charCodeAt(i + 1) !== 0x75) {
      bytes -= 1;
      i += 2;
      continue;
    }
    const code = Number.parseInt(text.slice(i + 2, i + 6), 16);
    // Half a surrogate pair counts two of the pair's four bytes.
    const size = code < 0x80 ? 1 : code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
    bytes += size - 6;
    i += 6;
  }
  return bytes;
}

/**
 * The JSON string after the first `marker`, quotes included, when it is the last member of its
 * object; found without parsing. `marker` names members (`"delta":{"text":`): inside a string their
 * quotes would be escaped, so that it is never part of a text.
 */
export function stringAfter(text: string, marker: string): string | undefined {
  const found = text.indexOf(marker);
  const start = found + marker.length;
  if (found < 0 || text.charCodeAt(start) !== 0x22) return undefined;
  let end: number;
  try {
    end = stringEnd(text, start);
  } catch {
    return undefined;
  }
  return text.charCodeAt(end) === 0x7d ? text.slice(start, end) : undefined;
}

/**
 * Short bytes as text, one latin1 character each. Such text is joined with a head and leaves in one
 * write, without a copy in a buffer.
 */
export class Latin1 {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** In bytes. */
  get length(): number {
    return this.text.length;
  }

  /** As a Buffer's. */
  toString(encoding: 'utf8' | 'latin1' = 'utf8'): string {
    return encoding === 'latin1' ? this.text : bufferOf(this).toString('utf8');
  }
}

/** The bytes of a whole body. */
export type Bytes = Buffer | Latin1;

/** Above this, a buffer takes less memory and no more time. */
export const latin1BytesMax = 16_384;

/** The bytes of a text of latin1 characters. */
export const bytesOfLatin1 = (text: string): Bytes =>
  text.length <= latin1BytesMax ? new Latin1(text) : Buffer.from(text, 'latin1');

export const bufferOf = (bytes: Bytes): Buffer =>
  bytes instanceof Latin1 ? Buffer.from(bytes.text, 'latin1') : bytes;

/** Below this a copy costs less than several writes. */
export const piecesBytesMin = 65_536;

/** The body of a request: all of it, or its beginning and the rest in pieces. */
export interface RequestBodyBytes {
  readonly body: Bytes;
  readonly rest?: readonly Buffer[];
}

/** The body of a request made of pieces of the client's: joined if it is short, else uncopied. */
export function bodyOfPieces(pieces: readonly Buffer[]): RequestBodyBytes {
  const [body, ...rest] = pieces;
  if (body !== undefined && rest.length === 0) return { body };
  let bytes = 0;
  for (const piece of pieces) bytes += piece.length;
  if (bytes <= latin1BytesMax) {
    let text = '';
    for (const piece of pieces) text += piece.toString('latin1');
    return { body: new Latin1(text) };
  }
  return body === undefined || bytes <= piecesBytesMin
    ? { body: Buffer.concat(pieces, bytes) }
    : { body, rest };
}
