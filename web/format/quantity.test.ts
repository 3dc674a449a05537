import { expect, test } from 'vitest';
import { formatQuantity } from './quantity.ts';

test('thousands are set apart, fractions stay as they are', () => {
  expect(['0', '731', '11263', '1234567', '1234.5678'].map(formatQuantity)).toEqual([
    '0',
    '731',
    '11,263',
    '1,234,567',
    '1,234.5678',
  ]);
});
