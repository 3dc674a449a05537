import { bufferOf } from '../../base/json.ts';
import { expect, test } from 'vitest';
import type { VendorRequest, VendorCall } from '../adapter.ts';
import { isFault } from '../formats/fault.ts';
import { adapterOf } from '../../../test/support/asks.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

type Body = Readonly<Record<string, unknown>>;
type Format = 'chat' | 'messages' | 'responses';

function callFor(
  format: Format,
  body: Body,
  upstreamModel: string,
  over: Partial<VendorCall> = {},
): VendorCall {
  const said = [{ role: 'user', content: 'Hello' }];
  const whole = {
    model: 'm',
    ...(format === 'responses' ? { input: said } : { max_tokens: 20_000, messages: said }),
    ...body,
  };
  const ids = { chat: 'chatcmpl-1', messages: 'msg_1', responses: 'resp_1' };
  return vendorCall(whole, {
    publicModel: 'm',
    upstreamModel,
    includeUsage: true,
    answerId: ids[format],
    ...over,
  });
}

const asked = (
  vendor: string,
  model: string,
  format: Format,
  body: Body,
  over?: Partial<VendorCall>,
): VendorRequest => adapterOf(vendor, format).ask(callFor(format, body, model, over));

function sent(...of: Parameters<typeof asked>): Body {
  const { body, rest = [] } = asked(...of);
  const tree: Body = JSON.parse(
    Buffer.concat([bufferOf(body), ...rest.filter((one) => Buffer.isBuffer(one))]).toString('utf8'),
  );
  return tree;
}

function answered(vendor: string, model: string, format: Format, reply: unknown): Body {
  const call = callFor(format, {}, model);
  const answer = adapterOf(vendor, format).read(
    Buffer.from(JSON.stringify(reply)),
    'application/json',
    call,
  );
  if (isFault(answer)) throw new Error(answer.message);
  const tree: Body = JSON.parse(answer.body.toString('utf8'));
  return tree;
}

const at = (value: unknown, ...path: readonly (string | number)[]): unknown =>
  path.reduce<unknown>(
    (inside, name) => (inside === undefined || inside === null ? undefined : Object(inside)[name]),
    value,
  );
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

const bedrockClaude = 'us.anthropic.claude-opus-4-6-v1';
const disabled = { thinking: { type: 'disabled' } };

test('T1: thoughts that nobody signed, and Claude’s signed ones, do not reach a vendor that refuses them', () => {
  const thoughts = [
    { type: 'thinking', thinking: 'Hm.', signature: '' },
    { type: 'thinking', thinking: 'Well.', signature: 'sig' },
  ];
  const messages = [
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: [...thoughts, { type: 'text', text: 'Hi' }] },
    { role: 'user', content: 'Bye' },
  ];
  for (const [vendor, model] of [
    ['groq', 'llama-3.3-70b-versatile'],
    ['cerebras', 'llama-3.3-70b'],
    ['mistral', 'mistral-large-latest'],
    ['openai', 'gpt-4o'],
  ] as const)
    expect(at(sent(vendor, model, 'messages', { messages }), 'messages', 1)).toEqual({
      role: 'assistant',
      content: 'Hi',
    });
  expect(
    at(sent('bedrock', bedrockClaude, 'messages', { messages }), 'messages', 1, 'content'),
  ).toEqual([
    { reasoningContent: { reasoningText: { text: 'Well.', signature: 'sig' } } },
    { text: 'Hi' },
  ]);
  const native = at(
    sent('anthropic', 'claude-opus-4-6', 'messages', { messages }),
    'messages',
    1,
    'content',
  );
  expect(native).toEqual([thoughts[1], { type: 'text', text: 'Hi' }]);
});

test('T5: of a Messages client’s stop sequences a vendor is told as many as it takes, and none where it takes none', () => {
  const stop_sequences = ['a', 'b', 'c', 'd', 'e'];
  expect(at(sent('openai', 'gpt-4o', 'messages', { stop_sequences }), 'stop')).toEqual([
    'a',
    'b',
    'c',
    'd',
  ]);
  expect(sent('openai', 'gpt-5', 'messages', { stop_sequences })).not.toHaveProperty('stop');
});

