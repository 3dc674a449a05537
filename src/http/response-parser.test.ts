import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MalformedResponse, type ResponseHead, ResponseParser } from './connection.ts';

/** What the parser reports of these pieces; a pause after every piece of the body on request. */
function read(pieces: readonly Buffer[], pausing = false) {
  const told = {
    status: 0,
    type: undefined as string | undefined,
    body: '',
    over: false,
    surplus: false,
    withConnection: false,
  };
  const reader = new ResponseParser({
    head(head: ResponseHead) {
      told.status = head.status;
      told.type = head.headers.get('content-type');
    },
    data(piece: Buffer) {
      expect(piece.length).toBeGreaterThan(0);
      told.body += piece.toString('latin1');
      return !pausing;
    },
  });
  for (const piece of pieces) {
    let goes = reader.push(piece);
    while (!goes) goes = reader.go();
  }
  return {
    ...told,
    over: reader.over,
    surplus: reader.surplus,
    withConnection: reader.endsWithConnection,
  };
}

const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');

const replies: Readonly<Record<string, readonly [string, string]>> = {
  'a counted body': [
    'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\ncontent-length: 11\r\n\r\nhello world',
    'hello world',
  ],
  'no body': ['HTTP/1.1 204\r\n\r\n', ''],
  'an empty body': ['HTTP/1.1 429 Too Many Requests\r\nContent-Length: 0\r\n\r\n', ''],
  chunks: [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/plain\r\n\r\n5\r\nhello\r\n1;name="v"\r\n \r\n0a \r\nworld\r\n\r\n.\r\n0\r\n\r\n',
    'hello world\r\n\r\n.',
  ],
  'chunks with trailers': [
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nx-sum: 1\r\ny: 2\r\n\r\n',
    'abc',
  ],
  'informational replies first': [
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
    'ok',
  ],
};

describe('a reply', () => {
  for (const [name, [text, body]] of Object.entries(replies))
    it(`with ${name} is the same at every cut, paused or not`, () => {
      const whole = read([bytes(text)]);
      expect(whole).toMatchObject({ body, over: true, surplus: false });
      for (let cut = 1; cut < text.length; cut += 1)
        for (const pausing of [false, true])
          expect(read([bytes(text.slice(0, cut)), bytes(text.slice(cut))], pausing)).toEqual(whole);
      expect(read([...text].map(bytes), true)).toEqual(whole);
      expect(read([bytes(`${text}HTTP`)])).toMatchObject({ body, over: true, surplus: true });
    });

  it('of chunks of any length is the same in pieces of any length', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 40 }), {
          maxLength: 8,
        }),
        fc.integer({ min: 1, max: 30 }),
        (chunks, size) => {
          const text = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')}0\r\n\r\n`;
          const pieces = Array.from({ length: Math.ceil(text.length / size) }, (_, i) =>
            bytes(text.slice(i * size, (i + 1) * size)),
          );
          expect(read(pieces, size % 2 === 0)).toMatchObject({
            body: chunks.join(''),
            over: true,
            surplus: false,
          });
        },
      ),
    );
  });

  it('without a length ends with its connection', () => {
    expect(read([bytes('HTTP/1.1 200 OK\r\nconnection: keep-alive\r\n\r\nabc')])).toMatchObject({
      body: 'abc',
      over: false,
      withConnection: true,
    });
  });

  it('that is cut short is not over', () => {
    expect(read([bytes('HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nabc')])).toMatchObject({
      over: false,
      withConnection: false,
    });
    expect(
      read([bytes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n')]),
    ).toMatchObject({
      over: false,
      withConnection: false,
    });
  });

  it('that breaks the rules is none', () => {
    const bad = [
      'HELLO\r\n\r\n',
      'HTTP/2 200\r\n\r\n',
      'HTTP/1.1 20 OK\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab',
      'HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 0x10\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-1\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nabc\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\nab\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffff\r\n',
      'HTTP/1.1 101 Switching Protocols\r\n\r\n',
      'HTTP/1.1 1e2 OK\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 1\r\n\r\na',
      'HTTP/1.1 200 OK\r\ncontent-length: 1, 1\r\n\r\na',
      'HTTP/1.1 200 OK\r\ncontent-length:\xa01\r\n\r\na',
      'HTTP/1.1 200 OK\r\ncontent-length : 1\r\n\r\na',
      'HTTP/1.1 200 OK\r\ntransfer-encoding : chunked\r\ncontent-length: 1\r\n\r\na',
      'HTTP/1.1 200 OK\r\ntransfer-encoding:\r\n chunked\r\ncontent-length: 1\r\n\r\na',
      'HTTP/1.1 200 OK\r\nx: a\r\n transfer-encoding: chunked\r\n\r\n',
      'HTTP/1.1 200 OK\r\nx: a\ntransfer-encoding: chunked\r\n\r\n',
      'HTTP/1.1 200 OK\r\nx: a\rtransfer-encoding: chunked\r\n\r\n',
      'HTTP/1.1 200 OK\r\nx: a\0b\r\n\r\n',
      'HTTP/1.1 200 OK\r\nno header\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: identity, chunked\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1 1\r\na\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;\ra\r\na\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\nHTTP/1.1 200 OK\r\n\r\n',
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n${'x: y\r\n'.repeat(12_000)}`,
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(33),
      `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(70_000)}`,
      `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;${'a'.repeat(5_000)}`,
    ];
    for (const text of bad)
      expect(() => read([bytes(text)]), text.slice(0, 80)).toThrow(MalformedResponse);
  });

  it.each([
    'HTTP/1.1 200 OK\r\ncontent-length: 3',
    'HTTP/1.0 200 OK\r\nconnection: keep-alive',
    'HTTP/1.1 200 OK\r\nconnection: te, close',
  ])('of chunks may begin with %j, but nothing comes after it', (start) => {
    let keeps: boolean | undefined;
    const reader = new ResponseParser({
      head: (head) => void (keeps = head.keeps),
      data: () => true,
    });
    reader.push(bytes(`${start}\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`));
    expect([keeps, reader.over]).toEqual([false, true]);
  });
});
