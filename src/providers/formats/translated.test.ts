import { bufferOf } from '../../base/json.ts';
import { expect, test } from 'vitest';
import { Refusal } from '../../base/refusal.ts';
import { chatCall } from '../../../test/support/vendor-call.ts';
import type { Adapter, VendorRequest, VendorCall } from '../adapter.ts';
import { anthropicMessages } from './anthropic-messages/adapter.ts';
import { bedrockConverse } from './bedrock-converse/adapter.ts';
import { cohereChat } from './cohere/adapter.ts';
import { geminiChat } from './gemini/adapter.ts';

type Body = Readonly<Record<string, unknown>>;

const wires: readonly (readonly [string, Adapter, string])[] = [
  ['Claude', anthropicMessages(), 'claude-sonnet-4-5'],
  ['Converse', bedrockConverse, 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ['Gemini', geminiChat, 'gemini-2.5-flash'],
  ['Cohere', cohereChat, 'command-a-03-2025'],
];
const wire = (name: string): Adapter => wires.find(([one]) => one === name)?.[1] ?? geminiChat;

const asked = (
  adapter: Adapter,
  body: Body,
  model: string,
  over?: Partial<VendorCall>,
): VendorRequest => adapter.ask(chatCall({ ...body }, model, over));
const sent = (...of: Parameters<typeof asked>): Record<string, unknown> => {
  const { body, rest = [] } = asked(...of);
  const json: Record<string, unknown> = JSON.parse(
    Buffer.concat([bufferOf(body), ...rest.filter((one) => Buffer.isBuffer(one))]).toString('utf8'),
  );
  return json;
};

function refusalOf(adapter: Adapter, body: Body, model: string): unknown {
  try {
    asked(adapter, body, model);
  } catch (error) {
    if (error instanceof Refusal) return [error.refusal, error.param];
    throw error;
  }
  return 'accepted';
}

const search = { googleSearch: {} };
const run: readonly (readonly [string, Body, string])[] = [
  ['web_search_options', { web_search_options: {} }, 'web_search_options'],
  ['xAI’s search', { search_parameters: { mode: 'on' } }, 'search_parameters'],
  ['a tool of the vendor’s own', { tools: [{ type: 'web_search_preview' }] }, 'tools[0].type'],
  [
    'Bedrock’s guardrails',
    { guardrailConfig: { guardrailIdentifier: 'g', guardrailVersion: '1' } },
    'guardrailConfig',
  ],
  ['servers of tools', { mcp_servers: [{ url: 'https://example.com' }] }, 'mcp_servers'],
  ['several answers of one', { n: 2, logprobs: true }, 'n'],
  ['probabilities', { logprobs: true, top_logprobs: 2 }, 'logprobs'],
];
test.each(
  wires.flatMap(([name, adapter, model]) =>
    run.map(([what, body, param]) => [name, what, adapter, model, body, param] as const),
  ),
)(
  'T11, T12: %s is not asked for %s, and the refusal names it',
  (name, what, adapter, model, body, param) => {
    // Gemini gives several answers; Gemini and Cohere give log probabilities.
    const gives =
      name === 'Gemini'
        ? /^(?:probabilities|several)/.test(what)
        : name === 'Cohere' && what === 'probabilities';
    expect(refusalOf(adapter, body, model)).toEqual(
      gives ? 'accepted' : ['unsupported_parameter', param],
    );
  },
);

test('T11: a tool that Gemini runs itself is no function without a name', () => {
  expect(refusalOf(geminiChat, { tools: [search] }, 'gemini-2.5-flash')).toEqual([
    'unsupported_parameter',
    'tools[0].googleSearch',
  ]);
  expect(
    refusalOf(geminiChat, { tools: [{ type: 'function', function: {} }] }, 'gemini-2.5-flash'),
  ).toEqual(['unsupported_parameter', 'tools[0].function']);
});

test('T12: settings of safety reach Gemini, and no other model is asked in spite of them', () => {
  const safety_settings = [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }];
  for (const body of [
    { safety_settings },
    { safetySettings: safety_settings },
    { extra_body: { google: { safety_settings } } },
  ])
    expect(sent(geminiChat, body, 'gemini-2.5-flash')['safetySettings']).toEqual(safety_settings);
  expect(refusalOf(wire('Claude'), { safety_settings }, 'claude-sonnet-4-5')).toEqual([
    'unsupported_parameter',
    'safety_settings',
  ]);
});

