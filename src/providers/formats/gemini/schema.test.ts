import { expect, test } from 'vitest';
import { processorMs } from '../../../../test/support/processor-time.ts';
import { geminiSchema } from './schema.ts';

test.each([
  [
    'what Gemini reads stays',
    {
      type: 'object',
      properties: { title: { type: ['string', 'null'] } },
      additionalProperties: false,
      propertyOrdering: ['title'],
    },
    undefined,
  ],
  [
    'keywords that are refused go, properties of their names stay',
    {
      $schema: 'x',
      title: 'T',
      properties: { title: { title: 'T', type: 'string' }, examples: { examples: [1] } },
    },
    { properties: { title: { type: 'string' }, examples: {} } },
  ],
  ['one value is a list of one', { const: 5 }, { enum: [5], type: 'integer' }],
  ['a null stays without a type', { const: null }, { enum: [null] }],
  [
    'bounds that exclude are not told',
    { type: 'number', exclusiveMinimum: 0, maximum: 4 },
    { type: 'number', maximum: 4 },
  ],
  ['nullable is a type', { type: 'string', nullable: true }, { type: ['string', 'null'] }],
  [
    'lists of schemas are walked',
    { anyOf: [{ const: 'a' }, { $comment: 'x', type: 'null' }], prefixItems: [{ title: 'x' }] },
    { anyOf: [{ enum: ['a'], type: 'string' }, { type: 'null' }], prefixItems: [{}] },
  ],
  [
    'a reference alone stays',
    { $defs: { A: { title: 'A', type: 'string' } }, properties: { a: { $ref: '#/$defs/A' } } },
    { $defs: { A: { type: 'string' } }, properties: { a: { $ref: '#/$defs/A' } } },
  ],
  [
    'definitions have one name',
    { definitions: { A: { type: 'string' } }, items: { $ref: '#/definitions/A' } },
    { $defs: { A: { type: 'string' } }, items: { $ref: '#/$defs/A' } },
  ],
  [
    'a described reference is what it points to',
    { $defs: { A: { type: 'string' } }, items: { $ref: '#/$defs/A', description: 'd' } },
    { $defs: { A: { type: 'string' } }, items: { type: 'string', description: 'd' } },
  ],
  [
    'a reference to a place is what lies there',
    { properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' } } },
    { properties: { a: { type: 'string' }, b: { type: 'string' } } },
  ],
  [
    'a schema inside itself stays a reference',
    {
      $defs: { A: { properties: { next: { $ref: '#/$defs/A', description: 'd' } } } },
      items: { $ref: '#/$defs/A', description: 'e' },
    },
    {
      $defs: {
        A: {
          properties: { next: { properties: { next: { $ref: '#/$defs/A' } }, description: 'd' } },
        },
      },
      items: { properties: { next: { $ref: '#/$defs/A' } }, description: 'e' },
    },
  ],
  [
    'the root inside itself is anything',
    { properties: { child: { $ref: '#' } } },
    { properties: { child: { properties: { child: {} } } } },
  ],
  ['elsewhere is anything', { items: { $ref: 'https://host/schema' } }, { items: {} }],
  [
    'several at once are one',
    {
      description: 'd',
      allOf: [{ $ref: '#/$defs/A' }, { properties: { b: { const: 1 } }, required: ['b'] }],
      $defs: { A: { properties: { a: {} }, required: ['a'] } },
    },
    {
      description: 'd',
      properties: { a: {}, b: { enum: [1], type: 'integer' } },
      required: ['a', 'b'],
      $defs: { A: { properties: { a: {} }, required: ['a'] } },
    },
  ],
  [
    'several of themselves end',
    {
      $defs: { A: { allOf: [{ $ref: '#/$defs/A' }], type: 'object' } },
      allOf: [{ $ref: '#/$defs/A' }],
    },
    { $defs: { A: { type: 'object' } }, type: 'object' },
  ],
])('%s', (_what, schema, expected) => {
  const before = structuredClone(schema);
  expect(geminiSchema(schema)).toEqual(expected ?? schema);
  expect(schema).toEqual(before);
});

test('a schema in which each level names the next one twice takes little time and room', () => {
  const next = (level: number) => ({ $ref: `#/$defs/a${level}`, description: 'd' });
  const ways = {
    described: (level: number) => ({ properties: { x: next(level), y: next(level) } }),
    'all of two': (level: number) => ({ allOf: [next(level), next(level)] }),
    'in a property each': (level: number) => ({
      properties: { x: { allOf: [next(level)] }, y: { allOf: [next(level)] } },
    }),
  };
  for (const [way, schemaAt] of Object.entries(ways)) {
    const levels = [...Array(30).keys()].map((level) => [`a${level}`, schemaAt(level + 1)]);
    const $defs = { ...Object.fromEntries(levels), a30: { type: 'string' } };
    const started = processorMs();
    const written = JSON.stringify(geminiSchema({ ...schemaAt(0), $defs }));
    expect(processorMs() - started, way).toBeLessThan(250);
    expect(written.length, way).toBeLessThan(200_000);
  }
});

test('a chain of references is not followed to its end, whatever its length', () => {
  const links = [...Array(20_000).keys()].map((link) => [
    `a${link}`,
    { items: { $ref: `#/$defs/a${link + 1}`, description: 'd' } },
  ]);
  const $defs = Object.fromEntries(links);
  expect(() => geminiSchema({ $ref: '#/$defs/a0', description: 'd', $defs })).not.toThrow();
});
