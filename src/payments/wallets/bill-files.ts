import { inflateRawSync } from 'node:zlib';

/**
 * A bill's rows by the column names in its head; a row with another number of cells is empty.
 * `split` cuts a line into cells and strips their padding.
 */
export function rowsByName(
  head: string,
  lines: readonly string[],
  split: (line: string, columns: number) => readonly string[],
): readonly ReadonlyMap<string, string>[] {
  const names = head.split(',').map((name) => name.trim());
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const cells = split(line, names.length);
      return new Map(
        cells.length === names.length ? names.map((name, index) => [name, cells[index] ?? '']) : [],
      );
    });
}

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
