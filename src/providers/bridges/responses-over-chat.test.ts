import { describe, expect, test } from 'vitest';
import type { VendorCall } from '../adapter.ts';
import { anthropicMessages } from '../formats/anthropic-messages/adapter.ts';
import { isFault } from '../formats/fault.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { responsesOverChat } from './responses-over-chat.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

const bridge = responsesOverChat(openaiChat());

function callOf(body: Record<string, unknown>, rest: Partial<VendorCall> = {}): VendorCall {
  const sent = { model: 'm', input: 'Hello', ...body };
  return vendorCall(sent, { publicModel: 'm', includeUsage: true, answerId: 'resp_1', ...rest });
}

const asked = (call: VendorCall): Record<string, unknown> =>
  JSON.parse(bridge.ask(call).body.toString('utf8'));

function answered(call: VendorCall, message: object, finish = 'stop'): Record<string, unknown> {
  const reply = {
    id: 'x',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: null, ...message },
        finish_reason: finish,
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  };
  const answer = bridge.read(Buffer.from(JSON.stringify(reply)), 'application/json', call);
  if (isFault(answer)) throw new Error(answer.message);
  return JSON.parse(answer.body.toString('utf8'));
}

const listed = (output: unknown): unknown[] => (Array.isArray(output) ? output : []);

test('items become messages: what an assistant thought, said and called between two words of others is one message', () => {
  const sent = asked(
    callOf({
      instructions: 'Be kind',
      input: [
        { role: 'developer', content: 'Be short' },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'See' },
            { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'high' },
          ],
        },
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Hm' }],
          encrypted_content: 'gAAAA-of-another',
        },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking' }] },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
        { type: 'function_call', call_id: 'b', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'Seen' },
        {
          type: 'function_call_output',
          call_id: 'b',
          output: [{ type: 'input_text', text: 'Too' }],
        },
      ],
      tools: [{ type: 'function', name: 'look', parameters: { type: 'object' }, strict: true }],
      tool_choice: { type: 'function', name: 'look' },
      text: { format: { type: 'json_schema', name: 'n', schema: {}, strict: true } },
      reasoning: { effort: 'low', summary: 'auto' },
      max_output_tokens: 99,
      metadata: { a: 'b' },
      store: true,
      truncation: 'auto',
    }),
  );
  const call = (id: string): object => ({
    id,
    type: 'function',
    function: { name: 'look', arguments: '{}' },
  });
  expect(sent).toEqual({
    model: 'up',
    messages: [
      { role: 'system', content: 'Be kind' },
      { role: 'system', content: 'Be short' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'See' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'high' } },
        ],
      },
      {
        role: 'assistant',
        content: 'Looking',
        reasoning_content: 'Hm',
        tool_calls: [call('a'), call('b')],
      },
      { role: 'tool', tool_call_id: 'a', content: 'Seen' },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'Too' }] },
    ],
    tools: [
      {
        type: 'function',
        function: { name: 'look', parameters: { type: 'object' }, strict: true },
      },
    ],
    tool_choice: { type: 'function', function: { name: 'look' } },
    response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: true } },
    reasoning_effort: 'low',
    max_completion_tokens: 99,
  });
});

test('results stand directly after the message with their calls, each once', () => {
  const callOfTool = (id: string): object => ({
    type: 'function_call',
    call_id: id,
    name: 'look',
    arguments: '{}',
  });
  const outputOf = (id: string, output: string): object => ({
    type: 'function_call_output',
    call_id: id,
    output,
  });
  const question = { role: 'user', content: 'Look' };
  // As Semantic Kernel 1.45 for Python sends it: each request continues the stored response with
  // the question and the results of all calls so far (responses_agent_thread_actions.py).
  const first = [question, callOfTool('a'), callOfTool('b')];
  const second = [question, outputOf('a', '1'), outputOf('b', '2')];
  const third = [question, outputOf('a', '1'), outputOf('b', '2'), outputOf('c', '3')];
  const { messages } = asked(callOf({ input: [...first, ...second, callOfTool('c'), ...third] }));
  const calling = (...ids: string[]): object => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: '{}' },
    })),
  });
  const result = (id: string, content: string): object => ({
    role: 'tool',
    tool_call_id: id,
    content,
  });
  expect(messages).toEqual([
    question,
    calling('a', 'b'),
    result('a', '1'),
    result('b', '2'),
    question,
    calling('c'),
    result('c', '3'),
    question,
  ]);

  // Some models number their calls anew in each answer: a result is that of the latest call.
  const again = [callOfTool('a'), outputOf('a', '1'), callOfTool('a'), outputOf('a', '2')];
  expect(asked(callOf({ input: [question, ...again] }))['messages']).toEqual([
    question,
    calling('a'),
    result('a', '1'),
    calling('a'),
    result('a', '2'),
  ]);

  // Others give two calls of one answer the same id.
  const twins = [callOfTool('a'), callOfTool('a'), outputOf('a', '1'), outputOf('a', '2')];
  expect(asked(callOf({ input: [question, ...twins] }))['messages']).toEqual([
    question,
    calling('a', 'a'),
    result('a', '1'),
    result('a', '2'),
  ]);
});

