import type { IncomingHttpHeaders, Server } from 'node:http';
import { Readable } from 'node:stream';
import type { Principal } from '../accounts/principal.ts';
import { objectOf, parse, textOf } from '../base/json.ts';
import { requestId } from '../base/random.ts';
import { Refusal, refusal, refuse, unavailable } from '../base/refusal.ts';
import { LimitReached } from '../gateway/admit.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { ClientResponse } from '../http/client-response.ts';
import {
  requestEncodingOf,
  supportedEncodings,
  decodeRequestBody,
} from '../http/content-encoding.ts';
import { FastPath } from '../http/fast-path.ts';
import { serveNodeRequests } from '../http/node-transport.ts';
import {
  BodyBudget,
  AccountQueue,
  HeldBody,
  uncountedBytes,
  collectBody,
  hasBody,
} from '../http/request-body.ts';
import type { ResponseWriter, Serve, TransportRequest } from '../http/transport.ts';
import { limitHeaders } from '../limits/limiter.ts';
import { messagesVersionHeader } from '../providers/conversation/messages-version.ts';
import type { RefusedRequest } from '../request-log/recorder.ts';
import { isAway } from '../storage/database.ts';
import { answerPreflight, corsExposedHeaders, corsHeaders } from './cors.ts';
import {
  type Endpoint,
  queryOf,
  type RequestContext,
  type UnidentifiedRequest,
  type ClientConvention,
} from './endpoint.ts';
import {
  sendRefusal,
  statusIn,
  limitRefusal,
  maskSecret,
  endpointHint,
  chatEnvelope,
  messagesEnvelope,
  generateEnvelope,
} from './errors.ts';
import { meantPath, pathOfUrl, type RouteMatch, Routes } from './routes.ts';

/** Logs refusals and bugs. */
export interface EntryLog {
  refused(id: string, status: number, outcome: string, method: string, path: string): void;
  /** Called beside `refused` when the key is known. */
  refusedOfKey(request: RefusedRequest, why: Refusal): void;
  bug(id: string, error: unknown): void;
}

/** The entry to the API, once it is open. */
export interface ApiEntry {
  /**
   * Admits no more requests. Resolves with true when all have ended, or with false after `waitMs`.
   */
  drain(waitMs: number): Promise<boolean>;
  /** Closes all connections of the fast path at once. */
  breakOff(): void;
  readonly open: boolean;
}

/** Opens the endpoints under `/v1` of `server`, whose present listeners serve all else. */
export const openApiEntry = (
  server: Server,
  parts: GatewayParts,
  endpoints: readonly Endpoint[],
  log: EntryLog,
  bodyBytesMax: number,
  address: ClientAddress,
): ApiEntry => new EndpointEntry(server, parts, endpoints, log, bodyBytesMax, address);

/**
 * Every request to the API passes `serve`, whichever transport has read it: it gets an id, its
 * endpoint, the headers for browsers and its client's identity; then its body is read within the
 * limits, and the handler runs. Every refusal has the error shape of the client's convention.
 */
class EndpointEntry implements ApiEntry {
  open = true;
  #inside = 0;
  #empty: (() => void) | undefined;
  readonly #parts: GatewayParts;
  readonly #log: EntryLog;
  readonly #routes: Routes;
  readonly #bodyBytesMax: number;
  readonly #bodyBytes: BodyBudget;
  /**
   * The size of a compressed body is known only once it is decoded, so each account's bodies are
   * decoded one at a time.
   */
  readonly #decoding = new AccountQueue();
  readonly #fastPath: FastPath;
  readonly #clientAddress: ClientAddress;

