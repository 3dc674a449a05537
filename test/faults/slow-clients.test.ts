import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../../src/app/schema.ts';
import { sqliteUrl } from '../databases.ts';
import { hello, oneModel, startRunning } from '../support/running.ts';
import { chunk, sse, startVendor, streamOf } from '../support/scripted-vendor.ts';

/**
 * `CLIENTS=10000 npm test -- test/faults/slow-clients.test.ts`: the long run; each takes one of the
 * process's open files.
 */
const crowd = Number(process.env['CLIENTS'] ?? 150);
/** What one of them may take of the gateway's memory. */
const bytesEach = 50_000;

async function connected(url: string): Promise<Socket> {
  const { port } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  return socket;
}

/**
 * In a process of their own, where each has an open file as well: some bytes of a head, and one
 * more now and then.
 */
const dribbling = `
import { connect } from 'node:net';
const [port, count, head] = process.argv.slice(1);
const sockets = [];
for (let i = 0; i < Number(count); i++) {
  const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(head);
  sockets.push(socket);
}
setInterval(() => sockets.forEach((socket) => socket.destroyed || socket.write('a')), 500);
console.log('all are there');
`;

async function startDribblers(url: string, count: number, head: string): Promise<void> {
  const told = [
    '--input-type=module',
    '-e',
    dribbling,
    '--',
    new URL(url).port,
    String(count),
    head,
  ];
  const child = spawn(process.execPath, told, { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child.stdout, 'data');
}

test(`${crowd} clients that dribble their requests or read nothing of their answers: everybody else is answered in time, and memory is bounded`, {
  timeout: 60_000 + crowd * 10,
}, async () => {
  const vendor = await startVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    // A model that writes so much: another's answers would end at their bound.
    configuration: oneModel(vendor.url).replace('max_output: 1000', 'max_output: 100000000'),
    yuan: '100000000',
    limits: { stalledMs: 1_500 },
  });
  let stopped = 0;
  const piece = chunk({ content: 'word '.repeat(2_000) });
  vendor.answer(({ text }, response) => {
    if (!text.includes('endless')) return sse(response).end(streamOf(['Hello']));
    const stream = sse(response);
    const more = (): void => {
      while (!response.destroyed && stream.write(piece));
    };
    stream.on('drain', more).on('close', () => stopped++);
    more();
    return stream;
  });
  const body = JSON.stringify({
    ...hello,
    messages: [{ role: 'user', content: 'endless' }],
    stream: true,
    max_tokens: 100_000_000,
  });
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${running.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const before = process.memoryUsage().rss;
  const sockets: Socket[] = [];
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  const readers = Math.min(100, Math.floor(crowd / 5));
  for (let i = 0; i < readers; i++) {
    const socket = await connected(running.url);
    sockets.push(socket);
    socket.pause().write(head + body);
  }
  await startDribblers(running.url, crowd - readers, head.slice(0, 10));
  const waits: number[] = [];
  for (let i = 0; i < 50; i++) {
    const begun = performance.now();
    const answer = await running.post('/v1/chat/completions', { ...hello, stream: true });
    expect(answer.status).toBe(200);
    await answer.text();
    waits.push(performance.now() - begun);
    await wait(10);
  }
  expect(waits.toSorted((a, b) => a - b)[25] ?? Infinity).toBeLessThan(500);
  expect(process.memoryUsage().rss - before).toBeLessThan(200_000_000 + crowd * bytesEach);
  // Who reads nothing is let go, and its vendor with it; it pays for what was sent.
  await expect.poll(() => stopped, { timeout: 20_000 }).toBe(readers);
  for (const socket of sockets) socket.destroy();
  await expect
    .poll(async () => (await running.usage()).length, { timeout: 20_000 })
    .toBeGreaterThanOrEqual(50);
  await running.expectBooks();
});

test.each([
  ['/v1/chat/completions', { ...hello, stream: true, max_tokens: 100_000_000 }],
  [
    '/v1/responses',
    { model: 'm1', input: 'Hello', background: true, stream: true, max_output_tokens: 100_000_000 },
  ],
])(
  'a client that reads all the time, but slower than its stream, is not let go: %s',
  async (path, asked) => {
    const vendor = await startVendor();
    const running = await startRunning({
      databaseUrl: await sqliteUrl(migrations),
      configuration: oneModel(vendor.url)
        .replace('max_output: 1000', 'max_output: 100000000')
        .replaceAll('vendor: openai', 'vendor: deepseek'),
      yuan: '100000000',
      limits: { stalledMs: 1_500 },
    });
    const piece = chunk({ content: 'word '.repeat(2_000) });
    let stopped = false;
    vendor.answer((_, response) => {
      const stream = sse(response);
      const more = (): void => {
        while (!response.destroyed && stream.write(piece));
      };
      stream.on('drain', more).on('close', () => (stopped = true));
      more();
      return stream;
    });
    const body = JSON.stringify(asked);
    const socket = await connected(running.url);
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${running.key}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    let readAt = 0;
    socket.on('data', () => {
      readAt = performance.now();
      socket.pause();
      setTimeout(() => socket.resume(), 40);
    });
    await wait(6_000);
    expect(performance.now() - readAt).toBeLessThan(1_000);
    expect([stopped, socket.destroyed]).toEqual([false, false]);
    socket.destroy();
    for (const { id } of await running.gateway.database.query('SELECT id FROM response'))
      await running.post(`/v1/responses/${String(id)}/cancel`, {});
    await expect.poll(() => stopped, { timeout: 5_000 }).toBe(true);
    await expect.poll(async () => (await running.usage()).length, { timeout: 20_000 }).toBe(1);
    await running.expectBooks();
  },
);

test('a client that reads nothing of a stored stream is let go, and another one has all of it', async () => {
  const vendor = await startVendor();
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: oneModel(vendor.url)
      .replace('max_output: 1000', 'max_output: 100000000')
      .replaceAll('vendor: openai', 'vendor: deepseek'),
    yuan: '100000000',
    limits: { stalledMs: 1_500 },
  });
  let finish = (): void => {};
  const words = 2_000;
  vendor.answer((_, response) => {
    const stream = sse(response);
    for (let i = 0; i < words; i++) stream.write(chunk({ content: 'word '.repeat(2_000) }));
    finish = () => stream.end(streamOf(['last']));
    return stream;
  });
  const asked = { model: 'm1', input: 'Hello', background: true, stream: true };
  const leaving = new AbortController();
  const live = await running.post(
    '/v1/responses',
    { ...asked, max_output_tokens: 100_000_000 },
    { signal: leaving.signal },
  );
  await live.body?.getReader().read();
  leaving.abort();
  const { database } = running.gateway;
  await expect
    .poll(async () => (await database.query('SELECT part FROM response_events')).length, {
      timeout: 10_000,
    })
    .toBeGreaterThan(1);
  await wait(2_500);
  const [row] = await database.query('SELECT id FROM response');
  const path = `/v1/responses/${String(row?.['id'])}?stream=true`;
  const socket = await connected(running.url);
  let left = false;
  socket.on('close', () => (left = true)).pause();
  socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${running.key}\r\n\r\n`);
  const reading = fetch(`${running.url}${path}`, {
    headers: { authorization: `Bearer ${running.key}` },
  }).then((read) => read.text());
  await wait(4_000);
  // A paused socket does not say that it was closed.
  socket.resume();
  await expect.poll(() => left, { timeout: 5_000 }).toBe(true);
  finish();
  const text = await reading;
  expect(text.match(/event: response.output_text.delta/g)).toHaveLength(words + 1);
  expect(text).toContain('event: response.completed');
  await running.expectBooks();
});
