import { expect, test } from 'vitest';
import type { ImagePriceNames, UnitPrice } from '../../src/console/contract.ts';
import {
  costOf,
  imagePrice,
  mostOfTokens,
  outputTokensFor,
  priceText,
  rateOf,
  videoCost,
} from './price.ts';

const token = (
  name: 'input' | 'cached_input' | 'output',
  amount: string,
  above?: number,
): UnitPrice => ({
  amount,
  per: 1_000_000,
  unit: 'token',
  class: name,
  ...(above !== undefined && { above_input_tokens: above }),
});
const image = (amount: string, variant?: string): UnitPrice => ({
  amount,
  per: 1,
  unit: 'image',
  class: 'image',
  ...(variant !== undefined && { variant }),
});

const names: ImagePriceNames = {
  also_called: { standard: 'medium', high: 'hd' },
  resolutions: [
    { name: '1K', pixels_max: 2_400_000 },
    { name: '2K', pixels_max: 6_500_000 },
    { name: '4K', pixels_max: null },
  ],
};

test('a price keeps all of its decimals', () => {
  expect(priceText('1234.5678901234')).toBe('¥1,234.5678901234');
  expect(rateOf({ amount: '2.125', per: 1_000_000 })).toBe(2_125_000_000n);
  expect(rateOf({ amount: '0.357', per: 1 })).toBe(357_000_000_000_000n);
});

test('what so many cost is rounded up once, to the nano', () => {
  expect(costOf(token('cached_input', '0.2125'), 11_263)).toBe(2_393_388n);
  expect(costOf(image('0.357'), 2)).toBe(714_000_000n);
  expect(costOf(image('0.0000000001'), 1)).toBe(1n);
});

test('the most that tokens can cost is the dearest class of the bands that the input reaches', () => {
  const prices = [
    token('input', '2'),
    token('cached_input', '0.2'),
    token('output', '8'),
    token('input', '4', 1000),
  ];
  expect(mostOfTokens(prices, 1000, 100)).toBe(2_000_000n + 800_000n);
  expect(mostOfTokens(prices, 1001, 100)).toBe(4_004_000n + 800_000n);
  expect(mostOfTokens([image('1')], 10, 10)).toBeUndefined();
});

test('a balance pays for the output that is left beside the input', () => {
  const prices = [token('input', '2'), token('output', '8')];
  expect(outputTokensFor(prices, 1000, 2_800_000n)).toBe(100);
  expect(mostOfTokens(prices, 1000, 100)).toBe(2_800_000n);
  expect(outputTokensFor(prices, 1000, 2_799_999n)).toBe(99);
  expect(outputTokensFor(prices, 1000, 1_999_999n)).toBe(0);
  expect(outputTokensFor([image('1')], 10, 10n)).toBe(0);
});

test('a picture costs what its size and quality do, by whichever name they are known', () => {
  const prices = [
    image('0.284'),
    image('0.568', '1024x1024/hd'),
    image('0.4', '2K/medium'),
    image('0.9', 'max'),
  ];
  const of = (size?: string, quality?: string) => imagePrice(prices, names, size, quality)?.amount;
  expect(of()).toBe('0.284');
  expect(of('1024x1024', 'hd')).toBe('0.568');
  expect(of('1024x1024', 'high')).toBe('0.568');
  expect(of('2048x2048', 'standard')).toBe('0.4');
  expect(of('512x512', 'max')).toBe('0.9');
  expect(
    imagePrice([image('1', 'a'), image('3', 'b'), image('2', 'c')], undefined, 'x', undefined)
      ?.amount,
  ).toBe('3');
});

test('a video costs by the second, or by length and resolution as a whole', () => {
  const second: UnitPrice = { amount: '0.595', per: 1, unit: 'second', class: 'second' };
  expect(videoCost([second, { ...second, amount: '1', variant: '1080p' }], 10, undefined)).toBe(
    5_950_000_000n,
  );
  expect(videoCost([second, { ...second, amount: '1', variant: '1080p' }], 10, '1080p')).toBe(
    10_000_000_000n,
  );
  const request: UnitPrice = { amount: '3.976', per: 1, unit: 'request', class: 'request' };
  expect(videoCost([request, { ...request, amount: '0.71', variant: '512p/6' }], 6, '512p')).toBe(
    710_000_000n,
  );
  expect(videoCost([token('output', '39')], 5, undefined)).toBeUndefined();
});
