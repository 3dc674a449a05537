import { expect, test } from 'vitest';
import { priceLines } from './serve-lines.ts';

test('the start says which price holds where an import and the configuration differ', () => {
  expect(priceLines(undefined)).toEqual([]);
  expect(priceLines({ keptPrices: ['a'], replacedPrices: ['b'] })).toEqual([
    'a keeps its price from an import or the console: its price in the configuration is the same as before',
    'b has the price of the configuration now, which changed: it replaces the price from an import or the console',
  ]);
});
