import { expect, test } from 'vitest';
import { sounds } from '../../../sim/media/sounds.ts';
import { secondsOf } from '../../../sim/media/wav.ts';
import { type AudioFacts, readAudio } from './duration.ts';

const words = 'A sentence that takes its time.';

/** A file, and how often it was read. */
function fileOf(bytes: Buffer): {
  size: number;
  slice: (at: number, length: number) => Promise<Buffer>;
  reads: () => number;
} {
  let reads = 0;
  return {
    size: bytes.length,
    slice(at, length) {
      reads += 1;
      return Promise.resolve(bytes.subarray(at, at + length));
    },
    reads: () => reads,
  };
}

const look = (bytes: Buffer): Promise<AudioFacts | 'strange' | 'unreadable'> =>
  readAudio(fileOf(bytes));

async function secondsIn(bytes: Buffer, format: AudioFacts['format']): Promise<number> {
  const sound = await look(bytes);
  if (typeof sound === 'string') throw new Error(sound);
  expect(sound.format).toBe(format);
  return sound.seconds;
}

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const box = (type: string, ...inside: Buffer[]): Buffer => {
  const content = Buffer.concat(inside);
  return Buffer.concat([u32(content.length + 8), Buffer.from(type, 'latin1'), content]);
};
const ftyp = box('ftyp', Buffer.from('M4A \0\0\0\0'));
const mdhd = (scale: number, duration: number): Buffer =>
  box('mdhd', u32(0), u32(0), u32(0), u32(scale), u32(duration), u32(0));
const tkhd = (id: number): Buffer => box('tkhd', u32(0), u32(0), u32(0), u32(id));
const track = (id: number, scale: number, duration: number, ...tables: Buffer[]): Buffer =>
  box('trak', tkhd(id), box('mdia', mdhd(scale, duration), box('minf', box('stbl', ...tables))));
const movie = (scale: number, duration: number): Buffer => box('moov', track(1, scale, duration));

test('each format tells how long it is', async () => {
  const made = (format: string): Buffer => sounds[format]?.make(words) ?? Buffer.alloc(0);
  const seconds = secondsOf(words);
  expect(await secondsIn(made('wav'), 'wav')).toBeCloseTo(seconds, 3);
  expect(await secondsIn(made('mp3'), 'mp3')).toBeCloseTo(seconds, 1);
  expect(await secondsIn(made('flac'), 'flac')).toBeCloseTo(seconds, 3);
  expect(await secondsIn(made('opus'), 'ogg')).toBeCloseTo(seconds, 3);
  expect(await secondsIn(Buffer.concat([ftyp, movie(24_000, 36_000)]), 'mp4')).toBe(1.5);
});

test('a WAV file that was streamed is as long as what came of it', async () => {
  const file = sounds['wav']?.make(words) ?? Buffer.alloc(0);
  const at = file.indexOf('data');
  for (const length of [0, 0xffffffff]) {
    file.writeUInt32LE(length, at + 4);
    expect(await secondsIn(file, 'wav')).toBeCloseTo(secondsOf(words), 3);
  }
});

test('an MPEG file is counted frame by frame, whatever stands before it and whatever its head says', async () => {
  const frame = Buffer.alloc(417);
  frame.writeUInt32BE(0xfffb9064);
  const frames = Buffer.concat(Array.from({ length: 100 }, () => frame));
  const xing = Buffer.from(frame);
  xing.write('Xing\0\0\0\x01\0\0\0\x01', 36, 'latin1');
  for (const before of [Buffer.alloc(0), xing, Buffer.from('ID3\x03\0\0\0\0\0\x05hello', 'latin1')])
    expect(await secondsIn(Buffer.concat([before, frames]), 'mp3')).toBeCloseTo(2.61, 1);
  // 24 kHz, 64 kbit/s: the halved rates of MPEG-2.
  const low = Buffer.alloc(192);
  low.writeUInt32BE(0xfff384c4);
  expect(await secondsIn(Buffer.concat(Array.from({ length: 50 }, () => low)), 'mp3')).toBeCloseTo(
    1.2,
    2,
  );
});

test('an MP4 file that was recorded live is as long as its fragments', async () => {
  const traf = (start: number, ...times: number[]): Buffer =>
    box(
      'moof',
      box(
        'traf',
        box('tfhd', u32(0), u32(1)),
        box('tfdt', u32(0), u32(start)),
        box('trun', u32(0x100), u32(times.length), ...times.map(u32)),
      ),
    );
  const live = Buffer.concat([
    ftyp,
    movie(1_000, 0),
    traf(0, 500, 500),
    box('mdat', Buffer.alloc(10)),
    traf(1_000, 250),
  ]);
  expect(await secondsIn(live, 'mp4')).toBe(1.25);
  const usual = box(
    'moof',
    box('traf', box('tfhd', u32(8), u32(1), u32(100)), box('trun', u32(0), u32(20))),
  );
  expect(await secondsIn(Buffer.concat([ftyp, movie(1_000, 0), usual]), 'mp4')).toBe(2);
});

