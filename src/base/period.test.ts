import { expect, test } from 'vitest';
import { dayOf, monthOf, parseUtcOffset, parsePeriod } from './calendar.ts';

const beijing = 480;

test('a day and a month begin at the operator’s midnight, and their names say so', () => {
  const lateInLondon = Date.UTC(2026, 10, 30, 17);
  expect(dayOf(lateInLondon, beijing)).toEqual({
    name: '2026-12-01+08:00',
    from: Date.UTC(2026, 10, 30, 16),
    to: Date.UTC(2026, 11, 1, 16),
  });
  expect(monthOf(lateInLondon, beijing)).toEqual({
    name: '2026-12+08:00',
    from: Date.UTC(2026, 10, 30, 16),
    to: Date.UTC(2026, 11, 31, 16),
  });
  expect(dayOf(lateInLondon, -210).name).toBe('2026-11-30-03:30');
});

test('a name leads back to its period', () => {
  for (const offset of [beijing, 0, -210, 345]) {
    for (const at of [0, Date.UTC(2024, 1, 29, 12), Date.UTC(2026, 11, 31, 23, 59)]) {
      for (const period of [dayOf(at, offset), monthOf(at, offset)]) {
        expect(parsePeriod(period.name)).toEqual(period);
        expect(at >= period.from && at < period.to).toBe(true);
      }
    }
  }
  expect(parsePeriod('2026-11-21')).toEqual(dayOf(Date.UTC(2026, 10, 21), 0));
  expect([
    parsePeriod('2026-13'),
    parsePeriod('total'),
    parseUtcOffset('8'),
    parseUtcOffset('-03:30'),
  ]).toEqual([undefined, undefined, undefined, -210]);
});
