import { minuteMs, nextDay, zoneDayAt, zoneOffsetMs } from '../base/calendar.ts';
import { type Fraction, fraction, fractionText, unity } from '../base/fraction.ts';
import type { Measure } from '../base/quantities.ts';

/** Hours of some days with another price. */
export interface PriceWindow {
  /** Its name in bills. Windows of one name have the same factors. */
  readonly name: string;
  /** IANA time zone. Hours, days and holidays are in its local time. */
  readonly zone: string;
  /** 1 is Monday, 7 Sunday. Absent: every day. */
  readonly days?: readonly number[] | undefined;
  /**
   * Minutes since midnight: `from` belongs to the window, `to` does not. Where `to` is not after
   * `from`, the window ends on the next day.
   */
  readonly from: number;
  readonly to: number;
  /** Days without this window. */
  readonly except?: Calendar | undefined;
  readonly times: Times;
}

/** Days that are announced for some time ahead, such as public holidays. */
export interface Calendar {
  readonly name: string;
  /** The last day, YYYY-MM-DD, that the announcement covers. */
  readonly knownUntil: string;
  /** YYYY-MM-DD, both included. */
  readonly days: readonly (readonly [string, string])[];
}

export interface PriceWindows {
  /**
   * The moment that decides, by Tollgate's clock: when the request is sent, or when its response
   * has ended.
   */
  readonly moment: 'sent' | 'finished';
  /** Where several windows hold at once, the first in the list applies. */
  readonly list: readonly PriceWindow[];
}

/**
 * The window that holds from `from` until before `to`, wall clock, ms. `name` undefined: the plain
 * price.
 */
export interface WindowSpan {
  readonly name: string | undefined;
  readonly from: number;
  readonly to: number;
}

const dayMinutes = 1_440;

/** The moment at which the zone's clocks show this minute of this day. */
function momentOf(zone: string, day: string, minute: number): number {
  const shown = Date.parse(day) + minute * minuteMs;
  return shown - zoneOffsetMs(zone, shown - zoneOffsetMs(zone, shown));
}

/** 1 is Monday, 7 Sunday. */
const weekday = (day: string): number => new Date(day).getUTCDay() || 7;

const isAmong = (calendar: Calendar, day: string): boolean =>
  calendar.days.some(([first, last]) => day >= first && day <= last);

/** The window's hours that begin on this day; undefined where it has none. */
function hoursOn(
  { zone, days, from, to, except }: PriceWindow,
  day: string,
): readonly [number, number] | undefined {
  if (days !== undefined && !days.includes(weekday(day))) return undefined;
  if (except !== undefined && isAmong(except, day)) return undefined;
  return [momentOf(zone, day, from), momentOf(zone, to > from ? day : nextDay(day), to)];
}

/**
 * The window that holds at `at`, and a span around `at` in which it does not change. After the end
 * of a calendar that one of the windows uses, the dearest window holds.
 */
export function windowAt({ list }: PriceWindows, at: number): WindowSpan {
  let [from, to] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
  let name: string | undefined;
  let found = false;
  let unknown = false;
  for (const window of list) {
    const today = zoneDayAt(window.zone, at);
    const edges = [today.from, today.to];
    for (const day of [nextDay(today.day, -1), today.day]) {
      const hours = hoursOn(window, day);
      if (hours === undefined) continue;
      edges.push(...hours);
      if (found || at < hours[0] || at >= hours[1]) continue;
      found = true;
      name = window.name;
    }
    for (const edge of edges) {
      if (edge <= at) from = Math.max(from, edge);
      else to = Math.min(to, edge);
    }
    unknown ||= window.except !== undefined && today.day > window.except.knownUntil;
  }
  return { name: unknown ? dearestWindow(list) : name, from, to };
}

/**
 * The name of the window with the highest price; undefined where the plain price is the highest.
 */
export function dearestWindow(list: readonly PriceWindow[]): string | undefined {
  let name: string | undefined;
  let most = unity;
  for (const window of list) {
    const height = heightOf(window);
    if (!isMore(height, most)) continue;
    name = window.name;
    most = height;
  }
  return name;
}

/** The highest factor of a window, by which windows are compared. */
function heightOf({ times: { all, each } }: PriceWindow): Fraction {
  const factors = [...(all === undefined ? [] : [all]), ...Object.values(each ?? {})];
  return factors.reduce((most, factor) => (isMore(factor, most) ? factor : most), fraction(0n));
}

const isMore = (a: Fraction, b: Fraction): boolean =>
  a.numerator * b.denominator > b.numerator * a.denominator;

/** The moment at which the first of the windows' calendars ends; undefined: no window has one. */
export function knownUntil({ list }: PriceWindows): number | undefined {
  const ends = list.flatMap(({ zone, except }) =>
    except === undefined ? [] : [momentOf(zone, except.knownUntil, dayMinutes)],
  );
  return ends.length === 0 ? undefined : Math.min(...ends);
}

/** Minutes since midnight of `09:30` or `24:00`; undefined when the text is no time. */
export function minuteOf(text: string): number | undefined {
  const [, hours = '', minutes = ''] = /^(\d{2}):(\d{2})$/.exec(text) ?? [];
  const minute = Number(hours) * 60 + Number(minutes);
  return hours === '' || Number(minutes) > 59 || minute > dayMinutes ? undefined : minute;
}

/** `2`, or `input 2, output 3` where the measures have factors of their own. */
export function timesText({ all, each = {} }: Times): string {
  if (all !== undefined) return fractionText(all);
  return Object.entries(each)
    .map(([measure, factor]) => `${measure} ${fractionText(factor)}`)
    .join(', ');
}

/** The hours of each window with its factors: `09:00–12:00 ×2`. */
export const windowTexts = ({
  windows,
}: {
  readonly windows?: PriceWindows | undefined;
}): readonly string[] => [
  ...new Set(
    windows?.list.map(
      ({ from, to, times }) => `${minuteText(from)}–${minuteText(to)} ×${timesText(times)}`,
    ),
  ),
];

/** The inverse: `09:30`. */
export const minuteText = (minute: number): string =>
  `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`;

/**
 * The calendars that every price may name. `cn-public-holidays`: the days off in mainland China in
 * 2026. Saturdays that are worked in exchange are not in it: vendors that price by weekdays count
 * them as Saturdays (State Council of China, 国办发明电, notice of November 2025; read in the price file
 * of dsh-meter, 2026-11-15).
 */
export const calendars: ReadonlyMap<string, Calendar> = new Map([
  [
    'cn-public-holidays',
    {
      name: 'cn-public-holidays',
      knownUntil: '2026-12-31',
      days: [
        ['2026-01-01', '2026-01-03'],
        ['2026-02-15', '2026-02-23'],
        ['2026-04-04', '2026-04-06'],
        ['2026-05-01', '2026-05-05'],
        ['2026-06-19', '2026-06-21'],
        ['2026-09-25', '2026-09-27'],
        ['2026-10-01', '2026-10-07'],
      ],
    },
  ],
]);

/**
 * The factors of rates: `each` by measure, `all` for the others. Fees of tools are multiplied only
 * where `each` names them.
 */
export interface Times {
  readonly all?: Fraction | undefined;
  readonly each?: Readonly<Partial<Record<Measure, Fraction>>> | undefined;
}
