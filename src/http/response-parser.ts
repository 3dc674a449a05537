/** Reply headers as they came; looked up only when somebody asks. */
export class ResponseHeaders {
  /** `\r\nname: value` for each, as latin1. */
  readonly #text: string;
  #lower: string | undefined;

  constructor(text: string) {
    this.#text = text;
  }

  /** The first value of the header with this name, which is given in lower case. */
  get(name: string): string | undefined {
    return this.#after(`\r\n${name}:`, 0)?.value;
  }

  /** Every value of it, in the order they came. */
  all(name: string): string[] {
    const mark = `\r\n${name}:`;
    const values: string[] = [];
    for (
      let found = this.#after(mark, 0);
      found !== undefined;
      found = this.#after(mark, found.end)
    )
      values.push(found.value);
    return values;
  }

  #after(mark: string, from: number): { readonly value: string; readonly end: number } | undefined {
    this.#lower ??= this.#text.toLowerCase();
    const at = this.#lower.indexOf(mark, from);
    if (at < 0) return undefined;
    const next = this.#text.indexOf('\r\n', at + mark.length);
    const end = next < 0 ? this.#text.length : next;
    return { value: trimmed(this.#text.slice(at + mark.length, end)), end };
  }

  /** By name in lower case; of several with one name the last. */
  toObject(): Record<string, string> {
    const all: Record<string, string> = {};
    for (const line of this.#text.split('\r\n')) {
      const colon = line.indexOf(':');
      if (colon > 0) all[line.slice(0, colon).toLowerCase()] = trimmed(line.slice(colon + 1));
    }
    return all;
  }
}

/**
 * Without spaces around it. What else may be taken for a space, tabs among it, is part of a value
 * to others, and a length with it is none.
 */
function trimmed(value: string): string {
  let from = 0;
  let to = value.length;
  while (isBlank(value.charCodeAt(from))) from += 1;
  while (to > from && isBlank(value.charCodeAt(to - 1))) to -= 1;
  return value.slice(from, to);
}

const isBlank = (code: number): boolean => code === 0x20;

/** A reply that breaks the rules of HTTP/1.1: what follows on its connection means nothing. */
export class MalformedResponse extends Error {
  readonly code = 'BAD_REPLY';
}

/** What the head of a reply says. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
  /** How its body ends: after so many bytes, by its last chunk, or with the connection. */
  readonly body: number | 'chunked' | 'connection';
  /**
   * Whether the connection can carry another call, and for how long it stays open unused if the
   * vendor says so, ms.
   */
  readonly keeps: boolean;
  readonly keptMs: number | undefined;
}

/**
 * A status line and whole headers, each on one line of its own: no folded line, no space before a
 * colon, no control characters. Whoever reads those in another way than a proxy before it takes one
 * reply for two (RFC 9112 §2.2, §5).
 */
const plainHead =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*)*$/;

/**
 * Reads a head: status line and headers without the empty line that ends them. Throws BadReply. RFC
 * 9112 §4, §6.3.
 */
export function parseResponseHead(text: string): ResponseHead {
  if (!plainHead.test(text))
    throw new MalformedResponse(`no head of a reply: ${JSON.stringify(text.slice(0, 60))}`);
  const status = Number(text.slice(9, 12));
  const lineEnd = text.indexOf('\r\n');
  const headers = new ResponseHeaders(lineEnd < 0 ? '' : text.slice(lineEnd));
  const coding = headers.get('transfer-encoding');
  const body = bodyOf(status, headers, coding);
  const connection = headers.get('connection')?.toLowerCase();
  const is11 = text[7] === '1';
  // A length beside chunks is how a second reply is smuggled into the first, and HTTP/1.0 knows no
  // chunks.
  const doubtful = coding !== undefined && (!is11 || headers.get('content-length') !== undefined);
  const stays = connection === undefined ? is11 : connection === 'keep-alive';
  return {
    status,
    headers,
    body,
    keeps: stays && !doubtful && body !== 'connection',
    keptMs: keptOf(headers.get('keep-alive')),
  };
}

