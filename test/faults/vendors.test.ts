import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer as createSecureServer } from 'node:https';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { nanoPerYuan } from '../../src/base/money.ts';
import { check } from '../../src/ledger/check.ts';
import { proofs, migrations } from '../../src/app/schema.ts';
import { open } from '../../src/storage/open.ts';
import { sqliteUrl } from '../databases.ts';
import { relayTo } from '../relay.ts';
import { certificate, type Certified } from '../support/certificate.ts';
import { newCustomer } from '../support/customer.ts';
import { startProcess } from '../support/process.ts';
import { hello, startRunning } from '../support/running.ts';
import {
  chunk,
  completion,
  json,
  sse,
  startVendor,
  usageChunk,
} from '../support/scripted-vendor.ts';

const listening = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });

/** A vendor behind TLS, and how many requests it has seen. */
async function startSecure({
  key,
  cert,
}: Certified): Promise<{ readonly url: string; readonly heard: () => number }> {
  let heard = 0;
  const server = createSecureServer({ key, cert }, (request, response) => {
    heard++;
    request.resume().on('end', () => json(response, 200, completion()));
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `https://127.0.0.1:${await listening(server)}`, heard: () => heard };
}

const later = new Date('2099-01-01');
const model = (id: string): string =>
  `  - { id: ${id}, owned_by: x, kind: chat, context: 128000, max_output: 1000, price: { input: 1000, output: 1000 } }`;
const channel = (name: string, url: string, more = ''): string =>
  `  - { name: ${name}, vendor: openai, base_url: "${url}/v1", api_key: secret-key${more === '' ? `, models: [${name}]` : more} }`;

test('whose certificate is signed by itself, for another host or over gets no request, no key and no money; the client is told 503', {
  timeout: 60_000,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-tls-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const issuer = certificate(
    { name: 'Authority', host: 'authority.example', notAfter: later },
    true,
  );
  const local = { name: 'vendor', host: '127.0.0.1', notAfter: later, issuer };
  const vendors = {
    good: await startSecure(certificate(local)),
    'self-signed': await startSecure(
      certificate({ name: 'vendor', host: '127.0.0.1', notAfter: later }),
    ),
    'other-host': await startSecure(certificate({ ...local, host: 'other.example' })),
    expired: await startSecure(certificate({ ...local, notAfter: new Date('2021-01-01') })),
  };
  const mute = createServer((socket) => onTestFinished(() => void socket.destroy()));
  onTestFinished(() => void mute.close());
  const addresses = [...Object.entries(vendors).map(([name, { url }]) => [name, url] as const)];
  // Its handshake is waited for for five seconds.
  if (process.env['LONG_TESTS'] === 'true')
    addresses.push(['mute', `https://127.0.0.1:${await listening(mute)}`]);
  const configuration = `models:\n${addresses.map(([name]) => model(name)).join('\n')}\nchannels:\n${addresses.map(([name, url]) => channel(name, url)).join('\n')}\n`;
  const trusted = join(folder, 'authority.pem');
  await writeFile(trusted, issuer.cert);
  const gateway = await startProcess({
    folder,
    configuration,
    env: { NODE_EXTRA_CA_CERTS: trusted, TOLLGATE_LOG: 'warn' },
  });
  onTestFinished(() => gateway.kill());
  const database = await open(`sqlite:${join(folder, 'tollgate.db')}`);
  onTestFinished(() => database.close());
  const { key, userId } = await newCustomer(database, nanoPerYuan);
  const ask = (name: string): Promise<Response> =>
    fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, model: name }),
    });
  const answers = await Promise.all(
    addresses.map(async ([name]) => [name, await ask(name)] as const),
  );
  for (const [name, answer] of answers) {
    expect(answer.status, name).toBe(name === 'good' ? 200 : 503);
    if (name === 'good') continue;
    expect(Number(answer.headers.get('retry-after')), name).toBeGreaterThan(0);
    expect(await answer.json(), name).toMatchObject({
      error: { type: 'service_unavailable_error' },
    });
  }
  expect(Object.values(vendors).map(({ heard }) => heard())).toEqual([1, 0, 0, 0]);
  expect(await database.query('SELECT account FROM usage')).toEqual([{ account: userId }]);
  // The operator reads why.
  expect(await gateway.stop()).toBe(0);
  expect(gateway.output()).toMatch(/SELF_SIGNED|UNABLE_TO_VERIFY|DEPTH_ZERO/);
  expect(gateway.output()).toContain('ALTNAME_INVALID');
  expect(gateway.output()).toContain('CERT_HAS_EXPIRED');
  expect(await check(database, proofs)).toMatchObject({ ok: true, problems: [] });
});

