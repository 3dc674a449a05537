import { type Inside, longStringBytesMin } from '../base/long-strings.ts';

/** Brackets within brackets in a body at most; the deepest schemas in use have some twenty. */
export const depthMax = 256;
/** Values in a body at most: more than the longest conversation has, and few enough to be read in a fraction of a second. */
export const valuesMax = 1_000_000;

const quote = 0x22;
const backslash = 0x5c;

/** Why a body is too much to be parsed, seen without parsing it; undefined when it is not. Text inside strings costs nothing, however long: `long` gets those that are values. */
export function tooMuch(json: Buffer, long: Inside[] = []): string | undefined {
  let depth = 0;
  let values = 0;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === quote) {
      const start = i + 1;
      i = stringEnd(json, i);
      if (i - start >= longStringBytesMin && !isName(json, i)) long.push({ start, end: i });
    } else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > depthMax) return `it is nested more than ${depthMax} levels deep.`;
    } else if (byte === 0x5d || byte === 0x7d) depth--;
    else if (byte === 0x2c && ++values > valuesMax) return `it has more than ${valuesMax} values.`;
  }
  return undefined;
}

/** Whether a colon comes after the string that ends here. */
function isName(json: Buffer, end: number): boolean {
  let i = end + 1;
  while (json[i] === 0x20 || json[i] === 0x0a || json[i] === 0x0d || json[i] === 0x09) i++;
  return json[i] === 0x3a;
}

/** The index of the quote that ends the string which begins at `start`, or the end of a string that does not. */
function stringEnd(json: Buffer, start: number): number {
  for (let i = start; ; ) {
    i = json.indexOf(quote, i + 1);
    if (i < 0) return json.length;
    let before = i;
    while (json[before - 1] === backslash) before--;
    if ((i - before) % 2 === 0) return i;
  }
}
