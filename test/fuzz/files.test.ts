import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { mp4Of } from '../../sim/media/mp4.ts';
import { imageOf } from '../../sim/media/png.ts';
import { wav } from '../../sim/media/wav.ts';
import { byteRange } from '../../src/base/byte-range.ts';
import { Refusal } from '../../src/base/refusal.ts';
import { readForm } from '../../src/http/multipart.ts';
import { SpoolPool } from '../../src/http/spool.ts';
import { FileUrls } from '../../src/media/file-urls.ts';
import { pixelsMax, readImage } from '../../src/media/image.ts';
import { readAudio } from '../../src/media/audio/duration.ts';
import { expectLinear, fuzz, inPieces, timeout } from './fuzzing.ts';

const lengths = [
  Buffer.alloc(4),
  Buffer.from([0xff, 0xff, 0xff, 0xff]),
  Buffer.from([0x7f, 0xff, 0xff, 0xff]),
  Buffer.from([0, 0, 0, 8]),
  Buffer.from([0xff]),
];
const jpeg = Buffer.from(
  'ffd8ffe000104a46494600010100000100010000ffc0000b080010001001011100ffda0008010100003f00d2cf20ffd9',
  'hex',
);
const gif = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
const webp = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');

test('a picture is what its bytes say, or none', { timeout }, () =>
  fuzz('pictures', {
    samples: [imageOf('a fox', 64, 64), jpeg, gif, webp],
    words: [...lengths, Buffer.from('IEND'), Buffer.from('IDAT'), Buffer.from([0xff, 0xd9])],
    holds(input) {
      const read = readImage(input);
      if (typeof read === 'string') return expect(read).toMatch(/\.$/);
      expect(read.width * read.height).toBeGreaterThan(0);
      expect(read.width * read.height).toBeLessThanOrEqual(pixelsMax);
    },
  }),
);

const text = (words: string): Buffer => Buffer.from(words, 'latin1');
const ogg = Buffer.concat([
  text('OggS\0\x02'),
  Buffer.alloc(20),
  text('\x01\x13OpusHead\x01\x01\0\0\x80\xbb\0\0\0\0\0'),
  text('OggS\0\x04\x80\xbb'),
  Buffer.alloc(18),
  text('\x01\x01x'),
]);
const mp3 = Buffer.concat([
  text('ID3\x04\0\0\0\0\0\0'),
  ...Array<Buffer>(4).fill(Buffer.concat([Buffer.from('fffb9064', 'hex'), Buffer.alloc(413)])),
]);
const flac = Buffer.concat([
  text('fLaC\x80\0\0\x22\x10\0\x10\0\0\0\0\0\0\0'),
  Buffer.from('0ac440f0000ac440', 'hex'),
  Buffer.alloc(16),
]);
const webm = Buffer.from(
  '1a45dfa39f4286810142f7810142f2810442f381084282847765626d42878104428581021853806701ffffffffffffff1549a966',
  'hex',
);

test('a recording has a length that can be, or none', { timeout }, () =>
  fuzz('recordings', {
    samples: [
      wav('Hi').subarray(0, 4_000),
      mp4Of({ seconds: 2, width: 16, height: 16 }).subarray(0, 4_000),
      ogg,
      mp3,
      flac,
      webm,
    ],
    words: [
      ...lengths,
      text('moov'),
      text('mdhd'),
      text('data'),
      text('OggS'),
      text('LIST'),
      text('ID3'),
    ],
    async holds(input) {
      const slice = (at: number, length: number): Promise<Buffer> =>
        Promise.resolve(input.subarray(Math.max(0, at), at + length));
      const sound = await readAudio({ size: input.length, slice });
      if (typeof sound === 'string') return;
      expect(Number.isFinite(sound.seconds)).toBe(true);
      expect(sound.seconds).toBeGreaterThan(0);
    },
  }),
);

test('a range lies within what is there', { timeout }, () =>
  fuzz('ranges', {
    samples: [
      'bytes=0-',
      'bytes=5-9',
      'bytes=-4',
      'bytes=0-0,2-3',
      'BYTES=99999999999999-',
      'items=0-1',
    ].map(text),
    words: ['-', '=', ',', '0', '00', '9'.repeat(30), ' ', '\t', 'e5'],
    holds(input, random) {
      const length = 1 + Math.floor(random() * 20);
      const range = byteRange(input.toString('latin1'), length);
      if (typeof range === 'string') return;
      expect(range.first).toBeGreaterThanOrEqual(0);
      expect(range.first).toBeLessThanOrEqual(range.last);
      expect(range.last).toBeLessThan(length);
      expect(Number.isInteger(range.first) && Number.isInteger(range.last)).toBe(true);
    },
  }),
);

