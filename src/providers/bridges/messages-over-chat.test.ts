import { expect, test } from 'vitest';
import { Refusal } from '../../base/refusal.ts';
import type { VendorCall } from '../adapter.ts';
import { vendors } from '../index.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { adaptersOf } from './index.ts';
import { messagesOverChat } from './messages-over-chat.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

const adapter = messagesOverChat(openaiChat());
const hello = [{ role: 'user', content: 'Hello' }];

function callFor(body: Record<string, unknown>, more: Partial<VendorCall> = {}): VendorCall {
  const whole: Record<string, unknown> = {
    model: 'public',
    max_tokens: 100,
    messages: hello,
    ...body,
  };
  return vendorCall(whole, {
    stream: whole['stream'] === true,
    includeUsage: true,
    streamUpstream: whole['stream'] === true,
    answerId: 'msg_1',
    ...more,
  });
}

const sent = (body: Record<string, unknown>, marks = false): Record<string, unknown> =>
  JSON.parse(messagesOverChat(openaiChat(), marks).ask(callFor(body)).body.toString('utf8'));
const sentMessages = (content: unknown, role = 'user'): unknown =>
  sent({ messages: [{ role, content }] })['messages'];

test('a request becomes a chat request, and what only Claude reads stays behind', () => {
  const schema = { type: 'object', properties: {} };
  const body = {
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2; cch=abc' },
      { type: 'text', text: 'Be', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'brief.' },
    ],
    stop_sequences: ['END'],
    temperature: 0.5,
    top_p: 0.9,
    top_k: 5,
    metadata: { user_id: 'u' },
    service_tier: 'auto',
    context_management: { edits: [] },
    tools: [
      { name: 'f', description: 'F', input_schema: schema, cache_control: { type: 'ephemeral' } },
    ],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    output_config: { effort: 'xhigh', format: { type: 'json_schema', schema } },
  };
  expect(sent(body)).toEqual({
    model: 'up',
    messages: [{ role: 'system', content: 'Be\n\nbrief.' }, ...hello],
    max_tokens: 100,
    temperature: 0.5,
    top_p: 0.9,
    stop: ['END'],
    tools: [{ type: 'function', function: { name: 'f', description: 'F', parameters: schema } }],
    tool_choice: 'required',
    parallel_tool_calls: false,
    reasoning_effort: 'xhigh',
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'output', schema, strict: false },
    },
  });
});

test('a schema is held to strictly where it can be', () => {
  const strict = (schema: object): unknown => {
    const format = sent({ output_config: { format: { type: 'json_schema', schema } } })[
      'response_format'
    ];
    return JSON.parse(JSON.stringify(format)).json_schema.strict;
  };
  const closed = {
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
    additionalProperties: false,
  };
  expect(strict(closed)).toBe(true);
  expect(strict({ ...closed, required: [] })).toBe(false);
  expect(
    strict({
      ...closed,
      properties: { a: { type: 'array', items: { ...closed, additionalProperties: true } } },
    }),
  ).toBe(false);
  expect(strict({ ...closed, $defs: { b: { ...closed, required: [] } } })).toBe(false);
  const $defs = { b: { type: 'string' } };
  const of = (a: object): unknown => strict({ ...closed, properties: { a }, $defs });
  for (const taken of [
    { $ref: '#/$defs/b' },
    { type: 'string', format: 'date', pattern: '^2', description: 'd' },
    { type: ['integer', 'null'], minimum: 1, enum: [1, null], default: 1 },
    { type: 'integer', format: 'int64' },
    { type: 'array', items: closed, maxItems: 3 },
    { anyOf: [{ type: 'string' }, closed] },
  ])
    expect([taken, of(taken)]).toEqual([taken, true]);
  for (const refused of [
    { allOf: [{ $ref: '#/$defs/b' }] },
    { oneOf: [{ type: 'string' }, { type: 'null' }] },
    { $ref: '#/$defs/b', description: 'd' },
    { type: 'string', format: 'uri' },
    { type: 'string', pattern: '(?=a)' },
    { not: { type: 'string' } },
    { properties: {} },
  ])
    expect([refused, of(refused)]).toEqual([refused, false]);
});

