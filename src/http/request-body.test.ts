import { createServer } from 'node:http';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { listening } from '../../test/support/raw-client.ts';
import { AccountQueue, BodyBudget, HeldBody, readBody, uncountedBytes } from './request-body.ts';

test('a body that nobody read before is whole, or its client has left', async () => {
  const results: unknown[] = [];
  const server = createServer((request, response) => {
    const read = (): void =>
      void readBody(request, request.headers, 100).then((result) => {
        results.push(String(result));
        response.end();
      });
    if (request.url === '/leaves') request.once('close', () => setImmediate(read));
    else setTimeout(read, 50);
  });
  const port = await listening(server);
  for (const [path, sent, result] of [
    ['/stays', 'hello', 'hello'],
    ['/leaves', 'he', 'left'],
    ['/leaves', 'hello', 'left'],
  ] as const) {
    const client = connect(port, '127.0.0.1').on('error', () => {});
    client.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n${sent}`);
    if (path === '/leaves') {
      await new Promise((resolve) => server.once('request', resolve));
      client.destroy();
    }
    await expect.poll(() => results.splice(0)).toEqual([result]);
    client.destroy();
  }
});

const refused = expect.objectContaining({ refusal: 'body_bytes_in_flight' });

test('R6: one account holds so many bytes of bodies, another as many beside it', () => {
  const bytes = new BodyBudget(100);
  expect([
    bytes.enter('a', 60),
    bytes.enter('a', 40),
    bytes.enter('a', 1),
    bytes.enter('b', 100),
  ]).toEqual([undefined, undefined, refused, undefined]);
  bytes.leave('a', 60);
  expect([bytes.enter('a', 61), bytes.enter('a', 60)]).toEqual([refused, undefined]);
});

test('R6: a body that is larger than all that an account may hold is taken when it is alone', () => {
  const bytes = new BodyBudget(100);
  expect([bytes.enter('a', 500), bytes.enter('a', 1)]).toEqual([undefined, refused]);
  bytes.leave('a', 500);
  expect(bytes.enter('a', 1)).toBeUndefined();
});

test('R6: a body that grows is counted once, when it is alone without a limit', () => {
  const bytes = new BodyBudget(500_000);
  const [one, other] = [new HeldBody(bytes, 'a'), new HeldBody(bytes, 'a')];
  expect([one.resize(300_000), one.resize(400_000), one.resize(600_000)]).toEqual(
    Array(3).fill(undefined),
  );
  expect([other.resize(uncountedBytes), other.resize(uncountedBytes + 1)]).toEqual([
    undefined,
    refused,
  ]);
  expect([one.resize(300_000), other.resize(200_000), one.resize(300_001)]).toEqual([
    undefined,
    undefined,
    refused,
  ]);
  one.release();
  expect([one.resize(500_000), other.resize(500_000)]).toEqual([undefined, undefined]);
  other.release();
  expect(bytes.enter('a', 500_000)).toBeUndefined();
});

test('R6: an account runs one task at a time, and another account does not wait for it', async () => {
  const turns = new AccountQueue();
  const begun: string[] = [];
  const over: (() => void)[] = [];
  for (const [account, name] of [
    ['a', '1'],
    ['a', '2'],
    ['b', '3'],
  ] as const)
    turns.take(account, (end) => {
      begun.push(name);
      over.push(end);
    });
  expect(begun).toEqual(['1', '3']);
  over[0]?.();
  await expect.poll(() => begun).toEqual(['1', '3', '2']);
  over[2]?.();
  turns.take('a', () => begun.push('4'));
  expect(begun).toEqual(['1', '3', '2', '4']);
});
