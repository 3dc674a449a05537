import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../accounts/principal.ts';
import { requestId } from '../base/random.ts';
import { Refusal, refusal, refuse } from '../base/refusal.ts';
import { LimitReached } from '../gateway/admit.ts';
import type { GatewayParts } from '../gateway/parts.ts';
import { unavailableRetryMs } from '../gateway/reserve.ts';
import type { ClientAddress } from '../http/client-address.ts';
import {
  ClientResponse,
  NodeResponseWriter,
  type ResponseWriter,
} from '../http/client-response.ts';
import {
  requestEncodingOf,
  supportedEncodings,
  decodeRequestBody,
} from '../http/content-encoding.ts';
import { FastPath, type FastPathRequest } from '../http/fast-path.ts';
import {
  BodyBudget,
  AccountQueue,
  uncountedBytes,
  collectBody,
  hasBoundedLength,
} from '../http/request-body.ts';
import type { LimitState } from '../limits/limiter.ts';
import { isAway } from '../storage/database.ts';
import type {
  Endpoint,
  RequestContext,
  UnidentifiedRequest,
  HttpRequest,
  ClientConvention,
} from './endpoint.ts';
import {
  sendRefusal,
  statusOf,
  bodyRefusal,
  limitRefusal,
  maskSecret,
  endpointHint,
  chatEnvelope,
  messagesEnvelope,
} from './errors.ts';

/** Logs refusals of requests that never became an exchange, and bugs. */
export interface RequestLog {
  refused(id: string, status: number, outcome: string, method: string, path: string): void;
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

/**
 * Opens the endpoints under `/v1` behind one entry: request ids, CORS, API keys, and every refusal
 * in the error shape of the client's convention.
 */
export async function openApiEntry(
  server: FastifyInstance,
  parts: GatewayParts,
  endpoints: readonly Endpoint[],
  log: RequestLog,
  bodyBytesMax: number,
  address: ClientAddress,
): Promise<ApiEntry> {
  const door = new EndpointEntry(server.server, parts, log, endpoints, bodyBytesMax, address);
  await server.register(
    (scope, _options, done) => {
      scope.decorateRequest('visit', null);
      scope.addHook('onRequest', door.enter);
      registerEndpoints(scope, door, endpoints, undefined);
      void scope.register((streamed, _none, ready) => {
        streamed.removeAllContentTypeParsers();
        streamed.addContentTypeParser('*', (_request, unread, parsed) => parsed(null, unread));
        registerEndpoints(streamed, door, endpoints, 'stream');
        ready();
      });
      scope.setNotFoundHandler((request, reply) => door.serve(request, reply, door.unknown));
      scope.setErrorHandler((error, request, reply) => door.broken(error, request, reply));
      done();
    },
    { prefix: '/v1' },
  );
  const [framework] = server.server.listeners('request');
  if (framework === undefined) throw new Error('the framework listens to its server');
  server.server.removeAllListeners('request').on('request', (request, response) => {
    if (!door.shortcut(request, response)) framework.call(server.server, request, response);
  });
  server.addHook('preClose', (done) => {
    door.close();
    done();
  });
  return door;
}

/** Registers the endpoints that take their body in this way. */
function registerEndpoints(
  scope: FastifyInstance,
  door: EndpointEntry,
  endpoints: readonly Endpoint[],
  way: Endpoint['body'],
): void {
  for (const endpoint of endpoints) {
    const { method, path, body, convention = chatConvention } = endpoint;
    if (body === way)
      scope.route({
        method,
        url: path,
        config: { convention },
        handler: (request, reply) =>
          door.serve(request, reply, handlerFor(endpoint, request.headers)),
      });
  }
}

declare module 'fastify' {
  interface FastifyRequest {
    visit: RequestContext | null;
  }
  interface FastifyContextConfig {
    convention?: ClientConvention;
  }
}

class EndpointEntry implements ApiEntry {
  open = true;
  #inside = 0;
  #empty: (() => void) | undefined;
  readonly #parts: GatewayParts;
  readonly #log: RequestLog;
  readonly #endpoints: readonly Endpoint[];
  /** The POST endpoints whose path has no parameters. */
  readonly #exact: ReadonlyMap<string, Endpoint>;
  readonly #bodyBytesMax: number;
  readonly #bodyBytes: BodyBudget;
  /**
   * The size of a compressed body is known only once it is decoded, so each account's bodies are
   * decoded one at a time.
   */
  readonly #unpacking = new AccountQueue();
  readonly #lane: FastPath;
  readonly #clientAddress: ClientAddress;

