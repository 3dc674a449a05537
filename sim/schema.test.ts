import { Compile } from 'typebox/schema';
import { describe, expect, test } from 'vitest';
import { textFor } from './pattern.ts';
import { instanceOf } from './schema.ts';

const address = {
  type: 'object',
  properties: {
    street: { type: 'string', minLength: 12 },
    zip: { type: 'string', pattern: '^\\d{5}(-\\d{4})?$' },
  },
  required: ['zip'],
};
const schemas: readonly Readonly<Record<string, unknown>>[] = [
  {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 18, maximum: 20 } },
    required: ['name', 'age'],
    additionalProperties: false,
  },
  {
    type: 'object',
    properties: {
      unit: { enum: ['celsius', 'fahrenheit'] },
      kind: { const: 7 },
      when: { type: 'string', format: 'date' },
    },
    required: ['unit', 'kind'],
  },
  {
    type: 'array',
    items: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
    minItems: 3,
  },
  { type: 'array', prefixItems: [{ type: 'boolean' }, { type: 'null' }], items: false },
  { type: 'array', items: { type: 'string' }, minItems: 4, uniqueItems: true },
  {
    $defs: { address },
    type: 'object',
    properties: { home: { $ref: '#/$defs/address' } },
    required: ['home'],
  },
  { anyOf: [{ type: 'integer', multipleOf: 7, minimum: 15 }, { type: 'null' }] },
  {
    allOf: [
      { type: 'object', properties: { a: { type: 'boolean' } }, required: ['a'] },
      { properties: { b: { type: ['string', 'null'], maxLength: 3 } }, required: ['b'] },
    ],
  },
  { type: 'object', additionalProperties: { type: 'integer' }, minProperties: 2, required: ['x'] },
  {
    $defs: {
      node: {
        type: 'object',
        properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
        required: ['next'],
      },
    },
    $ref: '#/$defs/node',
  },
  {
    type: 'object',
    properties: { children: { type: 'array', items: { $ref: '#' } } },
    required: ['children'],
  },
  {},
];

test.each(schemas)('an instance satisfies %j', (schema) => {
  const instance = instanceOf(
    schema,
    'Ada Lovelace, 36, met "Charles Babbage" in London on 1833-06-05 at 0.25 past 20 degrees fahrenheit',
  );
  expect(Compile(schema).Check(instance), JSON.stringify(instance)).toBe(true);
});

test('an instance is filled from the prompt', () => {
  const schema = {
    type: 'object',
    properties: {
      city: { type: 'string' },
      days: { type: 'integer' },
      unit: { enum: ['celsius', 'fahrenheit'] },
    },
  };
  expect(instanceOf(schema, 'the weather in New York for 3 days, in Fahrenheit please')).toEqual({
    city: 'New York',
    days: 3,
    unit: 'fahrenheit',
  });
});

describe('a text for a pattern', () => {
  test.each([
    '^[A-Z]{2}-\\d{3,}$',
    '^(red|green)+$',
    '^[^a]x?\\w*@[\\w.]+\\.(com|org)$',
    '^(?:0x)[0-9a-f]{8}$',
    '.+',
    'abc',
    '^\\S+$',
  ])('%s', (pattern) => {
    expect(textFor(pattern)).toMatch(new RegExp(pattern, 'u'));
  });

  test('one that cannot be made is left alone', () => {
    expect(textFor('^(?=x)y$')).toBeUndefined();
  });
});