test('marks of the cache reach those who read them', () => {
  const cache_control = { type: 'ephemeral' };
  const marked = { type: 'text', text: 'x', cache_control };
  const body = sent(
    {
      system: [marked],
      messages: [{ role: 'user', content: [marked] }],
      tools: [{ name: 'f', input_schema: {}, cache_control }],
    },
    true,
  );
  expect(body).toMatchObject({
    messages: [
      { role: 'system', content: [marked] },
      { role: 'user', content: [marked] },
    ],
    tools: [{ type: 'function', cache_control }],
  });
});

test.each([
  [{ type: 'enabled', budget_tokens: 2_000 }, 'low'],
  [{ type: 'enabled', budget_tokens: 8_000 }, 'medium'],
  [{ type: 'enabled', budget_tokens: 32_000 }, 'high'],
  [{ type: 'adaptive' }, 'medium'],
  [{ type: 'disabled' }, 'none'],
  [undefined, undefined],
])('thinking %j is the effort %s', (thinking, effort) => {
  expect(sent({ thinking })['reasoning_effort']).toBe(effort);
});

test.each([
  [{ type: 'auto' }, 'auto'],
  [{ type: 'none' }, 'none'],
  [
    { type: 'tool', name: 'f' },
    { type: 'function', function: { name: 'f' } },
  ],
])('the choice of tools %j is %j', (tool_choice, want) => {
  expect(sent({ tools: [{ name: 'f', input_schema: {} }], tool_choice })['tool_choice']).toEqual(
    want,
  );
});

test('results of tools come first, text alone, and their images follow', () => {
  const image = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: 'AA==' },
  };
  const content = [
    { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text', text: 'seen' }, image] },
    { type: 'tool_result', tool_use_id: 'b', content: 'broken', is_error: true },
    { type: 'tool_result', tool_use_id: 'c' },
    { type: 'text', text: 'Go on.' },
  ];
  expect(sentMessages(content)).toEqual([
    { role: 'tool', tool_call_id: 'a', content: 'seen' },
    { role: 'tool', tool_call_id: 'b', content: 'Error: broken' },
    { role: 'tool', tool_call_id: 'c', content: '' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Result of the call a:' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
        { type: 'text', text: 'Go on.' },
      ],
    },
  ]);
});

test('documents are files or text', () => {
  const document = (source: object, more: object = {}): object => ({
    type: 'document',
    source,
    ...more,
  });
  expect(
    sentMessages([
      document({ type: 'base64', media_type: 'application/pdf', data: 'AA==' }, { title: 'a.pdf' }),
    ]),
  ).toEqual([
    {
      role: 'user',
      content: [
        {
          type: 'file',
          file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' },
        },
      ],
    },
  ]);
  expect(
    sentMessages([
      document({ type: 'url', url: 'https://example.com/a.pdf' }, { title: 'T', context: 'C' }),
    ]),
  ).toMatchObject([
    {
      content: [
        { type: 'text', text: 'C' },
        { type: 'file', file: { filename: 'T' } },
      ],
    },
  ]);
  expect(
    sentMessages([
      document({ type: 'text', media_type: 'text/plain', data: 'words' }, { title: 'T' }),
    ]),
  ).toEqual([{ role: 'user', content: 'T\n\nwords' }]);
  expect(
    sentMessages([document({ type: 'content', content: [{ type: 'text', text: 'inner' }] })]),
  ).toEqual([{ role: 'user', content: 'inner' }]);
});

test('an assistant’s turn brings back its calls, its thoughts and their signatures', () => {
  const content = [
    { type: 'thinking', thinking: 'Hm.', signature: 'sig' },
    { type: 'redacted_thinking', data: 'sealed' },
    { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
    { type: 'text', text: 'I ' },
    { type: 'text', text: 'call.' },
    {
      type: 'tool_use',
      id: 't',
      name: 'f',
      input: { a: 1 },
      extra_content: { google: { thought_signature: 'c2ln' } },
    },
  ];
  expect(sentMessages(content, 'assistant')).toMatchObject([
    {
      role: 'assistant',
      content: 'I call.',
      reasoning_content: 'Hm.',
      reasoning_details: [
        { type: 'reasoning.text', text: 'Hm.', signature: 'sig' },
        { type: 'reasoning.encrypted', data: 'sealed' },
      ],
      tool_calls: [
        {
          id: 't',
          type: 'function',
          function: { name: 'f', arguments: '{"a":1}' },
          extra_content: { google: { thought_signature: 'c2ln' } },
        },
      ],
    },
  ]);
});

test.each([
  ['servers of tools', { mcp_servers: [{ type: 'url', url: 'https://x' }] }, 'mcp_servers'],
  ['a container', { container: 'c' }, 'container'],
  [
    'a tool that Anthropic runs',
    { tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
    'tools[0].type',
  ],
  [
    'an image by file id',
    {
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] },
      ],
    },
    'messages[0].content[0]',
  ],
  [
    'a block that nobody knows',
    { messages: [{ role: 'user', content: [{ type: 'hologram' }] }] },
    'messages[0].content[0]',
  ],
])('%s cannot be carried: a 400 that names it', (_what, body, param) => {
  try {
    sent(body);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error.param).toBe(param);
    return;
  }
  throw new Error('it was carried');
});

