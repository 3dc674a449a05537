import { expect, test } from 'vitest';
import { lastBilledDay, lastDayOver } from './bill-day.ts';

const at = (clock: string) => Date.parse(`2026-11-27T${clock}+08:00`);

test('the bill of a day is published by 10:30 of the next day in China', () => {
  for (const clock of ['00:00:00', '03:50:00', '10:29:59'])
    expect([lastBilledDay(at(clock)), lastDayOver(at(clock))]).toEqual([
      '2026-11-25',
      '2026-11-26',
    ]);
  expect(lastBilledDay(at('10:30:00'))).toBe('2026-11-26');
  expect(lastBilledDay(at('23:59:59'))).toBe('2026-11-26');
});
