import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { nanoPerYuan } from '../src/base/money.ts';
import { open } from '../src/storage/open.ts';
import { newCustomer } from './support/customer.ts';
import { startProcess } from './support/process.ts';

const mebi = 1024 * 1024;
/** As large as a form with it may be: 25 MiB, but for the head. */
const fileBytes = 25 * mebi;
const raisedBytesMax = 10_000_000;

/** A vendor that reads what it is sent and keeps none of it, slower than it comes. */
async function vendor(): Promise<{ url: string; bytes: () => number }> {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on('data', (piece: Buffer) => {
      bytes += piece.length;
      request.pause();
      setImmediate(() => request.resume());
    });
    request.on('end', () =>
      response
        .setHeader('content-type', 'application/json')
        .end('{"text":"Hello.","usage":{"type":"duration","seconds":546}}'),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  const address = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${address.port}`, bytes: () => bytes };
}

/** Seconds of silence at 24 kHz. */
function recording(): Buffer {
  const file = Buffer.alloc(fileBytes);
  file.write(
    'RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\xc0\x5d\0\0\x80\xbb\0\0\x02\0\x10\0data\xff\xff\xff\xff',
    'latin1',
  );
  return file;
}

const memoryOf = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)])) * 1024;

/** Memory once it stands still: a process that has just begun still reads and compiles. */
async function settled(pid: number): Promise<number> {
  for (let before = memoryOf(pid); ; ) {
    await wait(1_500);
    const now = memoryOf(pid);
    if (Math.abs(now - before) < 300_000) return now;
    before = now;
  }
}

test('a recording of 25 MB, the first of its process, goes through without being held: memory rises by less than 10 MB', async () => {
  const { url: vendorUrl, bytes } = await vendor();
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-memory-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const configuration = `
groups: [{ name: default, price_multiplier: 1.0 }]
models: [{ id: ear, owned_by: simulator, kind: transcription, price: { second: 0.0001 } }]
channels: [{ name: a, vendor: openai, base_url: "${vendorUrl}/v1", api_key: up, groups: [default], models: [{ id: ear, upstream: whisper-1 }] }]
`;
  const gateway = await startProcess({ folder, configuration, env: { DATABASE_URL: '' } });
  onTestFinished(() => gateway.kill());
  const database = await open(`sqlite:${join(folder, 'tollgate.db')}`);
  onTestFinished(() => database.close());
  const { key } = await newCustomer(database, 100n * nanoPerYuan);
  const file = recording();
  const send = async (size: number): Promise<void> => {
    const form = new FormData();
    form.append('model', 'ear');
    form.append('file', new Blob([new Uint8Array(file.buffer, 0, size)]), 'a.wav');
    const reply = await fetch(`${gateway.url}/v1/audio/transcriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.secret}` },
      body: form,
    });
    expect([reply.status, await reply.text()]).toEqual([200, expect.stringContaining('Hello.')]);
  };
  const { pid = 0 } = gateway.child;
  // The first call of a process to a vendor has V8 compile undici's parser of replies, for which it
  // takes 28 MB for a tenth of a second: no part of this.
  await send(mebi / 256);
  const before = await settled(pid);
  let most = 0;
  let looking = true;
  const watching = (async () => {
    while (looking) {
      most = Math.max(most, memoryOf(pid));
      await wait(2);
    }
  })();
  await send(fileBytes);
  looking = false;
  await watching;
  expect(bytes()).toBeGreaterThan(fileBytes);
  console.info(`memory rose by ${((most - before) / 1e6).toFixed(1)} MB`);
  expect(most - before).toBeLessThan(raisedBytesMax);
}, 60_000);
