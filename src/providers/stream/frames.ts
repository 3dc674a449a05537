import { parse, rawElements } from '../../base/json.ts';

/** The longest event that is read: room for images in base64. */
export const eventBytesMax = 32 * 1024 * 1024;

const empty: Buffer = Buffer.alloc(0);

/** Cuts a byte stream into whole events. */
export interface Frames {
  /**
   * Passes every event that this piece completes to the listener. Returns the reason if the stream
   * cannot be read any further.
   */
  push(piece: Buffer): string | undefined;
  /**
   * The stream has closed. An event that lacks only its empty line is passed on, too. Returns the
   * remaining text that is no event.
   */
  end(): string;
}

/**
 * Receives one event. `data` is `latin1` text, several lines of it joined by LF; `name` is the
 * event's, or `''`. Returns false to stop the stream.
 */
export type EventListener = (data: string, name: string) => boolean;

/**
 * The index after the empty line that ends the event at `at`, or -1. Lines end with LF or CRLF:
 * `EventText` has replaced lone CRs.
 */
export function eventEnd(text: string, at: number): number {
  for (let i = text.indexOf('\n', at); i >= 0; i = text.indexOf('\n', i + 1)) {
    const c = text.charCodeAt(i + 1);
    if (c === 0x0a) return i + 2;
    if (c === 0x0d && text.charCodeAt(i + 2) === 0x0a) return i + 3;
  }
  return -1;
}

const [cr, lf] = [0x0d, 0x0a];
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Removes a byte order mark at the start and turns lone CRs into LF. The standard allows both, and
 * hardly any server sends them. The first line's end decides for the whole stream; for ordinary
 * streams this costs one comparison a piece.
 */
class PlainLines {
  #begun = false;
  #ends: 'unknown' | 'in LF' | 'in CR' = 'unknown';
  /** Bytes that need the next byte to be read: a part of a mark, or a CR that an LF may follow. */
  #held = empty;
  #afterCr = false;

  /** Returns the piece in plain form; it may be empty. */
  read(piece: Buffer): Buffer {
    if (this.#ends === 'in LF') return piece;
    return this.#ends === 'in CR' ? this.#withLf(piece) : this.#first(piece);
  }

  #first(piece: Buffer): Buffer {
    let bytes = this.#held.length === 0 ? piece : Buffer.concat([this.#held, piece]);
    this.#held = empty;
    if (!this.#begun) {
      const mark = byteOrderMark.subarray(0, bytes.length);
      const marked = bytes.subarray(0, mark.length).equals(mark);
      if (marked && mark.length < byteOrderMark.length) return this.#hold(bytes, 0);
      this.#begun = true;
      if (marked) bytes = bytes.subarray(mark.length);
    }
    const atLf = bytes.indexOf(lf);
    const atCr = bytes.indexOf(cr);
    if (atCr < 0 && atLf < 0) return bytes;
    if (atLf < 0 && atCr === bytes.length - 1) return this.#hold(bytes, atCr);
    const isAlone = atCr >= 0 && (atLf < 0 || atLf > atCr + 1);
    this.#ends = isAlone ? 'in CR' : 'in LF';
    return isAlone ? this.#withLf(bytes) : bytes;
  }

  #hold(bytes: Buffer, from: number): Buffer {
    this.#held = bytes.subarray(from);
    return bytes.subarray(0, from);
  }

  #withLf(piece: Buffer): Buffer {
    const bytes = Buffer.allocUnsafe(piece.length);
    let length = 0;
    for (const byte of piece) {
      // Where some lines end in CR LF all the same, the two bytes are one line end.
      if (byte !== lf || !this.#afterCr) bytes[length++] = byte === cr ? lf : byte;
      this.#afterCr = byte === cr;
    }
    return bytes.subarray(0, length);
  }
}

/**
 * The end of the text before a piece, as far as an empty line may be cut there: neither (0), LF
 * (1), or LF CR (2).
 */
type LineEnding = 0 | 1 | 2;

/**
 * Whether this piece ends an event that has begun. If not, the piece is kept unjoined: a large
 * event is copied once, in however many pieces it comes.
 */
function endsEvent(before: LineEnding, piece: Buffer): boolean {
  if (before > 0 && (piece[0] === 0x0a || (before === 1 && piece[0] === 0x0d && piece[1] === 0x0a)))
    return true;
  return piece.includes('\n\n') || piece.includes('\n\r\n');
}

/** The end of the text after this piece was added. */
function lineEndingAfter(before: LineEnding, piece: Buffer): LineEnding {
  const last = piece[piece.length - 1];
  if (last === 0x0a) return 1;
  return last === 0x0d && (piece.length > 1 ? piece[piece.length - 2] === 0x0a : before === 1)
    ? 2
    : 0;
}

function lineEndingOf(text: string): LineEnding {
  return text.endsWith('\n') ? 1 : text.endsWith('\n\r') ? 2 : 0;
}

