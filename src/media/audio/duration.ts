import type { Spool } from '../../http/spool.ts';
import { afterTags, frameAt, mp3Seconds } from './mp3.ts';
import { mp4Seconds } from './mp4.ts';
import { oggSeconds } from './ogg.ts';
import { AudioSource, stepsMax } from './source.ts';
import { webmSeconds } from './webm.ts';

/**
 * Seconds of a RIFF or RF64 file, from the size of all its data; the byte rate in its head is not
 * trusted.
 */
async function wavSeconds(source: AudioSource): Promise<number | undefined> {
  let bytesPerSecond: number | undefined;
  let bytes = 0;
  let at = 12;
  for (let steps = 0; at + 8 <= source.size && steps < stepsMax; steps++) {
    const head = await source.bytes(at, 8);
    const id = head.toString('latin1', 0, 4);
    const length = head.readUInt32LE(4);
    // Readers differ in which of several heads they use: the lowest rate counts, which gives the
    // longest duration.
    if (id === 'fmt ')
      bytesPerSecond = Math.min(
        bytesPerSecond ?? Infinity,
        rateOf(await source.bytes(at + 8, 16)) ?? Infinity,
      );
    // A program that streams a file does not know its length, and writes the maximum or 0. All of
    // several data parts count.
    const end = id === 'data' && length === 0 ? source.size : at + 8 + length;
    if (id === 'data') bytes += Math.min(end, source.size) - at - 8;
    at = end + (length % 2);
  }
  if (bytes > 0) bytes += Math.max(0, source.size - at);
  return bytesPerSecond !== undefined && bytesPerSecond !== Infinity && bytes > 0
    ? bytes / bytesPerSecond
    : undefined;
}

/**
 * The most bytes per sample of compressed formats: Microsoft's and IMA's ADPCM with the heads of
 * their blocks, A-law, µ-law, GSM.
 */
const bytesPerSample: Readonly<Record<number, number>> = {
  2: 0.6,
  6: 1,
  7: 1,
  0x11: 0.6,
  0x31: 0.21,
};

function rateOf(format: Buffer): number | undefined {
  const [code, channels, rate, byteRate, bits] = [0, 2, 4, 8, 14].map((at) =>
    at === 4 || at === 8 ? format.readUInt32LE(at) : format.readUInt16LE(at),
  );
  if (!code || !channels || !rate || !byteRate) return undefined;
  const plain = code === 1 || code === 3 || code === 0xfffe;
  // The rate that the head declares, limited to what the format can have.
  const bytes = plain
    ? (rate * channels * (bits ?? 0)) / 8
    : Math.min(byteRate, rate * channels * (bytesPerSample[code] ?? 2));
  return bytes > 0 ? bytes : undefined;
}

/**
 * Compressed speech seldom takes less than a twentieth of the bytes of its samples: this bounds the
 * duration of a file that does not count its samples.
 */
const leastShare = 1 / 20;

/** Seconds by STREAMINFO (RFC 9639 §8.2), and never less than its bytes would take uncompressed. */
async function flacSeconds(source: AudioSource): Promise<number | undefined> {
  const info = await source.bytes(8, 18);
  const rate = info.readUIntBE(10, 3) >> 4;
  const channels = (((info[12] ?? 0) >> 1) & 7) + 1;
  const bits = ((((info[12] ?? 0) & 1) << 4) | ((info[13] ?? 0) >> 4)) + 1;
  const samples = ((info[13] ?? 0) & 15) * 2 ** 32 + info.readUInt32BE(14);
  if (rate === 0) return undefined;
  const plain = (source.size * 8) / (rate * channels * bits);
  return samples === 0 ? plain / leastShare : Math.max(samples / rate, plain * 0.9);
}

export interface AudioFacts {
  readonly format: 'wav' | 'mp3' | 'flac' | 'ogg' | 'mp4' | 'webm';
  readonly seconds: number;
}

const readers: Readonly<
  Record<AudioFacts['format'], (source: AudioSource) => Promise<number | undefined>>
> = {
  wav: wavSeconds,
  mp3: mp3Seconds,
  flac: flacSeconds,
  ogg: oggSeconds,
  mp4: mp4Seconds,
  webm: webmSeconds,
};

/** A longer recording counts as unreadable. */
const secondsMax = 7 * 24 * 3_600;
/**
 * Audio in Ogg has at most this many bytes per second: the last page cannot make a recording
 * shorter than its bytes.
 */
const oggBytesPerSecondMax = 64_000;

/**
 * Finds the format and duration of a recording from its bytes alone. `strange`: its format is
 * unknown; `unreadable`: it is broken or empty. Reads little of the file, a bounded number of
 * times.
 */
export async function readAudio(
  spool: Pick<Spool, 'size' | 'slice'>,
): Promise<AudioFacts | 'strange' | 'unreadable'> {
  const source = new AudioSource(spool);
  const format = await formatOf(source);
  if (format === undefined) return 'strange';
  const seconds = await readers[format](source);
  if (seconds === undefined || !(seconds > 0 && seconds <= secondsMax)) return 'unreadable';
  return {
    format,
    seconds: format === 'ogg' ? Math.max(seconds, source.size / oggBytesPerSecondMax) : seconds,
  };
}

async function formatOf(source: AudioSource): Promise<AudioFacts['format'] | undefined> {
  const head = await source.bytes(0, 16);
  const text = head.toString('latin1');
  if (/^(?:RIFF|RF64)[^]{4}WAVE/.test(text)) return 'wav';
  if (text.startsWith('fLaC')) return 'flac';
  if (text.startsWith('OggS')) return 'ogg';
  if (text.slice(4, 8) === 'ftyp') return 'mp4';
  if (head.readUInt32BE(0) === 0x1a45dfa3) return 'webm';
  if (text.startsWith('ID3'))
    return (await source.bytes(await afterTags(source), 4)).toString('latin1') === 'fLaC'
      ? 'flac'
      : 'mp3';
  return frameAt(head) === undefined ? undefined : 'mp3';
}
