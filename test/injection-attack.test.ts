import { createServer } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { migrations } from '../src/app/schema.ts';
import { type Fresh, forEachDatabase, sqliteUrl } from './databases.ts';
import { hello, oneModel, type Running, startRunning } from './support/running.ts';
import { startVendor } from './support/scripted-vendor.ts';

async function start(fresh?: Fresh) {
  const vendor = await startVendor();
  const databaseUrl =
    fresh === undefined ? await sqliteUrl(migrations) : (await fresh(migrations)).url;
  return {
    vendor,
    running: await startRunning({ databaseUrl, configuration: oneModel(vendor.url) }),
  };
}

const chat = '/v1/chat/completions';
const injections = [
  "' OR '1'='1",
  "x'; DROP TABLE usage; --",
  '" OR 1=1 --',
  '$1',
  '%',
  '_',
  "\\'",
  '${7*7}{{7*7}}',
  '../../etc/passwd',
  '%00',
];

forEachDatabase((_name, _open, fresh) => {
  test('what is written into keys, headers, paths, queries and names of models is looked for, not run', async () => {
    const { vendor, running } = await start(fresh);
    const { url, key, gateway } = running;
    const asked: readonly ((text: string) => Promise<Response>)[] = [
      (text) => running.post(chat, hello, { headers: { authorization: `Bearer ${text}` } }),
      (text) => running.post(chat, hello, { headers: { authorization: `Bearer ${key}${text}` } }),
      (text) =>
        running.post('/v1/messages', hello, { headers: { authorization: '', 'x-api-key': text } }),
      (text) => running.post(chat, { ...hello, model: text }),
      (text) =>
        fetch(`${url}/v1/models/${encodeURIComponent(text)}`, {
          headers: { authorization: `Bearer ${key}` },
        }),
      (text) =>
        fetch(`${url}/v1/responses/${encodeURIComponent(text)}`, {
          headers: { authorization: `Bearer ${key}` },
        }),
      (text) =>
        fetch(`${url}/v1/video/generations/${encodeURIComponent(text)}`, {
          headers: { authorization: `Bearer ${key}` },
        }),
      (text) =>
        running.post('/v1/responses', { model: 'm1', input: 'Hello', previous_response_id: text }),
      (text) =>
        fetch(
          `${url}/files/${encodeURIComponent(text)}?expires=9&signature=${encodeURIComponent(text)}`,
        ),
      (text) =>
        fetch(`${url}/console/api/usage?after=${encodeURIComponent(text)}`, {
          headers: { cookie: `tollgate_session=${encodeURIComponent(text)}` },
        }),
    ];
    for (const ask of asked)
      for (const text of injections) {
        const { status } = await ask(text);
        expect([400, 401, 404], `${text} → ${status}`).toContain(status);
      }
    for (const text of injections) {
      const repeated = await running.post(chat, hello, {
        headers: { 'idempotency-key': `k${text}` },
      });
      expect([200, 400]).toContain(repeated.status);
    }
    expect(vendor.received.every(({ text }) => JSON.parse(text).model === 'up')).toBe(true);
    expect(await gateway.database.query('SELECT COUNT(*) AS keys FROM api_keys')).toEqual([
      { keys: 1n },
    ]);
    await running.expectBooks();
  });
});

