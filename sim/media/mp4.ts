/**
 * A valid video without a library: H.264 (ITU-T H.264, baseline) of uncompressed macroblocks
 * (I_PCM, §7.3.5) for one image a second and skipped ones (P_Skip) between, in an MP4 (ISO/IEC
 * 14496-12 and -15). Every player plays it. A bright block moves from left to right, over a colour
 * derived from the prompt.
 */
export interface VideoFacts {
  readonly seconds: number;
  readonly prompt: string;
  /** Width and height give the video's shape, not its size. */
  readonly width: number;
  readonly height: number;
}

const framesASecond = 4;
const timescale = 1_000;
const block = 16;
const blocksLong = 10;
const frameNumberBits = 8;

/** The bytes of an MP4 file of that many seconds, some 25 KB each. */
export function mp4Of({ seconds, prompt, width, height }: VideoFacts): Buffer {
  const [columns, rows] = shapeOf(width, height);
  const colour = colourOf(prompt);
  const samples: Buffer[] = [];
  for (let second = 0; second < seconds; second++) {
    samples.push(framed(frameOf(columns, rows, second, second / Math.max(1, seconds - 1), colour)));
    for (let n = 1; n < framesASecond; n++) samples.push(framed(still(columns * rows, n)));
  }
  return file(samples, columns, rows);
}

function shapeOf(width: number, height: number): readonly [number, number] {
  const long = blocksLong;
  const short = Math.max(2, Math.round((Math.min(width, height) / Math.max(width, height)) * long));
  return width >= height ? [long, short] : [short, long];
}

function colourOf(prompt: string): readonly [number, number] {
  let hash = 7;
  for (const letter of prompt) hash = (hash * 31 + (letter.codePointAt(0) ?? 0)) % 65_521;
  return [64 + (hash % 128), 64 + (Math.floor(hash / 128) % 128)];
}

/** A bit writer in the order of the standard: fixed length, and Exp-Golomb (§9.1). */
class Bits {
  readonly #bytes: number[] = [];
  #byte = 0;
  #count = 0;

  u(value: number, bits: number): this {
    for (let i = bits - 1; i >= 0; i--) this.#push(Math.floor(value / 2 ** i) % 2);
    return this;
  }

  ue(value: number): this {
    const bits = Math.floor(Math.log2(value + 1));
    return this.u(0, bits).u(value + 1, bits + 1);
  }

