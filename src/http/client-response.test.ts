import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { ClientResponse, NullWriter, RecordingResponse } from './client-response.ts';
import { NodeResponseWriter } from './node-transport.ts';

/** A connection with `requests` sent at once; `serve` gets the response of each. */
async function open(requests: number, serve: (response: ServerResponse) => void): Promise<Socket> {
  const server = createServer((_request, response) => serve(response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const client = connect(
    typeof address === 'object' && address !== null ? address.port : 0,
    '127.0.0.1',
  );
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(requests));
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

test('every response of a connection notices that the client leaves, also one that waits for its turn', async () => {
  const replies: ClientResponse[] = [];
  let left = 0;
  const client = await open(3, (response) => {
    const reply = new ClientResponse(new NodeResponseWriter(response), []);
    reply.onLeave(() => left++);
    replies.push(reply);
  });
  await expect.poll(() => replies.length).toBe(3);
  client.destroy();
  await expect.poll(() => left).toBe(3);
  expect(replies.every(({ closed }) => closed)).toBe(true);
});

test('a listener that comes after the client has left is called at once', async () => {
  let reply: ClientResponse | undefined;
  const client = await open(1, (response) => {
    reply = new ClientResponse(new NodeResponseWriter(response), []);
  });
  await expect.poll(() => reply).toBeDefined();
  client.destroy();
  await expect.poll(() => reply?.closed).toBe(true);
  let told = '';
  reply?.onLeave(() => {
    told += 'left ';
  });
  reply?.onOver(() => {
    told += 'over';
  });
  expect(told).toBe('left over');
});

test('a recording no longer waits for a client that has left', () => {
  const writer = new NullWriter();
  const response = new RecordingResponse(
    new ClientResponse(writer, []),
    () => Promise.resolve(),
    () => Promise.resolve(),
  );
  let drained = 0;
  response.onDrain(() => drained++);
  expect(response.stalled).toBe(true);
  writer.destroy();
  expect([response.stalled, drained]).toEqual([false, 1]);
});

test('a response whose client has left already is closed from the start', () => {
  const writer = new NullWriter();
  writer.destroy();
  const response = new ClientResponse(writer, []);
  let left = 0;
  response.onLeave(() => left++);
  expect([response.closed, left]).toEqual([true, 1]);
});

test('a response is over when the client has it; a client that never reads the rest loses the connection', async () => {
  let over = false;
  let reply: ClientResponse | undefined;
  const client = await open(1, (response) => {
    reply = new ClientResponse(new NodeResponseWriter(response), [], 300);
    reply.whole(200, 'text/plain', 'x'.repeat(20_000_000));
    reply.onOver(() => {
      over = true;
    });
  });
  client.pause();
  await expect.poll(() => reply?.started).toBe(true);
  expect(over).toBe(false);
  await expect.poll(() => over).toBe(true);
});

test('a client that reads slowly gets the whole response', async () => {
  const length = 5_000_000;
  const client = await open(1, (response) =>
    new ClientResponse(new NodeResponseWriter(response), [], 300).whole(
      200,
      'text/plain',
      'x'.repeat(length),
    ),
  );
  let bytes = 0;
  client.on('data', (piece) => {
    bytes += piece.length;
    client.pause();
    setTimeout(() => client.resume(), 5);
  });
  await expect.poll(() => bytes, { timeout: 10_000 }).toBeGreaterThan(length);
});

/** A source without an end. */
function endless(): Readable {
  return new Readable({
    read() {
      this.push(Buffer.alloc(65_536));
    },
  });
}

test('a streamed body ends when the client reads nothing of it, and when the client leaves', async () => {
  for (const leaves of [false, true]) {
    const body = endless();
    let sent = false;
    const client = await open(1, (response) => {
      void new ClientResponse(new NodeResponseWriter(response), ['content-type', 'video/mp4'], 300)
        .send(200, body)
        .then(() => {
          sent = true;
        });
    });
    await new Promise((resolve) => client.once('data', resolve));
    client.pause();
    if (leaves) client.destroy();
    await expect.poll(() => body.destroyed).toBe(true);
    await expect.poll(() => sent).toBe(true);
  }
});

test('a streamed body reaches a slow client whole, and a client that has left not at all', async () => {
  const pieces = Array.from({ length: 80 }, (_, i) => Buffer.alloc(65_536, i));
  const client = await open(
    1,
    (response) =>
      void new ClientResponse(new NodeResponseWriter(response), [], 300).send(
        200,
        Readable.from(pieces),
      ),
  );
  let bytes = 0;
  client.on('data', (piece) => {
    bytes += piece.length;
    client.pause();
    setTimeout(() => client.resume(), 2);
  });
  await expect.poll(() => bytes, { timeout: 10_000 }).toBeGreaterThan(80 * 65_536);
  const body = endless();
  let reply: ClientResponse | undefined;
  const leaver = await open(1, (response) => {
    reply = new ClientResponse(new NodeResponseWriter(response), []);
  });
  await expect.poll(() => reply).toBeDefined();
  leaver.destroy();
  await expect.poll(() => reply?.closed).toBe(true);
  await reply?.send(200, body);
  expect(body.destroyed).toBe(true);
});

test('a source that breaks off breaks the connection: the client must not take a part for the whole', async () => {
  const broken = Readable.from(
    (async function* () {
      yield Buffer.alloc(10);
      throw new Error('the disk is gone');
    })(),
  );
  let text = '';
  const client = await open(
    1,
    (response) =>
      void new ClientResponse(new NodeResponseWriter(response), ['content-length', '20']).send(
        200,
        broken,
      ),
  );
  client.on('data', (piece) => {
    text += String(piece);
  });
  await new Promise((resolve) => client.once('close', resolve));
  expect(text).toContain('content-length: 20');
});
