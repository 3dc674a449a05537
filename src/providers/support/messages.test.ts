import { describe, expect, it, test } from 'vitest';
import { assistants, type Body, dropped, sent, user } from '../../../test/support/asks.ts';

describe('a system message stands where its vendor takes one', () => {
  const system = (content: unknown): Body => ({ role: 'system', content });
  const assistant = { role: 'assistant', content: 'Hello' };
  const messagesTo = (vendor: string, messages: readonly Body[]): unknown =>
    sent(vendor, 'mistral-small-latest', { messages })['messages'];

  test('at the end, its words are said within the message before it', () => {
    const reminders = [system('Be brief.'), system([{ type: 'text', text: 'Use tools.' }])];
    expect(messagesTo('mistral', [system('S'), user, ...reminders])).toEqual([
      system('S'),
      { role: 'user', content: 'Hi\n\nBe brief.\n\nUse tools.' },
    ]);
    const parts = [{ type: 'text', text: 'Hi' }];
    expect(messagesTo('mistral', [{ role: 'user', content: parts }, system('Be brief.')])).toEqual([
      { role: 'user', content: [...parts, { type: 'text', text: 'Be brief.' }] },
    ]);
    expect(messagesTo('groq', [user, system('Be brief.')])).toEqual([user, system('Be brief.')]);
  });

  test('after an assistant, it is the user’s', () => {
    const asked = [user, assistant, system('Be brief.')];
    expect(messagesTo('mistral', [...asked, user])).toEqual([
      user,
      assistant,
      { role: 'user', content: 'Be brief.' },
      user,
    ]);
    expect(messagesTo('mistral', asked)).toEqual([
      user,
      assistant,
      { role: 'user', content: 'Be brief.' },
    ]);
    expect(messagesTo('mistral', [user, system('S'), assistant, user])).toEqual([
      user,
      system('S'),
      assistant,
      user,
    ]);
  });
});

test.each([
  ['perplexity', 'sonar'],
  ['hunyuan', 'hunyuan-turbos-latest'],
])('%s gets the turns of a conversation one by one', (vendor, model) => {
  const told = (messages: readonly Body[]): unknown =>
    sent(vendor, model, { messages })['messages'];
  const say = (role: string, content: unknown): Body => ({ role, content });
  // AutoGen's group chats: the words of the other agents are the user's.
  expect(
    told([user, say('user', 'Go on'), say('assistant', 'A'), say('assistant', 'B'), user]),
  ).toEqual([say('user', 'Hi\n\nGo on'), say('assistant', 'A\n\nB'), user]);
  expect(told([say('system', 'S'), say('developer', 'T'), say('assistant', 'A'), user])).toEqual([
    say('system', 'S\n\nT'),
    say('user', '…'),
    say('assistant', 'A'),
    user,
  ]);
  const parts = [{ type: 'text', text: 'Hi' }];
  expect(told([say('user', parts), say('system', 'Be brief.')])).toEqual([
    say('user', [...parts, { type: 'text', text: 'Be brief.' }]),
  ]);
  const turns = [say('system', 'S'), user, say('assistant', 'A'), say('user', 'B')];
  expect(told(turns)).toEqual(turns);
  expect(sent('groq', 'llama-3.3-70b', { messages: [user, user] })['messages']).toEqual([
    user,
    user,
  ]);
});

test('the turns of Hunyuan go on after the results of tools', () => {
  const calling = {
    role: 'assistant',
    content: '',
    tool_calls: ['a', 'b'].map((id) => ({
      id,
      type: 'function',
      function: { name: 'weather', arguments: '{}' },
    })),
  };
  const results = ['a', 'b'].map((id) => ({ role: 'tool', tool_call_id: id, content: 'sun' }));
  expect(
    sent('hunyuan', 'hunyuan-turbos-latest', { messages: [user, calling, ...results, user] })[
      'messages'
    ],
  ).toEqual([user, calling, ...results, { role: 'assistant', content: 'Understood.' }, user]);
});