const chunk = (delta: object, finish: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'up', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
const usage = {
  prompt_tokens: 30,
  completion_tokens: 7,
  total_tokens: 37,
  prompt_tokens_details: { cached_tokens: 10 },
};
const called = (index: number, id: string | undefined, args: string): object => ({
  tool_calls: [
    {
      index,
      ...(id === undefined ? {} : { id, type: 'function' }),
      function: { ...(id === undefined ? {} : { name: 'f' }), arguments: args },
    },
  ],
});

function streamed(...chunks: string[]): {
  text: string;
  events: { type: string; index?: number; [name: string]: unknown }[];
} {
  const translator = adapter.stream(callFor({ stream: true }));
  const text = translator.push(Buffer.from(chunks.join(''))) + translator.end();
  const lines = Buffer.from(text, 'latin1').toString('utf8').split('\n');
  return {
    text,
    events: lines
      .filter((line) => line.startsWith('data: '))
      .map((line) => JSON.parse(line.slice(6))),
  };
}

test('a stream: thinking, text and usage are blocks and a delta, letters of any script', () => {
  const { events } = streamed(
    chunk({ role: 'assistant', content: '' }),
    chunk({ reasoning_content: 'Hm “ñ”' }),
    chunk({ content: '你好\n' }),
    chunk({ content: '😀' }),
    chunk({}, 'stop'),
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  );
  expect(
    events.map(({ type, index }) => (index === undefined ? type : `${type} ${index}`)),
  ).toEqual([
    'message_start',
    'ping',
    'content_block_start 0',
    'content_block_delta 0',
    'content_block_stop 0',
    'content_block_start 1',
    'content_block_delta 1',
    'content_block_delta 1',
    'content_block_stop 1',
    'message_delta',
  ]);
  expect(events[0]).toMatchObject({
    message: { id: 'msg_1', model: 'public', role: 'assistant', content: [], stop_reason: null },
  });
  expect(events[3]).toMatchObject({ delta: { type: 'thinking_delta', thinking: 'Hm “ñ”' } });
  expect(events[6]).toMatchObject({ delta: { type: 'text_delta', text: '你好\n' } });
  expect(events[7]).toMatchObject({ delta: { text: '😀' } });
  expect(events[9]).toMatchObject({
    delta: { stop_reason: 'end_turn' },
    usage: { input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 7 },
  });
});

test('calls one after the other close one after the other; calls that arrive interleaved stay open', () => {
  const order = (...chunks: string[]): string[] =>
    streamed(chunk({ role: 'assistant' }), ...chunks, chunk({}, 'tool_calls'), 'data: [DONE]\n\n')
      .events.filter(({ type }) => type.startsWith('content_block'))
      .map(({ type, index }) => `${type.slice('content_block_'.length)} ${index}`);
  expect(
    order(
      chunk(called(0, 'a', '{"x":')),
      chunk(called(0, undefined, '1}')),
      chunk(called(1, 'b', '{}')),
    ),
  ).toEqual([...['start 0', 'delta 0', 'delta 0', 'stop 0'], ...['start 1', 'delta 1', 'stop 1']]);
  expect(
    order(
      chunk(called(0, 'a', '{"x":')),
      chunk(called(1, 'b', '{"y":')),
      chunk(called(0, undefined, '1}')),
      chunk(called(1, undefined, '2}')),
    ),
  ).toEqual(['start 0', 'delta 0', 'start 1', 'delta 1', 'delta 0', 'delta 1', 'stop 0', 'stop 1']);
});

test('nothing leaves before the first words, so that another vendor may be asked', () => {
  expect(
    adapter
      .stream(callFor({ stream: true }))
      .push(Buffer.from(chunk({ role: 'assistant', content: '' }))),
  ).toBe('');
});

test('a stream without usage tells what is charged for it; one without an end is a fault', () => {
  const { events } = streamed(
    chunk({ role: 'assistant', content: '' }),
    chunk({ content: 'twelve bytes' }),
    chunk({}, 'length'),
    'data: [DONE]\n\n',
  );
  expect(events.at(-1)).toMatchObject({
    delta: { stop_reason: 'max_tokens' },
    usage: { output_tokens: 3 },
  });
  const cut = adapter.stream(callFor({ stream: true }));
  cut.push(Buffer.from(chunk({ content: 'Hel' })));
  expect(cut.end()).toBe('');
  expect(cut.meter.fault).toMatchObject({ kind: 'protocol' });
});

test('when the money ends, what is open is closed', () => {
  const translator = adapter.stream(callFor({ stream: true }));
  translator.push(Buffer.from(chunk({ content: 'Hel' })));
  const out = translator.cutShort({ input: 5, output: 2 });
  expect([...out.matchAll(/^event: (.*)$/gm)].map((match) => match[1])).toEqual([
    'content_block_stop',
    'message_delta',
  ]);
  expect(out).toContain('"stop_reason":"max_tokens"');
  expect(out).toContain('"output_tokens":2');
});

test('a whole answer: a refusal is one, arguments are an object, and what was wrong in them is kept', () => {
  const read = (message: object, finish_reason = 'stop'): unknown => {
    const reply = JSON.stringify({
      id: 'c',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason }],
      usage,
    });
    const answer = adapter.read(Buffer.from(reply), 'application/json', callFor({}));
    return 'body' in answer ? JSON.parse(answer.body.toString('utf8')) : answer;
  };
  expect(read({ role: 'assistant', content: null, refusal: 'I will not.' })).toMatchObject({
    content: [{ type: 'text', text: 'I will not.' }],
    stop_reason: 'refusal',
  });
  const call = (args: string): object => ({
    id: 't',
    type: 'function',
    function: { name: 'f', arguments: args },
  });
  expect(
    read({
      role: 'assistant',
      content: null,
      tool_calls: [call(''), call('{"a":1}'), call('{oops')],
    }),
  ).toMatchObject({
    content: [{ input: {} }, { input: { a: 1 } }, { input: { arguments: '{oops' } }],
    stop_reason: 'tool_use',
    usage: { input_tokens: 20, cache_read_input_tokens: 10, output_tokens: 7 },
  });
});

