import type { Readable } from 'node:stream';
import type { ByteRange } from '../base/byte-range.ts';
import type { Clock } from '../base/clock.ts';
import { randomText } from '../base/random.ts';
import type { Blobs } from '../storage/blobs.ts';
import { type Database, DatabaseError, type Row } from '../storage/database.ts';
import type { FileUrls } from './file-urls.ts';
import { fileType, headBytes } from './content-type.ts';
import type { VendorDownloads } from './downloads.ts';
import { insertFile, completeFile, deleteFile } from './file-table.ts';
import {
  type Files,
  type FileSource,
  type NewFile,
  type NotStored,
  readFileRow,
  type StoredFile,
} from './files.ts';
import type { FileLimits } from './limits.ts';
import { removeExpired } from './remove-expired.ts';

export interface FileParts {
  readonly database: Database;
  readonly blobs: Blobs;
  readonly clock: Clock;
  readonly addresses: FileUrls;
  readonly copies: VendorDownloads;
  readonly limits: FileLimits;
}

/**
 * Stores files as blobs, with a row for each in the database. The row is inserted first and deleted
 * last, so that no blob is ever without one.
 */
export function openFiles(parts: FileParts): Files {
  return new StoredFiles(parts);
}

/** The row of an unfinished file is removed after twice the time that writing may take. */
const givenUpAfter = 2;
const pieceType = 'application/octet-stream';
const unlimited = { filesMax: Number.MAX_SAFE_INTEGER, bytesMax: Number.MAX_SAFE_INTEGER };

class StoredFiles implements Files {
  readonly #parts: FileParts;
  readonly #watch: BlobStoreWatch;

  constructor(parts: FileParts) {
    this.#parts = parts;
    this.#watch = new BlobStoreWatch(parts.blobs, parts.clock);
  }

  async put(
    content: Buffer | AsyncIterable<Buffer>,
    file: NewFile,
  ): Promise<StoredFile | NotStored> {
    const pieces = (Buffer.isBuffer(content) ? onePiece(content) : content)[Symbol.asyncIterator]();
    try {
      const head = await readHead(pieces);
      const claimed = Buffer.isBuffer(content) ? content.length : head.length;
      return await this.#store(head, pieces, file, claimed);
    } finally {
      // The source learns that the rest of its bytes is not needed.
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
    newFile: NewFile,
    claimed: number,
  ): Promise<StoredFile | NotStored> {
    const { database, blobs, clock } = this.#parts;
    const limits = newFile.promised ? { ...this.#parts.limits, ...unlimited } : this.#parts.limits;
    const type = newFile.kind === 'piece' ? pieceType : fileType(head, newFile.kind);
    if (type === undefined)
      return { why: 'wrong type', detail: `it is no ${newFile.kind} that we know` };
    const tooLarge: NotStored = {
      why: 'too large',
      detail: `it is larger than ${limits.fileBytesMax} bytes`,
    };
    if (claimed > limits.fileBytesMax) return tooLarge;
    const now = clock.now();
    const { account, expiresAt = now + limits.keptMs } = newFile;
    const row = { id: `file_${randomText(32)}`, account, type, createdAt: now };
    const waited = { ...row, bytes: claimed, expiresAt: now + givenUpAfter * limits.writeMs };
    const full: NotStored = {
      why: 'full',
      detail: `the account has ${limits.filesMax} files or ${limits.bytesMax} bytes`,
    };
    const coming = new IncomingFile(head, rest, limits.fileBytesMax);
    try {
      if (!(await database.transact(() => insertFile(waited, limits)))) return full;
      const bytes = await blobs.write(row.id, coming.pieces());
      this.#watch.noteWrite(true);
      const file = { ...row, bytes, expiresAt };
      if (await database.transact(() => completeFile(file, claimed, limits))) return file;
      await this.#discard(row.id, true);
      return full;
    } catch (error) {
      // The row still names what cannot be removed now.
      await this.#discard(row.id, false).catch(() => undefined);
      if (error instanceof TooLarge) return tooLarge;
      if (coming.broke) throw error;
      if (!(error instanceof DatabaseError)) this.#watch.noteWrite(false);
      return { why: 'away', detail: String(error) };
    }
  }

  /** The blob goes first: a row without a blob is found again, a blob without a row never is. */
  async #discard(id: string, whole: boolean): Promise<boolean> {
    const { blobs } = this.#parts;
    await (whole ? blobs.remove(id) : blobs.abandon(id));
    return this.#parts.database.transact(() => deleteFile(id));
  }

  async room(account: string, coming = 0): Promise<'room' | 'full' | 'away'> {
    const { database, limits } = this.#parts;
    let row: Row | undefined;
    try {
      [row] = await database.query('SELECT files, bytes FROM file_account WHERE account=$1', [
        account,
      ]);
    } catch {
      return 'away';
    }
    const files = Number(row?.['files'] ?? 0) + coming;
    if (files >= limits.filesMax || Number(row?.['bytes'] ?? 0) >= limits.bytesMax) return 'full';
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

  expire(stopped: () => boolean = () => false): Promise<number> {
    const { clock, database } = this.#parts;
    const sql = 'SELECT id, stored FROM file WHERE expires_at<=$1 ORDER BY expires_at LIMIT $2';
    return removeExpired(
      (count) => database.query(sql, [clock.now(), count]),
      (row) => this.#discard(String(row['id']), row['stored'] === 1n),
      stopped,
    );
  }
}

class TooLarge extends Error {}

async function* onePiece(content: Buffer): AsyncGenerator<Buffer> {
  yield content;
}

/** The first pieces, joined: enough to show the type of the file. */
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

/** The bytes of a file as they arrive. */
class IncomingFile {
  /** The source of the bytes failed, not the store. */
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

/** How long the store's last result is trusted. */
const wellMs = 5_000;
const awayMs = 1_000;
/** A store that does not answer for this long is away. */
const silenceMs = 3_000;

/**
 * Knows from the last write or check whether the store takes files now, so that no vendor is
 * called, and paid, for a file that cannot be stored.
 */
class BlobStoreWatch {
  readonly #blobs: Pick<Blobs, 'check'>;
  readonly #clock: Clock;
  #last: Promise<boolean> = Promise.resolve(true);
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(blobs: Pick<Blobs, 'check'>, clock: Clock) {
    this.#blobs = blobs;
    this.#clock = clock;
  }

  /** Checks the store when the last result is too old, once for all callers. Never rejects. */
  isThere(): Promise<boolean> {
    if (this.#clock.monotonicMs() >= this.#untilMs) {
      this.#believe(this.#check(), silenceMs);
    }
    return this.#last;
  }

  /** Notes whether a write succeeded. */
  noteWrite(well: boolean): void {
    this.#believe(Promise.resolve(well), well ? wellMs : awayMs);
  }

  async #check(): Promise<boolean> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), silenceMs);
    const well = await this.#blobs.check(late.signal).then(
      () => true,
      () => false,
    );
    clearTimeout(timer);
    this.#untilMs = this.#clock.monotonicMs() + (well ? wellMs : awayMs);
    return well;
  }

  #believe(answer: Promise<boolean>, forMs: number): void {
    this.#last = answer;
    this.#untilMs = this.#clock.monotonicMs() + forMs;
  }
}
