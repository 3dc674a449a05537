import type { Language } from '../words/language.ts';

const formats = new Map<string, Intl.DateTimeFormat>();
const tags: Readonly<Record<Language, string>> = { zh: 'zh-CN', en: 'en' };

/** `2026-11-21 14:03:22` in the given zone; the page says the zone once. */
export function formatTime(iso: string, zone: string): string {
  const at = (type: Intl.DateTimeFormatPartTypes) => part(iso, zone, type);
  return `${formatDay(iso, zone)} ${at('hour')}:${at('minute')}:${at('second')}`;
}

/** `14:03`. */
export function formatClock(iso: string, zone: string): string {
  return `${part(iso, zone, 'hour')}:${part(iso, zone, 'minute')}`;
}

/** `2026-11-21`, of an instant. */
export function formatDay(iso: string, zone: string): string {
  return `${part(iso, zone, 'year')}-${part(iso, zone, 'month')}-${part(iso, zone, 'day')}`;
}

/** `Asia/Shanghai (UTC+8)`. */
export function formatZone(zone: string, iso: string): string {
  const offset = (part(iso, zone, 'timeZoneName') || 'GMT').replace('GMT', 'UTC');
  return `${zone} (${offset})`;
}

const justNow: Readonly<Record<Language, string>> = { zh: '刚刚', en: 'just now' };

/**
 * `3 分钟前`, `in 2 days`: only beside or over an absolute time. The page's clock may be 20 s late,
 * so an instant less than a minute ahead of it is just now.
 */
export function formatRelative(iso: string, nowMs: number, language: Language): string {
  const seconds = Math.round((Date.parse(iso) - nowMs) / 1000);
  const size = Math.abs(seconds);
  if (size < 60 && seconds >= 0) return justNow[language];
  const format = new Intl.RelativeTimeFormat(tags[language], { numeric: 'auto' });
  const text = (count: number, unit: Intl.RelativeTimeFormatUnit): string => {
    const plain = format.format(Math.trunc(count), unit);
    return language === 'zh' ? plain.replace(/(\d+)秒钟|(\d+)/, spaced) : plain;
  };
  if (size < 60) return text(seconds, 'second');
  if (size < 3600) return text(seconds / 60, 'minute');
  if (size < 86_400) return text(seconds / 3600, 'hour');
  return text(seconds / 86_400, 'day');
}

/** `38 秒` of `38秒钟`, `3 ` of another unit's `3`. */
const spaced = (_: string, seconds?: string, count = ''): string =>
  seconds === undefined ? `${count} ` : `${seconds} 秒`;

/** `412 ms`, `3.2 s`, `2 min 05 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

function part(iso: string, zone: string, type: Intl.DateTimeFormatPartTypes): string {
  return (
    partsOf(zone)
      .formatToParts(new Date(iso))
      .find((each) => each.type === type)?.value ?? ''
  );
}

function partsOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'shortOffset',
  });
  formats.set(zone, format);
  return format;
}
