import { expect, test } from 'vitest';
import { priceLines, unreadFileLines } from './serve-lines.ts';

test('the start says which price holds where an import and the configuration differ', () => {
  expect(priceLines(undefined)).toEqual([]);
  expect(priceLines({ keptPrices: ['a'], replacedPrices: ['b'] })).toEqual([
    'a keeps its price from an import or the console: its price in the configuration is the same as before',
    'b has the price of the configuration now, which changed: it replaces the price from an import or the console',
  ]);
});

test('the start says that it did not read the usual file of its folder, also with a key', () => {
  const env = { OPENAI_API_KEY: 'sk-1' };
  expect(unreadFileLines({}, env, () => true)).toEqual([
    expect.stringMatching(/^tollgate.yaml is .* not read.* start --config tollgate.yaml$/),
  ]);
  expect(unreadFileLines({ data: 'd' }, {}, () => true)[0]).toContain(' --data d');
  expect(unreadFileLines({}, env, () => false)).toEqual([]);
  expect(unreadFileLines({ config: 'other.yaml' }, env, () => true)).toEqual([]);
});
