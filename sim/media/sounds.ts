import { mark, sampleHz, samplesOf, secondsOf, wav } from './wav.ts';

/**
 * A text as audio, by format and content type. Formats that would need an encoder have silent
 * frames; a comment of the file carries the text in all of them.
 */
export const sounds: Readonly<
  Record<string, { readonly type: string; readonly make: (text: string) => Buffer }>
> = {
  wav: { type: 'audio/wav', make: wav },
  pcm: { type: 'audio/pcm', make: samplesOf },
  mp3: { type: 'audio/mpeg', make: mp3 },
  flac: { type: 'audio/flac', make: flac },
  opus: { type: 'audio/opus', make: ogg },
  aac: { type: 'audio/aac', make: aac },
};

const frameHz = 44_100;
const frameSamples = 1_152;
const frameBytes = 417;

/** 128 kbit/s frames after a tag with a comment. */
function mp3(text: string): Buffer {
  const comment = Buffer.from(`\x03eng\0${mark}${text}\0`);
  const tag = Buffer.alloc(20);
  tag.write('ID3\x03\0\0', 'latin1');
  const size = 10 + comment.length;
  for (let i = 0; i < 4; i++) tag[6 + i] = (size >> (7 * (3 - i))) & 127;
  tag.write('COMM', 10, 'latin1');
  tag.writeUInt32BE(comment.length, 14);
  const frame = Buffer.alloc(frameBytes);
  frame.writeUInt32BE(0xfffb9064);
  return Buffer.concat([
    tag,
    comment,
    ...repeated(frame, Math.ceil((secondsOf(text) * frameHz) / frameSamples)),
  ]);
}

const repeated = (piece: Buffer, times: number): Buffer[] =>
  Array.from({ length: times }, () => piece);

function spokenBytes(text: string): Buffer {
  const entry = Buffer.from(`COMMENT=${mark}${text}\0`);
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0, 0);
  head.writeUInt32LE(1, 4);
  head.writeUInt32LE(entry.length, 8);
  return Buffer.concat([head, entry]);
}

/** A header, a comment, and as many bytes as such a recording has. */
function flac(text: string): Buffer {
  const samples = Math.round(secondsOf(text) * sampleHz);
  const info = Buffer.alloc(42);
  info.write('fLaC\0\0\0\x22', 'latin1');
  info.writeUInt16BE(4_096, 8);
  info.writeUInt16BE(4_096, 10);
  info.writeUIntBE((sampleHz << 4) >>> 0, 18, 3);
  info[20] = (sampleHz << 4) & 0xf0;
  info[21] = 0xf0;
  info.writeUInt32BE(samples, 22);
  const comment = spokenBytes(text);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(0x84000000 + comment.length);
  return Buffer.concat([info, head, comment]);
}

function page(kind: number, granule: number, number: number, packet: Buffer): Buffer {
  const segments = Math.floor(packet.length / 255) + 1;
  const head = Buffer.alloc(27 + segments, 255);
  head.fill(0, 0, 27);
  head.write('OggS\0', 'latin1');
  head[5] = kind;
  head.writeBigInt64LE(BigInt(granule), 6);
  head.writeUInt32LE(1, 14);
  head.writeUInt32LE(number, 18);
  head[26] = segments;
  head[26 + segments] = packet.length % 255;
  const whole = Buffer.concat([head, packet]);
  whole.writeUInt32LE(crc(whole), 22);
  return whole;
}

/** Ogg's checksum: polynomial 04c11db7, nothing reflected, initial value zero (RFC 3533). */
function crc(bytes: Buffer): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}

function ogg(text: string): Buffer {
  const head = Buffer.from('OpusHead\x01\x01\0\0\0\0\0\0\0\0\0', 'latin1');
  head.writeUInt32LE(48_000, 12);
  const tags = Buffer.concat([Buffer.from('OpusTags'), spokenBytes(text)]);
  return Buffer.concat([
    page(2, 0, 0, head),
    page(0, 0, 1, tags),
    page(4, Math.round(secondsOf(text) * 48_000), 2, Buffer.from([0xf8, 0xff, 0xfe])),
  ]);
}

/** ADTS frames of 1,024 samples at 24 kHz. */
function aac(text: string): Buffer {
  const frame = Buffer.from([0xff, 0xf1, 0x58, 0x40, 0x01, 0x7f, 0xfc, 0x21, 0x10, 0x05, 0x00]);
  return Buffer.concat(repeated(frame, Math.ceil((secondsOf(text) * sampleHz) / 1_024)));
}
