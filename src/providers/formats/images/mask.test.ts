import { deflateSync, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { InputImage } from '../../media-request.ts';
import { blackAndWhite } from './mask.ts';
import { fittedSize, nearestRatio } from './request.ts';

const chunk = (type: string, data: Buffer): Buffer => {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)]);
};

/** A PNG of 2 by 4 pixels with handwritten rows, each with its own filter. */
function png(
  rows: readonly (readonly number[])[],
  over: { depth?: number; type?: number; interlaced?: number } = {},
): InputImage {
  const { depth = 8, type = 6, interlaced = 0 } = over;
  const head = Buffer.from([0, 0, 0, 2, 0, 0, 0, rows.length, depth, type, 0, 0, interlaced]);
  const data = deflateSync(Buffer.from(rows.flat()));
  const bytes = Buffer.concat([
    Buffer.alloc(8),
    chunk('IHDR', head),
    chunk('IDAT', data.subarray(0, 5)),
    chunk('IDAT', data.subarray(5)),
  ]);
  return { type: 'image/png', width: 2, height: rows.length, bytes };
}

function pixels({ bytes, width, height }: InputImage): number[][] {
  const rows = inflateSync(bytes.subarray(bytes.indexOf('IDAT') + 4, bytes.indexOf('IEND') - 8));
  return Array.from({ length: height }, (_, y) => [
    ...rows.subarray(y * (width + 1) + 1, (y + 1) * (width + 1)),
  ]);
}

// Transparent on the left, opaque on the right, written with each of PNG's filters.
const leftIsOpen = png([
  [0, 9, 9, 9, 0, 9, 9, 9, 255],
  [1, 9, 9, 9, 0, 0, 0, 0, 255],
  [2, 0, 0, 0, 0, 0, 0, 0, 0],
  [3, 5, 5, 5, 0, 0, 0, 0, 128],
  [4, 0, 0, 0, 0, 0, 0, 0, 0],
]);

test('what is transparent is to change, whichever filter wrote it', () => {
  const white = blackAndWhite(leftIsOpen, 'white');
  const black = blackAndWhite(leftIsOpen, 'black');
  expect(white && pixels(white)).toEqual(Array.from({ length: 5 }, () => [255, 0]));
  expect(black && pixels(black)).toEqual(Array.from({ length: 5 }, () => [0, 255]));
});

test('what is no mask, or too much of one, is none', () => {
  const row = [0, 9, 9, 9, 0, 9, 9, 9, 255];
  expect(blackAndWhite(png([row], { type: 2 }), 'white')).toBeUndefined();
  expect(blackAndWhite(png([row], { depth: 16 }), 'white')).toBeUndefined();
  expect(blackAndWhite(png([row], { interlaced: 1 }), 'white')).toBeUndefined();
  expect(blackAndWhite(png([[7, ...row.slice(1)]]), 'white')).toBeUndefined();
  expect(blackAndWhite(png([row.slice(0, 5)]), 'white')).toBeUndefined();
  expect(blackAndWhite(png([[...row, ...row, ...row]]), 'white')).toBeUndefined();
  expect(blackAndWhite({ ...png([row]), type: 'image/jpeg' }, 'white')).toBeUndefined();
  expect(blackAndWhite({ ...png([row]), width: 4_000, height: 4_000 }, 'white')).toBeUndefined();
});

test('a size becomes the nearest shape, and sides that a vendor makes', () => {
  expect(nearestRatio({ width: 1_536, height: 1_024 }, ['1:1', '16:9', '3:2'])).toBe('3:2');
  expect(nearestRatio({ width: 10, height: 10_000 }, ['1x1', '9x16'])).toBe('9x16');
  const rule = { step: 32, least: 256, most: 1_440 };
  for (let width = 16; width < 5_000; width += 211)
    for (let height = 16; height < 5_000; height += 307) {
      const size = fittedSize({ width, height }, { ...rule, pixels: 1_000_000 });
      expect(size.width % 32 === 0 && size.height % 32 === 0, `${width}x${height}`).toBe(true);
      expect(Math.min(size.width, size.height)).toBeGreaterThanOrEqual(256);
      expect(Math.max(size.width, size.height)).toBeLessThanOrEqual(1_440);
      expect(size.width * size.height).toBeLessThanOrEqual(1_000_000);
    }
  expect(fittedSize({ width: 1_024, height: 1_024 }, rule)).toEqual({
    width: 1_024,
    height: 1_024,
  });
});
