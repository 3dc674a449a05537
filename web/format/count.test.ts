import { expect, test } from 'vitest';
import { formatShare, oneDecimal, signedCount, signedPercent } from './count.ts';

test('large percents have separators of thousands', () => {
  expect([0, 0.0004, 0.064, 12.3456, 999].map(formatShare)).toEqual([
    '0.0 %',
    '< 0.1 %',
    '6.4 %',
    '1,234.6 %',
    '99,900.0 %',
  ]);
  expect([-0.079, 0, 999, -12_345.678].map(signedPercent)).toEqual([
    '\u22127.9',
    '0.0',
    '+99,900.0',
    '\u22121,234,567.8',
  ]);
  expect([-60, 0, 12.5, 99_900, -1_234.5].map(signedCount)).toEqual([
    '\u221260',
    '0',
    '+12.5',
    '+99,900',
    '\u22121,234.5',
  ]);
  expect([0, 123.45, 1234567.89].map(oneDecimal)).toEqual(['0.0', '123.5', '1,234,567.9']);
});
