import fc from 'fast-check';
import { expect, test } from 'vitest';
import { forEachDatabase } from '../../test/databases.ts';
import { hourMs, zoneDayAt, zoneDays } from '../base/calendar.ts';
import { SqlParameters } from '../storage/sql.ts';
import type { TimeRange } from './ranges.ts';
import { meetAt, spanIndex, sqlSpanIndex } from './spans.ts';

const zones = [
  'Asia/Shanghai',
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'America/Santiago',
];
/** Clocks change in the spring and the autumn of 2026. */
const [first, last] = [Date.UTC(2026, 1, 1), Date.UTC(2026, 11, 1)];

/** The days of a zone, cut at the ends of the range. */
function daysOf(zone: string, { from, to }: TimeRange): readonly TimeRange[] {
  const [begin, end] = [zoneDayAt(zone, from), zoneDayAt(zone, to - 1)];
  return zoneDays(zone, begin.day, end.day).map((one) => ({
    from: Math.max(one.from, from),
    to: Math.min(one.to, to),
  }));
}

function hoursOf({ from, to }: TimeRange): readonly TimeRange[] {
  const start = from - (from % hourMs);
  return Array.from({ length: Math.ceil((to - start) / hourMs) }, (_, index) => ({
    from: Math.max(from, start + index * hourMs),
    to: Math.min(to, start + (index + 1) * hourMs),
  }));
}

const range = fc
  .tuple(fc.integer({ min: first, max: last }), fc.integer({ min: 1, max: 100 * 24 * hourMs }))
  .map(([from, lengthMs]) => ({ from, to: from + lengthMs }));

forEachDatabase((_name, openFresh) => {
  test('the database finds the span of every hour, also where a day has 23 or 25', async () => {
    const database = await openFresh();
    const check = async (spans: readonly TimeRange[], hours: readonly number[]) => {
      const values = new SqlParameters();
      const index = sqlSpanIndex(values, spans, 'h.hour');
      const rows = hours.map((hour) => `SELECT CAST(${values.place(hour)} AS BIGINT) AS hour`);
      const found = await database.query(
        `SELECT h.hour AS hour, ${index} AS span FROM (${rows.join(' UNION ALL ')}) h`,
        values.params,
      );
      for (const row of found) {
        const hour = Number(row['hour']);
        const at = Math.max(hour, spans[0]?.from ?? hour);
        expect(Number(row['span']), new Date(hour).toISOString()).toBe(spanIndex(spans, at));
      }
    };
    const cases = fc.sample(fc.tuple(range, fc.constantFrom(...zones)), { numRuns: 60, seed: 3 });
    let checked = 0;
    for (const [{ from, to }, zone] of cases) {
      const days = daysOf(zone, { from, to });
      const start = from - (from % hourMs);
      const all = Array.from(
        { length: Math.ceil((to - start) / hourMs) },
        (_, n) => start + n * hourMs,
      );
      // Those around midnight, where one span ends and another begins, and some others.
      const near = all.filter(
        (hour, n) =>
          n % 37 === 0 || spanIndex(days, hour - hourMs) !== spanIndex(days, hour + hourMs),
      );
      if (meetAt(days, 'hour')) {
        await check(days, near.slice(0, 300));
        checked++;
      }
      const short = { from, to: Math.min(to, from + 40 * hourMs) };
      await check(hoursOf(short), all.slice(0, 39));
    }
    expect(checked).toBeGreaterThan(30);
  }, 60_000);
});