  constructor(
    server: Server,
    parts: GatewayParts,
    log: RequestLog,
    endpoints: readonly Endpoint[],
    bodyBytesMax: number,
    address: ClientAddress,
  ) {
    this.#clientAddress = address;
    this.#parts = parts;
    this.#log = log;
    this.#endpoints = endpoints;
    this.#bodyBytesMax = bodyBytesMax;
    this.#bodyBytes = new BodyBudget(parts.limits.bodyBytesInFlightMax);
    const exact = endpoints.filter(({ method, path }) => method === 'POST' && !/[:*]/.test(path));
    this.#exact = new Map(exact.map((endpoint) => [`/v1${endpoint.path}`, endpoint]));
    const { clock } = parts;
    const paths = new Map([...this.#exact].filter(([, { body }]) => body === undefined));
    const { keepAliveTimeout: keepAliveTimeoutMs } = server;
    this.#lane = new FastPath(server, {
      paths,
      clock,
      keepAliveTimeoutMs,
      bodyBytesMax,
      serve: (request, wire) => this.#serve(request, wire),
    });
  }

  /** Serves a request of the fast path, past node:http and the framework. */
  #serve({ url, headers, body }: FastPathRequest, wire: ResponseWriter): void {
    const endpoint = this.#exact.get(url);
    if (endpoint === undefined) throw new Error(`the lane took ${url}`);
    const { convention = chatConvention } = endpoint;
    const request = { method: 'POST', url, headers, body, params: undefined };
    const arrival = this.#arrive(request, wire, convention);
    this.#letIn(arrival, nothing, (principal) => {
      const { id, at, reply } = arrival;
      const context = { id, at, principal, request, reply, convention };
      this.#admit(context, handlerFor(endpoint, headers));
    });
  }

  /**
   * Serves a POST to a fixed path, with a body of declared length, without the framework, whose
   * hooks and routes cost a tenth of a small request. Nearly all requests come this way. Returns
   * false, and has done nothing, when the framework has to serve the request.
   */
  shortcut(request: IncomingMessage, response: ServerResponse): boolean {
    const { method = '', url = '', headers } = request;
    if (headers.upgrade !== undefined && isWebSocket(headers) && isApiPath(url))
      return this.#notUpgraded(request, response);
    const endpoint = method === 'POST' ? this.#exact.get(url) : undefined;
    if (endpoint === undefined)
      return !routedMethods.has(method) && isApiPath(url) && this.#unrouted(request, response);
    const { convention = chatConvention, body: streamed } = endpoint;
    if (streamed === undefined && !hasBoundedLength(request, this.#bodyBytesMax)) return false;
    const arrival = this.#arrive(
      { method, url, headers },
      new NodeResponseWriter(response),
      convention,
    );
    this.#letIn(arrival, nothing, (principal) => {
      const { id, at, reply, gone } = arrival;
      const enter = (body: unknown): void =>
        this.#admit(
          {
            id,
            at,
            principal,
            request: { method, url, headers, body, params: undefined },
            reply,
            convention,
            gone,
          },
          handlerFor(endpoint, headers),
        );
      if (streamed === undefined) collectBody(request, enter);
      else enter(request);
    });
    return true;
  }

  /**
   * Refuses a WebSocket with 426, before the key is looked at. A client such as Codex then uses
   * HTTP; after any other status it tries again for seconds (github.com/openai/codex/issues/43353).
   */
  #notUpgraded(
    { method = '', url = '', headers }: IncomingMessage,
    response: ServerResponse,
  ): true {
    const arrival = this.#arrive(
      { method, url, headers },
      new NodeResponseWriter(response),
      this.#conventionAt(url),
    );
    arrival.reply.header('connection', 'close, upgrade');
    // RFC 9110 §15.5.22: a 426 names the protocol that the client has to use.
    arrival.reply.header('upgrade', 'HTTP/1.1');
    this.#refuse(arrival, refusal('upgrade_not_served', { path: pathOf({ url }) }));
    return true;
  }

  /**
   * Answers a method that no endpoint has, before the framework answers it in its own form. The
   * body is not read.
   */
  #unrouted({ method = '', url = '', headers }: IncomingMessage, response: ServerResponse): true {
    const request = { method, url, headers, body: undefined, params: undefined };
    const convention = this.#conventionAt(url);
    const arrival = this.#arrive(request, new NodeResponseWriter(response), convention);
    this.#letIn(arrival, nothing, (principal) => {
      const { id, at, reply } = arrival;
      this.#admit({ id, at, principal, request, reply, convention }, this.unknown);
    });
    return true;
  }

  #arrive(
    request: UnidentifiedRequest['request'],
    wire: ResponseWriter,
    convention: ClientConvention,
  ): UnidentifiedRequest {
    const at = this.#parts.clock.now();
    const id = requestId(at);
    const origin = request.headers.origin === undefined ? corsHeaders : corsExposedHeaders;
    const reply = new ClientResponse(wire, [...origin, 'x-request-id', id]);
    if (convention.idHeader !== undefined) reply.header(convention.idHeader, id);
    return { id, at, request, reply, convention };
  }

  /**
   * Identifies the client and counts its request until the response is over, so that `drain` also
   * waits for a body that began to arrive before. Calls `stranger` before any refusal.
   */
  #letIn(
    arrival: UnidentifiedRequest,
    stranger: () => void,
    known: (principal: Principal) => void,
  ): void {
    if (!this.open) {
      stranger();
      return this.#refuse(
        arrival,
        refusal(
          'unavailable',
          { why: 'this node is shutting down', id: arrival.id },
          unavailableRetryMs,
        ),
      );
    }
    this.#identify(arrival, stranger, (principal) => {
      if (
        !this.#hold(
          arrival,
          principal,
          Number(arrival.request.headers['content-length'] ?? 0),
          stranger,
        )
      )
        return;
      this.#inside += 1;
      arrival.reply.onOver(arrival.gone ?? this.#gone);
      known(principal);
    });
  }

  /**
   * Counts a large body while it is held. Returns false when the account has no room for it: the
   * request was then refused, after a call of `refusing`.
   */
  #hold(
    arrival: UnidentifiedRequest,
    { userId }: Principal,
    bytes: number,
    refusing = nothing,
  ): boolean {
    if (!(bytes > uncountedBytes)) return true;
    if (this.#bodyBytes.enter(userId, bytes)) {
      arrival.gone = () => {
        this.#bodyBytes.leave(userId, bytes);
        this.#gone();
      };
      return true;
    }
    refusing();
    this.#refuse(
      arrival,
      refusal(
        'body_bytes_in_flight',
        { limit: this.#parts.limits.bodyBytesInFlightMax },
        bodyRetryMs,
      ),
    );
    return false;
  }

  /**
   * Calls `known` with the principal of the request's key. Without one, calls `stranger` and sends
   * the refusal.
   */
  #identify(
    arrival: UnidentifiedRequest,
    stranger: () => void,
    known: (principal: Principal) => void,
  ): void {
    const { id, request, convention } = arrival;
    const turnAway = (why: Refusal): void => {
      stranger();
      this.#refuse(arrival, why);
    };
    const secret = convention.credential(request.headers);
    if (secret === undefined) return turnAway(refusal('missing_api_key'));
    const told = (who: Principal | 'unknown' | 'unavailable'): void => {
      if (who === 'unavailable')
        turnAway(
          refusal('unavailable', { why: 'keys cannot be looked up', id }, unavailableRetryMs),
        );
      else if (who === 'unknown') turnAway(refusal('invalid_api_key', { key: maskSecret(secret) }));
      else if (who.addresses?.has(this.#addressOf(arrival)) === false)
        turnAway(refusal('address_not_allowed', { address: this.#addressOf(arrival) }));
      else known(who);
    };
    const remembered = this.#parts.keyring.known(secret);
    if (remembered !== undefined) told(remembered);
    else void this.#parts.keyring.lookUp(secret).then(told);
  }

  #addressOf({ reply, request }: UnidentifiedRequest): string {
    return this.#clientAddress(reply.peer, request.headers);
  }

  /** Runs before the body is read: a client without a key cannot make Tollgate hold a body. */
  readonly enter = (
    request: FastifyRequest,
    fastifyReply: FastifyReply,
    done: () => void,
  ): void => {
    const near = request.routeOptions.config.convention ?? this.#conventionAt(request.url);
    const convention = near.spokenBy?.(request.headers) ?? near;
    const arrival = this.#arrive(request, new NodeResponseWriter(fastifyReply.raw), convention);
    const { id, at, reply } = arrival;
    if (request.method === 'OPTIONS') {
      fastifyReply.hijack();
      for (let i = 0; i + 1 < corsPreflightHeaders.length; i += 2)
        reply.header(corsPreflightHeaders[i] ?? '', corsPreflightHeaders[i + 1] ?? '');
      reply.whole(204, 'text/plain', '');
      return;
    }
    const stranger = (): void => void fastifyReply.hijack();
    this.#letIn(arrival, stranger, (principal) => {
      request.visit = { id, at, principal, request, reply, convention, gone: arrival.gone };
      done();
    });
  };

  /**
   * The convention of a request that no endpoint takes: that of the endpoint with this path and
   * another method, or with a path above it.
   */
  #conventionAt(url: string): ClientConvention {
    const path = pathOf({ url });
    const near = this.#endpoints.find(
      ({ convention, path: of }) => convention !== undefined && `${path}/`.startsWith(`/v1${of}/`),
    );
    return near?.convention ?? chatConvention;
  }

  /** Runs a handler on a hijacked reply: from here on Fastify does not write the response. */
  readonly serve = (
    request: FastifyRequest,
    fastifyReply: FastifyReply,
    handle: Endpoint['handle'],
  ): void => {
    const { visit } = request;
    if (visit === null) throw new Error('a request passed the door without a visit');
    fastifyReply.hijack();
    // The length of a body without `content-length` is known now, before it is parsed.
    const { body } = request;
    if (
      Buffer.isBuffer(body) &&
      visit.gone === undefined &&
      !this.#hold(visit, visit.principal, body.length)
    )
      return;
    if (visit.gone !== undefined) visit.reply.onOver(visit.gone);
    this.#admit(visit, handle);
  };

  /**
   * A body may take minutes to arrive, and its key may be deleted meanwhile: after `identityMs` the
   * key is looked up again.
   */
  #admit(visit: RequestContext, handle: Endpoint['handle']): void {
    if (visit.request.headers['content-encoding'] !== undefined) return this.#unpack(visit, handle);
    if (this.#parts.clock.now() - visit.at <= identityMs) void this.#visit(visit, handle);
    else
      this.#identify(
        visit,
        nothing,
        (principal) => void this.#visit({ ...visit, principal }, handle),
      );
  }

  /** Gives the handler the decoded body, whether it came as bytes or as a stream. */
  #unpack(visit: RequestContext, handle: Endpoint['handle']): void {
    const { method, url, headers: sent, body, params } = visit.request;
    const { 'content-encoding': header, 'content-length': _length, ...headers } = sent;
    const coding = requestEncodingOf(header);
    const enter = (plain: unknown): void =>
      this.#admit(
        { ...visit, request: { method, url, headers, body: plain, params } },
        plain === body ? handle : withParsedBody(plain, handle),
      );
    const failed = (why: Refusal): void => {
      if (why.refusal === 'unsupported_encoding')
        visit.reply.header('accept-encoding', supportedEncodings);
      this.#refuse(visit, why);
    };
    if (coding === undefined) return enter(body);
    if (body instanceof Readable)
      return decodeRequestBody(body, coding, this.#bodyBytesMax, enter, failed);
    if (!Buffer.isBuffer(body)) return enter(body);
    this.#unpacking.take(visit.principal.userId, (over) => {
      // The client may have left while its body waited.
      if (visit.reply.closed) return over();
      const unpacked = (plain: Buffer | Readable): void => {
        if (this.#holdUnpacked(visit, body.length, plain)) enter(plain);
        over();
      };
      const broken = (why: Refusal): void => {
        failed(why);
        over();
      };
      decodeRequestBody(body, coding, this.#bodyBytesMax, unpacked, broken);
    });
  }

  /**
   * Counts a decoded body by its decoded size. Returns false when the client has left, or when
   * there is no room for the body.
   */
  #holdUnpacked(visit: RequestContext, packedBytes: number, plain: Buffer | Readable): boolean {
    const { principal, reply } = visit;
    if (reply.closed) return false;
    if (visit.gone !== undefined) this.#bodyBytes.leave(principal.userId, packedBytes);
    visit.gone = undefined;
    reply.onOver(this.#gone);
    if (Buffer.isBuffer(plain) && !this.#hold(visit, principal, plain.length)) return false;
    reply.onOver(visit.gone ?? this.#gone);
    return true;
  }

  async #visit(visit: RequestContext, handle: Endpoint['handle']): Promise<void> {
    // A client that left while its body arrived is no longer counted.
    if (visit.reply.closed) return;
    this.#parts.traces?.began(visit.id, visit.at, visit.request);
    // Work may outlast its client: the request counts until its handler is done.
    visit.reply.onOver(nothing);
    try {
      await handle(visit);
    } catch (error) {
      this.#failed(visit, error);
    } finally {
      this.#parts.traces?.ended(visit.id);
      visit.reply.onOver(visit.gone ?? this.#gone);
    }
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
    this.#lane.handOverPartial();
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
    this.#lane.closeAll();
  }

  /** Closes each connection after its current response. */
  close(): void {
    this.#lane.close();
  }

  readonly unknown = ({ request, reply }: RequestContext): never => {
    const path = pathOf(request);
    const taken = this.#methodsAt(path);
    if (taken.length === 0) {
      const right = path.replace(/^(?:\/v1)*\//, '/v1/');
      const instead = this.#methodsAt(right).length === 0 ? '' : endpointHint(right);
      refuse('unknown_url', { method: request.method, path, instead });
    }
    reply.header(
      'allow',
      [
        ...taken.flatMap((method) => (method === 'GET' ? [method, 'HEAD'] : [method])),
        'OPTIONS',
      ].join(', '),
    );
    refuse('method_not_supported', { method: request.method, path, allowed: taken.join(' or ') });
  };

  #methodsAt(path: string): readonly string[] {
    return this.#endpoints
      .filter((endpoint) => matches(`/v1${endpoint.path}`, path))
      .map((endpoint) => endpoint.method);
  }

  /** Fastify could not take the body. */
  readonly broken = (error: unknown, request: FastifyRequest, fastifyReply: FastifyReply): void => {
    const { visit } = request;
    if (visit === null) throw error;
    fastifyReply.hijack();
    // A client that left in the middle of its request gets no response.
    if (request.raw.destroyed) return;
    this.#failed(visit, bodyRefusal(error, this.#bodyBytesMax) ?? error);
  };

  #failed(visit: RequestContext, error: unknown): void {
    const { id, reply } = visit;
    if (error instanceof Refusal) return this.#refuse(visit, error);
    if (error instanceof LimitReached) {
      limitHeaders(error.overrun, reply);
      return this.#refuse(visit, limitRefusal(error));
    }
    if (isAway(error) && !reply.started)
      return this.#refuse(
        visit,
        refusal('unavailable', { why: 'the database cannot be reached', id }, unavailableRetryMs),
      );
    this.#log.bug(id, error);
    if (reply.started) reply.destroy();
    else this.#refuse(visit, refusal('server_error', { id }));
  }

  #refuse({ id, request, reply, convention }: UnidentifiedRequest, why: Refusal): void {
    this.#log.refused(id, statusOf(why), why.refusal, request.method, pathOf(request));
    sendRefusal(reply, why, convention.envelope, id);
  }
}