test('T12: what Messages and Responses say beside chat is left out by name', () => {
  const clientHeaders = {
    'anthropic-beta': 'interleaved-thinking-2025-05-14, claude-code-20250219',
  };
  const body = {
    metadata: { user_id: 'u' },
    context_management: { edits: [] },
    top_k: 5,
    thinking: { type: 'enabled', budget_tokens: 9_000 },
  };
  const dropped = (vendor: string, model: string): unknown =>
    asked(vendor, model, 'messages', body, { clientHeaders }).dropped;
  expect(dropped('openai', 'gpt-4o')).toEqual(
    expect.arrayContaining(['metadata', 'context_management', 'top_k', 'anthropic-beta']),
  );
  expect(dropped('gemini', 'gemini-2.5-flash')).toEqual([
    'metadata',
    'context_management',
    'anthropic-beta',
  ]);
  expect(dropped('bedrock', bedrockClaude)).toEqual([
    'metadata',
    'context_management',
    'top_k',
    'anthropic-beta',
  ]);
  expect(
    at(
      sent('bedrock', bedrockClaude, 'messages', body, { clientHeaders }),
      'additionalModelRequestFields',
      'anthropic_beta',
    ),
  ).toEqual(['interleaved-thinking-2025-05-14']);
  const responses = {
    client_metadata: { a: 'b' },
    max_tool_calls: 3,
    truncation: 'auto',
    store: false,
  };
  expect(asked('gemini', 'gemini-2.5-flash', 'responses', responses).dropped).toEqual([
    'client_metadata',
    'max_tool_calls',
    'truncation',
  ]);
});

test('T13: a Messages client that turns thinking off turns it off everywhere', () => {
  expect(
    at(
      sent('gemini', 'gemini-2.5-flash', 'messages', disabled),
      'generationConfig',
      'thinkingConfig',
    ),
  ).toEqual({
    thinkingBudget: 0,
    includeThoughts: false,
  });
  expect(at(sent('openai', 'gpt-5', 'messages', disabled), 'reasoning_effort')).toBe('minimal');
  expect(at(sent('openai', 'gpt-5.5', 'messages', disabled), 'reasoning_effort')).toBe('none');
  expect(at(sent('deepseek', 'deepseek-v4-pro', 'messages', disabled), 'thinking')).toEqual({
    type: 'disabled',
  });
  const gpt4 = asked('openai', 'gpt-4o', 'messages', disabled);
  expect([JSON.parse(gpt4.body.toString('utf8')).reasoning_effort, gpt4.dropped]).toEqual([
    undefined,
    undefined,
  ]);
});

test('a mark of the cache in /v1/responses reaches those who read one', () => {
  const part = { type: 'input_text', text: 'a' };
  const input = [{ role: 'user', content: [{ ...part, prompt_cache_breakpoint: {} }, part] }];
  const marked = { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } };
  const plain = { type: 'text', text: 'a' };
  const content = (vendor: string, model: string): unknown =>
    at(sent(vendor, model, 'responses', { input }), 'messages', 0, 'content');
  expect(content('anthropic', 'claude-opus-4-8')).toEqual([marked, plain]);
  expect(content('vertex', 'claude-opus-4-8')).toEqual([marked, plain]);
  expect(content('openrouter', 'anthropic/claude-opus-4.8')).toEqual([marked, plain]);
  expect(content('bedrock', bedrockClaude)).toEqual([
    { text: 'a' },
    { cachePoint: { type: 'default' } },
    { text: 'a' },
  ]);
  expect(content('deepseek', 'deepseek-chat')).toEqual([plain, plain]);
});

