import { type AudioSource, stepsMax } from './source.ts';

interface Box {
  readonly type: string;
  /** Offsets of the content. */
  readonly start: number;
  readonly end: number;
}

interface Track {
  /** Time units per second. */
  scale: number;
  /**
   * Durations in time units: by the track's head, by its table of times, and by the end of its last
   * fragment, which is all that a file recorded live has.
   */
  declared: number;
  timed: number;
  fragments: number;
  /** The default duration of a sample in its fragments. */
  usual: number;
  /** The least seconds of a packet of its codec, and the number of packets. */
  packetSeconds: number;
  packets: number;
}

/** The facts of a video that have been read so far. `track`: the track that is being read. */
interface Movie {
  readonly tracks: Map<number, Track>;
  track: Track;
  steps: number;
}

const inside = new Set(['moov', 'trak', 'mdia', 'minf', 'stbl', 'mvex', 'moof', 'traf']);
/**
 * The fewest samples in a packet of each codec, as its encoders make them: decoders play every
 * packet, whatever times the file declares. AAC, MP3 (ISO 14496-3, ISO 13818-3), ALAC, the shortest
 * blocks of FLAC's encoders, and 2.5 ms of Opus (RFC 6716 §2.1.4).
 */
const packetSamples: Readonly<Record<string, number>> = {
  mp4a: 1_024,
  '.mp3': 576,
  alac: 4_096,
  fLaC: 576,
  Opus: 120,
};
const hzMax = 96_000;
/** A file may leave out a part of its first samples and of the last one. */
const leftOutSeconds = 1;

const newTrack = (): Track => ({
  scale: 0,
  declared: 0,
  timed: 0,
  fragments: 0,
  usual: 0,
  packetSeconds: 0,
  packets: 0,
});

/**
 * Seconds of an MP4 or M4A file (ISO 14496-12): the longest duration that any of its tracks gives.
 */
export async function mp4Seconds(source: AudioSource): Promise<number | undefined> {
  const movie: Movie = { tracks: new Map(), track: newTrack(), steps: 0 };
  await walk(source, 0, source.size, movie);
  const seconds = Math.max(0, ...[...movie.tracks.values()].map(secondsOf));
  return seconds === 0 ? undefined : seconds;
}

function secondsOf(track: Track): number {
  const { scale, declared, timed, fragments, packetSeconds, packets } = track;
  const declaredSeconds = scale === 0 ? 0 : Math.max(declared, timed, fragments) / scale;
  const decoded = packets * packetSeconds;
  return decoded > declaredSeconds + leftOutSeconds ? decoded : declaredSeconds;
}

async function walk(source: AudioSource, from: number, to: number, movie: Movie): Promise<void> {
  for (let at = from; at + 8 <= to; ) {
    if (++movie.steps > stepsMax) return;
    const box = await boxAt(source, at, to);
    if (box === undefined) return;
    if (box.type === 'trak') movie.track = newTrack();
    if (inside.has(box.type)) await walk(source, box.start, box.end, movie);
    else await readBox(source, box, movie);
    at = box.end;
  }
}

async function boxAt(source: AudioSource, at: number, to: number): Promise<Box | undefined> {
  const head = await source.bytes(at, 16);
  const short = head.readUInt32BE(0);
  const length = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? to - at : short;
  const headBytes = short === 1 ? 16 : 8;
  if (length < headBytes) return undefined;
  return {
    type: head.toString('latin1', 4, 8),
    start: at + headBytes,
    end: Math.min(to, at + length),
  };
}

function trackOf(movie: Movie, id: number): Track {
  let track = movie.tracks.get(id);
  if (track === undefined) movie.tracks.set(id, (track = newTrack()));
  return track;
}

async function readBox(source: AudioSource, box: Box, movie: Movie): Promise<void> {
  const { type, start, end } = box;
  const bytes = await source.bytes(start, 48);
  const long = bytes[0] === 1;
  const { track } = movie;
  if (type === 'tkhd') movie.tracks.set(bytes.readUInt32BE(long ? 20 : 12), track);
  if (type === 'mdhd') {
    track.scale = bytes.readUInt32BE(long ? 20 : 12);
    const units = long ? Number(bytes.readBigUInt64BE(24)) : bytes.readUInt32BE(16);
    track.declared = units >= 0xffffffff ? 0 : units;
  }
  // A rate that does not fit into its 16 bits is 0.
  if (type === 'stsd')
    track.packetSeconds =
      (packetSamples[bytes.toString('latin1', 12, 16)] ?? 0) / (bytes.readUInt16BE(40) || hzMax);
  if (type === 'stsz' || type === 'stz2')
    track.packets += Math.min(packetsMax, bytes.readUInt32BE(8));
  if (type === 'stts') track.timed += await timesIn(source, start, end);
  if (type === 'trex') trackOf(movie, bytes.readUInt32BE(4)).usual = bytes.readUInt32BE(12);
  if (type === 'tfhd') {
    movie.track = trackOf(movie, bytes.readUInt32BE(4));
    const flags = bytes.readUIntBE(1, 3);
    const at = 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
    if (flags & 8) movie.track.usual = bytes.readUInt32BE(at);
  }
  if (type === 'tfdt')
    track.fragments = Math.max(
      track.fragments,
      long ? Number(bytes.readBigUInt64BE(4)) : bytes.readUInt32BE(4),
    );
  if (type === 'trun') await readRun(source, box, track);
}

const packetsMax = 10_000_000;
const runMax = 100_000;
const windowBytes = 64 * 1024;

/** The sum of a table of sample counts and durations. */
async function timesIn(source: AudioSource, start: number, stop: number): Promise<number> {
  const count = (await source.bytes(start, 8)).readUInt32BE(4);
  let sum = 0;
  await forEachEntry(source, { from: start + 8, stop, entries: count, bytes: 8 }, (table, at) => {
    sum += table.readUInt32BE(at) * table.readUInt32BE(at + 4);
  });
  return sum;
}

async function readRun(source: AudioSource, { start, end }: Box, track: Track): Promise<void> {
  const head = await source.bytes(start, 8);
  const flags = head.readUIntBE(1, 3);
  const count = Math.min(runMax, head.readUInt32BE(4));
  track.packets += count;
  if (!(flags & 0x100)) {
    track.fragments += count * track.usual;
    return;
  }
  const bytes = [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length * 4;
  const from = start + 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  await forEachEntry(source, { from, stop: end, entries: count, bytes }, (table, at) => {
    track.fragments += table.readUInt32BE(at);
  });
}

interface Table {
  readonly from: number;
  readonly stop: number;
  readonly entries: number;
  /** The size of one entry. */
  readonly bytes: number;
}

async function forEachEntry(
  source: AudioSource,
  { from, stop, entries: entryCount, bytes }: Table,
  each: (table: Buffer, at: number) => void,
): Promise<void> {
  const count = Math.min(runMax, entryCount, Math.floor((stop - from) / bytes));
  for (let i = 0; i < count; ) {
    const some = Math.min(count - i, Math.floor(windowBytes / bytes));
    const table = await source.bytes(from + i * bytes, some * bytes);
    for (let j = 0; j < some; j++) each(table, j * bytes);
    i += some;
  }
}