const nothing = (): void => {};

/** The endpoint's handler. After it, the unread rest of the decoded body is dropped. */
const withParsedBody = (body: unknown, handle: Endpoint['handle']): Endpoint['handle'] =>
  body instanceof Readable
    ? async (visit) => {
        try {
          await handle(visit);
        } finally {
          body.destroy();
        }
      }
    : handle;

/** The `retry-after` of a large body that had no room. */
const bodyRetryMs = 1_000;

/**
 * How long a request trusts the lookup of its key. A changed key is known in every process within
 * this time.
 */
const identityMs = 1_000;

/**
 * Methods that endpoints have, HEAD, which the framework answers as GET, and OPTIONS, which the
 * entry answers.
 */
const routedMethods = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);

const isApiPath = (url: string): boolean => /^\/v1(?:[/?]|$)/.test(url);

/**
 * RFC 6455 §4.1. An upgrade to another protocol is ignored, since some clients offer h2c with every
 * request.
 */
const isWebSocket = ({ upgrade = '', connection = '' }: IncomingHttpHeaders): boolean =>
  /(?:^|,)\s*websocket\s*(?:,|$)/i.test(upgrade) && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);

const pathOf = ({ url }: Pick<HttpRequest, 'url'>): string => url.split('?', 1)[0] ?? url;