test('a key is known by all of its hash: not by its beginning, not by the hash itself, not by another case', async () => {
  const { vendor, running } = await start();
  const { key, gateway } = running;
  expect((await running.post(chat, hello)).status).toBe(200);
  const [row] = await gateway.database.query('SELECT hash FROM api_keys');
  const last = key.endsWith('a') ? 'b' : 'a';
  const others = [
    key.slice(0, -1),
    key.slice(0, -1) + last,
    `${key}a`,
    key.toUpperCase(),
    key.slice(0, 20),
    String(row?.['hash']),
    `sk-${String(row?.['hash'])}`,
  ];
  for (const other of others) {
    for (const headers of [
      { authorization: `Bearer ${other}` },
      { authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` },
    ]) {
      const reply = await running.post(chat, hello, { headers });
      expect(reply.status, other).toBe(401);
      expect(await reply.text()).not.toContain(other.slice(0, 20));
    }
  }
  expect(vendor.received).toHaveLength(1);
});

test('no client chooses where its request goes', async () => {
  const { vendor, running } = await start();
  let lured = 0;
  const evil = createServer((_request, response) => {
    lured += 1;
    response.end('{}');
  });
  await new Promise<void>((resolve) => {
    evil.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void evil.close());
  const address = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`;
  const headers: Record<string, string> = {};
  for (const name of [
    'x-portkey-custom-host',
    'x-base-url',
    'x-forwarded-host',
    'x-upstream-url',
    'x-original-url',
    'x-rewrite-url',
    'forwarded',
    'openai-organization',
  ])
    headers[name] = address;
  const more = {
    api_base: address,
    base_url: address,
    api_key: 'mine',
    provider: { base_url: address },
    custom_llm_provider: 'x',
    extra_headers: { host: address },
  };
  expect((await running.post(chat, { ...hello, ...more }, { headers })).status).toBe(200);
  expect(lured).toBe(0);
  const [received] = vendor.received;
  expect(received?.headers['authorization']).toBe('Bearer up-key');
  for (const name of Object.keys(headers)) expect(received?.headers[name], name).toBeUndefined();
  expect(JSON.stringify(received?.headers)).not.toContain(running.key);
});

/**
 * What a connection on which these bytes were sent was told, until it was closed or nothing more
 * came.
 */
function told({ url }: Running, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () =>
      socket.write(bytes, 'latin1'),
    );
    let text = '';
    const over = setTimeout(() => socket.destroy(), 400);
    socket.on('data', (piece) => (text += piece.toString('latin1'))).on('error', () => {});
    socket.on('close', () => {
      clearTimeout(over);
      resolve(text);
    });
  });
}

test('a request that might be read as two is none', async () => {
  const { vendor, running } = await start();
  const inner = JSON.stringify(hello);
  const head = (more: string, host = 'host: x\r\n'): string =>
    `POST ${chat} HTTP/1.1\r\n${host}authorization: Bearer ${running.key}\r\ncontent-type: application/json\r\n${more}`;
  const smuggled = `${head(`content-length: ${inner.length}\r\n\r\n`)}${inner}`;
  const doubtful = [
    `content-length: 0\r\ncontent-length: ${smuggled.length}\r\n\r\n`,
    `content-length: 0, ${smuggled.length}\r\n\r\n`,
    'content-length: +0\r\n\r\n',
    'content-length : 0\r\n\r\n',
    'content-length: 0x0\r\n\r\n',
    'content-length: 0\r\n transfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'content-length: 0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
    'transfer-encoding : chunked\r\n\r\n0\r\n\r\n',
    'transfer-encoding: xchunked\r\n\r\n0\r\n\r\n',
    'transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n',
    'transfer-encoding: \x0bchunked\r\n\r\n0\r\n\r\n',
    'transfer-encoding: chunked\r\n\r\n0;\n\r\n\r\n',
    'transfer-encoding: chunked\r\n\r\n-0\r\n\r\n',
    'transfer-encoding: chunked\r\n\r\n0\n\n',
    'x: a\ncontent-length: 0\r\n\r\n',
    'x: a\rcontent-length: 0\r\n\r\n',
    'x\0: a\r\ncontent-length: 0\r\n\r\n',
  ];
  for (const more of doubtful) {
    const text = await told(running, head(more) + smuggled);
    expect(text.slice(0, 12), JSON.stringify(more)).toBe('HTTP/1.1 400');
    expect(text.match(/HTTP\/1\.1 /g), JSON.stringify(more)).toHaveLength(1);
  }
  expect((await told(running, head('content-length: 0\r\n\r\n', ''))).slice(0, 12)).toBe(
    'HTTP/1.1 400',
  );
  expect(vendor.received).toHaveLength(0);
  expect(await running.usage()).toHaveLength(0);
});