test('what a vendor signed comes back to it inside the reasoning item', () => {
  const details = [{ type: 'reasoning.text', text: 'Hm', signature: 'sig', format: 'f', index: 0 }];
  const first = answered(callOf({}), {
    content: 'Hi',
    reasoning_content: 'Hm',
    reasoning_details: details,
  });
  const { output } = first;
  expect(output).toMatchObject([
    {
      id: 'rs_1_0',
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Hm' }],
      encrypted_content: expect.any(String),
    },
    { id: 'msg_1_1', type: 'message', role: 'assistant', status: 'completed' },
  ]);
  const again = asked(
    callOf({ input: Array.isArray(output) ? [...output, { role: 'user', content: 'And?' }] : [] }),
  );
  expect(again['messages']).toEqual([
    { role: 'assistant', content: 'Hi', reasoning_content: 'Hm', reasoning_details: details },
    { role: 'user', content: 'And?' },
  ]);
});

test('a function that stands for a custom tool tells its grammar', () => {
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
  const described = (more: object): unknown =>
    asked(callOf({ tools: [{ type: 'custom', name: 'patch', ...more }] }))['tools'];
  expect(described({ description: 'Patches', format })).toMatchObject([
    {
      function: {
        description: 'Patches\n\nThe input must fit this grammar (lark):\nstart: "x"',
      },
    },
  ]);
  expect(JSON.stringify(described({ format: { type: 'text' } }))).not.toContain('description');
});

test('a custom tool is a function with one text, both ways', () => {
  const tools = [{ type: 'custom', name: 'patch', description: 'Patches' }];
  const sent = asked(callOf({ tools }));
  expect(sent['tools']).toMatchObject([
    { type: 'function', function: { name: 'patch', parameters: { required: ['input'] } } },
  ]);
  const calls = [
    { id: 'c', type: 'function', function: { name: 'patch', arguments: '{"input":"*** Begin"}' } },
  ];
  const { output } = answered(callOf({ tools }), { tool_calls: calls }, 'tool_calls');
  expect(output).toEqual([
    {
      id: 'ctc_1_0',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'c',
      name: 'patch',
      input: '*** Begin',
    },
  ]);
});

test.each([
  ['length', 'incomplete', { reason: 'max_output_tokens' }],
  ['content_filter', 'incomplete', { reason: 'content_filter' }],
  ['stop', 'completed', null],
])('finish reason %s is status %s', (finish, status, details) => {
  expect(answered(callOf({}), { content: 'Hi' }, finish)).toMatchObject({
    status,
    incomplete_details: details,
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  });
});

test('a refusal is a part of its own', () => {
  expect(answered(callOf({}), { refusal: 'No' })['output']).toMatchObject([
    { type: 'message', content: [{ type: 'refusal', refusal: 'No' }] },
  ]);
});

describe('what chat has no word for is refused by its place', () => {
  test.each([
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type'],
    [
      { tools: [{ type: 'namespace', name: 'a', tools: [{ type: 'web_search' }] }] },
      'tools[0].tools[0].type',
    ],
    [{ input: [{ type: 'computer_call_output', call_id: 'x', output: {} }] }, 'input[0].type'],
    [
      { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'file_1' }] }] },
      'input[0].content[0].file_id',
    ],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
  ])('%j: %s', (body, param) => {
    expect(() => asked(callOf(body))).toThrow(expect.objectContaining({ param }));
  });
});

