import { serialize, deserialize } from 'node:v8';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { packInput, unpackInput } from './sql.ts';

/** As it arrives in another thread. */
const crossed = (input: unknown): unknown => unpackInput(deserialize(serialize(packInput(input))));

const plain = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.bigInt(), fc.constant(null));
const any = fc.oneof(plain, fc.double(), fc.uint8Array(), fc.boolean());

test('whatever is packed comes out as it was', () => {
  fc.assert(
    fc.property(
      fc.array(plain, { minLength: 60, maxLength: 70 }),
      fc.array(any, { minLength: 60, maxLength: 70 }),
      (values, others) => {
        const input = {
          process: 'p',
          seq: 6n,
          charges: { count: 3, values },
          others,
          deep: { a: { values } },
          none: undefined,
        };
        expect(crossed(input)).toEqual(input);
      },
    ),
  );
});

test('a batch of charges is one text', () => {
  const values = Array.from({ length: 100 }, (_, i) => (i % 3 === 0 ? BigInt(i) : `charge ${i}`));
  expect(packInput({ charges: { values } })).toEqual({
    charges: { values: { json: expect.any(String), bigints: expect.any(Uint32Array) } },
  });
  for (const input of [undefined, null, 'text', 5n, [1, 2], { a: 1 }])
    expect(packInput(input)).toEqual(input);
});
