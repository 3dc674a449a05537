import { describe, expect, it, test } from 'vitest';
import { adapterOf } from '../../../test/support/asks.ts';
import { processorMs } from '../../../test/support/processor-time.ts';
import { chatCall } from '../../../test/support/vendor-call.ts';
import type { VendorRequest } from '../adapter.ts';

// "Change only the model": a request that a client wrote for one vendor's model, sent to another
// vendor's.

type Body = Record<string, unknown>;

const user = { role: 'user', content: 'Hi' };
const parameters = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const weather = { type: 'function', function: { name: 'weather', parameters } };
const time = { type: 'function', function: { name: 'time', parameters } };

const models: Readonly<Record<string, string>> = {
  openai: 'gpt-4.1',
  mistral: 'mistral-medium-latest',
  deepseek: 'deepseek-v4-flash',
  groq: 'openai/gpt-oss-120b',
  xai: 'grok-4.3',
  zhipu: 'glm-5',
  moonshot: 'kimi-k2.6',
  openrouter: 'z-ai/glm-5',
};
const everyone = Object.keys(models).filter((vendor) => vendor !== 'openrouter');

const ask = (vendor: string, body: Body, model = models[vendor] ?? ''): VendorRequest =>
  adapterOf(vendor, 'chat').ask(chatCall(body, model));

/** The members that reach the vendor, besides the model and the one message. */
function sent(vendor: string, body: Body, model?: string): Body {
  const { model: _, ...rest }: Body = JSON.parse(ask(vendor, body, model).body.toString('utf8'));
  if (JSON.stringify(rest['messages']) === JSON.stringify([user])) delete rest['messages'];
  return rest;
}

const dropped = (vendor: string, body: Body, model?: string): readonly string[] =>
  [...(ask(vendor, body, model).dropped ?? [])].sort();
const messagesTo = (vendor: string, messages: readonly Body[], model?: string): unknown =>
  sent(vendor, { messages }, model)['messages'];

describe('members that one vendor alone documents', () => {
  const own = {
    provider: { order: ['OpenAI'] },
    usage: { include: true },
    models: ['a/b'],
    route: 'fallback',
    transforms: ['middle-out'],
  };

  it.each(everyone)('OpenRouter’s are left out by name at %s', (vendor) => {
    expect(sent(vendor, own)).toEqual({});
    expect(dropped(vendor, own)).toEqual(['models', 'provider', 'route', 'transforms']);
  });

  it.each([
    ['cerebras', 'gpt-oss-120b'],
    ['together', 'openai/gpt-oss-120b'],
    ['fireworks', 'accounts/fireworks/models/glm-5'],
    ['qwen', 'qwen3.7-max'],
    ['minimax', 'MiniMax-M3'],
    ['volcengine', 'doubao-seed-2-0-pro'],
    ['hunyuan', 'hunyuan-2.0-thinking'],
    ['siliconflow', 'zai-org/GLM-5'],
    ['perplexity', 'sonar-pro'],
    ['ollama', 'qwen3'],
    ['azure', 'gpt-4o'],
  ])('and at %s', (vendor, model) => {
    expect(sent(vendor, own, model)).toEqual({});
    expect(dropped(vendor, own, model)).toEqual(['models', 'provider', 'route', 'transforms']);
  });

  it('its plugins change the answer, and are refused elsewhere', () => {
    const plugins = { plugins: [{ id: 'web' }] };
    expect(() => ask('zhipu', plugins)).toThrow(
      expect.objectContaining({ refusal: 'unsupported_parameter', param: 'plugins' }),
    );
    expect(sent('zhipu', { plugins: [] })).toEqual({});
  });

  it.each(['deepseek', 'moonshot'])('a seed is left out by name at %s', (vendor) => {
    expect(sent(vendor, { seed: 7 })).toEqual({});
    expect(dropped(vendor, { seed: 7 })).toEqual(['seed']);
  });

  it('one answer is what Zhipu gives without a word of it', () => {
    expect(sent('zhipu', { n: 1, logprobs: false })).toEqual({});
    expect(dropped('zhipu', { n: 1 })).toEqual([]);
    expect(() => ask('zhipu', { n: 2 })).toThrow(expect.objectContaining({ param: 'n' }));
  });
});