/**
 * Whether a path is that of a route, whose `:name` stands for one segment and `*` for all that
 * follow.
 */
function matches(route: string, path: string): boolean {
  if (route.endsWith('*'))
    return path.startsWith(route.slice(0, -1)) && path.length >= route.length;
  if (!route.includes(':')) return route === path;
  const steps = path.split('/');
  const named = route.split('/');
  return (
    steps.length === named.length &&
    named.every((step, i) => (step.startsWith(':') ? steps[i] !== '' : step === steps[i]))
  );
}

export const idempotencyHeader = 'idempotency-key';

function handlerFor(
  { handle, handleKeyed }: Endpoint,
  headers: IncomingHttpHeaders,
): Endpoint['handle'] {
  return headers[idempotencyHeader] === undefined ? handle : (handleKeyed ?? handle);
}

interface LimitStates {
  readonly requests: LimitState | undefined;
  readonly tokens: LimitState | undefined;
}

/**
 * Sets `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` for the limits that the group has.
 */
export function limitHeaders(states: LimitStates, reply: ClientResponse): void {
  if (states.requests !== undefined) add(reply, ofRequests, states.requests);
  if (states.tokens !== undefined) add(reply, ofTokens, states.tokens);
}

const namesOf = (of: string) =>
  ({
    limit: `x-ratelimit-limit-${of}`,
    remaining: `x-ratelimit-remaining-${of}`,
    reset: `x-ratelimit-reset-${of}`,
  }) as const;
