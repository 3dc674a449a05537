import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { lookup } from 'node:dns/promises';
import { createServer, type Socket } from 'node:net';
import { answerUnderWay } from './half-close.ts';

export interface ServerLimits {
  /** JSON bodies: images travel in them as base64. */
  readonly jsonBodyBytesMax: number;
  /** A client must have sent its whole request within this. */
  readonly requestTimeoutMs: number;
  /**
   * An idle keep-alive connection is closed after this; longer than what load balancers use (60 s),
   * so that they close first.
   */
  readonly keepAliveTimeoutMs: number;
}

export const serverLimits: ServerLimits = {
  jsonBodyBytesMax: 50 * 1024 * 1024,
  requestTimeoutMs: 300_000,
  keepAliveTimeoutMs: 75_000,
};

/** Makes the JSON response to a request that no endpoint can read. */
export type UnreadableAnswer = (
  problem: 'malformed' | 'late' | 'head too large' | 'bad url' | 'host' | 'expectation',
  values?: Readonly<Record<string, string>>,
) => { readonly status: number; readonly body: string; readonly id: string };

/** An HTTP server without a listener for its requests. */
export function openServer(limits: ServerLimits, unreadable: UnreadableAnswer): Server {
  const server = createHttpServer({
    requestTimeout: limits.requestTimeoutMs,
    keepAliveTimeout: limits.keepAliveTimeoutMs,
    // Node's own responses have no body: `checkHeads` requires the header.
    requireHostHeader: false,
  });
  return server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) =>
    turnAway(socket, unreadable(problems.get(error.code ?? '') ?? 'malformed')),
  );
}

/**
 * Answers the server's requests with the listener that `open` makes or has. When it cannot be made,
 * the request gets a 500.
 */
export function serveLazily(
  server: Server,
  open: () => Promise<RequestListener>,
  failed: (error: unknown) => void,
): void {
  server.on('request', (request, response) => {
    open().then(
      (listener) => listener(request, response),
      (error: unknown) => {
        failed(error);
        response.writeHead(500).end();
      },
    );
  });
}

/**
 * How many connections may wait to be accepted. Node's own 511 are too few: while the process is
 * busy for some seconds, the kernel resets what comes beyond them. The system has a limit of its
 * own (on Linux `net.core.somaxconn`, 4,096).
 */
const waitingConnectionsMax = 4_096;

/**
 * Listens at this host. `localhost` has several addresses, and the connections of all of them reach
 * this one server.
 */
export async function listenAt(server: Server, host: string, port: number): Promise<void> {
  const addresses = host === 'localhost' ? await lookup(host, { all: true }) : [{ address: host }];
  const [first, ...others] = addresses.map(({ address }) => address);
  server.listen({ host: first ?? host, port, backlog: waitingConnectionsMax });
  await once(server, 'listening');
  const taken = server.address();
  for (const other of others) {
    const beside = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      server.emit('connection', socket),
    );
    await new Promise<void>((listening) => {
      // The first address is enough.
      beside.on('error', () => listening()).on('listening', () => listening());
      beside.listen({
        host: other,
        port: typeof taken === 'object' ? taken?.port : undefined,
        backlog: waitingConnectionsMax,
      });
    });
    server.once('close', () => beside.close());
  }
}

/**
 * Checks the `Host` and `Expect` headers before all present listeners of the server, and refuses
 * wrong ones with `unreadable`.
 */
export function checkHeads(server: Server, unreadable: UnreadableAnswer): void {
  const refuse = (response: ServerResponse, why: ReturnType<UnreadableAnswer>): void => {
    response.setHeader('connection', 'close');
    writeRefusal(response, why);
  };
  const listeners = server.listeners('request');
  server.removeAllListeners('request').on('request', (request, response) => {
    const count = countHosts(request);
    if (count === 1 || (count === 0 && request.httpVersion === '1.0'))
      for (const listener of listeners) listener.call(server, request, response);
    else refuse(response, unreadable('host', { count: count === 0 ? 'no' : String(count) }));
  });
  server.on('checkExpectation', ({ headers }, response) =>
    refuse(
      response,
      unreadable('expectation', { expect: String(headers.expect).slice(0, expectCharsMax) }),
    ),
  );
}

const expectCharsMax = 100;

/** Counts the Host headers: node:http keeps the first of several and drops the others. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}

export function writeRefusal(
  response: ServerResponse,
  { status, body, id }: ReturnType<UnreadableAnswer>,
): void {
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'x-request-id': id,
  };
  response.writeHead(status, headers).end(body);
}

const problems = new Map<string, Parameters<UnreadableAnswer>[0]>([
  ['HPE_HEADER_OVERFLOW', 'head too large'],
  ['ERR_HTTP_REQUEST_TIMEOUT', 'late'],
]);

/**
 * Connections that get a refusal, now or behind the responses under way. Further errors on them are
 * ignored.
 */
const refusedSockets = new WeakSet<Socket>();

/**
 * Sends the refusal behind the responses that are under way on the connection, since it cannot
 * stand within one.
 */
function turnAway(socket: Socket, why: ReturnType<UnreadableAnswer>): void {
  if (refusedSockets.has(socket)) return;
  refusedSockets.add(socket);
  sendBehind(socket, why);
}

function sendBehind(socket: Socket, why: ReturnType<UnreadableAnswer>): void {
  const answer = answerUnderWay(socket);
  // Pipelined responses take the connection one after the other. The malformed request itself gets
  // none.
  if (answer?.req.complete === true && !socket.destroyed)
    return void answer.once('close', () => setImmediate(sendBehind, socket, why));
  if (!socket.writable || answer?.headersSent === true) return void socket.destroy();
  const { status, body, id } = why;
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-type: application/json\r\nx-request-id: ${id}\r\nconnection: close`;
  socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`, () =>
    socket.destroy(),
  );
}
