import { expect, test } from 'vitest';
import type { Price } from '../catalog/price.ts';
import { furtherPricesOf } from './prices.ts';

const yuan = 1_000_000_000n;
const half = { all: { numerator: 1n, denominator: 2n } };

test('what is charged beside the editable amounts: modes and fees of tools', () => {
  const price: Price = {
    rates: { input: 2n * yuan, output: 8n * yuan },
    tiers: [],
    by: undefined,
    modes: { flex: { times: half } },
  };
  const charged = { ...price, rates: { ...price.rates, web_search: 72_000n * yuan } };
  expect(
    furtherPricesOf(price, price).map(({ class: measure, variant, amount }) => [
      measure,
      variant,
      amount,
    ]),
  ).toEqual([
    ['input', 'flex', '1.00'],
    ['output', 'flex', '4.00'],
  ]);
  expect(furtherPricesOf(price, charged)[0]).toEqual({
    class: 'web_search',
    amount: '0.072',
    per: 1,
    unit: 'call',
  });
});
