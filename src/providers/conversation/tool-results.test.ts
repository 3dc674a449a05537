import { expect, test } from 'vitest';
import { ask, weather, type Body } from '../../../test/support/asks.ts';
import { isObject, listOf } from '../../base/json.ts';

const png = 'data:image/png;base64,AAAA';
const image = { type: 'image_url', image_url: { url: png } };
const text = (words: string): object => ({ type: 'text', text: words });
const block = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

/** One step with two calls, of which the first one shows an image, in each client's format. */
const bodies = {
  chat: {
    tools: [weather],
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: ['a', 'b'].map((id) => ({
          id,
          type: 'function',
          function: { name: 'weather', arguments: '{}' },
        })),
      },
      { role: 'tool', tool_call_id: 'a', content: [text('{"n":1}'), image] },
      { role: 'tool', tool_call_id: 'b', content: 'sun' },
    ],
  },
  messages: {
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 'weather', input: {} })),
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [text('{"n":1}'), block] },
          { type: 'tool_result', tool_use_id: 'b', content: 'sun' },
        ],
      },
    ],
  },
  responses: {
    input: [
      { role: 'user', content: 'Hi' },
      ...['a', 'b'].map((id) => ({
        type: 'function_call',
        call_id: id,
        name: 'weather',
        arguments: '{}',
      })),
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: '{"n":1}' },
          { type: 'input_image', image_url: png },
        ],
      },
      { type: 'function_call_output', call_id: 'b', output: 'sun' },
    ],
  },
  generate_content: {
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      {
        role: 'model',
        parts: ['a', 'b'].map((id) => ({ functionCall: { id, name: 'weather', args: {} } })),
      },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'a',
              name: 'weather',
              response: { n: 1 },
              parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
            },
          },
          { functionResponse: { id: 'b', name: 'weather', response: { output: 'sun' } } },
        ],
      },
    ],
  },
} as const;

type Format = keyof typeof bodies;
const formats = Object.keys(bodies) as Format[];

const sent = (vendor: string, model: string, body: Body, format: Format): Body =>
  JSON.parse(ask(vendor, model, body, format).body.toString('utf8'));

const messagesOf = (...of: Parameters<typeof sent>): unknown[] => [
  ...listOf(sent(...of)['messages']),
];

test.each(formats)('media in results follow all results of a step: %s', (format) => {
  for (const [vendor, model] of [
    ['qwen', 'qwen-vl-max'],
    ['zhipu', 'glm-4.6v'],
    ['vllm', 'own'],
    ['openrouter', 'openai/gpt-4o'],
    ['cohere', 'command-a-vision-07-2025'],
  ] as const) {
    const [first, second, user] = messagesOf(vendor, model, bodies[format], format).slice(-3);
    expect(first).toMatchObject({ role: 'tool', tool_call_id: 'a', content: '{"n":1}' });
    expect(second).toMatchObject({ role: 'tool', tool_call_id: 'b' });
    expect(user).toEqual({ role: 'user', content: [text('Result of the call a:'), image] });
  }
});

test('so they do at OpenAI’s own chat', () => {
  const messages = messagesOf('openai', 'gpt-4o', bodies.messages, 'messages');
  expect(messages.at(-1)).toEqual({
    role: 'user',
    content: [text('Result of the call a:'), image],
  });
});

test.each(formats)('media stay in results that may hold them: %s', (format) => {
  for (const [vendor, model] of [
    ['mistral', 'mistral-medium-latest'],
    ['openrouter', 'anthropic/claude-haiku-4.5'],
  ] as const) {
    const messages = messagesOf(vendor, model, bodies[format], format);
    expect(messages.at(-2)).toMatchObject({ role: 'tool', content: [text('{"n":1}'), image] });
    expect(messages.at(-1)).toMatchObject({ role: 'tool' });
  }
  // Recorded 2026-08 (bedrock-0186, -0187): Llama and Mistral read them there, too.
  for (const model of ['anthropic.claude-sonnet-4-5', 'us.meta.llama4-maverick-17b-instruct-v1:0'])
    expect(messagesOf('bedrock', model, bodies[format], format).at(-1)).toMatchObject({
      content: [
        {
          toolResult: {
            toolUseId: 'a',
            content: [{ text: '{"n":1}' }, { image: { format: 'png', source: { bytes: 'AAAA' } } }],
          },
        },
        { toolResult: { toolUseId: 'b' } },
      ],
    });
});

test('media of results stand before what the user says, and the vendor’s form of parts holds for them', () => {
  const pdf = 'data:application/pdf;base64,AAAA';
  const marked = { ...image, cache_control: { type: 'ephemeral' } };
  const messages = [
    ...bodies.chat.messages.slice(0, 2),
    { role: 'tool', tool_call_id: 'a', content: [marked] },
    { role: 'tool', tool_call_id: 'b', content: [{ type: 'document_url', document_url: pdf }] },
    { role: 'user', content: 'So?' },
    { role: 'user', content: 'And?' },
  ];
  expect(messagesOf('openai', 'gpt-4o', { messages }, 'chat').slice(2)).toEqual([
    { role: 'tool', tool_call_id: 'a', content: '(see below)' },
    { role: 'tool', tool_call_id: 'b', content: '(see below)' },
    {
      role: 'user',
      content: [
        text('Result of the call a:'),
        image,
        text('Result of the call b:'),
        { type: 'file', file: { filename: 'document.pdf', file_data: pdf } },
        text('So?'),
      ],
    },
    { role: 'user', content: 'And?' },
  ]);
});

test('a failed call is told as such: by a mark, or in words where the vendor has none', () => {
  const result = (content: unknown): object => ({
    type: 'tool_result',
    tool_use_id: 'a',
    is_error: true,
    content,
  });
  const body = (content: unknown): Body => ({
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'a', name: 'weather', input: {} }],
      },
      { role: 'user', content: [result(content)] },
    ],
  });
  const found = (vendor: string, model: string, content: unknown): unknown => {
    const { messages, contents } = sent(vendor, model, body(content), 'messages');
    const last: unknown = listOf(messages ?? contents).at(-1);
    return isObject(last) ? (last['parts'] ?? last['content']) : undefined;
  };
  const shown = [text('an error'), block];
  const bytes = { image: { format: 'png', source: { bytes: 'AAAA' } } };
  expect(found('bedrock', 'anthropic.claude-sonnet-4-5', shown)).toEqual([
    { toolResult: { toolUseId: 'a', content: [{ text: 'an error' }, bytes], status: 'error' } },
  ]);
  expect(found('bedrock', 'us.meta.llama4-maverick-17b-instruct-v1:0', 'no file')).toEqual([
    { toolResult: { toolUseId: 'a', content: [{ text: 'Error: no file' }] } },
  ]);
  const inside = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
  expect(found('gemini', 'gemini-3-flash-preview', shown)).toMatchObject([
    { functionResponse: { response: { error: 'an error' }, parts: inside } },
  ]);
  expect(found('gemini', 'gemini-3-flash-preview', '{"code":1}')).toMatchObject([
    { functionResponse: { response: { error: { code: 1 } } } },
  ]);
  expect(found('groq', 'openai/gpt-oss-120b', 'no file')).toBe('Error: no file');
  expect(found('mistral', 'mistral-medium-latest', [text('no file'), block])).toEqual([
    text('Error: no file'),
    image,
  ]);
});
