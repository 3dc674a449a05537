import type { Readable } from 'node:stream';
import type { ResponseWriter } from './response-writer.ts';

/** Who takes nothing of what is left of an answer for so long does not get the rest. */
const lastBytesMs = 120_000;

/** The client's side of one exchange: a head, and latin1 text whose characters are bytes. */
export class ClientResponse {
  readonly #wire: ResponseWriter;
  readonly #headers: string[];
  readonly #lastBytesMs: number;
  /** The client was sent a status line. */
  started = false;
  /** The client went away, or everything has been sent. */
  closed = false;
  #left = false;
  #leave: (() => void) | undefined;
  #drain: (() => void) | undefined;
  #over: (() => void) | undefined;

  /** `headers`: name, value, name, value, … that every answer of this exchange carries. */
  constructor(wire: ResponseWriter, headers: string[], waitMs: number = lastBytesMs) {
    this.#wire = wire;
    this.#headers = headers;
    this.#lastBytesMs = waitMs;
    wire.onClosed(this.#onClosed);
  }

  readonly #onClosed = (complete: boolean): void => {
    if (this.closed) return;
    this.closed = true;
    this.#left = !complete;
    if (this.#left) this.#leave?.();
    this.#drain?.();
    this.#over?.();
  };

  /** What the connection says of the other side. */
  get peer(): string | undefined {
    return this.#wire.peer;
  }

  /** For another reply to the same client, in this one's place. */
  get parts(): [ResponseWriter, string[]] {
    return [this.#wire, this.#headers];
  }

  /**
   * Calls `leave` once when the client goes away before the answer is complete, or has gone
   * already; undefined forgets it.
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
   * To be awaited once, when nothing stands in the way of the answer any more and before anybody
   * works for it. What it throws ends the request.
   */
  get begin(): (() => Promise<void>) | undefined {
    return undefined;
  }

  /** The client has not read yet what it was sent before. */
  get stalled(): boolean {
    return this.#drain !== undefined;
  }

  header(name: string, value: string): void {
    this.#headers.push(name, value);
  }

  /** The same where the header may have been given before. */
  replaceHeader(name: string, value: string): void {
    for (let i = 0; i + 1 < this.#headers.length; i += 2) {
      if (this.#headers[i] !== name) continue;
      this.#headers[i + 1] = value;
      return;
    }
    this.header(name, value);
  }

  whole(status: number, contentType: string, body: Buffer | string): void {
    if (this.closed || this.started) return;
    this.started = true;
    this.#headers.push(
      'content-type',
      contentType,
      'content-length',
      String(Buffer.byteLength(body)),
    );
    this.#wire.whole(status, this.#headers, body);
    this.#wire.limitRemainingTime(this.#lastBytesMs);
  }

  /**
   * Sends what `body` gives as it comes, or without one the head alone, and resolves when the
   * client has it or has gone. Whoever takes nothing for long loses the connection; however it
   * ends, `body` is read to its end or destroyed.
   */
  send(status: number, body: Readable | undefined): Promise<void> {
    if (this.closed || this.started) {
      body?.destroy();
      return Promise.resolve();
    }
    this.started = true;
    this.#wire.head(status, this.#headers);
    if (body === undefined) {
      this.#wire.end('');
      return Promise.resolve();
    }
    this.onLeave(() => body.destroy());
    return this.#wire.send(body, this.#lastBytesMs);
  }

  startStream(type = 'text/event-stream; charset=utf-8'): void {
    if (this.closed || this.started) return;
    this.started = true;
    // Proxies in between must neither buffer nor transform what is meant to arrive at once.
    this.#headers.push(
      'content-type',
      type,
      'cache-control',
      'no-cache, no-transform',
      'x-accel-buffering',
      'no',
    );
    this.#wire.head(200, this.#headers);
  }

  /** False when the client reads slower than we write: wait for `onDrain`. */
  write(bytes: string): boolean {
    if (this.closed) return true;
    return this.#wire.write(bytes);
  }

  /** Calls `go` once when there is room again, or when the client has left. */
  onDrain(go: () => void): void {
    this.#drain = go;
    this.#wire.onDrain(() => {
      this.#drain = undefined;
      go();
    });
  }

  end(bytes: string): void {
    if (this.closed) return;
    this.#wire.end(bytes);
    this.#wire.limitRemainingTime(this.#lastBytesMs);
  }

  /** The end of a stream that was broken off, which tells so. */
  endBroken(bytes: string): void {
    this.end(bytes);
  }

  /** Breaks the connection: nothing more that could be said would be true. */
  destroy(): void {
    if (!this.closed) this.#wire.destroy();
  }
}

/** An answer as it went to the client. */
interface RecordedResponse {
  readonly contentType: string;
  readonly body: string;
}

/** What is written in pieces is kept up to here; beyond, it is only passed on. */
const recordedBytesMax = 64 * 1024 * 1024;

/**
 * A reply whose answer is wanted even when its client leaves: nobody hears of that, and the whole
 * answer is handed over before its last byte goes. An answer that was broken off, or is no success,
 * is not handed over.
 */
export class RecordingResponse extends ClientResponse {
  /** Whether there was an answer to hand over. */
  handedOver = false;
  readonly #outer: ClientResponse;
  readonly #begin: () => Promise<void>;
  readonly #keep: (answer: RecordedResponse) => Promise<void>;
  #pieces: string[] = [];
  #bytes = 0;
  #finished: Promise<void> = Promise.resolve();

  /**
   * Takes the place of `outer`. `begin`: see Reply. What `keep` throws is lost: the client has paid
   * for the answer and gets it.
   */
  constructor(
    outer: ClientResponse,
    begin: () => Promise<void>,
    keep: (answer: RecordedResponse) => Promise<void>,
  ) {
    super(...outer.parts);
    this.#outer = outer;
    this.#begin = begin;
    this.#keep = keep;
  }

  /** Resolves when the answer has been handed over. */
  get finished(): Promise<void> {
    return this.#finished;
  }

  override get begin(): () => Promise<void> {
    return this.#begin;
  }

  override onLeave(): void {}

  override whole(status: number, contentType: string, body: Buffer | string): void {
    this.#outer.started = true;
    if (status !== 200) return super.whole(status, contentType, body);
    this.#handOver({ contentType, body: body.toString() }, () =>
      super.whole(status, contentType, body),
    );
  }

  override startStream(type?: string): void {
    this.#outer.started = true;
    super.startStream(type);
  }

  override write(bytes: string): boolean {
    this.#take(bytes);
    return super.write(bytes);
  }

  override end(bytes: string): void {
    this.#take(bytes);
    if (this.#bytes > recordedBytesMax) return super.end(bytes);
    const body = Buffer.from(this.#pieces.join(''), 'latin1').toString();
    this.#handOver({ contentType: 'text/event-stream; charset=utf-8', body }, () =>
      super.end(bytes),
    );
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
