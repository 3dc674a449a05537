import type { Readable } from 'node:stream';
import type { Wire } from './wire.ts';

/** Who takes nothing of what is left of an answer for so long does not get the rest. */
const lastBytesMs = 120_000;

/** The client's side of one exchange: a head, and latin1 text whose characters are bytes. */
export class Reply {
  readonly #wire: Wire;
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
  constructor(wire: Wire, headers: string[], waitMs: number = lastBytesMs) {
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
  get parts(): [Wire, string[]] {
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
    this.#wire.limitTheRest(this.#lastBytesMs);
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
    this.#wire.limitTheRest(this.#lastBytesMs);
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
