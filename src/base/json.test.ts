import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bufferOf,
  type JsonChange,
  editJson,
  editJsonBytes,
  jsonElements,
  jsonText,
  jsonMembers,
  JsonSyntaxError,
  type JsonPath,
  latin1Of,
  replaceMember,
  utf8,
} from './json.ts';

const editText = (text: string, changes: readonly JsonChange[]): string =>
  utf8(editJson(latin1Of(text), changes));

describe('edit', () => {
  it('keeps numbers, escapes and white space that a parser would not', () => {
    const text =
      '{ "seed" : 12345678901234567890 ,\n\t"temperature":1.0, "model":"a","x":[1e2, "\\u00e9\\/" ,{}],"e":"é中😀" }';
    expect(editText(text, [{ path: ['model'], json: '"b"' }])).toBe(text.replace('"a"', '"b"'));
  });

  it('inserts at the end, into nested objects and in place of null', () => {
    expect(editJson('{}', [{ path: ['a'], json: '1' }])).toBe('{"a":1}');
    expect(
      editJson('[{"a":1} ]', [
        { path: [0], after: '2' },
        { path: [0, 'a'], json: '3' },
      ]),
    ).toBe('[{"a":3},2 ]');
    expect(editJson('[1,2]', [{ path: [0], after: '9' }])).toBe('[1,9,2]');
    expect(editJson('{"b":2 }', [{ path: ['a'], json: '1' }])).toBe('{"b":2,"a":1 }');
    expect(editJson('{"b":2}', [{ path: ['o', 'i'], json: 'true' }])).toBe(
      '{"b":2,"o":{"i":true}}',
    );
    expect(editJson('{"o":null}', [{ path: ['o', 'i'], json: 'true' }])).toBe('{"o":{"i":true}}');
    expect(editJson('{"o":{"k":1}}', [{ path: ['o', 'i'], json: 'true' }])).toBe(
      '{"o":{"k":1,"i":true}}',
    );
  });

  it('removes first, middle, last and only members with their commas', () => {
    expect(editJson('{"a":1, "b":2, "c":3}', [{ path: ['a'] }])).toBe('{"b":2, "c":3}');
    expect(editJson('{"a":1, "b":2, "c":3}', [{ path: ['b'] }])).toBe('{"a":1, "c":3}');
    expect(editJson('{"a":1, "b":2, "c":3}', [{ path: ['c'] }])).toBe('{"a":1, "b":2}');
    expect(editJson('{"a":1, "b":2, "c":3}', [{ path: ['b'] }, { path: ['c'] }])).toBe('{"a":1}');
    expect(editJson('{ "a":1 }', [{ path: ['a'] }])).toBe('{  }');
    expect(editJson('{"a":1}', [{ path: ['a'] }, { path: ['b'], json: '2' }])).toBe('{"b":2}');
  });

  it('removes elements with their commas, and changes others beside them', () => {
    expect(editJson('{"a":[1, 2, 3]}', [{ path: ['a', 0] }])).toBe('{"a":[2, 3]}');
    expect(editJson('{"a":[1, 2, 3]}', [{ path: ['a', 1] }])).toBe('{"a":[1, 3]}');
    expect(
      editJson('{"a":[1, 2, 3]}', [
        { path: ['a', 0], json: '9' },
        { path: ['a', 1] },
        { path: ['a', 2] },
      ]),
    ).toBe('{"a":[9]}');
    expect(editJson('{"a":[1]}', [{ path: ['a', 0] }])).toBe('{"a":[]}');
  });

  it('renames, and renames while it sets', () => {
    expect(editJson('{"max_tokens" : 5}', [{ path: ['max_tokens'], name: 'limit' }])).toBe(
      '{"limit" : 5}',
    );
    expect(editJson('{"max_tokens":5}', [{ path: ['max_tokens'], name: 'limit', json: '3' }])).toBe(
      '{"limit":3}',
    );
    expect(editJson('{"x":5}', [{ path: ['max_tokens'], name: 'limit' }])).toBe('{"x":5}');
  });

  it('changes every occurrence of a duplicate key', () => {
    expect(editJson('{"model":"a","x":1,"model":"b"}', [{ path: ['model'], json: '"c"' }])).toBe(
      '{"model":"c","x":1,"model":"c"}',
    );
    expect(editJson('{"model":"a","x":1,"model":"b"}', [{ path: ['model'] }])).toBe('{"x":1}');
  });

  it('knows escaped and non-ASCII names', () => {
    expect(editJson('{"mod\\u0065l":"a"}', [{ path: ['model'], json: '"b"' }])).toBe(
      '{"mod\\u0065l":"b"}',
    );
    expect(
      editText('{"模型":"a","é":{"ü":1}}', [
        { path: ['模型'], json: '"b"' },
        { path: ['é', 'ü'], json: '2' },
      ]),
    ).toBe('{"模型":"b","é":{"ü":2}}');
    expect(editText('{}', [{ path: ['模型'], json: jsonText('值') }])).toBe('{"模型":"值"}');
  });

  it('reaches into arrays', () => {
    const text = '{"messages":[{"role":"user"}, {"tool_calls":[{"id":"x"},{"id":"y"}]}]}';
    expect(editJson(text, [{ path: ['messages', 1, 'tool_calls', 1, 'id'], json: '"z"' }])).toBe(
      text.replace('"y"', '"z"'),
    );
    expect(editJson(text, [{ path: ['messages', 7, 'id'], json: '"z"' }])).toBe(text);
    const numbers = '{"input":[1, -2.5e+3,[4,5],"]",{"a":[]},[],[ ],6 ],"model":"m"}';
    expect(editJson(numbers, [{ path: ['model'], json: '"n"' }])).toBe(
      numbers.replace('"m"', '"n"'),
    );
  });

  it('ends strings only at quotes that are not escaped', () => {
    const text = '{"a":"\\\\\\"","b":"\\\\","c":"x\\\\\\\\\\"y","model":"m"}';
    expect(editJson(text, [{ path: ['model'], json: '"n"' }])).toBe(text.replace('"m"', '"n"'));
  });

  it('crosses deep nesting and four megabytes of image without parsing them', () => {
    const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    expect(editJson(`{"d":${deep},"m":1}`, [{ path: ['m'], json: '2' }])).toBe(
      `{"d":${deep},"m":2}`,
    );
    const body = Buffer.from(`{"messages":[{"image":"${'A'.repeat(4_000_000)}"}],"model":"a"}`);
    const started = process.cpuUsage();
    const changed = editJsonBytes(body, [{ path: ['model'], json: '"b"' }]);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(100);
    expect(changed.length).toBe(body.length);
    expect(changed.toString('latin1', body.length - 13)).toBe('],"model":"b"}'.slice(-13));
  });

  it('ends on text that is not JSON, with a clear error at worst', () => {
    for (const text of [
      '',
      '{',
      '{"a',
      '{"a"',
      '{"a":',
      '{"a":[',
      '{"a":"\\',
      '{"a":1',
      '{a:1}',
      '{"a" 1}',
      '[1',
      '{"a":1 "b":2}',
      '{"a":}',
    ]) {
      try {
        editJson(text, [
          { path: ['a', 'b'], json: '1' },
          { path: ['c'], json: '2' },
        ]);
      } catch (error) {
        expect(error).toBeInstanceOf(JsonSyntaxError);
      }
    }
  });
});