describe('tools', () => {
  it('without its type a tool is the function that it holds', () => {
    const untyped = { function: weather.function };
    for (const vendor of everyone.filter((one) => one !== 'mistral'))
      expect(sent(vendor, { tools: [untyped] })['tools'], vendor).toEqual([
        { ...untyped, type: 'function' },
      ]);
    expect(sent('mistral', { tools: [untyped] })['tools']).toEqual([untyped]);
  });

  it('other vendors’ hints beside the function are left out by name', () => {
    const hinted = {
      ...weather,
      eager_input_streaming: true,
      cache_control: { type: 'ephemeral' },
    };
    for (const vendor of everyone) {
      expect(sent(vendor, { tools: [hinted] })['tools'], vendor).toEqual([weather]);
      expect(dropped(vendor, { tools: [hinted] }), vendor).toEqual([
        'tools[].cache_control',
        'tools[].eager_input_streaming',
      ]);
    }
  });

  it('a name beside the function, which repeats it, goes where it is refused', () => {
    const tools = [{ ...weather, name: 'weather' }];
    for (const vendor of ['mistral', 'groq', 'moonshot'])
      expect(sent(vendor, { tools })['tools'], vendor).toEqual([weather]);
    for (const vendor of ['openai', 'deepseek', 'xai', 'zhipu'])
      expect(sent(vendor, { tools })['tools'], vendor).toEqual(tools);
  });

  it('`strict` goes by name where OpenAI would refuse the schema with it', () => {
    const open = { ...parameters, required: [] };
    const strict = (schema: Body): Body => ({
      type: 'function',
      function: { name: 'weather', strict: true, parameters: schema },
    });
    const format = (schema: Body): Body => ({
      type: 'json_schema',
      json_schema: { name: 'w', schema, strict: true },
    });
    const body = { tools: [strict(open)], response_format: format(open) };
    expect(sent('openai', body)).toEqual({
      tools: [{ type: 'function', function: { name: 'weather', parameters: open } }],
      response_format: { type: 'json_schema', json_schema: { name: 'w', schema: open } },
    });
    expect(dropped('openai', body)).toEqual([
      'response_format.json_schema.strict',
      'tools[].function.strict',
    ]);
    const closed = { tools: [strict(parameters)], response_format: format(parameters) };
    expect(sent('openai', closed)).toEqual(closed);
    const nested = {
      ...parameters,
      properties: { city: { type: ['object', 'null'], properties: { a: { type: 'string' } } } },
    };
    expect(dropped('openai', { response_format: format(nested) })).toEqual([
      'response_format.json_schema.strict',
    ]);
  });

  it('`strict` of a schema of 30,000 properties is decided in time', () => {
    const names = [...Array(30_000).keys()].map((n) => `p${n}`);
    const properties = Object.fromEntries(names.map((name) => [name, {}]));
    const schema = { type: 'object', properties, required: names, additionalProperties: false };
    const started = processorMs();
    ask('openai', {
      response_format: { type: 'json_schema', json_schema: { name: 'w', schema, strict: true } },
    });
    expect(processorMs() - started).toBeLessThan(1_000);
  });
});

