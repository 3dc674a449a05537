import { expect, test } from 'vitest';
import { dayFrom, endOfDay, isDay, shiftDay, startOfDay } from './day.ts';

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
