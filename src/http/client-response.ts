import { bufferOf, type Bytes, Latin1, latin1BytesMax } from '../base/json.ts';
import type { Readable } from 'node:stream';
import type { ResponseWriter } from './transport.ts';

/** A client that reads nothing of the rest of a response for this long does not get it. */
const lastBytesMs = 120_000;

export const eventStream = 'text/event-stream; charset=utf-8';

/** What the response objects of one exchange share. */
interface ResponseState {
  started: boolean;
}

/** The client's side of one exchange: a head, and latin1 text whose characters are bytes. */
export class ClientResponse {
  readonly #writer: ResponseWriter;
  readonly #headers: string[];
  readonly #lastBytesMs: number;
  readonly #state: ResponseState;
  /** The client went away, or everything has been sent. */
  closed = false;
  /** How often there was room again: a client that is always behind, but reads, makes it grow. */
  drains = 0;
  #left = false;
  #leave: (() => void) | undefined;
  #drain: (() => void) | undefined;
  #over: (() => void) | undefined;

  /** `headers`: name, value, name, value, … of every response in this exchange. */
  constructor(
    writer: ResponseWriter,
    headers: string[],
    waitMs: number = lastBytesMs,
    state: ResponseState = { started: false },
  ) {
    this.#writer = writer;
    this.#headers = headers;
    this.#lastBytesMs = waitMs;
    this.#state = state;
    writer.onClosed(this.#onClosed);
  }

  readonly #onClosed = (complete: boolean): void => {
    if (this.closed) return;
    this.closed = true;
    this.#left = !complete;
    if (this.#left) this.#leave?.();
    const drain = this.#drain;
    this.#drain = undefined;
    drain?.();
    this.#over?.();
  };

  /** The client's address, as the connection gives it. */
  get peer(): string | undefined {
    return this.#writer.peer;
  }

  /** For another response object that takes the place of this one: when it starts, both have. */
  get parts(): ConstructorParameters<typeof ClientResponse> {
    return [this.#writer, this.#headers, this.#lastBytesMs, this.#state];
  }

  /** The client was sent a status line, or will be. */
  get started(): boolean {
    return this.#state.started;
  }

  protected markStarted(): void {
    this.#state.started = true;
  }

  /**
   * Calls `leave` once when the client goes away before the response is complete, or at once if it
   * has gone already; undefined forgets it.
   */
  onLeave(leave: (() => void) | undefined): void {
    this.#leave = leave;
    if (this.#left) leave?.();
  }

  /** Calls `go` once the client has everything, or has gone. */
  onOver(go: () => void): void {
    this.#over = go;
    if (this.closed) go();
  }

  /**
   * The gateway calls it once and waits for it: after the money is reserved, and before any vendor
   * gets the request. An error that it throws ends the request.
   */
  get beforeAttempts(): (() => Promise<void>) | undefined {
    return undefined;
  }

  /** The client has not read yet what was sent before. */
  get stalled(): boolean {
    return this.#drain !== undefined;
  }

  header(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  /** Sets a header that may have been set before; undefined removes it. */
  replaceHeader(name: string, value: string | undefined): void {
    for (let i = 0; i + 1 < this.#headers.length; i += 2) {
      if (this.#headers[i] !== name) continue;
      if (value === undefined) this.#headers.splice(i, 2);
      else this.#headers[i + 1] = value;
      return;
    }
    if (value !== undefined) this.header(name, value);
  }

  whole(status: number, contentType: string, body: Bytes | string): void {
    if (this.closed || this.started) return;
    this.markStarted();
    this.sendWhole(status, contentType, body);
  }

  protected sendWhole(status: number, contentType: string, body: Bytes | string): void {
    if (this.closed) return;
    this.#headers.push(
      'content-type',
      contentType,
      'content-length',
      String(typeof body === 'string' ? Buffer.byteLength(body) : body.length),
    );
    this.#writer.whole(status, this.#headers, body);
    this.#writer.limitRemainingTime(this.#lastBytesMs);
  }

  /**
   * Sends `body` as it comes, or without one the head alone; resolves when the client has it or has
   * gone. A client that reads nothing for long loses the connection. However it ends, `body` is
   * read to its end or destroyed.
   */
  send(status: number, body: Readable | undefined): Promise<void> {
    if (this.closed || this.started) {
      body?.destroy();
      return Promise.resolve();
    }
    this.markStarted();
    this.#writer.head(status, this.#headers);
    if (body === undefined) {
      this.#writer.end('');
      return Promise.resolve();
    }
    this.onLeave(() => body.destroy());
    return this.#writer.send(body, this.#lastBytesMs);
  }

  startStream(type = eventStream): void {
    if (this.closed || this.started) return;
    this.markStarted();
    // Proxies in between must neither buffer nor transform a stream.
    this.#headers.push(
      'content-type',
      type,
      'cache-control',
      'no-cache, no-transform',
      'x-accel-buffering',
      'no',
    );
    this.#writer.head(200, this.#headers);
    // They are written, and a stream may be open for long.
    this.#headers.length = 0;
  }

  /** False when the client reads slower than Tollgate writes: wait for `onDrain`. */
  write(bytes: string): boolean {
    if (this.closed) return true;
    return this.#writer.write(bytes);
  }

  /** Calls `go` once when there is room again, or when the client has left. */
  onDrain(go: () => void): void {
    this.#drain = go;
    this.#writer.onDrain(() => {
      this.#drain = undefined;
      this.drains += 1;
      go();
    });
  }

  end(bytes: string): void {
    if (this.closed) return;
    this.#writer.end(bytes);
    this.#writer.limitRemainingTime(this.#lastBytesMs);
  }

  /** Ends a stream that was broken off; `bytes` report the error. */
  endBroken(bytes: string): void {
    this.end(bytes);
  }

  /**
   * The same for formats in which the end of the connection tells a client that more is missing.
   */
  breakAfter(bytes: string): void {
    if (this.closed) return;
    this.#writer.breakAfter(bytes);
    this.#writer.limitRemainingTime(this.#lastBytesMs);
  }

  /** Breaks the connection: no further message would be true. */
  destroy(): void {
    if (!this.closed) this.#writer.destroy();
  }
}

/** A response as the client got it. */
interface RecordedResponse {
  readonly contentType: string;
  readonly body: Buffer;
}

/** A streamed response is recorded up to this size; a larger one is only passed on. */
const recordedBytesMax = 64 * 1024 * 1024;

/**
 * Records a response that is wanted even when its client leaves: `onLeave` does nothing, and the
 * whole response is handed to `keep` before its last byte is sent. A response that was broken off,
 * or is no success, is not handed over.
 */
export class RecordingResponse extends ClientResponse {
  /** Whether a response was handed over. */
  handedOver = false;
  readonly #beforeAttempts: () => Promise<void>;
  readonly #keep: (answer: RecordedResponse) => Promise<void>;
  #type = eventStream;
  #pieces: string[] = [];
  #bytes = 0;
  #finished: Promise<void> = Promise.resolve();