test('an address that was not made here opens nothing', { timeout }, () => {
  const addresses = new FileUrls(Buffer.alloc(32, 7), 'https://x.example');
  const made = addresses.of(
    { id: `file_${'a'.repeat(32)}`, type: 'image/png', expiresAt: 2e12 },
    undefined,
  );
  const { pathname, search } = new URL(made);
  return fuzz('addresses', {
    samples: [text(pathname + search)],
    words: [
      '&expires=9999999999999',
      '&signature=',
      '%00',
      '/../',
      '=',
      '&',
      '?',
      'e9',
      '+',
      '%2e',
      ' ',
    ],
    holds(input) {
      const [path = '', query = ''] = input.toString('latin1').split('?', 2);
      const opened = addresses.read(path, new URLSearchParams(query), 1e12);
      const given = new URLSearchParams(query);
      const same =
        path === pathname &&
        given.get('expires') === '2000000000' &&
        Buffer.from(given.get('signature') ?? '', 'base64url').length === 32;
      if (opened !== undefined) expect(same).toBe(true);
    },
  });
});

const field = (name: string, value: string): string =>
  `--xyz\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, content: string): string =>
  `--xyz\r\nContent-Disposition: form-data; name="${name}"; filename="../a.wav"\r\nContent-Type: audio/wav\r\n\r\n${content}\r\n`;
const limits = { fields: 4, fieldBytes: 100, files: 2, fileBytes: 4_000, bodyBytes: 7_000 };

test('a form is read or refused, ends, and leaves no byte behind', { timeout }, () =>
  fuzz('forms', {
    samples: [
      `${field('model', 'm')}${file('file', 'RIFF....WAVE')}--xyz--\r\n`,
      `${file('image[]', 'a')}${file('mask', 'b')}${field('n', '1')}--xyz--\r\n`,
    ].map(text),
    words: [
      '--xyz',
      '\r\n--xyz\r\n',
      '--xyz--',
      '\r\n\r\n',
      '\r\n',
      '\n',
      '"',
      '; name=',
      "; filename*=UTF-8''%",
      'content-disposition: ',
      '\0',
      '\xff',
      'content-transfer-encoding: base64\r\n',
    ],
    async holds(input, random) {
      const spools = new SpoolPool();
      try {
        const form = await readForm(
          Readable.from(inPieces(input, random)),
          { 'content-type': 'multipart/form-data; boundary=xyz' },
          limits,
          spools,
        );
        if (form !== 'left') {
          expect(form.fields.length).toBeLessThanOrEqual(limits.fields);
          expect(form.files.length).toBeLessThanOrEqual(limits.files);
          form.discard();
        }
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
      }
      // What was refused in the middle of a write gives its room back when that is over.
      for (let turns = 0; spools.bytes > 0 && turns < 50; turns++) await new Promise(setImmediate);
      expect(spools.bytes).toBe(0);
    },
  }),
);

test('a form takes time in proportion to its length', { timeout }, async () => {
  const whole = { fields: 1e6, fieldBytes: 1e9, files: 1e6, fileBytes: 1e9, bodyBytes: 1e9 };
  const shapes: Readonly<Record<string, (times: number) => string>> = {
    'almost a boundary': (times) => `${file('file', '\r\n--xy'.repeat(times))}--xyz--\r\n`,
    'a boundary that never comes': (times) => '\r\n-'.repeat(times),
    'a long name': (times) => field('a'.repeat(times), '1'),
    'one long field': (times) => `${field('a', 'x'.repeat(times))}--xyz--\r\n`,
  };
  for (const [name, shape] of Object.entries(shapes))
    await expectLinear(name, (times) =>
      readForm(
        Buffer.from(shape(times)),
        { 'content-type': 'multipart/form-data; boundary=xyz' },
        whole,
        new SpoolPool(),
      ).then(
        (form) => form !== 'left' && form.discard(),
        () => {},
      ),
    );
});
