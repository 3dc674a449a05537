import { expect, test } from 'vitest';
import { errorText } from './log.ts';

const thrownBy = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};

test('an error that quotes what it read is told by where it was, and any other by its words', () => {
  const quoting = errorText(thrownBy(() => JSON.parse('my secret\n    at home')));
  expect(quoting).toMatch(/^SyntaxError \(what it quotes is left out\)\n {4}at /);
  expect(quoting).not.toMatch(/secret|home/);
  expect(errorText(new Error('no such table'))).toMatch(/^Error: no such table\n {4}at /);
  expect(errorText('nothing')).toBe('nothing');
});
