import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Inside, longStringBytesMin } from '../base/long-strings.ts';
import { depthMax, tooMuch, valuesMax } from './json-shape.ts';

const looked = (text: string): string | undefined => tooMuch(Buffer.from(text));
const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);

test('depth and number of values have their limits, to the one', () => {
  expect(looked(nested(depthMax))).toBeUndefined();
  expect(looked(nested(depthMax + 1))).toContain('nested');
  expect(looked('{"a":'.repeat(depthMax + 1))).toContain('nested');
  expect(looked(`[${'0,'.repeat(valuesMax)}0]`)).toBeUndefined();
  expect(looked(`[${'0,'.repeat(valuesMax + 1)}0]`)).toContain('values');
});

test('what is written inside strings is not counted, however it is escaped', () => {
  const brackets = fc.string({
    unit: fc.constantFrom('[', '{', ']', ',', '"', '\\', 'é', '世'),
    maxLength: 2_000,
  });
  fc.assert(
    fc.property(fc.array(brackets, { maxLength: 5 }), (texts) => {
      const json = JSON.stringify({ texts });
      expect(looked(json)).toBeUndefined();
      expect(looked(`[${json},${nested(depthMax)}]`)).toContain('nested');
    }),
  );
});

test('what is no JSON ends the look all the same', () => {
  for (const text of ['', '"', '"\\', '"\\"', ']]]]', '\\"[', '{"a":"b'])
    expect(looked(text)).toBeUndefined();
});

test('long strings are told of where they are values', () => {
  const long = 'x'.repeat(longStringBytesMin);
  const json = Buffer.from(`{"${long}" : 1, "a":["${long}","${long.slice(1)}"],"b":"${long}\\""}`);
  const found: Inside[] = [];
  expect(tooMuch(json, found)).toBeUndefined();
  expect(found.map(({ start, end }) => json.toString('latin1', start, end))).toEqual([
    long,
    `${long}\\"`,
  ]);
});