test('a WebM file tells its length, or its last block does', async () => {
  const element = (id: string, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x08, 0, 0, 0, 0, 0, 0]), content]);
  const sized = (id: string, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from(id, 'hex'), Buffer.from([0x80 | content.length]), content]);
  const head = sized('1a45dfa3', Buffer.from([0x42, 0x86, 0x81, 1]));
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(2_500);
  expect(
    await secondsIn(Buffer.concat([head, sized('1549a966', sized('4489', duration))]), 'webm'),
  ).toBe(2.5);
  const live = Buffer.concat([
    head,
    sized('1549a966', sized('2ad7b1', Buffer.from([0x0f, 0x42, 0x40]))),
    element('1f43b675', Buffer.alloc(0)).subarray(0, 4),
    Buffer.from([0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    sized('e7', Buffer.from([0x07, 0xd0])),
    sized('a3', Buffer.from([0x81, 0, 0, 0x80, 1, 2, 3, 4])),
    sized('a3', Buffer.from([0x81, 0x03, 0xe8, 0x80, 1, 2, 3, 4])),
  ]);
  expect(await secondsIn(live, 'webm')).toBe(3);
});

test('what is no sound, or none that can be read, is told apart', async () => {
  for (const strange of [
    '',
    'hello',
    '<html></html>',
    '%PDF-1.7 and so on',
    '\x89PNG\r\n\x1a\n0123456789',
  ])
    expect(await look(Buffer.from(strange, 'latin1'))).toBe('strange');
  for (const format of ['wav', 'mp3', 'flac', 'opus']) {
    const file = sounds[format]?.make(words) ?? Buffer.alloc(0);
    for (let length = 16; length < 100; length += 7) {
      const sound = await look(file.subarray(0, length));
      if (typeof sound !== 'string') expect(sound.seconds).toBeLessThan(secondsOf(words) + 1);
    }
  }
  expect(await look(Buffer.concat([ftyp, Buffer.alloc(100)]))).toBe('unreadable');
  expect(await look(Buffer.concat([ftyp, movie(0, 100)]))).toBe('unreadable');
});

test('a lie about the length does not make a recording shorter than its bytes', async () => {
  const ogg = sounds['opus']?.make(words) ?? Buffer.alloc(0);
  const last = ogg.lastIndexOf('OggS');
  ogg.writeBigInt64LE(1n, last + 6);
  const long = Buffer.concat([ogg.subarray(0, last), Buffer.alloc(640_000), ogg.subarray(last)]);
  expect(await secondsIn(long, 'ogg')).toBeGreaterThanOrEqual(10);
  const flac = Buffer.concat([
    sounds['flac']?.make(words) ?? Buffer.alloc(0),
    Buffer.alloc(480_000),
  ]);
  expect(await secondsIn(flac, 'flac')).toBeGreaterThan(8);
});

