import { jsonElements, jsonText, jsonMembers, stringEnd } from './json-edit.ts';

/** A parsed JSON object of unknown members. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const objectOf = (value: unknown): JsonObject | undefined =>
  isObject(value) ? value : undefined;
export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined;
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
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

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

/**
 * An object's members as the vendor wrote them: name → JSON text. Changing an object is changing
 * this map; what is not changed keeps its bytes.
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

/** Whether JSON text says nothing: absent, `null` or `""`. */
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
