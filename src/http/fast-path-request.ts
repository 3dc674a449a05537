import type { IncomingHttpHeaders } from 'node:http';
import { memoize } from '../base/memoize.ts';

/** A request that came whole. */
export interface FastPathRequest {
  readonly url: string;
  /** By name in lower case. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Where it ends in the bytes that were read. */
  readonly end: number;
}

const method = 'POST ';
const version = ' HTTP/1.1';
const headEnd = '\r\n\r\n';
const headBytesMax = 8_192;
const namesHeld = 200;

/**
 * Lines of what may stand in a head, each with its end; tabs may, too, but node:http does not take
 * all of them for spaces.
 */
const lines = /^(?:[\x20-\x7e]+\r\n)+$/;
/** `__proto__` is a name like others to HTTP, and none to an object. */
const nameOf = memoize(
  (name) =>
    /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && name !== '__proto__' ? name.toLowerCase() : '',
  namesHeld,
);

/**
 * Reads what nearly every client sends: a POST to one of `paths`, each header once, a body of a
 * told length of at most `bodyBytesMax`, on a connection that stays open. 'partial': its end has
 * not come. 'other': anything else, well formed or not, on which nothing is decided here. RFC 9112
 * §2–§6.
 */
export function parseFastPathRequest(
  bytes: Buffer,
  paths: ReadonlyMap<string, unknown>,
  bodyBytesMax: number,
): FastPathRequest | 'partial' | 'other' {
  const headLength = bytes.indexOf(headEnd, 0, 'latin1');
  if (headLength < 0)
    return bytes.length < headBytesMax &&
      method.startsWith(bytes.toString('latin1', 0, method.length))
      ? 'partial'
      : 'other';
  if (headLength > headBytesMax) return 'other';
  const head = bytes.toString('latin1', 0, headLength + 2);
  const lineEnd = head.indexOf('\r\n');
  const urlEnd = lineEnd - version.length;
  const url = head.slice(method.length, urlEnd);
  if (!head.startsWith(method) || !head.startsWith(version, urlEnd) || !paths.has(url))
    return 'other';
  const headers = lines.test(head) ? readHeaders(head, lineEnd + 2) : undefined;
  if (headers === undefined) return 'other';
  const length = bodyLengthOf(headers, bodyBytesMax);
  if (length === undefined) return 'other';
  const start = headLength + headEnd.length;
  const end = start + length;
  return bytes.length < end ? 'partial' : { url, headers, body: bytes.subarray(start, end), end };
}

/** Of lines that each end in CRLF. Undefined: one is no header, or a name comes twice. */
function readHeaders(head: string, from: number): Record<string, string> | undefined {
  const headers: Record<string, string> = {};
  for (let at = from; at < head.length; ) {
    const end = head.indexOf('\r\n', at);
    const colon = head.indexOf(':', at);
    if (colon < 0 || colon > end) return undefined;
    const name = nameOf(head.slice(at, colon));
    if (name === '' || headers[name] !== undefined) return undefined;
    headers[name] = head.slice(colon + 1, end).trim();
    at = end + 2;
  }
  return headers;
}

/** The body's length, where nothing else is asked of the connection. */
function bodyLengthOf(
  headers: Readonly<Record<string, string>>,
  bodyBytesMax: number,
): number | undefined {
  const { connection, 'content-length': length = '' } = headers;
  if (headers['host'] === undefined || headers['transfer-encoding'] !== undefined) return undefined;
  if (headers['expect'] !== undefined || headers['upgrade'] !== undefined) return undefined;
  if (
    connection !== undefined &&
    connection !== 'keep-alive' &&
    connection.toLowerCase() !== 'keep-alive'
  )
    return undefined;
  if (!/^\d{1,9}$/.test(length)) return undefined;
  const bytes = Number(length);
  return bytes <= bodyBytesMax ? bytes : undefined;
}
