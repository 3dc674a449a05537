import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { resumeSession } from '../accounts/sessions.ts';
import type { Clock } from '../base/clock.ts';
import { requestId } from '../base/random.ts';
import { Refusal, refusals } from '../base/refusal.ts';
import { ClientResponse } from '../http/client-response.ts';
import { NodeResponseWriter } from '../http/node-transport.ts';
import type { Allowance, Limiter, Pass } from '../limits/limiter.ts';
import { csrfOf, isCsrf, sessionSecretIn } from '../signin/session-cookie.ts';
import { type Site, networkKeyOf } from '../signin/site.ts';
import { type Database, isAway } from '../storage/database.ts';
import {
  ConsoleReply,
  type ConsoleRequest,
  type Caller,
  type ConsoleRoute,
  checkPermission,
  consoleRoles,
  ownerOf,
} from './route.ts';
import {
  envelope,
  throwProblem,
  ConsoleProblem,
  type ProblemReply,
  problemReply,
} from './problem.ts';

const bodyBytesMaxUsual = 256 * 1024;
const perMinuteUsual = 600;
/**
 * Requests of one user to heavy routes, all together, that run at the same time in one process:
 * fewer than the database has connections, so that others are answered meanwhile.
 */
const heavyAtOnceMax = 4;
const retryMs = 1_000;

export interface ConsoleLog {
  refused(id: string, status: number, code: string, method: string, path: string): void;
  bug(id: string, error: unknown): void;
}

/** What the server itself needs; routes are made with their own context. */
export interface ConsoleContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly limiter: Limiter;
  readonly site: Site;
  readonly log: ConsoleLog;
}

export interface OpenConsole {
  readonly routes: readonly ConsoleRoute[];
  /**
   * Refuses new requests and ends all streams of events. Resolves when every response has ended, or
   * after `waitMs`.
   */
  drain(waitMs: number): Promise<void>;
}

export const consolePath = '/console/api';

/**
 * Serves the routes under `/console/api`. Checks session, role, origin, token and rate for all of
 * them, and gives every refusal one format.
 */
export async function openConsole(
  server: FastifyInstance,
  context: ConsoleContext,
  routes: readonly ConsoleRoute[],
): Promise<OpenConsole> {
  const consoleServer = new ConsoleServer(context, routes);
  for (const { method, path, role } of routes)
    if (!consoleRoles.includes(role)) throw new Error(`${method} ${path} has no role`);
  await server.register(
    (scope, _options, done) => {
      scope.decorateRequest('consoleRequest', null);
      scope.addHook('onRequest', consoleServer.enter);
      for (const route of routes) {
        const { method, path, bodyBytesMax: bodyLimit = bodyBytesMaxUsual } = route;
        scope.route({
          method,
          url: `/${path}`,
          bodyLimit,
          config: { route },
          handler: (request, reply) => consoleServer.serve(route, request, reply),
        });
      }
      scope.setNotFoundHandler((request, reply) =>
        consoleServer.refuse(request, reply, new ConsoleProblem('not_found')),
      );
      scope.setErrorHandler((error, request, reply) => consoleServer.refuse(request, reply, error));
      done();
    },
    { prefix: consolePath },
  );
  return consoleServer;
}

declare module 'fastify' {
  interface FastifyRequest {
    consoleRequest: ConsoleRequest | null;
  }
  interface FastifyContextConfig {
    route?: ConsoleRoute;
  }
}

class ConsoleServer implements OpenConsole {
  readonly routes: readonly ConsoleRoute[];
  readonly #context: ConsoleContext;
  readonly #replies = new Set<ConsoleReply>();
  #open = true;
  #empty: (() => void) | undefined;

  constructor(context: ConsoleContext, routes: readonly ConsoleRoute[]) {
    this.routes = routes;
    this.#context = context;
  }

  /** Before the body is read: identifies the caller and checks the caller's rights. */
  readonly enter = async (request: FastifyRequest, fastifyReply: FastifyReply): Promise<void> => {
    const consoleRequest = this.#begin(request, fastifyReply);
    const { route } = request.routeOptions.config;
    if (route === undefined) return;
    try {
      const caller = await this.#admit(route, consoleRequest, request);
      request.consoleRequest = { ...consoleRequest, caller };
    } catch (error) {
      this.refuse(request, fastifyReply, error);
    }
  };

