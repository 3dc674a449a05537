import { BadReply, type ReplyHead, readHead } from './reply-head.ts';

/** Who hears of a reply as it is read. */
export interface ReplySink {
  /** Not called for informational replies (1xx). */
  head(head: ReplyHead): void;
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
type Place =
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
export class ReplyReader {
  readonly #sink: ReplySink;
  #place: Place = 'head';
  /** Bytes of the body or of the chunk that are still to come, or of the trailers that may. */
  #left = 0;
  #informations = 0;
  #unread: Buffer | undefined;
  #paused = false;
  #stopped = false;

  constructor(sink: ReplySink) {
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
        throw new BadReply(`a head of more than ${headBytesMax} bytes`);
      return at;
    }
    const head = readHead(piece.toString('latin1', at, end));
    if (head.status < 200) {
      if (head.status === 101) throw new BadReply('a change of protocols that was not asked for');
      this.#informations += 1;
      if (this.#informations > informationsMax)
        throw new BadReply(`more than ${informationsMax} informational replies`);
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

  #body(piece: Buffer, at: number, then: Place): number {
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
    if (digits === 0 || digits > 12 || !plain) throw new BadReply('no length of a chunk');
    this.#left = length === 0 ? headBytesMax : length;
    this.#place = length === 0 ? 'trailer' : 'chunk';
    return end;
  }

  #chunkEnd(piece: Buffer, at: number): number {
    if (piece.length - at < 2) return at;
    if (piece[at] !== carriage || piece[at + 1] !== newline)
      throw new BadReply('a chunk is longer than it says');
    this.#place = 'chunk line';
    return at + 2;
  }

  #trailer(piece: Buffer, at: number): number {
    const end = this.#lineEnd(piece, at);
    this.#left -= end - at;
    if (this.#left < 0) throw new BadReply(`trailers of more than ${headBytesMax} bytes`);
    if (end === at + 2) this.#place = 'over';
    else if (end > at && !plainTrailer.test(piece.toString('latin1', at, end - 2)))
      throw new BadReply('no trailer after the last chunk');
    return end;
  }

  /** Behind the end of the line that begins at `at`; `at` while that has not come. */
  #lineEnd(piece: Buffer, at: number): number {
    const end = piece.indexOf(newline, at);
    if (end - at > chunkLineBytesMax || (end < 0 && piece.length - at > chunkLineBytesMax))
      throw new BadReply(`a line of more than ${chunkLineBytesMax} bytes between chunks`);
    if (end < 0) return at;
    if (end === at || piece[end - 1] !== carriage)
      throw new BadReply('a line between chunks that does not end as lines do');
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
