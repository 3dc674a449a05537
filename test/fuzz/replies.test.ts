import { request } from 'node:http';
import { Duplex } from 'node:stream';
import { expect, test } from 'vitest';
import { MalformedResponse, ResponseParser } from '../../src/http/connection.ts';
import { expectLinear, fuzz, inPieces, timeout } from './fuzzing.ts';

const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');

const head = (more: string): string =>
  `HTTP/1.1 200 OK\r\nDate: Sat, 21 Nov 2026 10:00:00 GMT\r\nContent-Type: text/event-stream\r\n${more}\r\n\r\n`;
const samples = [
  `${head('Content-Length: 11')}hello world`,
  `${head('Transfer-Encoding: chunked\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5')}5\r\nhello\r\n6;x="y"\r\n world\r\n0\r\n\r\n`,
  `${head('transfer-encoding: chunked')}a\r\n0123456789\r\n0\r\nx-sum: 1\r\n\r\n`,
  'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 429 Too Many Requests\r\nretry-after: 3\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.0 200 OK\r\nconnection: keep-alive\r\ncontent-length: 3\r\n\r\nabc',
  'HTTP/1.1 200 OK\r\n\r\nuntil the end',
].map(latin1);
const words = [
  '\r\n',
  '\n',
  '\r',
  '\r\n\r\n',
  '\r\n ',
  ' :',
  ':',
  ';',
  '0\r\n\r\n',
  'ffffffffffffffff',
  '-1',
  '+1',
  '0x1',
  '1e2',
].concat(
  [
    'Content-Length: 1\r\n',
    'content-length: 5, 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    'transfer-encoding: identity\r\n',
    'Transfer-Encoding : chunked\r\n',
  ],
  [
    'HTTP/1.1 200 OK\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
    'connection: close\r\n',
    'x:\r\n',
    'x: a\0b\r\n',
    '\x80',
    '\t',
  ],
);

interface Read {
  readonly status: number;
  readonly body: string;
  readonly end: 'over' | 'with its connection' | 'more to come' | 'bad';
  /** More came than the reply. */
  readonly surplus?: boolean;
}

function ours(pieces: readonly Buffer[]): Read {
  let [status, body] = [0, ''];
  const reader = new ResponseParser({
    head: (told) => void (status = told.status),
    data(piece) {
      expect(piece.length).toBeGreaterThan(0);
      body += piece.toString('latin1');
      return body.length % 3 !== 0;
    },
  });
  try {
    for (const piece of pieces) for (let goes = reader.push(piece); !goes; ) goes = reader.go();
  } catch (error) {
    if (!(error instanceof MalformedResponse)) throw error;
    return { status, body, end: 'bad' };
  }
  const { surplus } = reader;
  return {
    status,
    body,
    surplus,
    end: reader.over ? 'over' : reader.endsWithConnection ? 'with its connection' : 'more to come',
  };
}

/** We close a connection on which more came than a reply; Node fails the reply, too. */
function withoutSurplus(input: Buffer): Buffer {
  let end = input.length;
  while (ours([input.subarray(0, end)]).surplus === true) end -= 1;
  return input.subarray(0, end);
}

/** What Node's own client makes of the same bytes. */
function nodes(input: Buffer): Promise<Read> {
  return new Promise((resolve) => {
    let [status, body] = [0, ''];
    const wire = new Duplex({ read() {}, write: (_piece, _encoding, done) => done() });
    const asked = request({ createConnection: () => wire, host: 'x' });
    const ended = (end: Read['end']): void => resolve({ status, body, end });
    asked.on('response', (reply) => {
      status = reply.statusCode ?? 0;
      reply.setEncoding('latin1').on('data', (text: string) => (body += text));
      reply
        .on('end', () => ended('over'))
        .on('error', (error) => ended(/aborted/.test(error.message) ? 'more to come' : 'bad'));
    });
    asked
      .on('upgrade', () => ended('bad'))
      .on('error', (error) =>
        ended('code' in error && error.code === 'ECONNRESET' ? 'more to come' : 'bad'),
      );
    asked.end();
    wire.push(input);
    wire.push(null);
  });
}

/**
 * What Node refuses and we pass over, since it frames nothing: the words of an extension, and what
 * an informational reply says of the connection.
 */
const passedOver = /[\da-f] *;|HTTP\/1.1 1\d\d /i;

test('a reply is read as Node reads it, or refused; never otherwise', { timeout }, () =>
  fuzz('replies', {
    samples,
    words,
    async holds(input, random) {
      const whole = ours([input]);
      expect(ours(inPieces(input, random))).toEqual(whole);
      if (whole.end === 'bad') return;
      if (whole.end === 'more to come') return;
      const theirs = await nodes(whole.surplus === true ? withoutSurplus(input) : input);
      if (theirs.end === 'bad' && passedOver.test(input.toString('latin1'))) return;
      expect({ status: whole.status, body: whole.body }).toEqual({
        status: theirs.status,
        body: theirs.body,
      });
    },
  }),
);

const nobody = { head: () => {}, data: () => true };

test('a reply takes time in proportion to its length', async () => {
  const chunked = latin1('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
  await expectLinear('chunks', (times) => {
    const reader = new ResponseParser(nobody);
    reader.push(chunked);
    for (let i = 0; i < times; i++) reader.push(latin1('1;a=b\r\nx\r\n'));
  });
  await expectLinear('heads', (times) => {
    const reader = new ResponseParser(nobody);
    // Each as long as heads may be.
    const long = latin1(`HTTP/1.1 200 OK\r\ncontent-length: 0\r\nx:${' '.repeat(60_000)}y\r\n\r\n`);
    for (let i = 0; i < times / 1_024; i++, reader.reset()) reader.push(long);
  });
  await expectLinear('chunks in one piece', (times) => {
    const reader = new ResponseParser(nobody);
    reader.push(Buffer.concat([chunked, latin1('1\r\nx\r\n'.repeat(times))]));
  });
});
