/** The facts of an image, read from its bytes. */
export interface ImageFacts {
  readonly type: 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif';
  readonly width: number;
  readonly height: number;
  /** The image may have transparent places. */
  readonly alpha: boolean;
}

/**
 * An image of more pixels is refused as a bomb: a small file that takes gigabytes when it is
 * opened.
 */
export const pixelsMax = 64 * 1024 * 1024;

const formats = 'PNG, JPEG, WebP or GIF';

/**
 * Reads the structure of an image without decoding it. Returns its facts, or why no model could use
 * it: the end of a sentence that the client reads.
 */
export function readImage(bytes: Buffer): ImageFacts | string {
  if (bytes.length === 0) return 'it is empty.';
  const read = readers.find(({ begins }) => begins(bytes))?.read;
  if (read === undefined) return `it is no picture that we know. Supported formats are ${formats}.`;
  let facts: ImageFacts | undefined;
  try {
    facts = read(bytes);
  } catch (error) {
    // A part declares a length beyond the end of the file.
    if (!(error instanceof RangeError)) throw error;
  }
  if (facts === undefined) return 'it is a damaged picture, or only the beginning of one.';
  const { width, height } = facts;
  if (width === 0 || height === 0) return 'it is a picture without pixels.';
  if (width * height > pixelsMax)
    return `it has ${width} x ${height} pixels: more than ${pixelsMax} are not supported.`;
  return facts;
}

const hasTextAt = (bytes: Buffer, at: number, text: string): boolean =>
  bytes.toString('latin1', at, at + text.length) === text;

interface Format {
  readonly begins: (bytes: Buffer) => boolean;
  /** Returns undefined or throws a RangeError when the file is cut short. */
  readonly read: (bytes: Buffer) => ImageFacts | undefined;
}

const readers: readonly Format[] = [
  { begins: (bytes) => hasTextAt(bytes, 0, '\x89PNG\r\n\x1a\n'), read: png },
  { begins: (bytes) => bytes.length > 2 && bytes.readUIntBE(0, 3) === 0xffd8ff, read: jpeg },
  { begins: (bytes) => hasTextAt(bytes, 0, 'GIF87a') || hasTextAt(bytes, 0, 'GIF89a'), read: gif },
  { begins: (bytes) => hasTextAt(bytes, 0, 'RIFF') && hasTextAt(bytes, 8, 'WEBP'), read: webp },
];

/**
 * w3.org/TR/png-3: chunks of `length, type, data, CRC`, from IHDR to IEND, with the pixels in IDAT.
 */
function png(bytes: Buffer): ImageFacts | undefined {
  if (!hasTextAt(bytes, 12, 'IHDR')) return undefined;
  const colour = bytes.readUInt8(25);
  let alpha = colour === 4 || colour === 6;
  let drawn = false;
  for (let at = 8; ; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'IEND') break;
    if (type === 'tRNS') alpha = true;
    if (type === 'IDAT' && length > 0) drawn = true;
    at += 12 + length;
  }
  if (!drawn) return undefined;
  return {
    type: 'image/png',
    width: bytes.readUInt32BE(16),
    height: bytes.readUInt32BE(20),
    alpha,
  };
}

const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;

/** w3.org/Graphics/JPEG/itu-t81.pdf: segments up to the scan, which lasts until the end mark. */
function jpeg(bytes: Buffer): ImageFacts | undefined {
  let size: { width: number; height: number } | undefined;
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) return undefined;
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (isFrame(marker))
      size = { height: bytes.readUInt16BE(at + 5), width: bytes.readUInt16BE(at + 7) };
    const length = bytes.readUInt16BE(at + 2);
    if (length < 2) return undefined;
    at += 2 + length;
    if (marker === 0xda)
      return size === undefined || bytes.indexOf('\xff\xd9', at, 'latin1') < 0
        ? undefined
        : { type: 'image/jpeg', ...size, alpha: false };
  }
}

/**
 * w3.org/Graphics/GIF/spec-gif89a.txt: it ends with a semicolon; some writers add a byte or two.
 */
function gif(bytes: Buffer): ImageFacts | undefined {
  const ends = bytes.subarray(-4).includes(0x3b);
  if (!ends || bytes.length < 26) return undefined;
  return {
    type: 'image/gif',
    width: bytes.readUInt16LE(6),
    height: bytes.readUInt16LE(8),
    alpha: true,
  };
}

/** developers.google.com/speed/webp/docs/riff_container. */
function webp(bytes: Buffer): ImageFacts | undefined {
  if (bytes.length < 8 + bytes.readUInt32LE(4)) return undefined;
  const type = 'image/webp';
  if (hasTextAt(bytes, 12, 'VP8X')) {
    const alpha = (bytes.readUInt8(20) & 0x10) !== 0;
    return { type, width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1, alpha };
  }
  if (hasTextAt(bytes, 12, 'VP8 '))
    return {
      type,
      width: bytes.readUInt16LE(26) & 0x3fff,
      height: bytes.readUInt16LE(28) & 0x3fff,
      alpha: false,
    };
  if (!hasTextAt(bytes, 12, 'VP8L')) return undefined;
  const bits = bytes.readUInt32LE(21);
  return {
    type,
    width: (bits & 0x3fff) + 1,
    height: ((bits >> 14) & 0x3fff) + 1,
    alpha: (bits & 0x10000000) !== 0,
  };
}
