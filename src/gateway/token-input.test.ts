import { decode, encode } from 'gpt-tokenizer/encoding/cl100k_base';
import { expect, test } from 'vitest';
import { chatCall } from '../../test/support/vendor-call.ts';
import { hasTokenInput, withTextInput } from './token-input.ts';

const call = (input: unknown) => {
  const body = { model: 'm', input, dimensions: 3 };
  return { ...chatCall({}, 'up'), body, bytes: Buffer.from(JSON.stringify(body)) };
};
const textsOf = async (input: unknown) => {
  const made = await withTextInput(call(input));
  if ('kind' in made) return made;
  expect(JSON.parse(made.bytes.toString())).toEqual(made.body);
  return made.body['input'];
};

test('C5: text is told from tokens', () => {
  for (const input of ['text', ['text'], [], undefined])
    expect(hasTokenInput({ input })).toBe(false);
  for (const input of [[1], [[1]], [[1], [2]]]) expect(hasTokenInput({ input })).toBe(true);
});

test('C5: what was encoded comes back, and half a character spoils no other text', async () => {
  const fox = encode('🦊');
  expect(fox.length).toBeGreaterThan(1);
  const lists = [
    encode('你好'),
    fox.slice(0, 1),
    encode('one'),
    encode('<|endoftext|>', { allowedSpecial: 'all' }),
  ];
  expect(await textsOf(lists)).toEqual(['你好', '\ufffd', 'one', '<|endoftext|>']);
  expect(await textsOf(encode('Hello'))).toEqual(['Hello']);
});

test('C5: the tokens of cl100k_base are tokens, and no other number is', async () => {
  const known = [100_255, 100_257, 100_258, 100_259, 100_260, 100_276];
  for (let id = 100_250; id < 100_400; id++)
    expect(Array.isArray(await textsOf([id])), String(id)).toBe(id < 100_256 || known.includes(id));
  for (const id of known) expect(await textsOf([id])).toEqual([decode([id])]);
  expect(Array.isArray(await textsOf(Array.from({ length: 100_256 }, (_, id) => id)))).toBe(true);
});
