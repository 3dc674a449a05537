import { type Bytes } from '../base/json.ts';
import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import { memoize } from '../base/memoize.ts';
import {
  allowHalfClosed,
  watchHalfClosed,
  interimResponse,
  probeHalfClosed,
} from './half-close.ts';
import { toLatin1IfSmall } from './client-response.ts';
import type { ResponseWriter, TransportRequest } from './transport.ts';

/** node:http reads longer bodies: for these its own cost is small. */
const fastPathBytesMax = 65_536;
const lookMs = 5_000;

export interface FastPathOptions {
  readonly paths: ReadonlyMap<string, unknown>;
  readonly clock: Clock;
  readonly keepAliveTimeoutMs: number;
  readonly bodyBytesMax: number;
  serve(request: FastPathRequest, writer: ResponseWriter): void;
}

/**
 * Serves nearly all requests: connections begin here, and plain requests that arrived as a whole
 * are read and answered without node:http, whose objects and events for each of them cost as much
 * as all that the gateway does. The first request that is anything else takes its connection with
 * it to node:http, as if it had been there from the start.
 */
export class FastPath {
  /** A connection without a request closes after this many looks; a look comes every `lookMs`. */
  readonly idleLooks: number;
  readonly serve: FastPathOptions['serve'];
  closing = false;
  /** Bytes of incomplete requests, over all connections. */
  keptBytes = 0;
  readonly #paths: ReadonlyMap<string, unknown>;
  readonly #bodyBytesMax: number;
  readonly #keepAliveLines: () => string;
  readonly #closeLines: () => string;
  readonly #server: Server;
  readonly #nodeListener: (this: Server, socket: Socket) => void;
  readonly #connections = new Set<FastPathConnection>();
  readonly #looking: NodeJS.Timeout;

  /** Takes the place of `server`'s own connection listener. */
  constructor(
    server: Server,
    { paths, clock, keepAliveTimeoutMs, bodyBytesMax, serve }: FastPathOptions,
  ) {
    this.#paths = paths;
    this.serve = serve;
    // The first look may directly follow a response; one more look keeps the promised timeout.
    this.idleLooks = Math.ceil(keepAliveTimeoutMs / lookMs) + 1;
    this.#bodyBytesMax = Math.min(bodyBytesMax, fastPathBytesMax);
    this.#keepAliveLines = datedLines(
      clock,
      `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(keepAliveTimeoutMs / 1_000)}\r\n`,
    );
    this.#closeLines = datedLines(clock, 'connection: close\r\n');
    this.#server = server;
    const [nodeListener] = server.listeners('connection');
    if (nodeListener === undefined) throw new Error('node:http listens to its server');
    this.#nodeListener = nodeListener as (this: Server, socket: Socket) => void;
    allowHalfClosed(server);
    server
      .removeAllListeners('connection')
      .on('connection', (socket: Socket) => this.#begin(socket));
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
  }

