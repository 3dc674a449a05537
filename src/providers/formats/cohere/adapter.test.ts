import { describe, expect, test } from 'vitest';
import type { VendorCall } from '../../adapter.ts';
import { cohereChat } from './adapter.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const callOf = (
  body: Record<string, unknown>,
  upstreamModel = 'command-a-03-2025',
  over: Partial<VendorCall> = {},
): VendorCall =>
  vendorCall(
    { messages: [{ role: 'user', content: 'Hi' }], ...body },
    { publicModel: 'public/model', upstreamModel, includeUsage: true, ...over },
  );

const sent = (body: Record<string, unknown>, model?: string, over?: Partial<VendorCall>) =>
  JSON.parse(cohereChat.ask(callOf(body, model, over)).body.toString());
const said = (messages: unknown[], model?: string) => sent({ messages }, model).messages;
const user = { role: 'user', content: 'Hi' };
const toolOf = (name: string) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} } },
});
const caller = {
  role: 'assistant',
  content: null,
  reasoning_content: 'I will look.',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'a', arguments: '{"n":1}' } }],
};

describe('messages', () => {
  test('keep their roles; instructions are taken wherever they stand', () => {
    expect(
      said([
        { role: 'developer', content: 'Be brief.' },
        user,
        { role: 'system', content: 'In French.' },
        { role: 'user', content: 'Now' },
      ]),
    ).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'In French.' },
      { role: 'user', content: 'Now' },
    ]);
  });

  test('what was thought of calls is their plan, or a thought of models that think', () => {
    const result = { role: 'tool', tool_call_id: 'call_1', content: 'sun' };
    const tool_calls = [
      { id: 'call_1', type: 'function', function: { name: 'a', arguments: '{"n":1}' } },
    ];
    expect(said([user, caller, result]).slice(1)).toEqual([
      { role: 'assistant', tool_calls, tool_plan: 'I will look.' },
      result,
    ]);
    expect(said([user, caller, result], 'command-a-reasoning-08-2025')[1]).toEqual({
      role: 'assistant',
      content: [{ type: 'thinking', thinking: 'I will look.' }],
      tool_calls,
    });
  });

  test('a result without a text says so', () => {
    const result = { role: 'tool', tool_call_id: 'call_1', content: '' };
    expect(said([user, caller, result]).at(-1)).toEqual({ ...result, content: '(empty)' });
  });

  test('a conversation ends with what is to be answered', () => {
    expect(said([user, { role: 'assistant', content: 'Sure:' }]).at(-1)).toEqual({
      role: 'user',
      content: 'Continue.',
    });
  });

  test('images go along, anything else is refused by its place', () => {
    const content = [
      { type: 'text', text: 'What?' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ];
    expect(said([{ role: 'user', content }])[0].content).toEqual(content);
    const file = { type: 'file', file: { file_data: 'data:application/pdf;base64,AAAA' } };
    expect(() => said([{ role: 'user', content: [file] }])).toThrow(
      expect.objectContaining({ param: 'messages[0].content[0]' }),
    );
  });
});

describe('tools', () => {
  const choose = (tool_choice: unknown) => {
    const { tools, tool_choice: choice } = sent({ tools: [toolOf('a'), toolOf('b')], tool_choice });
    return [
      tools.map((tool: { function: { name: string } }) => tool.function.name).join(''),
      choice,
    ];
  };

  test.each([
    ['auto', ['ab', undefined]],
    ['required', ['ab', 'REQUIRED']],
    ['none', ['ab', 'NONE']],
    [{ type: 'function', function: { name: 'b' } }, ['b', 'REQUIRED']],
    [
      { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [toolOf('a')] } },
      ['a', undefined],
    ],
  ])('%o: a tool that is wanted by name is the only one', (choice, expected) =>
    expect(choose(choice)).toEqual(expected),
  );

  test('a choice among no tools is not sent', () =>
    expect(sent({ tool_choice: 'required' })).not.toHaveProperty('tool_choice'));
});

test('a schema that the vendor does not take is told in words beside its JSON', () => {
  const optional = { type: 'object', properties: { n: { type: 'number' } } };
  const nested = {
    type: 'object',
    properties: { a: { type: 'array', items: optional } },
    required: ['a'],
  };
  for (const schema of [
    optional,
    nested,
    { type: 'array', items: {} },
    { type: 'object', required: ['a'], allOf: [optional] },
  ]) {
    const { response_format, messages } = sent({
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
    });
    expect(response_format).toEqual({ type: 'json_object' });
    expect(messages[0]).toMatchObject({
      role: 'system',
      content: expect.stringContaining(JSON.stringify(schema)),
    });
  }
});

