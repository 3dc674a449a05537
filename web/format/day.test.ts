import { expect, test } from 'vitest';
import {
  clockOf,
  dayFrom,
  daysOfMonth,
  endOfDay,
  instantOf,
  isClock,
  isDay,
  monthBefore,
  shiftDay,
  startOfDay,
  tidyDay,
} from './day.ts';

test('a day ends by the clock of its zone, also when the clocks change', () => {
  expect(endOfDay('2026-11-21', 'Asia/Shanghai')).toBe('2026-11-21T15:59:59.000Z');
  expect(endOfDay('2026-11-21', 'UTC')).toBe('2026-11-21T23:59:59.000Z');
  expect(endOfDay('2026-11-01', 'America/New_York')).toBe('2026-11-02T04:59:59.000Z');
  expect(endOfDay('2026-03-08', 'America/New_York')).toBe('2026-03-09T03:59:59.000Z');
  expect(endOfDay('2026-11-21', 'Asia/Kolkata')).toBe('2026-11-21T18:29:59.000Z');
});

test('days ahead are counted in the zone', () => {
  expect(dayFrom(Date.parse('2026-11-21T20:00:00Z'), 0, 'Asia/Shanghai')).toBe('2026-11-22');
});

test('a day begins a second after the one before has ended, and days are counted by the calendar', () => {
  expect(startOfDay('2026-11-21', 'Asia/Shanghai')).toBe('2026-11-20T16:00:00.000Z');
  expect(startOfDay('2026-11-01', 'America/New_York')).toBe('2026-11-01T04:00:00.000Z');
  expect(startOfDay('2026-11-02', 'America/New_York')).toBe('2026-11-02T05:00:00.000Z');
  expect([shiftDay('2026-03-01', -1), shiftDay('2026-12-31', 1)]).toEqual([
    '2026-02-28',
    '2027-01-01',
  ]);
  expect(['2026-11-21', '2026-13-01', '-7d', ''].map(isDay)).toEqual([true, false, false, false]);
});

test('a day and a time are read as people write them, and no other day is made of a wrong one', () => {
  expect(['2026-02-29', '2028-02-29', '2026-02-31', '26-01-01'].map(isDay)).toEqual([
    false,
    true,
    false,
    false,
  ]);
  const clocks = ['2026-11-21 14:03', '2026-11-21', '2026-11-21 24:00', '2026-11-31 10:00'];
  expect(clocks.map(isClock)).toEqual([true, false, false, false]);
  for (const day of ['2026/1/5', '2026.01.05', '2026年1月5日', ' 2026-1-5 '])
    expect(tidyDay(day), day).toBe('2026-01-05');
  expect(tidyDay('2026/1/5 9:30')).toBe('2026-01-05 09:30');
  expect(['', '1/5/2026', 'tomorrow'].map(tidyDay)).toEqual(['', '1/5/2026', 'tomorrow']);
  expect(instantOf('2026-11-21 14:03', 'Asia/Shanghai')).toBe('2026-11-21T06:03:00.000Z');
  expect(clockOf('2026-11-21T06:03:00.000Z', 'Asia/Shanghai')).toBe('2026-11-21 14:03');
});

test('a day whose time or whose next day cannot be written is none', () => {
  const days = ['0000-01-01', '1969-12-31', '1970-01-01', '9998-12-31', '9999-12-31'];
  expect(days.filter(isDay)).toEqual(['1970-01-01', '9998-12-31']);
  expect(isClock('9999-12-31 23:59')).toBe(false);
  expect(endOfDay('9998-12-31', 'America/New_York')).toBe('9999-01-01T04:59:59.000Z');
  expect(startOfDay('1970-01-01', 'Asia/Shanghai')).toBe('1969-12-31T16:00:00.000Z');
});

test('a month ends on its last day, and the one before it is told', () => {
  expect(['2026-02', '2028-02', '2026-12'].map((month) => daysOfMonth(month).to)).toEqual([
    '2026-02-28',
    '2028-02-29',
    '2026-12-31',
  ]);
  expect(daysOfMonth('2026-02').from).toBe('2026-02-01');
  expect(['2026-03-31', '2026-01-01'].map(monthBefore)).toEqual(['2026-02', '2025-12']);
});
