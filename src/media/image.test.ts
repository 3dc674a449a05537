import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { readImage } from './image.ts';

const hex = (text: string): Buffer => Buffer.from(text.replace(/\s+/g, ''), 'hex');

/** One pixel each, as small as the formats allow. */
const images = {
  png: hex(`89504e470d0a1a0a 0000000d49484452 00000001000000010806000000 1f15c489
    0000000a49444154 789c63000100000500010d0a2db4 00000000 49454e44ae426082`),
  gif: hex(
    '47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b',
  ),
  jpeg: hex(
    'ffd8 ffe000104a46494600010100000100010000 ffc0000b080002000301011100 ffda0008010100003f00 d2cf20 ffd9',
  ),
  webp: hex('52494646 1c000000 57454250 5650384c 0f000000 2f00000010 0710 1111888888 fe0700 00'),
  extended: hex(`52494646 16000000 57454250 56503858 0a000000 10000000 ff0200 8f0100`),
};

test('a picture is what its bytes are, and as large as they say', () => {
  expect(readImage(images.png)).toEqual({
    type: 'image/png',
    width: 1,
    height: 1,
    alpha: true,
  });
  expect(readImage(images.gif)).toMatchObject({ type: 'image/gif', width: 1, height: 1 });
  expect(readImage(images.jpeg)).toEqual({
    type: 'image/jpeg',
    width: 3,
    height: 2,
    alpha: false,
  });
  expect(readImage(images.webp)).toMatchObject({
    type: 'image/webp',
    width: 1,
    height: 1,
    alpha: true,
  });
  expect(readImage(images.extended)).toEqual({
    type: 'image/webp',
    width: 768,
    height: 400,
    alpha: true,
  });
});

test('of no picture is the beginning taken for the whole', () => {
  for (const [name, bytes] of Object.entries(images)) {
    for (let length = 0; length < bytes.length - (name === 'gif' ? 1 : 0); length++) {
      const facts = readImage(bytes.subarray(0, length));
      // A PNG that is cut after its end mark lacks only its last checksum.
      if (name === 'png' && length >= bytes.length - 4) continue;
      expect(typeof facts, `${name} cut at ${length}`).toBe('string');
    }
  }
});

test('nothing that a file says of its parts makes the reader go wrong', () => {
  for (const bytes of Object.values(images))
    for (let at = 0; at < bytes.length; at++)
      for (const byte of [0, 0x7f, 0xff]) {
        const damaged = Buffer.from(bytes);
        damaged[at] = byte;
        const facts = readImage(damaged);
        if (typeof facts !== 'string')
          expect(facts.width * facts.height).toBeLessThanOrEqual(64 * 1024 * 1024);
      }
});
