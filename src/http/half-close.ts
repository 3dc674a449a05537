import { type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The response of node:http that is under way on this connection. It is in a private member of
 * node:http.
 */
export function answerUnderWay(socket: Socket): ServerResponse | undefined {
  const answer = '_httpMessage' in socket ? socket._httpMessage : undefined;
  return answer instanceof ServerResponse ? answer : undefined;
}

/**
 * An interim response, which clients have to take at any time before the answer (RFC 9110 §15.2).
 */
export const interimResponse = 'HTTP/1.1 100 Continue\r\n\r\n';

/** When it is sent: milliseconds after the client ended its side. */
const probesMs = [0, 100, 500, 2_000];

/**
 * A client that ends its side of the connection after its request may have left, or may wait for
 * the response: both look the same until something is written. If the client has left, it answers
 * the first write with a reset, and the connection closes. `probe` writes `interimResponse`, unless
 * the response has begun.
 */
export function probeHalfClosed(socket: Socket, probe: () => void): void {
  for (const ms of probesMs) {
    const timer = setTimeout(() => void (socket.destroyed || probe()), ms).unref();
    socket.once('close', () => clearTimeout(timer));
  }
}

/**
 * Keeps the server's side of a connection open when the client has ended its side. By default
 * node:http ends it at once.
 */
export function allowHalfClosed(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/**
 * Delivers an answer of node:http to a client that ended its side before the answer began. A client
 * that does so later has left.
 */
export function watchHalfClosed(socket: Socket): void {
  socket.once('end', () => {
    const begun = answerUnderWay(socket);
    if (begun?.headersSent === true && !begun.writableEnded) return void socket.destroy();
    probeHalfClosed(socket, () => {
      const answer = answerUnderWay(socket);
      // The writes of an answer that has begun meanwhile show themselves who has left.
      if (answer === undefined || answer.headersSent) return;
      // HTTP/1.0 knows no interim responses. Such a client is mostly a proxy, whose own client has
      // left.
      if (answer.req.httpVersion === '1.0') socket.destroy();
      else answer.writeContinue();
    });
  });
}
