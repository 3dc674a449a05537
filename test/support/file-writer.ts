import { systemClock } from '../../src/base/clock.ts';
import { FileUrls } from '../../src/media/file-urls.ts';
import { VendorDownloads } from '../../src/media/downloads.ts';
import { isNotStored } from '../../src/media/files.ts';
import { fileLimits } from '../../src/media/limits.ts';
import { openFiles } from '../../src/media/stored-files.ts';
import { openFolderBlobs } from '../../src/storage/folder-blobs.ts';
import { open } from '../../src/storage/open.ts';
import { png } from './png.ts';

/**
 * A process that stores images until it is killed, and writes a line with id and length for each
 * stored one.
 */
const [databaseUrl = '', folder = ''] = process.argv.slice(2);

const files = openFiles({
  database: await open(databaseUrl),
  blobs: openFolderBlobs(folder),
  clock: systemClock,
  addresses: new FileUrls(Buffer.alloc(32), undefined),
  copies: new VendorDownloads(fileLimits),
  limits: fileLimits,
});

async function* picture(pieces: number): AsyncGenerator<Buffer> {
  yield png;
  for (let i = 0; i < pieces; i++) {
    yield Buffer.alloc(20_000, i);
    await new Promise(setImmediate);
  }
}

async function store(pieces: number): Promise<never> {
  for (;;) {
    const file = await files.put(picture(pieces), { account: `a${pieces}`, kind: 'image' });
    if (isNotStored(file)) throw new Error(file.detail);
    process.stdout.write(`${file.id} ${file.bytes}\n`);
  }
}

process.stdout.write('ready\n');
await Promise.all([0, 1, 5, 20].map(store));
