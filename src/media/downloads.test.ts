import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { MediumKind } from './content-type.ts';
import { Downloads, isDownloadFailure } from './downloads.ts';
import type { Resolve } from './fetcher.ts';
import { type MediaLimits, mediaLimits } from './limits.ts';

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEElEQVR4nGNgYPgPRgwQCgAd7gP9N/RE0AAAAABJRU5ErkJggg==',
  'base64',
);

interface Host {
  readonly port: number;
  readonly requests: IncomingMessage[];
}

/** A host on this machine, which is as private as can be. */
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
  return { port: (server.address() as AddressInfo).port, requests };
}

const sendImage = (_: IncomingMessage, response: ServerResponse): unknown => response.end(png);
const atHome: Resolve = () => Promise.resolve(['127.0.0.1']);
const nowhere: Resolve = () => Promise.reject(new Error('ENOTFOUND'));
const stays = new AbortController().signal;

interface DownloadOptions {
  readonly limits?: Partial<MediaLimits>;
  readonly resolve?: Resolve;
  readonly kind?: MediumKind;
  readonly left?: AbortSignal;
}

/** The result of a download: the type of the file, or why there is none. */
async function download(
  url: string,
  { limits = {}, resolve = nowhere, kind = 'image', left = stays }: DownloadOptions = {},
): Promise<string> {
  const got = await new Downloads({ ...mediaLimits, ...limits }, resolve).all(
    'a',
    [{ url, kind }],
    left,
  );
  if (isDownloadFailure(got)) return got.why;
  const content = got.get(url);
  expect(Buffer.from(content?.base64 ?? '', 'base64').length).toBeGreaterThan(0);
  return content?.type ?? 'nothing';
}

const open: DownloadOptions = { limits: { allowPrivate: ['127.0.0.0/8'] }, resolve: atHome };
const notPublic =
  'it could not be downloaded: its host was not found, or is not on the public internet.';

describe('what is not public is not asked', () => {
  test.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://0x7f.0.0.0x1/',
    'http://0/',
    'http://0.0.0.0/',
    'http://10.0.0.1/',
    'http://172.16.0.1/',
    'http://192.168.1.1/',
    'http://169.254.169.254/latest/meta-data/',
    'http://100.64.0.1/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
    'http://198.18.0.1/',
    'http://224.0.0.1/',
    'http://240.0.0.1/',
    'http://255.255.255.255/',
    'http://①②⑦.⓪.⓪.①/',
    'http://[::]/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http://[::127.0.0.1]/',
    'http://168.63.129.16/',
    'http://[64:ff9b::7f00:1]/',
    'http://[64:ff9b:1::a00:1]/',
    'http://[2002:7f00:1::]/',
    'http://[2001::7f00:1]/',
    'http://[fc00::1]/',
    'http://[fd00:ec2::254]/',
    'http://[fe80::1]/',
    'http://[fec0::1]/',
    'http://[ff02::1]/',
    'http://[100::1]/',
    'http://[4000::1]/',
  ])('%s', async (url) => {
    expect(await download(url, { limits: { idleMs: 200 } })).toBe(notPublic);
  });

  test.each([
    ['ftp://example.com/a.png', 'ftp: is neither https: nor http:.'],
    ['file:///etc/passwd', 'file: is neither https: nor http:.'],
    ['http://user:secret@example.com/', 'it carries a password.'],
    ['http://', 'it is not an address.'],
  ])('%s', async (url, why) => {
    expect(await download(url)).toBe(`it could not be downloaded: ${why}`);
  });

  test('ports of other services', async () => {
    expect(
      await download('http://example.com:25/', {
        resolve: () => Promise.resolve(['93.184.216.34']),
      }),
    ).toContain('port 25');
  });

  test.each([
    [['127.0.0.1']],
    [['93.184.216.34', '10.0.0.1']],
    [['2606:2800:220:1::1', 'fe80::1%eth0']],
    [[]],
  ])('a name that leads to %j', async (addresses) => {
    expect(
      await download('http://innocent.example/a.png', {
        resolve: () => Promise.resolve(addresses),
      }),
    ).toBe(notPublic);
  });
});

