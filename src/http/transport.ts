import { type Bytes } from '../base/json.ts';
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';

/** One request, as a transport gives it to the entry. */
export interface TransportRequest {
  readonly method: string;
  /** The request target as the client sent it. */
  readonly url: string;
  /** By name in lower case. */
  readonly headers: IncomingHttpHeaders;
  /** All bytes of the body, or a stream that nothing has read yet. */
  readonly body: Buffer | Readable;
}

/**
 * Where a transport delivers each request. The response is written to `writer`, now or later. Does
 * not throw.
 */
export type Serve = (request: TransportRequest, writer: ResponseWriter) => void;

/** Writes a response to its connection. Text is latin1: characters are bytes. */
export interface ResponseWriter {
  /** The address at the other end. */
  readonly peer: string | undefined;
  /**
   * Calls `closed` once: with true when the client has the whole response, with false when it has
   * left before. Calls it at once if the response is already closed.
   */
  onClosed(closed: (complete: boolean) => void): void;
  /** Sends a whole response. `headers`: name, value, name, value, …, including its length. */
  whole(status: number, headers: readonly string[], body: Bytes | string): void;
  /** The head of a response that comes in pieces. It leaves with the first of them. */
  head(status: number, headers: readonly string[]): void;
  /** False when the client reads slower than Tollgate writes: wait for `onDrain`. */
  write(text: string): boolean;
  /** Calls `go` once when there is room again. */
  onDrain(go: () => void): void;
  end(text: string): void;
  /**
   * Sends the rest of a response whose head has been given, as it comes; resolves when the client
   * has it or has gone. A client that reads nothing for `idleMs` loses the connection.
   */
  send(body: Readable, idleMs: number): Promise<void>;
  /**
   * A client that reads nothing for `ms` loses the rest of what has been written. For responses
   * that have ended.
   */
  limitRemainingTime(ms: number): void;
  /** Breaks the connection once the client has `text`. */
  breakAfter(text: string): void;
  /** Breaks the connection. */
  destroy(): void;
}
