import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { uncountedBytes } from '../src/http/request-body.ts';
import { newCustomer } from './support/customer.ts';
import { hello, oneModel } from './support/running.ts';
import { startWithVendor } from './support/with-vendor.ts';

const mebi = 1024 * 1024;

test('R6: 40 large bodies at once from an account without money: most are not read, none is counted, and others are served meanwhile', async () => {
  const { running } = await startWithVendor(oneModel, {
    yuan: '10',
    limits: { bodyBytesInFlightMax: 16 * mebi },
  });
  const poor = await newCustomer(running.gateway.database, 10_000_000n);
  const crowd = (count: number) => crowdOf(running.url, poor.key.secret, count);
  let busy = true;
  const waits: number[] = [];
  const others = (async () => {
    while (busy) {
      const begun = performance.now();
      expect((await running.post('/v1/chat/completions', hello)).status).toBe(200);
      waits.push(performance.now() - begun);
    }
  })();
  const answers = await crowd(40);
  busy = false;
  await others;
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
  expect(new Set(answers.map(({ code }) => code))).toEqual(
    new Set(['body_bytes_in_flight', 'insufficient_quota']),
  );
  expect(answers.find(({ code }) => code === 'body_bytes_in_flight')?.retryAfter).toBe('1');
  expect(Math.max(...waits)).toBeLessThan(2_500);
  // All have gone: there is room again.
  expect(await crowd(1)).toMatchObject([{ code: 'insufficient_quota' }]);
});

const forms = ['that tell no length', 'that came packed', 'that are large even packed'] as const;

test.each(forms)('R6: large bodies %s are held to the same limit', async (form) => {
  const { vendor, running } = await startWithVendor(oneModel, {
    yuan: '10000',
    limits: { bodyBytesInFlightMax: mebi },
  });
  // The first is with a vendor that says nothing, and holds its body.
  let asked = 0;
  vendor.answer(() => {
    asked += 1;
  });
  // 600 KB of text, which a packer makes 17 KB of. With noise it makes 100 KB of it, which is
  // counted before it is unpacked.
  const noise = form === 'that are large even packed' ? randomBytes(60_000).toString('base64') : '';
  const content = noise + randomBytes(10_000).toString('hex').repeat(30);
  const text = JSON.stringify({ ...hello, stream: true, messages: [{ role: 'user', content }] });
  const packed = form !== 'that tell no length';
  const headers = {
    authorization: `Bearer ${running.key}`,
    'content-type': 'application/json',
    ...(packed && { 'content-encoding': 'gzip' }),
  };
  const send = (signal: AbortSignal): Promise<Response> =>
    fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      ...(packed ? { body: gzipSync(text) } : { body: new Blob([text]).stream(), duplex: 'half' }),
      signal,
    });
  // An aborted fetch does not always close the connection of a streamed body; this client does.
  const first = request(`${running.url}/v1/chat/completions`, { method: 'POST', headers });
  first.on('error', () => {});
  // Bytes that are written before the end are sent without their length.
  if (!packed) first.write(text);
  first.end(packed ? gzipSync(text) : undefined);
  await expect.poll(() => asked).toBe(1);
  const second = await send(AbortSignal.timeout(20_000));
  expect([second.status, await second.text()]).toEqual([
    429,
    expect.stringContaining('body_bytes_in_flight'),
  ]);
  first.destroy();
  // Served: the vendor says nothing, so no answer comes. A controller of our own ends the wait: Node
  // 20 may collect a signal of AbortSignal.timeout that only a fetch refers to.
  const third = async (): Promise<number | 'served'> => {
    const waiting = new AbortController();
    const timer = setTimeout(() => waiting.abort(), 500);
    return send(waiting.signal)
      .then(
        ({ status }) => status,
        () => 'served' as const,
      )
      .finally(() => clearTimeout(timer));
  };
  await expect.poll(third, { timeout: 10_000 }).toBe('served');
});

test.each(['/v1/chat/completions', '/v1/images/edits'])(
  'R6: bodies that tell no length are counted while they arrive at %s',
  async (path) => {
    const { running } = await startWithVendor(oneModel, {
      yuan: '10',
      limits: { bodyBytesInFlightMax: 5 * mebi },
    });
    const headers = {
      authorization: `Bearer ${running.key}`,
      'content-type': 'application/json',
      'transfer-encoding': 'chunked',
    };
    // None of them ends.
    const statuses: (number | undefined)[] = [];
    const crowd = Array.from({ length: 20 }, () => {
      const sending = request(`${running.url}${path}`, { method: 'POST', headers });
      sending.on('error', () => {});
      sending.on('response', ({ statusCode }) => statuses.push(statusCode));
      sending.write(Buffer.alloc(mebi - uncountedBytes, ' '));
      return sending;
    });
    await expect.poll(() => statuses).toEqual(Array(15).fill(429));
    for (const sending of crowd) sending.destroy();
    await expect
      .poll(async () => (await running.post('/v1/chat/completions', hello)).status)
      .toBe(200);
  },
);

test('R6: of many packed bodies of one account one is unpacked at a time, and another account does not wait', async () => {
  const { running } = await startWithVendor(oneModel, { yuan: '10' });
  const poor = await newCustomer(running.gateway.database, 10_000_000n);
  // 20 MiB each, as far as they are unpacked.
  const body = gzipSync(Buffer.alloc(100 * mebi, ' '));
  const headers = {
    authorization: `Bearer ${poor.key.secret}`,
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  };
  const before = process.memoryUsage().rss;
  let most = 0;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss - before);
  }, 2);
  let left = 40;
  const crowd = Array.from({ length: left }, async () => {
    const { status } = await fetch(`${running.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body,
    });
    left -= 1;
    return status;
  });
  const other = await fetch(`${running.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${running.key}` },
    body: gzipSync(JSON.stringify(hello)),
  });
  expect([other.status, left > 20]).toEqual([200, true]);
  expect(new Set(await Promise.all(crowd))).toEqual(new Set([400]));
  clearInterval(watch);
  expect(most / mebi).toBeLessThan(300);
});

interface Answered {
  readonly status: number;
  readonly code: string;
  readonly retryAfter: string | null;
}

/**
 * So many requests of five megabytes of text at once, from a thread of their own: sending shall not
 * be what others wait for.
 */
function crowdOf(url: string, key: string, count: number): Promise<readonly Answered[]> {
  const script = `
    const { workerData: { url, key, count }, parentPort } = require('node:worker_threads');
    const messages = [{ role: 'user', content: 'word '.repeat(1_048_576) }];
    const body = JSON.stringify({ model: 'm1', max_tokens: 50, messages });
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' };
    const ask = async () => {
      const response = await fetch(url + '/v1/chat/completions', { method: 'POST', headers, body });
      const { error } = await response.json();
      return { status: response.status, code: error.code, retryAfter: response.headers.get('retry-after') };
    };
    Promise.all(Array.from({ length: count }, ask)).then((answers) => parentPort.postMessage(answers));`;
  return new Promise((resolve, reject) => {
    const worker = new Worker(script, { eval: true, workerData: { url, key, count } });
    worker.on('message', (answers: readonly Answered[]) => {
      resolve(answers);
      void worker.terminate();
    });
    worker.on('error', reject);
  });
}
