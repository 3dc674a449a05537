import { expect, test } from 'vitest';
import { priceLines, publicModelsLines, unreadFileLines } from './serve-lines.ts';

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

test('the start says that the group of the public models does not exist', () => {
  const groups = new Map([['default', {}]]);
  expect(publicModelsLines(undefined, groups)).toEqual([]);
  expect(publicModelsLines('default', groups)).toEqual([]);
  expect(publicModelsLines('on', groups)).toEqual([
    "TOLLGATE_PUBLIC_MODELS is the name of a group, and there is no group 'on': visitors see no models. Groups: default",
  ]);
});
