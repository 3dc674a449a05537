import { describe, expect, test } from 'vitest';
import {
  formatYuan,
  isRounded,
  longestFraction,
  type MoneyContext,
  missingDecimals,
  parseYuan,
  plusOf,
  shortest,
  yuanOf,
} from './money.ts';

describe('money as it is shown', () => {
  test('balances round down, spending and revenue up', () => {
    expect(formatYuan('128.368862942', 'balance')).toBe('≈ ¥128.36');
    expect(formatYuan('126.019044608', 'spend')).toBe('≈ ¥126.02');
    expect(formatYuan('1234567.000000001', 'spend')).toBe('≈ ¥1,234,567.01');
    expect(formatYuan('-126.019044608', 'spend')).toBe('≈ −¥126.01');
  });
  test('under a hundred yuan they are exact, without needless zeros', () => {
    expect(formatYuan('28.368862942', 'balance')).toBe('¥28.368862942');
    expect(formatYuan('26.019044608', 'spend')).toBe('¥26.019044608');
    expect(formatYuan('0.500000000', 'balance')).toBe('¥0.50');
    expect(formatYuan('99.9999995', 'spend')).toBe('¥99.9999995');
    expect(formatYuan('100', 'spend')).toBe('¥100.00');
    expect(formatYuan('100.25', 'balance')).toBe('¥100.25');
  });
  test('a mean has six decimals at most, and says that it is rounded', () => {
    expect(formatYuan('0.003124567', 'mean')).toBe('≈ ¥0.003125');
    expect(formatYuan('0.003124', 'mean')).toBe('¥0.003124');
    expect(formatYuan('123.456', 'mean')).toBe('≈ ¥123.46');
  });
  test('a balance shows what one charge took from it', () => {
    const left = parseYuan('2.00') - parseYuan('0.000199');
    expect(formatYuan(left, 'balance')).toBe('¥1.999801');
    expect(formatYuan('0.000199', 'spend')).toBe('¥0.000199');
  });
  test('one request is exact, with at least six, and agrees with its charge', () => {
    expect(formatYuan('0.013577263', 'row')).toBe('¥0.013577263');
    expect(formatYuan('0.002222300', 'row')).toBe('¥0.0022223');
    expect(formatYuan('0.002222300', 'exact')).toBe('¥0.002222300');
    expect(formatYuan('2.975', 'row')).toBe('¥2.975000');
  });
  test('a statement has all nine', () => {
    expect(formatYuan('-0.013577263', 'exact')).toBe('−¥0.013577263');
    expect(formatYuan('51', 'exact')).toBe('¥51.000000000');
    expect(formatYuan('0', 'exact')).toBe('¥0.000000000');
  });
  test('a price is shown as entered', () => {
    expect(formatYuan('2.125', 'price')).toBe('¥2.125');
    expect(formatYuan('2', 'price')).toBe('¥2.00');
    expect(formatYuan('0.000000001', 'price')).toBe('¥0.000000001');
    expect(formatYuan('1234.000508833334', 'price')).toBe('¥1,234.000508833334');
  });
  test('positive is never shown as zero', () => {
    for (const context of ['balance', 'spend', 'mean', 'row', 'exact', 'price'] as const) {
      expect(formatYuan('0.000000001', context)).toMatch(/[1-9]/);
      expect(formatYuan('0', context)).not.toMatch(/[1-9]/);
    }
  });
  test('points of a column stand below each other', () => {
    const texts = ['¥3.20', '¥0.000154', '¥0.00'];
    const places = longestFraction(texts);
    expect(places).toBe(6);
    expect([...texts, '¥5', '1.5 s'].map((text) => missingDecimals(text, places))).toEqual([
      4, 0, 4, 6, 6,
    ]);
  });
  test('what was rounded is known', () => {
    const known = (amount: string, context: MoneyContext) => isRounded(formatYuan(amount, context));
    expect(known('126.019044608', 'spend')).toBe(true);
    expect(known('26.019044608', 'spend')).toBe(false);
    expect(known('128.368862942', 'balance')).toBe(true);
    expect(known('128.36', 'balance')).toBe(false);
    for (const context of ['row', 'exact', 'price'] as const)
      expect(known('1234.000000001', context)).toBe(false);
  });
  test('decimals and nano-yuan are the same thing', () => {
    expect(yuanOf(parseYuan('-0.013577263'))).toBe('-0.013577263');
    expect(() => parseYuan('1e-7')).toThrow(RangeError);
  });
});

test('what is added has a plus, and nothing has no sign', () => {
  expect(['0.000000001', '5', '0.000000000', '-1.00'].map(plusOf)).toEqual(['+', '+', '', '']);
});

test('zeros behind the point are needless, those of a whole amount are not', () => {
  expect([shortest('2.00'), shortest('2.50'), shortest('20')]).toEqual(['2', '2.5', '20']);
});
