import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { parseFastPathRequest } from '../../src/http/fast-path.ts';
import { fuzz, timeout } from './fuzzing.ts';

const head = (more: string): string =>
  `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\n${more}\r\n\r\n`;
const samples = [
  `${head('Content-Type: application/json\r\nContent-Length: 2')}{}`,
  `${head('content-length: 5\r\nconnection: keep-alive')}12345POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\ncontent-length: 0\r\n\r\n`,
  `${head('Transfer-Encoding: chunked')}2\r\n{}\r\n0\r\n\r\n`,
].map((text) => Buffer.from(text, 'latin1'));
const words = [
  '\r\n',
  '\n',
  '\r',
  ' ',
  '\t',
  ':',
  ' :',
  '\r\n ',
  '\0',
  '\x7f',
  '\xa0',
  ', 2',
  '+2',
  '0x2',
  '2e0',
].concat(
  [
    'Content-Length: 3\r\n',
    'content-length:\r\n',
    'Transfer-Encoding: identity\r\n',
    'Transfer-Encoding : chunked\r\n',
    'Host: y\r\n',
  ],
  [
    'Expect: 100-continue\r\n',
    'Upgrade: h2c\r\nConnection: Upgrade\r\n',
    '__proto__: x\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'http://y/',
    'HTTP/1.0',
  ],
);
const paths = new Map([['/v1/chat/completions', true]]);

/** A connection on which these bytes come, and to which nothing is answered. */
class Said extends Socket {
  override _read(): void {}
  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }
  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }
}

interface Heard {
  readonly url: string;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

/** The first request that Node reads in these bytes; undefined: none, or none that ends. */
function nodes(server: Server, input: Buffer): Promise<Heard | undefined> {
  return new Promise((resolve) => {
    const socket = new Said();
    const answer = (request: IncomingMessage, _response: ServerResponse): void => {
      const pieces: Buffer[] = [];
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const { url = '', headers } = request;
        resolve({ url, headers, body: Buffer.concat(pieces).toString('latin1') });
      });
    };
    server.removeAllListeners('request').removeAllListeners('clientError').once('request', answer);
    server.once('clientError', () => resolve(undefined));
    socket.on('close', () => resolve(undefined)).on('error', () => {});
    server.emit('connection', socket);
    socket.push(input);
    socket.push(null);
    setImmediate(() => setImmediate(() => socket.destroy()));
  });
}

test('a request is plain only where Node reads the same', { timeout }, async () => {
  const server = createServer();
  let plain = 0;
  await fuzz('requests', {
    samples,
    words,
    async holds(input) {
      const ours = parseFastPathRequest(input, paths, 1_000);
      if (typeof ours === 'string') return;
      plain += 1;
      const { url, headers, body } = ours;
      expect({ url, headers: { ...headers }, body: body.toString('latin1') }).toEqual(
        await nodes(server, input.subarray(0, ours.end)),
      );
    },
  });
  expect(plain).toBeGreaterThan(0);
});