describe('T1: thoughts that come back go to nobody who refuses them', () => {
  const thought = { role: 'assistant', content: 'a', reasoning_content: 'b' };
  const claudes = {
    role: 'assistant',
    content: 'a',
    reasoning_details: [{ type: 'reasoning.text', text: 'b', signature: 's' }],
  };
  const turn = (message: Body): Body => ({ messages: [user, message, user] });

  it.each([
    ['groq', 'openai/gpt-oss-120b', { role: 'assistant', content: 'a', reasoning: 'b' }],
    ['groq', 'llama-3.3-70b-versatile', { role: 'assistant', content: 'a' }],
    ['cerebras', 'gpt-oss-120b', { role: 'assistant', content: 'a' }],
    ['mistral', 'magistral-medium-2509', { role: 'assistant', content: 'a' }],
    ['openai', 'gpt-5.1', { role: 'assistant', content: 'a' }],
    ['perplexity', 'sonar', { role: 'assistant', content: 'a' }],
    ['deepseek', 'deepseek-v4-pro', thought],
    ['xai', 'grok-4.5', thought],
  ])('%s %s gets its second turn', (vendor, model, expected) => {
    expect(assistants(sent(vendor, model, turn(thought)))).toEqual([expected]);
    for (const name of Object.keys(thought).filter(
      (one) => !(one in expected) && !('reasoning' in expected),
    ))
      expect(dropped(vendor, model, turn(thought))).toContain(`messages[].${name}`);
  });

  it.each([
    ['groq', 'openai/gpt-oss-120b'],
    ['cerebras', 'gpt-oss-120b'],
    ['mistral', 'mistral-large-2512'],
  ])('%s %s takes over from Claude, in every client format', (vendor, model) => {
    expect(assistants(sent(vendor, model, turn(claudes)))).toEqual([
      { role: 'assistant', content: 'a' },
    ]);
    const block = {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'b', signature: '' },
        { type: 'text', text: 'a' },
      ],
    };
    const said = sent(vendor, model, { ...turn(block), max_tokens: 9 }, 'messages');
    expect(JSON.stringify(said)).not.toMatch(/reasoning_content|reasoning_details|signature/);
    const input = [
      { type: 'message', role: 'user', content: 'Hi' },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'b' }] },
      {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'a', annotations: [] }],
      },
      { type: 'message', role: 'user', content: 'Hi' },
    ];
    expect(JSON.stringify(sent(vendor, model, { input }, 'responses'))).not.toMatch(
      /reasoning_content|reasoning_details/,
    );
  });

  it('leaves out what answers carry beside their text, where a strict vendor would refuse it', () => {
    const answered = {
      role: 'assistant',
      content: 'a',
      refusal: null,
      annotations: [],
      audio: null,
    };
    for (const [vendor, model] of [
      ['groq', 'llama-3.1-8b-instant'],
      ['mistral', 'mistral-large-2512'],
      ['cerebras', 'gpt-oss-120b'],
    ] as const) {
      expect(assistants(sent(vendor, model, turn(answered)))).toEqual([
        { role: 'assistant', content: 'a' },
      ]);
      // An empty member loses nothing.
      expect(dropped(vendor, model, turn(answered))).toEqual([]);
    }
    expect(assistants(sent('openai', 'gpt-4o', turn(answered)))).toEqual([answered]);
  });

  it.each([
    'openai',
    'mistral',
    'groq',
    'deepseek',
    'together',
    'qwen',
    'zhipu',
    'ollama',
    'vllm',
    'huggingface',
  ])('leaves out what other vendors’ answers carry, and names it: %s', (vendor) => {
    const answered = {
      role: 'assistant',
      content: 'a',
      citations: ['https://a.example'],
      provider_metadata: { b: 1 },
      phases: [],
      token_id: null,
      executed_tools: [{ index: 0 }],
      padding: 'p',
      tool_calls: null,
    };
    const kept = { role: 'assistant', content: 'a', tool_calls: null };
    expect(assistants(sent(vendor, 'model', turn(answered)))).toEqual([kept]);
    expect(dropped(vendor, 'model', turn(answered))).toEqual([
      'messages[].citations',
      'messages[].executed_tools',
      'messages[].padding',
      'messages[].provider_metadata',
    ]);
  });

  it('says a refusal as the answer that it was, where there is no word for it', () => {
    const declined = { role: 'assistant', content: null, refusal: 'I will not.' };
    expect(assistants(sent('qwen', 'qwen-plus', turn(declined)))).toEqual([
      { role: 'assistant', content: 'I will not.' },
    ]);
    expect(dropped('qwen', 'qwen-plus', turn(declined))).toEqual([]);
    expect(assistants(sent('openai', 'gpt-4o', turn(declined)))).toEqual([declined]);
  });

  it('keeps signatures of calls from those that did not sign them, in every client format', () => {
    const extra_content = { google: { thought_signature: 'c2ln' } };
    const call = {
      id: 'call_1',
      type: 'function',
      function: { name: 'weather', arguments: '{}' },
      extra_content,
    };
    const called = { role: 'assistant', content: null, reasoning_content: 'b', tool_calls: [call] };
    const body = {
      messages: [user, called, { role: 'tool', tool_call_id: 'call_1', content: 'rain' }],
    };
    for (const [vendor, model] of [
      ['openai', 'gpt-4o'],
      ['deepseek', 'deepseek-v4-pro'],
      ['qwen', 'qwen-plus'],
    ] as const) {
      expect(JSON.stringify(sent(vendor, model, body))).not.toContain('extra_content');
      expect(dropped(vendor, model, body)).toContain('messages[].tool_calls[].extra_content');
    }
    const input = [
      { type: 'message', role: 'user', content: 'Hi' },
      {
        type: 'function_call',
        call_id: 'call_1',
        name: 'weather',
        arguments: '{}',
        extra_content,
        item_id: 'fc_1',
        output_index: 1,
      },
      { type: 'function_call_output', call_id: 'call_1', output: 'rain' },
      {
        type: 'reasoning',
        id: 'rs_1',
        summary: [],
        encrypted_content: 'c2ln',
        format: 'google-gemini-v1',
      },
      { type: 'message', role: 'user', content: 'Hi' },
    ];
    expect(sent('openai', 'gpt-5.4', { input }, 'responses')['input']).toEqual([
      input[0],
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
      input[2],
      input[4],
    ]);
  });

  it('gives Claude ids of its alphabet, the same on the call and its result, and no blank text of another model', () => {
    const use = (id: string): Body => ({ type: 'tool_use', id, name: 'weather', input: {} });
    const turns = (id: string, said: readonly unknown[]): Body => ({
      max_tokens: 9,
      messages: [
        user,
        { role: 'assistant', content: [...said, use(id)] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'rain' }] },
      ],
    });
    const blank = { type: 'text', text: '\n\n' };
    const read = sent(
      'anthropic',
      'claude-sonnet-4-5',
      turns('functions.add:0', [blank]),
      'messages',
    );
    const [id] = /call_[0-9a-f]{24}/.exec(JSON.stringify(read)) ?? [];
    expect(read).toEqual(turns(id ?? '', []));
    const own = turns('toolu_01', [{ type: 'text', text: 'I look.' }]);
    expect(sent('anthropic', 'claude-sonnet-4-5', own, 'messages')).toEqual(own);
  });

  it('shortens ids of calls that are longer than OpenAI takes, the same on the call and its result', () => {
    const turns = (id: string): Body => ({
      messages: [
        user,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: id, content: 'rain' },
      ],
    });
    const read = sent('openai', 'gpt-4o', turns(`call_${'0a'.repeat(20)}`));
    const id = /"tool_call_id":"([A-Za-z0-9]{40})"/.exec(JSON.stringify(read))?.[1] ?? '';
    expect(read).toEqual(turns(id));
    expect(sent('openai', 'gpt-4o', turns('call_1'))).toEqual(turns('call_1'));
  });

  it('gives the text of thoughts the name that the vendor reads', () => {
    const hosts = { role: 'assistant', content: 'a', reasoning: 'b' };
    expect(assistants(sent('ollama', 'qwen3', turn(thought)))).toEqual([hosts]);
    expect(assistants(sent('deepseek', 'deepseek-v4-pro', turn(hosts)))).toEqual([thought]);
    expect(assistants(sent('vllm', 'm', turn(hosts)))).toEqual([hosts]);
    expect(dropped('ollama', 'qwen3', turn(thought))).toEqual([]);
    // Reasoning under both names is sent under one of them: nothing is lost.
    expect(assistants(sent('ollama', 'qwen3', turn({ ...thought, reasoning: 'b' })))).toEqual([
      hosts,
    ]);
    expect(dropped('ollama', 'qwen3', turn({ ...thought, reasoning: 'b' }))).toEqual([]);
    const empty = { role: 'assistant', content: 'a', reasoning_content: '' };
    expect(assistants(sent('deepseek', 'deepseek-v4-pro', turn(empty)))).toEqual([empty]);
    expect(
      assistants(sent('deepseek', 'deepseek-v4-pro', turn({ ...empty, reasoning: 'b' }))),
    ).toEqual([thought]);
  });
});

test('T16: thoughts that are empty stay as they came', () => {
  const called = {
    role: 'assistant',
    content: null,
    reasoning_content: '',
    tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
  };
  const answer = { role: 'tool', tool_call_id: 'a', content: '12' };
  expect(
    assistants(sent('deepseek', 'deepseek-v4-pro', { messages: [user, called, answer] })),
  ).toEqual([called]);
});
