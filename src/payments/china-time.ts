/** Both wallets live in one zone, which has no summer time. */
const offsetMs = 8 * 3_600_000;
const dayMs = 86_400_000;

const local = (at: number): string => new Date(at + offsetMs).toISOString();

/** `2026-11-21T10:00:00+08:00` */
export const rfc3339 = (at: number): string => `${local(at).slice(0, 19)}+08:00`;

/** `2026-11-21 10:00:00` */
export const plainTime = (at: number): string => local(at).slice(0, 19).replace('T', ' ');

/** `2026-11-21` */
export const dateOf = (at: number): string => local(at).slice(0, 10);

/** Of `2026-11-21 10:00:00`, milliseconds since 1970; undefined when it is no such time. */
export function readPlainTime(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)
    ? Date.parse(`${text.replace(' ', 'T')}+08:00`)
    : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/** Of a time that names its zone. */
export function readTime(text: string): number | undefined {
  const at = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

/**
 * The bounds of a day, wall clock: `from` is in it, `to` is not. Undefined when there is no such
 * day.
 */
export function dayBounds(
  date: string,
): { readonly from: number; readonly to: number } | undefined {
  const from = readPlainTime(`${date} 00:00:00`);
  return from === undefined || dateOf(from) !== date ? undefined : { from, to: from + dayMs };
}

/** The day before the one in which `at` is. */
export const dayBefore = (at: number): string => dateOf(at - dayMs);

/** Milliseconds since midnight. */
export const timeOfDay = (at: number): number => (at + offsetMs) % dayMs;