test('a tool that is wanted is found where clients name it, and one that nobody has is refused', () => {
  const fn = (name: string): object => ({
    type: 'function',
    function: { name, parameters: { additionalProperties: false } },
  });
  const asked = sent({ tools: [fn('a'), fn('b')], tool_choice: { type: 'tool', name: 'b' } });
  const parameters = { type: 'object', properties: {}, additionalProperties: false };
  expect(asked).toMatchObject({
    tools: [{ function: { name: 'b', parameters } }],
    tool_choice: 'REQUIRED',
  });
  expect(() =>
    sent({ tools: [fn('a')], tool_choice: { type: 'function', function: { name: 'c' } } }),
  ).toThrow('tool_choice');
});

test('of two penalties one is left', () => {
  const asked: Record<string, unknown> = sent({ frequency_penalty: 0.5, presence_penalty: 0.5 });
  expect([asked['frequency_penalty'], asked['presence_penalty']]).toEqual([0.5, undefined]);
});

test('a JSON schema is a format, or words where the format may not stand beside tools', () => {
  const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
  const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
  expect(sent({ response_format }).response_format).toEqual({
    type: 'json_object',
    json_schema: schema,
  });
  expect(sent({ response_format: { type: 'json_object' } }).response_format).toEqual({
    type: 'json_object',
  });
  const beside = sent({ response_format, tools: [toolOf('a')] });
  expect(beside.response_format).toBeUndefined();
  expect(beside.messages[0]).toMatchObject({
    role: 'system',
    content: expect.stringContaining(JSON.stringify(schema)),
  });
});

test('limits and sampling take Cohere’s names and ranges', () => {
  const body = {
    max_tokens: 9,
    max_completion_tokens: 50,
    temperature: 1.7,
    top_p: 1,
    top_k: 900,
    seed: 7,
    frequency_penalty: -1,
    presence_penalty: 2,
    stop: 'END',
    logit_bias: {},
  };
  const { messages: _, ...rest } = sent(body);
  expect(rest).toEqual({
    model: 'command-a-03-2025',
    max_tokens: 50,
    temperature: 1,
    p: 0.99,
    k: 500,
    seed: 7,
    frequency_penalty: 0,
    presence_penalty: 1,
    stop_sequences: ['END'],
    stream: false,
  });
  expect(sent(body, undefined, { outputTokensMax: 20, streamUpstream: true })).toMatchObject({
    max_tokens: 20,
    stream: true,
  });
});

test('effort is a budget for models that think, and nothing to others', () => {
  const thinks = 'command-a-reasoning-08-2025';
  expect(sent({ reasoning_effort: 'low' }, thinks).thinking).toEqual({
    type: 'enabled',
    token_budget: 1024,
  });
  expect(sent({ reasoning_effort: 'none' }, thinks).thinking).toEqual({ type: 'disabled' });
  expect(sent({ reasoning_effort: 'high' }, thinks).thinking).toBeUndefined();
  expect(sent({ reasoning_effort: 'low' }).thinking).toBeUndefined();
});

test('documents and what else is Cohere’s own pass through', () => {
  const own = {
    documents: [{ id: 'd', data: { text: 'x' } }],
    citation_options: { mode: 'fast' },
    safety_mode: 'STRICT',
    strict_tools: true,
  };
  expect(sent({ ...own, store: true })).toMatchObject(own);
  expect(sent({ ...own, store: true })).not.toHaveProperty('store');
});

