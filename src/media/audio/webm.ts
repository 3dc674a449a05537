import { opusPacketSeconds } from './ogg.ts';
import type { AudioSource } from './source.ts';

const headBytes = 64 * 1024;
const tailBytes = 1024 * 1024;
const nanosecondsUsual = 1_000_000;
/** The time of a block is its beginning, so the length of the last one is missing. */
const leftOutSeconds = 1;
/** The most elements that are read: about 25 MB of the shortest packets. */
const elementsMax = 600_000;

const trackEntry = 0xae;
const trackNumber = 0xd7;
const codecId = 0x86;
const simpleBlock = 0xa3;
const block = 0xa1;

/** A variable-size integer of EBML (RFC 8794 §4): its length is in its first byte. */
function variableInt(
  bytes: Buffer,
  at: number,
): { readonly value: number; readonly next: number } | undefined {
  const first = bytes[at];
  if (first === undefined || first === 0) return undefined;
  const length = Math.clz32(first) - 23;
  if (at + length > bytes.length) return undefined;
  let value = first & (0xff >> length);
  for (let i = 1; i < length; i++) value = value * 256 + (bytes[at + i] ?? 0);
  return { value, next: at + length };
}

/** The content of the first element with these bytes as its id. */
function element(
  bytes: Buffer,
  id: readonly number[],
  from = 0,
): { readonly content: Buffer; readonly next: number } | undefined {
  const at = bytes.indexOf(Buffer.from(id), from);
  const length = at < 0 ? undefined : variableInt(bytes, at + id.length);
  return (
    length && {
      content: bytes.subarray(length.next, length.next + length.value),
      next: length.next,
    }
  );
}

const unsigned = (bytes: Buffer): number => bytes.reduce((sum, byte) => sum * 256 + byte, 0);

/**
 * Seconds by the Duration of its Info, and by its last cluster and block: a browser that records
 * does not go back to write a head, and a head may lie.
 */
export async function webmSeconds(source: AudioSource): Promise<number | undefined> {
  const head = await source.bytes(0, Math.min(headBytes, source.size));
  const info = element(head, [0x15, 0x49, 0xa9, 0x66])?.content;
  if (info === undefined) return undefined;
  const scale =
    unsigned(element(info, [0x2a, 0xd7, 0xb1])?.content ?? Buffer.alloc(0)) || nanosecondsUsual;
  const duration = element(info, [0x44, 0x89])?.content;
  const length =
    duration?.length === 4
      ? duration.readFloatBE(0)
      : duration?.length === 8
        ? duration.readDoubleBE(0)
        : 0;
  const from = Math.max(0, source.size - tailBytes);
  const last = lastTime(await source.bytes(from, Math.min(tailBytes, source.size))) ?? 0;
  const declared = (Math.max(Number.isFinite(length) ? length : 0, last) * scale) / 1e9;
  const decoded = await opusSeconds(source);
  const seconds = decoded === undefined || decoded > declared + leftOutSeconds ? decoded : declared;
  return seconds === 0 ? undefined : seconds;
}

function lastTime(tail: Buffer): number | undefined {
  const at = tail.lastIndexOf(Buffer.from([0x1f, 0x43, 0xb6, 0x75]));
  const cluster = at < 0 ? undefined : element(tail, [0xe7], at);
  if (cluster === undefined) return undefined;
  let latest = unsigned(cluster.content.subarray(0, 8));
  const start = latest;
  // Simple blocks, one after the other: track, and time since the cluster's start.
  for (let next = cluster.next + cluster.content.length; next + 8 < tail.length; ) {
    const length = variableInt(tail, next + 1);
    if (length === undefined) break;
    if (tail[next] === simpleBlock)
      latest = Math.max(
        latest,
        start + tail.readInt16BE(Math.min(length.next + 1, tail.length - 2)),
      );
    next = length.next + length.value;
  }
  return latest;
}

/**
 * Elements that hold others: Segment, Tracks, TrackEntry, Cluster, BlockGroup. Reading goes on
 * inside them, so that their length may be unknown.
 */
const holders = new Set([0x18538067, 0x1654ae6b, trackEntry, 0x1f43b675, 0xa0]);

/**
 * Seconds of the packets of Opus tracks, whatever their times: decoders play every packet.
 * Undefined: there are too many elements.
 */
async function opusSeconds(source: AudioSource): Promise<number | undefined> {
  const tracks = new Set<number>();
  let entry: { number?: number; opus?: true } = {};
  let seconds = 0;
  let elements = 0;
  for (let at = 0; at + 2 < source.size; ) {
    if (++elements > elementsMax) return undefined;
    const head = await source.bytes(at, 24);
    const idBytes = Math.clz32(head[0] ?? 0) - 23;
    const length = idBytes > 4 ? undefined : variableInt(head, idBytes);
    if (length === undefined) return seconds;
    const id = head.readUIntBE(0, idBytes);
    if (id === trackEntry) entry = {};
    if (id === trackNumber)
      entry.number = unsigned(head.subarray(length.next, length.next + length.value));
    if (
      id === codecId &&
      head.toString('latin1', length.next, length.next + length.value) === 'A_OPUS'
    )
      entry.opus = true;
    if (entry.opus && entry.number !== undefined) tracks.add(entry.number);
    if (id === simpleBlock || id === block) {
      const track = variableInt(head, length.next);
      // After the track's number: two bytes of time, one of flags.
      if (track !== undefined && tracks.has(track.value))
        seconds += opusPacketSeconds(head[track.next + 3] ?? 0, head[track.next + 4] ?? 1);
    }
    at += length.next + (holders.has(id) ? 0 : length.value);
  }
  return seconds;
}