  #begin(request: FastifyRequest, fastifyReply: FastifyReply): ConsoleRequest {
    const { clock, site } = this.#context;
    const { headers, raw } = request;
    const at = clock.now();
    const id = requestId(at);
    const reply = new ConsoleReply(
      new ClientResponse(new NodeResponseWriter(fastifyReply.raw), [
        'cache-control',
        'no-store',
        'x-content-type-options',
        'nosniff',
        'x-request-id',
        id,
      ]),
    );
    const ip = site.addressOf(raw.socket.remoteAddress, headers);
    const consoleRequest = {
      id,
      at,
      ip,
      headers,
      params: paramsOf(request),
      body: nothing,
      written: () => rawInputOf(request),
      caller: undefined,
      reply,
    };
    request.consoleRequest = consoleRequest;
    return consoleRequest;
  }

  async #admit(
    route: ConsoleRoute,
    { at, ip, headers }: ConsoleRequest,
    { method }: FastifyRequest,
  ): Promise<Caller | undefined> {
    const { site } = this.#context;
    if (!this.#open)
      throwProblem('unavailable', {
        message: 'This node is shutting down.',
        retryAfterMs: retryMs,
      });
    const writes = method !== 'GET' && method !== 'HEAD';
    if (writes && !site.isOwn(headers)) throwProblem('csrf');
    const caller = route.sessionless ? undefined : await this.#caller(headers, ip, at);
    checkPermission(route.role, caller);
    if (writes && caller !== undefined && !isCsrf(headers['x-csrf-token'], caller.csrf))
      throwProblem('csrf');
    const rpm = route.perMinute ?? perMinuteUsual;
    const what = route.perMinute === undefined ? '' : `${route.method} ${route.path}`;
    this.#limited(subjectOf(caller, ip, what), { rpm }).finish(0);
    return caller;
  }

  /** Throws a problem when the limit is reached. */
  #limited(subject: string, { rpm, tpm, concurrency }: Partial<Allowance>, message?: string): Pass {
    const pass = this.#context.limiter.enter(subject, { rpm, tpm, concurrency }, 1);
    if ('limitOf' in pass)
      throwProblem('rate_limited', {
        retryAfterMs: pass.retryAfterMs,
        ...(message !== undefined && { message }),
      });
    return pass;
  }

  /**
   * The route's work. A heavy one counts until the work has ended: a browser that disconnects does
   * not stop the database.
   */
  async #run(route: ConsoleRoute, consoleRequest: ConsoleRequest): Promise<unknown> {
    if (route.heavy === undefined) return route.serve(consoleRequest);
    const pass = this.#limited(
      subjectOf(consoleRequest.caller, consoleRequest.ip, 'heavy'),
      { concurrency: heavyAtOnceMax },
      `${heavyAtOnceMax} such requests of yours are running. Please wait until one has ended.`,
    );
    try {
      return await route.serve(consoleRequest);
    } finally {
      pass.finish(0);
    }
  }

  async #caller(
    headers: IncomingMessage['headers'],
    ip: string,
    at: number,
  ): Promise<Caller | undefined> {
    const { database, site } = this.#context;
    const secret = sessionSecretIn(headers, site.secure);
    if (secret === undefined) return undefined;
    // An invented session costs a query, too. Its token is used up, and that of a real one is given
    // back.
    const pass = this.#limited(subjectOf(undefined, ip, 'sessions'), { tpm: perMinuteUsual });
    let isReal = true;
    try {
      const signedIn = await resumeSession(database, { secret, ip, at });
      isReal = signedIn !== undefined;
      return signedIn && { ...signedIn, owner: ownerOf(signedIn.user), csrf: csrfOf(secret) };
    } finally {
      pass.finish(isReal ? 0 : 1);
    }
  }

  readonly serve = async (
    route: ConsoleRoute,
    request: FastifyRequest,
    fastifyReply: FastifyReply,
  ): Promise<void> => {
    const { consoleRequest } = request;
    assert(consoleRequest !== null, 'the hook onRequest has admitted the request');
    const { reply } = consoleRequest;
    fastifyReply.hijack();
    this.#replies.add(reply);
    reply.client.onOver(() => this.#remove(reply));
    try {
      const body = Buffer.isBuffer(request.body) ? request.body : nothing;
      const value = await this.#run(route, { ...consoleRequest, body });
      await reply.finish(value, request.headers['accept-encoding']);
    } catch (error) {
      this.#sendProblem(consoleRequest, request, error);
    }
  };

  #remove(reply: ConsoleReply): void {
    this.#replies.delete(reply);
    if (this.#replies.size === 0) this.#empty?.();
  }

  async drain(waitMs: number): Promise<void> {
    this.#open = false;
    for (const reply of this.#replies) reply.leave();
    if (this.#replies.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      this.#empty = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  readonly refuse = (request: FastifyRequest, fastifyReply: FastifyReply, error: unknown): void => {
    fastifyReply.hijack();
    // A client that disconnects in the middle of a request gets no response.
    if (!request.raw.destroyed || request.raw.complete)
      this.#sendProblem(
        request.consoleRequest ?? this.#begin(request, fastifyReply),
        request,
        error,
      );
  };

  #sendProblem(
    { id, reply: { client } }: ConsoleRequest,
    { method, url }: FastifyRequest,
    error: unknown,
  ): void {
    const refused = replyOf(error);
    if (refused.status === 500) this.#context.log.bug(id, error);
    else
      this.#context.log.refused(
        id,
        refused.status,
        refused.code ?? refused.type,
        method,
        url.split('?', 1)[0] ?? '',
      );
    if (client.started) return client.destroy();
    if (refused.retryAfterMs !== undefined)
      client.header('retry-after', String(Math.max(1, Math.ceil(refused.retryAfterMs / 1_000))));
    client.whole(refused.status, 'application/json; charset=utf-8', envelope(refused, id));
  }
}

