import { formatDay, formatTime } from './time.ts';

const hourMs = 3_600_000;

/**
 * The last instant of a day of the zone, ISO: `2026-11-21` in Asia/Shanghai is
 * `2026-11-21T15:59:59.000Z`.
 */
export function endOfDay(day: string, zone: string): string {
  const wanted = `${day} 23:59:59`;
  const asUtc = Date.parse(`${day}T23:59:59Z`);
  // The offset of the zone at that instant; a second pass, since the clocks may have changed in
  // between.
  const first = asUtc - offsetMs(new Date(asUtc).toISOString(), zone);
  const second = asUtc - offsetMs(new Date(first).toISOString(), zone);
  return new Date(
    formatTime(new Date(first).toISOString(), zone) === wanted ? first : second,
  ).toISOString();
}

/** The day of `nowMs` plus `days` in the zone: `2026-11-21`. */
export function dayFrom(nowMs: number, days: number, zone: string): string {
  return formatDay(new Date(nowMs + days * 24 * hourMs).toISOString(), zone);
}

function offsetMs(iso: string, zone: string): number {
  return Date.parse(`${formatTime(iso, zone).replace(' ', 'T')}Z`) - Date.parse(iso);
}

/** The first instant of a day of the zone, ISO. */
export function startOfDay(day: string, zone: string): string {
  return new Date(Date.parse(endOfDay(shiftDay(day, -1), zone)) + 1000).toISOString();
}

/** Calendar days later, whatever the zone: `shiftDay('2026-03-01', -1)` is `2026-02-28`. */
export function shiftDay(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * 24 * hourMs).toISOString().slice(0, 10);
}

/** The month before the one of a day: `2026-02` for `2026-03-14`. */
export const monthBefore = (day: string): string =>
  shiftDay(`${day.slice(0, 7)}-01`, -1).slice(0, 7);

/** The first and the last day of a month: of `2026-02`. */
export function daysOfMonth(month: string): { readonly from: string; readonly to: string } {
  const from = `${month}-01`;
  // No month has more than 31 days.
  return { from, to: shiftDay(`${shiftDay(from, 31).slice(0, 7)}-01`, -1) };
}

/**
 * Whether a text is a day as addresses write it: `2026-11-21`. Zones are not known before 1970, and
 * the last day of 9999 ends, or has its next day, in a year of five digits.
 */
export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text) || text < '1970' || text >= '9999') return false;
  const at = Date.parse(`${text}T00:00:00Z`);
  // A browser may read February 30 as March 2.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text);
}

/** Whether a text is a day and a time as people write them here: `2026-11-21 14:03`. */
export function isClock(text: string): boolean {
  return isDay(text.slice(0, 10)) && /^ (?:[01]\d|2[0-3]):[0-5]\d$/.test(text.slice(10));
}

/** `2026/1/5`, `2026.01.05` and `2026年1月5日` as `2026-01-05`; another text stays as it is. */
export function tidyDay(text: string): string {
  const [, year, month = '', day = '', rest = ''] =
    /^(\d{4})[-/.年](\d{1,2})[-/.月](\d{1,2})日?(\s.*)?$/.exec(text.trim()) ?? [];
  if (year === undefined) return text.trim();
  const time = rest
    .trim()
    .replace('：', ':')
    .replace(/^(\d):/, '0$1:');
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')} ${time}`.trim();
}

/** The instant, ISO, of a local time of the zone: `2026-11-21 14:03`. */
export function instantOf(clock: string, zone: string): string {
  const asUtc = Date.parse(`${clock.replace(' ', 'T')}Z`);
  const first = asUtc - offsetMs(new Date(asUtc).toISOString(), zone);
  return new Date(asUtc - offsetMs(new Date(first).toISOString(), zone)).toISOString();
}

/** The inverse of `instantOf`. */
export function clockOf(iso: string, zone: string): string {
  return formatTime(iso, zone).slice(0, 16);
}