  constructor(
    server: Server,
    parts: GatewayParts,
    endpoints: readonly Endpoint[],
    log: EntryLog,
    bodyBytesMax: number,
    address: ClientAddress,
  ) {
    this.#clientAddress = address;
    this.#parts = parts;
    this.#log = log;
    this.#routes = new Routes(endpoints, chatConvention, rootConventions, sharedConvention);
    this.#bodyBytesMax = bodyBytesMax;
    this.#bodyBytes = new BodyBudget(parts.limits.bodyBytesInFlightMax);
    serveNodeRequests(server, (url) => this.#routes.serves(url), this.serve);
    this.#fastPath = new FastPath(server, {
      paths: new Map([...this.#routes.posted].filter(([, { endpoint }]) => !endpoint.body)),
      clock: parts.clock,
      keepAliveTimeoutMs: server.keepAliveTimeout,
      bodyBytesMax,
      serve: this.serve,
    });
  }

  /** Takes a request from its transport. */
  readonly serve: Serve = (sent, writer): void => {
    const { method, url, headers } = sent;
    // Nearly all requests are to one of these.
    const posted = method === 'POST' ? this.#routes.posted.get(url) : undefined;
    const route = posted ?? this.#routes.find(method, url);
    if (route === undefined) return this.#refuseUrl(sent, writer);
    const convention = route.convention.spokenBy?.(headers, url) ?? route.convention;
    const arrival = this.#arrive(sent, writer, convention);
    if (headers.upgrade !== undefined && isWebSocket(headers)) return this.#refuseUpgrade(arrival);
    if (method === 'OPTIONS') return answerPreflight(arrival.response);
    this.#letIn(arrival, (principal) => this.#receive(arrival, principal, sent.body, route));
  };

  /** Answers a URL that cannot be decoded. The key is not looked at. */
  #refuseUrl({ method, url }: TransportRequest, writer: ResponseWriter): void {
    const { envelope } = this.#routes.conventionAt(url);
    const why = refusal('unknown_url', { method, path: pathOfUrl(url) });
    const id = requestId(this.#parts.clock.now());
    const body = envelope.body(why, id);
    const length = String(Buffer.byteLength(body));
    const headers = ['content-type', 'application/json', 'content-length', length];
    writer.whole(statusIn(envelope, why), [...headers, 'x-request-id', id], body);
  }

  /**
   * Refuses a WebSocket with 426, before the key is looked at. A client such as Codex then uses
   * HTTP; after any other status it tries again for seconds (github.com/openai/codex/issues/43353).
   */
  #refuseUpgrade(arrival: UnidentifiedRequest): void {
    arrival.response.header('connection', 'close, upgrade');
    // RFC 9110 §15.5.22: a 426 names the protocol that the client has to use.
    arrival.response.header('upgrade', 'HTTP/1.1');
    this.#refuse(arrival, refusal('upgrade_not_served', { path: pathOfUrl(arrival.request.url) }));
  }