test.each<[string, Body, string, unknown]>([
  [
    'a budget',
    { thinking: { type: 'enabled', budget_tokens: 10_000 } },
    'gemini-2.5-flash',
    { thinkingBudget: 10_000 },
  ],
  [
    'a budget beyond the greatest',
    { thinking: { type: 'enabled', budget_tokens: 99_000 } },
    'gemini-2.5-pro',
    { thinkingBudget: 32_768 },
  ],
  [
    'thinking that is off',
    { thinking: { type: 'disabled' } },
    'gemini-2.5-flash',
    { thinkingBudget: 0, includeThoughts: false },
  ],
  ['Qwen’s switch', { enable_thinking: false }, 'gemini-2.5-flash', { thinkingBudget: 0 }],
  [
    'reasoning that is off',
    { reasoning: { enabled: false } },
    'gemini-2.5-flash',
    { thinkingBudget: 0 },
  ],
  [
    'OpenRouter’s effort',
    { reasoning: { effort: 'low' } },
    'gemini-3-flash-preview',
    { thinkingLevel: 'LOW' },
  ],
  [
    'OpenRouter’s budget',
    { reasoning: { max_tokens: 20_000 } },
    'gemini-3-flash-preview',
    { thinkingLevel: 'HIGH' },
  ],
])('T12: Gemini honours %s, said by an object', (_, body, model, config) => {
  expect(sent(geminiChat, body, model)['generationConfig']).toMatchObject({
    thinkingConfig: config,
  });
});

test('T12: what leaves the answer as asked for is left out by name, and what the vendor takes is not', () => {
  const body = {
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    verbosity: 'low',
    store: true,
    temperature: 0.5,
    seed: 7,
    n: 1,
    logprobs: false,
  };
  const everywhere = ['metadata', 'prompt_cache_key', 'verbosity', 'store'];
  const dropped = wires.map(([, adapter, model]) => asked(adapter, body, model).dropped);
  expect(dropped).toEqual([
    [...everywhere, 'seed'],
    [...everywhere, 'seed'],
    everywhere,
    everywhere,
  ]);
  // OpenAI's Agents SDK and Codex send `store: false` with each request: nothing is lost.
  for (const [, adapter, model] of wires)
    expect(asked(adapter, { temperature: 0.5, store: false }, model).dropped).toBeUndefined();
});

test('T12: sampling and thinking that a model does not take are left out by name', () => {
  const claude = wire('Claude');
  expect(asked(claude, { temperature: 0.2, top_p: 0.5 }, 'claude-sonnet-4-5').dropped).toEqual([
    'top_p',
  ]);
  expect(asked(claude, { temperature: 0.2 }, 'claude-opus-4-7').dropped).toEqual(['temperature']);
  expect(asked(claude, { temperature: 1 }, 'claude-opus-4-7').dropped).toBeUndefined();
  expect(asked(claude, { reasoning_effort: 'high' }, 'claude-3-5-haiku-latest').dropped).toEqual([
    'reasoning_effort',
  ]);
  expect(
    asked(claude, { reasoning_effort: 'none' }, 'claude-3-5-haiku-latest').dropped,
  ).toBeUndefined();
  expect(
    asked(geminiChat, { reasoning_effort: 'low', presence_penalty: 1 }, 'gemini-2.0-flash-001')
      .dropped,
  ).toEqual(['reasoning_effort']);
  expect(asked(geminiChat, { presence_penalty: 1 }, 'gemini-3-flash-preview').dropped).toEqual([
    'presence_penalty',
  ]);
  expect(
    asked(bedrockConverse, { top_k: 5 }, 'meta.llama4-maverick-17b-instruct-v1:0').dropped,
  ).toEqual(['top_k']);
  expect(asked(bedrockConverse, { top_k: 5 }, 'us.amazon.nova-pro-v1:0').dropped).toBeUndefined();
  expect(
    asked(wire('Cohere'), { reasoning: { effort: 'high' } }, 'command-a-03-2025').dropped,
  ).toEqual(['reasoning']);
});

const fn = {
  type: 'function',
  function: { name: 'f', parameters: { type: 'object', properties: {} } },
};
const other = {
  type: 'function',
  function: { name: 'g', parameters: { type: 'object', properties: {} } },
};
const forced = { type: 'function', function: { name: 'f' } };
const calling = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'c1', ...fn, function: { name: 'f', arguments: '{}' } }],
};
const result = { role: 'tool', tool_call_id: 'c1', content: '1' };
const hello = { role: 'user', content: 'Hi' };