test('a vendor with chat serves messages, natively where it has them', () => {
  for (const vendor of vendors.values())
    expect(adaptersOf(vendor).messages === undefined).toBe(vendor.adapters.chat === undefined);
  const path = (id: string, upstreamModel: string): string | undefined => {
    const vendor = vendors.get(id);
    return (
      vendor && adaptersOf(vendor).messages?.ask(callFor({ stream: true }, { upstreamModel })).path
    );
  };
  expect(path('anthropic', 'claude-opus-4-6')).toBe('/messages');
  expect(path('vertex', 'claude-opus-4-6')).toBe(
    '/publishers/anthropic/models/claude-opus-4-6:streamRawPredict',
  );
  expect(path('vertex', 'gemini-3-pro')).toMatch(/gemini-3-pro:streamGenerateContent/);
  expect(path('deepseek', 'deepseek-chat')).toBe('/chat/completions');
});

test('thinking that the model has none of is named as the client said it', () => {
  const dropped = (body: Record<string, unknown>): unknown => {
    const openai = vendors.get('openai');
    return (
      openai && adaptersOf(openai).messages?.ask(callFor(body, { upstreamModel: 'gpt-4o' })).dropped
    );
  };
  expect(dropped({ thinking: { type: 'enabled', budget_tokens: 4000 } })).toEqual(['thinking']);
  expect(dropped({ output_config: { effort: 'high' } })).toEqual(['output_config.effort']);
});

test('on Vertex the body tells the version and not the model', () => {
  const messages = vendors.get('vertex')?.adapters.messages;
  const call = callFor({ stream: true }, { upstreamModel: 'claude-opus-4-6' });
  expect(JSON.parse(messages?.ask(call).body.toString('utf8') ?? '')).toEqual({
    anthropic_version: 'vertex-2023-10-16',
    max_tokens: 100,
    messages: hello,
    stream: true,
  });
});
