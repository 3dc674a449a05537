import { describe, expect, test } from 'vitest';
import type { Family } from './family.ts';
import * as families from './families.ts';

type Entry = readonly [path: string, value: unknown];

function entries(value: unknown, path: string): Entry[] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([name, each]) => entries(each, `${path}.${name}`));
}

const places = (text: unknown) =>
  typeof text === 'string' ? [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort() : [];

/** A text as the user reads it: functions are called with values that are easy to spot. */
function textsOf(value: unknown): string {
  if (typeof value !== 'function') return String(value);
  return String(value(...Array.from({ length: value.length }, (_, index) => `<${index + 1}>`)));
}

/**
 * Sentences that the server writes in English; `test/price-list-reasons.test.ts` holds the Chinese
 * ones to the server's codes.
 */
const serversOwn = '.reasons.';

describe.each(Object.entries<Family<unknown>>(families))('%s', (_, { files }) => {
  test('both languages have the same words, with the same places and values', async () => {
    const [en, zh] = await Promise.all([files.en(), files.zh()]);
    const ours = (words: unknown) =>
      entries(words, '').filter(([path]) => !path.startsWith(serversOwn));
    const english = ours(en.default);
    const chinese = new Map(ours(zh.default));
    expect([...chinese.keys()].sort()).toEqual(english.map(([path]) => path).sort());
    for (const [path, value] of english) {
      const other = chinese.get(path);
      expect(typeof other, path).toBe(typeof value);
      expect(places(other), path).toEqual(places(value));
      if (typeof value !== 'function' || typeof other !== 'function') continue;
      expect(other.length, path).toBe(value.length);
    }
  });

  test('no word is empty, and none stayed in the other language', async () => {
    const [en, zh] = await Promise.all([files.en(), files.zh()]);
    for (const [path, value] of entries(en.default, '')) {
      expect(textsOf(value), path).not.toBe('');
      if (path !== '.language.zh') expect(textsOf(value), path).not.toMatch(/\p{Script=Han}/u);
    }
    for (const [path, value] of entries(zh.default, '')) {
      expect(textsOf(value), path).not.toBe('');
      expect(textsOf(value), `${path}: Chinese ends sentences by 。`).not.toMatch(
        /\p{Script=Han}[,.!?;:]/u,
      );
    }
  });
});
