import type { Source } from './source.ts';

const tailBytes = 128 * 1024;
const opusHz = 48_000;

/** Seconds by the last page's granule position (RFC 3533), in the first stream's samples. */
export async function oggSeconds(source: Source): Promise<number | undefined> {
  const first = await source.bytes(0, 27 + 255 + 64);
  const serial = first.readUInt32LE(14);
  const packet = first.subarray(27 + (first[26] ?? 0));
  const codec = codecOf(packet);
  const from = Math.max(0, source.size - tailBytes);
  const tail = await source.bytes(from, Math.min(tailBytes, source.size));
  for (let at = tail.lastIndexOf('OggS'); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf('OggS', at - 1)) {
    if (at + 27 > tail.length || tail.readUInt32LE(at + 14) !== serial) continue;
    const granule = tail.readBigInt64LE(at + 6);
    if (granule <= 0n || codec === undefined) continue;
    return Math.max(0, Number(granule) - codec.skip) / codec.rate;
  }
  return undefined;
}

/** What a stream's first packet says. */
function codecOf(packet: Buffer): { readonly rate: number; readonly skip: number } | undefined {
  if (packet.toString('latin1', 0, 8) === 'OpusHead') return { rate: opusHz, skip: packet.readUInt16LE(10) };
  if (packet.toString('latin1', 1, 7) === 'vorbis') return some(packet.readUInt32LE(12));
  if (packet.toString('latin1', 0, 8) === 'Speex   ') return some(packet.readUInt32LE(36));
  // FLAC in Ogg: its STREAMINFO stands behind a head of 17 bytes.
  if (packet.toString('latin1', 1, 5) === 'FLAC') return some(packet.readUIntBE(27, 3) >> 4);
  return undefined;
}

const some = (rate: number): { rate: number; skip: number } | undefined => (rate === 0 ? undefined : { rate, skip: 0 });
