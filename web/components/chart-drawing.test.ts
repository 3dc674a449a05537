import { expect, test } from 'vitest';
import { labelled } from './chart-drawing.ts';

test('the newest label of a chart is written, and every so many before it', () => {
  expect(labelled(30, 7)).toEqual([1, 8, 15, 22, 29]);
  expect(labelled(7, 1)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  expect(labelled(29, 7)).toEqual([0, 7, 14, 21, 28]);
  expect(labelled(2, 5)).toEqual([1]);
});
