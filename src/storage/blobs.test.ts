import { readdir } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../test/support/file-store.ts';
import { startBucket } from '../../test/support/s3-server.ts';
import { systemClock } from '../base/clock.ts';
import type { Blobs } from './blobs.ts';
import { openFolderBlobs } from './folder-blobs.ts';
import { openS3Blobs } from './s3-blobs.ts';

async function* pieces(...all: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* all;
}

async function* breaking(...all: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* all;
  throw new Error('the vendor broke off');
}

async function bytesOf(
  blobs: Blobs,
  key: string,
  first: number,
  last: number,
): Promise<Buffer | undefined> {
  const stream = await blobs.read(key, { first, last });
  return stream && Buffer.concat(await stream.toArray());
}

const numbered = (bytes: number, from = 0): Buffer =>
  Buffer.from(Uint8Array.from({ length: bytes }, (_, i) => (from + i) % 251));
const partBytes = 5 * 1024 * 1024;

const folder = async (): Promise<Blobs> => openFolderBlobs(await temporaryFolder());
const bucket = async (): Promise<Blobs> =>
  openS3Blobs(await startBucket('made/here/'), systemClock, partBytes);

describe.each([
  ['a folder', folder],
  ['a bucket', bucket],
])('%s', (_, open) => {
  test('gives what it was given, whole and in ranges', async () => {
    const blobs = await open();
    const key = 'file_aB3';
    expect(await blobs.write(key, pieces(numbered(10), numbered(10, 10)))).toBe(20);
    expect(await bytesOf(blobs, key, 0, 19)).toEqual(numbered(20));
    expect(await bytesOf(blobs, key, 3, 3)).toEqual(numbered(1, 3));
    expect(await bytesOf(blobs, key, 15, 19)).toEqual(numbered(5, 15));
  });

  test('tells that it takes something', async () => {
    const blobs = await open();
    await blobs.check(new AbortController().signal);
    await blobs.check(new AbortController().signal);
  });

  test('takes what is large piece by piece', async () => {
    const blobs = await open();
    const piece = numbered(1_000_003);
    const all = Array.from({ length: 12 }, () => piece);
    expect(await blobs.write('file_large', pieces(...all))).toBe(12 * piece.length);
    const whole = await bytesOf(blobs, 'file_large', 0, 12 * piece.length - 1);
    expect(whole?.equals(Buffer.concat(all))).toBe(true);
    expect(
      (await bytesOf(blobs, 'file_large', 5_999_999, 6_000_020))?.equals(
        Buffer.concat(all).subarray(5_999_999, 6_000_021),
      ),
    ).toBe(true);
  });

  test.each([10, partBytes + 10])(
    'has nothing of what breaks off after %i bytes, nor of what was there before it',
    async (bytes) => {
      const blobs = await open();
      await expect(
        blobs.write('file_broken', breaking(numbered(bytes), numbered(10))),
      ).rejects.toThrow('the vendor broke off');
      expect(await blobs.read('file_broken', { first: 0, last: 0 })).toBeUndefined();
    },
  );

  test('bears readers who want no more', async () => {
    const blobs = await open();
    await blobs.write('file_left', pieces(numbered(3_000_000)));
    const range = { first: 0, last: 2_999_999 };
    const unread = await blobs.read('file_left', range);
    unread?.destroy();
    const begun = await blobs.read('file_left', range);
    await begun?.iterator().next();
    begun?.destroy();
    await expect.poll(() => [unread?.closed, begun?.closed]).toEqual([true, true]);
    expect((await bytesOf(blobs, 'file_left', 0, 2_999_999))?.length).toBe(3_000_000);
  });

  test('has no bytes behind its end', async () => {
    const blobs = await open();
    await blobs.write('file_short', pieces(numbered(10)));
    const behind = await blobs.read('file_short', { first: 5, last: 10 }).catch(() => undefined);
    expect(behind).toBeUndefined();
  });

  test('forgets, and has nothing against forgetting twice', async () => {
    const blobs = await open();
    await blobs.write('file_gone', pieces(numbered(10)));
    await blobs.remove('file_gone');
    await blobs.remove('file_gone');
    expect(await blobs.read('file_gone', { first: 0, last: 9 })).toBeUndefined();
  });

  test.each(['../../etc/passwd', 'a/b', '', 'abc', '..', 'file_a.part', 'file_a\0', 'file_a b'])(
    'takes no key such as %j',
    async (key) => {
      const blobs = await open();
      await expect((async () => blobs.write(key, pieces(numbered(1))))()).rejects.toThrow('no key');
      await expect((async () => blobs.read(key, { first: 0, last: 0 }))()).rejects.toThrow(
        'no key',
      );
      await expect((async () => blobs.remove(key))()).rejects.toThrow('no key');
    },
  );
});

