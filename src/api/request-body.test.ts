import fc from 'fast-check';
import { expect, test } from 'vitest';
import { processorMs } from '../../test/support/processor-time.ts';
import { type StringContents, longStringBytesMin } from '../base/long-strings.ts';
import {
  depthMax,
  membersOf,
  exceedsJsonLimits,
  valuesMax,
  withoutDuplicateMembers,
} from './request-body.ts';

const looked = (text: string): string | undefined => exceedsJsonLimits(Buffer.from(text));
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

test('long strings are reported where they are values', () => {
  const long = 'x'.repeat(longStringBytesMin);
  const json = Buffer.from(`{"${long}" : 1, "a":["${long}","${long.slice(1)}"],"b":"${long}\\""}`);
  const found: StringContents[] = [];
  expect(exceedsJsonLimits(json, found)).toBeUndefined();
  expect(found.map(({ start, end }) => json.toString('latin1', start, end))).toEqual([
    long,
    `${long}\\"`,
  ]);
});

/** How many members are written, and how many are left when it is parsed. */
function written(json: string): { readonly members: number; readonly parsed: number } {
  const counted = { members: 0 };
  expect(exceedsJsonLimits(Buffer.from(json), [], counted)).toBeUndefined();
  return { members: counted.members, parsed: membersOf(JSON.parse(json)) };
}

const doubled: readonly (readonly [string, string])[] = [
  ['{"a":1,"a":2}', '{"a":2}'],
  ['{"a":1,"b":{"c":1 , "c":2, "c" : 3},"a":2}', '{"b":{"c" : 3},"a":2}'],
  ['{ "a":{"a":[{"x":1,"x":"}{"},{"x":1}]}, "b":"a:a", "a" :0 }', '{ "b":"a:a", "a" :0 }'],
  ['{"a":1,"\\u0061":2,"ü":":","\\u00fc":{}}', '{"\\u0061":2,"\\u00fc":{}}'],
  ['{"":1,"":2,"__proto__":1,"__proto__":2,"\\"":1,"\\"":2}', '{"":2,"__proto__":2,"\\"":2}'],
  ['[{"a":[1,{"b":1,"b":[]}]},"a:b",{"a":1}]', '[{"a":[1,{"b":[]}]},"a:b",{"a":1}]'],
];

test.each(doubled)('R9: of %s only the last of each name is left: %s', (json, single) => {
  const { members, parsed } = written(json);
  expect(parsed).toBeLessThan(members);
  const left = withoutDuplicateMembers(Buffer.from(json)).toString();
  expect(left).toBe(single);
  expect(JSON.parse(left)).toEqual(JSON.parse(json));
  expect(written(left)).toEqual({ members: parsed, parsed });
});

test('R9: names that stand once are counted as often as they are written', () => {
  for (const json of [
    '{}',
    '[]',
    '{"a":"b:c\\":","d":[{},{"e:":null},[1,[{"f":{}}]]]}',
    '{"__proto__":{"a":1},"constructor":2}',
  ]) {
    const { members, parsed } = written(json);
    expect(parsed, json).toBe(members);
    expect(withoutDuplicateMembers(Buffer.from(json)).toString()).toBe(json);
  }
});

test('members that stand there a hundred thousand times, or at every level, take no long time', () => {
  const started = processorMs();
  const deep = `${'{"a":1,"a":'.repeat(depthMax)}1${'}'.repeat(depthMax)}`;
  expect(withoutDuplicateMembers(Buffer.from(deep)).toString()).toBe(
    `${'{"a":'.repeat(depthMax)}1${'}'.repeat(depthMax)}`,
  );
  const wide = `{${Array.from({ length: 100_000 }, (_, i) => `"a":${i}`).join(',')}}`;
  expect(withoutDuplicateMembers(Buffer.from(wide)).toString()).toBe('{"a":99999}');
  expect(processorMs() - started).toBeLessThan(2_000);
});
