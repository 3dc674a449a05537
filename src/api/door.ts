import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../accounts/principal.ts';
import { requestId } from '../base/id.ts';
import { Refusal, refusal, refuse } from '../base/refusal.ts';
import { LimitReached } from '../gateway/admit.ts';
import type { Parts } from '../gateway/parts.ts';
import { unavailableRetryMs } from '../gateway/reserve.ts';
import { BodyBytes, Turns, uncountedBytes } from '../http/body-bytes.ts';
import { collectBody, tellsLength } from '../http/body.ts';
import type { ClientAddress } from '../http/client-address.ts';
import { Lane } from '../http/lane.ts';
import { codingOf, codingsTaken, unpack } from '../http/packed-body.ts';
import type { PlainRequest } from '../http/plain-request.ts';
import { Reply } from '../http/reply.ts';
import { ResponseWire, type Wire } from '../http/wire.ts';
import { isAway } from '../storage/database.ts';
import { chatConvention, type Convention } from './convention.ts';
import { cors, exposed, preflight } from './cors.ts';
import { sendRefusal, statusOf } from './errors.ts';
import { limitHeaders } from './limit-headers.ts';
import { bodyRefusal, limitRefusal, masked } from './turned-away.ts';
import { insteadAt } from './unreadable.ts';

/** What the door logs of a request that never became an exchange, and of bugs. */
export interface DoorLog {
  refused(id: string, status: number, outcome: string, method: string, path: string): void;
  bug(id: string, error: unknown): void;
}

/** What endpoints read of a request, whichever way it came in. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  /** The bytes that came; the request itself, unread, where the endpoint wants it so. */
  readonly body: unknown;
  /** What the path's places hold. */
  readonly params: unknown;
}

/** Somebody at the door: who it is, is not known yet. */
interface Arrival {
  readonly id: string;
  /** Wall clock, ms. */
  readonly at: number;
  readonly request: Pick<Asked, 'method' | 'url' | 'headers'>;
  readonly reply: Reply;
  readonly convention: Convention;
  /**
   * Called when the request has ended. It also gives back the bytes of a large body. Absent:
   * `Door.#gone`.
   */
  gone?: (() => void) | undefined;
}

/** One request of a known client: what an endpoint's handler works with. */
export interface Visit extends Arrival {
  readonly principal: Principal;
  readonly request: Asked;
}

/** An endpoint is a row. `handle` may throw a Refusal as long as nothing was sent. */
export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** That of chat, when absent. */
  readonly convention?: Convention;
  /** `stream`: it reads the body itself, as it arrives. Otherwise the body is there as a whole. */
  readonly body?: 'stream';
  readonly handle: (visit: Visit) => void | Promise<void>;
}

/** The door, once open. */
export interface OpenDoor {
  /**
   * Lets nobody in any more; resolves when everybody has left, or after `waitMs`. True when all
   * had.
   */
  drain(waitMs: number): Promise<boolean>;
  /** Breaks off whoever is still inside. */
  breakOff(): void;
  readonly open: boolean;
}

/**
 * Puts the endpoints behind one door under `/v1`: request id, CORS, key, and every refusal in the
 * one error shape.
 */
