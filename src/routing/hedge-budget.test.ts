import { expect, test } from 'vitest';
import { HedgeBudget, hedgesSavedMax, requestsPerHedge } from './hedge-budget.ts';

const spent = (budget: HedgeBudget, model: string, requests: number): number => {
  let hedged = 0;
  for (let i = 0; i < requests; i++) {
    budget.earn(model);
    if (budget.spend(model)) hedged += 1;
  }
  return hedged;
};

test('the first request may ask twice, and of many that all would no more than a tenth', () => {
  const budget = new HedgeBudget();
  expect(spent(budget, 'm', 1)).toBe(1);
  expect(spent(budget, 'm', 10 * requestsPerHedge)).toBe(10);
});

test('quiet times save up a few, and no more', () => {
  const budget = new HedgeBudget();
  for (let i = 0; i < 100_000; i++) budget.earn('m');
  const atOnce = Array.from({ length: 100 }, () => budget.spend('m')).filter(Boolean);
  expect(atOnce).toHaveLength(hedgesSavedMax);
});

test('each model has its own, and one that nobody asked for has none', () => {
  const budget = new HedgeBudget();
  spent(budget, 'busy', 5);
  expect(budget.spend('other')).toBe(false);
  expect(spent(budget, 'other', 1)).toBe(1);
});
