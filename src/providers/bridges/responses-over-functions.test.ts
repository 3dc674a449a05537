import { describe, expect, it } from 'vitest';
import type { Adapter, VendorCall } from '../adapter.ts';
import { isFault } from '../formats/fault.ts';
import { xai } from '../vendors/xai.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

const adapter = xai.adapters.responses as Adapter;
const schema = { type: 'object', properties: {} };
const read = { type: 'function', name: 'read', parameters: schema, strict: false };
const patch = {
  type: 'custom',
  name: 'apply_patch',
  description: 'Patches.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
};
const tools = [
  { ...read, name: 'plain' },
  { type: 'namespace', name: 'mcp__fs', tools: [{ ...read, defer_loading: true }, patch] },
  patch,
  { type: 'tool_search' },
  { type: 'web_search', external_web_access: true },
];
const customParameters = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};
const asFunction = {
  type: 'function',
  description: 'Patches.\n\nThe input must fit this grammar (lark):\nstart: "a"',
  parameters: customParameters,
};

function callOf(body: Record<string, unknown>, over: Partial<VendorCall> = {}): VendorCall {
  const whole = { model: 'public', store: false, ...body };
  return vendorCall(whole, {
    upstreamModel: 'grok-4.6',
    includeUsage: true,
    answerId: 'resp_1',
    ...over,
  });
}

const sent = (call: VendorCall): Record<string, unknown> =>
  JSON.parse(adapter.ask(call).body.toString('utf8'));

describe('a request of Codex', () => {
  it('has functions as its only tools of the client, under the names that chat has', () => {
    const call = callOf({
      input: 'Hi',
      tools,
      tool_choice: { type: 'custom', name: 'apply_patch', namespace: 'mcp__fs' },
    });
    expect(sent(call)).toMatchObject({
      tools: [
        { ...read, name: 'plain' },
        { ...read, name: 'mcp__fs__read' },
        { ...asFunction, name: 'mcp__fs__apply_patch' },
        { ...asFunction, name: 'apply_patch' },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'function', name: 'mcp__fs__apply_patch' },
    });
    expect(adapter.ask(call).dropped).toEqual([
      'tools[].tool_search',
      'tools[].external_web_access',
    ]);
  });

  it('has no items that the vendor does not know, with tools or without', () => {
    const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'm/Nx6' };
    const output = { type: 'function_call_output', call_id: 'c', output: '1' };
    const input = [
      { type: 'additional_tools', role: 'developer', tools },
      { role: 'user', content: 'Hi' },
      { ...reasoning, summary: [], content: null },
      reasoning,
      { type: 'function_call', call_id: 'c', namespace: 'mcp__fs', name: 'read', arguments: '{}' },
      { ...output, namespace: 'mcp__fs', name: 'read' },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'd', name: 'apply_patch', input: 'a' },
      { type: 'custom_tool_call_output', call_id: 'd', output: 'ok' },
      { type: 'tool_search_call', call_id: 'e', arguments: {} },
    ];
    const flat = [
      { role: 'user', content: 'Hi' },
      { ...reasoning, summary: [] },
      { ...reasoning, summary: [] },
      { type: 'function_call', call_id: 'c', name: 'mcp__fs__read', arguments: '{}' },
      output,
      { type: 'function_call', call_id: 'd', name: 'apply_patch', arguments: '{"input":"a"}' },
      { type: 'function_call_output', call_id: 'd', output: 'ok' },
    ];
    const brought = sent(callOf({ input }));
    expect(brought['input']).toEqual(flat);
    expect(brought['tools']).toHaveLength(5);
    const { tools: none, ...rest } = sent(callOf({ input: input.slice(1) }));
    expect([none, rest['input']]).toEqual([undefined, flat]);
  });

  it('has no choice where no tool is left', () => {
    const only = { input: 'Hi', tools: [{ type: 'tool_search' }], tool_choice: 'auto' };
    expect(sent(callOf(only))).toEqual({ model: 'grok-4.6', store: false, input: 'Hi' });
  });

  it('names the image model in its tool, which has another place', () => {
    const painter = { type: 'image_generation' };
    const bounds = [
      { path: ['max_tool_calls'], json: '3' },
      { path: ['tools', 1, 'model'], json: '"painter"' },
    ];
    const call = callOf({ input: 'Hi', tools: [{ type: 'tool_search' }, painter] }, { bounds });
    expect(sent(call)['tools']).toEqual([{ ...painter, model: 'painter' }]);
  });

  it('keeps its bytes where the vendor knows all of it', () => {
    const call = callOf({ input: [{ role: 'user', content: 'Hi' }], tools: [read] });
    const spaced = { ...call, bytes: Buffer.from(JSON.stringify(call.body, null, 1)) };
    expect(adapter.ask(spaced).body.toString('utf8')).toBe(
      spaced.bytes.toString('utf8').replace('"public"', '"grok-4.6"'),
    );
  });
});

