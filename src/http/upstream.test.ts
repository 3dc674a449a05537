import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { afterEach, expect, it } from 'vitest';
import { Upstream, UpstreamCall, type UpstreamTimes } from './upstream.ts';

const limits = { connectionsMax: 8, connectTimeoutMs: 1_000 };
const times: UpstreamTimes = { firstByteTimeoutMs: 5_000, idleTimeoutMs: 5_000 };
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** A vendor that sends `answer` to every request, on real connections. */
async function vendor(
  answer: (socket: Socket, request: string, nth: number) => void,
  most = limits,
) {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    let heard = '';
    socket.on('data', (piece) => {
      heard += piece.toString('latin1');
      const length = Number(/content-length: (\d+)/.exec(heard)?.[1] ?? 0);
      const end = heard.indexOf('\r\n\r\n');
      if (end < 0 || heard.length < end + 4 + length) return;
      const request = heard;
      heard = '';
      answer(socket, request, sockets.indexOf(socket));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const upstream = new Upstream(`http://127.0.0.1:${port}/v1`, most);
  closing.push(() => {
    void upstream.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { upstream, sockets, server };
}

interface Told {
  text: string;
  end: string;
  call: UpstreamCall;
  done: Promise<Told>;
}

/** One call, and what became of it. */
function ask(
  upstream: Upstream,
  options: {
    times?: UpstreamTimes;
    body?: string;
    path?: string;
    headers?: Record<string, string>;
    pause?: boolean;
  } = {},
): Told {
  let finish: (told: Told) => void = () => {};
  const done = new Promise<Told>((resolve) => {
    finish = resolve;
  });
  const over = (end: string): void => {
    told.end = end;
    finish(told);
  };
  const call = new UpstreamCall({
    head: (status, headers) =>
      void (told.text += `${status} ${headers.get('content-type') ?? ''};`),
    data: (piece) => {
      told.text += piece.toString('latin1');
      return options.pause !== true;
    },
    end: () => over('end'),
    failed: (stage, error) => over(`${stage}: ${error.message}`),
  });
  const told: Told = { text: '', end: '', call, done };
  const { path = '/chat', headers = { 'content-type': 'text/plain' }, body = 'hi' } = options;
  upstream.send({ path, headers, body: Buffer.from(body) }, options.times ?? times, call);
  return told;
}

it('appends paths to the base, and leaves as many of its steps as a path says', () => {
  const upstream = new Upstream('https://vendor.example/compatible-mode/v1', limits);
  expect(upstream.urlOf('/chat/completions?a=%2E.')).toBe(
    'https://vendor.example/compatible-mode/v1/chat/completions?a=%2E.',
  );
  expect(upstream.urlOf('/../v2/video?id=a%2Fb')).toBe(
    'https://vendor.example/compatible-mode/v2/video?id=a%2Fb',
  );
  expect(upstream.urlOf('/../../api/v1/tasks')).toBe('https://vendor.example/api/v1/tasks');
  expect(new Upstream('https://vendor.example', limits).urlOf('/../v2/video')).toBe(
    'https://vendor.example/v2/video',
  );
});

it('says what was asked, and uses a connection again', async () => {
  const heard: string[] = [];
  const { upstream, sockets } = await vendor((socket, request) => {
    heard.push(request);
    socket.write(ok);
  });
  for (let i = 0; i < 3; i += 1)
    expect(await ask(upstream).done).toMatchObject({ text: '200 ;ok', end: 'end' });
  expect(sockets).toHaveLength(1);
  expect(heard[0]).toMatch(
    /^POST \/v1\/chat HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\nconnection: keep-alive\r\ncontent-type: text\/plain\r\ncontent-length: 2\r\n\r\nhi$/,
  );
});

it('sends a large body as it is', async () => {
  const body = 'é'.repeat(100_000);
  const { upstream } = await vendor((socket, request) => {
    socket.write(
      Buffer.from(request.slice(-body.length * 2), 'latin1').toString() === body
        ? ok
        : 'HTTP/1.1 400\r\ncontent-length: 0\r\n\r\n',
    );
  });
  expect(await ask(upstream, { body }).done).toMatchObject({ text: '200 ;ok' });
});

it('uses no connection again that the vendor closes, or on which more came than a reply', async () => {
  const { upstream, sockets } = await vendor((socket, _request, nth) => {
    if (nth === 0) socket.write(ok.replace('\r\n', '\r\nConnection: Close\r\n'));
    else if (nth === 1) socket.write(`${ok}${ok}`);
    else if (nth === 2) socket.end('HTTP/1.0 200 OK\r\n\r\nok');
    else if (nth === 3)
      socket.write(ok.replace('\r\n', '\r\nConnection: keep-alive\r\nConnection: close\r\n'));
    else socket.write(ok);
  });
  for (let i = 0; i < 6; i += 1)
    expect(await ask(upstream).done).toMatchObject({ text: '200 ;ok', end: 'end' });
  expect(sockets).toHaveLength(5);
});

it('opens a new connection when the vendor has closed the unused one', async () => {
  const { upstream, sockets } = await vendor((socket) => socket.write(ok));
  await ask(upstream).done;
  sockets[0]?.end();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await ask(upstream).done).toMatchObject({ end: 'end' });
  expect(sockets).toHaveLength(2);
});

it('tells how far a call came that failed', async () => {
  const { upstream, server } = await vendor((socket, _request, nth) => {
    if (nth === 0) socket.destroy();
    else if (nth === 1) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc');
    else socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n');
  });
  expect((await ask(upstream).done).end).toMatch(/^waiting: /);
  expect(await ask(upstream).done).toMatchObject({
    text: '200 ;abc',
    end: 'streaming: the vendor closed inside its reply',
  });
  expect(await ask(upstream).done).toMatchObject({ end: 'streaming: no length of a chunk' });
  expect((await ask(upstream, { headers: { 'x-y': 'a\r\nb' } }).done).end).toMatch(
    /^connecting: the header x-y/,
  );
  expect((await ask(upstream, { path: '/a b' }).done).end).toMatch(/^connecting: a path/);
  server.close();
  const nobody = new Upstream('http://127.0.0.1:1/v1', limits);
  expect((await ask(nobody).done).end).toMatch(/^connecting: .*ECONNREFUSED/);
});

it('does not wait for ever, neither for the first byte nor for the next', async () => {
  const { upstream } = await vendor((socket, _request, nth) => {
    if (nth === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc');
  });
  const short = { firstByteTimeoutMs: 100, idleTimeoutMs: 100 };
  expect(await ask(upstream, { times: short }).done).toMatchObject({
    end: 'waiting: the vendor did not answer in time',
  });
  expect(await ask(upstream, { times: short }).done).toMatchObject({
    text: '200 ;abc',
    end: 'streaming: the vendor fell silent',
  });
});

it('holds the vendor back while a caller takes nothing, however long that lasts', async () => {
  let written = 0;
  const total = 64 * 1024 * 1024;
  const { upstream } = await vendor((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`);
    const piece = Buffer.alloc(64 * 1024, 'x');
    Readable.from(
      (function* () {
        for (let i = 0; i < total; i += piece.length) {
          written += piece.length;
          yield piece;
        }
      })(),
      { objectMode: false },
    ).pipe(socket, { end: false });
  });
  const paused = ask(upstream, {
    pause: true,
    times: { firstByteTimeoutMs: 5_000, idleTimeoutMs: 100 },
  });
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  expect(paused.end).toBe('');
  expect(written).toBeLessThan(total / 2);
  const goOn = setInterval(() => paused.call.resume(), 0);
  expect(await paused.done).toMatchObject({ end: 'end' });
  clearInterval(goOn);
  expect(paused.text).toHaveLength(total + '200 ;'.length);
}, 30_000);

it('ends the connection of a call that is broken off, and only that', async () => {
  const { upstream, sockets } = await vendor((socket, _request, nth) => {
    if (nth === 0) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc');
    else socket.write(ok);
  });
  const first = ask(upstream);
  await expect.poll(() => first.text).toBe('200 ;abc');
  const closed = once(sockets[0] ?? new Readable(), 'close');
  first.call.abort();
  await closed;
  expect(await ask(upstream).done).toMatchObject({ end: 'end' });
  expect(first.end).toBe('');
});

it('opens no more connections than allowed: calls wait, in their order, and those that left are passed over', async () => {
  const answer: (() => void)[] = [];
  const { upstream, sockets } = await vendor(
    (socket, request) => void answer.push(() => socket.write(ok.replace('ok', request.slice(-2)))),
    {
      connectionsMax: 1,
      connectTimeoutMs: 1_000,
    },
  );
  const calls = ['a1', 'a2', 'a3'].map((body) => ask(upstream, { body }));
  calls[1]?.call.abort();
  for (const i of [0, 2]) {
    await expect.poll(() => answer.length).toBe(1);
    answer.pop()?.();
    expect(await calls[i]?.done).toMatchObject({ text: `200 ;a${i + 1}` });
  }
  expect(sockets).toHaveLength(1);
});

it('retires when its calls have ended, and closes at once', async () => {
  const { upstream } = await vendor((socket) => void setTimeout(() => socket.write(ok), 100));
  const last = ask(upstream);
  await expect.poll(() => last.call.stage).toBe('waiting');
  const retired = upstream.retire();
  expect((await ask(upstream).done).end).toBe('connecting: the channel has been closed');
  await retired;
  expect(last).toMatchObject({ end: 'end' });
  const other = await vendor(() => {});
  const left = ask(other.upstream);
  await expect.poll(() => left.call.stage).toBe('waiting');
  const waiting = ask(other.upstream);
  await other.upstream.close();
  expect([left.end, waiting.end]).toEqual([
    'waiting: the channel has been closed',
    expect.stringContaining(': the channel has been closed'),
  ]);
});

const chunkedHead = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

/** A call whose caller leaves at the first bytes. */
async function leftAtOnce(upstream: Upstream): Promise<void> {
  await new Promise<void>((resolve) => {
    const call: UpstreamCall = new UpstreamCall({
      head: () => {},
      data: () => {
        call.finish();
        resolve();
        return true;
      },
      end: () => expect.unreachable(),
      failed: () => expect.unreachable(),
    });
    upstream.send({ path: '/chat', headers: {}, body: Buffer.from('hi') }, times, call);
  });
}

it.each(['0\r\n\r\n', '3\r\nend\r\n0\r\n\r\n'])(
  'a connection whose caller has heard enough carries the next call once its reply is over: %j',
  async (rest) => {
    for (const together of [true, false]) {
      const { upstream, sockets } = await vendor((socket) => {
        socket.write(`${chunkedHead}3\r\nabc\r\n${together ? rest : ''}`);
        if (!together) setTimeout(() => socket.write(rest), 20);
      });
      await leftAtOnce(upstream);
      await new Promise((resolve) => setTimeout(resolve, 60));
      await leftAtOnce(upstream);
      expect(sockets).toHaveLength(1);
      expect(upstream.open).toBe(1);
    }
  },
);

it('a connection whose caller has heard enough is closed when the rest does not end soon, or was not being read', async () => {
  const { upstream } = await vendor((socket) => {
    socket.write(`${chunkedHead}3\r\nabc\r\n`);
    const more = setInterval(() => socket.write('3\r\nabc\r\n'), 50);
    socket.on('close', () => clearInterval(more));
  });
  await leftAtOnce(upstream);
  expect(upstream.open).toBe(1);
  await expect.poll(() => upstream.open).toBe(0);
  const paused = ask(upstream, { pause: true });
  await expect.poll(() => paused.text).toContain('abc');
  paused.call.finish();
  expect(upstream.open).toBe(0);
});
