import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { onSqlite } from '../../test/databases.ts';
import {
  type FileStore,
  type FileStoreOptions,
  fileStore,
  temporaryFolder,
} from '../../test/support/file-store.ts';
import { png } from '../../test/support/png.ts';
import { openFolderBlobs } from '../storage/folder-blobs.ts';
import type { Resolve } from './fetcher.ts';
import type { FileSource, NewFile } from './files.ts';

const image: NewFile = { account: 'ada', kind: 'image' };
const stays = new AbortController().signal;
const nothing = { rows: [], accounts: [], blobs: [] };
const atHome: Resolve = () => Promise.resolve(['127.0.0.1']);

interface Host {
  readonly url: string;
  readonly port: number;
  readonly requests: IncomingMessage[];
}

/** A vendor's host, on this machine. */
async function startHost(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<Host> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.on('error', () => {});
    answer(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, requests };
}

const gives =
  (bytes: Buffer) =>
  (_: unknown, response: ServerResponse): unknown =>
    response.end(bytes);

onSqlite((_, openFresh) => {
  const open = (options?: FileStoreOptions): Promise<FileStore> => fileStore(openFresh, options);
  /** The result of a copy: the type of the stored file, or why nothing was stored. */
  async function copy(
    store: FileStore,
    source: FileSource,
    file = image,
    left = stays,
  ): Promise<string> {
    const got = await store.files.copy(source, file, left);
    return 'why' in got ? `${got.why}: ${got.detail}` : got.type;
  }
  const notPublic = 'unreachable: its host was not found, or is not on the public internet.';

  describe('a vendor gives a file', () => {
    test('at the address that the operator named, private as it may be', async () => {
      const { url } = await startHost(gives(png));
      const store = await open();
      expect(await copy(store, { url: `${url}/a.png?signature=x`, home: `${url}/v1` })).toBe(
        'image/png',
      );
      expect((await store.left()).blobs).toHaveLength(1);
    });

    test('and at no other that is private', async () => {
      const [home, other] = [await startHost(gives(png)), await startHost(gives(png))];
      const store = await open({ resolve: atHome });
      for (const url of [
        `${other.url}/a.png`,
        `http://localhost:${home.port}/a.png`,
        `http://vendor.example:${home.port}/a.png`,
        'http://169.254.169.254/latest/meta-data/',
        'http://[::1]/',
        'http://10.0.0.1/',
      ])
        expect(await copy(store, { url, home: home.url }), url).toBe(notPublic);
      expect(await copy(store, { url: `${home.url}/a.png` })).toBe(notPublic);
      expect(await copy(store, { url: 'file:///etc/passwd', home: 'file:///' })).toContain(
        'file: is neither https: nor http:',
      );
      expect(await copy(store, { url: 'data:image/png;base64,AAAA' })).toContain(
        'data: is neither',
      );
      expect([...home.requests, ...other.requests]).toHaveLength(0);
      expect(await store.left()).toEqual(nothing);
    });

    test('nor where it redirects to what is private', async () => {
      const other = await startHost(gives(png));
      const home = await startHost((_request, response) =>
        response.writeHead(302, { location: `${other.url}/a.png` }).end(),
      );
      expect(await copy(await open(), { url: `${home.url}/a`, home: home.url })).toBe(notPublic);
      expect(other.requests).toHaveLength(0);
    });

    test('to a request with the key, which no other host gets to see', async () => {
      const other = await startHost(gives(png));
      const home = await startHost((request, response) =>
        request.url === '/first'
          ? response.writeHead(302, { location: '/second' }).end()
          : response.writeHead(307, { location: other.url }).end(),
      );
      const store = await open({ downloads: { allowPrivate: ['127.0.0.1'] } });
      const headers = { 'x-goog-api-key': 'secret', authorization: 'Bearer secret' };
      expect(await copy(store, { url: `${home.url}/first`, headers, home: home.url })).toBe(
        'image/png',
      );
      expect(home.requests.map((request) => request.headers['x-goog-api-key'])).toEqual([
        'secret',
        'secret',
      ]);
      expect(other.requests[0]?.headers['x-goog-api-key']).toBeUndefined();
      expect(other.requests[0]?.headers.authorization).toBeUndefined();
      expect(await copy(store, { url: `${other.url}/a.png`, headers, home: home.url })).toBe(
        'image/png',
      );
      expect(other.requests[1]?.headers.authorization).toBeUndefined();
    });

    test('no faster than it can be kept', async () => {
      let sent = 0;
      const video = Buffer.concat([
        Buffer.from('\0\0\0\x18ftypmp42', 'latin1'),
        Buffer.alloc(100_000),
      ]);
      const { url } = await startHost((_request, response) => {
        const more = (): void => {
          if (response.destroyed || sent > 200_000_000) return void response.end();
          sent += video.length;
          if (response.write(video)) setImmediate(more);
          else response.once('drain', more);
        };
        more();
      });
      const slow = openFolderBlobs(await temporaryFolder());
      const blobs = Object.assign(slow, {
        async write(_key: string, content: AsyncIterable<Buffer>): Promise<number> {
          for await (const _piece of content)
            await new Promise<void>((resolve) => onTestFinished(() => resolve()));
          return 0;
        },
      });
      const leaving = new AbortController();
      const copying = copy(
        await open({ blobs }),
        { url, home: url },
        { account: 'ada', kind: 'video' },
        leaving.signal,
      ).catch(() => 'left');
      await expect.poll(() => sent).toBeGreaterThan(1_000_000);
      const before = sent;
      await new Promise((resolve) => setTimeout(resolve, 300));
      expect(sent - before).toBeLessThan(20_000_000);
      expect(sent).toBeLessThan(40_000_000);
      leaving.abort();
      void copying;
    });
  });

  describe('what is no file is none', () => {
    test.each<[string, (request: IncomingMessage, response: ServerResponse) => unknown, string]>([
      [
        'a refusal',
        (_request, response) => response.writeHead(403).end('expired'),
        'unreachable: its host answered 403.',
      ],
      [
        'a web page',
        gives(Buffer.from('<!DOCTYPE html><title>Sign in</title>')),
        'wrong type: it is no image that we know',
      ],
      ['nothing', gives(Buffer.alloc(0)), 'wrong type: it is no image that we know'],
      [
        'what is compressed',
        (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(png),
        'unreachable: its host compressed',
      ],
      [
        'less than was told',
        (_request, response) => response.writeHead(200, { 'content-length': '9999' }).end(png),
        'unreachable: its host broke off.',
      ],
      [
        'more than is kept',
        gives(Buffer.concat([png, Buffer.alloc(100_000)])),
        'too large: it is larger than 50000 bytes',
      ],
      ['silence', () => {}, 'unreachable: '],
      [
        'silence in the middle',
        (_request, response) =>
          response.writeHead(200).write(Buffer.concat([png, Buffer.alloc(2_000)])),
        'unreachable: its host broke off.',
      ],
    ])('%s', async (_title, answer, why) => {
      const { url } = await startHost(answer);
      const store = await open({ limits: { fileBytesMax: 50_000, idleMs: 300, writeMs: 3_000 } });
      expect(await copy(store, { url, home: url })).toContain(why);
      expect(await store.left()).toEqual(nothing);
    });

    test('what drips for ever', async () => {
      const { url } = await startHost((_request, response) => {
        response.writeHead(200).write(Buffer.concat([png, Buffer.alloc(2_000)]));
        const drip = setInterval(() => response.write('A'), 20);
        response.on('close', () => clearInterval(drip));
      });
      const store = await open({ limits: { writeMs: 400 } });
      expect(await copy(store, { url, home: url })).toContain('unreachable');
      expect(await store.left()).toEqual(nothing);
    });
  });

  test('a client that leaves ends it, and that is nobody else’s fault', async () => {
    const { url, requests } = await startHost(() => {});
    const leaving = new AbortController();
    const copying = copy(await open(), { url, home: url }, image, leaving.signal);
    await expect.poll(() => requests.length).toBe(1);
    leaving.abort(new Error('the client left'));
    await expect(copying).rejects.toThrow('the client left');
  });

  test('a store that is away is no fault of the vendor’s', async () => {
    const { url } = await startHost(gives(png));
    const blobs = Object.assign(openFolderBlobs(await temporaryFolder()), {
      write: () => Promise.reject(new Error('the disk is full')),
    });
    const store = await open({ blobs });
    expect(await copy(store, { url, home: url })).toBe('away: Error: the disk is full');
    expect(await store.left()).toEqual(nothing);
  });

  test('so many at a time; the others wait', async () => {
    let inside = 0;
    let most = 0;
    const { url } = await startHost((_request, response) => {
      most = Math.max(most, ++inside);
      setTimeout(() => {
        inside--;
        response.end(png);
      }, 30);
    });
    const store = await open({ limits: { copiesAtOnceMax: 3 } });
    expect(
      await Promise.all(Array.from({ length: 9 }, () => copy(store, { url, home: url }))),
    ).toEqual(Array(9).fill('image/png'));
    expect(most).toBe(3);
  });
});
