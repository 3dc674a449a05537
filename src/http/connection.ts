import { type Bytes, Latin1 } from '../base/json.ts';
import { asError } from '../base/thrown.ts';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';

/** A call that a connection carries: one at a time. */
export interface ConnectionCall extends ResponseListener {
  /** The connection begins to send the request. */
  sent(connection: Connection): void;
  end(): void;
  failed(error: Error): void;
}

/** A request that is ready to send: its head as latin1 text, and its body. */
export interface OutgoingRequest {
  readonly head: string;
  readonly body: Bytes | readonly Buffer[] | Readable;
  /**
   * The call times out after this many looks (see `Connection.look`) without a first byte, and
   * later between two bytes.
   */
  readonly firstByteLooks: number;
  readonly idleLooks: number;
}

/** The owner of a connection. */
export interface ConnectionOwner {
  /** The connection can carry the next call. */
  free(connection: Connection): void;
  /** The connection is closed. */
  gone(connection: Connection): void;
}

/** The address to connect to, and the time that may take. */
export interface UpstreamAddress {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  readonly connectTimeoutMs: number;
  /** The TLS session of the last connection, which shortens the handshake of the next one. */
  session: Buffer | undefined;
}

/** No byte came in time. */
export class UpstreamTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

/** The rest of a reply that no caller waits for has to arrive within this many looks. */
const leftLooks = 4;
/** Requests as short as this leave as one text, head and body in one write. */
const textBytesMax = 16_384;
const probeMs = 60_000;

/** One connection to a vendor. */
export class Connection implements ResponseListener {
  /** How long the vendor keeps it open unused, if it says so. */
  keptMs: number | undefined;
  #unusedLooks = 0;
  readonly #owner: ConnectionOwner;
  readonly #socket: Socket;
  readonly #parser: ResponseParser;
  #call: ConnectionCall | undefined;
  #idleLooks = 0;
  #looksLeft = 0;
  #keeps = true;
  #paused = false;
  /** Its caller has left, and it waits for the end of the reply. */
  #left = false;
  #uploading: Readable | undefined;

  /** Opens the connection; calls `ready` once it is open, or `failed` when it cannot be opened. */
  constructor(
    address: UpstreamAddress,
    owner: ConnectionOwner,
    ready: (connection: Connection) => void,
    failed: (error: Error) => void,
  ) {
    this.#owner = owner;
    this.#parser = new ResponseParser(this);
    this.#socket = openSocket(address, this.#onRead);
    whenOpen(this.#socket, address, () => this.#opened(ready), failed);
  }

  #opened(ready: (connection: Connection) => void): void {
    this.#socket.on('error', this.#onError).on('end', this.#onEnd).on('close', this.#onEnd);
    ready(this);
  }

  carry(call: ConnectionCall, { head, body, firstByteLooks, idleLooks }: OutgoingRequest): void {
    this.#call = call;
    this.#left = false;
    this.#idleLooks = idleLooks;
    this.#looksLeft = firstByteLooks;
    this.#parser.reset();
    call.sent(this);
    const socket = this.#socket;
    if (body instanceof Latin1) writeWithOthers(socket, head + body.text);
    else if (body instanceof Readable) this.#upload(head, body, firstByteLooks);
    else if (Buffer.isBuffer(body) && body.length <= textBytesMax)
      writeWithOthers(socket, head + body.toString('latin1'));
    else {
      socket.cork();
      socket.write(head, 'latin1');
      for (const piece of Buffer.isBuffer(body) ? [body] : body) socket.write(piece);
      socket.uncork();
    }
  }

  #upload(head: string, body: Readable, firstByteLooks: number): void {
    this.#uploading = body;
    this.#socket.write(head, 'latin1');
    body.on('error', (error) => this.fail(error));
    body.on('data', () => {
      this.#looksLeft = firstByteLooks;
    });
    body.on('end', () => {
      this.#uploading = undefined;
    });
    body.pipe(this.#socket, { end: false });
  }