  #arrive(
    request: TransportRequest,
    writer: ResponseWriter,
    convention: ClientConvention,
  ): UnidentifiedRequest {
    const at = this.#parts.clock.now();
    const id = requestId(at);
    const cors = request.headers.origin === undefined ? corsHeaders : corsExposedHeaders;
    const response = new ClientResponse(writer, [...cors, 'x-request-id', id]);
    if (convention.idHeader !== undefined) response.header(convention.idHeader, id);
    return { id, at, request, response, convention, held: undefined };
  }

  /**
   * Identifies the client and counts its request until the response is over, so that `drain` also
   * waits for a body that began to arrive before.
   */
  #letIn(arrival: UnidentifiedRequest, known: (principal: Principal) => void): void {
    const { id, request, response } = arrival;
    if (!this.open) return this.#refuse(arrival, unavailable(id, 'this node is shutting down'));
    this.#identify(arrival, (principal) => {
      const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
      // Its length shows while the body arrives.
      if (coding !== undefined) arrival.held = new HeldBody(this.#bodyBytes, principal.userId);
      else if (!this.#hold(arrival, principal, Number(length ?? 0))) return;
      this.#inside += 1;
      response.onOver(this.#onOver(arrival));
      known(principal);
    });
  }

  /**
   * Counts a large body while it is held. Returns false when the account has no room for it: the
   * request was then refused.
   */
  #hold(arrival: UnidentifiedRequest, principal: Principal, bytes: number): boolean {
    if (arrival.held === undefined && !(bytes > uncountedBytes)) return true;
    arrival.held ??= new HeldBody(this.#bodyBytes, principal.userId);
    const why = arrival.held.resize(bytes);
    if (why !== undefined) this.#refuse(arrival, why, principal);
    return why === undefined;
  }

  /** Calls `known` with the principal of the request's key. Without one, sends the refusal. */
  #identify(arrival: UnidentifiedRequest, known: (principal: Principal) => void): void {
    const { id, request, convention } = arrival;
    const secret = convention.credential(request.headers, request.url);
    if (secret === undefined) return this.#refuse(arrival, refusal('missing_api_key'));
    const found = (who: Principal | 'unknown' | 'unavailable'): void => {
      if (who === 'unavailable') this.#refuse(arrival, unavailable(id, 'keys cannot be looked up'));
      else if (who === 'unknown')
        this.#refuse(arrival, refusal('invalid_api_key', { key: maskSecret(secret) }));
      else if (who.addresses?.has(this.#addressOf(arrival)) === false)
        this.#refuse(
          arrival,
          refusal('address_not_allowed', { address: this.#addressOf(arrival) }),
          who,
        );
      else known(who);
    };
    const remembered = this.#parts.keyring.known(secret);
    if (remembered !== undefined) found(remembered);
    else void this.#parts.keyring.lookUp(secret).then(found);
  }

  #addressOf({ response, request }: UnidentifiedRequest): string {
    return this.#clientAddress(response.peer, request.headers);
  }

  /**
   * Reads the body unless the endpoint does, and goes on with the request. A client without a key
   * cannot make Tollgate hold a body.
   */
  #receive(
    arrival: UnidentifiedRequest,
    principal: Principal,
    body: TransportRequest['body'],
    { endpoint, params }: RouteMatch,
  ): void {
    const { id, at, response, convention } = arrival;
    const { method, url, headers } = arrival.request;
    const enter = (read: unknown): void => {
      const request = { method, url, headers, body: read, model: undefined, params };
      this.#proceed(
        { id, at, principal, request, response, convention, held: arrival.held },
        endpoint === undefined ? this.#unknown : handlerFor(endpoint, headers),
      );
    };
    if (Buffer.isBuffer(body) || endpoint?.body === 'stream') return enter(body);
    if (!(method === 'POST' || method === 'DELETE') || !hasBody(headers)) return enter(undefined);
    const done = (read: Buffer | Refusal): void => {
      if (response.closed) return;
      if (read instanceof Refusal) this.#refuse(arrival, read, principal);
      else enter(read);
    };
    collectBody(body, headers, this.#bodyBytesMax, done, arrival.held);
  }

  /**
   * A body may take minutes to arrive, and its key may be deleted meanwhile: after `identityMs` the
   * key is looked up again.
   */
  #proceed(context: RequestContext, handle: Endpoint['handle']): void {
    if (context.request.headers['content-encoding'] !== undefined)
      return this.#decode(context, handle);
    if (this.#parts.clock.now() - context.at <= identityMs) void this.#handle(context, handle);
    else
      this.#identify(context, (principal) => void this.#handle({ ...context, principal }, handle));
  }

  /** Gives the handler the decoded body, whether it came as bytes or as a stream. */
  #decode(context: RequestContext, handle: Endpoint['handle']): void {
    const { method, url, headers: sent, body, params } = context.request;
    const { 'content-encoding': header, 'content-length': _length, ...headers } = sent;
    const coding = requestEncodingOf(header);
    const enter = (plain: unknown): void =>
      this.#proceed(
        { ...context, request: { method, url, headers, body: plain, model: undefined, params } },
        plain === body ? handle : droppingRest(plain, handle),
      );
    const failed = (why: Refusal): void => {
      if (why.refusal === 'unsupported_encoding')
        context.response.header('accept-encoding', supportedEncodings);
      this.#refuseKnown(context, why);
    };
    if (coding === undefined) return enter(body);
    if (body instanceof Readable) {
      context.held ??= new HeldBody(this.#bodyBytes, context.principal.userId);
      return decodeRequestBody(body, coding, this.#bodyBytesMax, enter, failed);
    }
    if (!Buffer.isBuffer(body)) return enter(body);
    this.#decoding.take(context.principal.userId, (over) => {
      // The client may have left while its body waited.
      if (context.response.closed) return over();
      const decoded = (plain: Buffer | Readable): void => {
        if (this.#holdDecoded(context, plain)) enter(plain);
        over();
      };
      const broken = (why: Refusal): void => {
        failed(why);
        over();
      };
      decodeRequestBody(body, coding, this.#bodyBytesMax, decoded, broken);
    });
  }

  /**
   * Counts a decoded body by its decoded size. Returns false when the client has left, or when
   * there is no room for the body.
   */
  #holdDecoded(context: RequestContext, plain: Buffer | Readable): boolean {
    const { principal, response } = context;
    if (response.closed) return false;
    if (Buffer.isBuffer(plain) && !this.#hold(context, principal, plain.length)) return false;
    response.onOver(this.#onOver(context));
    return true;
  }

  async #handle(context: RequestContext, handle: Endpoint['handle']): Promise<void> {
    // A client that left while its body arrived is no longer counted.
    if (context.response.closed) return;
    this.#parts.traces?.began(context.id, context.at, context.request);
    // Work may outlast its client: the request counts until its handler is done.
    context.response.onOver(() => {});
    try {
      await handle(context);
    } catch (error) {
      this.#failed(context, error);
    } finally {
      this.#parts.traces?.ended(context.id);
      context.response.onOver(this.#onOver(context));
    }
  }

  /** What follows the end of the response. */
  #onOver({ held }: UnidentifiedRequest): () => void {
    if (held === undefined) return this.#gone;
    return () => {
      held.release();
      this.#gone();
    };
  }

  /**
   * The client has the whole response, or has left. The request of a slow reader counts until then.
   */
  readonly #gone = (): void => {
    this.#inside -= 1;
    if (this.#inside === 0) this.#empty?.();
  };

  async drain(waitMs: number): Promise<boolean> {
    // Requests that have partly arrived are still admitted.
    this.#fastPath.handOverPartial();
    await new Promise(setImmediate);
    this.open = false;
    if (this.#inside === 0) return true;
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), waitMs);
      this.#empty = () => {
        clearTimeout(timer);
        resolve(true);
      };
    });
  }

  breakOff(): void {
    this.#fastPath.closeAll();
  }

  readonly #unknown = ({ request, response, convention }: RequestContext): never => {
    const { method, url } = request;
    const path = pathOfUrl(url);
    // The model of this format may have a colon in its name, and then no method follows it.
    const isMethod = convention === generateConvention && /:[a-z]+\/?$/i.test(path);
    const methodsAt = (at: string): readonly string[] => {
      const methods = this.#routes.methodsAt(at, convention);
      return isMethod && method === 'POST' ? methods.filter((one) => one === method) : methods;
    };
    const allowed = methodsAt(path);
    if (allowed.length === 0) {
      const right = meantPath(path);
      const instead = methodsAt(right).length === 0 ? '' : endpointHint(right);
      refuse('unknown_url', { method, path, instead });
    }
    const taken = allowed.flatMap((name) => (name === 'GET' ? [name, 'HEAD'] : [name]));
    response.header('allow', [...taken, 'OPTIONS'].join(', '));
    refuse('method_not_supported', { method, path, allowed: allowed.join(' or ') });
  };

  #failed(context: RequestContext, error: unknown): void {
    const { id, response } = context;
    if (error instanceof Refusal) return this.#refuseKnown(context, error);
    if (error instanceof LimitReached) {
      limitHeaders(error.exceeded, response);
      return this.#refuseKnown(context, limitRefusal(error));
    }
    if (isAway(error) && !response.started)
      return this.#refuseKnown(context, unavailable(id, 'the database cannot be reached'));
    this.#log.bug(id, error);
    if (response.started) response.destroy();
    else this.#refuseKnown(context, refusal('server_error', { id }));
  }

  #refuseKnown(context: RequestContext, why: Refusal): void {
    const { body, model, params } = context.request;
    // In one convention the path names the model.
    const named = (): string | undefined => model ?? modelIn(body) ?? params['*'];
    this.#refuse(context, why, context.principal, named);
  }

  /** `principal`: the client, where it is known. */
  #refuse(
    { id, at, request, response, convention }: UnidentifiedRequest,
    why: Refusal,
    principal?: Principal,
    model: () => string | undefined = () => undefined,
  ): void {
    const { method, url } = request;
    const path = pathOfUrl(url);
    const status = statusIn(convention.envelope, why);
    this.#log.refused(id, status, why.refusal, method, path);
    if (principal !== undefined) {
      const { userId: account, keyId } = principal;
      this.#log.refusedOfKey({ id, at, account, keyId, endpoint: `${method} ${path}`, model }, why);
    }
    sendRefusal(response, why, convention.envelope, id);
  }
}

