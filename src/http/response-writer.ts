import type { ServerResponse } from 'node:http';
import { pipeline, type Readable } from 'node:stream';

/** The connection below an answer. Its text is latin1: characters are bytes. */
export interface ResponseWriter {
  /** The address at the other end. */
  readonly peer: string | undefined;
  /**
   * Calls `closed` once: with true when the client has all of the answer, with false when it has
   * gone without; at once when that has been.
   */
  onClosed(closed: (complete: boolean) => void): void;
  /** All of an answer. `headers`: name, value, name, value, …; with them its length. */
  whole(status: number, headers: readonly string[], body: Buffer | string): void;
  /** The head of an answer that comes in pieces. It leaves with the first of them. */
  head(status: number, headers: readonly string[]): void;
  /** False when the client reads slower than we write: wait for `onDrain`. */
  write(text: string): boolean;
  /** Calls `go` once when there is room again. */
  onDrain(go: () => void): void;
  end(text: string): void;
  /**
   * The rest of an answer whose head has been given, as it comes; resolves when the client has it
   * or has gone. Who takes nothing of it for `idleMs` loses the connection.
   */
  send(body: Readable, idleMs: number): Promise<void>;
  /**
   * Who takes nothing for `ms` of what has been written does not get the rest. For answers that
   * have ended.
   */
  limitRemainingTime(ms: number): void;
  /** Breaks the connection. */
  destroy(): void;
}

const textBytesMax = 16_384;

/**
 * The bytes of a body as latin1 text where they are few: text leaves in one write together with its
 * head, a buffer in a second one.
 */
export function toLatin1IfSmall(body: Buffer | string): Buffer | string {
  if (
    typeof body === 'string' &&
    body.length <= textBytesMax &&
    Buffer.byteLength(body) === body.length
  )
    return body;
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  return bytes.length <= textBytesMax ? bytes.toString('latin1') : bytes;
}

/** Node's own. */
export class NodeResponseWriter implements ResponseWriter {
  readonly #response: ServerResponse;
  #queued = false;
  #over = false;
  #closed: ((complete: boolean) => void)[] = [];

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('close', this.#onClose);
    // An answer that waits for its turn behind another one has no connection yet, and would not
    // hear of its end.
    if (response.socket === null) {
      this.#queued = true;
      response.req.socket.setMaxListeners(0).once('close', this.#onClose);
    }
  }

  get peer(): string | undefined {
    return this.#response.req.socket.remoteAddress;
  }

  readonly #onClose = (): void => {
    if (this.#queued) this.#response.req.socket.off('close', this.#onClose);
    this.#over = true;
    const closed = this.#closed;
    this.#closed = [];
    for (const tell of closed) tell(this.#response.writableFinished);
  };

  onClosed(closed: (complete: boolean) => void): void {
    if (this.#over) closed(this.#response.writableFinished);
    else this.#closed.push(closed);
  }

  whole(status: number, headers: readonly string[], body: Buffer | string): void {
    this.#response.writeHead(status, [...headers]);
    this.#last(toLatin1IfSmall(body));
  }

  head(status: number, headers: readonly string[]): void {
    this.#response.writeHead(status, [...headers]);
  }

  write(text: string): boolean {
    return this.#response.write(text, 'latin1');
  }

  onDrain(go: () => void): void {
    this.#response.once('drain', go);
  }

  end(text: string): void {
    this.#last(text);
  }

  #last(body: Buffer | string): void {
    if (typeof body === 'string') this.#response.end(body, 'latin1');
    else this.#response.end(body);
  }

  send(body: Readable, idleMs: number): Promise<void> {
    const response = this.#response;
    response.setTimeout(idleMs, () => response.destroy());
    return new Promise((resolve) => {
      pipeline(body, response, () => resolve());
    });
  }

  /** The connection's own timer, which the next request sets back. */
  limitRemainingTime(ms: number): void {
    if (this.#response.writableLength > 0) this.#response.socket?.setTimeout(ms);
  }

  destroy(): void {
    this.#response.destroy();
  }
}

/**
 * A wire with nobody at its end, for work that goes on without its client: what is written is
 * dropped.
 */
export class NullResponse implements ResponseWriter {
  readonly peer = undefined;
  #closed: ((complete: boolean) => void)[] = [];

  onClosed(closed: (complete: boolean) => void): void {
    this.#closed.push(closed);
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

  /** As if a client had left. */
  destroy(): void {
    this.#close(false);
  }

  #close(complete: boolean): void {
    const closed = this.#closed;
    this.#closed = [];
    for (const tell of closed) tell(complete);
  }
}
