import { describe, expect, test } from 'vitest';
import { Refusal } from '../../../base/refusal.ts';
import type { VendorCall } from '../../adapter.ts';
import { bedrockConverse } from './adapter.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const sonnet45 = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const sonnet46 = 'us.anthropic.claude-sonnet-4-6';
const nova2 = 'us.amazon.nova-2-lite-v1:0';

function callOf(
  body: Record<string, unknown>,
  upstreamModel = sonnet45,
  over: Partial<VendorCall> = {},
): VendorCall {
  const whole = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body };
  return vendorCall(whole, { publicModel: 'public/model', upstreamModel, ...over });
}

const sent = (body: Record<string, unknown>, model?: string, over?: Partial<VendorCall>) =>
  JSON.parse(bedrockConverse.ask(callOf(body, model, over)).body.toString());
const said = (messages: unknown[], model?: string) => sent({ messages }, model).messages;
const user = { role: 'user', content: 'Hi' };
const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'Tells it.',
    parameters: { type: 'object', properties: { city: { type: 'string' } } },
  },
};
const time = { type: 'function', function: { name: 'time' } };
const caller = {
  role: 'assistant',
  content: null,
  tool_calls: [
    {
      id: 'call_1',
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Paris"}' },
    },
  ],
};
const pdf = (filename: string) => ({
  type: 'file',
  file: { filename, file_data: 'data:application/pdf;base64,JVBERi0=' },
});

test('the model is in the path, encoded, and says whether to stream', () => {
  expect(bedrockConverse.ask(callOf({})).path).toBe(
    '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse',
  );
  const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc';
  expect(bedrockConverse.ask(callOf({}, arn, { streamUpstream: true })).path).toBe(
    '/model/arn%3Aaws%3Abedrock%3Aus-east-1%3A123456789012%3Aapplication-inference-profile%2Fabc/converse-stream',
  );
});

test('a plain conversation is sent and nothing is added to it', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    user,
    { role: 'assistant', content: 'Hello' },
    { role: 'user', content: 'Bye' },
  ];
  expect(sent({ messages })).toEqual({
    system: [{ text: 'Be brief.' }],
    messages: [
      { role: 'user', content: [{ text: 'Hi' }] },
      { role: 'assistant', content: [{ text: 'Hello' }] },
      { role: 'user', content: [{ text: 'Bye' }] },
    ],
  });
});