  /** Called at regular intervals, to notice timeouts and close an unused connection. */
  look(unusedLooksMax: number): void {
    if (this.#call === undefined) {
      this.#unusedLooks += 1;
      if (this.#unusedLooks >= unusedLooksMax) this.close();
    } else if (!this.#paused) {
      this.#looksLeft -= 1;
      if (this.#looksLeft <= 0)
        this.fail(
          new UpstreamTimeout(
            this.#parser.begun ? 'the vendor fell silent' : 'the vendor did not answer in time',
          ),
        );
    }
  }

  head(head: ResponseHead): void {
    this.#looksLeft = this.#idleLooks;
    this.#keeps = head.keeps;
    this.keptMs = head.keptMs;
    this.#call?.head(head);
  }

  data(piece: Buffer): boolean {
    return this.#call?.data(piece) ?? true;
  }

  /**
   * Called with the number of bytes in `receiveBuffer`, which the next read of any connection
   * overwrites.
   */
  readonly #onRead = (count: number): boolean => {
    if (this.#call === undefined) this.close();
    else {
      const piece = Buffer.allocUnsafe(count);
      receiveBuffer.copy(piece, 0, 0, count);
      this.#read(piece);
    }
    return true;
  };

  #read(piece: Buffer): void {
    // Until the whole head has arrived, the time since the request counts: a head that comes drop
    // by drop would never time out.
    if (this.#parser.headed && !this.#left) this.#looksLeft = this.#idleLooks;
    try {
      this.#afterRead(this.#parser.push(piece));
    } catch (error) {
      this.fail(asError(error));
    }
  }

  /**
   * The caller needs no more. The rest of the reply is read and dropped if it arrives soon, so that
   * the next call need not connect anew.
   */
  leave(): void {
    if (this.#paused) return this.close();
    this.#left = true;
    this.#looksLeft = leftLooks;
  }

  /** Handles the end of a read: the reply is complete, or its listener pauses. */
  #afterRead(readsOn: boolean): void {
    if (readsOn && this.#parser.over) this.#complete();
    else if (!readsOn && !this.#paused) {
      this.#paused = true;
      this.#socket.pause();
    }
  }

  /** Reads on after a pause. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#looksLeft = this.#idleLooks;
    try {
      this.#afterRead(this.#parser.go());
    } catch (error) {
      this.fail(asError(error));
    }
    if (!this.#paused) this.#socket.resume();
  }

  #complete(): void {
    const call = this.#call;
    this.#call = undefined;
    // A reply that came before the end of the request: the vendor would read the rest of that as
    // the next request.
    if (
      this.#keeps &&
      !this.#parser.surplus &&
      this.#uploading === undefined &&
      !this.#socket.destroyed
    ) {
      this.#unusedLooks = 0;
      this.#owner.free(this);
    } else this.close();
    call?.end();
  }

  readonly #onError = (error: Error): void => this.fail(error);

  readonly #onEnd = (): void => {
    if (this.#call !== undefined && this.#parser.endsWithConnection) this.#complete();
    else
      this.fail(
        new Error(
          this.#parser.begun
            ? 'the vendor closed inside its reply'
            : 'the vendor closed without a reply',
        ),
      );
  };

  /** Closes the connection at once, and fails its call with this error. */
  fail(error: Error): void {
    const call = this.#call;
    this.#call = undefined;
    this.close();
    call?.failed(error);
  }

  /** Closes the connection at once; its call gets no event. */
  close(): void {
    this.#call = undefined;
    this.#parser.stop();
    this.#uploading?.destroy();
    this.#uploading = undefined;
    this.#socket.destroy();
    this.#owner.gone(this);
  }
}

/**
 * All connections read into the same memory, and each read is copied out in its own size: otherwise
 * each read would take 64 KB and give back all but the few bytes of a chunk (a fifteenth of what a
 * streamed chunk costs).
 */
const receiveBuffer = Buffer.allocUnsafeSlow(65_536);

function openSocket(address: UpstreamAddress, read: (count: number) => boolean): Socket {
  const { host, port } = address;
  const onread = { buffer: receiveBuffer, callback: read };
  const options = {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: probeMs,
    onread,
  };
  if (!address.secure) return connectTcp(options);
  const socket = connectTls({
    ...options,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    ...(address.session === undefined ? {} : { session: address.session }),
  });
  return socket.on('session', (session) => {
    address.session = session;
  });
}

/**
 * Calls either `opened` or `failed`, once, and then drops its listeners: thousands of connections
 * stay open for long.
 */
function whenOpen(
  socket: Socket,
  { secure, connectTimeoutMs }: UpstreamAddress,
  opened: () => void,
  failed: (error: Error) => void,
): void {
  let why: Error | undefined;
  const late = setTimeout(
    () => socket.destroy(new UpstreamTimeout(`no connection within ${connectTimeoutMs} ms`)),
    connectTimeoutMs,
  ).unref();
  const note = (error: Error): void => {
    why = error;
  };
  const notOpened = (): void => {
    clearTimeout(late);
    failed(why ?? new Error('the connection was given up'));
  };
  const ready = (): void => {
    clearTimeout(late);
    socket.off('error', note).off('close', notOpened);
    opened();
  };
  socket
    .on('error', note)
    .once('close', notOpened)
    .once(secure ? 'secureConnect' : 'connect', ready);
}

const texts: string[] = [];
const sockets: Socket[] = [];

/**
 * Writes a latin1 text once everything that has already arrived has been handled. Requests that
 * arrived together leave together: waking the vendor's side for each of them costs this process
 * more than the write.
 */
function writeWithOthers(socket: Socket, text: string): void {
  sockets.push(socket);
  if (texts.push(text) === 1) setImmediate(flushWrites);
}

function flushWrites(): void {
  const waiting = sockets.splice(0);
  const said = texts.splice(0);
  for (let i = 0; i < said.length; i += 1) waiting[i]?.write(said[i] ?? '', 'latin1');
}

/** The headers of a reply as they came, parsed only on lookup. */
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

  /** All values of the header, in the order they came. */
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
    return { value: trimSpaces(this.#text.slice(at + mark.length, end)), end };
  }

  /** By name in lower case; of several with one name the last. */
  toObject(): Record<string, string> {
    const all: Record<string, string> = {};
    for (const line of this.#text.split('\r\n')) {
      const colon = line.indexOf(':');
      if (colon > 0) all[line.slice(0, colon).toLowerCase()] = trimSpaces(line.slice(colon + 1));
    }
    return all;
  }
}

/**
 * Removes the spaces around a value. Tabs stay: other parsers take them for part of the value, and
 * a length with one is no number.
 */
function trimSpaces(value: string): string {
  let from = 0;
  let to = value.length;
  while (value.charCodeAt(from) === space) from += 1;
  while (to > from && value.charCodeAt(to - 1) === space) to -= 1;
  return value.slice(from, to);
}

/** A reply that breaks the rules of HTTP/1.1: what follows on its connection means nothing. */
export class MalformedResponse extends Error {
  readonly code = 'BAD_REPLY';
}

/** The parsed head of a reply. */
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
 * colon, no control characters. A parser that reads those in another way than a proxy before it
 * takes one reply for two (RFC 9112 §2.2, §5).
 */
const plainHead =
  /^HTTP\/1\.[01] [1-9]\d\d(?: [\t\x20-\x7e\x80-\xff]*)?(?:\r\n[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*)*$/;

/**
 * Reads a head: status line and headers without the empty line that ends them. Throws
 * MalformedResponse. RFC 9112 §4, §6.3.
 */
function parseResponseHead(text: string): ResponseHead {
  if (!plainHead.test(text))
    throw new MalformedResponse(`no head of a reply: ${JSON.stringify(text.slice(0, 60))}`);
  const status = Number(text.slice(9, 12));
  const lineEnd = text.indexOf('\r\n');
  const headers = new ResponseHeaders(lineEnd < 0 ? '' : text.slice(lineEnd));
  const coding = headers.get('transfer-encoding');
  const body = bodyOf(status, headers, coding);
  // Several headers of this name are one list (RFC 9110 §5.3): any other word in it closes.
  const connection = headers.all('connection').join().toLowerCase();
  const is11 = text[7] === '1';
  // A length beside chunks is how a second reply is smuggled into the first, and HTTP/1.0 knows no
  // chunks.
  const doubtful = coding !== undefined && (!is11 || headers.get('content-length') !== undefined);
  const stays = connection === '' ? is11 : /^keep-alive(?: *, *keep-alive)*$/.test(connection);
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
 * The vendor closes an unused connection after this time; Tollgate stops using it a second earlier.
 */
function keptOf(keepAlive: string | undefined): number | undefined {
  const seconds = keepAlive === undefined ? undefined : /timeout=(\d+)/.exec(keepAlive)?.[1];
  return seconds === undefined ? undefined : Math.max(0, Number(seconds) - 1) * 1_000;
}

/** Receives a reply as it is read. */
interface ResponseListener {
  /** Not called for informational replies (1xx). */
  head(head: ResponseHead): void;
  /** `piece` is never empty. False: no more calls before `go`. */
  data(piece: Buffer): boolean;
}

const headEnd = Buffer.from('\r\n\r\n');
const headBytesMax = 64 * 1024;
/** A chunk's length in hexadecimal digits, and its extension. */
const chunkLineBytesMax = 4 * 1024;
/** The most informational replies (1xx) before the reply itself. */
const informationsMax = 32;

const plainExtension = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that frame a message have no meaning after it (RFC 9110 §6.5.1). */
const plainTrailer =
  /^(?!content-length:|transfer-encoding:)[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*$/i;

/** The part of the reply to which the next byte belongs. */
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
 * Parses one reply after another from the bytes of a connection, in pieces of any size. A body that
 * arrives in one piece is not copied. RFC 9112.
 */
export class ResponseParser {
  readonly #listener: ResponseListener;
  #state: ParserState = 'head';
  /** Bytes of the body or of the chunk that are still to come, or of the trailers that may. */
  #left = 0;
  #informations = 0;
  #unread: Buffer | undefined;
  #paused = false;
  #stopped = false;

  constructor(listener: ResponseListener) {
    this.#listener = listener;
  }

  /** The listener has the whole reply. */
  get over(): boolean {
    return this.#state === 'over' && !this.#paused;
  }

  /** The head of the reply has arrived. */
  get headed(): boolean {
    return this.#state !== 'head';
  }

  /** Some of the reply has arrived, so that it is cut short if the connection ends now. */
  get begun(): boolean {
    return this.#state !== 'head' || this.#unread !== undefined;
  }

  /** Bytes arrived that belong to no requested reply. */
  get surplus(): boolean {
    return this.#state === 'over' && this.#unread !== undefined;
  }

  /** The end of the connection is also the end of the reply. */
  get endsWithConnection(): boolean {
    return this.#state === 'to the end' && !this.#stopped;
  }

  /** Prepares for the next reply. */
  reset(): void {
    this.#state = 'head';
    this.#left = 0;
    this.#informations = 0;
    this.#unread = undefined;
    this.#paused = false;
  }

  /** The listener gets no more calls. */
  stop(): void {
    this.#stopped = true;
  }

  /** Goes on after the listener's `data` returned false. Returns as `push`. */
  go(): boolean {
    if (!this.#paused) return true;
    this.#paused = false;
    const unread = this.#unread;
    this.#unread = undefined;
    return unread === undefined || this.push(unread);
  }

  /** Reads the next bytes; false while the listener takes no more. Throws MalformedResponse. */
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
   * Reads the element at `at` and returns its end; returns `at` itself while its bytes are
   * incomplete.
   */
  #step(piece: Buffer, at: number): number {
    switch (this.#state) {
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
    if (head.body === 'chunked') this.#state = 'chunk line';
    else if (head.body === 'connection') this.#state = 'to the end';
    else {
      this.#left = head.body;
      this.#state = head.body === 0 ? 'over' : 'counted';
    }
    this.#listener.head(head);
    return end + headEnd.length;
  }

  #body(piece: Buffer, at: number, then: ParserState): number {
    const end = Math.min(piece.length, at + this.#left);
    this.#left -= end - at;
    if (this.#left === 0) this.#state = then;
    this.#give(at === 0 && end === piece.length ? piece : piece.subarray(at, end));
    return end;
  }

  #give(piece: Buffer): void {
    if (!this.#listener.data(piece)) this.#paused = true;
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
    this.#state = length === 0 ? 'trailer' : 'chunk';
    return end;
  }

  #chunkEnd(piece: Buffer, at: number): number {
    if (piece.length - at < 2) return at;
    if (piece[at] !== carriage || piece[at + 1] !== newline)
      throw new MalformedResponse('a chunk is longer than it says');
    this.#state = 'chunk line';
    return at + 2;
  }

  #trailer(piece: Buffer, at: number): number {
    const end = this.#lineEnd(piece, at);
    this.#left -= end - at;
    if (this.#left < 0) throw new MalformedResponse(`trailers of more than ${headBytesMax} bytes`);
    if (end === at + 2) this.#state = 'over';
    else if (end > at && !plainTrailer.test(piece.toString('latin1', at, end - 2)))
      throw new MalformedResponse('no trailer after the last chunk');
    return end;
  }

  /** The index after the line that begins at `at`; `at` itself while the line is incomplete. */
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