  /** Raw bytes, after alignment with zeros. */
  bytes(bytes: Iterable<number>): this {
    while (this.#count > 0) this.#push(0);
    this.#bytes.push(...bytes);
    return this;
  }

  /** Ends with a one bit and zeros. */
  end(): Buffer {
    this.#push(1);
    while (this.#count > 0) this.#push(0);
    return Buffer.from(this.#bytes);
  }

  #push(bit: number): void {
    this.#byte = this.#byte * 2 + bit;
    this.#count += 1;
    if (this.#count < 8) return;
    this.#bytes.push(this.#byte);
    this.#byte = 0;
    this.#count = 0;
  }
}

/**
 * A unit with its header; escapes three bytes that would look like the start of another (§7.4.1).
 */
function unit(head: number, content: Buffer): Buffer {
  const bytes = [head];
  let zeros = 0;
  for (const byte of content) {
    if (zeros === 2 && byte <= 3) {
      bytes.push(3);
      zeros = 0;
    }
    zeros = byte === 0 ? zeros + 1 : 0;
    bytes.push(byte);
  }
  return Buffer.from(bytes);
}

const profile = [66, 0xc0, 30] as const;

/** §7.3.2.1: frame numbers of eight bits, frames in decoding order, one reference frame. */
const sequence = (columns: number, rows: number): Buffer => {
  const bits = new Bits()
    .bytes(profile)
    .ue(0)
    .ue(frameNumberBits - 4)
    .ue(2)
    .ue(1)
    .u(0, 1);
  return unit(
    0x67,
    bits
      .ue(columns - 1)
      .ue(rows - 1)
      .u(1, 1)
      .u(1, 1)
      .u(0, 2)
      .end(),
  );
};

/** §7.3.2.2: no options; each slice controls the deblocking filter. */
const frameBytes = (): Buffer =>
  unit(
    0x68,
    new Bits()
      .ue(0)
      .ue(0)
      .u(0, 2)
      .ue(0)
      .ue(0)
      .ue(0)
      .u(0, 3)
      .ue(0)
      .ue(0)
      .ue(0)
      .u(1, 1)
      .u(0, 2)
      .end(),
  );

const pcmInIntra = 25;

function frameOf(
  columns: number,
  rows: number,
  number: number,
  walked: number,
  [blue, red]: readonly [number, number],
): Buffer {
  // §7.3.3: an IDR slice of I_PCM macroblocks, without filter.
  const bits = new Bits()
    .ue(0)
    .ue(7)
    .ue(0)
    .u(0, frameNumberBits)
    .ue(number % 2)
    .u(0, 2)
    .ue(0)
    .ue(1);
  const lit = Math.round(walked * (columns - 1));
  for (let at = 0; at < columns * rows; at++) {
    const light =
      at % columns === lit && Math.floor(at / columns) === Math.floor(rows / 2)
        ? 235
        : 40 + (at % columns) * 8;
    bits
      .ue(pcmInIntra)
      .bytes([
        ...Array<number>(block * block).fill(light),
        ...Array<number>(64).fill(blue),
        ...Array<number>(64).fill(red),
      ]);
  }
  return unit(0x65, bits.end());
}

/** A P slice without motion. */
const still = (macroblocks: number, number: number): Buffer =>
  unit(
    0x41,
    new Bits()
      .ue(0)
      .ue(5)
      .ue(0)
      .u(number, frameNumberBits)
      .u(0, 3)
      .ue(0)
      .ue(1)
      .ue(macroblocks)
      .end(),
  );

const framed = (one: Buffer): Buffer => Buffer.concat([u32(one.length), one]);

const u16 = (...values: readonly number[]): Buffer =>
  Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
const u32 = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(values.length * 4);
  for (const [i, value] of values.entries()) bytes.writeUInt32BE(value, i * 4);
  return bytes;
};

function box(type: string, ...content: readonly Buffer[]): Buffer {
  const inside = Buffer.concat(content);
  return Buffer.concat([u32(inside.length + 8), Buffer.from(type, 'latin1'), inside]);
}

const matrix = u32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

function file(samples: readonly Buffer[], columns: number, rows: number): Buffer {
  const duration = (samples.length * timescale) / framesASecond;
  const [width, height] = [columns * block, rows * block];
  const head = box('ftyp', Buffer.from('isom'), u32(512), Buffer.from('isomiso2avc1mp41'));
  const movie = (offset: number): Buffer =>
    box(
      'moov',
      box(
        'mvhd',
        u32(0, 0, 0, timescale, duration, 0x10000),
        u16(0x100, 0),
        u32(0, 0),
        matrix,
        Buffer.alloc(24),
        u32(2),
      ),
      box(
        'trak',
        box(
          'tkhd',
          u32(3, 0, 0, 1, 0, duration, 0, 0),
          u16(0, 0, 0, 0),
          matrix,
          u32(width * 65_536, height * 65_536),
        ),
        box(
          'mdia',
          box('mdhd', u32(0, 0, 0, timescale, duration), u16(0x55c4, 0)),
          box('hdlr', u32(0, 0), Buffer.from('vide'), Buffer.alloc(12), Buffer.from('film\0')),
          box(
            'minf',
            box('vmhd', u32(1), Buffer.alloc(8)),
            box('dinf', box('dref', u32(0, 1), box('url ', u32(1)))),
            table(samples, columns, rows, offset),
          ),
        ),
      ),
    );
  const offset = head.length + movie(0).length + 8;
  return Buffer.concat([head, movie(offset), box('mdat', ...samples)]);
}

/** The sample table: position, duration and sync samples. */
function table(samples: readonly Buffer[], columns: number, rows: number, offset: number): Buffer {
  const [one, two] = [sequence(columns, rows), frameBytes()];
  const configuration = Buffer.concat([
    Buffer.from([1, ...profile, 0xff, 0xe1]),
    u16(one.length),
    one,
    Buffer.from([1]),
    u16(two.length),
    two,
  ]);
  const entry = [
    Buffer.alloc(6),
    u16(1),
    Buffer.alloc(16),
    u16(columns * block, rows * block),
    u32(0x480000, 0x480000, 0),
    u16(1),
  ];
  const name = [Buffer.alloc(32), u16(24, 0xffff)];
  const whole = samples.flatMap((_, i) => (i % framesASecond === 0 ? [i + 1] : []));
  return box(
    'stbl',
    box('stsd', u32(0, 1), box('avc1', ...entry, ...name, box('avcC', configuration))),
    box('stts', u32(0, 1, samples.length, timescale / framesASecond)),
    box('stss', u32(0, whole.length, ...whole)),
    box('stsc', u32(0, 1, 1, samples.length, 1)),
    box('stsz', u32(0, 0, samples.length, ...samples.map((sample) => sample.length))),
    box('stco', u32(0, 1, offset)),
  );
}
