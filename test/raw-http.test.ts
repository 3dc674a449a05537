import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { client } from './support/raw-client.ts';
import { hello, type Running } from './support/running.ts';
import {
  chunk,
  completion,
  json,
  type ScriptedVendor,
  sse,
  streamOf,
} from './support/scripted-vendor.ts';
import { startWithVendor } from './support/with-vendor.ts';

const chat = '/v1/chat/completions';
const body = JSON.stringify(hello);
/** More than the fast path reads by itself. */
const longBody = body + ' '.repeat(100_000);

async function start(): Promise<{ vendor: ScriptedVendor; running: Running; port: number }> {
  const { vendor, running } = await startWithVendor();
  return { vendor, running, port: Number(new URL(running.url).port) };
}

function request({ key }: Running, text = body, head = 'host: x\r\n', version = '1.1'): string {
  return `POST ${chat} HTTP/${version}\r\n${head}authorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

/** The answers on a connection, in their order. */
function answersIn(
  text: string,
): readonly { readonly status: number; readonly head: string; readonly body: unknown }[] {
  return text
    .split(/(?=HTTP\/1\.1 \d{3} )/)
    .filter((answer) => !answer.startsWith('HTTP/1.1 100'))
    .map((answer) => {
      const end = answer.indexOf('\r\n\r\n');
      return {
        status: Number(answer.slice(9, 12)),
        head: answer.slice(0, end),
        body: JSON.parse(answer.slice(end + 4)),
      };
    });
}

const refusalOf = (code: string, message: RegExp) => ({
  error: {
    message: expect.stringMatching(message),
    type: 'invalid_request_error',
    param: null,
    code,
  },
});

/** All that a connection was told, once it is closed. */
async function told(port: number, pieces: readonly string[]): Promise<string> {
  const { socket, text, ended } = client(port);
  for (const piece of pieces) {
    socket.write(piece, 'latin1');
    const before = text().length;
    if (piece !== pieces.at(-1)) await expect.poll(() => text().length).toBeGreaterThan(before);
  }
  await expect.poll(ended).toBe(true);
  return text();
}

const noHttp = 'BREW /coffee\r\n\r\n';

test('R9: a malformed second request on a kept connection gets its 400, behind either way in', async () => {
  const { running, port } = await start();
  for (const first of [
    request(running),
    request(running, longBody),
    `GET /v1/models HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${running.key}\r\n\r\n`,
  ]) {
    const answers = answersIn(await told(port, [first, noHttp]));
    expect(answers.map(({ status }) => status)).toEqual([200, 400]);
    expect(answers[1]?.body).toMatchObject(refusalOf('invalid_request_error', /not valid HTTP/));
    expect(answers[1]?.head).toMatch(/x-request-id: \S+\r\nconnection: close/);
  }
});

test('R9: behind answers that are still being made the 400 waits for its turn', async () => {
  const { vendor, running, port } = await start();
  vendor.answer(async (_, response) => {
    await wait(200);
    json(response, 200, completion());
  });
  for (const text of [body, longBody]) {
    const answers = answersIn(
      await told(port, [request(running, text) + request(running, text) + noHttp]),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 400]);
  }
  await running.expectBooks();
});

test('R9: a request without Host, or with two, is a 400 that says so', async () => {
  const { vendor, running, port } = await start();
  for (const text of [body, longBody])
    for (const [head, count] of [
      ['', 'no'],
      ['Host: x\r\nHost: x\r\n', '2'],
      ['Host: x\r\nHOST: y\r\nhost: x\r\n', '3'],
    ] as const) {
      const [answer, ...others] = answersIn(await told(port, [request(running, text, head)]));
      expect(answer).toMatchObject({
        status: 400,
        body: refusalOf(
          'invalid_request_error',
          new RegExp(`^Your request has ${count} Host headers`),
        ),
      });
      expect(others).toEqual([]);
    }
  expect(answersIn(await told(port, ['GET /healthz HTTP/1.1\r\n\r\n']))[0]?.status).toBe(400);
  expect(vendor.received).toHaveLength(0);
  // HTTP/1.0 needs none.
  expect(answersIn(await told(port, [request(running, body, '', '1.0')]))[0]?.status).toBe(200);
});

test('R9: an expectation that nobody can meet is a 417 that says so; 100-continue is met', async () => {
  const { vendor, running, port } = await start();
  const [answer] = answersIn(
    await told(port, [request(running, body, 'host: x\r\nexpect: bogus\r\n')]),
  );
  expect(answer).toMatchObject({
    status: 417,
    body: refusalOf('expectation_failed', /^We cannot meet the expectation 'bogus'/),
  });
  expect(vendor.received).toHaveLength(0);
  const text = await told(port, [
    request(running, body, 'host: x\r\nexpect: 100-continue\r\nconnection: close\r\n'),
  ]);
  expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/);
});

test('R9: who ends its side after the request gets the answer, and pays for it', async () => {
  const { vendor, running, port } = await start();
  vendor.answer(async (_, response) => {
    await wait(400);
    json(response, 200, completion());
  });
  for (const text of [body, longBody]) {
    const { socket, text: heard, ended } = client(port);
    socket.end(request(running, text));
    await expect.poll(ended).toBe(true);
    expect(answersIn(heard()).map(({ status }) => status)).toEqual([200]);
  }
  expect(await running.usage()).toHaveLength(2);
  await running.expectBooks();
});

test('R9: who ends its side gets a stream to its end, which begins later and lasts longer', async () => {
  const { vendor, running, port } = await start();
  vendor.answer(async (_, response) => {
    await wait(50);
    const stream = sse(response);
    for (let i = 0; i < 20; i += 1) {
      stream.write(chunk({ content: `${i} ` }));
      await wait(50);
    }
    stream.end(streamOf(['over']));
  });
  const streamed = JSON.stringify({ ...hello, stream: true });
  for (const text of [streamed, streamed + ' '.repeat(100_000)]) {
    const { socket, text: heard, ended } = client(port);
    socket.end(request(running, text));
    await expect.poll(ended, { timeout: 10_000 }).toBe(true);
    expect(heard()).toMatch(/"content":"19 "[^]*"content":"over"[^]*data: \[DONE\]\n\n/);
  }
  expect(await running.usage()).toHaveLength(2);
  await running.expectBooks();
});

test('R9: who leaves instead stops the vendor within a second', async () => {
  const { vendor, running, port } = await start();
  for (const text of [body, longBody]) {
    let [asked, stopped] = [false, false];
    vendor.answer((_, response) => {
      asked = true;
      response.on('close', () => (stopped = true));
    });
    const socket = connect(port, '127.0.0.1', () => socket.write(request(running, text)));
    onTestFinished(() => void socket.destroy());
    await expect.poll(() => asked).toBe(true);
    socket.destroy();
    await expect.poll(() => stopped, { timeout: 1_000 }).toBe(true);
  }
});