test('T13: budgets, efforts and top_k reach those that read them as they were said', () => {
  const budget = { thinking: { type: 'enabled', budget_tokens: 10_000 } };
  const claude45 = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
  expect(
    at(
      sent('bedrock', claude45, 'messages', budget),
      'additionalModelRequestFields',
      'thinking',
      'budget_tokens',
    ),
  ).toBe(10_000);
  expect(
    at(
      sent('gemini', 'gemini-2.5-flash', 'messages', budget),
      'generationConfig',
      'thinkingConfig',
      'thinkingBudget',
    ),
  ).toBe(10_000);
  const most = { output_config: { effort: 'max' } };
  expect(at(sent('bedrock', bedrockClaude, 'messages', most), 'outputConfig')).toEqual({
    effort: 'max',
  });
  const adaptive = { thinking: { type: 'adaptive' } };
  expect(at(sent('bedrock', bedrockClaude, 'messages', adaptive), 'outputConfig')).toBeUndefined();
  expect(
    at(sent('bedrock', bedrockClaude, 'messages', { ...most, ...adaptive }), 'outputConfig'),
  ).toEqual({ effort: 'max' });
  expect(at(sent('openai', 'gpt-5.6', 'messages', adaptive), 'reasoning_effort')).toBe('medium');
  expect(at(sent('openai', 'gpt-5.6', 'messages', most), 'reasoning_effort')).toBe('max');
  expect(at(sent('openai', 'gpt-5', 'messages', most), 'reasoning_effort')).toBe('high');
  expect(
    at(sent('gemini', 'gemini-2.5-flash', 'messages', { top_k: 7 }), 'generationConfig', 'topK'),
  ).toBe(7);
  expect(
    at(sent('bedrock', claude45, 'messages', { top_k: 7 }), 'additionalModelRequestFields'),
  ).toEqual({ top_k: 7 });
});

const thinking = (name: string) => ({ type: 'thinking', thinking: name, signature: `sig-${name}` });
const converseThinking = (name: string) => ({
  reasoningContent: { reasoningText: { text: name, signature: `sig-${name}` } },
});
const toolUse = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
const converseUse = (toolUseId: string) => ({ toolUse: { toolUseId, name: 'f', input: {} } });
const results = {
  role: 'user',
  content: ['x', 'y'].map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' })),
};
const tools = [{ name: 'f', input_schema: { type: 'object', properties: {} } }];

test('T14: thoughts between words and between calls come back where they stood', () => {
  const content = [
    { type: 'text', text: 'Ünd 🌊' },
    thinking('one'),
    { type: 'text', text: 'then' },
    toolUse('x'),
    thinking('two'),
    toolUse('y'),
  ];
  const messages = [{ role: 'user', content: 'Go' }, { role: 'assistant', content }, results];
  expect(
    at(sent('bedrock', bedrockClaude, 'messages', { messages, tools }), 'messages', 1, 'content'),
  ).toEqual([
    { text: 'Ünd 🌊' },
    converseThinking('one'),
    { text: 'then' },
    converseUse('x'),
    converseThinking('two'),
    converseUse('y'),
  ]);
});

const interleaved = {
  output: {
    message: {
      role: 'assistant',
      content: [{ text: 'Ünd 🌊' }, converseThinking('one'), { text: 'then' }, converseUse('x')],
    },
  },
  stopReason: 'tool_use',
  usage: { inputTokens: 3, outputTokens: 2 },
};

