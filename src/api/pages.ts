import { timingSafeEqual } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Unreadable } from '../http/server.ts';

export interface PagesOptions {
  /** Whether new requests are admitted: money can be moved. */
  readonly ready: () => boolean;
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
  readonly metricsToken: string | undefined;
  readonly unreadable: Unreadable;
  /** Answers what is nobody else's, or undefined: then there is no such page. */
  readonly otherwise: (request: FastifyRequest, reply: FastifyReply) => FastifyReply | undefined;
}

/** What is served beside the interface: liveness, readiness and metrics. */
export function openPages(server: FastifyInstance, options: PagesOptions): void {
  server.get('/healthz', (_request, reply) => reply.send({ ok: true }));
  server.get('/readyz', (_request, reply) => {
    const ready = options.ready();
    return reply.code(ready ? 200 : 503).send({ ready });
  });
  server.setNotFoundHandler((request, reply) => {
    const answered = options.otherwise(request, reply);
    if (answered !== undefined) return answered;
    const { method, url } = request;
    const { status, body, id } = options.unreadable('bad url', {
      method,
      path: url.split('?', 1)[0] ?? '',
    });
    return reply.code(status).type('application/json').header('x-request-id', id).send(body);
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

function same(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
