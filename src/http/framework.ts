import type { Server } from 'node:http';
import Fastify, { type FastifyInstance } from 'fastify';
import { type ServerLimits, type UnreadableAnswer, writeRefusal } from './server.ts';

/**
 * The framework of everything but the API: pages, files, documents, probes. It gives handlers every
 * body as bytes, whatever its type: parsing is the handler's business.
 */
export function openFramework(limits: ServerLimits, unreadable: UnreadableAnswer): FastifyInstance {
  const pages = Fastify<Server>({
    logger: false,
    bodyLimit: limits.jsonBodyBytesMax,
    routerOptions: { maxParamLength: 500 },
    genReqId: () => '',
    // The socket gives the client's address; `clientAddress` handles the operator's proxies.
    trustProxy: false,
    frameworkErrors: (_error, { method, url }, reply) => {
      reply.hijack();
      writeRefusal(reply.raw, unreadable('bad url', { method, path: url.split('?', 1)[0] ?? '' }));
    },
  });
  pages.removeAllContentTypeParsers();
  pages.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  return pages;
}
