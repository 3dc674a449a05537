import { expect, it } from 'vitest';
import { pollAfterMs, taskLimits } from './parts.ts';

it('a task is asked for ever more rarely, at whole milliseconds', () => {
  for (const ageMs of [0, 1, 7_999, 8_001, 8_002, 8_003, 59_999, 60_001, 3_600_001]) {
    for (const faults of [0, 1, 3, 50]) {
      const afterMs = pollAfterMs(taskLimits, ageMs, faults);
      expect(Number.isInteger(afterMs)).toBe(true);
      expect(afterMs).toBeGreaterThanOrEqual(taskLimits.pollMsMin);
      expect(afterMs).toBeLessThanOrEqual(
        faults === 0 ? taskLimits.pollMsMax : taskLimits.backoffMsMax,
      );
    }
  }
  expect(pollAfterMs(taskLimits, 0, 0)).toBe(2_000);
  expect(pollAfterMs(taskLimits, 40_000, 0)).toBe(10_000);
  expect(pollAfterMs(taskLimits, 40_000, 1)).toBe(20_000);
});
