import { expect, test } from 'vitest';
import { summarizeSpeeds } from './histogram.ts';

const hour = { model: 'm1', channel: 'c', hour: 0, cut: 0, cost: 0n, outputTokens: 0, outputMs: 0 };

test('the whole answer never takes less time than its first byte', () => {
  const fast = { requests: 4, durationMs: 32 };
  const { medianMs, medianDurationMs } = summarizeSpeeds([
    { ...hour, ...fast, firstBytes: new Map([[50, fast]]) },
  ]);
  expect([medianMs, medianDurationMs]).toEqual([4, 8]);
});

test('both medians are of the same requests', () => {
  const short = { requests: 3, durationMs: 900 };
  const long = { requests: 2, durationMs: 60_000 };
  const summary = summarizeSpeeds([
    {
      ...hour,
      ...{ requests: 5, durationMs: 60_900 },
      firstBytes: new Map([
        [100, short],
        [3_000, long],
      ]),
    },
  ]);
  expect(summary.medianMs).toBeGreaterThan(75);
  expect(summary.medianMs).toBeLessThan(100);
  expect(summary.medianDurationMs).toBe(300);
  expect(summary.meanDurationMs).toBe(12_180);
});
