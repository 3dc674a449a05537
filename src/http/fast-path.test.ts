import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { client, listening, openFastPath, plain } from '../../test/support/raw-client.ts';
import { seededRandom } from '../base/random.ts';
import { collectBody } from './request-body.ts';
import type { FastPath, FastPathOptions } from './fast-path.ts';
import { NodeResponseWriter } from './node-transport.ts';
import type { ResponseWriter } from './transport.ts';

interface Heard {
  readonly by: 'fast path' | 'node';
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const answerOf = (heard: Heard): string => JSON.stringify(heard);

/** Sends the request back as the response. */
const echo: FastPathOptions['serve'] = ({ url, headers, body }, writer) => {
  const answer = answerOf({
    by: 'fast path',
    method: 'POST',
    url,
    headers,
    body: body.toString('latin1'),
  });
  writer.whole(200, ['content-length', String(Buffer.byteLength(answer))], answer);
};

function echoNode(request: IncomingMessage, response: ServerResponse): void {
  collectBody(request, request.headers, Infinity, (read) => {
    const { method = '', url = '', headers } = request;
    const body = Buffer.isBuffer(read) ? read.toString('latin1') : '';
    const answer = answerOf({ by: 'node', method, url, headers, body });
    response.writeHead(200, { 'content-length': Buffer.byteLength(answer) }).end(answer);
  });
}

async function open(
  serve: FastPathOptions['serve'] = echo,
): Promise<{ port: number; fastPath: FastPath; server: Server }> {
  const server = createServer(echoNode);
  const fastPath = openFastPath(server, serve);
  return { port: await listening(server), fastPath, server };
}

/** What the server read of each request, by the responses on one connection. */
const heard = (text: string): Heard[] =>
  text
    .split('HTTP/1.1 200 OK\r\n')
    .slice(1)
    .map((answer) => answer.slice(answer.indexOf('\r\n\r\n') + 4))
    .filter((body) => body.endsWith('}'))
    .map((body): Heard => JSON.parse(Buffer.from(body, 'latin1').toString()));

async function say(port: number, pieces: readonly string[], answers: number): Promise<Heard[]> {
  const { socket, text } = client(port);
  for (const piece of pieces) {
    socket.write(piece, 'latin1');
    if (pieces.length > 1) await wait(15);
  }
  await expect.poll(() => heard(text()).length).toBe(answers);
  return heard(text());
}

test('plain requests are read and answered, one after the other on one connection', async () => {
  const { port } = await open();
  const { socket, text } = client(port);
  for (const body of ['{"a":1}', '', 'é'.repeat(3)]) {
    const before = heard(text()).length;
    socket.write(plain(body, 'X-Mixed-Case:  two  words \r\n'), 'latin1');
    await expect.poll(() => heard(text()).length).toBe(before + 1);
    expect(heard(text()).at(-1)).toEqual({
      by: 'fast path',
      method: 'POST',
      url: '/v1/plain',
      headers: {
        host: 'x',
        'content-type': 'application/json',
        'x-mixed-case': 'two  words',
        'content-length': String(body.length),
      },
      body,
    });
  }
  expect(text()).toMatch(
    /^HTTP\/1\.1 200 OK\r\n[^]*?\r\ndate: \w{3}, [^]*?\r\nconnection: keep-alive\r\nkeep-alive: timeout=75\r\n\r\n/,
  );
});

test('the fast path reads a request in two pieces, and leaves one in ten to node:http', async () => {
  const { port } = await open();
  const request = plain('{"a":1}');
  const [first] = await say(port, [request.slice(0, 40), request.slice(40)], 1);
  expect(first?.by).toBe('fast path');
  const [second] = await say(
    port,
    Array.from({ length: 10 }, (_, i) => request.slice(i * 10, i === 9 ? undefined : i * 10 + 10)),
    1,
  );
  expect(second).toMatchObject({ by: 'node', body: '{"a":1}' });
});

test('pipelined requests are answered in their order', async () => {
  let serve: (() => void) | undefined;
  const { port } = await open((request, writer) => {
    serve = () => echo(request, writer);
    if (request.body.toString() !== 'one') serve();
  });
  const bodies = ['one', 'two', 'three', 'four'];
  const all = bodies.map((body) => plain(body)).join('');
  const { socket, text } = client(port);
  socket.write(plain('one'));
  await expect.poll(() => serve).toBeDefined();
  for (const body of ['two', 'three']) socket.write(plain(body));
  await wait(30);
  serve?.();
  await expect.poll(() => heard(text()).map(({ body }) => body)).toEqual(['one', 'two', 'three']);
  for (const cut of [all.length, 5, 60, 130, 200]) {
    const { socket: other, text: answers } = client(port);
    other.write(all.slice(0, cut));
    await wait(15);
    serve?.();
    other.write(all.slice(cut));
    await wait(15);
    serve?.();
    await expect.poll(() => heard(answers()).map(({ body }) => body)).toEqual(bodies);
  }
});

test('any other request goes to node:http as it came, and so does the rest of its connection', async () => {
  const { port } = await open();
  const get = 'GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n';
  const chunked =
    'POST /v1/plain HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
  const long = plain('x'.repeat(100_000));
  for (const other of [get, chunked, long]) {
    const { socket, text } = client(port);
    for (const request of [plain('first'), other, plain('last')]) {
      const before = heard(text()).length;
      socket.write(request);
      await expect.poll(() => heard(text()).length).toBe(before + 1);
    }
    expect(heard(text()).map(({ by }) => by)).toEqual(['fast path', 'node', 'node']);
    expect(heard(text()).map(({ body }) => body.length)).toEqual([
      5,
      { [get]: 0, [chunked]: 3, [long]: 100_000 }[other],
      4,
    ]);
  }
});

test('a request that asks more of the connection, or may be read in two ways, goes to node:http', async () => {
  const { port } = await open();
  const body = '{}';
  const head = (lines: string): string => `POST /v1/plain HTTP/1.1\r\n${lines}\r\n${body}`;
  const others = [
    head('Host: x\r\nContent-Length: 2\r\nConnection: close\r\n'),
    head('Host: x\r\nContent-Length: 2\r\nX-Twice: a\r\nX-Twice: b\r\n'),
    head('Host: x\r\nContent-Length: 2\r\nContent-Length: 2\r\n'),
    head('Host: x\r\nContent-Length: +2\r\n'),
    head('Host: x\r\nContent-Length : 2\r\n'),
    head('Host: x\r\nX-Folded: a\r\n b\r\nContent-Length: 2\r\n'),
    head('Host: x\r\nX-Bare: a\nContent-Length: 2\r\n'),
    head('Host: x\r\nX-Return: a\rb\r\nContent-Length: 2\r\n'),
    head('Host: x\r\nContent-Length: 2\r\n__proto__: a\r\n'),
    head('Host: x\r\nContent-Length: 2\r\nX-Null: a\0b\r\n'),
    head('Host: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n'),
    head('Content-Length: 2\r\n'),
    head('Host: x\r\nContent-Length: 2\r\n').replace('HTTP/1.1', 'HTTP/1.0'),
    head('Host: x\r\nContent-Length: 2\r\n').replace('/v1/plain', '/v1/plain?a'),
    head('Host: x\r\nContent-Length: 2\r\n').replace('POST', 'post'),
    head('Host: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n'),
    head('Host: x\r\nContent-Length: 2\r\nUpgrade: h2c\r\nConnection: upgrade\r\n'),
    `\r\n${head('Host: x\r\nContent-Length: 2\r\n')}`,
  ];
  for (const other of others) {
    const { socket, text, ended } = client(port);
    socket.write(other, 'latin1');
    await expect.poll(() => text() !== '' || ended()).toBe(true);
    expect(text(), other).not.toContain('"by":"fast path"');
  }
});

/** Both ways in: the second request is too long for the fast path. */
const waysIn = [
  { way: 'fast path', request: plain('{}') },
  { way: 'node', request: plain(' '.repeat(100_000)) },
] as const;

/** A server that answers, both ways, once the test says so. */
async function openWaiting(): Promise<{
  port: number;
  told: boolean[];
  asked: () => boolean;
  answer: (stream: boolean) => void;
}> {
  const told: boolean[] = [];
  let answer: ((stream: boolean) => void) | undefined;
  const serve = (writer: ResponseWriter): void => {
    writer.onClosed((complete) => told.push(complete));
    answer = (stream) => {
      if (!stream) return writer.whole(200, ['content-length', '6'], 'answer');
      writer.head(200, []);
      writer.write('ans');
      writer.end('wer');
    };
  };
  const server = createServer((request, response) =>
    collectBody(request, request.headers, Infinity, () => serve(new NodeResponseWriter(response))),
  );
  openFastPath(server, (_request, writer) => serve(writer));
  return {
    port: await listening(server),
    told,
    asked: () => answer !== undefined,
    answer: (stream) => answer?.(stream),
  };
}

test.each(waysIn)(
  'a client that leaves before the response begins is noticed within a second ($way)',
  async ({ request }) => {
    for (const leave of ['destroy', 'resetAndDestroy'] as const) {
      const { port, told, asked } = await openWaiting();
      const { socket } = client(port);
      socket.write(request);
      await expect.poll(asked).toBe(true);
      socket[leave]();
      await expect.poll(() => told, { timeout: 1_000 }).toEqual([false]);
    }
  },
);

test.each(waysIn)(
  'R9: a client that only stops sending gets the response, whole or as a stream ($way)',
  async ({ request }) => {
    for (const stream of [false, true])
      for (const waitMs of [20, 1_200]) {
        const { port, told, asked, answer } = await openWaiting();
        const { socket, text, ended } = client(port);
        socket.end(request);
        await expect.poll(asked).toBe(true);
        await wait(waitMs);
        expect(told).toEqual([]);
        answer(stream);
        await expect.poll(ended).toBe(true);
        const answers = text().replaceAll('HTTP/1.1 100 Continue\r\n\r\n', '');
        expect(answers).toMatch(
          stream
            ? /^HTTP\/1.1 200 OK\r\n[^]*\r\n3\r\nans\r\n3\r\nwer\r\n0\r\n\r\n$/
            : /^HTTP\/1.1 200 OK\r\n[^]*\r\n\r\nanswer$/,
        );
        expect(told).toEqual([true]);
      }
  },
);

test('R9: a client that stops sending after two requests gets both responses', async () => {
  const { port } = await open();
  const { socket, text, ended } = client(port);
  socket.write(plain('one'));
  socket.end(plain('two'));
  await expect.poll(ended).toBe(true);
  expect(heard(text()).map(({ body }) => body)).toEqual(['one', 'two']);
});

test('each piece of a response leaves at once, and the client has all of it after the last', async () => {
  const told: boolean[] = [];
  let writer: ResponseWriter | undefined;
  const { port } = await open((_request, opened) => {
    writer = opened;
    opened.onClosed((complete) => told.push(complete));
    opened.head(200, ['content-type', 'text/event-stream']);
  });
  const { socket, text } = client(port);
  socket.write(plain('{}'));
  await expect.poll(() => writer).toBeDefined();
  writer?.write('data: 1\n\n');
  await expect.poll(text).toMatch(/transfer-encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n$/);
  writer?.write('data: 2\n\n');
  await expect.poll(text).toMatch(/9\r\ndata: 2\n\n\r\n$/);
  writer?.end('');
  await expect.poll(text).toMatch(/\r\n0\r\n\r\n$/);
  expect(told).toEqual([true]);
});

test('a client that never reads the rest loses the connection; one that reads slowly gets all of it', async () => {
  const told: boolean[] = [];
  const body = Buffer.alloc(20_000_000, 'x');
  const { port } = await open((_request, writer) => {
    writer.onClosed((complete) => told.push(complete));
    writer.whole(200, ['content-length', String(body.length)], body);
    writer.limitRemainingTime(1_000);
  });
  const never = client(port);
  never.socket.pause();
  never.socket.write(plain('{}'));
  await expect.poll(() => told, { timeout: 10_000 }).toEqual([false]);
  const slow = client(port);
  let bytes = 0;
  slow.socket.on('data', (piece: Buffer) => {
    bytes += piece.length;
    slow.socket.pause();
    setTimeout(() => slow.socket.resume(), 2);
  });
  slow.socket.write(plain('{}'));
  await expect.poll(() => bytes, { timeout: 20_000 }).toBeGreaterThan(body.length);
  await expect.poll(() => told).toEqual([false, true]);
}, 45_000);

test('a writer is told to wait, and to go on', async () => {
  let writer: ResponseWriter | undefined;
  const { port } = await open((_request, opened) => {
    writer = opened;
    opened.head(200, []);
  });
  const { socket } = client(port);
  socket.pause();
  socket.write(plain('{}'));
  await expect.poll(() => writer).toBeDefined();
  while (writer?.write('x'.repeat(100_000)) === true) continue;
  let drained = false;
  writer?.onDrain(() => {
    drained = true;
  });
  await wait(30);
  expect(drained).toBe(false);
  socket.resume();
  await expect.poll(() => drained).toBe(true);
});

test('a header that would be two is refused', async () => {
  let thrown: unknown;
  const { port } = await open((request, writer) => {
    try {
      writer.whole(200, ['x-name', 'a\r\nx-smuggled: b'], '');
    } catch (error) {
      thrown = error;
      echo(request, writer);
    }
  });
  await say(port, [plain('{}')], 1);
  expect(String(thrown)).toContain('x-name');
});

test('closing ends idle connections at once and the others with their answers', async () => {
  let writer: ResponseWriter | undefined;
  const { port, fastPath, server } = await open((request, opened) => {
    if (request.body.length > 2) writer = opened;
    else echo(request, opened);
  });
  const idle = client(port);
  idle.socket.write(plain('{}'));
  const busy = client(port);
  busy.socket.write(plain('{"wait":1}'));
  await expect.poll(() => heard(idle.text()).length === 1 && writer !== undefined).toBe(true);
  fastPath.close();
  let closed = false;
  server.close(() => {
    closed = true;
  });
  await expect.poll(idle.ended).toBe(true);
  expect(busy.ended()).toBe(false);
  writer?.whole(200, ['content-length', '2'], '{}');
  await expect.poll(busy.ended).toBe(true);
  expect(busy.text()).toMatch(/connection: close\r\n\r\n\{\}$/);
  await expect.poll(() => closed).toBe(true);
});

/** Pieces that requests are put together from, well formed and not. */
const words = [
  'POST ',
  '/v1/plain',
  ' HTTP/1.1',
  '\r\n',
  'Host: x\r\n',
  'Content-Length: 4\r\n',
  'content-length: 4\r\n',
  'X-A: b\r\n',
  'x-a: c\r\n',
  ' ',
  '\t',
  ':',
];
const oddWords = [
  '\n',
  '\r',
  '\0',
  '\x7f',
  'é',
  'GET ',
  '?',
  '0',
  '-',
  ',',
  'Transfer-Encoding: chunked\r\n',
  'Connection: keep-alive\r\n',
  'Connection: Close\r\n',
  '4',
  'abcd',
];

/**
 * The response to a request that was changed in a few places, without the parts that show which
 * side answered.
 */
async function saidOf(port: number, request: string): Promise<string> {
  const { socket, text, ended } = client(port);
  socket.write(request, 'latin1');
  await expect
    .poll(() => heard(text()).length > 0 || ended() || /^HTTP\/1\.1 [1345]/.test(text()), {
      timeout: 150,
      interval: 2,
    })
    .toBe(true)
    .catch(() => {});
  const [said] = heard(text());
  socket.destroy();
  return said === undefined
    ? (text().split('\r\n')[0] ?? '')
    : JSON.stringify({ ...said, by: '', headers: Object.entries(said.headers).sort() });
}

test('the fast path reads a request as node:http does, or leaves it to node:http', async () => {
  const { port, fastPath } = await open();
  // An incomplete request is handed over soon, so that the test does not wait for it.
  const giving = setInterval(() => fastPath.handOverPartial(), 15);
  onTestFinished(() => clearInterval(giving));
  const reference = await listening(createServer(echoNode));
  const seed = Number(process.env['SEED'] ?? 20_261_121);
  const random = seededRandom(seed);
  const pick = <T>(all: readonly T[]): T | undefined => all[Math.floor(random() * all.length)];
  const request =
    'POST /v1/plain HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\nabcd';
  const rounds = Number(process.env['FUZZ_ROUNDS'] ?? 250);
  for (let round = 0; round < rounds; round += 1) {
    let changed = request;
    for (let changes = 1 + Math.floor(random() * 2); changes > 0; changes -= 1) {
      const at = Math.floor(random() * (changed.length + 1));
      const word = pick(random() < 0.6 ? words : oddWords) ?? '';
      changed = changed.slice(0, at) + word + changed.slice(at + Math.floor(random() * 3));
    }
    const [ours, theirs] = await Promise.all([saidOf(port, changed), saidOf(reference, changed)]);
    expect(ours, `seed ${seed}, round ${round}: ${JSON.stringify(changed)}`).toBe(theirs);
  }
}, 60_000);