const nothing = Buffer.alloc(0);

/** Whose limit it is: the user's, or that of a stranger's network. */
const subjectOf = (caller: Caller | undefined, ip: string, what: string): string =>
  `console ${caller?.user.id ?? networkKeyOf(ip)} ${what}`;

/** The response for any error. */
function replyOf(error: unknown): ProblemReply {
  if (error instanceof ConsoleProblem) return problemReply(error);
  if (error instanceof Refusal) {
    const { status, type, code } = refusals[error.refusal];
    return {
      status,
      type,
      code,
      message: error.message,
      param: error.param,
      retryAfterMs: error.retryAfterMs,
    };
  }
  if (isAway(error))
    return problemReply(new ConsoleProblem('unavailable', { retryAfterMs: retryMs }));
  return problemReply(new ConsoleProblem(frameworkProblem(error) ?? 'bug'));
}

/** The problem of a request that the framework refuses to read. Undefined: another error. */
export function frameworkProblem(error: unknown): 'too_large' | 'malformed_json' | undefined {
  if (!(error instanceof Error && 'code' in error && 'statusCode' in error)) return undefined;
  const { code, statusCode } = error;
  if (!String(code).startsWith('FST_') || !(Number(statusCode) < 500)) return undefined;
  return code === 'FST_ERR_CTP_BODY_TOO_LARGE' ? 'too_large' : 'malformed_json';
}

function paramsOf({ params }: FastifyRequest): Readonly<Record<string, string>> {
  return typeof params === 'object' && params !== null
    ? Object.fromEntries(Object.entries(params).map(([k, v]) => [k, String(v)]))
    : {};
}

function rawInputOf({ method, url, body }: FastifyRequest): unknown {
  if (method === 'GET' || method === 'HEAD' || method === 'DELETE')
    return Object.fromEntries(new URLSearchParams(url.split('?', 2)[1]));
  if (!Buffer.isBuffer(body) || body.length === 0) return {};
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return throwProblem('malformed_json');
  }
}
