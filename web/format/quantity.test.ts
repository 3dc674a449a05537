import { expect, test } from 'vitest';
import { alignDecimals, formatQuantity } from './quantity.ts';

test('thousands are set apart, fractions stay as they are', () => {
  expect(['0', '731', '11263', '1234567', '1234.5678'].map(formatQuantity)).toEqual([
    '0',
    '731',
    '11,263',
    '1,234,567',
    '1,234.5678',
  ]);
});

test('decimal points line up by spaces as wide as figures', () => {
  expect(alignDecimals(['0.002454375', '0.0023933875', '1'])).toEqual([
    '0.002454375\u2007',
    '0.0023933875',
    `1${'\u2007'.repeat(10)}`,
  ]);
  expect(alignDecimals([])).toEqual([]);
});
