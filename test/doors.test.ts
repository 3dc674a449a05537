import { randomBytes } from 'node:crypto';
import { request as ask, type IncomingHttpHeaders } from 'node:http';
import { connect } from 'node:net';
import * as zlib from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { wav } from '../sim/media/wav.ts';
import { openSimulatedGateway, type Temporary } from './support/temporary.ts';

let simulated: Temporary;
beforeAll(async () => {
  simulated = await openSimulatedGateway();
});
afterAll(() => simulated.close());

interface Heard {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One request, byte for byte as told; `chunked` leaves out its length. */
function send(
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body: Buffer | string = '',
  chunked = false,
): Promise<Heard> {
  const length = Buffer.byteLength(body);
  const told = chunked || length === 0 ? {} : { 'content-length': length };
  const all = { authorization: `Bearer ${simulated.key}`, ...told, ...headers };
  return new Promise((resolve, reject) => {
    const asked = ask(simulated.gateway.url + path, { method, headers: all });
    asked.on('error', reject).on('response', (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece)).on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(pieces).toString(),
        }),
      );
    });
    if (chunked || length > 0) asked.write(body);
    asked.end();
  });
}

const json = { 'content-type': 'application/json' };
const errorOf = ({ text }: Heard): { readonly code: string; readonly message: string } =>
  JSON.parse(text).error;

describe('methods', () => {
  test.each(['QUERY', 'PUT', 'PATCH', 'PROPFIND', 'REPORT', 'TRACE'])(
    'C8: %s is our 405, or our 404 where there is nothing',
    async (method) => {
      for (const [body, headers] of [
        ['', {}],
        ['{"a":1}', {}],
        ['{"a":1}', json],
      ] as const) {
        if (method === 'TRACE' && body !== '') continue;
        const known = await send(method, '/v1/chat/completions', headers, body);
        expect([known.status, errorOf(known).code]).toEqual([405, 'method_not_supported']);
        expect(errorOf(known).message).toBe(
          `The method ${method} is not supported for /v1/chat/completions. Use POST.`,
        );
        expect(known.headers['x-request-id']).toMatch(/^req_/);
        const unknown = await send(method, '/v1/nothing?a=1', headers, body);
        expect([unknown.status, errorOf(unknown)]).toMatchObject([
          404,
          { code: 'unknown_url', message: `Invalid URL (${method} /v1/nothing)` },
        ]);
      }
      const message = await send(method, '/v1/messages');
      expect(JSON.parse(message.text)).toMatchObject({
        type: 'error',
        error: { type: 'invalid_request_error' },
      });
      expect((await send(method, '/v1/models', { authorization: 'Bearer wrong' })).status).toBe(
        401,
      );
    },
  );

  test.each(['GET', 'POST', 'DELETE', 'PUT', 'QUERY', 'PROPFIND'])(
    'C8: %s /v1/nothing is one 404 for every method',
    async (method) => {
      const answer = await send(method, '/v1/nothing', json, method === 'GET' ? '' : '{}');
      expect([answer.status, errorOf(answer)]).toEqual([
        404,
        {
          message: `Invalid URL (${method} /v1/nothing)`,
          type: 'invalid_request_error',
          param: null,
          code: 'unknown_url',
        },
      ]);
    },
  );

  test('C8: pages beside the interface answer unknown methods in our shape, too', async () => {
    for (const method of ['QUERY', 'PROPFIND', 'PUT']) {
      const answer = await send(method, '/nowhere', {}, '{}');
      expect([answer.status, errorOf(answer).code], method).toEqual([404, 'unknown_url']);
    }
  });

  test('C9: a 405 names the methods that there are in Allow', async () => {
    const allow = async (method: string, path: string) => {
      const answer = await send(method, path);
      expect(answer.status, `${method} ${path}`).toBe(405);
      return answer.headers.allow;
    };
    expect(await allow('GET', '/v1/chat/completions')).toBe('POST, OPTIONS');
    expect(await allow('PUT', '/v1/models')).toBe('GET, HEAD, OPTIONS');
    expect(await allow('QUERY', '/v1/responses/resp_1')).toBe('GET, HEAD, DELETE, OPTIONS');
    expect((await send('GET', '/v1/nothing')).headers.allow).toBe(undefined);
  });
});

