export interface ImageFacts {
  readonly format: 'PNG' | 'JPEG' | 'GIF' | 'WebP';
  readonly width: number;
  readonly height: number;
}

/** The facts of an image in a `data:` URL, read from its bytes; undefined when it is no image. */
export function decodeImage(url: string): ImageFacts | undefined {
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  if (data === undefined) return undefined;
  const bytes = Buffer.from(data, 'base64');
  return png(bytes) ?? gif(bytes) ?? webp(bytes) ?? jpeg(bytes);
}

function png(b: Buffer): ImageFacts | undefined {
  if (b.length < 24 || b.toString('latin1', 0, 8) !== '\x89PNG\r\n\x1a\n') return undefined;
  return { format: 'PNG', width: b.readUInt32BE(16), height: b.readUInt32BE(20) };
}

function gif(b: Buffer): ImageFacts | undefined {
  if (b.length < 10 || !/^GIF8[79]a/.test(b.toString('latin1', 0, 6))) return undefined;
  return { format: 'GIF', width: b.readUInt16LE(6), height: b.readUInt16LE(8) };
}

function webp(b: Buffer): ImageFacts | undefined {
  if (
    b.length < 30 ||
    b.toString('latin1', 0, 4) !== 'RIFF' ||
    b.toString('latin1', 8, 12) !== 'WEBP'
  )
    return undefined;
  const kind = b.toString('latin1', 12, 16);
  if (kind === 'VP8X')
    return { format: 'WebP', width: b.readUIntLE(24, 3) + 1, height: b.readUIntLE(27, 3) + 1 };
  if (kind === 'VP8 ')
    return {
      format: 'WebP',
      width: b.readUInt16LE(26) & 0x3fff,
      height: b.readUInt16LE(28) & 0x3fff,
    };
  const bits = b.readUInt32LE(21);
  return { format: 'WebP', width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
}

/** Walks the segments to the first start of frame. */
function jpeg(b: Buffer): ImageFacts | undefined {
  if (b.length < 4 || b.readUInt16BE(0) !== 0xffd8) return undefined;
  for (let at = 2; at + 9 <= b.length && b[at] === 0xff; at += 2 + b.readUInt16BE(at + 2)) {
    const marker = b[at + 1] ?? 0;
    const startsFrame =
      marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (startsFrame)
      return { format: 'JPEG', width: b.readUInt16BE(at + 7), height: b.readUInt16BE(at + 5) };
  }
  return undefined;
}
