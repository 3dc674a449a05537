import { type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';

export interface ServerLimits {
  /** JSON bodies: images travel in them as base64. */
  readonly jsonBodyBytesMax: number;
  /** A client must have sent its whole request within this. */
  readonly requestTimeoutMs: number;
  /** An idle keep-alive connection is closed after this; longer than what load balancers use (60 s), so that they close first. */
  readonly keepAliveTimeoutMs: number;
}

export const serverLimits: ServerLimits = {
  jsonBodyBytesMax: 50 * 1024 * 1024,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 75_000,
};

/** What came before any endpoint could see it, and the answer to it: JSON. */
export type Unreadable = (
  problem: 'malformed' | 'late' | 'head too large' | 'bad url',
  values?: Readonly<Record<string, string>>,
) => { readonly status: number; readonly body: string; readonly id: string };

/** A fastify instance that hands every body over as the bytes that came, whatever their type says: parsing is the endpoint's business. */
export function openServer(limits: ServerLimits, unreadable: Unreadable): FastifyInstance {
  const server = Fastify<Server>({
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
    clientErrorHandler: (error, socket) =>
      turnAway(socket, unreadable(problems.get(error.code) ?? 'malformed')),
    frameworkErrors: (_error, { method, url }, reply) => {
      const { status, body, id } = unreadable('bad url', {
        method,
        path: url.split('?', 1)[0] ?? '',
      });
      const length = Buffer.byteLength(body);
      reply.hijack();
      reply.raw
        .writeHead(status, {
          'content-type': 'application/json',
          'content-length': length,
          'x-request-id': id,
        })
        .end(body);
    },
  });
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  );
  return server;
}

const problems = new Map<string, Parameters<Unreadable>[0]>([
  ['HPE_HEADER_OVERFLOW', 'head too large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'late'],
]);

/** Says why on a connection on which nothing has been said yet; in the middle of answers there is no place for it. */
function turnAway(socket: Socket, { status, body, id }: ReturnType<Unreadable>): void {
  if (!socket.writable || socket.bytesWritten > 0) return void socket.destroy();
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\nx-request-id: ${id}\r\nconnection: close`;
  socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, () =>
    socket.destroy(),
  );
}
