import { readdirSync, readlinkSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { type FileStore, type FileStoreOptions, fileStore } from '../../test/support/file-store.ts';
import { png } from '../../test/support/png.ts';
import { openFramework } from '../http/framework.ts';
import { serverLimits } from '../http/server.ts';
import { isNotStored, type StoredFile } from '../media/files.ts';
import { FileHandler } from './file-handler.ts';
import { systemClock } from '../base/clock.ts';
import { answerUnreadable } from './errors.ts';

const drawing = Buffer.from(
  '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
);
/** More than a connection holds by itself. */
const videoBytes = 16_000_000;
const video = Buffer.concat([
  Buffer.from('\0\0\0\x18ftypmp42\0\0\0\0', 'latin1'),
  Buffer.alloc(videoBytes, 7),
]);

interface Served {
  readonly store: FileStore;
  readonly origin: string;
  readonly host: string;
  readonly bugs: unknown[];
  readonly handler: FileHandler;
  put(content: Buffer, kind?: 'image' | 'video'): Promise<StoredFile>;
  url(file: StoredFile): string;
}

type OpenFresh = Parameters<typeof fileStore>[0];

async function served(openFresh: OpenFresh, options?: FileStoreOptions): Promise<Served> {
  const store = await fileStore(openFresh, options);
  const server = openFramework(serverLimits, answerUnreadable(systemClock));
  const bugs: unknown[] = [];
  const clock = { now: () => store.time, monotonicMs: () => store.time };
  const handler = new FileHandler(store.files, clock, (_, error) => bugs.push(error));
  handler.openOn(server);
  const origin = await server.listen({ host: '127.0.0.1', port: 0 });
  onTestFinished(async () => {
    server.server.closeAllConnections();
    await server.close();
  });
  const host = new URL(origin).host;
  return {
    store,
    origin,
    host,
    bugs,
    handler,
    url: (file) => store.files.urlOf(file, host),
    async put(content, kind = 'image') {
      const file = await store.files.put(content, { account: 'ada', kind });
      if (isNotStored(file)) throw new Error(file.detail);
      return file;
    },
  };
}

const bodyOf = async (response: Response): Promise<Buffer> =>
  Buffer.from(await response.arrayBuffer());
async function codeOf(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: { code: unknown } };
  return [response.status, error.code];
}
const notFound = [404, 'file_not_found'];