test('what a vendor says of a time-out may hold our key and the prompt: the log has none of it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-log-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const vendor = await startVendor();
  const configuration = `models:\n${model('m1')}\nchannels:\n${channel('m1', vendor.url)}\n`;
  const gateway = await startProcess({ folder, configuration, env: { TOLLGATE_LOG: 'info' } });
  onTestFinished(() => gateway.kill());
  const database = await open(`sqlite:${join(folder, 'tollgate.db')}`);
  onTestFinished(() => database.close());
  const { key } = await newCustomer(database, nanoPerYuan);
  const message = 'the key sk-of-the-house took too long for: tell me of my illness';
  vendor.answer((_request, reply) => json(reply, 408, JSON.stringify({ error: { message } })));
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.secret}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...hello, model: 'm1' }),
  });
  expect(answer.status).toBe(503);
  expect(await gateway.stop()).toBe(0);
  expect(gateway.output()).toContain('"fault":"timeout"');
  expect(gateway.output()).not.toMatch(/sk-of-the-house|illness/);
});

const twoChannels = (first: string, second: string): string =>
  `models:\n${model('m1')}\nchannels:\n${channel('first', first, ', models: [m1]')}\n${channel('second', second, ', models: [m1], priority: 1')}\n`;

test('a vendor whose machine vanished without a word: kept connections stay half open, and requests go on elsewhere in time', async () => {
  const [first, second] = [await startVendor(), await startVendor()];
  const relay = await relayTo(first.url);
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: twoChannels(relay.url.replace(/\/$/, ''), second.url),
    limits: { whole: { firstByteTimeoutMs: 1_000, idleTimeoutMs: 1_000 } },
  });
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  relay.mute();
  const answers = await Promise.all(
    Array.from({ length: 6 }, () => running.post('/v1/chat/completions', hello)),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
  expect(second.received).toHaveLength(6);
  // By now it is known: nobody waits for it any more.
  expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
  expect((await running.usage()).at(-1)).toMatchObject({ channel: 'second', attempts: 1n });
  await running.expectBooks();
});

test('a vendor that dribbles is read as it comes; one that falls silent in the middle is charged for what it said and blamed', async () => {
  const [first, second] = [await startVendor(), await startVendor()];
  const running = await startRunning({
    databaseUrl: await sqliteUrl(migrations),
    configuration: twoChannels(first.url, second.url),
    limits: { stream: { firstByteTimeoutMs: 2_000, idleTimeoutMs: 1_000 } },
  });
  const events = [
    chunk({ role: 'assistant', content: '' }),
    ...Array.from({ length: 8 }, () => chunk({ content: 'word ' })),
  ];
  first.answer((_request, response) => {
    const stream = sse(response);
    const left = [...events, chunk({}, 'stop'), usageChunk, 'data: [DONE]\n\n'];
    const timer = setInterval(
      () => (left.length === 0 ? clearInterval(timer) : stream.write(left.shift())),
      60,
    );
    response.on('close', () => clearInterval(timer));
  });
  const slow = await (
    await running.post('/v1/chat/completions', { ...hello, stream: true })
  ).text();
  expect(slow.match(/word /g)).toHaveLength(8);
  expect(slow).toContain('[DONE]');
  first.answer((_request, response) => sse(response).write(events.join('')));
  const cut = await (await running.post('/v1/chat/completions', { ...hello, stream: true })).text();
  expect(cut).toContain('"error"');
  expect(cut).not.toContain('[DONE]');
  expect(second.received).toHaveLength(0);
  expect(await running.usage()).toHaveLength(2);
  await running.expectBooks();
});