const item = { type: 'function_call', status: 'completed' };
const vendors = [
  { ...item, id: 'fc_1', call_id: 'c', name: 'mcp__fs__read', arguments: '{"a":"é"}' },
  { ...item, id: 'fc_2', call_id: 'd', name: 'apply_patch', arguments: '{"input":"é\\n"}' },
  { ...item, id: 'fc_3', call_id: 'e', name: 'plain', arguments: '{}' },
];
const own = [
  { ...vendors[0], name: 'read', namespace: 'mcp__fs' },
  {
    type: 'custom_tool_call',
    status: 'completed',
    id: 'ctc_2',
    call_id: 'd',
    name: 'apply_patch',
    input: 'é\n',
  },
  vendors[2],
];
const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
const response = { id: 'r', status: 'completed', output: vendors, usage, tools: ['flat'] };
const told = { input: 'Hi', tools, tool_choice: 'auto' };
const clients = { id: 'resp_1', output: own, tools, tool_choice: 'auto' };

it('calls of a whole answer are those of the client’s tools', () => {
  const answer = adapter.read(
    Buffer.from(JSON.stringify(response)),
    'application/json',
    callOf(told),
  );
  if (isFault(answer)) throw new Error(answer.message);
  expect(JSON.parse(answer.body.toString('utf8'))).toMatchObject(clients);
});

/** The vendor's events of a stream, the arguments in pieces of `size`. */
function streamOf(size: number): string {
  const events: Record<string, unknown>[] = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
  ];
  vendors.forEach((one, output_index) => {
    const at = { item_id: one.id, output_index };
    const args = 'response.function_call_arguments';
    events.push({
      type: 'response.output_item.added',
      output_index,
      item: { ...one, status: 'in_progress', arguments: '' },
    });
    for (let i = 0; i < one.arguments.length; i += size)
      events.push({ type: `${args}.delta`, ...at, delta: one.arguments.slice(i, i + size) });
    events.push({ type: `${args}.done`, ...at, name: one.name, arguments: one.arguments });
    events.push({ type: 'response.output_item.done', output_index, item: one });
  });
  events.push({ type: 'response.completed', response });
  return events
    .map((event, sequence_number) => {
      const data = JSON.stringify({ ...event, sequence_number });
      return `event: ${String(event['type'])}\ndata: ${data}\n\n`;
    })
    .join('');
}

const dataOf = (events: string): Record<string, unknown>[] =>
  [
    ...Buffer.from(events, 'latin1')
      .toString('utf8')
      .matchAll(/^event: (.*)\ndata: (.*)$/gm),
  ].map(([, type, data = '']) => {
    const event = JSON.parse(data);
    expect(event.type).toBe(type);
    return event;
  });

describe.each([1, 7, 1_000])('calls of a stream in pieces of %s', (size) => {
  const call = callOf(told, { stream: true, streamUpstream: true });
  const stream = Buffer.from(streamOf(size));
  const translator = adapter.stream(call);
  const events = dataOf(translator.push(stream) + translator.end());

  it('are those of the client’s tools', () => {
    expect(translator.meter.fault).toBeUndefined();
    expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, i) => i));
    expect(events.at(-1)?.['response']).toMatchObject(clients);
    expect(events[0]?.['response']).toMatchObject({ tools });
    const items = events.filter(({ type }) => type === 'response.output_item.done');
    expect(items.map((event) => event['item'])).toEqual(own);
    const inputs = events.filter(({ type }) =>
      /^response.custom_tool_call_input/.test(String(type)),
    );
    expect(new Set(inputs.map((event) => event['item_id']))).toEqual(new Set(['ctc_2']));
    expect(inputs.flatMap((event) => event['delta'] || [])).toEqual(['é\n']);
    expect(inputs.at(-1)).toMatchObject({ input: 'é\n' });
    const named = events.filter(({ type }) => type === 'response.function_call_arguments.done');
    expect(named.map((event) => event['name'])).toEqual(['read', 'plain']);
  });

  it('are collected', () => {
    const collector = adapter.collect({ ...call, stream: false });
    collector.push(stream);
    expect(JSON.parse(collector.answer().body.toString('utf8'))).toMatchObject(clients);
  });

  it('are theirs where the money ends', () => {
    const cut = adapter.stream(call);
    const end = stream.indexOf('response.completed') - 'event: '.length;
    const before = cut.push(stream.subarray(0, end));
    const last = dataOf(before + cut.cutShort({ input: 1, output: 1 })).at(-1);
    expect(last).toMatchObject({ type: 'response.incomplete', response: { output: own, tools } });
  });
});