test('a folder keeps no half of a file, whichever side broke off, and spreads the whole ones', async () => {
  const path = await temporaryFolder();
  const blobs = openFolderBlobs(path);
  await expect(blobs.write('file_half', breaking(numbered(10)))).rejects.toThrow('broke off');
  await blobs.write('file_whole', pieces(numbered(10)));
  const files = async () =>
    (await readdir(path, { recursive: true, withFileTypes: true })).filter((entry) =>
      entry.isFile(),
    );
  expect(
    (await files()).map(({ name, parentPath }) => [parentPath.slice(path.length), name]),
  ).toEqual([['/le', 'file_whole']]);
});

describe('a bucket', () => {
  test('whose keys are others refuses, and is told without them', async () => {
    const place = await startBucket();
    const blobs = openS3Blobs(
      { ...place, keys: { ...place.keys, secretAccessKey: 'wrong' } },
      systemClock,
    );
    await expect(blobs.write('file_x', pieces(numbered(1)))).rejects.toThrow(
      'the store answered 403 (SignatureDoesNotMatch) to a PUT',
    );
    await expect(blobs.read('file_x', { first: 0, last: 0 })).rejects.toThrow('403');
    await expect(blobs.remove('file_x')).rejects.toThrow('403');
  });

  test('that is not there is no missing blob', async () => {
    const place = await startBucket();
    const blobs = openS3Blobs(
      { ...place, bucketUrl: place.bucketUrl.replace('generated', 'another') },
      systemClock,
    );
    await expect(blobs.write('file_x', pieces(numbered(1)))).rejects.toThrow('404 (NoSuchBucket)');
    await expect(blobs.read('file_x', { first: 0, last: 0 })).rejects.toThrow('404 (NoSuchBucket)');
  });

  const oneUpload =
    '<InitiateMultipartUploadResult><UploadId>u&amp;1</UploadId></InitiateMultipartUploadResult>';

  test('that is busy is asked again, and not for ever', async () => {
    const busy = await scriptedBucket(['503', '500', '200']);
    expect(await busy.blobs.write('file_x', pieces(numbered(3)))).toBe(3);
    expect(busy.asked).toEqual(['PUT /b/file_x', 'PUT /b/file_x', 'PUT /b/file_x']);
    const gone = await scriptedBucket(['503', '503', '503']);
    await expect(gone.blobs.write('file_x', pieces(numbered(3)))).rejects.toThrow('503');
    expect(gone.asked).toHaveLength(3);
  });

  test('that gives all where a part was asked for is not believed', async () => {
    const { blobs } = await scriptedBucket(['200 0123456789', '206 0123456789']);
    await expect(blobs.read('file_x', { first: 2, last: 4 })).rejects.toThrow(
      'the store answered 200',
    );
    await expect(blobs.read('file_x', { first: 2, last: 4 })).rejects.toThrow(
      'the store answered 206',
    );
  });

  test('that fails to put the parts together says so in a success, and is told to forget them', async () => {
    const failed = '<?xml version="1.0"?><Error><Code>InternalError</Code></Error>';
    const { blobs, asked } = await scriptedBucket([
      `200 ${oneUpload}`,
      '200',
      '200',
      `200 ${failed}`,
      '204',
    ]);
    await expect(blobs.write('file_x', pieces(numbered(partBytes), numbered(1)))).rejects.toThrow(
      'did not complete an upload: InternalError',
    );
    expect(asked.at(-1)).toBe('DELETE /b/file_x?uploadId=u%261');
  });

  test('forgets the parts that a process left when it died, and those of no other', async () => {
    const upload = (key: string, id: string) =>
      `<Upload><Key>${key}</Key><UploadId>${id}</UploadId></Upload>`;
    const list = `<ListMultipartUploadsResult>${upload('file_x', 'a&amp;b')}${upload('file_xy', 'other')}</ListMultipartUploadsResult>`;
    const { blobs, asked } = await scriptedBucket([`200 ${list}`, '204', '204']);
    await blobs.abandon('file_x');
    expect(asked).toEqual([
      'GET /b/?uploads=&prefix=file_x',
      'DELETE /b/file_x?uploadId=a%26b',
      'DELETE /b/file_x',
    ]);
    const closed = await scriptedBucket(['403', '204']);
    await closed.blobs.abandon('file_x');
    expect(closed.asked).toEqual(['GET /b/?uploads=&prefix=file_x', 'DELETE /b/file_x']);
  });
});

/** A store that answers by the list: a status, and what follows it. */
async function scriptedBucket(answers: string[]): Promise<{ blobs: Blobs; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const [status = '500', ...body] = (answers.shift() ?? '500').split(' ');
    request
      .resume()
      .on('end', () =>
        response.writeHead(Number(status), { etag: '"t"' }).end(body.join(' ') || undefined),
      );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const keys = { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: undefined };
  const blobs = openS3Blobs(
    { bucketUrl: `http://127.0.0.1:${port}/b`, prefix: '', region: 'r', keys },
    systemClock,
    partBytes,
  );
  onTestFinished(async () => {
    await blobs.close();
    server.close();
  });
  return { blobs, asked };
}
