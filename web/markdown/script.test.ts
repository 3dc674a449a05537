import { expect, test } from 'vitest';
import { langOf } from './script.ts';

test.each([
  ['He said “yes”', ''],
  ['', ''],
  ['naïve café – ¿qué?', ''],
  ['他说“好”', undefined],
  ['Say 好', undefined],
  ['“はい”', undefined],
  ['“네”', undefined],
])('the language of %s is %j', (text, lang) => {
  expect(langOf(text)).toBe(lang);
});
