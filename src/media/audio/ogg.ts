import type { AudioSource } from './source.ts';

const tailBytes = 128 * 1024;
/** More than a page has. */
const windowBytes = 128 * 1024;
/** The first letter of `OpusHead` and `OpusTags`, which hold no audio. */
const headBegins = 0x4f;
const headBytes = 27;
const opusHz = 48_000;
/**
 * The last page may declare less than the packets hold: a part of the last packet, and of silence
 * at the start, is left out.
 */
const leftOutSeconds = 1;

/**
 * Seconds by the last page's granule position (RFC 3533), in the first stream's samples; for Opus
 * at least the duration of its packets.
 */
export async function oggSeconds(source: AudioSource): Promise<number | undefined> {
  const first = await source.bytes(0, headBytes + 255 + 64);
  const codec = codecOf(first.subarray(headBytes + (first[26] ?? 0)));
  if (codec === undefined) return undefined;
  const declared = await secondsByGranule(source, first.readUInt32LE(14), codec);
  if (declared === undefined || !codec.opus) return declared;
  const decoded = await opusSeconds(source);
  return decoded > declared + leftOutSeconds ? decoded : declared;
}

async function secondsByGranule(
  source: AudioSource,
  serial: number,
  { rate, skip }: Codec,
): Promise<number | undefined> {
  const from = Math.max(0, source.size - tailBytes);
  const tail = await source.bytes(from, Math.min(tailBytes, source.size));
  for (
    let at = tail.lastIndexOf('OggS');
    at >= 0;
    at = at === 0 ? -1 : tail.lastIndexOf('OggS', at - 1)
  ) {
    if (at + headBytes > tail.length || tail.readUInt32LE(at + 14) !== serial) continue;
    const granule = tail.readBigInt64LE(at + 6);
    if (granule > 0n) return Math.max(0, Number(granule) - skip) / rate;
  }
  return undefined;
}

interface Codec {
  readonly rate: number;
  readonly skip: number;
  readonly opus: boolean;
}

/** Reads the codec from a stream's first packet. */
function codecOf(packet: Buffer): Codec | undefined {
  if (packet.toString('latin1', 0, 8) === 'OpusHead')
    return { rate: opusHz, skip: packet.readUInt16LE(10), opus: true };
  if (packet.toString('latin1', 1, 7) === 'vorbis') return codecAt(packet.readUInt32LE(12));
  if (packet.toString('latin1', 0, 8) === 'Speex   ') return codecAt(packet.readUInt32LE(36));
  // FLAC in Ogg: its STREAMINFO stands behind a head of 17 bytes.
  if (packet.toString('latin1', 1, 5) === 'FLAC') return codecAt(packet.readUIntBE(27, 3) >> 4);
  return undefined;
}

const codecAt = (rate: number): Codec | undefined =>
  rate === 0 ? undefined : { rate, skip: 0, opus: false };

/** Seconds of the packets of all pages, whatever the pages declare: decoders play every packet. */
async function opusSeconds(source: AudioSource): Promise<number> {
  let seconds = 0;
  for (let from = 0; from + headBytes < source.size; ) {
    const window = await source.bytes(from, Math.min(windowBytes, source.size - from));
    let read = 0;
    for (;;) {
      const at = window.indexOf('OggS', read);
      read = Math.max(read, at < 0 ? window.length - 3 : at);
      if (at < 0) break;
      const body = at + headBytes + (window[at + 26] ?? 0);
      const laces = window.subarray(at + headBytes, body);
      const end = laces.reduce((sum, lace) => sum + lace, body);
      // The next window begins with the page that this one cuts.
      if (end > window.length && at > 0) break;
      seconds += pageSeconds(window, body, laces, ((window[at + 5] ?? 0) & 1) === 0);
      read = Math.min(end, window.length);
    }
    from += read;
  }
  return seconds;
}

/**
 * Seconds of the packets that begin on a page; a packet whose last lace is 255 goes on on the next
 * page.
 */
function pageSeconds(window: Buffer, body: number, laces: Buffer, fresh: boolean): number {
  let seconds = 0;
  let at = body;
  let begins = fresh;
  for (const lace of laces) {
    if (
      begins &&
      lace > 0 &&
      at < window.length &&
      (window[at] !== headBegins || window.toString('latin1', at, at + 4) !== 'Opus')
    )
      seconds += opusPacketSeconds(window[at] ?? 0, window[at + 1] ?? 1);
    begins = lace < 255;
    at += lace;
  }
  return seconds;
}

const framesMs = [10, 20, 40, 60];
const shortMs = [2.5, 5, 10, 20];
/** No packet has more. */
const packetMsMax = 120;

/**
 * Seconds of an Opus packet (RFC 6716 §3.1): its first byte gives the length of a frame and their
 * number; the second gives the number where there may be more than two.
 */
export function opusPacketSeconds(first: number, second: number): number {
  const config = first >> 3;
  const ms =
    config < 12 ? framesMs[config & 3] : config < 16 ? framesMs[config & 1] : shortMs[config & 3];
  const code = first & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : second & 63;
  return Math.min(packetMsMax, frames * (ms ?? 0)) / 1_000;
}
