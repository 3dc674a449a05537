import { createServer } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { client, listening, openFastPath, plain } from '../../test/support/raw-client.ts';
import type { FastPath } from './fast-path.ts';
import { ClientResponse } from './client-response.ts';
import { NodeResponseWriter } from './node-transport.ts';
import type { ResponseWriter } from './transport.ts';

/** A fast path whose requests wait for the test, before a node:http that refuses all. */
async function open(): Promise<{ port: number; fastPath: FastPath; writers: ResponseWriter[] }> {
  const server = createServer((_request, response) =>
    response.writeHead(401, { 'content-length': 0 }).end(),
  );
  const writers: ResponseWriter[] = [];
  const fastPath = openFastPath(server, (_request, writer) => writers.push(writer));
  return { port: await listening(server), fastPath, writers };
}

test('a client that has sent ahead and then leaves is noticed while the response is made', async () => {
  const { port, writers } = await open();
  const { socket } = client(port);
  socket.write(plain('{}'));
  await expect.poll(() => writers.length).toBe(1);
  const told: boolean[] = [];
  writers[0]?.onClosed((complete) => told.push(complete));
  for (let i = 0; i < 8; i += 1) {
    socket.write('x');
    await wait(5);
  }
  socket.destroy();
  await expect.poll(() => told).toEqual([false]);
});

test('a listener that comes after the end is called at once', async () => {
  const { port, writers } = await open();
  const { socket } = client(port);
  socket.write(plain('{}'));
  await expect.poll(() => writers.length).toBe(1);
  const [writer] = writers;
  if (writer === undefined) throw new Error('nobody was served');
  const first = new ClientResponse(writer, []);
  socket.destroy();
  await expect.poll(() => first.closed).toBe(true);
  expect(new ClientResponse(writer, []).closed).toBe(true);

  let response: ResponseWriter | undefined;
  const server = createServer((_request, opened) => {
    response = new NodeResponseWriter(opened);
  });
  const other = client(await listening(server));
  other.socket.write(plain('{}'));
  await expect.poll(() => response).toBeDefined();
  if (response === undefined) throw new Error('nobody was served');
  const second = new ClientResponse(response, []);
  other.socket.destroy();
  await expect.poll(() => second.closed).toBe(true);
  expect(new ClientResponse(response, []).closed).toBe(true);
});

test('bytes after the end of a response never reach the client: it would take them for the next one', async () => {
  const { port, writers } = await open();
  const { socket, text } = client(port);
  socket.write(plain('{}'));
  await expect.poll(() => writers.length).toBe(1);
  writers[0]?.head(200, []);
  writers[0]?.end('last');
  writers[0]?.write('late');
  writers[0]?.end('later');
  await expect.poll(text).toMatch(/4\r\nlast\r\n0\r\n\r\n$/);
});

test('incomplete requests are kept up to a limit over all connections; beyond it, node:http reads them', async () => {
  const { port, fastPath } = await open();
  const head = plain('x'.repeat(60_000)).slice(0, 30_000);
  const before = client(port);
  before.socket.write(head);
  await expect.poll(() => fastPath.keptBytes).toBeGreaterThan(1_000);
  expect(before.text()).toBe('');
  before.socket.destroy();
  await expect.poll(() => fastPath.keptBytes).toBe(0);

  fastPath.keptBytes = 16 * 1024 * 1024;
  const after = client(port);
  after.socket.write(head);
  await expect.poll(after.text).toMatch(/^HTTP\/1\.1 401 /);
  expect(fastPath.keptBytes).toBe(16 * 1024 * 1024);
});

test('a connection stays open for as long as its responses say, and a closed fast path takes no new one', async () => {
  const { port, fastPath } = await open();
  // Looks are 5 s apart, and the first one may come at once.
  expect((fastPath.idleLooks - 1) * 5_000).toBe(75_000);
  fastPath.close();
  const late = client(port);
  await expect.poll(late.ended).toBe(true);
});

test('bytes that cannot become a plain request go to node:http at once', async () => {
  const { port } = await open();
  for (const begun of ['\x16\x03\x01\x02\x00', 'GIT']) {
    const { socket, text } = client(port);
    socket.write(begun, 'latin1');
    await expect.poll(text).toMatch(/^HTTP\/1\.1 400 /);
  }
});