/** Larger bodies of refused requests are not read again. */
const readAgainBytesMax = 1024 * 1024;

/** The model that a JSON body names. */
export function modelIn(body: unknown): string | undefined {
  if (!Buffer.isBuffer(body) || body.length > readAgainBytesMax) return undefined;
  return textOf(objectOf(parse(body.toString('utf8')))?.['model']);
}

/** The endpoint's handler, after which the unread rest of the decoded body is dropped. */
const droppingRest = (body: unknown, handle: Endpoint['handle']): Endpoint['handle'] =>
  body instanceof Readable
    ? async (context) => {
        try {
          await handle(context);
        } finally {
          body.destroy();
        }
      }
    : handle;

/**
 * How long a request trusts the lookup of its key. A changed key is known in every process within
 * this time.
 */
const identityMs = 1_000;

/**
 * RFC 6455 §4.1. An upgrade to another protocol is ignored, since some clients offer h2c with every
 * request.
 */
const isWebSocket = ({ upgrade = '', connection = '' }: IncomingHttpHeaders): boolean =>
  /(?:^|,)\s*websocket\s*(?:,|$)/i.test(upgrade) && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);

export const idempotencyHeader = 'idempotency-key';

function handlerFor(
  { handle, handleKeyed }: Endpoint,
  headers: IncomingHttpHeaders,
): Endpoint['handle'] {
  return headers[idempotencyHeader] === undefined ? handle : (handleKeyed ?? handle);
}

