import { expect, test } from 'vitest';
import { amountError, plainAmount } from './amount.ts';
import { parseYuan } from './money.ts';

test('on the way from nothing to an amount, all that is taken for one can be read', () => {
  for (const amount of ['12.50', '0.000000001', '123456789.123456789']) {
    for (let typed = 1; typed <= amount.length; typed++) {
      const text = amount.slice(0, typed);
      if (amountError(text, { decimals: 9 }) === undefined)
        expect(parseYuan(text), text).toBeGreaterThan(0n);
    }
    expect(amountError(amount, { decimals: 9 })).toBeUndefined();
  }
});

test('what is wrong with an amount is told by its code', () => {
  expect(amountError('')).toBe('required');
  for (const text of ['1.', '.5', '-1', '1e3', '1.2.3', '1234567890', 'one'])
    expect(amountError(text), text).toBe('amount');
  expect(amountError('1.005')).toBe('decimals');
  expect(amountError('1.0000000001', { decimals: 9 })).toBe('decimals_9');
  expect(amountError('0.99', { minimum: 1 })).toBe('below_minimum');
  expect(amountError('50000.01', { maximum: 50_000 })).toBe('above_maximum');
  expect(amountError('0.00')).toBe('below_minimum');
});

test("an input method's digits and marks are what they mean", () => {
  expect(plainAmount('￥１，２３４。５０')).toBe('1234.50');
});
