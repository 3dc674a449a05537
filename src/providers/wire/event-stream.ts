import { crc32 } from 'node:zlib';
import type { EventListener, Frames } from './sse-frames.ts';

/**
 * AWS's binary event stream (`application/vnd.amazon.eventstream`,
 * docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html, 2026-08):
 *
 *     u32 length of all | u32 length of headers | u32 CRC of these 8 bytes | headers | payload |
 *     u32 CRC of all before
 *
 * big-endian; a header is `u8 length, name, u8 type, value`, and a string (type 7)
 * `u16 length, bytes`.
 */
const preludeBytes = 12;
const crcBytes = 4;
/** What AWS's own libraries accept. */
const frameBytesMax = 24 * 1024 * 1024;
const headersBytesMax = 128 * 1024;

/** Streams repeat a few blocks of headers; those that do not are read each time. */
const headersKnownMax = 32;

/** Bytes of a header's value by its type; 6 and 7 tell their own length. */
const valueBytes: readonly (number | undefined)[] = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16];

/**
 * Cuts an event stream into its messages. Payloads are `latin1` text; an exception's name begins
 * with `exception:`.
 */
export class EventStreamFrames implements Frames {
  readonly #listener: EventListener;
  readonly #names = new Map<string, string>();
  #pieces: Buffer[] = [];
  #waiting = 0;
  /** Bytes that must be there before there is anything to do. */
  #needed = preludeBytes;
  #open = true;

  constructor(listener: EventListener) {
    this.#listener = listener;
  }

  push(piece: Buffer): string | undefined {
    if (this.#waiting + piece.length < this.#needed) {
      this.#pieces.push(piece);
      this.#waiting += piece.length;
      return undefined;
    }
    const bytes = this.#waiting === 0 ? piece : Buffer.concat([...this.#pieces, piece]);
    let at = 0;
    this.#needed = preludeBytes;
    while (this.#open && bytes.length - at >= preludeBytes) {
      const length = bytes.readUInt32BE(at);
      const headersLength = bytes.readUInt32BE(at + 4);
      // The lengths are checked before they are waited for.
      if (crc32(bytes.subarray(at, at + 8)) !== bytes.readUInt32BE(at + 8))
        return 'bytes that are no event stream';
      if (length > frameBytesMax || headersLength > headersBytesMax)
        return 'an event that is too long';
      if (length < preludeBytes + headersLength + crcBytes)
        return 'an event that is shorter than its parts';
      this.#needed = length;
      if (bytes.length - at < length) break;
      const problem = this.#frame(bytes, at, headersLength, at + length - crcBytes);
      if (problem !== undefined) return problem;
      at += length;
      this.#needed = preludeBytes;
    }
    const rest = bytes.subarray(at);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#waiting = rest.length;
    return undefined;
  }

  /** Half an event is nothing. */
  end(): string {
    return '';
  }

  #frame(bytes: Buffer, start: number, headersLength: number, end: number): string | undefined {
    if (crc32(bytes.subarray(start, end)) !== bytes.readUInt32BE(end)) return 'a damaged event';
    const payload = start + preludeBytes + headersLength;
    const headers = bytes.toString('latin1', start + preludeBytes, payload);
    let name = this.#names.get(headers);
    if (name === undefined) {
      name = nameIn(headers);
      if (name === undefined) return 'an event with damaged headers';
      if (this.#names.size < headersKnownMax) this.#names.set(headers, name);
    }
    this.#open = this.#listener(bytes.toString('latin1', payload, end), name);
    return undefined;
  }
}

/**
 * An event's name, or `exception:` and that of an exception, or the code of an error. Undefined:
 * these are no headers.
 */
function nameIn(headers: string): string | undefined {
  const strings = new Map<string, string>();
  for (let at = 0; at < headers.length; ) {
    const nameEnd = at + 1 + headers.charCodeAt(at);
    const type = headers.charCodeAt(nameEnd);
    const told = type === 6 || type === 7;
    const value = nameEnd + (told ? 3 : 1);
    const length = told
      ? (headers.charCodeAt(nameEnd + 1) << 8) | headers.charCodeAt(nameEnd + 2)
      : valueBytes[type];
    if (length === undefined || !(value + length <= headers.length)) return undefined;
    if (type === 7)
      strings.set(headers.slice(at + 1, nameEnd), headers.slice(value, value + length));
    at = value + length;
  }
  const kind = strings.get(':message-type') ?? 'event';
  if (kind === 'event') return strings.get(':event-type') ?? '';
  return `exception:${strings.get(kind === 'exception' ? ':exception-type' : ':error-code') ?? kind}`;
}
