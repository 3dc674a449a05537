import { type Bytes, bufferOf } from '../base/json.ts';
import { asError } from '../base/thrown.ts';
import {
  type ConnectionCall,
  Connection,
  type ConnectionOwner,
  type OutgoingRequest,
  type UpstreamAddress,
  type ResponseHead,
  type ResponseHeaders,
} from './connection.ts';
import { type EnclosedFile, bodyWithFiles } from './spool.ts';

/**
 * How far a call had come when it failed; it decides whether another channel may get the request.
 * `connecting`: the vendor has nothing of it. `waiting`: the vendor may have all of it, and the
 * client has nothing. `streaming`: the client has content, or the vendor has accepted a job. A call
 * itself knows only of the reply's head; what reads the reply knows whether the client has content.
 */
export type CallStage = 'connecting' | 'waiting' | 'streaming';

/**
 * Receives a vendor's reply. Called synchronously, in order; after `end` or `failed` nothing
 * follows.
 */
export interface UpstreamListener {
  head(status: number, headers: ResponseHeaders): void;
  /** Returning false pauses the vendor until `resume`. */
  data(piece: Buffer): boolean;
  end(): void;
  failed(stage: CallStage, error: Error): void;
}

export interface UpstreamTimes {
  readonly firstByteTimeoutMs: number;
  readonly idleTimeoutMs: number;
}

export interface UpstreamRequest extends Pick<RequestHead, 'sign' | 'headers'> {
  /** Absent: POST. */
  readonly method?: 'POST' | 'GET' | 'PUT' | 'DELETE';
  /** Appended to the base URL's path. A leading `/../` drops the last step of that path first. */
  readonly path: string;
  readonly body: Bytes;
  /** Further parts of the body, after `body`. */
  readonly rest?: readonly (Buffer | EnclosedFile)[] | undefined;
}

/** The methods of its connection that a call needs. */
type CallConnection = Pick<Connection, 'resume' | 'leave' | 'close'>;

/**
 * One call to a vendor: passes its connection's events to the listener until the caller ends it.
 */
export class UpstreamCall implements ConnectionCall {
  stage: CallStage = 'connecting';
  readonly #listener: UpstreamListener;
  #connection: CallConnection | undefined;
  #over = false;

  constructor(listener: UpstreamListener) {
    this.#listener = listener;
  }

  /** The caller has ended it, or it has ended. */
  get over(): boolean {
    return this.#over;
  }

  sent(connection: CallConnection): void {
    this.#connection = connection;
    this.stage = 'waiting';
  }

  head({ status, headers }: ResponseHead): void {
    this.stage = 'streaming';
    this.#listener.head(status, headers);
  }

  data(piece: Buffer): boolean {
    return this.#over || this.#listener.data(piece);
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.end();
  }

