import assert from 'node:assert/strict';
import { crc32, deflateSync, inflateSync } from 'node:zlib';
import type { InputImage } from '../../media-request.ts';

/** Decoding a larger mask would hold up all other requests. */
const pixelsMax = 2_048 * 2_048;

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/**
 * The number of samples of a pixel by PNG's colour type, for those with transparency (PNG
 * specification, 3rd edition, table 9).
 */
const channelsOf: Readonly<Record<number, number>> = { 4: 2, 6: 4 };

/** What `blackAndWhite` takes. */
export const maskRule =
  'a mask is a PNG of 8 bits a channel, not interlaced, with transparency where the picture is to change, of at most 2048x2048 pixels.';

/**
 * Turns OpenAI's mask, transparent where the image is to change, into the black and white one that
 * other vendors take: that area gets the colour `change`. Undefined if the mask breaks `maskRule`.
 */
export function blackAndWhite(mask: InputImage, change: 'black' | 'white'): InputImage | undefined {
  const { width, height } = mask;
  if (mask.type !== 'image/png' || width * height > pixelsMax) return undefined;
  const alphas = alphasOf(mask);
  if (alphas === undefined) return undefined;
  const changed = change === 'white' ? 255 : 0;
  const rows = Buffer.alloc((width + 1) * height, 255 - changed);
  for (let y = 0; y < height; y++) {
    rows[y * (width + 1)] = 0;
    for (let x = 0; x < width; x++)
      if ((alphas[y * width + x] ?? 255) < 128) rows[y * (width + 1) + 1 + x] = changed;
  }
  return { type: 'image/png', width, height, bytes: grayscale(width, height, rows) };
}

function grayscale(width: number, height: number, rows: Buffer): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}

function alphasOf({ bytes, width, height }: InputImage): Buffer | undefined {
  const parts: Buffer[] = [];
  let head: Buffer | undefined;
  for (let at = signature.length; at + 12 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    const data = bytes.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') head = data;
    if (type === 'IDAT') parts.push(data);
    at += 12 + length;
  }
  const channels = channelsOf[head?.[9] ?? -1];
  if (head === undefined || channels === undefined || head[8] !== 8 || head[12] !== 0)
    return undefined;
  const bytesPerRow = width * channels + 1;
  try {
    const rows = inflateSync(Buffer.concat(parts), { maxOutputLength: bytesPerRow * height });
    return rows.length === bytesPerRow * height
      ? lastChannel(rows, width, height, channels)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Undoes the filters of all rows (PNG specification, 9.2) and keeps only the transparency. */
function lastChannel(
  rows: Buffer,
  width: number,
  height: number,
  channels: number,
): Buffer | undefined {
  const length = width * channels;
  const alphas = Buffer.alloc(width * height);
  let above: Buffer = Buffer.alloc(length);
  for (let y = 0; y < height; y++) {
    const filter = rows[y * (length + 1)] ?? 0;
    const row = rows.subarray(y * (length + 1) + 1, (y + 1) * (length + 1));
    if (filter > 4) return undefined;
    unfilter(filter, row, above, channels);
    for (let x = 0; x < width; x++) alphas[y * width + x] = row[x * channels + channels - 1] ?? 0;
    above = row;
  }
  return alphas;
}

function unfilter(filter: number, row: Buffer, above: Buffer, channels: number): void {
  if (filter === 0) return;
  for (let i = 0; i < row.length; i++) {
    const left = i < channels ? 0 : (row[i - channels] ?? 0);
    const up = above[i] ?? 0;
    const corner = i < channels ? 0 : (above[i - channels] ?? 0);
    const was = row[i];
    assert(was !== undefined, 'a row is as long as it is');
    row[i] = was + predicted(filter, left, up, corner);
  }
}

function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  const [toLeft, toUp, toCorner] = [
    Math.abs(up - corner),
    Math.abs(left - corner),
    Math.abs(left + up - 2 * corner),
  ];
  return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
}
