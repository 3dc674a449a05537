import { mkdirSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { randomText } from '../base/random.ts';
import { refuse } from '../base/refusal.ts';

export interface SpoolLimits {
  /** An upload up to this size stays in memory; a larger one goes to a file. */
  readonly memoryBytesMax: number;
  /** The most bytes of all uploads at the same time. */
  readonly bytesMax: number;
  /** Bytes of a file per read. */
  readonly pieceBytes: number;
  /** The folder of the files. Undefined: the system's temporary folder. */
  readonly folder: string | undefined;
}

export const spoolLimits: SpoolLimits = {
  memoryBytesMax: 256 * 1024,
  bytesMax: 4 * 1024 * 1024 * 1024,
  pieceBytes: 64 * 1024,
  folder: undefined,
};

const retryAfterMs = 5_000;

/**
 * Keeps uploads while they are used: in memory when small, else in files that have no name and
 * vanish with the process.
 */
export class SpoolPool {
  readonly limits: SpoolLimits;
  #bytes = 0;

  constructor(limits: SpoolLimits = spoolLimits) {
    this.limits = limits;
  }

  /** Bytes of all uploads. */
  get bytes(): number {
    return this.#bytes;
  }

  open(): Spool {
    return new Spool(this);
  }

  /** Throws the Refusal when the uploads exceed `bytesMax`. */
  reserve(bytes: number): void {
    if (this.#bytes + bytes > this.limits.bytesMax)
      refuse('unavailable', { why: 'too many uploads at once', id: '' }, retryAfterMs);
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * The content of one upload. Written once from start to end, then read as often as needed, also by
 * several readers at a time.
 */
export class Spool {
  readonly #spools: SpoolPool;
  #pieces: Buffer[] = [];
  #file: FileHandle | undefined;
  #size = 0;
  #removed = false;

  constructor(spools: SpoolPool) {
    this.#spools = spools;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#size;
  }

  /** Returns undefined when the caller need not wait. */
  write(piece: Buffer): Promise<void> | undefined {
    if (this.#removed) return undefined;
    this.#spools.reserve(piece.length);
    const at = this.#size;
    this.#size += piece.length;
    if (this.#file !== undefined) {
      countPassedBytes(piece.length);
      return writeAll(this.#file, piece, at);
    }
    this.#pieces.push(piece);
    return this.#size <= this.#spools.limits.memoryBytesMax ? undefined : this.#toFile();
  }

  async #toFile(): Promise<void> {
    const { folder = tmpdir() } = this.#spools.limits;
    mkdirSync(folder, { recursive: true });
    const path = join(folder, `upload-${randomText(16)}`);
    const file = await open(path, 'wx+', 0o600);
    // The file has no name from here on: the system frees it when it is closed, even by the death
    // of the process.
    await unlink(path);
    if (this.#removed) return file.close();
    const pieces = this.#pieces;
    this.#file = file;
    await writeAll(file, Buffer.concat(pieces), 0);
    this.#pieces = [];
  }

  /** `length` bytes from `at`, or as many of them as there are. */
  async slice(at: number, length: number): Promise<Buffer> {
    if (this.#removed) throw new Error('the upload is gone');
    const bytes = Math.max(0, Math.min(length, this.#size - at));
    if (this.#file === undefined) return this.#whole().subarray(at, at + bytes);
    const into = Buffer.allocUnsafeSlow(bytes);
    let had = 0;
    while (had < bytes) {
      const { bytesRead } = await this.#file.read(into, had, bytes - had, at + had);
      if (bytesRead === 0) throw new Error('the upload is shorter than it was');
      had += bytesRead;
    }
    countPassedBytes(bytes);
    return into;
  }

  #whole(): Buffer {
    const [first = Buffer.alloc(0), ...more] = this.#pieces;
    if (more.length === 0) return first;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }

  /** Everything, piece by piece. */
  async *read(): AsyncGenerator<Buffer, void, void> {
    for (let at = 0; at < this.#size; at += this.#spools.limits.pieceBytes)
      yield await this.slice(at, this.#spools.limits.pieceBytes);
  }

  /** Everything at once: for small uploads. */
  bytes(): Promise<Buffer> {
    return this.slice(0, this.#size);
  }

  /** Drops the upload. May be called twice. */
  remove(): void {
    if (this.#removed) return;
    this.#removed = true;
    this.#spools.release(this.#size);
    this.#pieces = [];
    void this.#file?.close().catch(() => undefined);
  }
}

async function writeAll(file: FileHandle, piece: Buffer, at: number): Promise<void> {
  for (let had = 0; had < piece.length; )
    had += (await file.write(piece, had, piece.length - had, at + had)).bytesWritten;
}

const lookEveryBytes = 1024 * 1024;
let bytesPassed = 0;
let collectYoung: (() => void) | undefined;

/**
 * Counts the bytes of file content that pass through. These buffers are garbage at once, but take
 * next to nothing on V8's own heap, so that V8 lets tens of megabytes of them lie before it
 * collects (a bare server that drops a body of 25 MB grows by 17 MB). So the young generation is
 * collected after every megabyte, which takes half a millisecond.
 */
function countPassedBytes(bytes: number): void {
  bytesPassed += bytes;
  if (bytesPassed < lookEveryBytes) return;
  bytesPassed = 0;
  collectYoung ??= openCollector();
  collectYoung();
}

/** V8's own collector, which no other code in this process gets to see. */
function openCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  return typeof collect === 'function'
    ? () => void collect({ type: 'minor', execution: 'sync' })
    : () => {};
}

/** A file in the body of a request: as it is, or in base64. */
export interface EnclosedFile {
  readonly file: Spool;
  readonly as: 'bytes' | 'base64';
}

/** A multiple of three bytes, so that no piece but the last needs padding. */
const base64PieceBytes = 48 * 1024;

/**
 * The body of a request whose files are read while they are sent, and its length in bytes. Without
 * files, the body is its pieces.
 */
export function bodyWithFiles(
  body: Buffer,
  rest: readonly (Buffer | EnclosedFile)[],
): { readonly body: Readable | readonly Buffer[]; readonly length: number } {
  const length = rest.reduce((sum, part) => sum + lengthOf(part), body.length);
  const pieces = [body, ...rest];
  return {
    body: pieces.every(isBytes) ? pieces : Readable.from(bytesOf(pieces), { objectMode: false }),
    length,
  };
}

const isBytes = (part: Buffer | EnclosedFile): part is Buffer => Buffer.isBuffer(part);

function lengthOf(part: Buffer | EnclosedFile): number {
  if (Buffer.isBuffer(part)) return part.length;
  return part.as === 'bytes' ? part.file.size : Math.ceil(part.file.size / 3) * 4;
}

async function* bytesOf(
  parts: readonly (Buffer | EnclosedFile)[],
): AsyncGenerator<Buffer, void, void> {
  for (const part of parts) {
    if (Buffer.isBuffer(part)) yield part;
    else if (part.as === 'bytes') yield* part.file.read();
    else
      for (let at = 0; at < part.file.size; at += base64PieceBytes)
        yield Buffer.from(
          (await part.file.slice(at, base64PieceBytes)).toString('base64'),
          'latin1',
        );
  }
}