describe('members and elements', () => {
  it('tell where values lie', () => {
    const text = '{ "a" : [1, {"b":"]"} ] , "c":null}';
    const found = jsonMembers(text, 0);
    expect(found.map((m) => [m.name, text.slice(m.value, m.end)])).toEqual([
      ['a', '[1, {"b":"]"} ]'],
      ['c', 'null'],
    ]);
    expect(jsonElements(text, found[0]?.value ?? 0).map((e) => text.slice(e.value, e.end))).toEqual(
      ['1', '{"b":"]"}'],
    );
    expect(jsonMembers('{ }', 0)).toEqual([]);
    expect(jsonElements('[ ]', 0)).toEqual([]);
  });
});

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
const isObject = (value: Json | undefined): value is { [name: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The value that would be inserted for this path: nothing when an element of a missing array is
 * meant.
 */
function made(path: JsonPath, json: Json | undefined): Json | undefined {
  if (json === undefined) return undefined;
  return path.reduceRight<Json | undefined>(
    (inner, step) =>
      inner === undefined || typeof step === 'number' ? undefined : { [step]: inner },
    json,
  );
}

/** The same change on the parsed value, for comparison. */
function assign(root: Json, path: JsonPath, json: Json | undefined): Json {
  const [step, ...rest] = path;
  if (step === undefined) return json ?? null;
  if (Array.isArray(root)) {
    if (rest.length === 0 && json === undefined) return root.filter((_, i) => i !== step);
    return root.map((element, i) => (i === step ? assign(element, rest, json) : element));
  }
  if (!isObject(root)) return made(path, json) ?? root;
  if (typeof step === 'number') return root;
  const copy = { ...root };
  if (!Object.hasOwn(copy, step)) {
    const inserted = made(rest, json);
    if (inserted !== undefined) copy[step] = inserted;
  } else if (rest.length) copy[step] = assign(copy[step] ?? null, rest, json);
  else if (json === undefined) delete copy[step];
  else copy[step] = json;
  return copy;
}

const name = fc
  .oneof(fc.constantFrom('model', 'stream', 'a', 'b', 'é', '"\\'), fc.string({ maxLength: 4 }))
  .filter((text) => text !== '__proto__');
const document = fc.dictionary(
  name,
  fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ unit: 'binary' }),
      tie('list'),
      tie('object'),
    ),
    list: fc.array(tie('value'), { maxLength: 4 }),
    object: fc.dictionary(name, tie('value'), { maxKeys: 5 }),
  })).value,
  { maxKeys: 6 },
);

