import { constants, createReadStream } from 'node:fs';
import { access, type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { ByteRange } from '../base/byte-range.ts';
import { errorCodeOf } from '../base/thrown.ts';
import { type Blobs, requireKey } from './blobs.ts';

/**
 * Blobs as files of `folder`, spread over folders of two characters, since folders of very many
 * files are slow. A file is written under another name, made durable and renamed: whatever ends the
 * process, a name stands for a whole file or for none.
 */
export function openFolderBlobs(folder: string): Blobs {
  return new FolderBlobs(folder);
}

class FolderBlobs implements Blobs {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async write(key: string, content: AsyncIterable<Buffer>): Promise<number> {
    const path = this.#path(key);
    const shelf = dirname(path);
    const made = await mkdir(shelf, { recursive: true });
    if (made !== undefined)
      for (const folder of new Set([dirname(made), dirname(shelf)])) await syncFolder(folder);
    const part = partOf(path);
    let bytes: number;
    try {
      bytes = await writeDurably(part, content);
      await rename(part, path);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    await syncFolder(shelf);
    return bytes;
  }

  async read(key: string, { first, last }: ByteRange): Promise<Readable | undefined> {
    let handle: FileHandle;
    try {
      handle = await open(this.#path(key), 'r');
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
    // A file that a failing disk cut short counts as gone: its reader would wait for the missing
    // bytes.
    if ((await handle.stat()).size <= last) {
      await handle.close();
      return undefined;
    }
    // The stream closes the handle, however it ends.
    return createReadStream('', { fd: handle, start: first, end: last });
  }

  async remove(key: string): Promise<void> {
    await rm(this.#path(key), { force: true });
  }

  async abandon(key: string): Promise<void> {
    await rm(partOf(this.#path(key)), { force: true });
    await this.remove(key);
  }

  async check(): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await access(this.#folder, constants.W_OK);
  }

  async close(): Promise<void> {}

  #path(key: string): string {
    requireKey(key);
    return join(this.#folder, key.slice(-2), key);
  }
}

/** The name of a file until it is whole. */
export const partOf = (path: string): string => `${path}.part`;

async function writeDurably(path: string, content: AsyncIterable<Buffer>): Promise<number> {
  const handle = await open(path, 'w', 0o600);
  let bytes = 0;
  try {
    for await (const piece of content) {
      await handle.writeFile(piece);
      bytes += piece.length;
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  return bytes;
}

/** A new name is durable when its folder is. */
export async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
