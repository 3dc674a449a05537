import { mkdirSync } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomText } from '../base/id.ts';
import { refuse } from '../base/refusal.ts';
import { passed } from './passed.ts';

export interface SpoolLimits {
  /** What is not longer stays in memory; the rest goes to a file. */
  readonly memoryBytesMax: number;
  /** All uploads that are here at the same time. */
  readonly bytesMax: number;
  /** What is read of a file at a time. */
  readonly pieceBytes: number;
  /** Where the files are. Undefined: the system's folder for what is temporary. */
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
 * Keeps uploads while they are at work: in memory when small, else in files that have no name and
 * vanish with the process.
 */
export class Spools {
  readonly limits: SpoolLimits;
  #bytes = 0;

  constructor(limits: SpoolLimits = spoolLimits) {
    this.limits = limits;
  }

  /** Of all uploads that are here. */
  get bytes(): number {
    return this.#bytes;
  }

  open(): Spool {
    return new Spool(this);
  }

  /** Throws the Refusal when there are too many at once. */
  take(bytes: number): void {
    if (this.#bytes + bytes > this.limits.bytesMax)
      refuse('unavailable', { why: 'too many uploads at once', id: '' }, retryAfterMs);
    this.#bytes += bytes;
  }

  give(bytes: number): void {
    this.#bytes -= bytes;
  }
}

/**
 * What one upload holds. Written once from start to end, then read as often as it is needed, also
 * by several at a time.
 */
export class Spool {
  readonly #spools: Spools;
  #pieces: Buffer[] = [];
  #file: FileHandle | undefined;
  #size = 0;
  #removed = false;

  constructor(spools: Spools) {
    this.#spools = spools;
  }

  /** Bytes written so far. */
  get size(): number {
    return this.#size;
  }

  /** Undefined when nobody has to wait. */
  write(piece: Buffer): Promise<void> | undefined {
    if (this.#removed) return undefined;
    this.#spools.take(piece.length);
    const at = this.#size;
    this.#size += piece.length;
    if (this.#file !== undefined) {
      passed(piece.length);
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
    // It has no name from here on: the system frees it when it is closed, even by the death of the
    // process.
    await unlink(path);
    if (this.#removed) return file.close();
    const pieces = this.#pieces;
    this.#file = file;
    await writeAll(file, Buffer.concat(pieces), 0);
    this.#pieces = [];
  }

  /** `length` bytes from `at`, or what is there of them. */
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
    passed(bytes);
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

  /** Everything at once: for what is known to be small. */
  bytes(): Promise<Buffer> {
    return this.slice(0, this.#size);
  }

  /** Nobody needs it any more. May be called twice. */
  remove(): void {
    if (this.#removed) return;
    this.#removed = true;
    this.#spools.give(this.#size);
    this.#pieces = [];
    void this.#file?.close().catch(() => undefined);
  }
}

async function writeAll(file: FileHandle, piece: Buffer, at: number): Promise<void> {
  for (let had = 0; had < piece.length; )
    had += (await file.write(piece, had, piece.length - had, at + had)).bytesWritten;
}
