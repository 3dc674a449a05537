import { describe, expect, it } from 'vitest';
import {
  ask,
  assistants,
  type Body,
  dropped,
  refused,
  sent,
  untaken,
  user,
  weather,
} from '../../../test/support/asks.ts';
import { listOf } from '../../base/json.ts';

describe('T2: sampling goes to models that do not reason unless they are asked to', () => {
  const tuned = {
    temperature: 0.2,
    top_p: 0.5,
    presence_penalty: 1,
    frequency_penalty: 1,
    logit_bias: { 1: 2 },
    logprobs: true,
    top_logprobs: 2,
  };

  it.each(['gpt-5.1', 'gpt-5.2', 'gpt-5.4', 'gpt-5.4-mini'])('%s without an effort', (model) => {
    expect(sent('openai', model, tuned)).toEqual(tuned);
    expect(ask('openai', model, tuned).dropped).toBeUndefined();
  });

  it.each(['o3', 'gpt-5', 'gpt-5.5', 'gpt-5.6-sol', 'gpt-6-sol'])(
    '%s reasons unless it is told not to, and takes no sampling then',
    (model) => {
      const { logprobs: _, top_logprobs: __, ...sampling } = tuned;
      expect(sent('openai', model, sampling)).toEqual({});
      expect(dropped('openai', model, sampling)).toEqual([
        'frequency_penalty',
        'logit_bias',
        'presence_penalty',
        'temperature',
        'top_p',
      ]);
      expect(untaken('openai', model, tuned)).toBe('logprobs');
    },
  );

  it('an effort decides, in both formats', () => {
    expect(sent('openai', 'gpt-5.4', { temperature: 0.2, reasoning_effort: 'low' })).toEqual({
      reasoning_effort: 'low',
    });
    expect(sent('openai', 'gpt-5.6-sol', { temperature: 0.2, reasoning_effort: 'none' })).toEqual({
      temperature: 0.2,
      reasoning_effort: 'none',
    });
    const native = { store: false, input: 'Hi', include: ['reasoning.encrypted_content'] };
    expect(sent('openai', 'gpt-5.1', { temperature: 0.2 }, 'responses')).toEqual({
      ...native,
      temperature: 0.2,
    });
    expect(
      sent('openai', 'gpt-5.1', { temperature: 0.2, reasoning: { effort: 'low' } }, 'responses'),
    ).toMatchObject({
      ...native,
      reasoning: { effort: 'low' },
    });
    expect(
      dropped('openai', 'gpt-5.1', { temperature: 0.2, reasoning: { effort: 'low' } }, 'responses'),
    ).toEqual(['temperature']);
    const usual = { temperature: 1, top_p: 1 };
    expect(sent('openai', 'gpt-5', usual, 'responses')).toEqual(native);
    expect(ask('openai', 'gpt-5', usual, 'responses').dropped ?? []).toEqual([]);
    expect(sent('openai', 'gpt-5', usual)).toEqual(usual);
  });

  it('gpt-5.4 with tools and no effort stays on chat, with all that chat takes', () => {
    const body = { tools: [weather], seed: 7, n: 2, temperature: 0.2 };
    for (const model of ['gpt-5.4', 'gpt-5.4-mini']) {
      expect(ask('openai', model, body).path).toBe('/chat/completions');
      expect(sent('openai', model, body)).toEqual(body);
    }
    expect(ask('openai', 'gpt-5.4', { ...body, reasoning_effort: 'low', n: 1 }).path).toBe(
      '/responses',
    );
    expect(dropped('openai', 'gpt-5.4', { ...body, reasoning_effort: 'low', n: 1 })).toEqual([
      'seed',
      'temperature',
    ]);
    expect(() => ask('openai', 'gpt-5.4', { ...body, reasoning_effort: 'low' })).toThrow(
      refused('n'),
    );
    expect(ask('openai', 'gpt-5.6-sol', { tools: [weather] }).path).toBe('/responses');
  });

  it('default sampling of a chat that is sent to /responses is left out and not named', () => {
    const usual = { temperature: 1, top_p: 1, presence_penalty: 0, frequency_penalty: 0 };
    const asked = ask('openai', 'gpt-5.6-sol', { tools: [weather], ...usual });
    expect([asked.path, asked.dropped]).toEqual(['/responses', undefined]);
    expect(dropped('openai', 'gpt-5.6-sol', { tools: [weather], ...usual, top_p: 0.5 })).toEqual([
      'top_p',
    ]);
  });
});

