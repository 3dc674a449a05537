import { describe, expect, onTestFinished, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { type FileStore, fileStore, temporaryFolder } from '../../test/support/file-store.ts';
import { png } from '../../test/support/png.ts';
import { openFolderBlobs } from '../storage/folder-blobs.ts';
import { isNotStored, type NewFile, type StoredFile } from './files.ts';

const image: NewFile = { account: 'ada', kind: 'image' };
const nothing = { rows: [], accounts: [], blobs: [] };

async function stored(
  { files }: FileStore,
  content: Buffer | AsyncIterable<Buffer> = png,
  newFile: NewFile = image,
): Promise<StoredFile> {
  const file = await files.put(content, newFile);
  if (isNotStored(file)) throw new Error(file.detail);
  return file;
}

async function bytesOf(
  { files }: FileStore,
  file: StoredFile,
  first = 0,
  last = file.bytes - 1,
): Promise<Buffer> {
  const stream = await files.read(file, { first, last });
  if (stream === undefined) throw new Error('it is gone');
  return Buffer.concat(await stream.toArray());
}

async function* pieces(...all: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* all;
}

/** An image of `bytes` bytes. */
const large = (bytes: number): Buffer => Buffer.concat([png, Buffer.alloc(bytes - png.length)]);

forEachDatabase((_, openFresh) => {
  describe('what is put is kept', () => {
    test('at once and in pieces, as the type that its bytes are', async () => {
      const store = await fileStore(openFresh);
      const whole = await stored(store);
      expect(whole).toMatchObject({
        account: 'ada',
        type: 'image/png',
        bytes: png.length,
        expiresAt: store.time + 86_400_000,
      });
      expect(await bytesOf(store, whole)).toEqual(png);
      const cut = await stored(
        store,
        pieces(png.subarray(0, 3), png.subarray(3, 4), png.subarray(4)),
      );
      expect(await bytesOf(store, cut, 5, 20)).toEqual(png.subarray(5, 21));
      expect(await store.files.find('ada', cut.id)).toEqual(cut);
    });

    test('for its account alone', async () => {
      const store = await fileStore(openFresh);
      const { id } = await stored(store);
      expect(await store.files.find('bob', id)).toBeUndefined();
      expect(await store.files.remove('bob', id)).toBe(false);
      expect(await store.files.remove('ada', id)).toBe(true);
      expect(await store.files.remove('ada', id)).toBe(false);
      expect(await store.left()).toEqual(nothing);
    });

    test('what is not of its kind is not, and leaves nothing behind', async () => {
      const store = await fileStore(openFresh);
      const none = { why: 'wrong type' };
      expect(
        await store.files.put(Buffer.from('<!doctype html><title>Log in</title>'), image),
      ).toMatchObject(none);
      expect(await store.files.put(Buffer.from('{"error":"moderated"}'), image)).toMatchObject(
        none,
      );
      expect(await store.files.put(png, { ...image, kind: 'video' })).toMatchObject(none);
      expect(await store.files.put(Buffer.alloc(0), image)).toMatchObject(none);
      expect(await store.left()).toEqual(nothing);
    });

    test('what breaks off is not, and the source learns that the rest is not needed', async () => {
      const store = await fileStore(openFresh, { limits: { fileBytesMax: 5_000 } });
      let ended = 0;
      async function* source(fail: boolean): AsyncGenerator<Buffer> {
        try {
          yield large(2_000);
          if (fail) throw new Error('the vendor broke off');
          for (;;) yield large(2_000);
        } finally {
          ended++;
        }
      }
      await expect(store.files.put(source(true), image)).rejects.toThrow('the vendor broke off');
      expect(await store.files.put(source(false), image)).toMatchObject({ why: 'too large' });
      expect(await store.files.put(source(false), { ...image, kind: 'audio' })).toMatchObject({
        why: 'wrong type',
      });
      expect(ended).toBe(3);
      expect(await store.files.put(large(5_001), image)).toMatchObject({ why: 'too large' });
      expect(await store.left()).toEqual(nothing);
    });
  });

  describe('an account has so much room', () => {
    test('for so many files', async () => {
      const store = await fileStore(openFresh, { limits: { filesMax: 2 } });
      const first = await stored(store);
      expect(await store.files.room('ada')).toBe('room');
      await stored(store);
      expect(await store.files.room('ada')).toBe('full');
      expect(await store.files.put(png, image)).toMatchObject({ why: 'full' });
      expect(await store.files.room('bob')).toBe('room');
      await stored(store, png, { ...image, account: 'bob' });
      await store.files.remove('ada', first.id);
      expect(await store.files.room('ada')).toBe('room');
      await stored(store);
      expect((await store.left()).blobs).toHaveLength(3);
    });

    test('for so many bytes, counted as they are when they come in pieces', async () => {
      const store = await fileStore(openFresh, { limits: { bytesMax: 10_000 } });
      await stored(store, pieces(large(2_000), large(3_000)));
      expect(await store.files.put(pieces(large(2_000), large(3_001)), image)).toMatchObject({
        why: 'full',
      });
      expect(await store.files.put(large(5_001), image)).toMatchObject({ why: 'full' });
      await stored(store, large(5_000));
      expect(await store.files.room('ada')).toBe('full');
      const { accounts, blobs } = await store.left();
      expect(accounts).toEqual([{ account: 'ada', files: 2n, bytes: 10_000n }]);
      expect(blobs).toHaveLength(2);
    });

    test('and no more of it when all come at once', async () => {
      const store = await fileStore(openFresh, { limits: { filesMax: 5, bytesMax: 8 * 2_000 } });
      const all = await Promise.all(
        Array.from({ length: 20 }, () => store.files.put(pieces(large(2_000)), image)),
      );
      expect(all.filter((result) => !isNotStored(result))).toHaveLength(5);
      expect(await store.left()).toMatchObject({
        accounts: [{ account: 'ada', files: 5n, bytes: 10_000n }],
        rows: { length: 5 },
      });
    });
  });

  describe('what has expired goes', () => {
    test('each when it is its time, and the room is free again', async () => {
      const store = await fileStore(openFresh);
      const short = await stored(store, png, { ...image, expiresAt: store.time + 1_000 });
      const usual = await stored(store);
      expect(await store.files.expire()).toBe(0);
      store.time += 1_000;
      expect(await store.files.find('ada', short.id)).toBeUndefined();
      expect(await store.files.expire()).toBe(1);
      expect((await store.left()).blobs).toEqual([usual.id]);
      store.time += 86_400_000;
      expect(await store.files.expire()).toBe(1);
      expect(await store.left()).toEqual(nothing);
    });

    test('by any number of nodes at once, each file counted once', async () => {
      const store = await fileStore(openFresh);
      await Promise.all(
        Array.from({ length: 40 }, (_unused, i) =>
          stored(store, png, { ...image, account: `a${i % 3}` }),
        ),
      );
      store.time += 86_400_000;
      const counts = await Promise.all([
        store.files.expire(),
        store.files.expire(),
        store.files.expire(),
      ]);
      expect(counts.reduce((sum, count) => sum + count)).toBe(40);
      expect(await store.left()).toEqual(nothing);
    });

    test('and so does what a process that died left half written', async () => {
      const store = await fileStore(openFresh, { limits: { writeMs: 10_000 } });
      let dead = false;
      async function* stuck(): AsyncGenerator<Buffer> {
        yield large(2_000);
        dead = true;
        await new Promise<void>((resolve) => onTestFinished(() => resolve()));
      }
      void store.files.put(stuck(), image).catch(() => undefined);
      await expect.poll(async () => dead && (await store.left()).blobs.length).toBe(1);
      expect((await store.left()).blobs[0]).toMatch(/\.part$/);
      store.time += 19_999;
      expect(await store.files.expire()).toBe(0);
      store.time += 1;
      expect(await store.files.expire()).toBe(1);
      expect(await store.left()).toEqual(nothing);
    });

    test('one that cannot be removed keeps its row, and does not keep the others', async () => {
      const folder = openFolderBlobs(await temporaryFolder());
      let stubborn = '';
      const remove = (key: string) =>
        key === stubborn ? Promise.reject(new Error('the store is away')) : folder.remove(key);
      const blobs = { ...bound(folder), remove };
      const store = await fileStore(openFresh, { blobs });
      stubborn = (await stored(store)).id;
      await stored(store);
      store.time += 86_400_000;
      await expect(store.files.expire()).rejects.toThrow('the store is away');
      expect(await store.left()).toMatchObject({
        rows: [{ id: stubborn }],
        accounts: [{ files: 1n }],
      });
      stubborn = '';
      expect(await store.files.expire()).toBe(1);
      expect(await store.left()).toEqual(nothing);
    });

    test('a store that is away is asked once in a while, and again as soon as it may be back', async () => {
      let checks = 0;
      let away = true;
      const check = async () => {
        checks += 1;
        if (away) throw new Error('the store is away');
      };
      const write = (...given: Parameters<typeof folder.write>) =>
        away ? Promise.reject(new Error('away')) : folder.write(...given);
      const folder = openFolderBlobs(await temporaryFolder());
      const store = await fileStore(openFresh, {
        blobs: { ...bound(folder), remove: folder.remove.bind(folder), check, write },
      });
      const room = async () => Promise.all([store.files.room('ada'), store.files.room('bob')]);
      expect(await room()).toEqual(['away', 'away']);
      expect(await room()).toEqual(['away', 'away']);
      expect(checks).toBe(1);
      away = false;
      store.time += 1_000;
      expect(await room()).toEqual(['room', 'room']);
      store.time += 4_000;
      await stored(store);
      store.time += 4_000;
      expect(await room()).toEqual(['room', 'room']);
      expect(checks).toBe(2);
      away = true;
      expect(await store.files.put(png, image)).toMatchObject({ why: 'away' });
      expect(await room()).toEqual(['away', 'away']);
      expect(checks).toBe(2);
    });

    test('a write that took longer than it was waited for leaves nothing either', async () => {
      const store = await fileStore(openFresh);
      async function* slow(): AsyncGenerator<Buffer> {
        yield large(2_000);
        store.time += 86_400_000;
        await store.files.expire();
        yield large(2_000);
      }
      expect(await store.files.put(slow(), image)).toMatchObject({
        why: 'away',
        detail: expect.stringMatching(/longer to write than it was waited for|ENOENT/),
      });
      expect(await store.left()).toEqual(nothing);
    });
  });
});

const bound = (blobs: ReturnType<typeof openFolderBlobs>) => ({
  write: blobs.write.bind(blobs),
  read: blobs.read.bind(blobs),
  abandon: blobs.abandon.bind(blobs),
  check: blobs.check.bind(blobs),
  close: blobs.close.bind(blobs),
});
