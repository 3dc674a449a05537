import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { type ResponseHead, ResponseParser, type ResponseListener } from './response-parser.ts';

/** What a connection carries: one call at a time. */
export interface ConnectionCall extends ResponseListener {
  /** The request goes out. */
  sent(connection: Connection): void;
  end(): void;
  failed(error: Error): void;
}

/** A request made ready: its head as latin1 text, and what follows it. */
export interface OutgoingRequest {
  readonly head: string;
  readonly body: Buffer | readonly Buffer[] | Readable;
  /** So many looks without a byte of the reply, and then between two of them, are too many. */
  readonly firstByteLooks: number;
  readonly idleLooks: number;
}

/** Whose connection it is. */
export interface ConnectionOwner {
  /** It can carry the next call. */
  free(connection: Connection): void;
  /** It carries no call any more. */
  gone(connection: Connection): void;
}

/** Where to, and how long that may take. */
export interface UpstreamAddress {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  readonly connectTimeoutMs: number;
  /** Of the last connection, so that the next one need not prove everything again. */
  session: Buffer | undefined;
}

/** No byte came in time. */
export class UpstreamTimeout extends Error {
  readonly code = 'ETIMEDOUT';
}

/** What a caller does not wait for has to come within so many looks. */
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
  readonly #reader: ResponseParser;
  #call: ConnectionCall | undefined;
  #idleLooks = 0;
  #looksLeft = 0;
  #keeps = true;
  #paused = false;
  /** Its caller has left, and it waits for the end of the reply. */
  #left = false;
  #uploading: Readable | undefined;

  /** Opens it; `ready` is called once it is open, `failed` instead when that cannot be. */
  constructor(
    place: UpstreamAddress,
    owner: ConnectionOwner,
    ready: (connection: Connection) => void,
    failed: (error: Error) => void,
  ) {
    this.#owner = owner;
    this.#reader = new ResponseParser(this);
    this.#socket = openSocket(place, this.#onRead);
    whenOpen(this.#socket, place, () => this.#opened(ready), failed);
  }

  #opened(ready: (connection: Connection) => void): void {
    this.#socket.on('error', this.#onError).on('end', this.#onEnd).on('close', this.#onEnd);
    ready(this);
  }

  get busy(): boolean {
    return this.#call !== undefined;
  }

  carry(call: ConnectionCall, { head, body, firstByteLooks, idleLooks }: OutgoingRequest): void {
    this.#call = call;
    this.#left = false;
    this.#idleLooks = idleLooks;
    this.#looksLeft = firstByteLooks;
    this.#reader.reset();
    call.sent(this);
    const socket = this.#socket;
    if (body instanceof Readable) this.#upload(head, body, firstByteLooks);
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

  /** From time to time. False: it is of no more use. */
  look(unusedLooksMax: number): void {
    if (this.#call === undefined) {
      this.#unusedLooks += 1;
      if (this.#unusedLooks >= unusedLooksMax) this.close();
    } else if (!this.#paused) {
      this.#looksLeft -= 1;
      if (this.#looksLeft <= 0)
        this.fail(
          new UpstreamTimeout(
            this.#reader.begun ? 'the vendor fell silent' : 'the vendor did not answer in time',
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

  /** Bytes have come into `arrivals`, which the next ones of any connection overwrite. */
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
    // Until the head is there as a whole, time runs from the request: drop by drop it would never
    // end.
    if (this.#reader.headed && !this.#left) this.#looksLeft = this.#idleLooks;
    try {
      this.#went(this.#reader.push(piece));
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
  }

  /**
   * The caller has heard enough: what is left of the reply is read and forgotten, where it comes at
   * once, so that the next call need not connect anew.
   */
  leave(): void {
    if (this.#paused) return this.close();
    this.#left = true;
    this.#looksLeft = leftLooks;
  }

  /** The reply has been read as far as it has come. */
  #went(goesOn: boolean): void {
    if (goesOn && this.#reader.over) this.#complete();
    else if (!goesOn && !this.#paused) {
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
      this.#went(this.#reader.go());
    } catch (error) {
      this.fail(error instanceof Error ? error : new Error(String(error)));
    }
    if (!this.#paused) this.#socket.resume();
  }

  #complete(): void {
    const call = this.#call;
    this.#call = undefined;
    // A reply before the end of the request: what is left of that would be read as the next one.
    if (
      this.#keeps &&
      !this.#reader.surplus &&
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
    if (this.#call !== undefined && this.#reader.endsWithConnection) this.#complete();
    else
      this.fail(
        new Error(
          this.#reader.begun
            ? 'the vendor closed inside its reply'
            : 'the vendor closed without a reply',
        ),
      );
  };

  /** Ends it at once, and its call with this error. */
  fail(error: Error): void {
    const call = this.#call;
    this.#call = undefined;
    this.close();
    call?.failed(error);
  }

  /** Ends it at once; its call hears nothing. */
  close(): void {
    this.#call = undefined;
    this.#reader.stop();
    this.#uploading?.destroy();
    this.#uploading = undefined;
    this.#socket.destroy();
    this.#owner.gone(this);
  }
}

/**
 * All connections read into the same memory, and what came is copied out in its own size: else each
 * read is given 64 KB, of which all but the few bytes of a chunk have to be given back (a fifteenth
 * of what a streamed chunk costs).
 */
const receiveBuffer = Buffer.allocUnsafeSlow(65_536);

function openSocket(place: UpstreamAddress, read: (count: number) => boolean): Socket {
  const { host, port } = place;
  const onread = { buffer: receiveBuffer, callback: read };
  const options = {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: probeMs,
    onread,
  };
  if (!place.secure) return connectTcp(options);
  const socket = connectTls({
    ...options,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ALPNProtocols: ['http/1.1'],
    ...(place.session === undefined ? {} : { session: place.session }),
  });
  return socket.on('session', (session) => {
    place.session = session;
  });
}

/**
 * Calls one of the two, once. What it remembers meanwhile is forgotten then: thousands of
 * connections stay open for long.
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
 * arrived together leave together: a vendor's side that is woken for each of them costs this one
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
