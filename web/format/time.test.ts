import { expect, test } from 'vitest';
import { formatCompact, formatCount, formatShare } from './count.ts';
import { formatDay, formatDuration, formatRelative, formatTime, formatZone } from './time.ts';

test('times are those of the account, with the zone in words', () => {
  expect(formatTime('2026-11-21T06:03:22.120Z', 'Asia/Shanghai')).toBe('2026-11-21 14:03:22');
  expect(formatTime('2026-11-20T16:00:00.000Z', 'Asia/Shanghai')).toBe('2026-11-21 00:00:00');
  expect(formatDay('2026-11-21T23:00:00.000Z', 'Asia/Kolkata')).toBe('2026-11-22');
  expect(formatZone('Asia/Shanghai', '2026-11-21T06:03:22.120Z')).toBe('Asia/Shanghai (UTC+8)');
  expect(formatZone('UTC', '2026-11-21T06:03:22.120Z')).toBe('UTC (UTC+0)');
});

test('how long ago is told in the largest unit that fits', () => {
  const now = Date.parse('2026-11-21T06:00:00.000Z');
  expect(formatRelative('2026-11-21T05:57:00.000Z', now, 'en')).toBe('3 minutes ago');
  expect(formatRelative('2026-11-21T05:57:00.000Z', now, 'zh')).toBe('3 分钟前');
  expect(formatRelative('2026-11-21T05:59:22.000Z', now, 'zh')).toBe('38 秒前');
  expect(formatRelative('2026-11-19T06:00:00.000Z', now, 'zh')).toBe('前天');
  expect(formatRelative('2026-11-18T06:00:00.000Z', now, 'zh')).toBe('3 天前');
  expect(formatRelative('2026-11-23T06:00:00.000Z', now, 'en')).toBe('in 2 days');
});

test('an instant just after the page’s clock is just now, not in the future', () => {
  const now = Date.parse('2026-11-21T06:00:00.000Z');
  expect(formatRelative('2026-11-21T06:00:15.000Z', now, 'en')).toBe('just now');
  expect(formatRelative('2026-11-21T06:00:01.000Z', now, 'zh')).toBe('刚刚');
  expect(formatRelative('2026-11-21T06:00:00.000Z', now, 'zh')).toBe('刚刚');
  expect(formatRelative('2026-11-21T05:59:45.000Z', now, 'en')).toBe('15 seconds ago');
});

test('durations have the unit that reads best', () => {
  expect([412, 3200, 59_990, 125_000].map(formatDuration)).toEqual([
    '412 ms',
    '3.2 s',
    '1 min 00 s',
    '2 min 05 s',
  ]);
});

test('counts are full in tables and short in charts', () => {
  expect(formatCount(11_263)).toBe('11,263');
  expect(formatCompact(1_284_500, 'en')).toBe('1.28 M');
  expect(formatCompact(1_284_700, 'zh')).toBe('128.5 万');
  expect(formatCompact(25_176_000, 'zh')).toBe('2,518 万');
  expect(formatCompact(950, 'zh')).toBe('950');
  expect([200_000, 1_000_000, 131_072, 10_500].map((count) => formatCompact(count, 'en'))).toEqual([
    '200 k',
    '1 M',
    '131.1 k',
    '10.5 k',
  ]);
  expect(formatShare(0.064)).toBe('6.4 %');
  expect(formatShare(0.0001)).toBe('< 0.1 %');
});
