import { createServer, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Reply } from './reply.ts';

/** A connection with `requests` sent at once; `serve` gets the response of each. */
async function open(requests: number, serve: (response: ServerResponse) => void): Promise<Socket> {
  const server = createServer((_request, response) => serve(response));
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const client = connect(typeof address === 'object' && address !== null ? address.port : 0, '127.0.0.1');
  client.on('error', () => {});
  client.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(requests));
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

test('who leaves is noticed by every answer of the connection, those included that wait for their turn', async () => {
  const replies: Reply[] = [];
  let left = 0;
  const client = await open(3, (response) => {
    const reply = new Reply(response, []);
    reply.onLeave(() => left++);
    replies.push(reply);
  });
  await expect.poll(() => replies.length).toBe(3);
  client.destroy();
  await expect.poll(() => left).toBe(3);
  expect(replies.every(({ closed }) => closed)).toBe(true);
});

test('who had left before anybody asked is told of at once', async () => {
  let reply: Reply | undefined;
  const client = await open(1, (response) => {
    reply = new Reply(response, []);
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

test('an answer is over when the client has it, not when it is written; who never reads the rest loses the connection', async () => {
  let over = false;
  let reply: Reply | undefined;
  const client = await open(1, (response) => {
    reply = new Reply(response, [], 300);
    reply.whole(200, 'text/plain', 'x'.repeat(20_000_000));
    reply.onOver(() => {
      over = true;
    });
  });
  client.pause();
  await expect.poll(() => reply?.started).toBe(true);
  expect(over).toBe(false);
  await expect.poll(() => over, { timeout: 3_000 }).toBe(true);
});

test('who reads slowly, but reads, gets all of it', async () => {
  const length = 5_000_000;
  const client = await open(1, (response) => new Reply(response, [], 300).whole(200, 'text/plain', 'x'.repeat(length)));
  let bytes = 0;
  client.on('data', (piece) => {
    bytes += piece.length;
    client.pause();
    setTimeout(() => client.resume(), 5);
  });
  await expect.poll(() => bytes, { timeout: 10_000 }).toBeGreaterThan(length);
});
