import { crc32, deflateSync } from 'node:zlib';
import { hash } from '../tokens.ts';
import { drawable, drawn, glyphHeight, glyphWidth } from './font.ts';

/**
 * An image of its own prompt: the words on a ground of a derived colour, in exactly this size; a
 * pattern derived from the words where the font cannot write them. `transparent`: without the
 * ground.
 */
export function imageOf(
  prompt: string,
  width: number,
  height: number,
  transparent = false,
): Buffer {
  const [red, green, blue] = groundOf(prompt);
  const words = drawable(prompt);
  const rows = words === undefined ? pattern(prompt, width, height) : writing(words, width, height);
  const channels = transparent ? 4 : 3;
  const raw = Buffer.alloc((width * channels + 1) * height);
  const ground = transparent ? [0, 0, 0, 0] : [red, green, blue];
  const ink = transparent ? [red, green, blue, 255] : [255, 255, 255];
  const plain = Buffer.from(Array.from({ length: width }, () => ground).flat());
  for (let y = 0; y < height; y++) {
    const at = y * (width * channels + 1) + 1;
    plain.copy(raw, at);
    for (const x of rows.get(y) ?? [])
      for (let c = 0; c < channels; c++) raw[at + x * channels + c] = ink[c] ?? 0;
  }
  return pngOf(raw, width, height, transparent ? 6 : 2, { Description: prompt.slice(0, 1_000) });
}

/** The words that `imageOf` wrote into an image; undefined for any other image. */
export function textIn(png: Buffer): string | undefined {
  for (let at = 8; at + 12 <= png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) !== 'iTXt') continue;
    const text = png.subarray(at + 8, at + 8 + png.readUInt32BE(at));
    if (text.toString('latin1', 0, 12) === 'Description\0') return text.toString('utf8', 16);
  }
  return undefined;
}

const groundOf = (prompt: string): readonly [number, number, number] => {
  const seed = hash(prompt);
  return [40 + (seed & 127), 40 + ((seed >> 7) & 127), 40 + ((seed >> 14) & 127)];
};

const squares = 7;

/** Squares that the prompt chooses, alike on the left and the right, around the middle. */
function pattern(prompt: string, width: number, height: number): Map<number, number[]> {
  const side = Math.max(1, Math.floor(Math.min(width, height) / (squares + 2)));
  const left = Math.floor((width - squares * side) / 2);
  const top = Math.floor((height - squares * side) / 2);
  const rows = new Map<number, number[]>();
  for (let y = 0; y < squares; y++)
    for (let x = 0; x < squares; x++) {
      const chosen = hash(`${Math.min(x, squares - 1 - x)} ${y} ${prompt}`) >> 16;
      if (chosen & 1) fill(rows, left + x * side, top + y * side, side, width, height);
    }
  return rows;
}

/**
 * The written pixels of each row: the words in lines as wide as the image, in the largest letters
 * that fit.
 */
function writing(text: string, width: number, height: number): Map<number, number[]> {
  let scale = Math.max(1, Math.floor(Math.min(width, height) / 96));
  const perLine = (): number => Math.max(1, Math.floor(width / (glyphWidth * scale)) - 2);
  while (scale > 1 && Math.ceil(text.length / perLine()) * glyphHeight * scale > height * 0.8)
    scale -= 1;
  const rows = new Map<number, number[]>();
  const most = perLine();
  for (let line = 0; line * most < text.length; line++) {
    const top = (line + 1) * glyphHeight * scale;
    for (const [i, letter] of [...text.slice(line * most, (line + 1) * most)].entries())
      for (const [x, y] of drawn(letter))
        fill(rows, (i + 1) * glyphWidth * scale + x * scale, top + y * scale, scale, width, height);
  }
  return rows;
}

function fill(
  rows: Map<number, number[]>,
  left: number,
  top: number,
  scale: number,
  width: number,
  height: number,
): void {
  for (let y = top; y < Math.min(top + scale, height); y++) {
    const row = rows.get(y) ?? [];
    for (let x = left; x < Math.min(left + scale, width); x++) row.push(x);
    rows.set(y, row);
  }
}

/** `raw`: the rows, each after its filter byte. */
function pngOf(
  raw: Buffer,
  width: number,
  height: number,
  colour: number,
  texts: Readonly<Record<string, string>>,
): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, colour, 0, 0, 0], 8);
  const notes = Object.entries(texts).map(([name, text]) =>
    chunk('iTXt', Buffer.concat([Buffer.from(`${name}\0\0\0\0\0`, 'latin1'), Buffer.from(text)])),
  );
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', head),
    ...notes,
    chunk('IDAT', deflateSync(raw, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const whole = Buffer.alloc(body.length + 8);
  whole.writeUInt32BE(data.length, 0);
  body.copy(whole, 4);
  whole.writeUInt32BE(crc32(body), body.length + 4);
  return whole;
}
