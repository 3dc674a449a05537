import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  dayOf,
  isDay,
  isZone,
  monthOf,
  nextDay,
  parsePeriod,
  parseUtcOffset,
  zoneDay,
  zoneDayAt,
  zoneDays,
  zoneTimeAt,
} from './calendar.ts';

const zones = [
  'Asia/Shanghai',
  'UTC',
  'America/New_York',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'America/Sao_Paulo',
  'Africa/Cairo',
  'Pacific/Apia',
];

test('a day in Shanghai begins at 16:00 UTC of the day before', () => {
  expect(zoneDay('Asia/Shanghai', '2026-11-21')).toEqual({
    day: '2026-11-21',
    from: Date.UTC(2026, 10, 20, 16),
    to: Date.UTC(2026, 10, 21, 16),
  });
  expect(zoneTimeAt('Asia/Shanghai', Date.UTC(2026, 10, 21, 6, 3, 22))).toEqual({
    time: '2026-11-21 14:03:22',
    offset: '+08:00',
  });
  expect(zoneTimeAt('America/St_Johns', Date.UTC(2026, 0, 1, 12)).offset).toBe('-03:30');
});

test('a day on which clocks change has 23 or 25 hours', () => {
  const hours = (zone: string, day: string) => {
    const { from, to } = zoneDay(zone, day);
    return (to - from) / 3_600_000;
  };
  expect([
    hours('America/New_York', '2026-03-08'),
    hours('America/New_York', '2026-11-01'),
  ]).toEqual([23, 25]);
  // Midnight itself is skipped there.
  expect(zoneDay('America/Sao_Paulo', '2018-11-04').from).toBe(Date.UTC(2018, 10, 4, 3));
  expect(hours('America/Sao_Paulo', '2018-11-04')).toBe(23);
});

test('every moment lies in exactly one day, and days follow each other without a gap', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...zones),
      fc.integer({ min: Date.UTC(2015, 0), max: Date.UTC(2035, 0) }),
      (zone, at) => {
        const day = zoneDayAt(zone, at);
        expect(day.from).toBeLessThanOrEqual(at);
        expect(day.to).toBeGreaterThan(at);
        expect(zoneDay(zone, nextDay(day.day)).from).toBe(day.to);
        expect(zoneTimeAt(zone, at).time.slice(0, 10)).toBe(day.day);
      },
    ),
  );
});

test('names of no zone and texts of no day are recognized', () => {
  expect([isZone('Asia/Shanghai'), isZone('Asia/Nowhere')]).toEqual([true, false]);
  const days = ['2026-11-21', '9999-12-31', '2026-02-30', '2026-1-1', '1969-12-31', 'x'];
  expect(days.filter(isDay)).toEqual(['2026-11-21', '9999-12-31']);
  expect(zoneDays('UTC', '2026-02-27', '2026-03-01').map(({ day }) => day)).toEqual([
    '2026-02-27',
    '2026-02-28',
    '2026-03-01',
  ]);
});

test('days go on beyond the year 9999', () => {
  const last = zoneDayAt('Asia/Shanghai', Date.UTC(9999, 11, 31, 20));
  expect(last.day).toBe('+010000-01-01');
  expect(zoneDays('Asia/Shanghai', '9999-12-31', last.day).map(({ day }) => day)).toEqual([
    '9999-12-31',
    '+010000-01-01',
  ]);
  expect(zoneDay('UTC', '9999-12-31').to).toBe(Date.UTC(10_000, 0));
});

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
