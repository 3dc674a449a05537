import { expect, test } from 'vitest';
import { Refusal } from '../../base/refusal.ts';
import { inCamelCase } from './spelling.ts';

test('names of the format are in camelCase, names of the client stay', () => {
  const body = {
    system_instruction: { parts: [{ function_call: { name: 'my_f', args: { my_arg: 1 } } }] },
    tools: [
      {
        function_declarations: [
          {
            name: 'my_f',
            parameters: { properties: { my_arg: { min_length: '1' } }, required: ['my_arg'] },
            parameters_json_schema: { $defs: { my_def: { min_length: 1 } } },
          },
        ],
      },
    ],
    labels: { my_label: 'a_b' },
  };
  expect(inCamelCase(body)).toEqual({
    systemInstruction: { parts: [{ functionCall: { name: 'my_f', args: { my_arg: 1 } } }] },
    tools: [
      {
        functionDeclarations: [
          {
            name: 'my_f',
            parameters: { properties: { my_arg: { minLength: '1' } }, required: ['my_arg'] },
            parametersJsonSchema: { $defs: { my_def: { min_length: 1 } } },
          },
        ],
      },
    ],
    labels: { my_label: 'a_b' },
  });
});

test('a request without snake_case is the same object', () => {
  const body = { contents: [{ parts: [{ text: 'a_b' }] }], labels: { my_label: 1 } };
  expect(inCamelCase(body)).toBe(body);
});

test('a body is read once, and its parts that change nothing stay what they are', () => {
  const contents = [{ parts: [{ text: 'a_b', inlineData: { data: '' } }] }];
  const body = { contents, generation_config: { top_k: 1 } };
  const sent = JSON.stringify(body);
  const read = inCamelCase(body);
  expect(inCamelCase(body)).toBe(read);
  expect(inCamelCase(read)).toBe(read);
  expect(read['contents']).toBe(contents);
  expect([JSON.stringify(body), Object.keys({ ...body })]).toEqual([sent, Object.keys(body)]);
});

test('a single tool or declaration becomes a list', () => {
  expect(inCamelCase({ tools: { function_declarations: { name: 'f' } } })).toEqual({
    tools: [{ functionDeclarations: [{ name: 'f' }] }],
  });
});

test.each([
  [{ topK: 1, top_k: 2 }, 'topK'],
  [{ a: [{ top_k: 2, topK: 1 }] }, 'a[0].topK'],
])('a member in both spellings is refused: %j', (body, param) => {
  expect(() => inCamelCase(body)).toThrow(Refusal);
  expect(() => inCamelCase(body)).toThrow(param);
});
