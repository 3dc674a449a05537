import Fastify, { type FastifyInstance } from 'fastify';

export interface ServerLimits {
  /** JSON bodies: images travel in them as base64. */
  readonly jsonBodyBytesMax: number;
  /** A client must have sent its whole request within this. */
  readonly requestTimeoutMs: number;
  /** An idle keep-alive connection is closed after this; longer than what load balancers use (60 s), so that they close first. */
  readonly keepAliveTimeoutMs: number;
}

export const serverLimits: ServerLimits = { jsonBodyBytesMax: 50 * 1024 * 1024, requestTimeoutMs: 300_000, keepAliveTimeoutMs: 75_000 };

/** A fastify instance that hands every body over as the bytes that came, whatever their type says: parsing is the endpoint's business. */
export function openServer(limits: ServerLimits): FastifyInstance {
  const server = Fastify({
    logger: false,
    bodyLimit: limits.jsonBodyBytesMax,
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    routerOptions: { maxParamLength: 500 },
    genReqId: () => '',
    // A client's address is what its socket says; proxies in front are the operator's and are not needed to know it.
    trustProxy: false,
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  return server;
}
