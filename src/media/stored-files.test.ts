import { describe, expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { type FileStore, fileStore, png } from '../../test/support/file-store.ts';
import { isNotStored, type NewFile, type StoredFile } from './files.ts';

const picture: NewFile = { account: 'ada', kind: 'image' };

async function stored({ files }: FileStore, content: Buffer | AsyncIterable<Buffer> = png, wish: NewFile = picture): Promise<StoredFile> {
  const file = await files.put(content, wish);
  if (isNotStored(file)) throw new Error(file.detail);
  return file;
}

async function bytesOf({ files }: FileStore, file: StoredFile, first = 0, last = file.bytes - 1): Promise<Buffer> {
  const stream = await files.read(file, { first, last });
  if (stream === undefined) throw new Error('it is gone');
  return Buffer.concat(await stream.toArray());
}

async function* pieces(...all: Buffer[]): AsyncGenerator<Buffer> {
  yield* all;
}

forEachDatabase((_, openFresh) => {
  describe('what is put is kept', () => {
    test('at once and in pieces, as the type that its bytes are', async () => {
      const store = await fileStore(openFresh);
      const whole = await stored(store);
      expect(whole).toMatchObject({ account: 'ada', type: 'image/png', bytes: png.length, expiresAt: store.time + 86_400_000 });
      expect(await bytesOf(store, whole)).toEqual(png);
      const cut = await stored(store, pieces(png.subarray(0, 3), png.subarray(3, 4), png.subarray(4)));
      expect(await bytesOf(store, cut, 5, 20)).toEqual(png.subarray(5, 21));
      expect(await store.files.find('ada', cut.id)).toEqual(cut);
    });

    test('what is not of its kind is not, and leaves nothing behind', async () => {
      const store = await fileStore(openFresh);
      expect(await store.files.put(Buffer.from('<!doctype html><title>Log in</title>'), picture)).toMatchObject({ why: 'wrong type' });
      expect(await store.files.put(png, { ...picture, kind: 'video' })).toMatchObject({ why: 'wrong type' });
      expect(await store.files.put(Buffer.alloc(0), picture)).toMatchObject({ why: 'wrong type' });
      expect(await store.left()).toEqual({ rows: [], accounts: [], blobs: [] });
    });
  });
});