function bodyOf(
  status: number,
  headers: ResponseHeaders,
  coding: string | undefined,
): ResponseHead['body'] {
  const [length, ...others] = headers.all('content-length');
  if (length !== undefined && (others.length > 0 || !/^\d{1,15}$/.test(length)))
    throw new MalformedResponse(`content-length ${[length, ...others].join(', ')}`);
  if (status < 200 || status === 204 || status === 304) return 0;
  if (coding !== undefined) {
    const codings = headers.all('transfer-encoding');
    if (codings.length > 1 || coding.toLowerCase() !== 'chunked')
      throw new MalformedResponse(`transfer-encoding ${codings.join(', ')} was not asked for`);
    return 'chunked';
  }
  return length === undefined ? 'connection' : Number(length);
}

/**
 * The vendor closes an unused connection after so long; a second earlier it is no longer believed
 * to be open.
 */
function keptOf(keepAlive: string | undefined): number | undefined {
  const seconds = keepAlive === undefined ? undefined : /timeout=(\d+)/.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Math.max(0, Number(seconds) - 1) * 1_000;
}

/** Who hears of a reply as it is read. */
export interface ResponseListener {
  /** Not called for informational replies (1xx). */
  head(head: ResponseHead): void;
  /** Never empty. False: nothing more before `go`. */
  data(piece: Buffer): boolean;
}

const headEnd = Buffer.from('\r\n\r\n');
const headBytesMax = 64 * 1024;
/** A chunk's length in hexadecimal digits, and its extension. */
const chunkLineBytesMax = 4 * 1024;
/** Informational replies (1xx) before the one that was asked for. */
const informationsMax = 32;

