import type { Random } from '../src/base/random.ts';

const everyOffsetBytesMax = 3_000;
/** So far apart are the cuts of one play, so many plays cut at every offset. */
const strideBytes = 128;

/** The pieces between these offsets. */
function* cut(bytes: Buffer, offsets: Iterable<number>): Generator<Buffer> {
  let from = 0;
  for (const to of offsets) {
    if (to <= from || to >= bytes.length) continue;
    yield bytes.subarray(from, to);
    from = to;
  }
  yield bytes.subarray(from);
}

function* randomOffsets(random: Random, longest: number, end: number): Generator<number> {
  for (let at = 0; at < end; at += 1 + Math.floor(random() * longest)) yield at;
}

function* strides(from: number, end: number): Generator<number> {
  for (let at = from; at < end; at += strideBytes) yield at;
}

/**
 * Each offset is where a piece ends in one of these: many cuts share a play, for a play for each
 * would read a stream of n bytes n times.
 */
export function* everyOffset(bytes: Buffer): Generator<Iterable<Buffer>> {
  for (let first = 1; first <= Math.min(strideBytes, bytes.length - 1); first++)
    yield cut(bytes, strides(first, bytes.length));
}

/** Every border of an event, and the bytes around it. */
function* borders(bytes: Buffer): Generator<number> {
  for (let at = bytes.indexOf('\n'); at >= 0; at = bytes.indexOf('\n', at + 1))
    yield* [at - 1, at, at + 1, at + 2];
}

/**
 * A few ways in which a network may cut a stream, for what has been cut in all of them elsewhere.
 */
export function* fewCuts(bytes: Buffer, random: Random): Generator<Iterable<Buffer>> {
  for (const longest of [2, 7, 300]) yield cut(bytes, randomOffsets(random, longest, bytes.length));
}

/**
 * Ways in which a network may cut a stream: small ones at every offset, all of them at the borders
 * of events and in pieces of many sizes.
 */
export function* cuts(bytes: Buffer, random: Random): Generator<Iterable<Buffer>> {
  if (bytes.length <= everyOffsetBytesMax)
    for (let at = 1; at < bytes.length; at++) yield cut(bytes, [at]);
  yield cut(
    bytes,
    [...borders(bytes)].sort((a, b) => a - b),
  );
  for (const longest of [2, 7, 40, 300, 5_000])
    yield cut(bytes, randomOffsets(random, longest, bytes.length));
}