describe('a connection goes where it was checked to go', () => {
  test('a name that changes its address between two looks is looked at once', async () => {
    const host = await startHost(sendImage);
    let looks = 0;
    const rebinding: Resolve = () => Promise.resolve([looks++ === 0 ? '127.0.0.1' : '127.0.0.9']);
    const url = `http://rebinding.example:${host.port}/a.png`;
    expect(
      await download(url, { limits: { allowPrivate: ['127.0.0.1'] }, resolve: rebinding }),
    ).toBe('image/png');
    expect(looks).toBe(1);
    expect(host.requests[0]?.headers.host).toBe(`rebinding.example:${host.port}`);
  });

  test('a host is greeted by its name under TLS, too', async () => {
    const hellos: Buffer[] = [];
    const server = createTcpServer((socket) => {
      socket.once('data', (hello) => {
        hellos.push(hello);
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    expect(await download(`https://pictures.example:${port}/a.png`, open)).toContain(
      'could not be reached',
    );
    expect(hellos[0]?.toString('latin1')).toContain('pictures.example');
  });

  test('a name that leads inside at the second look fails at the second address', async () => {
    const host = await startHost((_, response) =>
      response.writeHead(302, { location: '/again' }).end(),
    );
    let looks = 0;
    const rebinding: Resolve = () => Promise.resolve([looks++ === 0 ? '127.0.0.1' : '127.0.0.9']);
    const url = `http://rebinding.example:${host.port}/a.png`;
    expect(
      await download(url, { limits: { allowPrivate: ['127.0.0.1'] }, resolve: rebinding }),
    ).toBe(notPublic);
    expect(host.requests).toHaveLength(1);
  });

  test.each([
    'http://10.0.0.1/',
    'http://[::1]/',
    '//169.254.169.254/latest/',
    'http://2852039166/',
    'file:///etc/passwd',
  ])('a redirect to %s is not followed', async (location) => {
    const host = await startHost((_, response) => response.writeHead(307, { location }).end());
    expect(await download(`http://127.0.0.1:${host.port}/`, open)).toMatch(
      /not on the public internet|file: is neither/,
    );
  });

  test('redirects are followed up to a limit', async () => {
    const host = await startHost((request, response) => {
      const left = Number(request.url?.slice(1));
      return left === 0
        ? sendImage(request, response)
        : response.writeHead(301, { location: `/${left - 1}` }).end();
    });
    expect(await download(`http://127.0.0.1:${host.port}/3`, open)).toBe('image/png');
    expect(await download(`http://127.0.0.1:${host.port}/4`, open)).toContain(
      'redirects more than 3 times',
    );
  });

  test('a host is allowed by name, by address and by network', async () => {
    const host = await startHost(sendImage);
    const url = `http://Files.internal:${host.port}/a`;
    for (const allowed of ['files.internal', '127.0.0.1', '127.0.0.0/8'])
      expect(
        await download(url, { limits: { allowPrivate: [allowed] }, resolve: atHome }),
        allowed,
      ).toBe('image/png');
    expect(
      await download(url, {
        limits: { allowPrivate: ['other.internal', '10.0.0.0/8', '::1'] },
        resolve: atHome,
      }),
    ).toBe(notPublic);
  });
});

describe('nobody can make us hold or wait', () => {
  const endless = (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200);
    const more = (): void =>
      void (
        response.destroyed ||
        (response.write(Buffer.alloc(65_536, 0x41))
          ? setImmediate(more)
          : response.once('drain', more))
      );
    more();
  };

  test('a body without an end', async () => {
    const host = await startHost(endless);
    const url = `http://127.0.0.1:${host.port}/`;
    expect(await download(url, { limits: { ...open.limits, fileBytesMax: 1_000_000 } })).toContain(
      'larger than 1000000 bytes',
    );
  });

  test('a body that says that it is large', async () => {
    const host = await startHost((_, response) =>
      response.writeHead(200, { 'content-length': '99999999' }).flushHeaders(),
    );
    expect(await download(`http://127.0.0.1:${host.port}/`, open)).toContain(
      'larger than 20971520 bytes',
    );
  });

  test('several that are large together', async () => {
    const host = await startHost((_, response) =>
      response.end(Buffer.concat([png, Buffer.alloc(1_000)])),
    );
    const downloads = new Downloads({ ...mediaLimits, ...open.limits, requestBytesMax: 2_000 });
    const wanted = [1, 2, 3].map((n) => ({
      url: `http://127.0.0.1:${host.port}/${n}`,
      kind: 'image' as const,
    }));
    expect(await downloads.all('a', wanted, stays)).toMatchObject({
      why: expect.stringContaining('more than 2000 bytes together'),
    });
  });

  test('too many, and one address again and again', async () => {
    const host = await startHost(sendImage);
    const downloads = new Downloads({ ...mediaLimits, ...open.limits, urlsMax: 2 });
    const wanted = (n: number) => ({
      url: `http://127.0.0.1:${host.port}/${n}`,
      kind: 'image' as const,
    });
    expect(await downloads.all('a', [1, 2, 3].map(wanted), stays)).toMatchObject({
      url: wanted(3).url,
    });
    expect(host.requests).toHaveLength(0);
    expect(await downloads.all('a', [1, 1, 1, 2, 1].map(wanted), stays)).toHaveProperty('size', 2);
    expect(host.requests).toHaveLength(2);
  });

  test('a compressed body, which may be a bomb', async () => {
    const host = await startHost((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(png),
    );
    expect(await download(`http://127.0.0.1:${host.port}/`, open)).toContain(
      'compressed it unasked',
    );
  });

  test.each<[string, (request: IncomingMessage, response: ServerResponse) => unknown]>([
    ['says nothing', () => {}],
    ['begins and stops', (_, response) => response.writeHead(200).write(png)],
  ])('a host that %s', async (_, answer) => {
    const host = await startHost(answer);
    const limits = { ...open.limits, idleMs: 300 };
    expect(await download(`http://127.0.0.1:${host.port}/`, { limits })).toContain(
      'did not answer in time',
    );
  });

  test('a host that drips for ever', async () => {
    const host = await startHost((_, response) => {
      response.writeHead(200).write(png);
      const drip = setInterval(() => response.write('A'), 20);
      response.on('close', () => clearInterval(drip));
    });
    expect(
      await download(`http://127.0.0.1:${host.port}/`, {
        limits: { ...open.limits, totalMs: 300 },
      }),
    ).toContain('longer than 0.3 seconds');
  });

  test('a name server that says nothing', async () => {
    const resolve: Resolve = () => new Promise(() => {});
    expect(await download('http://slow.example/', { limits: { totalMs: 100 }, resolve })).toContain(
      'longer than 0.1 seconds',
    );
  });

  test('name servers that say nothing hold one lookup of an account, and two of all', async () => {
    let open = 0;
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const resolve: Resolve = async () => {
      open += 1;
      await answered;
      open -= 1;
      return ['10.0.0.1'];
    };
    const downloads = new Downloads({ ...mediaLimits, totalMs: 100 }, resolve);
    const ask = (account: string, n: number) =>
      downloads.all(
        account,
        Array.from({ length: 10 }, (_, i) => ({
          url: `http://slow${i}.n${n}.example/`,
          kind: 'image',
        })),
        stays,
      );
    const asked = [ask('a', 0), ask('a', 1)];
    await new Promise(setImmediate);
    expect(open).toBe(1);
    asked.push(ask('b', 2), ask('c', 3));
    await new Promise(setImmediate);
    expect(open).toBe(2);
    for (const result of await Promise.all(asked))
      expect(result).toMatchObject({ why: expect.stringContaining('longer than 0.1 seconds') });
    // The requests are over, and their lookups are not.
    const late = ask('a', 4);
    await new Promise(setImmediate);
    expect(open).toBe(2);
    answer();
    expect(await late).toMatchObject({ why: notPublic });
    expect(open).toBe(0);
  });

  test('an account whose hosts say nothing leaves half of the places to others', async () => {
    const host = await startHost(
      (request, response) => request.url === '/quick' && response.end(png),
    );
    const wanted = (path: string) => ({
      url: `http://127.0.0.1:${host.port}/${path}`,
      kind: 'image' as const,
    });
    const limits = { ...mediaLimits, ...open.limits, atOnceMax: 4, totalMs: 500 };
    const downloads = new Downloads(limits);
    const slow = downloads.all('a', [1, 2, 3, 4, 5].map(String).map(wanted), stays);
    await expect.poll(() => host.requests.length).toBe(2);
    expect(await downloads.all('b', [wanted('quick')], stays)).toHaveProperty('size', 1);
    expect(host.requests).toHaveLength(3);
    expect(await slow).toMatchObject({ why: expect.stringContaining('longer than 0.5 seconds') });
  });

  test('a client that leaves ends it', async () => {
    const host = await startHost(() => {});
    const leaving = new AbortController();
    const result = download(`http://127.0.0.1:${host.port}/`, { ...open, left: leaving.signal });
    await expect.poll(() => host.requests.length).toBe(1);
    leaving.abort();
    expect(await result).toContain('the client left');
  });

  test('a download waits for a place within its own time, and passes the place on', async () => {
    const host = await startHost(
      (request, response) => request.url === '/quick' && response.end(png),
    );
    const at = (path: string) => `http://127.0.0.1:${host.port}/${path}`;
    const downloads = new Downloads({ ...mediaLimits, ...open.limits, atOnceMax: 1, totalMs: 400 });
    const slow = downloads.all('a', [{ url: at('slow'), kind: 'image' }], stays);
    const quick = await downloads.all(
      'a',
      [{ url: at('quick'), kind: 'image' }],
      AbortSignal.timeout(200),
    );
    expect(quick).toMatchObject({ why: expect.stringContaining('the client left') });
    await slow;
    expect(await downloads.all('a', [{ url: at('quick'), kind: 'image' }], stays)).toHaveProperty(
      'size',
      1,
    );
  });
});

describe('what comes is what its bytes say', () => {
  const pdf = '%PDF-1.7\n';
  test.each<[string, MediumKind, string | Buffer, string]>([
    ['a picture', 'image', png, 'image/png'],
    ['a JPEG', 'image', Buffer.from('ffd8ffe000104a464946', 'hex'), 'image/jpeg'],
    ['a WebP', 'image', 'RIFF\x10\0\0\0WEBPVP8 ', 'image/webp'],
    ['a PDF', 'file', pdf, 'application/pdf'],
    ['a picture as a file', 'file', png, 'image/png'],
    ['text', 'file', 'Grüße', 'text/plain'],
    ['a video', 'video', '\0\0\0\x18ftypmp42', 'video/mp4'],
    [
      'a web page for a picture',
      'image',
      '<!DOCTYPE html><title>Log in</title>',
      'what it gives is a web page, no image.',
    ],
    ['text for a picture', 'image', 'hello', 'what it gives is text/plain, no image.'],
    ['a PDF for a picture', 'image', pdf, 'what it gives is application/pdf, no image.'],
    ['a picture for a video', 'video', png, 'what it gives is image/png, no video.'],
    ['nothing', 'image', '', 'what it gives is no image that we know.'],
    ['who knows what', 'file', Buffer.from([0, 1, 2, 3]), 'what it gives is no file that we know.'],
  ])('%s', async (_, kind, body, message) => {
    const host = await startHost((__, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(body),
    );
    expect(await download(`http://127.0.0.1:${host.port}/a`, { ...open, kind })).toBe(
      message.endsWith('.') ? `it could not be downloaded: ${message}` : message,
    );
  });

  test.each([
    ['table.csv', 'text/csv'],
    ['notes.md', 'text/markdown'],
    ['page.png', 'text/plain'],
  ])('texts are told apart by their address: %s', async (name, type) => {
    const host = await startHost((_, response) => response.end('a;b'));
    expect(
      await download(`http://127.0.0.1:${host.port}/${name}?x=.json`, { ...open, kind: 'file' }),
    ).toBe(type);
  });

  test('a refusal is reported by its status', async () => {
    const host = await startHost((_, response) => response.writeHead(404).end('no'));
    expect(await download(`http://127.0.0.1:${host.port}/`, open)).toContain(
      'its host answered 404.',
    );
  });
});
