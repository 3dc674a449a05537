import { expect, test } from 'vitest';
import { cosine, textsOf } from './similarity.ts';

test('vectors are as similar as their directions', () => {
  expect(cosine([1, 2], [2, 4])).toBeCloseTo(1);
  expect(cosine([1, 0], [0, 1])).toBe(0);
  expect(cosine([1, 0], [-3, 0])).toBe(-1);
  expect(cosine([0, 0], [1, 1])).toBe(0);
});

test('each line is a text', () => {
  expect(textsOf(' a \n\n b c\n')).toEqual(['a', 'b c']);
});