/** Files of this process that are open below the temporary folders of tests. */
const openHandles = (): string[] =>
  readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${fd}`);
      return target.includes('tollgate-media-') ? [target] : [];
    } catch {
      return [];
    }
  });

forEachDatabase((_, openFresh) => {
  describe('a file is sent to a client that has its address', () => {
    test('whole, with what tells browsers to show it and run nothing', async () => {
      const { put, url, store } = await served(openFresh);
      const file = await put(png);
      expect(url(file)).toMatch(
        /^http:\/\/127\.0\.0\.1:\d+\/files\/file_[A-Za-z0-9]{32}\.png\?expires=\d+&signature=[\w-]{43}$/,
      );
      const response = await fetch(url(file));
      expect(response.status).toBe(200);
      expect(await bodyOf(response)).toEqual(png);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'image/png',
        'content-length': String(png.length),
        'x-content-type-options': 'nosniff',
        'content-security-policy': "sandbox; default-src 'none'",
        'content-disposition': `inline; filename="${file.id}.png"`,
        'accept-ranges': 'bytes',
        etag: `"${file.id}"`,
        'cache-control': 'private, max-age=86400, immutable',
        'last-modified': new Date(store.time).toUTCString(),
        'access-control-allow-origin': '*',
      });
    });

    test('in ranges, as players ask for it', async () => {
      const { put, url } = await served(openFresh);
      const file = await put(video, 'video');
      const ask = (headers: Record<string, string>, method = 'GET') =>
        fetch(url(file), { method, headers });
      const part = await ask({ range: 'bytes=1000000-1999999' });
      expect([part.status, part.headers.get('content-range')]).toEqual([
        206,
        `bytes 1000000-1999999/${video.length}`,
      ]);
      expect((await bodyOf(part)).equals(video.subarray(1_000_000, 2_000_000))).toBe(true);
      expect(await bodyOf(await ask({ range: 'bytes=-4' }))).toEqual(Buffer.alloc(4, 7));
      const beyond = await ask({ range: `bytes=${video.length}-` });
      expect(beyond.headers.get('content-range')).toBe(`bytes */${video.length}`);
      expect(beyond.headers.get('cache-control')).toBeNull();
      expect(await codeOf(beyond)).toEqual([416, 'range_not_satisfiable']);
      const head = await ask({ range: 'bytes=0-9' }, 'HEAD');
      expect([
        head.status,
        head.headers.get('content-length'),
        (await bodyOf(head)).length,
      ]).toEqual([206, '10', 0]);
      const bomb = await ask({ range: `bytes=${'0-,'.repeat(2_000)}0-` });
      expect([bomb.status, (await bodyOf(bomb)).length]).toEqual([200, video.length]);
    });

    test('the rest of it only to a client that has the beginning of the same file', async () => {
      const { put, url } = await served(openFresh);
      const file = await put(png);
      const status = async (headers: Record<string, string>) =>
        (await fetch(url(file), { headers })).status;
      const range = 'bytes=5-9';
      expect(await status({ range, 'if-range': `"${file.id}"` })).toBe(206);
      expect(await status({ range, 'if-range': new Date(file.createdAt).toUTCString() })).toBe(206);
      expect(await status({ range, 'if-range': '"another"' })).toBe(200);
      expect(await status({ range, 'if-range': `W/"${file.id}"` })).toBe(200);
      expect(await status({ 'if-none-match': `"other", W/"${file.id}"` })).toBe(304);
      expect(await status({ 'if-none-match': '"other"' })).toBe(200);
    });

    test('a drawing that could run is saved, not shown', async () => {
      const { put, url } = await served(openFresh);
      const response = await fetch(url(await put(drawing)));
      expect(response.headers.get('content-type')).toBe('image/svg+xml');
      expect(response.headers.get('content-disposition')).toMatch(
        /^attachment; filename="file_\w+\.svg"$/,
      );
      expect(response.headers.get('content-security-policy')).toBe("sandbox; default-src 'none'");
    });
  });

  describe('and to nobody else', () => {
    test.each<[string, (url: string, other: string) => string]>([
      ['without a signature', (url) => url.replace(/&signature=.*/, '')],
      ['without an end', (url) => url.replace(/expires=\d+&/, '')],
      ['with a later end', (url) => url.replace(/expires=(\d)/, 'expires=9')],
      ['with an end that is no number', (url) => url.replace(/expires=\d+/, 'expires=Infinity')],
      ['with another signature', (url) => url.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A'))],
      ['with a short signature', (url) => url.slice(0, -20)],
      ['with an empty signature', (url) => url.replace(/signature=.*/, 'signature=')],
      [
        'with the signature of another file',
        (url, other) => url.replace(/\?.*/, other.replace(/.*\?/, '?')),
      ],
      ['with another ending', (url) => url.replace('.png?', '.svg?')],
      ['with more behind the name', (url) => url.replace('.png?', '.png/x?')],
      ['through a folder above', (url) => url.replace('/files/', '/files/..%2f..%2fetc%2fpasswd/')],
      ['through encoded dots', (url) => url.replace('/files/', '/files/%2e%2e%2f%2e%2e%2f')],
      ['with an encoded name', (url) => url.replace('file_', 'file%5f')],
      ['with a zero byte', (url) => url.replace('.png?', '%00.png?')],
      ['with a name that is a path', (url) => url.replace(/file_\w+/, '..%5c..%5cmaster')],
    ])('%s', async (_title, change) => {
      const { put, url } = await served(openFresh);
      const changed = change(url(await put(png)), url(await put(png)));
      const response = await fetch(changed);
      expect(await codeOf(response)).toEqual(notFound);
    });

    test('nor after its end', async () => {
      const { put, url, store } = await served(openFresh);
      const address = url(await put(png));
      store.time += 86_400_000 - 1_000;
      expect((await fetch(address)).headers.get('cache-control')).toBe(
        'private, max-age=1, immutable',
      );
      store.time += 1_000;
      expect(await codeOf(await fetch(address))).toEqual(notFound);
    });

    test('nor once it is removed, or when its bytes are gone', async () => {
      const { put, url, store } = await served(openFresh);
      const [one, two] = [await put(png), await put(png)];
      expect(await store.files.remove('bob', one.id)).toBe(false);
      expect((await fetch(url(one))).status).toBe(200);
      expect(await store.files.remove('ada', one.id)).toBe(true);
      expect(await codeOf(await fetch(url(one)))).toEqual(notFound);
      await store.blobs.remove(two.id);
      expect(await codeOf(await fetch(url(two)))).toEqual(notFound);
    });

    test('nor with a method that would change it', async () => {
      const { put, url } = await served(openFresh);
      const address = url(await put(png));
      for (const method of ['POST', 'PUT', 'DELETE'])
        expect((await fetch(address, { method })).status, method).toBe(404);
      expect((await fetch(address)).status).toBe(200);
    });
  });

  describe('addresses are our own', () => {
    test('that of who asks, and of nobody that a header names', async () => {
      const { put, store } = await served(openFresh);
      const file = await put(png);
      const at = (host: string | undefined) => store.files.urlOf(file, host).replace(/files.*/, '');
      expect(at('ai.example.com')).toBe('http://ai.example.com/');
      expect(at('ai.example.com:8080')).toBe('http://ai.example.com:8080/');
      expect(at('[::1]:8080')).toBe('http://[::1]:8080/');
      for (const wrong of [
        '',
        'a b',
        'x/y',
        'a@b',
        'x\r\nset-cookie: a',
        'evil.com/?',
        '"><script>',
        'a#b',
        '-',
        undefined,
      ])
        expect(at(wrong), String(wrong)).toBe('/');
    });

    test('that which is configured, whatever the host', async () => {
      const { put, store } = await served(openFresh, { publicUrl: 'https://ai.example.com/gate' });
      expect(store.files.urlOf(await put(png), 'evil.com')).toMatch(
        /^https:\/\/ai\.example\.com\/gate\/files\/file_/,
      );
    });
  });

  describe('readers hold nothing for ever', () => {
    test('clients that leave in the middle or read nothing leave no file open', async () => {
      const { put, url, origin } = await served(openFresh);
      const address = new URL(url(await put(video, 'video')));
      const before = openHandles().length;
      const { port } = new URL(origin);
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      socket.write(`GET ${address.pathname}${address.search} HTTP/1.1\r\nhost: x\r\n\r\n`);
      await new Promise((resolve) => socket.once('data', resolve));
      socket.pause();
      await expect.poll(() => openHandles().length).toBe(before + 1);
      socket.destroy();
      await expect.poll(() => openHandles().length).toBe(before);
      const aborted = new AbortController();
      const response = await fetch(address, { signal: aborted.signal });
      await response.body?.getReader().read();
      aborted.abort();
      await expect.poll(() => openHandles().length).toBe(before);
    });

    test('so many at a time, then a refusal that says so, then again', async () => {
      const { put, url } = await served(openFresh);
      const address = url(await put(video, 'video'));
      const slow = Array.from({ length: 64 }, () => stalledReader(address));
      await Promise.all(slow.map(({ begun }) => begun));
      const refused = await fetch(address);
      expect(refused.headers.get('retry-after')).toBe('1');
      expect(await codeOf(refused)).toEqual([429, 'rate_limit_exceeded']);
      for (const { leave } of slow) leave();
      await expect
        .poll(async () => (await fetch(address, { headers: { range: 'bytes=0-0' } })).status)
        .toBe(206);
    });
  });

  test('a running download ends when the node stops; no other begins', async () => {
    const { put, url, handler } = await served(openFresh);
    const address = url(await put(video, 'video'));
    const reading = await fetch(address);
    let drained = false;
    const draining = handler.drain(10_000).then(() => {
      drained = true;
    });
    expect(await codeOf(await fetch(address))).toEqual([503, null]);
    expect(drained).toBe(false);
    expect((await bodyOf(reading)).equals(video)).toBe(true);
    await draining;
    await handler.drain(0);
  });

  test('a database that is away is a 503, which is logged', async () => {
    const { put, url, store, bugs } = await served(openFresh);
    const address = url(await put(png));
    await store.database.close();
    expect((await fetch(address)).status).toBe(503);
    expect(bugs).toHaveLength(1);
  });
});

function stalledReader(url: string): { begun: Promise<void>; leave(): void } {
  const request = httpRequest(url, { agent: false }).on('error', () => {});
  const begun = new Promise<void>((resolve) => {
    request.on('response', (response) => {
      response.pause();
      resolve();
    });
  });
  request.end();
  return { begun, leave: () => request.destroy() };
}