  #begin(socket: Socket): void {
    // No more looks would close it.
    if (this.closing) socket.destroy();
    else this.#connections.add(new FastPathConnection(socket, this));
  }

  parse(bytes: Buffer): ReturnType<typeof parseFastPathRequest> {
    return parseFastPathRequest(bytes, this.#paths, this.#bodyBytesMax);
  }

  /** The lines that end the head of every response. */
  lastLines(): string {
    return this.closing ? this.#closeLines() : this.#keepAliveLines();
  }

  #look(): void {
    for (const connection of this.#connections) connection.look();
  }

  /** Gives the connection to node:http, which reads on with `bytes`. */
  handOver(connection: FastPathConnection, socket: Socket, bytes: Buffer): void {
    this.#connections.delete(connection);
    socket.pause();
    socket.unshift(bytes);
    watchHalfClosed(socket);
    this.#nodeListener.call(this.#server, socket);
    process.nextTick(() => socket.resume());
  }

  gone(connection: FastPathConnection): void {
    this.#connections.delete(connection);
  }

  /**
   * Gives incomplete requests to node:http, which reports them before their bodies have arrived.
   */
  handOverPartial(): void {
    for (const connection of this.#connections) connection.handOverPartial();
  }

  /** Closes every connection after the response that it waits for, at once if there is none. */
  close(): void {
    this.closing = true;
    clearInterval(this.#looking);
    for (const connection of this.#connections) connection.closeWhenIdle();
  }

  /** Closes every connection at once. */
  closeAll(): void {
    this.close();
    for (const connection of this.#connections) connection.destroy();
  }
}

const wrongInValue = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The head of a response as latin1 text, with the empty line that ends it. `headers`: name, value,
 * name, value, …; the names are Tollgate's, the values may come from anywhere. `last`: the lines
 * that follow them. Throws on a value that no header can hold.
 */
function formatResponseHead(status: number, headers: readonly string[], last: string): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const value = headers[i + 1] ?? '';
    if (wrongInValue.test(value))
      throw new Error(`the header ${headers[i]} holds a character that headers cannot hold`);
    text += `${headers[i]}: ${value}\r\n`;
  }
  return `${text}${last}\r\n`;
}

/** `lines` after a `date` header, which is formatted once a second. */
function datedLines(clock: Clock, lines: string): () => string {
  let second = -1;
  let text = '';
  return () => {
    const now = Math.floor(clock.now() / 1_000);
    if (now !== second) {
      second = now;
      text = `date: ${new Date(now * 1_000).toUTCString()}\r\n${lines}`;
    }
    return text;
  };
}

/** Bytes of the next request that are read while the current one is answered. */
const aheadBytesMax = 16_384;
/** A request that arrives in more pieces, or over more looks, goes to node:http. */
const piecesMax = 4;
const partialLooks = 2;
/**
 * All connections together keep no more bytes of incomplete requests: on node:http's way the key is
 * checked before the body is read.
 */
const keptBytesMax = 16 * 1024 * 1024;

/** One client's connection: one request at a time, and the writer of its response. */
class FastPathConnection implements ResponseWriter {
  readonly #socket: Socket;
  readonly #fastPath: FastPath;
  /** The bytes of the next request that have arrived. */
  #unread: Buffer | undefined;
  #pieces = 0;
  #looks = 0;
  #busy = false;
  #ended = false;
  /** The beginning of the response has been written. */
  #begun = false;
  /** A head that leaves with the first piece of its body. */
  #head = '';
  #closed: ((complete: boolean) => void)[] = [];
  #drained: (() => void) | undefined;

  constructor(socket: Socket, fastPath: FastPath) {
    this.#socket = socket;
    this.#fastPath = fastPath;
    socket.on('data', this.#onData).on('drain', this.#onDrained).on('timeout', this.#onTimeout);
    socket.on('end', this.#onEnd).on('error', this.#onError).on('close', this.#onClose);
  }

  get peer(): string | undefined {
    return this.#socket.remoteAddress;
  }

  readonly #onData = (piece: Buffer): void => {
    const bytes = this.#unread === undefined ? piece : Buffer.concat([this.#unread, piece]);
    if (!this.#busy) return this.#take(bytes);
    // The client sent it before the response to the last request: it waits for its turn. Reading
    // goes on for a while, which shows when the client has left.
    this.#keep(bytes);
    if (bytes.length >= aheadBytesMax) this.#socket.pause();
  };

  #keep(bytes: Buffer | undefined): void {
    this.#fastPath.keptBytes += (bytes?.length ?? 0) - (this.#unread?.length ?? 0);
    this.#unread = bytes;
  }

  #take(bytes: Buffer): void {
    const request = this.#fastPath.parse(bytes);
    if (
      request === 'partial' &&
      this.#pieces < piecesMax &&
      this.#fastPath.keptBytes < keptBytesMax
    ) {
      this.#keep(bytes);
      this.#pieces += 1;
    } else if (typeof request === 'string' || request.end < bytes.length) this.#handOver(bytes);
    else {
      if (this.#unread !== undefined) this.#keep(undefined);
      this.#pieces = 0;
      this.#looks = 0;
      this.#busy = true;
      this.#ended = false;
      this.#begun = false;
      this.#drained = undefined;
      this.#fastPath.serve(request, this);
    }
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    this.#keep(undefined);
    socket.off('data', this.#onData).off('drain', this.#onDrained).off('timeout', this.#onTimeout);
    socket.off('end', this.#onEnd).off('error', this.#onError).off('close', this.#onClose);
    this.#fastPath.handOver(this, socket, bytes);
  }

  /** Called every `lookMs`. */
  look(): void {
    if (this.#busy) return;
    this.#looks += 1;
    if (this.#unread !== undefined && this.#looks >= partialLooks) this.handOverPartial();
    else if (this.#looks >= this.#fastPath.idleLooks) this.#socket.destroy();
  }

  closeWhenIdle(): void {
    if (!this.#busy) this.#socket.destroy();
  }

  /** Gives an incomplete request to node:http. */
  handOverPartial(): void {
    if (!this.#busy && this.#unread !== undefined) this.#handOver(this.#unread);
  }

  onClosed(closed: (complete: boolean) => void): void {
    // There is nearly always one; `push` would reserve room for seventeen.
    if (this.#busy) this.#closed = this.#closed.concat(closed);
    else closed(false);
  }

  whole(status: number, headers: readonly string[], body: Bytes | string): void {
    const head = formatResponseHead(status, headers, this.#fastPath.lastLines());
    const last = toLatin1IfSmall(body);
    if (typeof last === 'string') return this.#writeLast(head + last);
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    this.#writeLast(last);
    this.#socket.uncork();
  }

  head(status: number, headers: readonly string[]): void {
    this.#head = formatResponseHead(
      status,
      headers,
      `${this.#fastPath.lastLines()}transfer-encoding: chunked\r\n`,
    );
  }

  write(text: string): boolean {
    // After the end, the bytes would belong to the next response.
    if (this.#ended) return true;
    if (text === '') return !this.#socket.writableNeedDrain;
    return this.#socket.write(this.#chunk(text), 'latin1');
  }

  end(text: string): void {
    if (this.#ended) return;
    this.#writeLast(`${text === '' ? this.#takeHead() : this.#chunk(text)}0\r\n\r\n`);
  }

  #chunk(text: string): string {
    return `${this.#takeHead()}${text.length.toString(16)}\r\n${text}\r\n`;
  }

  #takeHead(): string {
    const head = this.#head;
    this.#head = '';
    this.#begun = true;
    return head;
  }

  #writeLast(bytes: string | Buffer): void {
    this.#ended = true;
    if (typeof bytes === 'string') this.#socket.write(bytes, 'latin1', this.#onWritten);
    else this.#socket.write(bytes, this.#onWritten);
  }

  /**
   * The client has the whole response. A write that a broken connection cut short ends without an
   * error, too.
   */
  readonly #onWritten = (error?: Error | null): void => {
    if (error || !this.#busy || this.#socket.destroyed) return;
    this.#busy = false;
    if (this.#socket.timeout) this.#socket.setTimeout(0);
    this.#tell(true);
    if (this.#fastPath.closing) return this.#socket.destroySoon();
    const bytes = this.#unread;
    if (this.#socket.readableEnded) return this.#takeLast(bytes);
    if (bytes === undefined) return;
    this.#pieces = 0;
    this.#socket.resume();
    this.#take(bytes);
  };

  /**
   * Takes the last request of a client that has ended its side, or closes the connection: node:http
   * cannot read it any more.
   */
  #takeLast(bytes: Buffer = Buffer.alloc(0)): void {
    const request = this.#fastPath.parse(bytes);
    if (typeof request === 'string' || request.end < bytes.length) this.#socket.destroySoon();
    else this.#take(bytes);
  }

  #tell(complete: boolean): void {
    const closed = this.#closed;
    this.#closed = [];
    for (const tell of closed) tell(complete);
  }

  onDrain(go: () => void): void {
    this.#drained = go;
  }

  readonly #onDrained = (): void => {
    const drained = this.#drained;
    this.#drained = undefined;
    drained?.();
  };

  /** No endpoint of a plain request answers with a file. */
  send(body: Readable): Promise<void> {
    body.destroy();
    this.destroy();
    return Promise.resolve();
  }

  limitRemainingTime(ms: number): void {
    if (this.#socket.writableLength > 0) this.#socket.setTimeout(ms);
  }

  breakAfter(text: string): void {
    this.#socket.write(this.#chunk(text), 'latin1', () => this.#socket.destroy());
  }

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #onTimeout = (): void => this.destroy();

  /** The client will send nothing more. It may still read, or wait for a response. */
  readonly #onEnd = (): void => {
    if (!this.#busy || (this.#begun && !this.#ended)) this.destroy();
    else if (!this.#ended) probeHalfClosed(this.#socket, this.#probe);
  };

  readonly #probe = (): void => {
    if (this.#busy && !this.#begun && !this.#ended) this.#socket.write(interimResponse, 'latin1');
  };

  /** The 'close' event handles the error. */
  readonly #onError = (): void => {};

  readonly #onClose = (): void => {
    this.#fastPath.gone(this);
    this.#keep(undefined);
    if (!this.#busy) return;
    this.#busy = false;
    this.#tell(false);
  };
}

/** A request that has arrived as a whole. */
export interface FastPathRequest extends TransportRequest {
  readonly body: Buffer;
  /** The offset of its end in the bytes that were read. */
  readonly end: number;
}

const method = 'POST';
const begin = `${method} `;
const version = ' HTTP/1.1';
const headEnd = '\r\n\r\n';
const headBytesMax = 8_192;
const namesHeld = 200;

/**
 * Header lines of printable ASCII, each with its end. Tabs are legal too, but node:http does not
 * take all of them for spaces.
 */
const lines = /^(?:[\x20-\x7e]+\r\n)+$/;
/** `__proto__` is a legal header name, but no key of a plain object. */
const nameOf = memoize(
  (name) =>
    /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) && name !== '__proto__' ? name.toLowerCase() : '',
  namesHeld,
);

/**
 * Reads what nearly every client sends: a POST to one of `paths`, each header once, a body of
 * declared length of at most `bodyBytesMax`, on a connection that stays open. 'partial': its end
 * has not come. 'other': anything else, well formed or not, which node:http decides. RFC 9112
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
      begin.startsWith(bytes.toString('latin1', 0, begin.length))
      ? 'partial'
      : 'other';
  if (headLength > headBytesMax) return 'other';
  const head = bytes.toString('latin1', 0, headLength + 2);
  const lineEnd = head.indexOf('\r\n');
  const urlEnd = lineEnd - version.length;
  const url = head.slice(begin.length, urlEnd);
  if (!head.startsWith(begin) || !head.startsWith(version, urlEnd) || !paths.has(url))
    return 'other';
  const headers = lines.test(head) ? readHeaders(head, lineEnd + 2) : undefined;
  if (headers === undefined) return 'other';
  const length = bodyLengthOf(headers, bodyBytesMax);
  if (length === undefined) return 'other';
  const start = headLength + headEnd.length;
  const end = start + length;
  return bytes.length < end
    ? 'partial'
    : { method, url, headers, body: bytes.subarray(start, end), end };
}

/** Reads lines that each end in CRLF. Undefined: one is no header, or a name comes twice. */
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

/** The body's length, unless the headers ask anything else of the connection. */
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
