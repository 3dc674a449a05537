import { type Inside, longStringBytesMin } from '../base/long-strings.ts';

/** Brackets within brackets in a body at most; the deepest schemas in use have some twenty. */
export const depthMax = 256;
/**
 * Values in a body at most: more than the longest conversation has, and few enough to be read in a
 * fraction of a second.
 */
export const valuesMax = 1_000_000;

const quote = 0x22;
const backslash = 0x5c;

/**
 * The reason not to parse a body, found without parsing it; undefined when the body is fine. The
 * text of long strings costs nothing: `long` gets the strings that are values. `written` gets the
 * number of members in the text of all objects.
 */
export function tooMuch(
  json: Buffer,
  long: Inside[] = [],
  written = { members: 0 },
): string | undefined {
  let depth = 0;
  let values = 0;
  let members = 0;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === quote) {
      const start = i + 1;
      i = stringEnd(json, i);
      if (i - start >= longStringBytesMin && !isName(json, i)) long.push({ start, end: i });
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > depthMax) return `it is nested more than ${depthMax} levels deep.`;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
    else if (byte === 0x3a) members++;
    else if (byte === 0x2c && ++values > valuesMax) return `it has more than ${valuesMax} values.`;
  }
  written.members = members;
  return undefined;
}

/**
 * The number of members in all objects of a parsed value: fewer than in its text, if a name occurs
 * twice in an object.
 */
export function membersOf(value: Readonly<Record<string, unknown>> | readonly unknown[]): number {
  let count = 0;
  if (isList(value)) {
    for (const item of value) if (isNested(item)) count += membersOf(item);
    return count;
  }
  for (const name in value) {
    const inner = value[name];
    count += isNested(inner) ? 1 + membersOf(inner) : 1;
  }
  return count;
}

const isList = (value: object): value is readonly unknown[] => Array.isArray(value);
const isNested = (
  value: unknown,
): value is Readonly<Record<string, unknown>> | readonly unknown[] =>
  typeof value === 'object' && value !== null;

/** An object whose members are being read. */
interface Opened {
  /** The position of each member, and the last member of each name. */
  readonly starts: number[];
  readonly named: Map<string, number>;
}

/**
 * The same JSON with only the last of several members of one name in an object. We read and check
 * the last one, as most servers do; a vendor that reads the first would get a value that was not
 * checked. For JSON that has been parsed; one pass at any depth.
 */
export function withoutDoubles(json: Buffer): Buffer {
  const cuts: [from: number, to: number][] = [];
  const open: (Opened | undefined)[] = [];
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === 0x7b) open.push({ starts: [], named: new Map() });
    else if (byte === 0x5b) open.push(undefined);
    else if (byte === 0x7d || byte === 0x5d) open.pop();
    else if (byte === quote) {
      const end = stringEnd(json, i);
      const object = open.at(-1);
      if (object !== undefined && isName(json, end))
        cutDouble(object, i, nameOf(json.subarray(i, end + 1)), cuts);
      i = end;
    }
  }
  return cutOut(json, cuts);
}

function cutDouble(
  { starts, named }: Opened,
  start: number,
  name: string,
  cuts: [number, number][],
): void {
  const before = named.get(name);
  named.set(name, starts.push(start) - 1);
  if (before !== undefined) cuts.push([starts[before] ?? start, starts[before + 1] ?? start]);
}

function nameOf(json: Buffer): string {
  const name: unknown = JSON.parse(json.toString('utf8'));
  return String(name);
}

function cutOut(json: Buffer, cuts: readonly (readonly [from: number, to: number])[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const [from, to] of [...cuts].sort(([a], [b]) => a - b)) {
    // A cut within an earlier cut is skipped.
    if (from >= at) pieces.push(json.subarray(at, from));
    at = Math.max(at, to);
  }
  return Buffer.concat([...pieces, json.subarray(at)]);
}

/** Whether a colon comes after the string that ends here. */
function isName(json: Buffer, end: number): boolean {
  let i = end + 1;
  while (json[i] === 0x20 || json[i] === 0x0a || json[i] === 0x0d || json[i] === 0x09) i++;
  return json[i] === 0x3a;
}

/**
 * The index of the quote that ends the string which begins at `start`, or the end of a string that
 * does not.
 */
function stringEnd(json: Buffer, start: number): number {
  for (let i = start; ; ) {
    i = json.indexOf(quote, i + 1);
    if (i < 0) return json.length;
    let before = i;
    while (json[before - 1] === backslash) before--;
    if ((i - before) % 2 === 0) return i;
  }
}