  failed(error: Error): void {
    if (this.#over) return;
    this.#over = true;
    this.#listener.failed(this.stage, error);
  }

  resume(): void {
    if (!this.#over) this.#connection?.resume();
  }

  /**
   * Ends a call that needs no more of its reply, so that its connection can carry the next one. The
   * listener gets no more calls.
   */
  finish(): void {
    if (this.#over) return;
    this.#over = true;
    this.#connection?.leave();
  }

  /** Closes the call's connection. The listener gets no more calls. */
  abort(): void {
    if (this.#over) return;
    this.#over = true;
    this.#connection?.close();
  }
}

export interface UpstreamLimits {
  /** The most open connections to one channel; further calls wait for their turn. */
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
}

/**
 * How often open connections are checked: a timeout is noticed at most this late, and a call needs
 * no timer of its own.
 */
const lookEveryMs = 250;
/** Unused connections are closed after this time, unless the vendor closes them earlier. */
const keptMs = 30_000;

/** The number of looks that takes at least `ms`. */
const looksFor = (ms: number): number => Math.ceil(ms / lookEveryMs) + 1;

/** A call that waits for a connection. */
interface QueuedCall {
  readonly call: UpstreamCall;
  readonly request: UpstreamRequest;
  readonly times: UpstreamTimes;
}

/** One vendor's address: keep-alive connections and the path prefix of its base URL. */
export class Upstream implements ConnectionOwner {
  /** Path of the base URL, without a trailing slash. */
  readonly prefix: string;
  readonly #origin: string;
  readonly #heads: RequestHeadWriter;
  readonly #address: UpstreamAddress;
  readonly #connectionsMax: number;
  /** All connections that are open or being opened. */
  readonly #connections = new Set<Connection>();
  /** Connections without a call, the last used last. */
  readonly #unused: Connection[] = [];
  readonly #queue: QueuedCall[] = [];
  #opening = 0;
  #looking: NodeJS.Timeout | undefined;
  #closing = false;
  /** Called once there is no connection. */
  readonly #emptied: (() => void)[] = [];

  constructor(baseUrl: string, limits: UpstreamLimits) {
    const url = new URL(baseUrl);
    this.prefix = url.pathname.replace(/\/+$/, '');
    this.#origin = url.origin;
    this.#heads = new RequestHeadWriter(url.host);
    this.#connectionsMax = limits.connectionsMax;
    const secure = url.protocol === 'https:';
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port);
    this.#address = {
      secure,
      host,
      port,
      connectTimeoutMs: limits.connectTimeoutMs,
      session: undefined,
    };
  }

  /** The number of connections, in use or idle. */
  get open(): number {
    return this.#connections.size;
  }

  /** The number of calls that wait for a connection. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** The whole address of a path under this base. */
  urlOf(path: string): string {
    return this.#origin + this.#under(path);
  }

  /**
   * Vendors serve generations of base paths side by side: `/v1` and `/v2`, `/compatible-mode/v1`
   * and `/api/v1`.
   */
  #under(path: string): string {
    if (!path.startsWith('/../')) return this.prefix + path;
    const { pathname, search } = new URL(this.prefix + path, this.#origin);
    return pathname + search;
  }

  /**
   * Sends the request. If that is impossible, fails the call instead of throwing: a channel may be
   * closed at the moment it is picked.
   */
  send(request: UpstreamRequest, times: UpstreamTimes, call: UpstreamCall): void {
    if (this.#closing) return call.failed(closedError());
    const unused = this.#unused.pop();
    if (unused !== undefined) return this.#carry(unused, { call, request, times });
    this.#queue.push({ call, request, times });
    this.#openForQueue();
  }

  #openForQueue(): void {
    if (this.#queue.length > this.#opening && this.#connections.size < this.#connectionsMax)
      this.#open();
  }

  #carry(connection: Connection, { call, request, times }: QueuedCall): void {
    let outgoing: OutgoingRequest;
    try {
      outgoing = this.#outgoing(request, times);
    } catch (error) {
      this.free(connection);
      return call.failed(asError(error));
    }
    connection.carry(call, outgoing);
  }

  #outgoing(
    { method = 'POST', path, sign, headers, body, rest }: UpstreamRequest,
    times: UpstreamTimes,
  ): OutgoingRequest {
    const whole =
      rest === undefined ? { body, length: body.length } : bodyWithFiles(bufferOf(body), rest);
    const head = this.#heads.head({ method, path: this.#under(path), sign, headers }, whole.length);
    return {
      head,
      body: whole.body,
      firstByteLooks: looksFor(times.firstByteTimeoutMs),
      idleLooks: looksFor(times.idleTimeoutMs),
    };
  }

  /**
   * Opens a connection for the call that waits longest. If it cannot be opened, that call fails.
   */
  #open(): void {
    this.#opening += 1;
    const ready = (open: Connection): void => {
      this.#opening -= 1;
      this.free(open);
    };
    const failed = (error: Error): void => {
      this.#opening -= 1;
      const waited = this.#next();
      this.gone(connection);
      waited?.call.failed(error);
    };
    const connection: Connection = new Connection(this.#address, this, ready, failed);
    this.#connections.add(connection);
    this.#looking ??= setInterval(this.#look, lookEveryMs).unref();
  }

  /** The call that waits longest and has not been ended. */
  #next(): QueuedCall | undefined {
    let next = this.#queue.shift();
    while (next?.call.over === true) next = this.#queue.shift();
    return next;
  }

