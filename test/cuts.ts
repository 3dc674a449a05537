import type { Random } from '../src/base/random.ts';

const everyOffsetBytesMax = 3000;

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

/** Every border of an event, and the bytes around it. */
function* borders(bytes: Buffer): Generator<number> {
  for (let at = bytes.indexOf('\n'); at >= 0; at = bytes.indexOf('\n', at + 1)) yield* [at - 1, at, at + 1, at + 2];
}

/** A few ways in which a network may cut a stream, for what has been cut in all of them elsewhere. */
export function* fewCuts(bytes: Buffer, random: Random): Generator<Iterable<Buffer>> {
  for (const longest of [2, 7, 300]) yield cut(bytes, randomOffsets(random, longest, bytes.length));
}

/** Ways in which a network may cut a stream: small ones at every offset, all of them at the borders of events and in pieces of many sizes. */
export function* cuts(bytes: Buffer, random: Random): Generator<Iterable<Buffer>> {
  if (bytes.length <= everyOffsetBytesMax) for (let at = 1; at < bytes.length; at++) yield cut(bytes, [at]);
  yield cut(
    bytes,
    [...borders(bytes)].sort((a, b) => a - b),
  );
  for (const longest of [2, 7, 40, 300, 5000]) yield cut(bytes, randomOffsets(random, longest, bytes.length));
}
