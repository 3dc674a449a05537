import { gunzipSync, inflateSync, brotliDecompressSync } from 'node:zlib';
import { type Dispatcher, Pool } from 'undici';
import { type Enclosed, followed } from './enclosed.ts';

/** How far a call had come when it failed. */
export type CallStage = 'connecting' | 'waiting' | 'streaming';

/** What the caller does with a vendor's reply. Called synchronously, in order; after `end` or `failed` nothing follows. */
export interface UpstreamListener {
  head(status: number, headers: ReplyHeaders): void;
  /** Returning false pauses the vendor until `resume`. */
  data(piece: Buffer): boolean;
  end(): void;
  failed(stage: CallStage, error: Error): void;
}

export interface UpstreamTimes {
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

export interface UpstreamAsk {
  /** POST, unless said. */
  readonly method?: 'POST' | 'GET' | 'PUT' | 'DELETE';
  /** Appended to the base URL's path. `/../` at its beginning leaves the last step of that first. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** What follows the body. */
  readonly rest?: readonly (Buffer | Enclosed)[] | undefined;
}

/** Reply headers as they came; turned into names only when somebody asks. */
export class ReplyHeaders {
  readonly #raw: readonly Buffer[];

  constructor(raw: readonly Buffer[]) {
    this.#raw = raw;
  }

  get(name: string): string | undefined {
    for (let i = 0; i + 1 < this.#raw.length; i += 2) {
      const key = this.#raw[i];
      if (key !== undefined && key.length === name.length && key.toString('latin1').toLowerCase() === name)
        return this.#raw[i + 1]?.toString('latin1');
    }
    return undefined;
  }

  toObject(): Record<string, string> {
    const all: Record<string, string> = {};
    for (let i = 0; i + 1 < this.#raw.length; i += 2) all[String(this.#raw[i]).toLowerCase()] = String(this.#raw[i + 1]);
    return all;
  }
}

/**
 * One call to a vendor: undici's handler itself, so that nothing is wrapped or copied per piece. The request-side callbacks are
 * undici 7's own (onConnect … onComplete); its newer names are translated into these with a parse of all headers per reply.
 */
export class UpstreamCall implements Dispatcher.DispatchHandler {
  stage: CallStage = 'connecting';
  readonly #listener: UpstreamListener;
  #abort: ((error?: Error) => void) | undefined;
  #resume: (() => void) | undefined;
  #over = false;

  constructor(listener: UpstreamListener) {
    this.#listener = listener;
  }

  onConnect(abort: (error?: Error) => void): void {
    if (this.#over) {
      abort();
      return;
    }
    this.#abort = abort;
    this.stage = 'waiting';
  }

  onHeaders(status: number, headers: Buffer[], resume: () => void): boolean {
    if (status < 200) return true;
    this.#resume = resume;
    this.stage = 'streaming';
    this.#listener.head(status, new ReplyHeaders(headers));
    return true;
  }

  onData(piece: Buffer): boolean {
    return this.#over ? true : this.#listener.data(piece);
  }

  onComplete(): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.end();
  }

  onError(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.failed(this.stage, error);
  }

  resume(): void {
    this.#resume?.();
  }

  /** Ends the call; the listener hears nothing more. */
  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#abort?.(new Error('aborted by the gateway'));
  }
}

export interface UpstreamLimits {
  /** Open connections to one channel at most; what exceeds it waits in undici's queue. */
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
}

/** One vendor's address: keep-alive connections and the path prefix of its base URL. */
export class Upstream {
  readonly #pool: Pool;
  /** Path of the base URL, without a trailing slash. */
  readonly prefix: string;
  readonly #origin: string;

  constructor(baseUrl: string, limits: UpstreamLimits) {
    const url = new URL(baseUrl);
    this.prefix = url.pathname.replace(/\/+$/, '');
    this.#origin = url.origin;
    this.#pool = new Pool(url.origin, {
      connections: limits.connectionsMax,
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: 30_000,
      connect: { timeout: limits.connectTimeoutMs },
    });
  }

  /** The whole address of a path under this base. */
  urlOf(path: string): string {
    return this.#origin + this.#under(path);
  }

  /** Vendors have generations of addresses side by side: `/v1` and `/v2`, `/compatible-mode/v1` and `/api/v1`. */
  #under(path: string): string {
    if (!path.startsWith('/../')) return this.prefix + path;
    const { pathname, search } = new URL(this.prefix + path, this.#origin);
    return pathname + search;
  }

  post(ask: UpstreamAsk, times: UpstreamTimes, call: UpstreamCall): void {
    this.#pool.dispatch(
      {
        method: ask.method ?? 'POST',
        path: this.#under(ask.path),
        ...(ask.rest === undefined ? { headers: ask.headers, body: ask.body } : followed(ask.headers, ask.body, ask.rest)),
        headersTimeout: times.firstByteTimeoutMs,
        bodyTimeout: times.idleTimeoutMs,
      },
      call,
    );
  }

  /** Takes nothing new, lets calls under way finish, then closes. */
  retire(): Promise<void> {
    return this.#pool.close();
  }

  close(): Promise<void> {
    return this.#pool.destroy();
  }
}

/** Undoes a content coding that we did not ask for but some vendors use all the same. Throws when it is unknown, broken or larger than `bytesMax`. */
export function decoded(body: Buffer, coding: string | undefined, bytesMax: number): Buffer {
  const options = { maxOutputLength: bytesMax };
  if (coding === undefined || coding === '' || coding === 'identity') return body;
  if (coding === 'gzip') return gunzipSync(body, options);
  if (coding === 'deflate') return inflateSync(body, options);
  if (coding === 'br') return brotliDecompressSync(body, options);
  throw new Error(`content-encoding ${coding} was not asked for`);
}