describe('the choice among tools', () => {
  const tools = [weather, time];
  const named = { type: 'function', function: { name: 'weather' } };
  const choiceAt = (vendor: string, choice: unknown, model?: string): unknown =>
    sent(vendor, { tools, tool_choice: choice }, model)['tool_choice'];

  it('is said in OpenAI’s words', () => {
    for (const vendor of ['openai', 'mistral', 'groq', 'zhipu']) {
      expect(choiceAt(vendor, { type: 'tool', name: 'weather' }), vendor).toEqual(named);
      expect(choiceAt(vendor, { type: 'function', name: 'weather' }), vendor).toEqual(named);
      expect(choiceAt(vendor, { type: 'auto' }), vendor).toBe('auto');
    }
    expect(choiceAt('openai', 'any')).toBe('required');
    expect(choiceAt('groq', { type: 'any' })).toBe('required');
  });

  it('stays as it came where the vendor has the word', () => {
    expect(choiceAt('mistral', 'any')).toBe('any');
    expect(choiceAt('openrouter', 'any')).toBe('any');
    expect(choiceAt('xai', { type: 'tool', name: 'weather' })).toEqual({
      type: 'tool',
      name: 'weather',
    });
  });

  it('turns thinking off where it forces, in whichever words', () => {
    expect(sent('deepseek', { tools, tool_choice: { type: 'tool', name: 'weather' } })).toEqual({
      tools,
      tool_choice: named,
      thinking: { type: 'disabled' },
    });
  });

  it('of none leaves the tools out where there is no word for it', () => {
    expect(sent('zhipu', { tools, tool_choice: 'none' })).toEqual({});
    expect(sent('zhipu', { tools, tool_choice: { type: 'none' } })).toEqual({});
    expect(sent('groq', { tools, tool_choice: 'none' })).toEqual({ tools, tool_choice: 'none' });
  });

  it('goes where there is no word for any: a forced tool is asked for in words', () => {
    expect(sent('minimax', { tools, tool_choice: 'auto' }, 'MiniMax-M2.5')).toEqual({ tools });
    expect(sent('minimax', { tools, tool_choice: 'none' }, 'MiniMax-M2.5')).toEqual({});
    expect(sent('minimax', { tools, tool_choice: named }, 'MiniMax-M2.5')).toEqual({
      tools,
      messages: [
        { role: 'system', content: 'You must call the tool "weather" in your next answer.' },
        user,
      ],
    });
  });

  it('leaves out the tools that are not allowed, and keeps the others as they came', () => {
    const allowed = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named] } };
    expect(
      sent('groq', { tools: [{ ...weather, cache_control: null }, time], tool_choice: allowed }),
    ).toEqual({
      tools: [weather],
      tool_choice: 'required',
    });
  });

  it('is one call at a time in words, where the vendor has no member for it', () => {
    const said = (body: Body): unknown =>
      sent('zhipu', { messages: [{ role: 'user', content: 'Hi' }], tools, ...body })['messages'];
    const system = { role: 'system', content: 'Call at most one tool in your next answer.' };
    expect(said({ parallel_tool_calls: false })).toEqual([system, { role: 'user', content: 'Hi' }]);
    expect(dropped('zhipu', { tools, parallel_tool_calls: false })).toEqual([
      'parallel_tool_calls',
    ]);
    expect(said({ parallel_tool_calls: true })).toBeUndefined();
    expect(dropped('zhipu', { tools, parallel_tool_calls: true })).toEqual([]);
  });

  it('is not said to OpenAI without tools', () => {
    const body = { parallel_tool_calls: false, tool_choice: 'auto' };
    expect(sent('openai', body)).toEqual({});
    expect(dropped('openai', body)).toEqual(['parallel_tool_calls']);
    expect(ask('openai', { tool_choice: 'none' }).unsupported).toBeUndefined();
    expect(sent('openai', { ...body, tools })).toEqual({ ...body, tools });
  });
});

