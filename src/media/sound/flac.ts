import type { Source } from './source.ts';

/**
 * Compressed speech is seldom less than a twentieth of its samples: a file without a count of them
 * is taken for so long.
 */
const leastShare = 1 / 20;

/**
 * Seconds by STREAMINFO (RFC 9639 §8.2), and never less than its bytes are when not compressed at
 * all.
 */
export async function flacSeconds(source: Source): Promise<number | undefined> {
  const info = await source.bytes(8, 18);
  const rate = info.readUIntBE(10, 3) >> 4;
  const channels = (((info[12] ?? 0) >> 1) & 7) + 1;
  const bits = ((((info[12] ?? 0) & 1) << 4) | ((info[13] ?? 0) >> 4)) + 1;
  const samples = ((info[13] ?? 0) & 15) * 2 ** 32 + info.readUInt32BE(14);
  if (rate === 0) return undefined;
  const plain = (source.size * 8) / (rate * channels * bits);
  return samples === 0 ? plain / leastShare : Math.max(samples / rate, plain * 0.9);
}