describe('edit and parse-and-assign', () => {
  it('agree on 12,000 random documents', () => {
    const path = fc
      .array(fc.oneof({ weight: 4, arbitrary: name }, { weight: 1, arbitrary: fc.nat(3) }), {
        minLength: 1,
        maxLength: 3,
      })
      .filter((steps) => typeof steps[0] === 'string');
    const property = fc.property(
      document,
      path,
      fc.option(fc.jsonValue(), { nil: undefined }),
      fc.constantFrom(undefined, 1, '\t'),
      (value, steps, json, indent) => {
        const plain: Json = JSON.parse(JSON.stringify(value));
        const set: Json | undefined =
          json === undefined ? undefined : JSON.parse(JSON.stringify(json));
        const text = JSON.stringify(plain, null, indent);
        const changed = editText(text, [
          { path: steps, json: set === undefined ? undefined : jsonText(set) },
        ]);
        expect(JSON.parse(changed)).toEqual(assign(plain, steps, set));
      },
    );
    fc.assert(property, { numRuns: 12_000, seed: 20_261_121 });
  });
});

describe('replaceMember', () => {
  const sole = (text: string, json = '"new"'): string | undefined => {
    const { model }: { readonly model: unknown } = JSON.parse(text);
    const sent = replaceMember({ bytes: Buffer.from(text) }, 'model', String(model), json);
    return sent && Buffer.concat([bufferOf(sent.body), ...(sent.rest ?? [])]).toString();
  };

  it('sets the member where its name stands once', () => {
    expect(sole('{"model":"old","x":1.0}')).toBe('{"model":"new","x":1.0}');
    expect(sole('{ "x":"é中", "model" :\n "a" }')).toBe('{ "x":"é中", "model" :\n "new" }');
    const long = JSON.stringify({ x: 'x'.repeat(100_000), model: 'old' });
    expect(sole(long)).toBe(long.replace('"old"', '"new"'));
  });

  it('sets the first member, whatever follows', () => {
    expect(sole('{"model":"old","tools":[{"model":"old"}],"x":"\\u00e9"}')).toBe(
      '{"model":"new","tools":[{"model":"old"}],"x":"\\u00e9"}',
    );
  });

  it('leaves doubt to the full reading', () => {
    expect(sole('{"model":"a","model":"b"}')).toBeUndefined();
    expect(sole('{"mod\\u0065l":"a","inner":{"model":"b"}}')).toBeUndefined();
    expect(sole('{"x":"model","model":"a"}')).toBeUndefined();
    expect(sole('{"model":"a\\"b"}')).toBeUndefined();
    expect(sole('{"model":"é"}')).toBeUndefined();
  });

  it('agrees with the full reading wherever it answers', () => {
    const name = fc.constantFrom('model', 'x', 'my"model', 'mod');
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom('model', '"model"'),
      fc.dictionary(name, fc.string()),
      fc.integer(),
    );
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.string(), (object, model) => {
        const text = JSON.stringify({ ...object, model });
        const quick = sole(text);
        if (quick !== undefined)
          expect(quick).toBe(editText(text, [{ path: ['model'], json: '"new"' }]));
      }),
    );
  });
});