/**
 * The text of a stream of server-sent events
 * (html.spec.whatwg.org/multipage/server-sent-events.html), cut anywhere: pieces come in, the text
 * from the beginning of an event comes out.
 */
export class EventText {
  readonly #lines = new PlainLines();
  /** The part of an unfinished event that has come: its text, and the pieces after it. */
  #carry = '';
  #pieces: Buffer[] = [];
  #waiting = 0;
  #ending: LineEnding = 0;

  /**
   * The text from the first event that was not read, `''` while that event goes on. Undefined: the
   * event is too long.
   */
  push(came: Buffer): string | undefined {
    const piece = this.#lines.read(came);
    if (piece.length === 0) return '';
    if (this.#waiting + piece.length > eventBytesMax) return undefined;
    if (this.#waiting > 0 && !endsEvent(this.#ending, piece)) {
      this.#ending = lineEndingAfter(this.#ending, piece);
      this.#pieces.push(piece);
      this.#waiting += piece.length;
      return '';
    }
    return this.#take(piece);
  }

  /** Keeps the text from `at`, where an unfinished event begins, for the next piece. */
  keep(text: string, at: number): void {
    this.#carry = at === 0 ? text : text.slice(at);
    this.#waiting = this.#carry.length;
    if (this.#waiting > 0) this.#ending = lineEndingOf(this.#carry);
  }

  /** The text after the last event of a closed stream. */
  end(): string {
    const rest = this.#take(empty);
    this.keep('', 0);
    return rest;
  }

  #take(piece: Buffer): string {
    const text = piece.toString('latin1');
    if (this.#waiting === 0) return text;
    const before = this.#pieces.length ? Buffer.concat(this.#pieces).toString('latin1') : '';
    this.#pieces = [];
    return this.#carry + before + text;
  }
}

/** The data of an event, and its name or `''`. */
interface SseEvent {
  readonly data: string;
  readonly name: string;
}

/** Reads the event between these offsets; undefined when it has no data. */
export function readEvent(
  text: string,
  start: number,
  end: number,
  betweenLines: '\n' | ' ',
): SseEvent | undefined {
  let data: string | undefined;
  let name = '';
  for (let at = start; at < end; ) {
    let next = text.indexOf('\n', at);
    if (next < 0 || next >= end) next = end;
    const stop = text.charCodeAt(next - 1) === 0x0d ? next - 1 : next;
    if (text.startsWith('data:', at)) {
      const line = text.slice(text.charCodeAt(at + 5) === 0x20 ? at + 6 : at + 5, stop);
      data = data === undefined ? line : data + betweenLines + line;
    } else if (text.startsWith('event:', at)) name = text.slice(at + 6, stop).trim();
    at = next + 1;
  }
  return data === undefined ? undefined : { data, name };
}

/**
 * Passes server-sent events to a listener. Data of several lines becomes one line: it is JSON, where
 * a line end is white space, and clients are sent what the listener makes of it in one line.
 */
export class SseFrames implements Frames {
  readonly #listener: EventListener;
  readonly #text = new EventText();
  #open = true;

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  push(piece: Buffer): string | undefined {
    const text = this.#text.push(piece);
    if (text === undefined) return 'an event that is too long';
    if (text === '') return undefined;
    let at = 0;
    while (this.#open && at < text.length) {
      const end = eventEnd(text, at);
      if (end < 0) break;
      this.#event(text, at, end);
      at = end;
    }
    this.#text.keep(text, at);
    return undefined;
  }

  end(): string {
    const rest = this.#text.end();
    // A half event is dropped; a whole one ends with its object or with `[DONE]`.
    const line = rest.trimEnd();
    if (
      this.#open &&
      (line.endsWith('}') || line.endsWith('[DONE]')) &&
      this.#event(rest, 0, rest.length)
    )
      return '';
    return line;
  }

  /** Passes the event between these offsets to the listener. Returns whether it had data. */
  #event(text: string, start: number, end: number): boolean {
    const event = readEvent(text, start, end, ' ');
    if (event === undefined) return false;
    if (event.data !== '') this.#open = this.#listener(event.data, event.name);
    return true;
  }
}

/**
 * A reply that is one JSON value (an answer, or a list of what would have been events). It becomes
 * one event once it is complete.
 */
export class WholeFrames implements Frames {
  readonly #listener: EventListener;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  push(piece: Buffer): string | undefined {
    this.#bytes += piece.length;
    if (this.#bytes > 2 * eventBytesMax) return 'an answer that is too long';
    this.#pieces.push(piece);
    return undefined;
  }

  end(): string {
    const text = Buffer.concat(this.#pieces).toString('latin1').trim();
    if (text.startsWith('{')) this.#listener(text, '');
    else if (!text.startsWith('[') || parse(text) === undefined) return text;
    else for (const one of rawElements(text)) if (!this.#listener(one, '')) break;
    return '';
  }
}
