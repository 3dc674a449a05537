import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { drawable } from './font.ts';
import { imageOf, textIn } from './png.ts';

test('a text is drawn without accents and strange signs, and not where a letter is missing', () => {
  expect(drawable('A café’s “fox” 🦊 — 1:1')).toBe('A CAFE S FOX 1:1');
  for (const text of ['雪地里的狐狸', 'a fox, 狐狸', 'лиса', '🦊', '', '   '])
    expect(drawable(text), text).toBeUndefined();
});

const side = 90;

/** The pixels of a row as text, one sign each: ` ` for the ground. */
function rowsOf(png: Buffer): readonly string[] {
  const raw = inflateSync(png.subarray(png.indexOf('IDAT') + 4, png.lastIndexOf('IEND') - 8));
  const width = side * 3 + 1;
  const ground = raw.subarray(1, 4);
  return Array.from({ length: side }, (_, y) =>
    Array.from({ length: side }, (_, x) => {
      const at = y * width + 1 + x * 3;
      return raw.subarray(at, at + 3).equals(ground) ? ' ' : '#';
    }).join(''),
  );
}

test('words that the font lacks become a pattern of their own, alike on both sides', () => {
  const fox = imageOf('雪地里的狐狸', side, side);
  const rows = rowsOf(fox);
  const written = rows.join('').replaceAll(' ', '').length;
  expect(written).toBeGreaterThan(side * side * 0.1);
  expect(written).toBeLessThan(side * side * 0.6);
  expect(rows.map((row) => [...row].toReversed().join(''))).toEqual(rows);
  expect(rowsOf(imageOf('雪地里的猫', side, side))).not.toEqual(rows);
  expect(textIn(fox)).toBe('雪地里的狐狸');
});