test('tools of a namespace are functions beside the others, and calls of them are told as theirs', () => {
  const close = {
    type: 'function',
    name: 'close',
    description: 'Ends one',
    parameters: { type: 'object' },
  };
  const tools = [
    { type: 'function', name: 'close', parameters: { type: 'object' } },
    {
      type: 'namespace',
      name: 'agents',
      description: 'Sub-agents',
      tools: [close, { type: 'custom', name: 'patch' }],
    },
    {
      type: 'namespace',
      name: 'mcp__files__',
      tools: [{ type: 'function', name: 'read', parameters: { type: 'object' } }],
    },
  ];
  const before = {
    type: 'function_call',
    call_id: 'a',
    namespace: 'agents',
    name: 'close',
    arguments: '{}',
  };
  const input = [
    { role: 'user', content: 'Close' },
    before,
    { type: 'function_call_output', call_id: 'a', output: 'Closed' },
  ];
  const call = callOf({
    tools,
    input,
    tool_choice: { type: 'function', name: 'close', namespace: 'agents' },
  });
  const sent = asked(call) as {
    tools: { function: { name: string } }[];
    messages: Record<string, unknown>[];
  };
  expect(sent.tools.map((tool) => tool.function.name)).toEqual([
    'close',
    'agents__close',
    'agents__patch',
    'mcp__files__read',
  ]);
  expect(sent).toMatchObject({ tool_choice: { function: { name: 'agents__close' } } });
  expect(sent.messages[1]).toMatchObject({
    tool_calls: [{ id: 'a', function: { name: 'agents__close' } }],
  });
  const names = ['close', 'agents__close', 'mcp__files__read', 'unheard_of'];
  const calls = names.map((name, index) => ({
    index,
    id: name,
    type: 'function',
    function: { name, arguments: '{}' },
  }));
  const patch = {
    index: 4,
    id: 'p',
    type: 'function',
    function: { name: 'agents__patch', arguments: '{"input":"x"}' },
  };
  const expected = [
    { type: 'function_call', name: 'close' },
    { type: 'function_call', name: 'close', namespace: 'agents' },
    { type: 'function_call', name: 'read', namespace: 'mcp__files__' },
    { type: 'function_call', name: 'unheard_of' },
    { type: 'custom_tool_call', name: 'patch', namespace: 'agents', input: 'x' },
  ];
  const { output } = answered(call, { tool_calls: [...calls, patch] }, 'tool_calls');
  expect(output).toMatchObject(expected);
  expect(listed(output)[0]).not.toHaveProperty('namespace');
  const translator = bridge.stream({ ...call, stream: true, streamUpstream: true });
  const chunk = {
    id: 'x',
    choices: [{ index: 0, delta: { tool_calls: [...calls, patch] }, finish_reason: 'tool_calls' }],
  };
  const out =
    translator.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)) +
    translator.end();
  expect(
    JSON.parse(/event: response\.completed\ndata: (.*)/.exec(out)?.[1] ?? '').response.output,
  ).toMatchObject(expected);
});

test('calls whose pieces come in turn are told apart, and text after them is an item of its own', () => {
  const translator = bridge.stream(callOf({}, { stream: true, streamUpstream: true }));
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const piece = (index: number, args: string, id?: string): object => ({
    tool_calls: [
      {
        index,
        ...(id ? { id, type: 'function' } : {}),
        function: { ...(id ? { name: 'look' } : {}), arguments: args },
      },
    ],
  });
  const all = [
    chunk({ role: 'assistant', content: 'A' }),
    chunk(piece(0, '{"a"', 'c0')),
    chunk(piece(1, '{"b"', 'c1')),
    chunk(piece(0, ':1}')),
    chunk(piece(1, ':2}')),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ];
  const out = translator.push(Buffer.from(all.join(''))) + translator.end();
  const last = /event: response\.completed\ndata: (.*)/.exec(out)?.[1] ?? '';
  expect(JSON.parse(last).response.output).toMatchObject([
    { type: 'message', content: [{ text: 'A' }] },
    { type: 'function_call', call_id: 'c0', arguments: '{"a":1}' },
    { type: 'function_call', call_id: 'c1', arguments: '{"b":2}' },
  ]);
});