  free(connection: Connection): void {
    const next = this.#next();
    if (next !== undefined) this.#carry(connection, next);
    else if (this.#closing) connection.close();
    else this.#unused.push(connection);
  }

  gone(connection: Connection): void {
    if (!this.#connections.delete(connection)) return;
    const at = this.#unused.indexOf(connection);
    if (at >= 0) this.#unused.splice(at, 1);
    this.#openForQueue();
    if (this.#connections.size > 0) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
    for (const resolve of this.#emptied.splice(0)) resolve();
  }

  readonly #look = (): void => {
    for (const connection of this.#connections)
      connection.look(looksFor(Math.min(keptMs, connection.keptMs ?? keptMs)));
  };

  /** Takes nothing new, lets calls under way finish, then closes. */
  retire(): Promise<void> {
    this.#closing = true;
    for (const connection of this.#unused.splice(0)) connection.close();
    return this.#empty();
  }

  close(): Promise<void> {
    this.#closing = true;
    const why = closedError();
    for (const { call } of this.#queue.splice(0)) call.failed(why);
    for (const connection of this.#connections) connection.fail(why);
    return this.#empty();
  }

  #empty(): Promise<void> {
    if (this.#connections.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#emptied.push(resolve);
    });
  }
}

const closedError = (): Error => new Error('the channel has been closed');

type HeaderValues = Readonly<Record<string, string>>;

/** The content of a request head. */
export interface RequestHead {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  /** Headers with the channel's credentials; `headers` of the same name replace them. */
  readonly sign?: HeaderValues | undefined;
  readonly headers: HeaderValues;
}

const wrongInPath = /[^\x21-\xff]/;
/** Names must be in lower case, so that no capital hides one of those below. */
const wrongInName = /[^!#$%&'*+\-.^_`|~0-9a-z]/;
const wrongInValue = /[^\t\x20-\x7e\x80-\xff]/;
/** Headers that only the connection may set. */
const connectionHeaders = new Set([
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
]);

/**
 * Writes the heads of requests to one host (name and port). Requests to one vendor mostly have the
 * same headers: their text is cached for as long as the header objects are the same, and nothing
 * changes those objects.
 */
export class RequestHeadWriter {
  readonly #host: string;
  #sign: HeaderValues | undefined;
  #headers: HeaderValues | undefined;
  #lines = '';

  constructor(host: string) {
    this.#host = host;
  }

  /**
   * The head as latin1 text, with the empty line that ends it; `length`: bytes of the body. Throws
   * on a path, name or value that would break the head. RFC 9112 §3, RFC 9110 §5.
   */
  head({ method, path, sign, headers }: RequestHead, length: number): string {
    if (wrongInPath.test(path)) throw new Error(`a path cannot be ${JSON.stringify(path)}`);
    if (sign !== this.#sign || headers !== this.#headers) {
      this.#lines = linesOf(this.#host, sign, headers);
      this.#sign = sign;
      this.#headers = headers;
    }
    const counted =
      length > 0 || method === 'POST' || method === 'PUT' ? `content-length: ${length}\r\n` : '';
    return `${method} ${path} HTTP/1.1\r\n${this.#lines}${counted}\r\n`;
  }
}

function linesOf(host: string, sign: HeaderValues | undefined, headers: HeaderValues): string {
  let lines = '';
  const all: HeaderValues = sign === undefined ? headers : Object.assign({}, sign, headers);
  for (const [name, value] of Object.entries(all)) {
    if (name === '' || wrongInName.test(name))
      throw new Error(`a header cannot be called ${JSON.stringify(name)}`);
    if (wrongInValue.test(value))
      throw new Error(`the header ${name} holds a character that headers cannot hold`);
    if (connectionHeaders.has(name)) throw new Error(`the header ${name} is the connection's own`);
    lines += `${name}: ${value}\r\n`;
  }
  return `${'host' in all ? '' : `host: ${host}\r\n`}connection: keep-alive\r\n${lines}`;
}