describe('the assistant’s messages', () => {
  const answered = { role: 'tool', tool_call_id: 'abcdefghi', content: '12' };
  const called = {
    id: 'abcdefghi',
    type: 'function',
    function: { name: 'weather', arguments: '{}' },
  };
  const turn = (more: Body): Body => ({
    role: 'assistant',
    content: 'Well',
    tool_calls: [called],
    ...more,
  });

  it('bring the text of their thoughts back under the vendor’s name', () => {
    const details = [{ type: 'reasoning.text', text: 'hm' }];
    for (const vendor of ['deepseek', 'moonshot', 'zhipu', 'xai'])
      expect(
        messagesTo(vendor, [user, turn({ reasoning: 'hm', reasoning_details: details }), answered]),
        vendor,
      ).toEqual([user, turn({ reasoning_content: 'hm' }), answered]);
    expect(
      dropped('xai', { messages: [user, turn({ reasoning_details: details }), answered] }),
    ).toEqual(['messages[].reasoning_details']);
  });

  it('of models that need thoughts have a dot where there is no text of them', () => {
    const turns = [
      user,
      turn({ reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] }),
      answered,
    ];
    expect(messagesTo('deepseek', turns)).toEqual([
      user,
      turn({ reasoning_content: '.' }),
      answered,
    ]);
  });

  it('lose what other vendors’ answers carry', () => {
    const carried = turn({ annotations: [], phase: 'commentary' });
    for (const vendor of ['mistral', 'groq', 'xai', 'zhipu']) {
      expect(messagesTo(vendor, [user, carried, answered]), vendor).toEqual([
        user,
        turn({}),
        answered,
      ]);
      expect(dropped(vendor, { messages: [user, carried, answered] }), vendor).toEqual([
        'messages[].phase',
      ]);
    }
  });

  it.each([
    // It documents both names.
    ['together', 'reasoning'],
    ['fireworks', 'reasoning_content'],
    ['qwen', 'reasoning_content'],
    ['volcengine', 'reasoning_content'],
    ['hunyuan', 'reasoning_content'],
    ['siliconflow', 'reasoning_content'],
    ['ollama', 'reasoning'],
  ])('are cleaned for %s, and their thoughts are its %s', (vendor, name) => {
    const told = turn({
      reasoning: 'hm',
      reasoning_details: [],
      annotations: [],
      refusal: null,
      phase: 'final_answer',
    });
    expect(messagesTo(vendor, [user, told, answered], 'glm-5')).toEqual([
      user,
      turn({ [name]: 'hm' }),
      answered,
    ]);
  });

  it('have calls without the members that are refused', () => {
    const indexed = turn({
      tool_calls: [{ ...called, index: 0, extra_content: { google: { thought_signature: 's' } } }],
    });
    expect(messagesTo('groq', [user, indexed, answered])).toEqual([user, turn({}), answered]);
    expect(dropped('groq', { messages: [user, indexed, answered] })).toEqual([
      'messages[].tool_calls[].extra_content',
    ]);
  });

  it('are gone on with by the vendor’s own mark', () => {
    const begun = { role: 'assistant', content: 'Once' };
    expect(messagesTo('mistral', [user, begun])).toEqual([user, { ...begun, prefix: true }]);
    expect(messagesTo('mistral', [user, { ...begun, partial: true }])).toEqual([
      user,
      { ...begun, prefix: true },
    ]);
    expect(messagesTo('moonshot', [user, { ...begun, prefix: true }])).toEqual([
      user,
      { ...begun, partial: true },
    ]);
    for (const vendor of ['openai', 'groq', 'xai', 'zhipu']) {
      expect(messagesTo(vendor, [user, { ...begun, prefix: true }]), vendor).toEqual([user, begun]);
      expect(dropped(vendor, { messages: [user, { ...begun, prefix: true }] }), vendor).toEqual([
        'messages[].prefix',
      ]);
      expect(dropped(vendor, { messages: [user, { ...begun, prefix: false }] }), vendor).toEqual(
        [],
      );
    }
  });
});

describe('documents', () => {
  const data = 'data:application/pdf;base64,AAAA';
  const asked = (part: Body): Body => ({
    messages: [{ role: 'user', content: [{ type: 'text', text: 'Read.' }, part] }],
  });
  const mistrals = { type: 'document_url', document_url: data, document_name: 'a.pdf' };
  const openais = { type: 'file', file: { filename: 'a.pdf', file_data: data } };

  it('are said in the vendor’s form', () => {
    for (const vendor of ['openai', 'xai'])
      expect(sent(vendor, asked(mistrals)), vendor).toEqual(asked(openais));
    expect(sent('mistral', asked(openais))).toEqual(asked(mistrals));
    expect(sent('mistral', asked(mistrals))).toEqual(asked(mistrals));
  });

  it('are refused where none are read, and where an address would have to be', () => {
    for (const vendor of ['deepseek', 'groq', 'zhipu', 'moonshot'])
      expect(() => ask(vendor, asked(mistrals)), vendor).toThrow(
        expect.objectContaining({
          refusal: 'unsupported_content',
          param: 'messages[0].content[1]',
        }),
      );
    expect(() =>
      ask('openai', asked({ ...mistrals, document_url: 'https://example.com/a.pdf' })),
    ).toThrow(
      expect.objectContaining({
        refusal: 'unsupported_parameter',
        param: 'messages[0].content[1].document_url',
      }),
    );
  });
});

test('functions go to /responses where the model reasons, in whichever words it is asked to', () => {
  const body = {
    tools: [{ function: weather.function }],
    reasoning: { effort: 'high' },
    provider: { order: ['OpenAI'] },
  };
  const { path, dropped: gone } = ask('openai', body, 'gpt-5.4');
  expect(path).toBe('/responses');
  expect(gone).toEqual(['provider']);
  expect(sent('openai', body, 'gpt-5.4')).toMatchObject({
    reasoning: { effort: 'high' },
    tools: [{ type: 'function', name: 'weather' }],
  });
  const thought = {
    role: 'assistant',
    content: 'Hello',
    reasoning_details: [{ type: 'reasoning.encrypted', data: 'x', format: null }],
  };
  expect(dropped('openai', { ...body, messages: [user, thought, user] }, 'gpt-5.4')).toEqual([
    'messages[].reasoning_details',
    'provider',
  ]);
});