describe('T3: the effort in the words of each model', () => {
  const none = { thinking: { type: 'disabled' } };
  it.each<[string, string, string, Body]>([
    ['openai', 'gpt-5', 'none', { reasoning_effort: 'minimal' }],
    ['openai', 'gpt-5', 'xhigh', { reasoning_effort: 'high' }],
    ['openai', 'gpt-5.1', 'minimal', { reasoning_effort: 'low' }],
    ['openai', 'gpt-5.1', 'max', { reasoning_effort: 'high' }],
    ['openai', 'gpt-5.2', 'xhigh', { reasoning_effort: 'xhigh' }],
    ['openai', 'o3', 'none', { reasoning_effort: 'low' }],
    ['openai', 'o3', 'minimal', { reasoning_effort: 'low' }],
    ['openai', 'o3', 'xhigh', { reasoning_effort: 'high' }],
    ['openai', 'gpt-6-astra', 'none', { reasoning_effort: 'low' }],
    ['openai', 'gpt-6.1-sol', 'max', { reasoning_effort: 'xhigh' }],
    ['openai', 'gpt-4o', 'low', {}],
    ['xai', 'grok-4-0709', 'high', {}],
    ['xai', 'grok-4.3', 'none', { reasoning_effort: 'none' }],
    ['xai', 'grok-4.5', 'none', { reasoning_effort: 'low' }],
    ['xai', 'grok-4.5', 'xhigh', { reasoning_effort: 'high' }],
    ['xai', 'grok-3-mini', 'medium', { reasoning_effort: 'high' }],
    ['groq', 'qwen/qwen3-32b', 'none', { reasoning_effort: 'none' }],
    ['groq', 'qwen/qwen3-32b', 'high', { reasoning_effort: 'default' }],
    ['groq', 'openai/gpt-oss-20b', 'none', { reasoning_effort: 'low' }],
    ['groq', 'openai/gpt-oss-20b', 'max', { reasoning_effort: 'high' }],
    ['groq', 'llama-3.3-70b-versatile', 'low', {}],
    ['cerebras', 'gpt-oss-120b', 'minimal', { reasoning_effort: 'low' }],
    ['mistral', 'mistral-small-2603', 'low', { reasoning_effort: 'high' }],
    ['mistral', 'mistral-large-2512', 'low', {}],
    ['deepseek', 'deepseek-v4-pro', 'none', none],
    ['deepseek', 'deepseek-v4-pro', 'minimal', { reasoning_effort: 'low' }],
    ['deepseek', 'deepseek-v4-pro', 'xhigh', { reasoning_effort: 'high' }],
    [
      'deepseek',
      'deepseek-chat',
      'high',
      { reasoning_effort: 'high', thinking: { type: 'enabled' } },
    ],
    ['zhipu', 'glm-4.6', 'none', none],
    ['zhipu', 'glm-5.3', 'high', { reasoning_effort: 'high' }],
    ['qwen', 'qwen3.7-plus', 'none', { enable_thinking: false }],
    ['qwen', 'qwen-plus', 'high', { enable_thinking: true }],
    ['qwen', 'qwen-plus', 'low', { enable_thinking: true, thinking_budget: 2_048 }],
    ['qwen', 'qwen3-coder-plus', 'low', {}],
    ['moonshot', 'kimi-k2.6', 'none', none],
    ['moonshot', 'kimi-k2.6', 'high', { thinking: { type: 'enabled' } }],
    ['moonshot', 'kimi-k3', 'medium', { reasoning_effort: 'low' }],
    ['volcengine', 'doubao-seed-2-0-pro-260215', 'none', none],
    ['volcengine', 'doubao-seed-2-0-pro-260215', 'xhigh', { reasoning_effort: 'high' }],
    ['volcengine', 'doubao-seed-1-6-251015', 'none', none],
    ['minimax', 'MiniMax-M3', 'none', none],
    ['minimax', 'MiniMax-M2.5', 'high', {}],
    ['hunyuan', 'hy4', 'none', { enable_thinking: false }],
    ['siliconflow', 'Qwen/Qwen3-32B', 'none', { enable_thinking: false }],
    ['fireworks', 'accounts/fireworks/models/deepseek-v4', 'max', { reasoning_effort: 'high' }],
  ])('%s %s asked for %s', (vendor, model, effort, expected) => {
    expect(sent(vendor, model, { reasoning_effort: effort })).toEqual(expected);
  });

  it.each<[string, string, Body, Body]>([
    ['openai', 'gpt-5.6-sol', none, { reasoning_effort: 'none' }],
    ['openai', 'gpt-5', { enable_thinking: false }, { reasoning_effort: 'minimal' }],
    ['openai', 'gpt-5', { thinking: { type: 'enabled' } }, {}],
    ['openai', 'gpt-5.1', { thinking: { type: 'enabled' } }, { reasoning_effort: 'medium' }],
    [
      'openai',
      'gpt-5',
      { thinking: { type: 'enabled', budget_tokens: 20_000 } },
      { reasoning_effort: 'high' },
    ],
    ['openai', 'gpt-4o', none, {}],
    ['groq', 'qwen/qwen3-32b', none, { reasoning_effort: 'none' }],
    [
      'deepseek',
      'deepseek-v4-pro',
      { reasoning: { effort: 'xhigh' } },
      { reasoning_effort: 'high' },
    ],
    ['qwen', 'qwen3.7-plus', none, { enable_thinking: false }],
    ['zhipu', 'glm-5.3', { enable_thinking: false }, none],
    ['zhipu', 'glm-5.3', none, none],
    [
      'openrouter',
      'deepseek/deepseek-v4',
      { reasoning: { effort: 'low' } },
      { reasoning: { effort: 'low' } },
    ],
    ['vllm', 'm', { enable_thinking: false }, { enable_thinking: false }],
  ])('%s %s is told %o of other vendors in its own words', (vendor, model, told, expected) => {
    expect(sent(vendor, model, told)).toEqual(expected);
    expect(dropped(vendor, model, told)).toEqual([]);
  });

  it('names an effort that nothing comes of, and keeps the client’s own switch', () => {
    expect(dropped('openai', 'gpt-4o', { reasoning_effort: 'low' })).toEqual(['reasoning_effort']);
    expect(dropped('openai', 'gpt-4o', { thinking: { type: 'enabled' } })).toEqual(['thinking']);
    const own = { thinking: { type: 'enabled' }, reasoning_effort: 'none' };
    expect(sent('zhipu', 'glm-4.6', own)).toEqual({ thinking: { type: 'enabled' } });
    expect(sent('openai', 'gpt-5', { reasoning_effort: 'unheard of' })).toEqual({
      reasoning_effort: 'unheard of',
    });
    expect(sent('openai', 'o3', { reasoning: { effort: 'minimal' } }, 'responses')).toMatchObject({
      reasoning: { effort: 'low' },
    });
  });
});

