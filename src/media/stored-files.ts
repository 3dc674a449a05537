import type { Readable } from 'node:stream';
import type { ByteRange } from '../base/byte-range.ts';
import type { Clock } from '../base/clock.ts';
import { randomText } from '../base/id.ts';
import type { Blobs } from '../storage/blobs.ts';
import { type Database, DatabaseError, type Row } from '../storage/database.ts';
import type { Addresses } from './addresses.ts';
import type { Copies } from './copies.ts';
import { claim, finish, forget } from './file-rows.ts';
import { fileType, headBytes } from './file-type.ts';
import {
  type Files,
  type FileSource,
  type NewFile,
  type NotStored,
  readFileRow,
  type StoredFile,
} from './files.ts';
import type { FileLimits } from './limits.ts';
import { StoreWatch } from './store-watch.ts';

export interface FileParts {
  readonly database: Database;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly addresses: Addresses;
  readonly copies: Copies;
  readonly limits: FileLimits;
}

/**
 * Files as blobs, and a row for each in the database: the row comes first and goes last, so that no
 * blob is ever without one.
 */
export function openFiles(parts: FileParts): Files {
  return new StoredFiles(parts);
}

/**
 * A row whose file is still being written is given up after twice the time that writing may take.
 */
const givenUpAfter = 2;
const expiredAtOnce = 500;
const removedAtOnce = 8;

class StoredFiles implements Files {
  readonly #parts: FileParts;
  readonly #watch: StoreWatch;

  constructor(parts: FileParts) {
    this.#parts = parts;
    this.#watch = new StoreWatch(parts.blobs, parts.clock);
  }

  async put(
    content: Buffer | AsyncIterable<Buffer>,
    file: NewFile,
  ): Promise<StoredFile | NotStored> {
    const pieces = (Buffer.isBuffer(content) ? only(content) : content)[Symbol.asyncIterator]();
    try {
      const head = await readHead(pieces);
      const claimed = Buffer.isBuffer(content) ? content.length : head.length;
      return await this.#store(head, pieces, file, claimed);
    } finally {
      // Whoever gives the bytes is told when nobody wants the rest.
      await pieces.return?.();
    }
  }

  copy(source: FileSource, file: NewFile, left: AbortSignal): Promise<StoredFile | NotStored> {
    return this.#parts.copies.pass(source, left, (body) => this.put(body, file));
  }

