import { expect, test } from 'vitest';
import { dayMs } from '../../src/base/calendar.ts';
import { requestLogLimits } from '../../src/request-log/entry.ts';
import { failedSearch, periodOf } from './usage-filter.tsx';

const zone = 'Asia/Shanghai';
const nowMs = Date.parse('2026-11-26T20:00:00Z'); // the 27th there
const from = (period: string) => periodOf({ from: period, to: '' }, zone, nowMs).from;

test('a period of days is today and the days before it, in the zone; hours are counted from now', () => {
  expect(from('-30d')).toBe('2026-10-28T16:00:00.000Z');
  expect(from('-7d')).toBe('2026-11-20T16:00:00.000Z');
  expect(from('-1d')).toBe('2026-11-26T16:00:00.000Z');
  expect([from('-24h'), from('-99999999999d')]).toEqual(['-24h', '-99999999999d']);
  expect(periodOf({ from: '2026-11-01', to: '2026-11-02' }, zone, nowMs)).toEqual({
    from: '2026-10-31T16:00:00.000Z',
    to: '2026-11-02T16:00:00.000Z',
  });
});

test('failed requests begin with the days for which they are kept', () => {
  expect(failedSearch.from).toBe(`-${requestLogLimits.keptForMs / dayMs}d`);
});