describe('a stream', () => {
  const event = (type: string, more: object) =>
    Buffer.from(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
  const words = event('content-delta', {
    index: 0,
    delta: { message: { content: { text: 'Hi' } } },
  });
  const ended = (delta: object) => event('message-end', { delta });
  const play = (events: readonly Buffer[], body: Record<string, unknown> = {}) => {
    const translator = cohereChat.stream({ ...callOf(body), stream: true, streamUpstream: true });
    const text = events.map((one) => translator.push(one)).join('') + translator.end();
    return { text, meter: translator.meter };
  };

  test('is over with its last event, whatever becomes of the connection', () => {
    const { meter } = play([
      words,
      ended({
        finish_reason: 'MAX_TOKENS',
        usage: { tokens: { input_tokens: 5, output_tokens: 2 } },
      }),
    ]);
    expect(meter).toMatchObject({
      done: true,
      finished: true,
      quantities: { input: 5, output: 2 },
    });
  });

  test('that ends with an error or out of time is a fault', () => {
    expect(play([words, ended({ finish_reason: 'ERROR', error: 'boom' })]).meter.fault).toEqual({
      kind: 'server_error',
      message: 'boom',
    });
    expect(play([words, ended({ finish_reason: 'TIMEOUT' })]).meter.fault).toMatchObject({
      kind: 'timeout',
    });
    expect(
      play([words, Buffer.from('data: {"id":"x","message":"internal error"}\n\n')]).meter.fault,
    ).toEqual({
      kind: 'server_error',
      message: 'internal error',
    });
    expect(play([words]).meter.fault).toMatchObject({ kind: 'protocol' });
  });

  test('says its plan as reasoning, and its citations beside the words', () => {
    const plan = event('tool-plan-delta', { delta: { message: { tool_plan: 'I will.' } } });
    const citation = { start: 0, end: 2, text: 'Hi', sources: [] };
    const { text } = play([
      plan,
      words,
      event('citation-start', { index: 0, delta: { message: { citations: citation } } }),
    ]);
    expect(text).toContain('"reasoning_content":"I will."');
    expect(text).toContain(`"citations":[${JSON.stringify(citation)}]`);
  });

  test('tells the probability of each token that a client asks for, and of no other', () => {
    const told = event('content-delta', {
      index: 0,
      delta: { message: { content: { text: 'Hi' } } },
      logprobs: { token_ids: [7], text: 'Hi', logprobs: [-0.5] },
    });
    const logprobs = {
      content: [{ token: 'Hi', logprob: -0.5, bytes: [72, 105], top_logprobs: [] }],
      refusal: null,
    };
    expect(play([told], { logprobs: true }).text).toContain(
      `"logprobs":${JSON.stringify(logprobs)}`,
    );
    expect(play([told]).text).not.toContain('logprobs');
    expect(play([words], { logprobs: true }).text).toContain('"content":"Hi"');
  });

  test('passes over events of tomorrow', () =>
    expect(
      play([event('debug', { prompt: 'x' }), words, ended({ finish_reason: 'COMPLETE' })]).meter
        .fault,
    ).toBeUndefined());
});

test('probabilities are asked for by a flag, and told by the piece of text', () => {
  expect(sent({ logprobs: true, top_logprobs: 3 })).toMatchObject({ logprobs: true });
  expect(cohereChat.ask(callOf({ logprobs: true, top_logprobs: 3 })).dropped).toEqual([
    'top_logprobs',
  ]);
  expect(sent({ logprobs: false })).not.toHaveProperty('logprobs');
  const items = [
    { token_ids: [1], text: 'é', logprobs: [-0.25] },
    { token_ids: [2, 3], text: ' yes', logprobs: [-0.5, -1] },
  ];
  const reply = {
    id: 'x',
    message: { content: [{ type: 'text', text: 'é yes' }] },
    finish_reason: 'COMPLETE',
    logprobs: items,
  };
  const answer = cohereChat.read(
    Buffer.from(JSON.stringify(reply)),
    'application/json',
    callOf({ logprobs: true }),
  );
  if (!('body' in answer)) throw new Error(answer.message);
  expect(JSON.parse(answer.body.toString()).choices[0].logprobs).toEqual({
    content: [
      { token: 'é', logprob: -0.25, bytes: [195, 169], top_logprobs: [] },
      { token: ' yes', logprob: -1.5, bytes: [32, 121, 101, 115], top_logprobs: [] },
    ],
    refusal: null,
  });
});

test('billed units are the count where there is no other', () => {
  const reply = {
    id: 'x',
    message: { content: [{ type: 'text', text: 'Hi' }] },
    finish_reason: 'COMPLETE',
    usage: { billed_units: { input_tokens: 3, output_tokens: 1 } },
  };
  expect(
    cohereChat.read(Buffer.from(JSON.stringify(reply)), 'application/json', callOf({})),
  ).toMatchObject({
    quantities: { input: 3, output: 1 },
  });
});
