import { describe, expect, it } from 'vitest';
import type { Adapter, VendorCall } from '../adapter.ts';
import { openaiChat } from '../formats/openai-chat/adapter.ts';
import { isFault } from '../formats/fault.ts';
import { chatToolName } from '../conversation/tool-names.ts';
import { generateOverChat } from './generate-over-chat.ts';
import { messagesOverChat } from './messages-over-chat.ts';
import { responsesOverChat } from './responses-over-chat.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

const long = 'mcp__plugin_compound-engineering_context7_documentation__resolve-library-id';
const schema = { type: 'object', properties: {} };

/** A request of each format in which the tool is declared, chosen and was called before. */
const formats: Readonly<
  Record<string, { adapter: Adapter; body: (name: string) => Record<string, unknown> }>
> = {
  messages: {
    adapter: messagesOverChat(openaiChat()),
    body: (name) => ({
      max_tokens: 9,
      tools: [{ name, input_schema: schema }],
      tool_choice: { type: 'tool', name },
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name, input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'ok' }] },
      ],
    }),
  },
  responses: {
    adapter: responsesOverChat(openaiChat()),
    body: (name) => ({
      tools: [{ type: 'function', name, parameters: schema }],
      tool_choice: { type: 'function', name },
      input: [
        { role: 'user', content: 'Hello' },
        { type: 'function_call', call_id: 'c', name, arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'ok' },
      ],
    }),
  },
  generate_content: {
    adapter: generateOverChat(openaiChat()),
    body: (name) => ({
      tools: [{ function_declarations: [{ name, parametersJsonSchema: schema }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: [name] } },
      contents: [
        { role: 'user', parts: [{ text: 'Hello' }] },
        { role: 'model', parts: [{ functionCall: { name, args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name, response: { output: 'ok' } } }] },
      ],
    }),
  },
};

function callOf(body: Record<string, unknown>): VendorCall {
  return vendorCall(body, { includeUsage: true, answerId: 'answer_1' });
}

/** The names of the tool in the vendor's request and in both answers to a call of `called`. */
function names(adapter: Adapter, body: Record<string, unknown>, called: string): string[][] {
  const of = (text: string): string[] => [
    ...new Set([...text.matchAll(/"name":"([^"]+)"/g)].map(([, name = '']) => name)),
  ];
  const call = callOf(body);
  const calls = [
    { index: 0, id: 'd', type: 'function', function: { name: called, arguments: '{}' } },
  ];
  const choice = { index: 0, finish_reason: 'tool_calls' };
  const reply = {
    id: 'x',
    choices: [{ ...choice, message: { content: null, tool_calls: calls } }],
  };
  const chunk = { id: 'x', choices: [{ ...choice, delta: { tool_calls: calls } }] };
  const answer = adapter.read(Buffer.from(JSON.stringify(reply)), 'application/json', call);
  if (isFault(answer)) throw new Error(answer.message);
  const stream = adapter.stream({ ...call, stream: true, streamUpstream: true });
  const events =
    stream.push(Buffer.from(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`)) + stream.end();
  const request = adapter.ask(call).body.toString('utf8');
  return [of(request), of(outputIn(answer.body.toString('utf8'))), of(events)];
}

/** A response repeats the request's tools after its output. */
const outputIn = (text: string): string => text.replace(/"tools":\[.*$/, '');

describe.each(Object.entries(formats))('a tool of a client of %s', (_, { adapter, body }) => {
  it('has a name of 64 characters where its own is longer, and its own in answers', () => {
    const short = chatToolName(long);
    expect(short).toMatch(/^mcp__plugin_[\w-]{52}$/);
    expect(names(adapter, body(long), short)).toEqual([[short], [long], [long]]);
  });

  it('keeps a name of 64 characters', () => {
    const name = long.slice(0, 64);
    expect(names(adapter, body(name), name)).toEqual([[name], [name], [name]]);
  });
});

it('tools of one beginning have different names', () => {
  expect(chatToolName(`${long}-1`)).not.toBe(chatToolName(`${long}-2`));
});