export async function openDoor(
  server: FastifyInstance,
  parts: Parts,
  endpoints: readonly Endpoint[],
  log: DoorLog,
  bodyBytesMax: number,
  address: ClientAddress,
): Promise<OpenDoor> {
  const door = new Door(server.server, parts, log, endpoints, bodyBytesMax, address);
  await server.register(
    (scope, _options, done) => {
      scope.decorateRequest('visit', null);
      scope.addHook('onRequest', door.enter);
      routes(scope, door, endpoints, undefined);
      void scope.register((streamed, _none, ready) => {
        streamed.removeAllContentTypeParsers();
        streamed.addContentTypeParser('*', (_request, unread, parsed) => parsed(null, unread));
        routes(streamed, door, endpoints, 'stream');
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

/** Those endpoints that take their body in this way. */
function routes(
  scope: FastifyInstance,
  door: Door,
  endpoints: readonly Endpoint[],
  way: Endpoint['body'],
): void {
  for (const { method, path, handle, body, convention = chatConvention } of endpoints)
    if (body === way)
      scope.route({
        method,
        url: path,
        config: { convention },
        handler: (request, reply) => door.serve(request, reply, handle),
      });
}

declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit | null;
  }
  interface FastifyContextConfig {
    convention?: Convention;
  }
}

class Door implements OpenDoor {
  open = true;
  #inside = 0;
  #empty: (() => void) | undefined;
  readonly #parts: Parts;
  readonly #log: DoorLog;
  readonly #endpoints: readonly Endpoint[];
  /** Those that are posted to under one fixed path. */
  readonly #exact: ReadonlyMap<string, Endpoint>;
  readonly #bodyBytesMax: number;
  readonly #bodyBytes: BodyBytes;
  /** How large a packed body is, is known once it is unpacked: of each account one at a time is. */
  readonly #unpacking = new Turns();
  readonly #lane: Lane;
  readonly #clientAddress: ClientAddress;

  constructor(
    server: Server,
    parts: Parts,
    log: DoorLog,
    endpoints: readonly Endpoint[],
    bodyBytesMax: number,
    address: ClientAddress,
  ) {
    this.#clientAddress = address;
    this.#parts = parts;
    this.#log = log;
    this.#endpoints = endpoints;
    this.#bodyBytesMax = bodyBytesMax;
    this.#bodyBytes = new BodyBytes(parts.limits.bodyBytesInFlightMax);
    const exact = endpoints.filter(({ method, path }) => method === 'POST' && !/[:*]/.test(path));
    this.#exact = new Map(exact.map((endpoint) => [`/v1${endpoint.path}`, endpoint]));
    const { clock } = parts;
    const paths = new Map([...this.#exact].filter(([, { body }]) => body === undefined));
    const { keepAliveTimeout: keepAliveTimeoutMs } = server;
    this.#lane = new Lane(server, {
      paths,
      clock,
      keepAliveTimeoutMs,
      bodyBytesMax,
      serve: (request, wire) => this.#serve(request, wire),
    });
  }

  /** Requests that came whole, past node:http and the framework. */
  #serve({ url, headers, body }: PlainRequest, wire: Wire): void {
    const endpoint = this.#exact.get(url);
    if (endpoint === undefined) throw new Error(`the lane took ${url}`);
    const { convention = chatConvention, handle } = endpoint;
    const request = { method: 'POST', url, headers, body, params: undefined };
    const arrival = this.#arrive(request, wire, convention);
    this.#letIn(arrival, nothing, (principal) => {
      const { id, at, reply } = arrival;
      this.#admit({ id, at, principal, request, reply, convention }, handle);
    });
  }

  /**
   * The way of nearly all requests, past the framework, whose hooks and routes cost a tenth of a
   * small request: a body of a told length, posted to a fixed path. False: the framework's case,
   * and nothing has happened.
   */
  shortcut(request: IncomingMessage, response: ServerResponse): boolean {
    const { method = '', url = '', headers } = request;
    if (headers.upgrade !== undefined && isWebSocket(headers) && isBehind(url))
      return this.#notUpgraded(request, response);
    const endpoint = method === 'POST' ? this.#exact.get(url) : undefined;
    if (endpoint === undefined)
      return !routed.has(method) && isBehind(url) && this.#unrouted(request, response);
    const { convention = chatConvention, handle, body: streamed } = endpoint;
    if (streamed === undefined && !tellsLength(request, this.#bodyBytesMax)) return false;
    const arrival = this.#arrive({ method, url, headers }, new ResponseWire(response), convention);
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
          handle,
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
      new ResponseWire(response),
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
    const arrival = this.#arrive(request, new ResponseWire(response), convention);
    this.#letIn(arrival, nothing, (principal) => {
      const { id, at, reply } = arrival;
      this.#admit({ id, at, principal, request, reply, convention }, this.unknown);
    });
    return true;
  }

  #arrive(request: Arrival['request'], wire: Wire, convention: Convention): Arrival {
    const at = this.#parts.clock.now();
    const id = requestId(at);
    const origin = request.headers.origin === undefined ? cors : exposed;
    const reply = new Reply(wire, [...origin, 'x-request-id', id]);
    if (convention.idHeader !== undefined) reply.header(convention.idHeader, id);
    return { id, at, request, reply, convention };
  }

  /**
   * Lets a client in, who is inside until its answer is over: a body that has begun to come when
   * the door closes is awaited.
   */
  #letIn(arrival: Arrival, stranger: () => void, known: (principal: Principal) => void): void {
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
   * Counts a large body while it is held; false: the account has no room for it, and it was refused
   * after a call of `refusing`.
   */
  #hold(arrival: Arrival, { userId }: Principal, bytes: number, refusing = nothing): boolean {
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
   * Calls `known` with the client whose key this is; else `stranger`, and then the refusal is sent.
   */
  #identify(arrival: Arrival, stranger: () => void, known: (principal: Principal) => void): void {
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
      else if (who === 'unknown') turnAway(refusal('invalid_api_key', { key: masked(secret) }));
      else if (who.addresses?.has(this.#addressOf(arrival)) === false)
        turnAway(refusal('address_not_allowed', { address: this.#addressOf(arrival) }));
      else known(who);
    };
    const remembered = this.#parts.keyring.known(secret);
    if (remembered !== undefined) told(remembered);
    else void this.#parts.keyring.lookUp(secret).then(told);
  }

  #addressOf({ reply, request }: Arrival): string {
    return this.#clientAddress(reply.peer, request.headers);
  }

  /** Before the body is read: strangers cannot make us hold one. */
  readonly enter = (
    request: FastifyRequest,
    fastifyReply: FastifyReply,
    done: () => void,
  ): void => {
    const near = request.routeOptions.config.convention ?? this.#conventionAt(request.url);
    const convention = near.spokenBy?.(request.headers) ?? near;
    const arrival = this.#arrive(request, new ResponseWire(fastifyReply.raw), convention);
    const { id, at, reply } = arrival;
    if (request.method === 'OPTIONS') {
      fastifyReply.hijack();
      for (let i = 0; i + 1 < preflight.length; i += 2)
        reply.header(preflight[i] ?? '', preflight[i + 1] ?? '');
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
   * Of a request that no endpoint takes: that of the endpoint whose path it is in another method,
   * or below which it lies.
   */
  #conventionAt(url: string): Convention {
    const path = pathOf({ url });
    const near = this.#endpoints.find(
      ({ convention, path: of }) => convention !== undefined && `${path}/`.startsWith(`/v1${of}/`),
    );
    return near?.convention ?? chatConvention;
  }

  /** Runs an endpoint on a hijacked response: from here on the answer is ours alone. */
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
   * A body may take minutes to come, and its key be deleted meanwhile: whose it is, is asked once
   * more then.
   */
  #admit(visit: Visit, handle: Endpoint['handle']): void {
    if (visit.request.headers['content-encoding'] !== undefined) return this.#unpack(visit, handle);
    if (this.#parts.clock.now() - visit.at <= identityMs) void this.#visit(visit, handle);
    else
      this.#identify(
        visit,
        nothing,
        (principal) => void this.#visit({ ...visit, principal }, handle),
      );
  }

  /** Gives the endpoint the unpacked body, whether it came as bytes or as a stream. */
  #unpack(visit: Visit, handle: Endpoint['handle']): void {
    const { method, url, headers: sent, body, params } = visit.request;
    const { 'content-encoding': header, 'content-length': _length, ...headers } = sent;
    const coding = codingOf(header);
    const enter = (plain: unknown): void =>
      this.#admit(
        { ...visit, request: { method, url, headers, body: plain, params } },
        plain === body ? handle : reading(plain, handle),
      );
    const failed = (why: Refusal): void => {
      if (why.refusal === 'unsupported_encoding')
        visit.reply.header('accept-encoding', codingsTaken);
      this.#refuse(visit, why);
    };
    if (coding === undefined) return enter(body);
    if (body instanceof Readable) return unpack(body, coding, this.#bodyBytesMax, enter, failed);
    if (!Buffer.isBuffer(body)) return enter(body);
    this.#unpacking.take(visit.principal.userId, (over) => {
      // Whose client has left while it waited is not unpacked.
      if (visit.reply.closed) return over();
      const unpacked = (plain: Buffer | Readable): void => {
        if (this.#holdUnpacked(visit, body.length, plain)) enter(plain);
        over();
      };
      const broken = (why: Refusal): void => {
        failed(why);
        over();
      };
      unpack(body, coding, this.#bodyBytesMax, unpacked, broken);
    });
  }

  /**
   * A packed body counts as what it has become. False: its client has left, or there is no room for
   * it.
   */
  #holdUnpacked(visit: Visit, packedBytes: number, plain: Buffer | Readable): boolean {
    const { principal, reply } = visit;
    if (reply.closed) return false;
    if (visit.gone !== undefined) this.#bodyBytes.leave(principal.userId, packedBytes);
    visit.gone = undefined;
    reply.onOver(this.#gone);
    if (Buffer.isBuffer(plain) && !this.#hold(visit, principal, plain.length)) return false;
    reply.onOver(visit.gone ?? this.#gone);
    return true;
  }

  async #visit(visit: Visit, handle: Endpoint['handle']): Promise<void> {
    // Whoever has left while its body came is not inside any more.
    if (visit.reply.closed) return;
    this.#parts.traces?.began(visit.id, visit.at, visit.request);
    // Work may outlast its client: until it is done nobody has gone.
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

  /** Somebody has all of the answer, or has left. Who reads slowly is inside until then. */
  readonly #gone = (): void => {
    this.#inside -= 1;
    if (this.#inside === 0) this.#empty?.();
  };

  async drain(waitMs: number): Promise<boolean> {
    // Whoever has begun to speak is let in first.
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

  /** Connections end with their answers. */
  close(): void {
    this.#lane.close();
  }

  readonly unknown = ({ request, reply }: Visit): never => {
    const path = pathOf(request);
    const taken = this.#methodsAt(path);
    if (taken.length === 0) {
      const right = path.replace(/^(?:\/v1)*\//, '/v1/');
      const instead = this.#methodsAt(right).length === 0 ? '' : insteadAt(right);
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
    // Whoever leaves in the middle of a request is told nothing.
    if (request.raw.destroyed) return;
    this.#failed(visit, bodyRefusal(error, this.#bodyBytesMax) ?? error);
  };

  #failed(visit: Visit, error: unknown): void {
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

  #refuse({ id, request, reply, convention }: Arrival, why: Refusal): void {
    this.#log.refused(id, statusOf(why), why.refusal, request.method, pathOf(request));
    sendRefusal(reply, why, convention.envelope, id);
  }
}

const nothing = (): void => {};

/** The endpoint's handler. After it, the unread rest of the unpacked body is dropped. */
const reading = (body: unknown, handle: Endpoint['handle']): Endpoint['handle'] =>
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

/** For so long a client is who its key said it is; a changed key is known everywhere in as much. */
const identityMs = 1_000;

/**
 * Methods that endpoints have, HEAD, which the framework answers as GET, and OPTIONS, which the
 * door answers.
 */
const routed = new Set(['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']);

const isBehind = (url: string): boolean => /^\/v1(?:[/?]|$)/.test(url);

/**
 * RFC 6455 §4.1. An upgrade to another protocol is ignored, since some clients offer h2c with every
 * request.
 */
const isWebSocket = ({ upgrade = '', connection = '' }: IncomingHttpHeaders): boolean =>
  /(?:^|,)\s*websocket\s*(?:,|$)/i.test(upgrade) && /(?:^|,)\s*upgrade\s*(?:,|$)/i.test(connection);

const pathOf = ({ url }: Pick<Asked, 'url'>): string => url.split('?', 1)[0] ?? url;

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