test.each<[string, Body]>([
  ['forces a call', { tools: [fn], tool_choice: forced, max_tokens: 5000 }],
  ['has no room for it', { max_tokens: 500 }],
  [
    'has calls without the thoughts before them',
    { tools: [fn], messages: [hello, calling, result], max_tokens: 5000 },
  ],
])(
  'T13: an effort that Claude is not told, because the request %s, is left out by name',
  (_, body) => {
    for (const [, adapter, model] of wires.slice(0, 2)) {
      expect(asked(adapter, { ...body, reasoning_effort: 'low' }, model).dropped).toEqual([
        'reasoning_effort',
      ]);
      expect(asked(adapter, { ...body, reasoning: { effort: 'low' } }, model).dropped).toEqual([
        'reasoning',
      ]);
      expect(asked(adapter, { ...body, reasoning_effort: 'none' }, model).dropped).toBeUndefined();
    }
  },
);

test('T13: thoughts and notes of earlier answers that do not go on are left out by name, and those that do are not', () => {
  const detail = { type: 'reasoning.text', text: 'Hm.', index: 0 };
  const droppedOf = (name: string, members: Body, call: Body = {}): readonly string[] => {
    const [, adapter, model] = wires.find(([one]) => one === name) ?? ['', geminiChat, ''];
    const told = { ...calling, ...members, tool_calls: [{ ...calling.tool_calls[0], ...call }] };
    return asked(adapter, { tools: [fn], messages: [hello, told, result] }, model).dropped ?? [];
  };
  for (const [name] of wires) {
    expect([name, droppedOf(name, { reasoning_details: [detail] })]).toEqual([
      name,
      ['messages[].reasoning_details'],
    ]);
    expect([name, droppedOf(name, { annotations: [{}], refusal: null, audio: null })]).toEqual([
      name,
      ['messages[].annotations'],
    ]);
    expect([name, droppedOf(name, { content: [{ type: 'thinking', thinking: 'Hm.' }] })]).toEqual([
      name,
      ['messages[].content[].thinking'],
    ]);
    const thought = droppedOf(name, { reasoning: 'Hm.' });
    expect([name, thought]).toEqual([name, name === 'Cohere' ? [] : ['messages[].reasoning']]);
  }
  const signed = {
    reasoning_content: 'Hm.',
    reasoning_details: [{ ...detail, signature: 's', format: 'anthropic-claude-v1' }],
  };
  const both = ['messages[].reasoning_content', 'messages[].reasoning_details'];
  expect(wires.map(([name]) => droppedOf(name, signed))).toEqual([[], [], both, []]);
  const extra_content = { google: { thought_signature: 's' } };
  const extra = ['messages[].tool_calls[].extra_content'];
  expect(wires.map(([name]) => droppedOf(name, {}, { extra_content }))).toEqual([
    extra,
    extra,
    [],
    extra,
  ]);
});

test('T13: one call at a time is asked for in words where there is no member for it, and the member is named', () => {
  const words = 'Call at most one tool in your next answer.';
  const asks = (adapter: Adapter, model: string, body: Body): unknown => {
    const all = { tools: [fn], parallel_tool_calls: false, ...body };
    return [
      asked(adapter, all, model).dropped,
      JSON.stringify(sent(adapter, all, model)).includes(words),
    ];
  };
  const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
  const named = [['parallel_tool_calls'], true];
  expect(asks(wire('Claude'), 'claude-sonnet-4-5', {})).toEqual([undefined, false]);
  expect(asks(bedrockConverse, claude, {})).toEqual([undefined, false]);
  // Converse has no parameter for one call at a time beside a forced call. If the only forced tool
  // is named, no other can be called.
  expect(asks(bedrockConverse, claude, { tools: [fn, other], tool_choice: 'required' })).toEqual(
    named,
  );
  const alone = [['parallel_tool_calls'], false];
  expect(asks(bedrockConverse, claude, { tool_choice: forced })).toEqual(alone);
  expect(asks(geminiChat, 'gemini-2.5-flash', { tool_choice: forced })).toEqual(alone);
  for (const tool_choice of ['required', 'any'])
    expect(asks(geminiChat, 'gemini-2.5-flash', { tool_choice })).toEqual(alone);
  expect(asks(bedrockConverse, 'us.amazon.nova-pro-v1:0', {})).toEqual(named);
  expect(asks(geminiChat, 'gemini-2.5-flash', {})).toEqual(named);
  expect(asks(wire('Cohere'), 'command-a-03-2025', {})).toEqual(named);
  for (const [, adapter, model] of wires)
    expect(asks(adapter, model, { parallel_tool_calls: true })).toEqual([undefined, false]);
});

