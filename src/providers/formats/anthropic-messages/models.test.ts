import { describe, expect, it } from 'vitest';
import { chatCall } from '../../../../test/support/vendor-call.ts';
import { anthropicMessages } from './adapter.ts';

const chat = anthropicMessages();

const sent = (
  body: Record<string, unknown>,
  model = 'claude-sonnet-4-6',
): Record<string, unknown> => JSON.parse(chat.ask(chatCall(body, model)).body.toString('utf8'));

const tool = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'function',
  function: {
    name,
    parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    ...more,
  },
});
const call = (id: string, args = '{"city":"Oslo"}'): Record<string, unknown> => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: args },
});

describe('thinking', () => {
  it.each([
    ['claude-3-5-haiku-20241022', 'high', undefined, undefined],
    ['claude-3-7-sonnet-latest', 'low', { type: 'enabled', budget_tokens: 2048 }, undefined],
    ['claude-sonnet-4-5', 'high', { type: 'enabled', budget_tokens: 24_576 }, undefined],
    ['claude-opus-4@20250514', 'minimal', { type: 'enabled', budget_tokens: 1024 }, undefined],
    ['claude-sonnet-4-5', 'none', undefined, undefined],
    ['claude-opus-4-6', 'xhigh', { type: 'adaptive' }, 'high'],
    ['claude-opus-4-6', 'max', { type: 'adaptive' }, 'max'],
    ['claude-opus-4-6', 'none', { type: 'disabled' }, undefined],
    ['claude-opus-4-7', 'xhigh', { type: 'adaptive', display: 'summarized' }, 'xhigh'],
    ['claude-opus-5', 'minimal', { type: 'adaptive', display: 'summarized' }, 'low'],
    ['claude-opus-5', 'none', { type: 'disabled' }, undefined],
    ['claude-sonnet-5-5', 'none', { type: 'between_tools' }, undefined],
    ['claude-opus-5-5', 'none', undefined, 'low'],
    ['claude-fable-5-1', 'none', undefined, 'low'],
    [
      'anthropic.claude-opus-5-5-v1:0',
      'medium',
      { type: 'adaptive', display: 'summarized' },
      'medium',
    ],
    ['claude-of-tomorrow', 'none', undefined, 'low'],
  ])('of %s at effort %s', (model, reasoning_effort, thinking, effort) => {
    const body = sent({ reasoning_effort, temperature: 0.5 }, model);
    expect(body['thinking']).toEqual(thinking);
    expect(body['output_config']).toEqual(effort === undefined ? undefined : { effort });
    if (thinking && thinking.type !== 'disabled') expect(body['temperature']).toBeUndefined();
  });

  it('has no effort where the client wants thinking and does not say how much', () => {
    const wishes = [
      { thinking: { type: 'adaptive' } },
      { thinking: { type: 'enabled' } },
      { reasoning: { enabled: true } },
    ];
    for (const wish of wishes) {
      expect(sent(wish, 'claude-opus-4-6')).toMatchObject({ thinking: { type: 'adaptive' } });
      expect(sent(wish, 'claude-opus-4-6')['output_config']).toBeUndefined();
    }
  });

  it('leaves room for the answer inside the limit, and gives way to a limit that is too small', () => {
    const budget = (max_completion_tokens: number): unknown =>
      sent({ reasoning_effort: 'high', max_completion_tokens }, 'claude-sonnet-4-5')['thinking'];
    expect(budget(10_000)).toEqual({ type: 'enabled', budget_tokens: 8000 });
    expect(budget(1025)).toEqual({ type: 'enabled', budget_tokens: 1024 });
    expect(budget(1024)).toBeUndefined();
  });

  it('understands the objects of others', () => {
    const thinking = (body: object, model = 'claude-sonnet-4-5'): unknown =>
      sent({ ...body }, model)['thinking'];
    expect(thinking({ thinking: { type: 'enabled', budget_tokens: 5000 } })).toEqual({
      type: 'enabled',
      budget_tokens: 5000,
    });
    expect(thinking({ thinking: { type: 'disabled' } }, 'claude-opus-5')).toEqual({
      type: 'disabled',
    });
    expect(thinking({ reasoning: { effort: 'low' } })).toEqual({
      type: 'enabled',
      budget_tokens: 2048,
    });
    expect(thinking({ reasoning: { max_tokens: 3000 } }, 'claude-opus-4-7')).toMatchObject({
      type: 'adaptive',
    });
    expect(thinking({ reasoning: { enabled: false } })).toBeUndefined();
    expect(thinking({ thinking: { type: 'adaptive' } })).toEqual({
      type: 'enabled',
      budget_tokens: 8192,
    });
  });

  it('gives way to a forced call', () => {
    const body = { tools: [tool('a')], tool_choice: 'required', reasoning_effort: 'high' };
    expect(sent(body, 'claude-sonnet-4-5')).toMatchObject({ tool_choice: { type: 'any' } });
    expect(sent(body, 'claude-sonnet-4-5')['thinking']).toBeUndefined();
    expect(sent(body, 'claude-sonnet-5')).toMatchObject({
      tool_choice: { type: 'any' },
      thinking: { type: 'disabled' },
    });
    // Models that cannot stop thinking get no request to do so.
    expect(sent(body, 'claude-fable-5')).toMatchObject({
      tool_choice: { type: 'any' },
      output_config: { effort: 'high' },
    });
    expect(sent(body, 'claude-fable-5')['thinking']).toBeUndefined();
  });

  it('goes on only with its own signed thoughts', () => {
    const details = [
      { type: 'reasoning.text', text: 'Where', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.text', text: ' to?', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.text', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'EvgF', format: 'anthropic-claude-v1', index: 1 },
      { type: 'reasoning.encrypted', data: 'AAAA', format: 'google-gemini-v1', index: 2 },
      { type: 'reasoning.text', text: 'unsigned', index: 3 },
    ];
    const talk = (more: object): object[] => [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        reasoning_content: 'Where to?',
        tool_calls: [call('toolu_1')],
        ...more,
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'sun' },
    ];
    const blocks = [
      { type: 'thinking', thinking: 'Where to?', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'EvgF' },
    ];
    const body = (more: object, model: string): Record<string, unknown> =>
      sent({ messages: talk(more), reasoning_effort: 'low' }, model);
    const thought = (from: Record<string, unknown>): unknown =>
      (from['messages'] as { content: object[] }[])[1]?.content.slice(0, -1);
    for (const more of [{ reasoning_details: details }, { thinking_blocks: blocks }]) {
      expect(thought(body(more, 'claude-sonnet-4-5'))).toEqual(blocks);
      expect(body(more, 'claude-sonnet-4-5')['thinking']).toBeDefined();
    }
    expect(thought(body({}, 'claude-sonnet-4-5'))).toEqual([]);
    expect(body({}, 'claude-sonnet-4-5')['thinking']).toBeUndefined();
    expect(body({}, 'claude-sonnet-4-6')['thinking']).toBeDefined();
    expect(thought(body({ reasoning_details: details }, 'claude-3-5-sonnet-20241022'))).toEqual([]);
  });
});
