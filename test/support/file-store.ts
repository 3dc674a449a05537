import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { FileUrls } from '../../src/media/file-urls.ts';
import { VendorDownloads } from '../../src/media/downloads.ts';
import type { Files } from '../../src/media/files.ts';
import type { Resolve } from '../../src/media/fetcher.ts';
import { type FileLimits, fileLimits, type MediaLimits } from '../../src/media/limits.ts';
import { mediaMigrations } from '../../src/media/file-table.ts';
import { uploadMigrations } from '../../src/media/upload-table.ts';
import { openFiles } from '../../src/media/stored-files.ts';
import type { Blobs } from '../../src/storage/blobs.ts';
import type { Database, Row } from '../../src/storage/database.ts';
import { openFolderBlobs } from '../../src/storage/folder-blobs.ts';
import type { FreshOptions } from '../databases.ts';

/** Stored files on a stopped clock, with access to their rows and blobs. */
export interface FileStore {
  readonly files: Files;
  readonly database: Database;
  readonly blobs: Blobs;
  /** Wall clock, milliseconds. */
  time: number;
  /** All rows, all accounts' counts, and the keys of all blobs, complete or partial. */
  left(): Promise<{
    readonly rows: readonly Row[];
    readonly accounts: readonly Row[];
    readonly blobs: readonly string[];
  }>;
}

export interface FileStoreOptions {
  readonly limits?: Partial<FileLimits>;
  readonly downloads?: Partial<MediaLimits>;
  readonly publicUrl?: string;
  /** An existing folder. */
  readonly folder?: string;
  /** Another blob store than a folder. */
  readonly blobs?: Blobs;
  readonly resolve?: Resolve;
}

/** A folder that is removed with the test. */
export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-media-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function fileStore(
  openFresh: (options?: FreshOptions) => Promise<Database>,
  {
    limits = {},
    downloads = {},
    publicUrl,
    folder: there,
    blobs: given,
    resolve,
  }: FileStoreOptions = {},
): Promise<FileStore> {
  const database = await openFresh({ migrations: [...mediaMigrations, ...uploadMigrations] });
  const folder = there ?? (await temporaryFolder());
  const all = { ...fileLimits, ...limits };
  const store = { time: 1_800_000_000_000 };
  const blobs = given ?? openFolderBlobs(folder);
  const files = openFiles({
    database,
    blobs,
    clock: { now: () => store.time, monotonicMs: () => store.time },
    addresses: new FileUrls(Buffer.alloc(32, 3), publicUrl),
    copies: new VendorDownloads(all, downloads, resolve),
    limits: all,
  });
  return Object.assign(store, {
    files,
    database,
    blobs,
    left: async () => ({
      rows: await database.query('SELECT * FROM file'),
      accounts: await database.query('SELECT * FROM file_account'),
      blobs: (await readdir(folder, { recursive: true, withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map(({ name }) => name),
    }),
  });
}