test('T13: what Anthropic’s format says beside chat reaches those that read it', () => {
  const beside = {
    topK: 7,
    budget: 10_000,
    betas: ['interleaved-thinking-2025-05-14', 'context-1m-2025-08-07'],
  };
  const effort = { reasoning_effort: 'medium', max_tokens: 20_000 };
  const gemini = sent(geminiChat, effort, 'gemini-2.5-flash', { messagesOptions: beside });
  expect(gemini['generationConfig']).toMatchObject({
    topK: 7,
    thinkingConfig: { thinkingBudget: 10_000 },
  });
  const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
  expect(
    sent(bedrockConverse, effort, claude, { messagesOptions: beside })[
      'additionalModelRequestFields'
    ],
  ).toEqual({
    thinking: { type: 'enabled', budget_tokens: 10_000 },
    anthropic_beta: ['interleaved-thinking-2025-05-14'],
  });
  // Sampling is refused beside thinking; a beta with a price of its own is not sold.
  expect(asked(bedrockConverse, effort, claude, { messagesOptions: beside }).dropped).toEqual([
    'top_k',
    'anthropic-beta',
  ]);
  expect(
    sent(bedrockConverse, {}, claude, { messagesOptions: { topK: 7 } })[
      'additionalModelRequestFields'
    ],
  ).toEqual({ top_k: 7 });
  expect(
    sent(bedrockConverse, { reasoning_effort: 'max' }, 'us.anthropic.claude-opus-4-6-v1')[
      'outputConfig'
    ],
  ).toEqual({ effort: 'max' });
});

test('T15: a conversation without a word asks for one', () => {
  const messages = [{ role: 'user', content: '' }];
  const words = JSON.stringify('…');
  for (const [name, adapter, model] of wires) {
    const text = JSON.stringify(sent(adapter, { messages }, model));
    expect([name, text.includes(words) || text.includes('{"text":" "}')]).toEqual([name, true]);
  }
});

const claudeSse = (...texts: readonly string[]): string =>
  [
    { type: 'message_start', message: { id: 'm', usage: { input_tokens: 3, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    ...texts.map((text) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'text_delta', text },
    })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'content_block_start',
      index: 1,
      content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
    },
    { type: 'content_block_stop', index: 1 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ]
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');

const choiceOf = (adapter: Adapter, reply: string, type: string, call: VendorCall): unknown => {
  const answer = adapter.read(Buffer.from(reply), type, call);
  if (!('body' in answer)) throw new Error(answer.message);
  return JSON.parse(answer.body.toString('utf8')).choices[0];
};

test('T5: the gateway watches for stop texts of white space, which Claude refuses to be told of', () => {
  const claude = wire('Claude');
  const body = {
    stop: ['\n', 'END'],
    tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
  };
  const call = chatCall(body, 'claude-sonnet-4-5');
  expect(sent(claude, body, 'claude-sonnet-4-5')['stop_sequences']).toEqual(['END']);
  const stopped = {
    index: 0,
    message: { role: 'assistant', content: 'One' },
    finish_reason: 'stop',
  };
  expect(choiceOf(claude, claudeSse('On', 'e\nTwo'), 'text/event-stream', call)).toEqual(stopped);
  const content = [
    { type: 'text', text: 'One\nTwo' },
    { type: 'tool_use', id: 't', name: 'f', input: {} },
  ];
  const whole = {
    id: 'm',
    content,
    stop_reason: 'tool_use',
    usage: { input_tokens: 3, output_tokens: 5 },
  };
  expect(choiceOf(claude, JSON.stringify(whole), 'application/json', call)).toMatchObject(stopped);
  // Without one, the whole answer is sent.
  expect(choiceOf(claude, claudeSse('On', 'e'), 'text/event-stream', call)).toMatchObject({
    message: { content: 'One', tool_calls: [{ id: 't' }] },
    finish_reason: 'tool_calls',
  });
});

test('T5: the gateway watches for the stop texts beyond the five that Gemini and Cohere take', () => {
  const stop = ['1', '2', '3', '4', '5', 'six'];
  expect(sent(geminiChat, { stop }, 'gemini-2.5-flash')['generationConfig']).toMatchObject({
    stopSequences: stop.slice(0, 5),
  });
  expect(sent(wire('Cohere'), { stop }, 'command-a-03-2025')['stop_sequences']).toEqual(
    stop.slice(0, 5),
  );
  const gemini = {
    candidates: [{ content: { parts: [{ text: 'at six' }] }, finishReason: 'MAX_TOKENS' }],
  };
  const cohere = {
    message: { content: [{ type: 'text', text: 'at six' }] },
    finish_reason: 'MAX_TOKENS',
  };
  for (const [adapter, model, reply] of [
    [geminiChat, 'gemini-2.5-flash', gemini],
    [wire('Cohere'), 'command-a-03-2025', cohere],
  ] as const)
    expect(
      choiceOf(adapter, JSON.stringify(reply), 'application/json', chatCall({ stop }, model)),
    ).toMatchObject({
      message: { content: 'at ' },
      finish_reason: 'stop',
    });
});
