import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Clock } from '../base/clock.ts';
import {
  allowHalfClosed,
  watchHalfClosed,
  interimResponse,
  probeHalfClosed,
} from './half-close.ts';
import { type FastPathRequest, parseFastPathRequest } from './fast-path-request.ts';
import { type ResponseWriter, toLatin1IfSmall } from './response-writer.ts';

/** Longer bodies are read by node:http: they cost more than it does. */
const fastPathBytesMax = 65_536;
const lookMs = 5_000;

/** What the connections of a lane share. */
export interface FastPathShared {
  readonly paths: ReadonlyMap<string, unknown>;
  readonly bodyBytesMax: number;
  /**
   * Looks, each `lookMs` after the one before, that a connection without a request stays open for.
   */
  readonly idleLooks: number;
  readonly closing: boolean;
  /** What has come of requests that are not there whole, of all connections. */
  keptBytes: number;
  /** The part of a head that every answer has. */
  always(): string;
  serve(request: FastPathRequest, wire: ResponseWriter): void;
  /** Somebody else reads the connection from here on, whose next bytes these are. */
  handOver(connection: FastPathConnection, socket: Socket, bytes: Buffer): void;
  gone(connection: FastPathConnection): void;
}

export interface FastPathOptions {
  readonly paths: ReadonlyMap<string, unknown>;
  readonly clock: Clock;
  readonly keepAliveTimeoutMs: number;
  readonly bodyBytesMax: number;
  serve(request: FastPathRequest, wire: ResponseWriter): void;
}

/**
 * The way in of nearly all requests: connections begin here, and requests that came whole and plain
 * are read and answered without node:http, whose objects and events for each of them cost as much
 * as all that the gateway does. The first request that is anything else takes its connection with
 * it to node:http, as if it had been there from the start.
 */
export class FastPath implements FastPathShared {
  readonly paths: ReadonlyMap<string, unknown>;
  readonly bodyBytesMax: number;
  readonly idleLooks: number;
  readonly serve: FastPathOptions['serve'];
  closing = false;
  keptBytes = 0;
  readonly #kept: () => string;
  readonly #last: () => string;
  readonly #server: Server;
  readonly #framework: (this: Server, socket: Socket) => void;
  readonly #connections = new Set<FastPathConnection>();
  readonly #looking: NodeJS.Timeout;

  /** Puts itself before `server`'s own reading. */
  constructor(
    server: Server,
    { paths, clock, keepAliveTimeoutMs, bodyBytesMax, serve }: FastPathOptions,
  ) {
    this.paths = paths;
    this.serve = serve;
    // The first look may follow an answer at once; what was promised to the client is kept.
    this.idleLooks = Math.ceil(keepAliveTimeoutMs / lookMs) + 1;
    this.bodyBytesMax = Math.min(bodyBytesMax, fastPathBytesMax);
    this.#kept = responseHeadEnd(
      clock,
      `connection: keep-alive\r\nkeep-alive: timeout=${Math.floor(keepAliveTimeoutMs / 1_000)}\r\n`,
    );
    this.#last = responseHeadEnd(clock, 'connection: close\r\n');
    this.#server = server;
    const [framework] = server.listeners('connection');
    if (framework === undefined) throw new Error('node:http listens to its server');
    this.#framework = framework as (this: Server, socket: Socket) => void;
    allowHalfClosed(server);
    server
      .removeAllListeners('connection')
      .on('connection', (socket: Socket) => this.#begin(socket));
    this.#looking = setInterval(() => this.#look(), lookMs).unref();
  }

