import type { AudioSource } from './source.ts';

/** kbit/s by version and layer (ISO 11172-3, 13818-3), index 1 to 14. */
const rates: Readonly<Record<string, readonly number[]>> = {
  '1.1': [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  '1.2': [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  '1.3': [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  '2.1': [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  '2.2': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  '2.3': [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
};
const samplingHz = [44_100, 48_000, 32_000];
/**
 * The most bytes between frames that are no frame: tags with their images, and remains of a cut. A
 * file with more of them may hide audio.
 */
const junkBytesMax = 1024 * 1024;
const headBytes = 4;
const windowBytes = 64 * 1024;

interface Frame {
  readonly bytes: number;
  readonly seconds: number;
}

/** A frame's head, or undefined. */
export function frameAt(head: Buffer, at = 0): Frame | undefined {
  const [first = 0, second = 0, third = 0] = [head[at], head[at + 1], head[at + 2]];
  if (first !== 0xff || (second & 0xe0) !== 0xe0) return undefined;
  const version = (second >> 3) & 3;
  const layer = 4 - ((second >> 1) & 3);
  const hz = samplingHz[(third >> 2) & 3];
  const kbps = rates[`${version === 3 ? 1 : 2}.${layer}`]?.[(third >> 4) - 1];
  if (version === 1 || layer === 4 || hz === undefined || kbps === undefined) return undefined;
  const rate = version === 3 ? hz : version === 2 ? hz / 2 : hz / 4;
  const samples = layer === 1 ? 384 : layer === 3 && version !== 3 ? 576 : 1_152;
  const padding = (third >> 1) & 1;
  const slots = Math.floor((samples / 8) * ((kbps * 1_000) / rate));
  const bytes = layer === 1 ? (Math.floor((12_000 * kbps) / rate) + padding) * 4 : slots + padding;
  return { bytes, seconds: samples / rate };
}

/** Where the audio begins: after the tags that stand before it. */
export async function afterTags(source: AudioSource): Promise<number> {
  let at = 0;
  for (let tags = 0; tags < 8; tags++) {
    const head = await source.bytes(at, 10);
    if (head.toString('latin1', 0, 3) !== 'ID3') break;
    const size = [6, 7, 8, 9].reduce((sum, i) => sum * 128 + ((head[i] ?? 0) & 127), 0);
    at += 10 + size + ((head[5] ?? 0) & 16 ? 10 : 0);
  }
  return at;
}

/** Seconds of an MPEG file: counts its frames, whatever its head declares. */
export async function mp3Seconds(source: AudioSource): Promise<number | undefined> {
  let seconds = 0;
  let frames = 0;
  let junkBytes = 0;
  let at = await afterTags(source);
  while (at + headBytes <= source.size && junkBytes <= junkBytesMax) {
    const from = at;
    const window = await source.bytes(from, Math.min(windowBytes, source.size - from));
    while (at - from + headBytes <= window.length && junkBytes <= junkBytesMax) {
      const frame = frameAt(window, at - from);
      if (frame === undefined) {
        const next = window.indexOf(0xff, at - from + 1);
        const skipped = next < 0 ? window.length - (at - from) : next - (at - from);
        junkBytes += skipped;
        at += skipped;
      } else {
        frames += 1;
        seconds += frame.seconds;
        at += frame.bytes;
      }
    }
  }
  return frames < 2 || junkBytes > junkBytesMax ? undefined : seconds;
}
