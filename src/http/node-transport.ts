import { type Bytes } from '../base/json.ts';
import type { Server, ServerResponse } from 'node:http';
import { type Readable, pipeline } from 'node:stream';
import { toLatin1IfSmall } from './client-response.ts';
import type { ResponseWriter, Serve } from './transport.ts';

/**
 * Delivers the requests that node:http has read and whose URL `serves` accepts. The server's
 * present listeners get the others.
 */
export function serveNodeRequests(
  server: Server,
  serves: (url: string) => boolean,
  serve: Serve,
): void {
  const others = server.listeners('request');
  server.removeAllListeners('request').on('request', (request, response) => {
    const { method = '', url = '', headers } = request;
    if (serves(url))
      serve({ method, url, headers, body: request }, new NodeResponseWriter(response));
    else for (const other of others) other.call(server, request, response);
  });
}

/** Writes through node:http. */
export class NodeResponseWriter implements ResponseWriter {
  readonly #response: ServerResponse;
  #queued = false;
  #over = false;
  #closed: ((complete: boolean) => void)[] = [];

  constructor(response: ServerResponse) {
    this.#response = response;
    response.on('close', this.#onClose);
    // A response that waits for its turn behind another one has no connection yet, and would get no
    // event of its end.
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

  whole(status: number, headers: readonly string[], body: Bytes | string): void {
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

  /** Uses the connection's own timer, which the next request resets. */
  limitRemainingTime(ms: number): void {
    if (this.#response.writableLength > 0) this.#response.socket?.setTimeout(ms);
  }

  breakAfter(text: string): void {
    this.#response.write(text, 'latin1', () => this.#response.destroy());
  }

  destroy(): void {
    this.#response.destroy();
  }
}