describe('an upgrade that is not served', () => {
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  };

  test('doors 0.5: is 426 at once, with or without a key, and the connection ends', async () => {
    for (const path of ['/v1/responses', '/v1/realtime?model=x', '/v1/nothing'])
      for (const more of [{}, { authorization: '' }, { connection: 'keep-alive, Upgrade' }]) {
        const since = performance.now();
        const answer = await send('GET', path, { ...upgrade, ...more });
        expect([answer.status, errorOf(answer).code], path).toEqual([426, 'upgrade_not_served']);
        expect(answer.headers.connection).toBe('close, upgrade');
        expect(answer.headers.upgrade).toBe('HTTP/1.1');
        expect(performance.now() - since).toBeLessThan(1_000);
      }
    const ended = await new Promise<string>((resolve) => {
      const { hostname, port } = new URL(simulated.gateway.url);
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('data', (piece) => (text += piece.toString())).on('close', () => resolve(text));
      socket.write(
        'GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: Upgrade\r\nupgrade: websocket\r\n\r\n',
      );
    });
    expect(ended).toMatch(/^HTTP\/1\.1 426 Upgrade Required\r\n/);
  });

  test('doors 0.5: h2c, which Java offers with every request, is ignored as before', async () => {
    const h2c = {
      connection: 'Upgrade, HTTP2-Settings',
      upgrade: 'h2c',
      'http2-settings': 'AAEAAEAAAAIAAAAB',
    };
    expect((await send('GET', '/v1/models', h2c)).status).toBe(200);
    const body = JSON.stringify({
      model: 'gpt-4o',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect((await send('POST', '/v1/chat/completions', { ...json, ...h2c }, body)).status).toBe(
      200,
    );
  });
});

describe('packed bodies', () => {
  const packers: readonly (readonly [string, (plain: Buffer) => Buffer])[] = [
    ['gzip', (plain) => zlib.gzipSync(plain)],
    ['x-gzip', (plain) => zlib.gzipSync(plain)],
    ['deflate', (plain) => zlib.deflateSync(plain)],
    ['br', (plain) => zlib.brotliCompressSync(plain)],
    ...('zstdCompressSync' in zlib
      ? [['zstd', zlib.zstdCompressSync as (plain: Buffer) => Buffer] as const]
      : []),
  ];
  const chat = (content = 'Hello') =>
    Buffer.from(JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content }] }));

  test.each(packers)(
    '%s is unpacked, of a told length, in chunks, and where the endpoint reads by itself',
    async (coding, pack) => {
      const headers = { ...json, 'content-encoding': coding };
      const plain = JSON.parse((await send('POST', '/v1/chat/completions', json, chat())).text);
      for (const chunked of [false, true]) {
        const answer = await send('POST', '/v1/chat/completions', headers, pack(chat()), chunked);
        expect(answer.status, answer.text).toBe(200);
        expect(JSON.parse(answer.text).usage).toEqual(plain.usage);
        const large = await send(
          'POST',
          '/v1/chat/completions',
          headers,
          pack(chat('word '.repeat(30_000))),
          chunked,
        );
        expect(large.status, large.text).toBe(200);
        const form = new FormData();
        form.set('model', 'whisper-1');
        form.set('file', new Blob([new Uint8Array(wav('Hello'))]), 'hello.wav');
        const sent = new Request('http://x', { method: 'POST', body: form });
        const type = {
          'content-type': sent.headers.get('content-type') ?? '',
          'content-encoding': coding,
        };
        const script = await send(
          'POST',
          '/v1/audio/transcriptions',
          type,
          pack(Buffer.from(await sent.arrayBuffer())),
          chunked,
        );
        expect(script.status, script.text).toBe(200);
      }
    },
  );

  test('an endpoint with a path of its own takes them, too, and identity is no coding', async () => {
    const packed = await send(
      'POST',
      '/v1/responses/resp_1/cancel',
      { ...json, 'content-encoding': 'gzip' },
      zlib.gzipSync('{}'),
    );
    expect([packed.status, errorOf(packed).code]).toEqual([404, 'response_not_found']);
    for (const coding of ['identity', 'Identity', ''])
      expect(
        (
          await send(
            'POST',
            '/v1/chat/completions',
            { ...json, 'content-encoding': coding },
            chat(),
          )
        ).status,
      ).toBe(200);
  });

  test('any other coding is 415, and accept-encoding says what is taken', async () => {
    const taken = 'zstdDecompress' in zlib ? 'gzip, deflate, br, zstd' : 'gzip, deflate, br';
    for (const coding of [
      'compress',
      'gzip, gzip',
      'snappy',
      ...(taken.endsWith('zstd') ? [] : ['zstd']),
    ])
      for (const [path, chunked] of [
        ['/v1/chat/completions', false],
        ['/v1/chat/completions', true],
        ['/v1/images/edits', false],
      ] as const) {
        const answer = await send(
          'POST',
          path,
          { ...json, 'content-encoding': coding },
          chat(),
          chunked,
        );
        expect([answer.status, errorOf(answer)]).toMatchObject([
          415,
          {
            code: 'unsupported_encoding',
            message: `Unsupported content encoding '${coding}'. Send the body uncompressed, or compressed as one of ${taken}.`,
          },
        ]);
        expect(answer.headers['accept-encoding']).toBe(taken);
      }
    const stranger = await send(
      'POST',
      '/v1/chat/completions',
      { ...json, authorization: '', 'content-encoding': 'snappy' },
      chat(),
    );
    expect(stranger.status).toBe(401);
  });

  test('what is not packed as its header says is a 400 that says so', async () => {
    const cut = zlib.gzipSync(chat()).subarray(0, -12);
    for (const path of ['/v1/chat/completions', '/v1/images/edits', '/v1/messages'])
      for (const chunked of [false, true])
        for (const [coding, body] of [
          ['gzip', chat()],
          ['gzip', cut],
          ['br', Buffer.from('no')],
          ['deflate', zlib.gzipSync(chat())],
        ] as const) {
          const answer = await send(
            'POST',
            path,
            { ...json, 'content-encoding': coding },
            body,
            chunked,
          );
          expect([answer.status, errorOf(answer).message], path).toEqual([
            400,
            expect.stringMatching(
              `^We could not decompress the body of your request as ${coding}: .+\\.$`,
            ),
          ]);
        }
    const empty = await send('POST', '/v1/chat/completions', {
      ...json,
      'content-encoding': 'gzip',
    });
    expect(empty.status).toBe(400);
  });

  test('a body that its endpoint does not read to its end holds up neither the next request nor the gateway', async () => {
    const { hostname, port } = new URL(simulated.gateway.url);
    const packed = zlib.gzipSync(randomBytes(6 * 1024 * 1024), { level: 0 });
    const head = (path: string, length: number) =>
      `POST /v1${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${simulated.key}\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: ${length}\r\n\r\n`;
    const heard = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      let text = '';
      socket.on('error', reject).on('data', (piece) => {
        text += piece.toString('latin1');
        if (text.split('HTTP/1.1 ').length > 2) {
          socket.destroy();
          resolve(text);
        }
      });
      socket.write(head('/audio/transcriptions', packed.length));
      socket.write(packed);
      const next = zlib.gzipSync(chat());
      socket.write(head('/chat/completions', next.length));
      socket.write(next);
    });
    expect([...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '400',
      '200',
    ]);
    // One who leaves in the middle is forgotten: the gateway of this file closes at once in the
    // end.
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        socket.write(head('/images/edits', packed.length));
        socket.write(packed.subarray(0, 100_000), () => {
          socket.destroy();
          resolve();
        });
      });
    });
    expect((await send('POST', '/v1/chat/completions', json, chat())).status).toBe(200);
  });

  test('what grows beyond all measure ends early, and the limit of bodies holds', {
    timeout: 20_000,
  }, async () => {
    const bomb = zlib.gzipSync(Buffer.alloc(20 * 1024 * 1024, ' '));
    expect(bomb.length).toBeLessThan(30_000);
    for (const path of ['/v1/chat/completions', '/v1/images/edits'])
      for (const chunked of [false, true]) {
        const before = process.memoryUsage().arrayBuffers;
        const answer = await send(
          'POST',
          path,
          { ...json, 'content-encoding': 'gzip' },
          bomb,
          chunked,
        );
        expect(errorOf(answer).message).toBe(
          'We could not decompress the body of your request as gzip: it decompresses to more than 200 times its size.',
        );
        expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(15 * 1024 * 1024);
      }
    // What has no pattern packs to half its size as hexadecimal digits.
    const noise = randomBytes(26 * 1024 * 1024).toString('hex');
    const large = await send(
      'POST',
      '/v1/chat/completions',
      { ...json, 'content-encoding': 'gzip' },
      zlib.gzipSync(noise, { level: 1 }),
    );
    expect([large.status, errorOf(large).code]).toEqual([413, 'request_too_large']);
  });
});