test('what is heard counts, not what a head says: an hour is an hour', async () => {
  const wav = sounds['wav']?.make(words) ?? Buffer.alloc(0);
  const data = wav.subarray(wav.indexOf('data'));
  const spoken = secondsOf(words);
  expect(await secondsIn(Buffer.concat([wav, data, data]), 'wav')).toBeCloseTo(3 * spoken, 3);
  const faster = Buffer.from(wav.subarray(12, 36));
  faster.writeUInt32LE(4_000_000_000, 12);
  expect(
    await secondsIn(Buffer.concat([wav.subarray(0, 36), faster, wav.subarray(36)]), 'wav'),
  ).toBeCloseTo(spoken, 3);

  const frame = Buffer.alloc(24);
  frame.writeUInt32BE(0xfff314c4);
  const hidden = Buffer.concat([
    frame,
    frame,
    Buffer.alloc(300_000),
    ...Array.from({ length: 10_000 }, () => frame),
  ]);
  expect(await secondsIn(hidden, 'mp3')).toBeGreaterThan(200);
  expect(await look(Buffer.concat([frame, frame, Buffer.alloc(2_000_000), frame]))).toBe(
    'unreadable',
  );

  const short = track(2, 1_000, 1_000);
  expect(
    await secondsIn(Buffer.concat([ftyp, box('moov', track(1, 1_000, 3_600_000), short)]), 'mp4'),
  ).toBe(3_600);
  const times = box('stts', u32(0), u32(2), u32(1_000), u32(1_000), u32(1), u32(500));
  expect(
    await secondsIn(
      Buffer.concat([ftyp, box('moov', track(1, 1_000, 1_000, times), short)]),
      'mp4',
    ),
  ).toBe(1_000.5);
  const aac = Buffer.alloc(36);
  aac.write('mp4a', 4, 'latin1');
  aac.writeUInt16BE(16_000, 32);
  const decoded = track(
    1,
    16_000,
    16_000,
    box('stsd', u32(0), u32(1), aac),
    box('stsz', u32(0), u32(100), u32(10_000)),
  );
  expect(await secondsIn(Buffer.concat([ftyp, box('moov', decoded)]), 'mp4')).toBe(640);

  const packed = (codec: string, hz: number): Promise<number> => {
    const entry = Buffer.alloc(36);
    entry.write(codec, 4, 'latin1');
    entry.writeUInt16BE(hz, 32);
    const table = box('stsz', u32(0), u32(100), u32(180_000));
    const times = box('stts', u32(0), u32(1), u32(180_000), u32(1));
    const lying = track(1, 48_000, 180_000, box('stsd', u32(0), u32(1), entry), times, table);
    return secondsIn(Buffer.concat([ftyp, box('moov', lying)]), 'mp4');
  };
  expect(await packed('mp4a', 48_000)).toBe(3_840);
  expect(await packed('mp4a', 0)).toBe(1_920);
  expect(await packed('.mp3', 48_000)).toBeCloseTo(2_160, 3);
  expect(await packed('alac', 48_000)).toBe(15_360);
  expect(await packed('fLaC', 48_000)).toBeCloseTo(2_160, 3);
  expect(await packed('Opus', 48_000)).toBeCloseTo(450, 3);
  expect(await packed('avc1', 48_000)).toBe(3.75);

  const packets = Buffer.alloc(27 + 255 + 255, 0x08);
  packets.write('OggS\0\0', 'latin1');
  packets.writeUInt32LE(1, 14);
  packets[26] = 255;
  packets.fill(1, 27, 282);
  const ogg = sounds['opus']?.make(words) ?? Buffer.alloc(0);
  const pages = Array.from({ length: 1_000 }, () => packets);
  expect(
    await secondsIn(Buffer.concat([ogg, ...pages, ogg.subarray(ogg.lastIndexOf('OggS'))]), 'ogg'),
  ).toBeGreaterThan(255 * 20);
});

test('packets of WebM are heard, whatever their times say', async () => {
  const ebml = (id: string, content: Buffer): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(0x10000000 + content.length);
    return Buffer.concat([Buffer.from(id, 'hex'), length, content]);
  };
  const length = Buffer.alloc(8);
  length.writeDoubleBE(1_000);
  const info = ebml('1549a966', ebml('4489', length));
  const entry = (number: number, codec: string): Buffer =>
    ebml('ae', Buffer.concat([ebml('86', Buffer.from(codec)), ebml('d7', Buffer.from([number]))]));
  const tracks = ebml('1654ae6b', Buffer.concat([entry(1, 'V_VP9'), entry(2, 'A_OPUS')]));
  const packet = (track: number): Buffer =>
    ebml('a3', Buffer.from([0x80 | track, 0, 0, 0x80, 0x08, 1, 2, 3]));
  const cluster = ebml(
    '1f43b675',
    Buffer.concat([
      ebml('e7', Buffer.from([0])),
      ...Array.from({ length: 10_000 }, (_, i) => packet(1 + (i % 2))),
    ]),
  );
  const open = Buffer.from(cluster);
  open.writeUInt32BE(0x1fffffff, 4);
  for (const each of [cluster, open]) {
    const file = Buffer.concat([
      ebml('1a45dfa3', ebml('4286', Buffer.from([1]))),
      ebml('18538067', Buffer.concat([info, tracks, each, each])),
    ]);
    expect(await secondsIn(file, 'webm')).toBeCloseTo(200, 3);
    expect(await secondsIn(file.subarray(0, 300), 'webm')).toBe(1);
  }
});

test('a file made of nothing but heads is given up, soon', async () => {
  const many = (one: Buffer, times: number): Buffer =>
    Buffer.concat(Array.from({ length: times }, () => one));
  const bombs = [
    Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), Buffer.alloc(2_000_000)]),
    Buffer.concat([ftyp, many(box('moov', box('trak')), 200_000)]),
    Buffer.concat([ftyp, many(Buffer.concat([u32(0xffffffff), Buffer.from('moov')]), 50_000)]),
    Buffer.concat([
      ftyp,
      many(box('moof', box('traf', box('trun', u32(0x100), u32(4e9)))), 5_000),
      Buffer.alloc(2_000_000),
    ]),
    Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\0'), Buffer.alloc(2_000_000, 0xff)]),
    Buffer.concat([Buffer.from('1a45dfa3', 'hex'), Buffer.alloc(2_000_000, 0x1f)]),
  ];
  for (const bomb of bombs) {
    const file = fileOf(bomb);
    expect(await readAudio(file)).toBe('unreadable');
    expect(file.reads()).toBeLessThan(21_000);
  }
});
