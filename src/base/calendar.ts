import { memoize } from './memoize.ts';

export const dayMs = 86_400_000;
export const hourMs = 3_600_000;
export const minuteMs = 60_000;
/** Wall clock, ms: later than anything that is stored, and small enough for sums. */
export const endOfTime = 2 ** 52;

/** A day by the local time of a zone. Zones are IANA names; a day is `2026-11-21`. */
export interface ZoneDay {
  readonly day: string;
  /** Wall clock, ms; `to` is the next one's beginning. Some days have 23 or 25 hours. */
  readonly from: number;
  readonly to: number;
}

const formatsMax = 500;

/** Throws a RangeError for a name that is no zone's. */
const formatOf = memoize(
  (zone) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
  formatsMax,
);

export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** How far the zone's clocks are ahead of Greenwich at that moment, ms. */
export function zoneOffsetMs(zone: string, at: number): number {
  const parts: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(at)) parts[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000;
}

/** A day from 1970 to 9999: zones are not known before. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) && text >= '1970' && dayText(Date.parse(text)) === text;

/** The year 10000 is `+010000`, so that each day has a text of its own. */
function dayText(utc: number): string {
  return Number.isNaN(utc) ? '' : (new Date(utc).toISOString().split('T', 1)[0] ?? '');
}

/**
 * When the day begins in the zone: the first moment whose local time is not before its midnight.
 */
function startOfDay(zone: string, day: string): number {
  const midnight = Date.parse(day);
  const guess = midnight - zoneOffsetMs(zone, midnight);
  const start = midnight - zoneOffsetMs(zone, guess);
  // Clocks that go forward at midnight skip it: then the day begins when they have.
  return start + zoneOffsetMs(zone, start) < midnight ? guess : start;
}

/** The day in which `at` (wall clock, ms) lies. */
export function zoneDayAt(zone: string, at: number): ZoneDay {
  return zoneDay(zone, dayText(at + zoneOffsetMs(zone, at)));
}

export function zoneDay(zone: string, day: string): ZoneDay {
  return { day, from: startOfDay(zone, day), to: startOfDay(zone, nextDay(day)) };
}

export function nextDay(day: string, days = 1): string {
  return dayText(Date.parse(day) + days * dayMs);
}

/** All days from the first to the last, both included. */
export function zoneDays(zone: string, first: string, last: string): readonly ZoneDay[] {
  const days: ZoneDay[] = [];
  const count = (Date.parse(last) - Date.parse(first)) / dayMs + 1;
  let from = startOfDay(zone, first);
  for (let day = first; days.length < count; day = nextDay(day)) {
    const to = startOfDay(zone, nextDay(day));
    days.push({ day, from, to });
    from = to;
  }
  return days;
}

/** `2026-11-21 14:03:22` and `+08:00`, as a clock there shows it. */
export function zoneTimeAt(
  zone: string,
  at: number,
): { readonly time: string; readonly offset: string } {
  const offset = zoneOffsetMs(zone, at);
  return {
    time: new Date(at + offset).toISOString().slice(0, 19).replace('T', ' '),
    offset: offsetText(Math.round(offset / minuteMs)),
  };
}

/**
 * A day or a month by the operator's offset, as limits count them. `offsetMinutes`: east of
 * Greenwich.
 */
export interface Period {
  /**
   * `2026-11-21+08:00` or `2026-11+08:00`: the name alone gives the bounds, whatever is configured
   * later.
   */
  readonly name: string;
  /** Wall clock, ms; `to` is the next one's beginning. */
  readonly from: number;
  readonly to: number;
}

export function dayOf(at: number, offsetMinutes: number): Period {
  const shift = offsetMinutes * minuteMs;
  const from = Math.floor((at + shift) / dayMs) * dayMs;
  return {
    name: new Date(from).toISOString().slice(0, 10) + offsetText(offsetMinutes),
    from: from - shift,
    to: from - shift + dayMs,
  };
}

export function monthOf(at: number, offsetMinutes: number): Period {
  const shift = offsetMinutes * minuteMs;
  const local = new Date(at + shift);
  const [year, month] = [local.getUTCFullYear(), local.getUTCMonth()];
  const name = local.toISOString().slice(0, 7) + offsetText(offsetMinutes);
  return { name, from: Date.UTC(year, month) - shift, to: Date.UTC(year, month + 1) - shift };
}

/**
 * The period that has this name; without an offset it is in Greenwich time. Undefined when the text
 * is no name of a period.
 */
export function parsePeriod(name: string): Period | undefined {
  const parts = /^(\d{4}-\d{2})(-\d{2})?([+-]\d{2}:\d{2})?$/.exec(name);
  if (parts === null) return undefined;
  const [, month = '', day, offset = '+00:00'] = parts;
  const offsetMinutes = parseUtcOffset(offset);
  const at = Date.parse(`${month}${day ?? '-01'}T00:00:00${offset}`);
  if (offsetMinutes === undefined || Number.isNaN(at)) return undefined;
  return day === undefined ? monthOf(at, offsetMinutes) : dayOf(at, offsetMinutes);
}

/** Minutes of `+08:00`; undefined when it is no such text. */
export function parseUtcOffset(text: string): number | undefined {
  const parts = /^([+-])(0\d|1[0-4]):([0-5]\d)$/.exec(text);
  if (parts === null) return undefined;
  const minutes = Number(parts[2]) * 60 + Number(parts[3]);
  return parts[1] === '-' ? -minutes : minutes;
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  const two = (part: number): string => String(part).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}