const ofRequests = namesOf('requests');
const ofTokens = namesOf('tokens');

function add(reply: ClientResponse, names: typeof ofRequests, state: LimitState): void {
  reply.header(names.limit, String(state.limit));
  // `String` keeps the text of each integer in a long-lived cache, but this number differs in each
  // request.
  reply.header(names.remaining, Math.max(0, Math.floor(state.remaining)).toFixed());
  reply.header(names.reset, goDuration(state.resetMs));
}

/** Milliseconds as clients of this convention read them: `12ms`, `1.5s`, `6m0s`. */
export function goDuration(ms: number): string {
  const whole = Math.max(0, Math.ceil(ms));
  if (whole === 0) return '0s';
  if (whole < 1_000) return `${whole}ms`;
  const seconds = whole / 1_000;
  if (seconds < 60) return `${Number(seconds.toFixed(3))}s`;
  return `${Math.floor(seconds / 60)}m${Number((seconds % 60).toFixed(3))}s`;
}

/** Headers for browsers, name and value in turn. */
const corsHeaders = ['access-control-allow-origin', '*'];
/** The response headers that a page may read. Only browsers need them: they send an Origin. */
const corsExposedHeaders = [
  ...corsHeaders,
  'access-control-expose-headers',
  'x-request-id, request-id, retry-after, retry-after-ms, x-ratelimit-limit-requests, x-ratelimit-remaining-requests, x-ratelimit-reset-requests, x-ratelimit-limit-tokens, x-ratelimit-remaining-tokens, x-ratelimit-reset-tokens, x-tollgate-max-tokens, x-tollgate-dropped, idempotent-replayed',
];
/** The headers of the response to a CORS preflight. */
const corsPreflightHeaders = [
  'access-control-allow-methods',
  'GET, POST, DELETE, OPTIONS',
  'access-control-allow-headers',
  '*, Authorization',
  'access-control-max-age',
  '86400',
];

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
