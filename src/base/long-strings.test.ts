import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type JsonChange, editJson, editJsonBytes } from './json.ts';
import {
  type StringContents,
  jsonPieces,
  longStringBytesMin,
  parseWithoutLongStrings,
} from './long-strings.ts';

/** Where the strings are that begin with `L`, as a value. */
const insides = (json: Buffer): StringContents[] =>
  [...json.toString('latin1').matchAll(/(?<=[:[,]\s*")L(?:[^"\\]|\\.)*(?="\s*[,}\]])/g)].map(
    (found) => ({
      start: found.index,
      end: found.index + found[0].length,
    }),
  );

const letters = fc.string({
  unit: fc.constantFrom('L', '"', '\\', 'é', '世', '\n', ' ', '0', '\u007f', 'long '),
  maxLength: 30,
});
const base64 = fc.stringMatching(/^[A-Za-z0-9+/]{0,60}={0,2}$/).map((text) => `L${text}`);
const value = fc.letrec((again) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    base64,
    letters,
    fc.integer(),
    fc.array(again('any')),
    fc.dictionary(fc.constantFrom('a', 'model', 'é', '__proto__'), again('any')),
  ),
})).any;

test('parsing without the long strings gives what JSON.parse gives, or nothing', () => {
  let without = 0;
  fc.assert(
    fc.property(value, fc.boolean(), (any, spaced) => {
      const json = Buffer.from(JSON.stringify({ any }, null, spaced ? 1 : undefined));
      const parsed = parseWithoutLongStrings(json, insides(json));
      if (parsed === undefined) return;
      without++;
      expect(parsed.value).toEqual(JSON.parse(json.toString('utf8')));
    }),
    { numRuns: 500 },
  );
  expect(without).toBeGreaterThan(100);
});

test('edits of such bytes are those of any other', () => {
  const changes: JsonChange[] = [
    { path: ['model'], json: '"new"' },
    { path: ['any', 'a'] },
    { path: ['options', 'usage'], json: 'true' },
  ];
  fc.assert(
    fc.property(value, value, (any, after) => {
      const text = JSON.stringify({ any, model: 'old', after });
      const json = Buffer.from(text);
      const skeleton = parseWithoutLongStrings(json, insides(json))?.skeleton;
      const same = Buffer.from(text);
      const edited = editJson(same.toString('latin1'), changes);
      expect(editJsonBytes(json, changes, skeleton).toString('latin1')).toBe(edited);
      expect(editJsonBytes(same, changes, skeleton).toString('latin1')).toBe(edited);
    }),
  );
});

test('a duplicate member, an escape, a control character and invalid JSON are left to JSON.parse', () => {
  const tried = (text: string): unknown => {
    const json = Buffer.from(text, 'latin1');
    return parseWithoutLongStrings(json, insides(json))?.value;
  };
  expect(tried('{"a":"Labcdefgh","b":1}')).toEqual({ a: 'Labcdefgh', b: 1 });
  expect(tried('{"a":"Labcdefgh","a":1}')).toBeUndefined();
  expect(tried('{"a":"Labcd\\u0041","b":1}')).toBeUndefined();
  for (const odd of ['\0', '\n', '\u001f', '\u0080', '\u00ff'])
    for (let at = 0; at < 9; at++)
      expect(tried(`{"a":"L${'a'.repeat(at)}${odd}${'b'.repeat(9 - at)}"}`)).toBeUndefined();
  expect(tried('{"a":"Labcdefgh","b":}')).toBeUndefined();
});

test('long strings of a value are the bytes that they came as', () => {
  const picture = 'iVBORw0K'.repeat(longStringBytesMin / 8);
  const url = `data:image/png;base64,${picture}`;
  const json = Buffer.from(JSON.stringify({ text: 'é', url }));
  const start = json.indexOf('data:');
  const read = parseWithoutLongStrings(json, [{ start, end: start + url.length }]);
  const made = { say: '世"', source: { data: picture }, other: 'x'.repeat(longStringBytesMin) };
  const pieces = jsonPieces(made, read?.skeleton);
  expect(Buffer.concat(pieces).toString('utf8')).toBe(JSON.stringify(made));
  expect(
    pieces.some((piece) => piece.buffer === json.buffer && piece.length === picture.length),
  ).toBe(true);
  expect(Buffer.concat(jsonPieces(made, undefined)).toString('utf8')).toBe(JSON.stringify(made));
});