describe('T9: DeepSeek while it thinks', () => {
  it('is told not to think where a tool is forced, unless the client wants it to', () => {
    for (const choice of ['required', { type: 'function', function: { name: 'weather' } }]) {
      const forced = { tools: [weather], tool_choice: choice };
      expect(sent('deepseek', 'deepseek-v4-pro', forced)).toEqual({
        ...forced,
        thinking: { type: 'disabled' },
      });
      expect(sent('deepseek', 'deepseek-chat', forced)).toEqual(forced);
      const wanted = sent('deepseek', 'deepseek-v4-pro', { ...forced, reasoning_effort: 'high' });
      expect(wanted).toMatchObject({ tool_choice: 'auto', reasoning_effort: 'high' });
      expect(JSON.stringify(listOf(wanted['messages'])[0])).toMatch(/You must call/);
    }
    const free = { tools: [weather], tool_choice: 'auto' };
    expect(sent('deepseek', 'deepseek-v4-pro', free)).toEqual(free);
  });

  it('needs no thoughts of earlier calls then', () => {
    const called = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
    };
    const messages = [user, called, { role: 'tool', tool_call_id: 'a', content: 'x' }];
    expect(
      assistants(
        sent('deepseek', 'deepseek-v4-pro', {
          messages,
          tools: [weather],
          tool_choice: 'required',
        }),
      ),
    ).toEqual([called]);
    expect(assistants(sent('deepseek', 'deepseek-v4-pro', { messages, tools: [weather] }))).toEqual(
      [{ ...called, reasoning_content: '.' }],
    );
  });

  it('reads no picture, which names the part', () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
    ];
    expect(untaken('deepseek', 'deepseek-v4-pro', { messages: [{ role: 'user', content }] })).toBe(
      'messages[0].content[1].type',
    );
    expect(
      untaken('deepseek', 'deepseek-vl2', { messages: [{ role: 'user', content }] }),
    ).toBeUndefined();
    const unknown = [{ type: 'something new' }];
    expect(
      untaken('deepseek', 'deepseek-v4-pro', { messages: [{ role: 'user', content: unknown }] }),
    ).toBeUndefined();
  });

  it('other vendors that choose by themselves are told in words', () => {
    const forced = { tools: [weather], tool_choice: 'required' };
    for (const [vendor, model] of [
      ['zhipu', 'glm-5.3'],
      ['moonshot', 'kimi-k3'],
      ['ollama', 'qwen3'],
    ] as const)
      expect(sent(vendor, model, forced)['tool_choice']).toBe('auto');
    // Its page has no `tool_choice`.
    expect(sent('minimax', 'MiniMax-M2.5', forced)['tool_choice']).toBeUndefined();
    expect(sent('moonshot', 'kimi-k2.6', forced)).toMatchObject({ tool_choice: 'auto' });
    expect(sent('moonshot', 'kimi-k2.6', forced)['thinking']).toBeUndefined();
    expect(sent('openai', 'gpt-4o', forced)).toEqual(forced);
  });
});

describe('a tool that is named, and one that has to be', () => {
  const named = { type: 'function', function: { name: 'weather' } };
  it('is named to a model that is told not to think', () => {
    const forced = { tools: [weather], tool_choice: named };
    expect(sent('moonshot', 'kimi-k2.6', forced)).toEqual({
      ...forced,
      thinking: { type: 'disabled' },
    });
    expect(sent('qwen', 'qwen3-32b', forced)).toEqual({ ...forced, enable_thinking: false });
    expect(sent('qwen', 'qwen-plus', forced)).toEqual(forced);
  });
  it('is the only one there is, where the vendor takes no other way', () => {
    const forced = { tools: [weather], tool_choice: 'required' };
    expect(sent('qwen', 'qwen3-32b', forced)).toMatchObject({
      tool_choice: named,
      enable_thinking: false,
    });
    expect(sent('qwen', 'qwq-plus', forced)['tool_choice']).toBe('auto');
  });
});
