import { type Source, stepsMax } from './source.ts';

interface Box {
  readonly type: string;
  /** Of what is inside. */
  readonly start: number;
  readonly end: number;
}

/** What is known of a film so far, in `scale` parts of a second. */
interface Film {
  scale: number;
  told: number;
  /** Ends of fragments: files that were recorded live have nothing else. */
  fragments: number;
  usual: number;
  steps: number;
}

const inside = new Set(['moov', 'trak', 'mdia', 'mvex', 'moof', 'traf']);

/** Seconds of an MP4 or M4A file (ISO 14496-12): of its sound, or by its fragments where its head tells nothing. */
export async function mp4Seconds(source: Source): Promise<number | undefined> {
  const film: Film = { scale: 0, told: 0, fragments: 0, usual: 0, steps: 0 };
  await look(source, 0, source.size, film);
  const parts = Math.max(film.told, film.fragments);
  return film.scale === 0 || parts === 0 ? undefined : parts / film.scale;
}

async function look(source: Source, from: number, to: number, film: Film): Promise<void> {
  let offset = 0;
  for (let at = from; at + 8 <= to; ) {
    if (++film.steps > stepsMax) return;
    const box = await boxAt(source, at, to);
    if (box === undefined) return;
    if (inside.has(box.type)) await look(source, box.start, box.end, film);
    else offset = await read(source, box, film, offset);
    at = box.end;
  }
}

async function boxAt(source: Source, at: number, to: number): Promise<Box | undefined> {
  const head = await source.bytes(at, 16);
  const short = head.readUInt32BE(0);
  const length = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? to - at : short;
  const headBytes = short === 1 ? 16 : 8;
  if (length < headBytes) return undefined;
  return { type: head.toString('latin1', 4, 8), start: at + headBytes, end: Math.min(to, at + length) };
}

/** Returns where the fragment that is being read has come to. */
async function read(source: Source, { type, start, end: stop }: Box, film: Film, offset: number): Promise<number> {
  const bytes = await source.bytes(start, 40);
  const long = bytes[0] === 1;
  // A track's scale is that of its samples, a film's that of its whole: the last one read is the sound's where there is sound alone.
  if (type === 'mdhd') {
    film.scale = bytes.readUInt32BE(long ? 20 : 12);
    film.told = Math.max(0, long ? Number(bytes.readBigUInt64BE(24)) : bytes.readUInt32BE(16));
    if (film.told >= 0xffffffff) film.told = 0;
  }
  if (type === 'trex') film.usual = bytes.readUInt32BE(12);
  if (type === 'tfhd') {
    const flags = bytes.readUIntBE(1, 3);
    const at = 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0);
    if (flags & 8) film.usual = bytes.readUInt32BE(at);
  }
  if (type === 'tfdt') return long ? Number(bytes.readBigUInt64BE(4)) : bytes.readUInt32BE(4);
  if (type === 'trun') {
    const end = offset + (await runLength(source, start, stop, film));
    film.fragments = Math.max(film.fragments, end);
    return end;
  }
  return offset;
}

const samplesMax = 100_000;
const windowBytes = 64 * 1024;

async function runLength(source: Source, start: number, stop: number, { usual }: Film): Promise<number> {
  const head = await source.bytes(start, 8);
  const flags = head.readUIntBE(1, 3);
  const told = Math.min(samplesMax, head.readUInt32BE(4));
  if (!(flags & 0x100)) return told * usual;
  const each = [0x100, 0x200, 0x400, 0x800].filter((flag) => flags & flag).length * 4;
  const from = start + 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0);
  const count = Math.min(told, Math.floor((stop - from) / each));
  let sum = 0;
  for (let i = 0; i < count; ) {
    const some = Math.min(count - i, Math.floor(windowBytes / each));
    const table = await source.bytes(from + i * each, some * each);
    for (let j = 0; j < some; j++) sum += table.readUInt32BE(j * each);
    i += some;
  }
  return sum;
}
