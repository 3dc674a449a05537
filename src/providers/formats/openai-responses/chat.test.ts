import { describe, expect, test } from 'vitest';
import type { VendorCall } from '../../adapter.ts';
import { openai } from '../../vendors/openai.ts';
import { isFault } from '../fault.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const chat = openai.adapters.chat;
if (chat === undefined) throw new Error('OpenAI chats');

const tool = {
  type: 'function',
  function: { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } },
};
const hello = [{ role: 'user', content: 'Hello' }];

function callOf(body: Record<string, unknown>, rest: Partial<VendorCall> = {}): VendorCall {
  const sent = { model: 'm', messages: hello, ...body };
  return vendorCall(sent, {
    publicModel: 'm',
    upstreamModel: 'gpt-5.6-terra',
    includeUsage: true,
    ...rest,
  });
}

const asked = (call: VendorCall): Record<string, unknown> =>
  JSON.parse(chat.ask(call).body.toString('utf8'));

describe('which requests of chat go to /responses', () => {
  test.each([
    ['gpt-5.6-terra', { tools: [tool] }, true],
    ['gpt-5.4', { tools: [tool], reasoning_effort: 'high' }, true],
    ['gpt-5.10', { tools: [tool] }, true],
    ['gpt-6-sol', { tools: [tool] }, true],
    ['gpt-6-sol', { functions: [tool.function], reasoning_effort: 'none' }, false],
    ['gpt-6.2-pro', { tools: [tool], reasoning_effort: 'none' }, true],
    ['gpt-5.6-terra', { tools: [tool], reasoning_effort: 'none' }, false],
    ['gpt-5.6-terra', {}, false],
    ['gpt-5.6-terra', { tools: [] }, false],
    ['gpt-5.4-mini', { tools: [tool] }, false],
    ['gpt-5.4-mini', { tools: [tool], reasoning_effort: 'low' }, true],
    ['gpt-5.2', { tools: [tool] }, false],
    ['gpt-5.4-chat', { tools: [tool] }, false],
    ['gpt-4o', { tools: [tool] }, false],
    ['o4-mini', { tools: [tool] }, false],
  ])('%s %j: %s', (upstreamModel, body, there) => {
    expect(chat.ask(callOf(body, { upstreamModel })).path).toBe(
      there ? '/responses' : '/chat/completions',
    );
  });
});

test('a conversation becomes items, and what tunes sampling is left out', () => {
  const sealed = {
    type: 'reasoning.encrypted',
    data: 'gAAAA1',
    id: 'rs_1',
    format: 'openai-responses-v1',
    index: 0,
  };
  const sent = asked(
    callOf({
      messages: [
        { role: 'system', content: 'Be kind' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'See' },
            { type: 'image_url', image_url: { url: 'https://x.test/a.png' } },
            {
              type: 'file',
              file: { file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' },
            },
          ],
        },
        {
          role: 'assistant',
          content: 'Looking',
          reasoning_details: [sealed],
          tool_calls: [
            { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"a":1}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Seen' },
      ],
      tools: [
        tool,
        {
          type: 'custom',
          custom: {
            name: 'patch',
            format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } },
          },
        },
      ],
      tool_choice: { type: 'function', function: { name: 'look' } },
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'n', schema: { type: 'object' }, strict: true },
      },
      verbosity: 'low',
      reasoning_effort: 'high',
      max_completion_tokens: 5,
      temperature: 0.2,
      frequency_penalty: 1,
      stop: 'x',
      prompt_cache_key: 'k',
      parallel_tool_calls: false,
    }),
  );
  expect(sent).toEqual({
    model: 'gpt-5.6-terra',
    input: [
      { type: 'message', role: 'system', content: 'Be kind' },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'See' },
          { type: 'input_image', image_url: 'https://x.test/a.png', detail: 'auto' },
          { type: 'input_file', file_data: 'data:application/pdf;base64,AA', filename: 'a.pdf' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA1' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking' }] },
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{"a":1}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'Seen' },
    ],
    tools: [
      {
        type: 'function',
        strict: false,
        name: 'look',
        description: 'Looks',
        parameters: { type: 'object', properties: {} },
      },
      {
        type: 'custom',
        name: 'patch',
        format: { type: 'grammar', syntax: 'lark', definition: 'x' },
      },
    ],
    tool_choice: { type: 'function', name: 'look' },
    reasoning: { effort: 'high' },
    text: {
      format: { type: 'json_schema', name: 'n', schema: { type: 'object' }, strict: true },
      verbosity: 'low',
    },
    max_output_tokens: 16,
    parallel_tool_calls: false,
    prompt_cache_key: 'k',
    store: false,
    include: ['reasoning.encrypted_content'],
  });
});