test('T14: an answer of thoughts between words goes to each client and back in its order', () => {
  const back = [{ text: 'Ünd 🌊' }, converseThinking('one'), { text: 'then' }, converseUse('x')];
  const chat = at(answered('bedrock', bedrockClaude, 'chat', interleaved), 'choices', 0, 'message');
  const tool = { role: 'tool', tool_call_id: 'x', content: 'ok' };
  const first = { role: 'user', content: 'Go' };
  const chatTools = [{ type: 'function', function: { name: 'f', parameters: {} } }];
  const again = sent('bedrock', bedrockClaude, 'chat', {
    messages: [first, chat, tool],
    tools: chatTools,
  });
  expect(at(again, 'messages', 1, 'content')).toEqual(back);

  const { content } = answered('bedrock', bedrockClaude, 'messages', interleaved);
  expect(content).toEqual([
    { type: 'text', text: 'Ünd 🌊' },
    thinking('one'),
    { type: 'text', text: 'then' },
    { ...toolUse('x'), caller: { type: 'direct' } },
  ]);

  const output = list(answered('bedrock', bedrockClaude, 'responses', interleaved)['output']);
  expect(output.map((item) => at(item, 'type'))).toEqual([
    'message',
    'reasoning',
    'message',
    'function_call',
  ]);
  const input = [first, ...output, { type: 'function_call_output', call_id: 'x', output: 'ok' }];
  const responses = sent('bedrock', bedrockClaude, 'responses', {
    input,
    tools: [{ type: 'function', name: 'f', parameters: {} }],
  });
  expect(at(responses, 'messages', 1, 'content')).toEqual(back);
});

