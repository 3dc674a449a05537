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

/** Whether a text is a day as addresses write it: `2026-11-21`. */
export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
}

/** The instant, ISO, of a local time of the zone as browser fields write it: `2026-11-21T14:03`. */
export function instantOf(clock: string, zone: string): string {
  const asUtc = Date.parse(`${clock}Z`);
  const first = asUtc - offsetMs(new Date(asUtc).toISOString(), zone);
  return new Date(asUtc - offsetMs(new Date(first).toISOString(), zone)).toISOString();
}

/** The inverse of `instantOf`. */
export function clockOf(iso: string, zone: string): string {
  return formatTime(iso, zone).slice(0, 16).replace(' ', 'T');
}
