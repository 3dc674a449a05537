import { type Source, stepsMax } from './source.ts';

/** Seconds of a RIFF or RF64 file, by its data and not by what its head says of a rate of bytes. */
export async function wavSeconds(source: Source): Promise<number | undefined> {
  let bytesPerSecond: number | undefined;
  for (let at = 12, steps = 0; at + 8 <= source.size && steps < stepsMax; steps++) {
    const head = await source.bytes(at, 8);
    const id = head.toString('latin1', 0, 4);
    const length = head.readUInt32LE(4);
    if (id === 'fmt ') bytesPerSecond = rateOf(await source.bytes(at + 8, 16));
    // Who streams a file does not know how long it will be, and writes the most that fits, or nothing.
    if (id === 'data') return bytesPerSecond && Math.min(length === 0 ? Infinity : length, source.size - at - 8) / bytesPerSecond;
    at += 8 + length + (length % 2);
  }
  return undefined;
}

function rateOf(format: Buffer): number | undefined {
  const [code, channels, rate, said, bits] = [0, 2, 4, 8, 14].map((at) =>
    at === 4 || at === 8 ? format.readUInt32LE(at) : format.readUInt16LE(at),
  );
  if (!code || !channels || !rate || !said) return undefined;
  const plain = code === 1 || code === 3 || code === 0xfffe;
  // A-law, µ-law and ADPCM: what their head says, within what such sound can be.
  const bytes = plain ? (rate * channels * (bits ?? 0)) / 8 : Math.min(said, rate * channels * 2);
  return bytes > 0 ? bytes : undefined;
}