describe('turns', () => {
  test('T16: a conversation begins with the user but for Claude 4 and later, and ends with one where the assistant’s words cannot be continued', () => {
    const assistant = { role: 'assistant', content: 'Sure: ' };
    expect(said([assistant, user])[0]).toEqual({
      role: 'assistant',
      content: [{ text: 'Sure: ' }],
    });
    for (const model of [nova2, 'anthropic.claude-3-5-sonnet-20241022-v2:0'])
      expect(said([assistant, user], model)[0]).toEqual({
        role: 'user',
        content: [{ text: 'Begin.' }],
      });
    expect(said([user, assistant]).at(-1)).toEqual({
      role: 'assistant',
      content: [{ text: 'Sure:' }],
    });
    expect(said([user, assistant], sonnet46).at(-1)).toEqual({
      role: 'user',
      content: [{ text: 'Continue.' }],
    });
    expect(said([{ role: 'system', content: 'Write a poem.' }])).toEqual([
      { role: 'user', content: [{ text: 'Write a poem.' }] },
    ]);
  });

  test('calls and their results keep together, under ids that Converse takes', () => {
    const long = 'x'.repeat(80);
    const messages = [
      user,
      {
        ...caller,
        tool_calls: [
          ...caller.tool_calls,
          { id: long, type: 'function', function: { name: 'time', arguments: '' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sun', is_error: true },
      { role: 'tool', tool_call_id: long, content: [{ type: 'text', text: 'noon' }] },
      { role: 'user', content: 'And?' },
    ];
    const [, called, answered] = sent({ messages, tools: [weather, time] }).messages;
    const id = called.content[1].toolUse.toolUseId;
    expect(id).toMatch(/^call_[a-f0-9]{24}$/);
    expect(called.content).toEqual([
      { toolUse: { toolUseId: 'call_1', name: 'weather', input: { city: 'Paris' } } },
      { toolUse: { toolUseId: id, name: 'time', input: {} } },
    ]);
    expect(answered.content).toEqual([
      { toolResult: { toolUseId: 'call_1', content: [{ text: 'sun' }], status: 'error' } },
      { toolResult: { toolUseId: id, content: [{ text: 'noon' }] } },
      { text: 'And?' },
    ]);
  });

  test('Llama has no word beside calls and their results', () => {
    const conversation = [
      user,
      { ...caller, content: 'I look.' },
      { role: 'tool', tool_call_id: 'call_1', content: '21' },
      user,
    ];
    const [, words, between, calls, results, word, rest] = said(
      conversation,
      'us.meta.llama4-maverick-17b-instruct-v1:0',
    );
    expect([words, between]).toEqual([
      { role: 'assistant', content: [{ text: 'I look.' }] },
      { role: 'user', content: [{ text: 'Continue.' }] },
    ]);
    expect([calls.role, Object.keys(calls.content[0]), calls.content.length]).toEqual([
      'assistant',
      ['toolUse'],
      1,
    ]);
    expect([results.role, Object.keys(results.content[0]), results.content.length]).toEqual([
      'user',
      ['toolResult'],
      1,
    ]);
    expect([word.role, rest]).toEqual(['assistant', { role: 'user', content: [{ text: 'Hi' }] }]);
    expect(said(conversation)).toHaveLength(3);
  });

  test('images and documents are bytes; every document has a name of its own that Converse takes', () => {
    const content = [
      { type: 'image_url', image_url: { url: 'data:image/jpg;base64,AAAA' } },
      pdf('Q3_report: übersicht.pdf'),
      pdf('Q3_report: übersicht.pdf'),
      { type: 'file', file: { file_data: 'data:application/json;base64,e30=' } },
    ];
    expect(said([{ role: 'user', content }])[0].content).toEqual([
      { image: { format: 'jpeg', source: { bytes: 'AAAA' } } },
      { document: { format: 'pdf', name: 'Q3 report ubersicht', source: { bytes: 'JVBERi0=' } } },
      {
        document: { format: 'pdf', name: 'Q3 report ubersicht (2)', source: { bytes: 'JVBERi0=' } },
      },
      { document: { format: 'txt', name: 'document', source: { bytes: 'e30=' } } },
      { text: 'See the document.' },
    ]);
  });

  test.each([
    [
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      'messages[0].content[0]',
    ],
    [
      { type: 'image_url', image_url: { url: 'data:image/tiff;base64,AAAA' } },
      'messages[0].content[0]',
    ],
    [
      { type: 'file', file: { file_data: 'data:application/zip;base64,AAAA' } },
      'messages[0].content[0]',
    ],
  ])('%o is refused by its place', (part, param) => {
    expect(() => said([{ role: 'user', content: [part] }])).toThrow(
      expect.objectContaining({ param }),
    );
    expect(() => said([{ role: 'user', content: [part] }])).toThrow(Refusal);
  });

  test('signed thinking comes back before the words, to Claude alone', () => {
    const details = [
      { type: 'reasoning.text', text: 'So', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.text', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'EtkE', format: 'anthropic-claude-v1', index: 1 },
    ];
    const messages = [
      user,
      { role: 'assistant', content: 'Hello', reasoning_details: details },
      user,
    ];
    expect(said(messages)[1].content).toEqual([
      { reasoningContent: { reasoningText: { text: 'So', signature: 'c2ln' } } },
      { reasoningContent: { redactedContent: Buffer.from('EtkE').toString('base64') } },
      { text: 'Hello' },
    ]);
    expect(said(messages, nova2)[1].content).toEqual([{ text: 'Hello' }]);
  });

  test('marks for the cache become cache points where the model has them', () => {
    const marked = { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral', ttl: '1h' } };
    const body = {
      messages: [
        { role: 'system', content: [marked] },
        { role: 'user', content: [marked] },
      ],
      tools: [{ ...time, cache_control: { type: 'ephemeral' } }],
    };
    const point = { cachePoint: { type: 'default', ttl: '1h' } };
    expect(sent(body).system).toEqual([{ text: 'Long.' }, point]);
    expect(sent(body).messages[0].content).toEqual([{ text: 'Long.' }, point]);
    expect(sent(body).toolConfig.tools[1]).toEqual({ cachePoint: { type: 'default' } });
    expect(sent(body, nova2).toolConfig.tools).toHaveLength(1);
    expect(sent(body, 'meta.llama3-3-70b-instruct-v1:0').system).toEqual([{ text: 'Long.' }]);
  });
});

describe('tools', () => {
  const choose = (choice: unknown, model?: string, more = {}) =>
    sent({ tools: [weather, time], tool_choice: choice, ...more }, model);
  const named = { type: 'function', function: { name: 'time' } };

  test('are declared with their schemas', () => {
    expect(sent({ tools: [weather, time] }).toolConfig).toEqual({
      tools: [
        {
          toolSpec: {
            name: 'weather',
            description: 'Tells it.',
            inputSchema: { json: weather.function.parameters },
          },
        },
        { toolSpec: { name: 'time', inputSchema: { json: { type: 'object', properties: {} } } } },
      ],
    });
  });

  test.each([
    ['auto', { auto: {} }],
    ['required', { any: {} }],
    [named, { tool: { name: 'time' } }],
  ])('%o is a choice', (choice, toolChoice) =>
    expect(choose(choice).toolConfig.toolChoice).toEqual(toolChoice),
  );

  test('a choice that the model cannot be given is asked for by the tool itself', () => {
    const llama = choose(named, 'us.meta.llama3-3-70b-instruct-v1:0').toolConfig;
    expect(llama.toolChoice).toBeUndefined();
    expect(
      llama.tools.map((tool: { toolSpec: { description?: string } }) => tool.toolSpec.description),
    ).toEqual(['Tells it.', 'This tool must be called in the next answer.']);
    expect(choose(named, 'mistral.mistral-large-2407-v1:0').toolConfig.toolChoice).toEqual({
      any: {},
    });
  });

  test('no choice at all leaves tools away, unless the conversation has used them', () => {
    expect(choose('none').toolConfig).toBeUndefined();
    const used = [user, caller, { role: 'tool', tool_call_id: 'call_1', content: 'sun' }];
    const kept = choose('none', undefined, { messages: used });
    expect(kept.toolConfig.tools).toHaveLength(2);
    expect(kept.system).toEqual([{ text: 'Do not call any tool in your next answer.' }]);
    expect(sent({ messages: used }).toolConfig.tools).toEqual([
      { toolSpec: { name: 'weather', inputSchema: { json: { type: 'object', properties: {} } } } },
    ]);
  });

  test('one call at a time is Claude’s own choice, which cannot stand beside another', () => {
    expect(choose('auto', undefined, { parallel_tool_calls: false })).toMatchObject({
      additionalModelRequestFields: {
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      },
    });
    expect(
      choose('auto', undefined, { parallel_tool_calls: false }).toolConfig.toolChoice,
    ).toBeUndefined();
    expect(
      choose('required', undefined, { parallel_tool_calls: false }).additionalModelRequestFields,
    ).toBeUndefined();
    expect(
      choose('auto', nova2, { parallel_tool_calls: false }).additionalModelRequestFields,
    ).toBeUndefined();
  });
});

describe('a schema for the answer', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'number', minimum: 1 } },
    required: ['n'],
  };
  const format = { type: 'json_schema', json_schema: { name: 'answer', schema } };

  test('is compiled where the model has structured outputs', () => {
    const { outputConfig } = sent({ response_format: format });
    expect(outputConfig.textFormat.structure.jsonSchema.name).toBe('answer');
    expect(JSON.parse(outputConfig.textFormat.structure.jsonSchema.schema)).toMatchObject({
      type: 'object',
      additionalProperties: false,
      required: ['n'],
    });
  });

  test('travels as a tool elsewhere, and the tool’s input is the answer', () => {
    const { toolConfig, outputConfig } = sent(
      { response_format: format },
      'us.amazon.nova-lite-v1:0',
    );
    expect(outputConfig).toBeUndefined();
    expect(toolConfig).toMatchObject({
      toolChoice: { tool: { name: toolConfig.tools[0].toolSpec.name } },
    });
    expect(toolConfig.tools[0].toolSpec.inputSchema.json).toEqual(schema);
  });

  test('of no shape is asked for in words', () => {
    expect(sent({ response_format: { type: 'json_object' } }).system[0].text).toMatch(/JSON/);
  });
});

describe('limits, sampling and thinking', () => {
  test('take Converse’s names and ranges; a tighter limit of ours wins', () => {
    const body = {
      max_tokens: 10,
      max_completion_tokens: 50,
      temperature: 1.6,
      top_p: 0.9,
      stop: ['END', ' '],
      top_k: 5,
    };
    expect(sent(body, 'us.amazon.nova-lite-v1:0')).toMatchObject({
      inferenceConfig: { maxTokens: 50, temperature: 1, topP: 0.9, stopSequences: ['END', ' '] },
      additionalModelRequestFields: { inferenceConfig: { topK: 5 } },
    });
    expect(sent(body, undefined, { outputTokensMax: 20 }).inferenceConfig).toEqual({
      maxTokens: 20,
      temperature: 1,
      stopSequences: ['END'],
    });
    expect(sent({}, undefined, { outputTokensMax: 20 }).inferenceConfig).toEqual({ maxTokens: 20 });
    expect(sent(body, 'us.anthropic.claude-opus-4-7').inferenceConfig).toEqual({
      maxTokens: 50,
      stopSequences: ['END'],
    });
  });

  test.each([
    [
      sonnet45,
      'low',
      { additionalModelRequestFields: { thinking: { type: 'enabled', budget_tokens: 2048 } } },
    ],
    [
      sonnet46,
      'high',
      {
        additionalModelRequestFields: { thinking: { type: 'adaptive' } },
        outputConfig: { effort: 'high' },
      },
    ],
    [
      nova2,
      'minimal',
      {
        additionalModelRequestFields: {
          reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' },
        },
      },
    ],
    [nova2, 'none', { additionalModelRequestFields: { reasoningConfig: { type: 'disabled' } } }],
    [
      'openai.gpt-oss-120b-1:0',
      'xhigh',
      { additionalModelRequestFields: { reasoning_effort: 'high' } },
    ],
    [
      'qwen.qwen3-32b-v1:0',
      'medium',
      { additionalModelRequestFields: { reasoning_config: 'medium' } },
    ],
  ])('%s thinks with effort %s in its own words', (model, effort, fields) => {
    expect(sent({ reasoning_effort: effort }, model)).toMatchObject(fields);
  });

  test('models that know no effort are asked for none', () => {
    expect(sent({ reasoning_effort: 'high' }, 'us.meta.llama3-3-70b-instruct-v1:0')).toEqual({
      messages: expect.anything(),
    });
    expect(sent({ reasoning_effort: 'high' }, 'amazon.nova-pro-v1:0')).toEqual({
      messages: expect.anything(),
    });
  });

  test('sampling is left out where thinking refuses it', () => {
    expect(
      sent({ reasoning_effort: 'low', temperature: 0.2, top_k: 5 }).inferenceConfig,
    ).toBeUndefined();
    expect(
      sent({ reasoning_effort: 'high', temperature: 0.2, top_p: 0.5 }, nova2).inferenceConfig,
    ).toBeUndefined();
    // The model refuses its highest effort beside an output limit.
    expect(
      sent({ reasoning_effort: 'high', temperature: 0.2, max_tokens: 50 }, nova2),
    ).toMatchObject({
      inferenceConfig: { maxTokens: 50, temperature: 0.2 },
      additionalModelRequestFields: { reasoningConfig: { maxReasoningEffort: 'medium' } },
    });
  });

  test('the public id tells the family where the vendor’s is an address', () => {
    const arn = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc';
    expect(
      sent({ reasoning_effort: 'low' }, arn, { publicModel: 'claude-sonnet-4-5' })
        .additionalModelRequestFields,
    ).toMatchObject({
      thinking: {},
    });
    expect(sent({ reasoning_effort: 'low' }, arn).additionalModelRequestFields).toBeUndefined();
  });

  test('several answers are refused by name', () => {
    expect(() => sent({ n: 2 })).toThrow(expect.objectContaining({ param: 'n' }));
  });
});