test('thoughts that came signed in pieces go back whole', () => {
  const claude = responsesOverChat(anthropicMessages());
  const events = [
    {
      type: 'message_start',
      message: { id: 'msg_x', usage: { input_tokens: 5, output_tokens: 1 } },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'thinking', thinking: '', signature: '' },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'thinking_delta', thinking: 'First, ' },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'look.' } },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'signature_delta', signature: 'c2ln' },
    },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 1,
      delta: { type: 'input_json_delta', partial_json: '{}' },
    },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ];
  const tools = [
    { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } },
  ];
  const rest = { upstreamModel: 'claude-sonnet-4-5', stream: true, streamUpstream: true };
  const translator = claude.stream(callOf({ tools }, rest));
  const stream = events
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');
  const out = translator.push(Buffer.from(stream)) + translator.end();
  const { output } = JSON.parse(
    /event: response\.completed\ndata: (.*)/.exec(out)?.[1] ?? '',
  ).response;
  const input = [
    { role: 'user', content: 'Look' },
    ...output,
    { type: 'function_call_output', call_id: 'toolu_1', output: 'Seen' },
  ];
  const again = JSON.parse(
    claude.ask(callOf({ tools, input, reasoning: { effort: 'low' } }, rest)).body.toString('utf8'),
  );
  expect(again.messages[1].content).toEqual([
    { type: 'thinking', thinking: 'First, look.', signature: 'c2ln' },
    { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} },
  ]);
});

test('details that came in pieces go back as they are in a whole answer', () => {
  const thought = (text: string, signature: string | null = null): object => ({
    type: 'reasoning.text',
    text,
    signature,
    format: 'anthropic-claude-v1',
    index: 0,
  });
  const summary = (text: string): object => ({
    type: 'reasoning.summary',
    summary: text,
    format: 'openai-responses-v1',
    index: 1,
  });
  const pieces = [
    ...[thought('First, '), thought('look.'), thought('', 'sig-1'), thought('Then', 'sig-2')],
    ...[summary('Look'), summary('ed.')],
  ];
  const chunks = pieces.map((piece) => ({ reasoning: '.', reasoning_details: [piece] }));
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'x', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const stream = chunks.map((delta) => chunk(delta)).join('') + chunk({ content: 'Seen' }, 'stop');
  const translator = bridge.stream(callOf({}, { stream: true, streamUpstream: true }));
  const out = translator.push(Buffer.from(`${stream}data: [DONE]\n\n`)) + translator.end();
  const { output } = JSON.parse(
    /event: response\.completed\ndata: (.*)/.exec(out)?.[1] ?? '',
  ).response;
  expect(asked(callOf({ input: output }))['messages']).toMatchObject([
    {
      reasoning_details: [
        thought('First, look.', 'sig-1'),
        thought('Then', 'sig-2'),
        summary('Looked.'),
      ],
    },
  ]);
});

test('of reasoning, what does not go on is named in the client’s words', () => {
  const claude = responsesOverChat(anthropicMessages());
  const droppedOf = (
    body: Record<string, unknown>,
    upstreamModel = 'claude-sonnet-4-5',
  ): readonly string[] | undefined =>
    claude.ask(callOf({ max_output_tokens: 9000, ...body }, { upstreamModel })).dropped;
  const old = 'claude-3-5-haiku-latest';
  expect(droppedOf({ reasoning: { effort: 'low', summary: 'auto' } })).toBeUndefined();
  expect(droppedOf({ reasoning: { effort: 'low', context: 'all_turns' } })).toEqual([
    'reasoning.context',
  ]);
  expect(droppedOf({ reasoning: { summary: 'auto', effort: null, context: 'auto' } })).toEqual([
    'reasoning.summary',
  ]);
  expect(droppedOf({ reasoning: { effort: 'low' } }, old)).toEqual(['reasoning.effort']);
  expect(droppedOf({ reasoning: { effort: 'low', summary: 'auto' } }, old)).toEqual(['reasoning']);
  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [{ type: 'summary_text', text: 'Hm' }],
    encrypted_content: 'gAAAA-of-another',
  };
  const input = [
    { role: 'user', content: 'Hi' },
    thought,
    { role: 'assistant', content: 'Yes' },
    { role: 'user', content: 'So?' },
  ];
  expect(droppedOf({ input })).toEqual(['input[].encrypted_content', 'input[].reasoning']);
});

test('a member that the vendor refuses has the name that the client gave it', () => {
  const chat = openaiChat();
  const refusing = responsesOverChat({
    ...chat,
    ask: (call) => ({
      ...chat.ask(call),
      unsupported: { param: 'reasoning_effort', why: 'unknown' },
    }),
  });
  expect(refusing.ask(callOf({ reasoning: { effort: 'high' } })).unsupported).toEqual({
    param: 'reasoning.effort',
    why: 'unknown',
  });
});
