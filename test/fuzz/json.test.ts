import { expect, test } from 'vitest';
import { parseChat } from '../../src/api/chat.ts';
import { parseJson } from '../../src/api/request-body.ts';
import { bufferOf, editJson, replaceMember } from '../../src/base/json.ts';
import { adaptersOf } from '../../src/providers/bridges/index.ts';
import { vendors } from '../../src/providers/index.ts';
import { vendorCall } from '../support/vendor-call.ts';
import { expectLinear, fuzz, timeout } from './fuzzing.ts';
import { context, sentJson, unlessRefused } from '../support/parsed-request.ts';

const picture = 'data:image/png;base64,iVBORw0KGgo=';
const samples = [
  {
    model: 'm',
    messages: [{ role: 'user', content: 'Hello "you" \\ é 名' }],
    max_tokens: 5,
    stream: true,
    stream_options: { include_usage: true },
  },
  {
    model: 'm',
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What?' },
          { type: 'image_url', image_url: { url: picture, detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '1' },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'f',
          parameters: { type: 'object', properties: { a: { type: 'number' } } },
        },
      },
    ],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'x', schema: { type: 'object' } },
    },
    temperature: 0.7,
    n: 1,
    stop: ['a'],
  },
].flatMap((body) =>
  [JSON.stringify(body), JSON.stringify(body, null, 1)].map((text) => Buffer.from(text)),
);
const words = [
  '"model":"x",',
  '"Model":"x",',
  '"__proto__":{"a":1},',
  '"m\\u006fdel":1,',
  '\\u0000',
  '\\ud800',
  '1e400',
  '-0',
  'null',
  '[]',
  '{}',
].concat([
  '"',
  '\\',
  '\\"',
  ',',
  ':',
  '[',
  ']',
  '{',
  '}',
  'é',
  '\ufeff',
  ' ',
  '\n',
  'true',
  '12345678901234567890',
  '"data:;;;base64,"',
  '"http://10.0.0.1/"',
]);
const wire = ['openai', 'anthropic', 'gemini', 'bedrock', 'cohere'].flatMap(
  (id) => adaptersOf(vendors.get(id) ?? noVendor(id)).chat ?? [],
);

function noVendor(id: string): never {
  throw new Error(`there is no vendor ${id}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

test('a body is read as JSON.parse reads it, or refused; so is what it asks', { timeout }, () =>
  fuzz('bodies', {
    samples,
    words: words.map((word) => Buffer.from(word)),
    holds(input) {
      const body = unlessRefused(() => parseJson(input, 'application/json'));
      if (body === undefined) return;
      expect(body.body).toEqual(parsed(input.toString('utf8')));
      const request = unlessRefused(() => parseChat(context, sentJson(body.body, input)));
      if (request === undefined) return;
      expect(request.text().length).toBeLessThan(3 * input.length + 100);
      const call = vendorCall(request.body, {
        bytes: input,
        publicModel: request.model,
        stream: request.stream,
        includeUsage: true,
        streamUpstream: request.stream,
      });
      // Whatever was taken can be said to every vendor, or that vendor's format refuses it by name;
      // and what is said is JSON.
      for (const adapter of wire) {
        const ask = unlessRefused(() => adapter.ask(call));
        if (ask !== undefined) expect(parsed(ask.body.toString('utf8'))).toBeTypeOf('object');
      }
    },
  }),
);

test('an edit changes its member as it is parsed, and no other', { timeout }, () =>
  fuzz('edits', {
    samples,
    words: words.map((word) => Buffer.from(word)),
    holds(input) {
      const text = input.toString('utf8');
      const before = parsed(text);
      // Lone halves of characters are no UTF-8: what was parsed is not what is edited then.
      if (
        typeof before !== 'object' ||
        before === null ||
        Array.isArray(before) ||
        !Buffer.from(text).equals(input)
      )
        return;
      const edited = editJson(input.toString('latin1'), [
        { path: ['model'], json: '"up"' },
        { path: ['stream_options', 'include_usage'], json: 'true' },
      ]);
      const options = Object.hasOwn(before, 'stream_options')
        ? Reflect.get(before, 'stream_options')
        : undefined;
      const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
      const right = {
        ...before,
        model: 'up',
        ...(!Array.isArray(options) && {
          stream_options: { ...(isObject ? options : {}), include_usage: true },
        }),
      };
      expect(parsed(Buffer.from(edited, 'latin1').toString('utf8'))).toEqual(right);
      if (!Object.hasOwn(before, 'model')) return;
      const was: unknown = Reflect.get(before, 'model');
      if (typeof was !== 'string') return;
      const replaced = replaceMember({ bytes: input }, 'model', was, '"up"');
      if (replaced !== undefined)
        expect(
          parsed(Buffer.concat([bufferOf(replaced.body), ...(replaced.rest ?? [])]).toString()),
        ).toEqual({
          ...before,
          model: 'up',
        });
    },
  }),
);

test('a body takes time in proportion to its length', { timeout }, async () => {
  const shapes: Readonly<Record<string, (times: number) => string>> = {
    brackets: (times) => `{"a":${'['.repeat(times)}`,
    quotes: (times) => `{"a":"${'\\"'.repeat(times)}"}`,
    backslashes: (times) => `{"a":"${'\\\\'.repeat(times)}"}`,
    members: (times) => `{${Array.from({ length: times }, (_, i) => `"a${i}":1`).join()}}`,
    blanks: (times) => `{"a":${' '.repeat(times)}1}`,
    'strings without end': (times) => `{"a":${'"\\'.repeat(times)}`,
  };
  for (const [name, shape] of Object.entries(shapes))
    await expectLinear(name, (times) =>
      unlessRefused(() => parseJson(Buffer.from(shape(times)), 'application/json')),
    );
  for (const name of ['quotes', 'members'])
    await expectLinear(`edit of ${name}`, (times) =>
      editJson(shapes[name]?.(times) ?? '', [{ path: ['model'], json: '1' }]),
    );
});
