import { expect, test } from 'vitest';
import { pressed, sortedBy } from './sorting.ts';

const rows = [
  { name: 'b10', cost: 2n },
  { name: 'b9', cost: null },
  { name: 'A', cost: 10n },
];
const columns = [
  { id: 'name', sortBy: (row: (typeof rows)[number]) => row.name },
  { id: 'cost', sortBy: (row: (typeof rows)[number]) => row.cost },
  { id: 'menu' },
];
const names = (sort: string) => sortedBy(rows, columns, sort).map(({ name }) => name);

test('rows are sorted by a column in both directions, and those without a value come last', () => {
  expect(names('name')).toEqual(['A', 'b9', 'b10']);
  expect(names('-name')).toEqual(['b10', 'b9', 'A']);
  expect(names('cost')).toEqual(['b10', 'A', 'b9']);
  expect(names('-cost')).toEqual(['A', 'b10', 'b9']);
});

test('texts are sorted as the language of the page sorts them', () => {
  const vendors = ['智谱', '阿里云', '百度'].map((name) => ({ name, cost: null }));
  const sorted = sortedBy(vendors, columns, 'name', 'zh').map(({ name }) => name);
  expect(sorted).toEqual(['阿里云', '百度', '智谱']);
});

test('a column that does not sort leaves the order as it is', () => {
  for (const sort of ['', 'menu', 'gone']) expect(names(sort)).toEqual(['b10', 'b9', 'A']);
});

test('a header turns its column, and the third press gives the own order back', () => {
  expect(['', 'cost', '-cost'].map((sort) => pressed(sort, 'cost', 'falling'))).toEqual([
    '-cost',
    '',
    'cost',
  ]);
  expect(pressed('-cost', 'name', 'rising')).toBe('name');
});