const plainExtension = /^[\t\x20-\x7e\x80-\xff]*$/;
/** What frames a message says nothing after it (RFC 9110 §6.5.1). */
const plainTrailer =
  /^(?!content-length:|transfer-encoding:)[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*$/i;

/** Where in the reply the next byte stands. */
type ParserState =
  | 'head'
  | 'counted'
  | 'chunk line'
  | 'chunk'
  | 'chunk end'
  | 'trailer'
  | 'to the end'
  | 'over';

/**
 * Cuts one reply after another out of the bytes of a connection, however they were cut on their
 * way. Copies nothing that comes in one piece. RFC 9112.
 */
export class ResponseParser {
  readonly #sink: ResponseListener;
  #place: ParserState = 'head';
  /** Bytes of the body or of the chunk that are still to come, or of the trailers that may. */
  #left = 0;
  #informations = 0;
  #unread: Buffer | undefined;
  #paused = false;
  #stopped = false;

  constructor(sink: ResponseListener) {
    this.#sink = sink;
  }

  /** The reply is there as a whole, and the sink has all of it. */
  get over(): boolean {
    return this.#place === 'over' && !this.#paused;
  }

  /** The reply's own head is there. */
  get headed(): boolean {
    return this.#place !== 'head';
  }

  /** Something of the reply is there, so that its end is missed when the connection ends. */
  get begun(): boolean {
    return this.#place !== 'head' || this.#unread !== undefined;
  }

  /** Bytes came that belong to no reply that was asked for. */
  get surplus(): boolean {
    return this.#place === 'over' && this.#unread !== undefined;
  }

  /** The connection's end is the reply's, too. */
  get endsWithConnection(): boolean {
    return this.#place === 'to the end' && !this.#stopped;
  }

  /** For the next reply. */
  reset(): void {
    this.#place = 'head';
    this.#left = 0;
    this.#informations = 0;
    this.#unread = undefined;
    this.#paused = false;
  }

  /** The sink hears nothing more. */
  stop(): void {
    this.#stopped = true;
  }

  /** The sink takes more again. Returns as `push`. */
  go(): boolean {
    if (!this.#paused) return true;
    this.#paused = false;
    const unread = this.#unread;
    this.#unread = undefined;
    return unread === undefined || this.push(unread);
  }

  /** Reads on. False while the sink takes no more. Throws BadReply. */
  push(bytes: Buffer): boolean {
    const piece = this.#unread === undefined ? bytes : Buffer.concat([this.#unread, bytes]);
    this.#unread = undefined;
    let at = 0;
    while (at < piece.length && !this.#paused && !this.#stopped) {
      const next = this.#step(piece, at);
      if (next === at) break;
      at = next;
    }
    if (at < piece.length && !this.#stopped) this.#unread = at === 0 ? piece : piece.subarray(at);
    return !this.#paused;
  }

  /**
   * Reads what stands at `at`, and returns where that ends; `at` itself when more has to come
   * first.
   */
  #step(piece: Buffer, at: number): number {
    switch (this.#place) {
      case 'head':
        return this.#head(piece, at);
      case 'counted':
        return this.#body(piece, at, 'over');
      case 'chunk':
        return this.#body(piece, at, 'chunk end');
      case 'chunk line':
        return this.#chunkLine(piece, at);
      case 'chunk end':
        return this.#chunkEnd(piece, at);
      case 'trailer':
        return this.#trailer(piece, at);
      case 'to the end':
        this.#give(at === 0 ? piece : piece.subarray(at));
        return piece.length;
      case 'over':
        return at;
    }
  }

  #head(piece: Buffer, at: number): number {
    const end = piece.indexOf(headEnd, at);
    if (end < 0 || end - at > headBytesMax) {
      if (piece.length - at > headBytesMax)
        throw new MalformedResponse(`a head of more than ${headBytesMax} bytes`);
      return at;
    }
    const head = parseResponseHead(piece.toString('latin1', at, end));
    if (head.status < 200) {
      if (head.status === 101)
        throw new MalformedResponse('a change of protocols that was not asked for');
      this.#informations += 1;
      if (this.#informations > informationsMax)
        throw new MalformedResponse(`more than ${informationsMax} informational replies`);
      return end + headEnd.length;
    }
    if (head.body === 'chunked') this.#place = 'chunk line';
    else if (head.body === 'connection') this.#place = 'to the end';
    else {
      this.#left = head.body;
      this.#place = head.body === 0 ? 'over' : 'counted';
    }
    this.#sink.head(head);
    return end + headEnd.length;
  }

  #body(piece: Buffer, at: number, then: ParserState): number {
    const end = Math.min(piece.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#place = then;
    this.#give(at === 0 && end === piece.length ? piece : piece.subarray(at, end));
    return end;
  }

  #give(piece: Buffer): void {
    if (!this.#sink.data(piece)) this.#paused = true;
  }

  #chunkLine(piece: Buffer, at: number): number {
    const end = this.#lineEnd(piece, at);
    if (end === at) return at;
    let length = 0;
    let i = at;
    for (; i < end - 2; i += 1) {
      const digit = hexDigit(piece[i] ?? 0);
      if (digit < 0) break;
      length = length * 16 + digit;
    }
    // After the length: an extension, or the spaces that some servers write.
    const digits = i - at;
    while (piece[i] === space) i += 1;
    const plain =
      i === end - 2 ||
      (piece[i] === semicolon && plainExtension.test(piece.toString('latin1', i, end - 2)));
    if (digits === 0 || digits > 12 || !plain) throw new MalformedResponse('no length of a chunk');
    this.#left = length === 0 ? headBytesMax : length;
    this.#place = length === 0 ? 'trailer' : 'chunk';
    return end;
  }

  #chunkEnd(piece: Buffer, at: number): number {
    if (piece.length - at < 2) return at;
    if (piece[at] !== carriage || piece[at + 1] !== newline)
      throw new MalformedResponse('a chunk is longer than it says');
    this.#place = 'chunk line';
    return at + 2;
  }

  #trailer(piece: Buffer, at: number): number {
    const end = this.#lineEnd(piece, at);
    this.#left -= end - at;
    if (this.#left < 0) throw new MalformedResponse(`trailers of more than ${headBytesMax} bytes`);
    if (end === at + 2) this.#place = 'over';
    else if (end > at && !plainTrailer.test(piece.toString('latin1', at, end - 2)))
      throw new MalformedResponse('no trailer after the last chunk');
    return end;
  }

  /** Behind the end of the line that begins at `at`; `at` while that has not come. */
  #lineEnd(piece: Buffer, at: number): number {
    const end = piece.indexOf(newline, at);
    if (end - at > chunkLineBytesMax || (end < 0 && piece.length - at > chunkLineBytesMax))
      throw new MalformedResponse(`a line of more than ${chunkLineBytesMax} bytes between chunks`);
    if (end < 0) return at;
    if (end === at || piece[end - 1] !== carriage)
      throw new MalformedResponse('a line between chunks that does not end as lines do');
    return end + 1;
  }
}

const carriage = 0x0d;
const newline = 0x0a;
const space = 0x20;
const semicolon = 0x3b;

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
