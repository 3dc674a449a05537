import { formatDay, formatTime } from './time.ts';

const hourMs = 3_600_000;

/** The last instant of a day of the zone, ISO: `2026-11-21` in Asia/Shanghai is `2026-11-21T15:59:59.000Z`. */
export function endOfDay(day: string, zone: string): string {
  const wanted = `${day} 23:59:59`;
  const asUtc = Date.parse(`${day}T23:59:59Z`);
  // The zone's clock at that instant of UTC tells how far it is; once more, since the clocks may have changed in between.
  const first = asUtc - offsetMs(new Date(asUtc).toISOString(), zone);
  const second = asUtc - offsetMs(new Date(first).toISOString(), zone);
  return new Date(formatTime(new Date(first).toISOString(), zone) === wanted ? first : second).toISOString();
}

/** `2026-11-21` of now, and that many days later. */
export function dayFrom(nowMs: number, days: number, zone: string): string {
  return formatDay(new Date(nowMs + days * 24 * hourMs).toISOString(), zone);
}

function offsetMs(iso: string, zone: string): number {
  return Date.parse(`${formatTime(iso, zone).replace(' ', 'T')}Z`) - Date.parse(iso);
}
