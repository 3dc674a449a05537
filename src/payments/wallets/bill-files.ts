import { setImmediate } from 'node:timers/promises';
import { inflateRawSync } from 'node:zlib';
import { mebibyte } from '../../base/mebibyte.ts';
import type { BillLine } from '../wallet.ts';

/** The largest bill, as it is sent and unpacked. */
export const billBytesMax = 64 * mebibyte;

/** The cells of a bill's line by the column's name; undefined when it has no such column. */
export type BillCells = (column: string) => string | undefined;

/** A bill may have a hundred thousand lines, and this process serves requests meanwhile. */
const linesAtOnce = 200;

/**
 * Reads each line of a bill that is not empty. Undefined when one cannot be read. `cellsOf` cuts a
 * line into cells, without their padding, one for each name of the head.
 */
export async function readLines(
  names: readonly string[],
  lines: readonly string[],
  cellsOf: (line: string) => readonly string[] | undefined,
  lineOf: (cells: BillCells) => BillLine | undefined,
): Promise<readonly BillLine[] | undefined> {
  const columns = new Map(names.map((name, index) => [name, index]));
  const read: BillLine[] = [];
  for (const [index, text] of lines.entries()) {
    if (index % linesAtOnce === linesAtOnce - 1) await setImmediate();
    if (text.trim() === '') continue;
    const cells = cellsOf(text);
    const line =
      cells?.length === names.length
        ? lineOf((column) => cells[columns.get(column) ?? cells.length])
        : undefined;
    if (line === undefined) return undefined;
    read.push(line);
  }
  return read;
}

/** The names of a bill's columns. */
export const namesOf = (head: string): readonly string[] =>
  head.split(',').map((name) => name.trim());

const endMark = 0x06054b50;
const entryMark = 0x02014b50;
const endBytes = 22;
const entryBytes = 46;
const headBytes = 30;
const stored = 0;
const deflated = 8;

/**
 * The contents of a ZIP file's entries, in its order (pkware.com APPNOTE 6.3.10, §4.3). Without
 * names: wallets write them in an encoding of their own. Undefined when it is no such file, or
 * larger than `bytesMax` when unpacked.
 */
export function unzip(file: Buffer, bytesMax: number): readonly Buffer[] | undefined {
  try {
    return entries(file, bytesMax);
  } catch {
    return undefined;
  }
}

function entries(file: Buffer, bytesMax: number): readonly Buffer[] {
  const end = endOf(file);
  const contents: Buffer[] = [];
  let left = bytesMax;
  let at = file.readUInt32LE(end + 16);
  for (let count = file.readUInt16LE(end + 10); count > 0; count--) {
    if (file.readUInt32LE(at) !== entryMark) throw new Error('no entry where one should be');
    const content = contentOf(file, at, left);
    left -= content.length;
    contents.push(content);
    at +=
      entryBytes +
      file.readUInt16LE(at + 28) +
      file.readUInt16LE(at + 30) +
      file.readUInt16LE(at + 32);
  }
  return contents;
}

/** The end record stands at the end of the file, before a comment. */
function endOf(file: Buffer): number {
  for (let at = file.length - endBytes; at >= Math.max(0, file.length - endBytes - 0xffff); at--) {
    if (file.readUInt32LE(at) === endMark) return at;
  }
  throw new Error('no end');
}

function contentOf(file: Buffer, at: number, bytesMax: number): Buffer {
  const method = file.readUInt16LE(at + 10);
  const packedBytes = file.readUInt32LE(at + 20);
  const bytes = file.readUInt32LE(at + 24);
  const head = file.readUInt32LE(at + 42);
  const begin = head + headBytes + file.readUInt16LE(head + 26) + file.readUInt16LE(head + 28);
  const packed = file.subarray(begin, begin + packedBytes);
  if (packed.length !== packedBytes || bytes > bytesMax) throw new Error('not all of it');
  if (method === stored) return packed;
  if (method !== deflated) throw new Error('packed in a way of its own');
  const content = inflateRawSync(packed, { maxOutputLength: Math.max(1, bytes) });
  if (content.length !== bytes) throw new Error('not all of it');
  return content;
}
