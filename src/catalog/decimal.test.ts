import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decimalText } from '../base/money.ts';
import { exactDecimal } from './decimal.ts';

describe('exactDecimal', () => {
  it.each([
    ['0.1', 9, 100_000_000n],
    ['2', 9, 2_000_000_000n],
    ['.5', 1, 5n],
    ['7.', 0, 7n],
    ['0', 9, 0n],
    ['-0', 9, 0n],
    ['+1', 0, 1n],
    ['1e-6', 9, 1_000n],
    ['1.50E2', 0, 150n],
    ['1.000000000000', 3, 1_000n],
    ['9223372036854775807', 0, 9_223_372_036_854_775_807n],
  ])('reads %s with %i places', (text, places, expected) => {
    expect(exactDecimal(text, places)).toBe(expected);
  });

  it.each([
    ['abc', 'must be a decimal number'],
    ['', 'must be a decimal number'],
    ['.', 'must be a decimal number'],
    ['1_000', 'must be a decimal number'],
    ['0x10', 'must be a decimal number'],
    ['NaN', 'must be a decimal number'],
    ['-1', 'must not be negative'],
    ['0.0000000001', 'must have at most 9 decimals'],
    ['1e-10', 'must have at most 9 decimals'],
    ['9223372036.854775808', 'is too large'],
    ['1e999', 'is too large'],
  ])('refuses %s', (text, why) => {
    expect(exactDecimal(text, 9)).toMatchObject({ message: expect.stringContaining(why) });
  });

  it('is the inverse of decimalText', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        fc.integer({ min: 0, max: 18 }),
        (value, places) => {
          expect(exactDecimal(decimalText(value, places), places)).toBe(value);
        },
      ),
    );
  });
});
