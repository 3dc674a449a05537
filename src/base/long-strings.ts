import { randomText } from './random.ts';

/** The inside of a string in a JSON text, without its quotes: byte offsets. */
export interface StringContents {
  readonly start: number;
  readonly end: number;
}

/**
 * JSON without its long strings (images, audio and files in base64): a short stand-in takes the
 * place of each.
 */
export interface Skeleton {
  /** The whole JSON. For an edited copy of it the skeleton is of no use. */
  readonly json: Buffer;
  readonly bytes: Buffer;
  /**
   * Turns an offset in the skeleton into the offset in the whole JSON. The offset must not lie
   * inside a stand-in.
   */
  whole(offset: number): number;
  /**
   * The original bytes of a long string, or of the end of one: base64 without the head of its data
   * URL.
   */
  part(text: string): Buffer | undefined;
}

/** From this length on it costs more to copy and scan a string than to leave it out. */
export const longStringBytesMin = 32_768;

interface Cut {
  /** The offsets at which the stand-in begins and ends. */
  readonly at: number;
  readonly end: number;
  /** How much longer the string was. */
  readonly longer: number;
}

/**
 * Parses JSON whose long strings are at `found` without copying or scanning them with the rest.
 * Undefined when that is not possible: the text is no JSON, one of these strings has escapes,
 * control characters or letters beyond ASCII, or a member is there twice.
 */
export function parseWithoutLongStrings(
  json: Buffer,
  found: readonly StringContents[],
): { readonly value: unknown; readonly skeleton: Skeleton } | undefined {
  if (!found.every((inside) => isPrintableAscii(json, inside))) return undefined;
  const pieces: Buffer[] = [];
  const cuts: Cut[] = [];
  let from = 0;
  let taken = 0;
  for (const [i, { start, end }] of found.entries()) {
    const standIn = Buffer.from(`${mark}${i}`, 'latin1');
    pieces.push(json.subarray(from, start), standIn);
    const at = start - taken;
    const longer = end - start - standIn.length;
    cuts.push({ at, end: at + standIn.length, longer });
    taken += longer;
    from = end;
  }
  pieces.push(json.subarray(from));
  const bytes = Buffer.concat(pieces);
  const strings = found.map(({ start, end }) => json.toString('latin1', start, end));
  const filler = new Filler(strings);
  const value = filler.fill(parsed(bytes));
  if (!filler.filled) return undefined;
  const skeleton: Skeleton = {
    json,
    bytes,
    whole: (offset) =>
      cuts.reduce((sum, cut) => (offset >= cut.end ? sum + cut.longer : sum), offset),
    part(text) {
      const end = found[strings.findIndex((string) => string.slice(-text.length) === text)]?.end;
      return end === undefined ? undefined : json.subarray(end - text.length, end);
    },
  };
  return { value, skeleton };
}

function parsed(bytes: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'));
    return value;
  } catch {
    return undefined;
  }
}

/**
 * The JSON text of a value. Strings that it shares with the skeleton's JSON are not written again.
 */
export function jsonPieces(value: unknown, skeleton: Skeleton | undefined): Buffer[] {
  if (skeleton === undefined) return [Buffer.from(JSON.stringify(value))];
  const parts: Buffer[] = [];
  const written = JSON.stringify(value, (_name, inner: unknown) => {
    const part =
      typeof inner === 'string' && inner.length >= longStringBytesMin
        ? skeleton.part(inner)
        : undefined;
    return part === undefined ? inner : `${mark}${parts.push(part) - 1}`;
  });
  const standIn = new RegExp(`${mark}(\\d+)`);
  return written
    .split(standIn)
    .map((text, i) => (i % 2 === 0 ? Buffer.from(text) : (parts[Number(text)] ?? Buffer.alloc(0))));
}

/** Random, so that no client can write a stand-in of this process. */
const mark = `long ${randomText(20)} `;

/** Puts the strings where their stand-ins are. */
class Filler {
  readonly #strings: readonly string[];
  #left: number;

  constructor(strings: readonly string[]) {
    this.#strings = strings;
    this.#left = strings.length;
  }

  get filled(): boolean {
    return this.#left === 0;
  }

  fill(value: unknown): unknown {
    if (typeof value === 'string')
      return value.startsWith(mark) ? this.#take(Number(value.slice(mark.length))) : value;
    if (Array.isArray(value)) for (let i = 0; i < value.length; i++) value[i] = this.fill(value[i]);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) {
        const whole = this.fill(inner);
        if (whole !== inner) Reflect.set(value, name, whole);
      }
    return value;
  }

  #take(i: number): string | undefined {
    this.#left -= 1;
    return this.#strings[i];
  }
}

const backslash = 0x5c;

/**
 * Whether a string is printable ASCII without an escape, so that its bytes are its text. Checks
 * four bytes at a time.
 */
function isPrintableAscii(json: Buffer, { start, end }: StringContents): boolean {
  if (json.subarray(start, end).includes(backslash)) return false;
  const aligned = start + ((4 - ((json.byteOffset + start) & 3)) & 3);
  const words = Math.max(0, end - aligned) >> 2;
  const rest = words === 0 ? start : aligned + words * 4;
  for (let i = start; words > 0 && i < aligned; i++) if (!isPrintable(json[i])) return false;
  for (let i = rest; i < end; i++) if (!isPrintable(json[i])) return false;
  return words === 0 || arePrintable(new Int32Array(json.buffer, json.byteOffset + aligned, words));
}

const isPrintable = (byte = 0): boolean => byte >= 0x20 && byte < 0x80;

/**
 * A byte beyond ASCII has its highest bit; one below 0x20 gets it when 0x20 is taken from it. An
 * iterator would cost ten times as much.
 */
function arePrintable(four: Int32Array): boolean {
  let odd = 0;
  for (let i = 0; i < four.length; i++) {
    const word = four[i] ?? 0;
    odd |= (word | (word - 0x20202020)) & 0x80808080;
  }
  return odd === 0;
}
