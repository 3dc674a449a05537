import type { ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream';

const textBytesMax = 16_384;

/** Who takes nothing of what is left of an answer for so long does not get the rest. */
const lastBytesMs = 120_000;

/** The client's side of one exchange: a hijacked response, written as heads and latin1 text whose characters are bytes. */
export class Reply {
  readonly #response: ServerResponse;
  readonly #headers: string[];
  readonly #lastBytesMs: number;
  /** The client was sent a status line. */
  started = false;
  /** The client went away, or everything has been sent. */
  closed = false;
  #queued = false;
  #leave: (() => void) | undefined;
  #drain: (() => void) | undefined;
  #over: (() => void) | undefined;

  /** `headers`: name, value, name, value, … that every answer of this exchange carries. */
  constructor(response: ServerResponse, headers: string[], waitMs: number = lastBytesMs) {
    this.#response = response;
    this.#headers = headers;
    this.#lastBytesMs = waitMs;
    response.on('close', this.#onClose);
    // An answer that waits for its turn behind another one has no connection yet, and would not hear of its end.
    if (response.socket === null) {
      this.#queued = true;
      response.req.socket.setMaxListeners(0).once('close', this.#onClose);
    }
  }

  readonly #onClose = (): void => {
    if (this.closed) return;
    const left = !this.#response.writableFinished;
    this.closed = true;
    if (this.#queued) this.#response.req.socket.off('close', this.#onClose);
    if (left) this.#leave?.();
    this.#drain?.();
    this.#over?.();
  };

  /** For another reply to the same client, in this one's place. */
  get parts(): [ServerResponse, string[]] {
    return [this.#response, this.#headers];
  }

  /** Calls `leave` once when the client goes away before the answer is complete, or has gone already; undefined forgets it. */
  onLeave(leave: (() => void) | undefined): void {
    this.#leave = leave;
    if (this.closed) leave?.();
  }

  /** Calls `go` once the client has everything, or has gone. */
  onOver(go: () => void): void {
    this.#over = go;
    if (this.closed) go();
  }

  /** To be awaited once, when nothing stands in the way of the answer any more and before anybody works for it. What it throws ends the request. */
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

  whole(status: number, contentType: string, body: Buffer | string): void {
    if (this.closed || this.started) return;
    this.started = true;
    this.#headers.push('content-type', contentType, 'content-length', String(Buffer.byteLength(body)));
    this.#response.writeHead(status, this.#headers);
    // A short body as text leaves in one write together with its head; as a buffer it would be a second one.
    if (Buffer.isBuffer(body) && body.length <= textBytesMax) this.#response.end(body.toString('latin1'), 'latin1');
    else this.#response.end(body);
    this.#limitTheRest();
  }

  /**
   * Sends what `body` gives as it comes, or without one the head alone, and resolves when the client has it or has gone. Whoever takes nothing for long loses the
   * connection; however it ends, `body` is read to its end or destroyed.
   */
  send(status: number, body: Readable | undefined): Promise<void> {
    const response = this.#response;
    if (this.closed || this.started) {
      body?.destroy();
      return Promise.resolve();
    }
    this.started = true;
    response.writeHead(status, this.#headers);
    if (body === undefined) {
      response.end();
      return Promise.resolve();
    }
    response.setTimeout(this.#lastBytesMs, () => response.destroy());
    this.onLeave(() => body.destroy());
    return new Promise((resolve) => {
      pipeline(body, response, () => resolve());
    });
  }

  startStream(type = 'text/event-stream; charset=utf-8'): void {
    if (this.closed || this.started) return;
    this.started = true;
    // Proxies in between must neither buffer nor transform what is meant to arrive at once.
    this.#headers.push('content-type', type, 'cache-control', 'no-cache, no-transform', 'x-accel-buffering', 'no');
    this.#response.writeHead(200, this.#headers);
  }

  /** False when the client reads slower than we write: wait for `onDrain`. */
  write(bytes: string): boolean {
    if (this.closed) return true;
    return this.#response.write(bytes, 'latin1');
  }

  /** Calls `go` once when there is room again, or when the client has left. */
  onDrain(go: () => void): void {
    this.#drain = go;
    this.#response.once('drain', () => {
      this.#drain = undefined;
      go();
    });
  }

  end(bytes: string): void {
    if (this.closed) return;
    this.#response.end(bytes, 'latin1');
    this.#limitTheRest();
  }

  /** The end of a stream that was broken off, which tells so. */
  endBroken(bytes: string): void {
    this.end(bytes);
  }

  /** The connection's own timer, which the next request sets back. */
  #limitTheRest(): void {
    if (this.#response.writableLength > 0) this.#response.socket?.setTimeout(this.#lastBytesMs);
  }

  /** Breaks the connection: nothing more that could be said would be true. */
  destroy(): void {
    this.#response.destroy();
  }
}
