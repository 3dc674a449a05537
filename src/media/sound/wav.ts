import { type Source, stepsMax } from './source.ts';

/**
 * Seconds of a RIFF or RF64 file, by all of its data and not by what its head says of a rate of
 * bytes.
 */
export async function wavSeconds(source: Source): Promise<number | undefined> {
  let bytesPerSecond: number | undefined;
  let bytes = 0;
  let at = 12;
  for (let steps = 0; at + 8 <= source.size && steps < stepsMax; steps++) {
    const head = await source.bytes(at, 8);
    const id = head.toString('latin1', 0, 4);
    const length = head.readUInt32LE(4);
    // Of several heads each reader takes another: the longest is what somebody may hear.
    if (id === 'fmt ')
      bytesPerSecond = Math.min(
        bytesPerSecond ?? Infinity,
        rateOf(await source.bytes(at + 8, 16)) ?? Infinity,
      );
    // Who streams a file does not know how long it will be, and writes the most that fits, or
    // nothing. Of several parts all are heard.
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
 * Of sound that is not plain samples, at most: Microsoft's and IMA's ADPCM with the heads of their
 * blocks, A-law, µ-law, GSM.
 */
const bytesPerSample: Readonly<Record<number, number>> = {
  2: 0.6,
  6: 1,
  7: 1,
  0x11: 0.6,
  0x31: 0.21,
};

function rateOf(format: Buffer): number | undefined {
  const [code, channels, rate, said, bits] = [0, 2, 4, 8, 14].map((at) =>
    at === 4 || at === 8 ? format.readUInt32LE(at) : format.readUInt16LE(at),
  );
  if (!code || !channels || !rate || !said) return undefined;
  const plain = code === 1 || code === 3 || code === 0xfffe;
  // What the head says, within what such sound can be.
  const bytes = plain
    ? (rate * channels * (bits ?? 0)) / 8
    : Math.min(said, rate * channels * (bytesPerSample[code] ?? 2));
  return bytes > 0 ? bytes : undefined;
}
