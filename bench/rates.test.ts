import { describe, expect, test } from 'vitest';
import { type Figures, noFigures, type Rate } from './figures.ts';
import { atMost, rateTable } from './rates.ts';

/** Figures of a gateway with one run, not pinned, at each of the rates. */
function figuresOf(
  most: number,
  runs: readonly { rate: Rate; ms: readonly number[]; answers?: number; errors?: number }[],
): Figures {
  const figures = noFigures();
  const { at, requestsPerSecond } = figures.waits.free;
  requestsPerSecond.push(most);
  for (const { rate, ms, answers = rate, errors = 0 } of runs) {
    at[rate].wholeMs.push(ms);
    at[rate].answersPerSecond.push(answers);
    at[rate].errors.push(errors);
  }
  return figures;
}

const bare = figuresOf(50_000, [
  { rate: 100, ms: [0.1, 0.3] },
  { rate: 1000, ms: [0.1, 0.5] },
  { rate: 3000, ms: [0.2, 0.6] },
]);

describe('a contender at the rates that all are asked for', () => {
  const gateway = figuresOf(2000, [
    { rate: 100, ms: [0.6, 1.3] },
    { rate: 1000, ms: [0.9, 2.5] },
  ]);

  test('reaches a rate with nearly as many answers, all of them 200', () => {
    expect(atMost(gateway, 'free', 1000)).toBeUndefined();
    const slow = figuresOf(1010, [{ rate: 1000, ms: [9, 99], answers: 940 }]);
    expect(atMost(slow, 'free', 1000)).toBe(940);
    const failing = figuresOf(1010, [{ rate: 1000, ms: [9, 99], errors: 3 }]);
    expect(atMost(failing, 'free', 1000)).toBe(1000);
  });

  test('is not asked for more than it does at most', () =>
    expect(atMost(gateway, 'free', 3000)).toBe(2000));

  test('has what it adds in the table, or what it answers at most', () => {
    const lines = rateTable([{ name: 'It', version: '', figures: gateway }], bare).split('\n');
    expect(lines[0]).toBe('| requests/s | It |');
    expect(lines).toContain('| 100, not pinned | 0.50 / 1.00 |');
    expect(lines).toContain('| 1,000, not pinned | 0.80 / 2.00 |');
    expect(lines).toContain('| 3,000, not pinned | answers 2,000/s |');
  });
});
