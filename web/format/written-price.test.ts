import { expect, test } from 'vitest';
import type { PriceClass } from '../../src/console/contract.ts';
import { atMultiplier, chargedAs, emptyLine, linesOf, writtenPrices } from './written-price.ts';

test('what is shown is written back as the configuration writes it', () => {
  const lines = linesOf([
    { amount: '2.50', per: 1_000_000, unit: 'token', class: 'input' },
    { amount: '10.00', per: 1_000_000, unit: 'token', class: 'output' },
    { amount: '5.00', per: 1_000_000, unit: 'token', class: 'input', above_input_tokens: 200_000 },
  ]);
  expect(writtenPrices(lines)).toEqual({
    input: '2.5',
    output: '10',
    tiers: [{ above_input_tokens: 200_000, input: '5' }],
  });
});

test('without a line of their own, tokens are charged as the plain ones of their side', () => {
  const line = (of: PriceClass, amount = '1') => ({ ...emptyLine(of), amount });
  const kept = [line('input'), line('output', '')];
  expect(chargedAs(line('cached_input'), kept)).toBe('input');
  expect(chargedAs(line('reasoning'), kept)).toBeUndefined();
  expect(chargedAs(line('request'), kept)).toBeUndefined();
});

test('variants stand below `by`, and empty lines nowhere', () => {
  const image = { per: 1, unit: 'image', class: 'image' } as const;
  const lines = linesOf([
    { ...image, amount: '0.284' },
    { ...image, amount: '0.852', variant: '1024x1024/hd' },
  ]);
  expect(writtenPrices([...lines, emptyLine('request')])).toEqual({
    image: '0.284',
    by: { '1024x1024/hd': '0.852' },
  });
});

test('characters are shown by the million and written one by one', () => {
  const line = (amount: string) =>
    writtenPrices([{ ...emptyLine('character'), amount }])['character'];
  expect([line('106.5'), line('15'), line('1500000'), line('0.000001')]).toEqual([
    '0.0001065',
    '0.000015',
    '1.5',
    '0.000000000001',
  ]);
});

test('a price for a group is rounded up once, in its last place', () => {
  const perMillion = (amount: string, multiplier: string) =>
    atMultiplier({ amount, per: 1_000_000 }, multiplier);
  expect([
    perMillion('2.50', '0.85'),
    perMillion('10', '0.85'),
    perMillion('0.000000001', '0.5'),
  ]).toEqual(['2.125', '8.5', '0.000000001']);
  expect(atMultiplier({ amount: '0.42', per: 1 }, '0.85')).toBe('0.357');
});