/** The credential of `Authorization: Bearer …`, the scheme in any case. */
function bearer({ authorization: header }: IncomingHttpHeaders): string | undefined {
  if (header === undefined || header.length < 8 || header.slice(0, 7).toLowerCase() !== 'bearer ')
    return undefined;
  const secret = header.slice(7).trim();
  return secret === '' ? undefined : secret;
}

export const chatConvention: ClientConvention = {
  envelope: chatEnvelope,
  idHeader: undefined,
  credential: bearer,
};

/** Clients of `/v1/messages` send their key in `x-api-key`; newer ones send a bearer token. */
export const messagesConvention: ClientConvention = {
  envelope: messagesEnvelope,
  idHeader: 'request-id',
  credential(headers) {
    const key = headers['x-api-key'];
    return (
      bearer(headers) ?? (typeof key === 'string' && key.trim() !== '' ? key.trim() : undefined)
    );
  },
};

/**
 * Clients of `generateContent` send their key in `x-goog-api-key`, as a bearer token, or in the
 * query. Some send an empty header beside the token.
 */
export const generateConvention: ClientConvention = {
  envelope: generateEnvelope,
  idHeader: undefined,
  credential: (headers, url) => googleKey(headers) ?? bearer(headers) ?? queryKey(url),
};

function googleKey({ 'x-goog-api-key': key }: IncomingHttpHeaders): string | undefined {
  return typeof key === 'string' && key.trim() !== '' ? key.trim() : undefined;
}

const queryKey = (url: string): string | undefined => queryOf(url).get('key')?.trim() || undefined;

/**
 * Whether a request to a path that conventions share comes from a client of `generateContent`: the
 * path, or where the key is, shows it.
 */
export const speaksGenerate = (headers: IncomingHttpHeaders, url: string): boolean =>
  url.startsWith('/v1beta') ||
  headers['x-goog-api-key'] !== undefined ||
  queryKey(url) !== undefined;

/** Whether the headers are those of a client of `/v1/messages`. */
export const speaksMessages = (headers: IncomingHttpHeaders): boolean =>
  headers[messagesVersionHeader] !== undefined || headers['x-api-key'] !== undefined;

/**
 * For paths that conventions share, and for those without an endpoint: the request shows which
 * convention its client speaks.
 */
export const sharedConvention: ClientConvention = {
  ...chatConvention,
  spokenBy: (headers, url) =>
    speaksGenerate(headers, url)
      ? generateConvention
      : speaksMessages(headers)
        ? messagesConvention
        : chatConvention,
};

/** The convention of URLs without an endpoint, by their first segment. */
const rootConventions: Readonly<Record<string, ClientConvention>> = {
  v1beta: generateConvention,
  v1beta1: generateConvention,
  upload: generateConvention,
};
