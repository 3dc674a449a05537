import { Readable } from 'node:stream';
import type { Reply } from '../http/reply.ts';

/** What a reader may lag behind; then the stream ends, and the browser asks again where it was. */
const unreadMax = 256;
/** Proxies close a connection on which nothing is said for a minute. */
const beatMs = 15_000;

/** Server-sent events to one browser. */
export interface EventStream {
  /** Aborted when the browser has left, the stream was ended or the node shuts down. */
  readonly signal: AbortSignal;
  /** `data` becomes JSON. Nothing happens once it is over. */
  send(event: { readonly event?: string; readonly id?: string; readonly data: unknown }): void;
  end(): void;
}

/** The answer to one console request. */
export class ConsoleReply {
  /** The response itself, for rows that hand it on to what /v1 is answered with. */
  readonly client: Reply;
  #status = 200;
  #endEvents: (() => void) | undefined;

  constructor(client: Reply) {
    this.client = client;
  }

  /** Of the value that the row returns. */
  status(status: 200 | 201 | 202): void {
    this.#status = status;
  }

  header(name: string, value: string): void {
    this.client.header(name, value);
  }

  /** Begins a stream of events; `signal` tells when it is over. */
  events(): EventStream {
    const { client } = this;
    const over = new AbortController();
    let unread = 0;
    const end = (): void => {
      if (over.signal.aborted) return;
      over.abort();
      clearInterval(beat);
      client.end('');
    };
    const write = (text: string): void => {
      if (over.signal.aborted) return;
      if (client.stalled) {
        unread += 1;
        if (unread > unreadMax) return end();
      } else unread = 0;
      if (!client.write(Buffer.from(text, 'utf8').toString('latin1')) && !client.stalled)
        client.onDrain(() => {});
    };
    const beat = setInterval(() => write(': \n\n'), beatMs).unref();
    this.#endEvents = end;
    client.startStream();
    client.onLeave(end);
    write('retry: 2000\n\n');
    return {
      signal: over.signal,
      send: ({ event, id, data }) =>
        write(
          `${id === undefined ? '' : `id: ${id}\n`}${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`,
        ),
      end,
    };
  }

  /**
   * A file to be saved, as fast as it can be read; resolves when the browser has it or has left.
   */
  async file({
    name,
    type,
    text,
  }: {
    readonly name: string;
    readonly type: string;
    readonly text: AsyncIterable<string>;
  }): Promise<void> {
    this.header('content-type', type);
    this.header('content-disposition', `attachment; filename="${name.replace(/[^\w.-]/g, '_')}"`);
    await this.client.send(200, Readable.from(text));
  }

  /** The row's value, unless the row has answered itself. */
  finish(value: unknown): void {
    if (this.client.started || this.client.closed) return;
    if (value === undefined) void this.client.send(204, undefined);
    else this.client.whole(this.#status, 'application/json; charset=utf-8', JSON.stringify(value));
  }

  /**
   * Ends a stream of events, which would go on for ever: the node shuts down, or the session is
   * over.
   */
  leave(): void {
    this.#endEvents?.();
  }
}