  /**
   * Takes the place of `outer`. `beforeAttempts`: see `ClientResponse`. Errors of `keep` are ignored:
   * the client has paid for the response and gets it.
   */
  constructor(
    outer: ClientResponse,
    beforeAttempts: () => Promise<void>,
    keep: (answer: RecordedResponse) => Promise<void>,
  ) {
    super(...outer.parts);
    this.#beforeAttempts = beforeAttempts;
    this.#keep = keep;
  }

  /** Resolves when the response has been handed over. */
  get finished(): Promise<void> {
    return this.#finished;
  }

  override get beforeAttempts(): () => Promise<void> {
    return this.#beforeAttempts;
  }

  override onLeave(): void {}

  override whole(status: number, contentType: string, body: Bytes | string): void {
    if (status !== 200) return super.whole(status, contentType, body);
    this.markStarted();
    this.#handOver(
      { contentType, body: typeof body === 'string' ? Buffer.from(body) : bufferOf(body) },
      () => this.sendWhole(status, contentType, body),
    );
  }

  override startStream(type = eventStream): void {
    this.#type = type;
    super.startStream(type);
  }

  override write(bytes: string): boolean {
    this.#take(bytes);
    return super.write(bytes);
  }

  override end(bytes: string): void {
    this.#take(bytes);
    if (this.#bytes > recordedBytesMax) return super.end(bytes);
    const body = Buffer.from(this.#pieces.join(''), 'latin1');
    this.#handOver({ contentType: this.#type, body }, () => super.end(bytes));
  }

  override endBroken(bytes: string): void {
    super.end(bytes);
  }

  #take(bytes: string): void {
    this.#bytes += bytes.length;
    if (this.#bytes <= recordedBytesMax) this.#pieces.push(bytes);
    else this.#pieces = [];
  }

  #handOver(answer: RecordedResponse, send: () => void): void {
    this.handedOver = true;
    this.#finished = this.#keep(answer)
      .catch(() => undefined)
      .then(send);
  }
}

/**
 * A small body as latin1 text: text leaves in one write together with its head, a buffer in a
 * second one.
 */
export function toLatin1IfSmall(body: Bytes | string): Buffer | string {
  if (body instanceof Latin1) return body.text;
  if (
    typeof body === 'string' &&
    body.length <= latin1BytesMax &&
    Buffer.byteLength(body) === body.length
  )
    return body;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return bytes.length <= latin1BytesMax ? bytes.toString('latin1') : bytes;
}

/**
 * A writer without a client, for work that goes on after its client has left: it drops all bytes.
 */
export class NullWriter implements ResponseWriter {
  readonly peer = undefined;
  #closed: ((complete: boolean) => void)[] = [];
  #complete: boolean | undefined;

  onClosed(closed: (complete: boolean) => void): void {
    if (this.#complete === undefined) this.#closed.push(closed);
    else closed(this.#complete);
  }

  whole(): void {
    this.#close(true);
  }

  head(): void {}

  write(): boolean {
    return true;
  }

  onDrain(): void {}

  end(): void {
    this.#close(true);
  }

  send(body: Readable): Promise<void> {
    body.destroy();
    this.#close(true);
    return Promise.resolve();
  }

  limitRemainingTime(): void {}

  breakAfter(): void {
    this.#close(false);
  }

  /** Acts as if the client had left. */
  destroy(): void {
    this.#close(false);
  }

  #close(complete: boolean): void {
    this.#complete ??= complete;
    const closed = this.#closed;
    this.#closed = [];
    for (const tell of closed) tell(complete);
  }
}
