import type { Reply } from '../http/reply.ts';

/** The longest header, however many members are dropped. */
export const droppedCharsMax = 1_024;
const more = ', ...';

/**
 * Names in a header the members that were not sent to the vendor, before the answer begins. `byUs`:
 * members whose values mean "not set". `forVendor`: members that the answering vendor does not
 * take.
 */
export function tellDropped(
  reply: Reply,
  byUs: readonly string[] | undefined,
  forVendor: readonly string[] | undefined,
): void {
  if ((byUs === undefined && forVendor === undefined) || reply.started) return;
  const dropped = [...(byUs ?? []), ...(forVendor ?? [])];
  if (dropped.length > 0) reply.header('x-tollgate-dropped', droppedText(dropped));
}

/**
 * Each path once, in alphabetical order. A path may hold a name that the client chose: characters
 * that a header cannot carry become `?`.
 */
export function droppedText(dropped: readonly string[]): string {
  const paths = [...new Set(dropped.map((path) => path.replace(/[^\x21-\x7e]|,/g, '?')))].sort();
  const text = paths.join(', ');
  if (text.length <= droppedCharsMax) return text;
  return `${text.slice(0, Math.max(0, text.lastIndexOf(', ', droppedCharsMax - more.length)))}${more}`;
}