  #begin(socket: Socket): void {
    // Nobody would look after it any more.
    if (this.closing) socket.destroy();
    else this.#connections.add(new FastPathConnection(socket, this));
  }

  always(): string {
    return this.closing ? this.#last() : this.#kept();
  }

  #look(): void {
    for (const connection of this.#connections) connection.look();
  }

  handOver(connection: FastPathConnection, socket: Socket, bytes: Buffer): void {
    this.#connections.delete(connection);
    socket.pause();
    socket.unshift(bytes);
    watchHalfClosed(socket);
    this.#framework.call(this.#server, socket);
    process.nextTick(() => socket.resume());
  }

  gone(connection: FastPathConnection): void {
    this.#connections.delete(connection);
  }

  /**
   * Requests that have begun to come are read by node:http, which tells of them before their bodies
   * are there.
   */
  handOverPartial(): void {
    for (const connection of this.#connections) connection.handOverPartial();
  }

  /** Every connection ends with the answer that it is waiting for, at once if there is none. */
  close(): void {
    this.closing = true;
    clearInterval(this.#looking);
    for (const connection of this.#connections) connection.closeWhenIdle();
  }

  /** Nobody is waited for. */
  closeAll(): void {
    this.close();
    for (const connection of this.#connections) connection.destroy();
  }
}

const wrongInValue = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The head of an answer as latin1 text, with the empty line that ends it. `headers`: name, value,
 * name, value, …; names are ours, values may be anybody's. Throws on a value that would not be one.
 */
export function formatResponseHead(
  status: number,
  headers: readonly string[],
  always: string,
): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n`;
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const value = headers[i + 1] ?? '';
    if (wrongInValue.test(value))
      throw new Error(`the header ${headers[i]} holds a character that headers cannot hold`);
    text += `${headers[i]}: ${value}\r\n`;
  }
  return `${text}${always}\r\n`;
}

/** `lines` with the date of now, which is made once a second. */
function responseHeadEnd(clock: Clock, lines: string): () => string {
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

/** So much of a next request is read while the answer to the one before it is made. */
const aheadBytesMax = 16_384;
/**
 * A request that comes in more pieces, or for longer than so many looks, is read by somebody else.
 */
const piecesMax = 4;
const partialLooks = 2;
/**
 * All connections together keep no more than this of requests that have not come whole: node:http
 * asks for a key before it reads a body.
 */
const keptBytesMax = 16 * 1024 * 1024;

/** One client's connection: one request at a time, and the wire of its answer. */
class FastPathConnection implements ResponseWriter {
  readonly #socket: Socket;
  readonly #terms: FastPathShared;
  /** What has come of the next request. */
  #unread: Buffer | undefined;
  #pieces = 0;
  #looks = 0;
  #busy = false;
  #ended = false;
  /** The beginning of the answer has been written. */
  #begun = false;
  /** A head that waits for the first piece behind it. */
  #head = '';
  #closed: ((complete: boolean) => void)[] = [];
  #drained: (() => void) | undefined;

  constructor(socket: Socket, terms: FastPathShared) {
    this.#socket = socket;
    this.#terms = terms;
    socket.on('data', this.#read).on('drain', this.#drain).on('timeout', this.#late);
    socket.on('end', this.#finished).on('error', this.#failed).on('close', this.#gone);
  }

  get peer(): string | undefined {
    return this.#socket.remoteAddress;
  }

  readonly #read = (piece: Buffer): void => {
    const bytes = this.#unread === undefined ? piece : Buffer.concat([this.#unread, piece]);
    if (!this.#busy) return this.#take(bytes);
    // Sent before the answer to the one before it: it waits for its turn. Reading goes on for a
    // while: that is how we hear that a client has left.
    this.#keep(bytes);
    if (bytes.length >= aheadBytesMax) this.#socket.pause();
  };

  #keep(bytes: Buffer | undefined): void {
    this.#terms.keptBytes += (bytes?.length ?? 0) - (this.#unread?.length ?? 0);
    this.#unread = bytes;
  }

  #take(bytes: Buffer): void {
    const request = parseFastPathRequest(bytes, this.#terms.paths, this.#terms.bodyBytesMax);
    if (request === 'partial' && this.#pieces < piecesMax && this.#terms.keptBytes < keptBytesMax) {
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
      this.#terms.serve(request, this);
    }
  }

  #handOver(bytes: Buffer): void {
    const socket = this.#socket;
    this.#keep(undefined);
    socket.off('data', this.#read).off('drain', this.#drain).off('timeout', this.#late);
    socket.off('end', this.#finished).off('error', this.#failed).off('close', this.#gone);
    this.#terms.handOver(this, socket, bytes);
  }

  /** From time to time. */
  look(): void {
    if (this.#busy) return;
    this.#looks += 1;
    if (this.#unread !== undefined && this.#looks >= partialLooks) this.handOverPartial();
    else if (this.#looks >= this.#terms.idleLooks) this.#socket.destroy();
  }

  closeWhenIdle(): void {
    if (!this.#busy) this.#socket.destroy();
  }

  /** A request that has begun to come is read by somebody else. */
  handOverPartial(): void {
    if (!this.#busy && this.#unread !== undefined) this.#handOver(this.#unread);
  }

  onClosed(closed: (complete: boolean) => void): void {
    if (this.#busy) this.#closed.push(closed);
    else closed(false);
  }

  whole(status: number, headers: readonly string[], body: Buffer | string): void {
    const head = formatResponseHead(status, headers, this.#terms.always());
    const last = toLatin1IfSmall(body);
    if (typeof last === 'string') return this.#last(head + last);
    this.#socket.cork();
    this.#socket.write(head, 'latin1');
    this.#last(last);
    this.#socket.uncork();
  }

  head(status: number, headers: readonly string[]): void {
    this.#head = formatResponseHead(
      status,
      headers,
      `${this.#terms.always()}transfer-encoding: chunked\r\n`,
    );
  }

  write(text: string): boolean {
    // Behind an answer's end stands the next answer.
    if (this.#ended) return true;
    if (text === '') return !this.#socket.writableNeedDrain;
    return this.#socket.write(this.#chunk(text), 'latin1');
  }

  end(text: string): void {
    if (this.#ended) return;
    this.#last(`${text === '' ? this.#heading() : this.#chunk(text)}0\r\n\r\n`);
  }

  #chunk(text: string): string {
    return `${this.#heading()}${text.length.toString(16)}\r\n${text}\r\n`;
  }

  #heading(): string {
    const head = this.#head;
    this.#head = '';
    this.#begun = true;
    return head;
  }

  #last(bytes: string | Buffer): void {
    this.#ended = true;
    if (typeof bytes === 'string') this.#socket.write(bytes, 'latin1', this.#over);
    else this.#socket.write(bytes, this.#over);
  }

  /**
   * The client has all of the answer. A write that a broken connection cut short ends without an
   * error, too.
   */
  readonly #over = (error?: Error | null): void => {
    if (error || !this.#busy || this.#socket.destroyed) return;
    this.#busy = false;
    if (this.#socket.timeout) this.#socket.setTimeout(0);
    this.#tell(true);
    if (this.#terms.closing) return this.#socket.destroySoon();
    const bytes = this.#unread;
    if (this.#socket.readableEnded) return this.#takeLast(bytes);
    if (bytes === undefined) return;
    this.#pieces = 0;
    this.#socket.resume();
    this.#take(bytes);
  };

  /**
   * Takes the last request of a client that has ended its side, or ends the connection: node:http
   * cannot read it any more.
   */
  #takeLast(bytes: Buffer = Buffer.alloc(0)): void {
    const request = parseFastPathRequest(bytes, this.#terms.paths, this.#terms.bodyBytesMax);
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

  readonly #drain = (): void => {
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

  destroy(): void {
    this.#socket.destroy();
  }

  readonly #late = (): void => this.destroy();

  /** The client will send nothing more. It may still read, or wait for an answer. */
  readonly #finished = (): void => {
    if (!this.#busy || (this.#begun && !this.#ended)) this.destroy();
    else if (!this.#ended) probeHalfClosed(this.#socket, this.#probe);
  };

  readonly #probe = (): void => {
    if (this.#busy && !this.#begun && !this.#ended) this.#socket.write(interimResponse, 'latin1');
  };

  /** What went wrong shows in its end. */
  readonly #failed = (): void => {};

  readonly #gone = (): void => {
    this.#terms.gone(this);
    this.#keep(undefined);
    if (!this.#busy) return;
    this.#busy = false;
    this.#tell(false);
  };
}
