import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { UnreadableAnswer } from '../http/server.ts';
import { type Endpoint, fullPath } from './endpoint.ts';
import { endpointHint } from './errors.ts';
import { meantPath, pathOfUrl } from './routes.ts';

export interface SystemRouteOptions {
  /** Whether new requests are admitted: whether Tollgate can reserve and charge funds. */
  readonly ready: () => boolean;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  readonly metricsToken: string | undefined;
  readonly unreadable: UnreadableAnswer;
  /** A request that lacks `/v1` is told of the endpoint that it means. */
  readonly endpoints: readonly Endpoint[];
  /** Answers requests without another route; undefined: there is no such page. */
  readonly otherwise: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;
}

/** Serves liveness, readiness and metrics, which are no part of the API. */
export function openSystemRoutes(server: FastifyInstance, options: SystemRouteOptions): void {
  server.get('/healthz', (_request, reply) => reply.send({ ok: true }));
  server.get('/readyz', (_request, reply) => {
    const ready = options.ready();
    return reply.code(ready ? 200 : 503).send({ ready });
  });
  const noSuchPage = ({ method, url }: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = pathOfUrl(url);
    const meant = method === 'HEAD' ? 'GET' : method;
    const right = meantPath(path);
    const isEndpoint = options.endpoints.some(
      (endpoint) => endpoint.method === meant && fullPath(endpoint) === right,
    );
    const instead = isEndpoint && !/[:*]/.test(right) ? endpointHint(right) : '';
    const { status, body, id } = options.unreadable('bad url', { method, path, instead });
    return reply.code(status).type('application/json').header('x-request-id', id).send(body);
  };
  server.setNotFoundHandler(
    (request, reply) => options.otherwise(request, reply) ?? noSuchPage(request, reply),
  );
  // The framework refuses some methods (QUERY without a content type) before it looks for a route.
  server.setErrorHandler((error, request, reply) => {
    if (isRefusedByFramework(error)) return noSuchPage(request, reply);
    throw error;
  });
  const { metricsToken } = options;
  if (metricsToken !== undefined) {
    server.get('/metrics', async (request, reply) => {
      if (!same(request.headers.authorization ?? '', `Bearer ${metricsToken}`))
        return reply.code(401).header('www-authenticate', 'Bearer').send();
      const page = await options.metrics();
      return reply.type(page.type).send(page.text);
    });
  }
}

const isRefusedByFramework = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  String(error.code).startsWith('FST_ERR_') &&
  'statusCode' in error &&
  Number(error.statusCode) < 500;

function same(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
