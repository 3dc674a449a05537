import { expect, test } from 'vitest';
import { isPlainText } from '../base/plain-text.ts';
import { nameCharactersMax, plainName } from './text-fields.ts';

test('a name that somebody else gave is one line in which nothing hides', () => {
  expect(plainName('  林薇 👩‍💻 ')).toBe('林薇 👩‍💻');
  expect(plainName('Ada\n\u2028\tLove\u0000lace')).toBe('Ada Love lace');
  expect(plainName('\u202eecila\u2069 \ud800')).toBe('ecila');
  expect([plainName('\n\u202e'), plainName('')]).toEqual(['', '']);
  for (const odd of ['a\u202eb', 'a\nb', '\ud800', '\u2066'])
    expect([isPlainText(odd), isPlainText(plainName(odd))]).toEqual([false, true]);
});

test('one that is too long is cut between characters', () => {
  const long = plainName(`${'a'.repeat(nameCharactersMax - 1)}👩 and more`);
  expect(long).toBe('a'.repeat(nameCharactersMax - 1));
  expect(plainName('b'.repeat(10_000))).toHaveLength(nameCharactersMax);
});
