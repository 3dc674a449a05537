import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { FastPath, type FastPathOptions } from '../../src/http/fast-path.ts';

/** Its port, on loopback, until the test ends. */
export async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

interface Client {
  readonly socket: Socket;
  readonly text: () => string;
  readonly ended: () => boolean;
}

/** A connection that sends given bytes. */
export function client(port: number): Client {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  let ended = false;
  socket.on('data', (piece) => {
    text += piece.toString('latin1');
  });
  socket
    .on('error', () => {})
    .on('close', () => {
      ended = true;
    });
  onTestFinished(() => void socket.destroy());
  return { socket, text: () => text, ended: () => ended };
}

/** A request that the fast path reads itself. */
export const plain = (body: string, more = ''): string =>
  `POST /v1/plain HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;

/** Reads requests such as `plain` before the server's own listener does, until the test ends. */
export function openFastPath(server: Server, serve: FastPathOptions['serve']): FastPath {
  const fastPath = new FastPath(server, {
    paths: new Map([['/v1/plain', true]]),
    clock: systemClock,
    keepAliveTimeoutMs: 75_000,
    bodyBytesMax: 1_000_000,
    serve,
  });
  onTestFinished(() => fastPath.closeAll());
  return fastPath;
}