test('T15: a conversation in which another vendor searched the web goes on without the search, and says so', () => {
  const input = [
    { role: 'user', content: 'Why?' },
    {
      type: 'web_search_call',
      id: 'ws_1',
      status: 'completed',
      action: { type: 'search', query: 'sky' },
    },
    {
      type: 'message',
      role: 'assistant',
      phase: 'final_answer',
      content: [{ type: 'output_text', text: 'Blue.', annotations: [] }],
    },
    { role: 'user', content: 'Sure?' },
  ];
  const ask = asked('gemini', 'gemini-2.5-flash', 'responses', { input });
  expect(ask.dropped).toEqual(['input[].web_search_call', 'input[].phase']);
  expect(JSON.parse(ask.body.toString('utf8')).contents).toHaveLength(3);
  const messages = [
    { role: 'user', content: 'Why?' },
    {
      role: 'assistant',
      content: [
        { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
        { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
        { type: 'text', text: 'Blue.' },
      ],
    },
    { role: 'user', content: 'Sure?' },
  ];
  expect(asked('gemini', 'gemini-2.5-flash', 'messages', { messages }).dropped).toEqual([
    'messages[].content[].server_tool_use',
    'messages[].content[].web_search_tool_result',
  ]);
});

const said = (text: string, phase: string) => ({
  type: 'message',
  role: 'assistant',
  phase,
  content: [{ type: 'output_text', text }],
});
const call = { type: 'function_call', call_id: 'x', name: 'f', arguments: '{}' };
const gpt = { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] };

test('T18: the phase of what a model said goes to a client of chat and back to /responses', () => {
  const output = [said('Lööking 🌊', 'commentary'), said('Found.', 'final_answer'), call];
  const reply = {
    id: 'r',
    status: 'completed',
    output,
    usage: { input_tokens: 3, output_tokens: 2 },
  };
  const openai = adapterOf('openai', 'chat');
  const asking = callFor('chat', gpt, 'gpt-5.5');
  const whole = openai.read(Buffer.from(JSON.stringify(reply)), 'application/json', asking);
  if (isFault(whole)) throw new Error(whole.message);
  const { message } = JSON.parse(whole.body.toString('utf8')).choices[0];
  expect(message).toMatchObject({
    content: 'Lööking 🌊Found.',
    phase: 'commentary',
    phases: [{ phase: 'final_answer', at: 9 }],
  });

  const events = [
    { type: 'response.created', response: { id: 'r' } },
    ...output.slice(0, 2).flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, content: [] } },
      {
        type: 'response.output_text.delta',
        output_index,
        delta: output_index === 0 ? 'Lööking 🌊' : 'Found.',
      },
    ]),
    { type: 'response.output_item.done', output_index: 2, item: call },
    { type: 'response.completed', response: reply },
  ];
  const collector = openai.collect(asking);
  for (const event of events)
    collector.push(Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`));
  expect(JSON.parse(collector.answer().body.toString('utf8')).choices[0].message).toMatchObject({
    phase: 'commentary',
    phases: [{ phase: 'final_answer', at: 9 }],
  });

  const messages = [
    { role: 'user', content: 'Go' },
    message,
    { role: 'tool', tool_call_id: 'x', content: 'ok' },
  ];
  const { input } = sent('openai', 'gpt-5.5', 'chat', { ...gpt, messages });
  expect(list(input).slice(1, 4)).toEqual(output);
});

test('tools whose schema Claude was taught are told to other models, and a search among tools leaves all of them there', () => {
  const schema = { type: 'object', properties: {} };
  const messagesTools = [
    { type: 'tool_search_tool_bm25_20251119', name: 'tool_search_tool_bm25' },
    { name: 'f', input_schema: schema, defer_loading: true },
    { type: 'bash_20250124', name: 'bash' },
    { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' },
    { type: 'memory_20250818', name: 'memory' },
  ];
  const ask = asked('openai', 'gpt-4o', 'messages', { tools: messagesTools });
  const told: Body = JSON.parse(ask.body.toString('utf8'));
  expect(ask.dropped).toEqual(['tools[].tool_search_tool_bm25_20251119']);
  expect(list(told['tools']).map((one) => at(one, 'function', 'name'))).toEqual([
    'f',
    'bash',
    'str_replace_based_edit_tool',
    'memory',
  ]);
  expect(at(told, 'tools', 1, 'function', 'parameters', 'properties')).toHaveProperty('restart');

  const late = { type: 'function', name: 'late', parameters: schema };
  const input = [
    { role: 'user', content: 'Hello' },
    { type: 'tool_search_call', call_id: 's', arguments: {} },
    { type: 'tool_search_output', call_id: 's', tools: [late] },
    { type: 'additional_tools', role: 'developer', tools: [late, { ...late, name: 'later' }] },
  ];
  const responses = asked('gemini', 'gemini-2.5-flash', 'responses', {
    input,
    tools: [{ type: 'tool_search' }, { ...late, name: 'now' }],
  });
  expect(responses.dropped).toEqual(['tools[].tool_search', 'input[].tool_search_call']);
  const functions = at(
    JSON.parse(responses.body.toString('utf8')),
    'tools',
    0,
    'functionDeclarations',
  );
  expect(list(functions).map((one) => at(one, 'name'))).toEqual(['now', 'late', 'later']);
});

test('T10: a wish for sources that the vendor does not tell is named', () => {
  const document = {
    type: 'document',
    source: { type: 'text', media_type: 'text/plain', data: 'Blue.' },
    citations: { enabled: true },
  };
  const messages = [{ role: 'user', content: [document, { type: 'text', text: 'Why?' }] }];
  expect(asked('openai', 'gpt-4o', 'messages', { messages }).dropped).toEqual([
    'messages[].content[].citations',
  ]);
});

test('sealed reasoning goes to the vendor that sealed it alone, and is named where it is left out', () => {
  const thought = (encrypted_content: unknown) => ({
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    encrypted_content,
  });
  const hello = { type: 'message', role: 'user', content: 'Hello' };
  const [openai, xai, none] = [thought('gAAAAABp'), thought('m/Nx6J+'), thought('')];
  const input = [hello, openai, xai, none, hello];
  for (const [vendor, model, own] of [
    ['openai', 'gpt-5.6-terra', openai],
    ['azure', 'gpt-5', openai],
    ['xai', 'grok-4.5', xai],
  ] as const) {
    expect(sent(vendor, model, 'responses', { input })['input']).toEqual([hello, own, hello]);
    expect(asked(vendor, model, 'responses', { input }).dropped).toEqual([
      'input[].encrypted_content',
    ]);
    expect(asked(vendor, model, 'responses', { input: [hello, own] }).dropped).toBeUndefined();
  }
  expect(asked('openai', 'gpt-5', 'responses', { input: [hello, none] }).dropped).toBeUndefined();
  // Of a server of OpenAI's models, such as Bedrock's, in a channel of the vendor `openai`.
  const others = [hello, thought('rsn_5ZVr'), hello];
  expect(sent('openai', 'gpt-5.6-terra', 'responses', { input: others })['input']).toEqual(others);
});