  take(source: FileSource, bytesMax: number, left: AbortSignal): Promise<Buffer | NotStored> {
    return this.#parts.copies.pass<Buffer | NotStored>(source, left, async (body) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      for await (const piece of body) {
        bytes += piece.length;
        if (bytes > bytesMax)
          return { why: 'too large', detail: `it is larger than ${bytesMax} bytes` };
        pieces.push(piece);
      }
      return Buffer.concat(pieces, bytes);
    });
  }

  async #store(
    head: Buffer,
    rest: AsyncIterator<Buffer>,
    wish: NewFile,
    claimed: number,
  ): Promise<StoredFile | NotStored> {
    const { database, blobs, clock, limits } = this.#parts;
    const type = fileType(head, wish.kind);
    if (type === undefined)
      return { why: 'wrong type', detail: `it is no ${wish.kind} that we know` };
    const tooLarge: NotStored = {
      why: 'too large',
      detail: `it is larger than ${limits.fileBytesMax} bytes`,
    };
    if (claimed > limits.fileBytesMax) return tooLarge;
    const now = clock.now();
    const { account, expiresAt = now + limits.keptMs } = wish;
    const row = { id: `file_${randomText(32)}`, account, type, createdAt: now };
    const waited = { ...row, bytes: claimed, expiresAt: now + givenUpAfter * limits.writeMs };
    const full: NotStored = {
      why: 'full',
      detail: `the account has ${limits.filesMax} files or ${limits.bytesMax} bytes`,
    };
    const coming = new Coming(head, rest, limits.fileBytesMax);
    try {
      if (!(await database.transact(() => claim(waited, limits)))) return full;
      const bytes = await blobs.write(row.id, coming.pieces());
      this.#watch.heard(true);
      const file = { ...row, bytes, expiresAt };
      if (await database.transact(() => finish(file, claimed, limits))) return file;
      await this.#discard(row.id, true);
      return full;
    } catch (error) {
      // What cannot be removed now, the row still names.
      await this.#discard(row.id, false).catch(() => undefined);
      if (error instanceof TooLarge) return tooLarge;
      if (coming.broke) throw error;
      if (!(error instanceof DatabaseError)) this.#watch.heard(false);
      return { why: 'away', detail: String(error) };
    }
  }

  /** The blob first: a row without one is found again, a blob without a row never is. */
  async #discard(id: string, whole: boolean): Promise<boolean> {
    const { blobs } = this.#parts;
    await (whole ? blobs.remove(id) : blobs.abandon(id));
    return this.#parts.database.transact(() => forget(id));
  }

  async room(account: string): Promise<'room' | 'full' | 'away'> {
    const { database, limits } = this.#parts;
    let row: Row | undefined;
    try {
      [row] = await database.query('SELECT files, bytes FROM file_account WHERE account=$1', [
        account,
      ]);
    } catch {
      return 'away';
    }
    if (
      row !== undefined &&
      (Number(row['files']) >= limits.filesMax || Number(row['bytes']) >= limits.bytesMax)
    )
      return 'full';
    return (await this.#watch.isThere()) ? 'room' : 'away';
  }

  urlOf(file: Pick<StoredFile, 'id' | 'type' | 'expiresAt'>, host: string | undefined): string {
    return this.#parts.addresses.of(file, host);
  }

  async at(path: string, query: URLSearchParams): Promise<StoredFile | undefined> {
    const { addresses, clock, database } = this.#parts;
    const now = clock.now();
    const id = addresses.read(path, query, now);
    if (id === undefined) return undefined;
    const [row] = await database.query(
      'SELECT * FROM file WHERE id=$1 AND stored=1 AND expires_at>$2',
      [id, now],
    );
    return row && readFileRow(row);
  }

  async find(account: string, id: string): Promise<StoredFile | undefined> {
    const { clock, database } = this.#parts;
    const sql = 'SELECT * FROM file WHERE id=$1 AND account=$2 AND stored=1 AND expires_at>$3';
    const [row] = await database.query(sql, [id, account, clock.now()]);
    return row && readFileRow(row);
  }

  read(file: StoredFile, range: ByteRange): Promise<Readable | undefined> {
    return this.#parts.blobs.read(file.id, range);
  }

  async remove(account: string, id: string): Promise<boolean> {
    const file = await this.find(account, id);
    return file !== undefined && this.#discard(file.id, true);
  }

  async expire(): Promise<number> {
    const { clock, database } = this.#parts;
    const sql = `SELECT id, stored FROM file WHERE expires_at<=$1 ORDER BY expires_at LIMIT ${expiredAtOnce}`;
    let removed = 0;
    for (;;) {
      const rows = await database.query(sql, [clock.now()]);
      const before = removed;
      for (let at = 0; at < rows.length; at += removedAtOnce) {
        const some = rows
          .slice(at, at + removedAtOnce)
          .map((row) => this.#discard(String(row['id']), row['stored'] === 1n));
        removed += (await Promise.allSettled(some)).filter(
          (each) => each.status === 'fulfilled' && each.value,
        ).length;
      }
      // One that cannot be removed does not keep the others, and is tried again the next time.
      if (rows.length < expiredAtOnce || removed === before) return removed;
    }
  }
}

class TooLarge extends Error {}

async function* only(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

/** As many pieces as tell what the file is, as one. */
async function readHead(pieces: AsyncIterator<Buffer>): Promise<Buffer> {
  const head: Buffer[] = [];
  for (let bytes = 0; bytes < headBytes; ) {
    const { done, value } = await pieces.next();
    if (done === true) break;
    head.push(value);
    bytes += value.length;
  }
  const [first] = head;
  return first !== undefined && head.length === 1 ? first : Buffer.concat(head);
}

/** What is to be kept, as it comes. */
class Coming {
  /** Whoever gives the bytes could not go on: no fault of the store's. */
  broke = false;
  readonly #head: Buffer;
  readonly #rest: AsyncIterator<Buffer>;
  readonly #bytesMax: number;

  constructor(head: Buffer, rest: AsyncIterator<Buffer>, bytesMax: number) {
    this.#head = head;
    this.#rest = rest;
    this.#bytesMax = bytesMax;
  }

  async *pieces(): AsyncGenerator<Buffer> {
    let bytes = this.#head.length;
    yield this.#head;
    for (;;) {
      const { done, value } = await this.#next();
      if (done === true) return;
      bytes += value.length;
      if (bytes > this.#bytesMax) throw new TooLarge();
      yield value;
    }
  }

  async #next(): Promise<IteratorResult<Buffer>> {
    try {
      return await this.#rest.next();
    } catch (error) {
      this.broke = true;
      throw error;
    }
  }
}