test('a model that always reasons gets the least effort it takes', () => {
  const sent = asked(
    callOf({ tools: [tool], reasoning_effort: 'none' }, { upstreamModel: 'gpt-6.1-sol' }),
  );
  expect(sent['reasoning']).toEqual({ effort: 'low' });
});

test('what cannot be said there is refused by its place', () => {
  expect(() => asked(callOf({ tools: [tool], n: 2 }))).toThrow(
    expect.objectContaining({ param: 'n' }),
  );
  const old = { functions: [tool.function], function_call: { name: 'look' } };
  expect(() => asked(callOf(old))).toThrow(expect.objectContaining({ param: 'functions' }));
  const sound = [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }];
  expect(() => asked(callOf({ tools: [tool], messages: sound }))).toThrow(
    expect.objectContaining({ param: 'messages[0].content[0].type' }),
  );
});

const event = (type: string, members: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;
const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 60 },
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 20 },
  total_tokens: 130,
};

test('a stop word is cut from a stream wherever its pieces are, and the count stays the vendor’s', () => {
  const translator = chat.stream(
    callOf({ tools: [tool], stop: ['END'] }, { stream: true, streamUpstream: true }),
  );
  const pieces = ['Hello E', 'N', 'E', 'ND and more'].map((delta) =>
    event('response.output_text.delta', { delta, output_index: 0 }),
  );
  const out = translator.push(
    Buffer.from(
      pieces.join('') +
        event('response.completed', { response: { id: 'resp_1', status: 'completed', usage } }),
    ),
  );
  const text = [...(out + translator.end()).matchAll(/"content":"([^"]*)"/g)]
    .map((match) => match[1])
    .join('');
  expect(text).toBe('Hello EN');
  expect(translator.meter).toMatchObject({
    finished: true,
    quantities: { input: 40, cached_input: 60, output: 10, reasoning: 20 },
  });
});

test('a call of a custom tool is told whole, in an answer and in a stream', () => {
  const item = {
    type: 'custom_tool_call',
    id: 'ctc_1',
    call_id: 'call_1',
    name: 'patch',
    input: '*** "Begin"',
  };
  const told = [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: '*** "Begin"' } }];
  const call = callOf({ tools: [tool] }, { stream: true, streamUpstream: true });
  const response = { id: 'resp_1', status: 'completed', output: [item], usage };
  const answer = chat.read(Buffer.from(JSON.stringify(response)), 'application/json', call);
  if (isFault(answer)) throw new Error(answer.message);
  const whole = { finish_reason: 'tool_calls', message: { tool_calls: told } };
  expect(JSON.parse(answer.body.toString('utf8')).choices).toMatchObject([whole]);
  const collector = chat.collect(call);
  collector.push(
    Buffer.from(
      event('response.output_item.done', { output_index: 0, item }) +
        event('response.completed', { response }),
    ),
  );
  expect(JSON.parse(collector.answer().body.toString('utf8')).choices).toMatchObject([whole]);
});

test('a failure inside a stream is a fault', () => {
  const translator = chat.stream(callOf({ tools: [tool] }, { stream: true, streamUpstream: true }));
  translator.push(
    Buffer.from(event('error', { code: 'rate_limit_exceeded', message: 'Too many', param: null })),
  );
  translator.end();
  expect(translator.meter.fault).toMatchObject({ kind: 'rate_limited' });
});

test('names of speakers, which items do not have, are named as left out', () => {
  const messages = [
    { role: 'user', name: 'bob', content: 'x' },
    { role: 'assistant', name: 'ann', content: 'y' },
    { role: 'user', content: 'z' },
  ];
  expect(chat.ask(callOf({ messages, tools: [tool] })).dropped).toEqual(['messages[].name']);
  expect(chat.ask(callOf({ messages: messages.slice(2), tools: [tool] })).dropped).toBeUndefined();
});
