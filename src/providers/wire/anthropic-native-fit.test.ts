import { describe, expect, test } from 'vitest';
import type { Call } from '../adapter.ts';
import { anthropicNative } from './anthropic-native.ts';

const native = anthropicNative();

function sent(body: Record<string, unknown>, upstreamModel: string, outputTokensMax?: number) {
  const whole = {
    model: 'm',
    max_tokens: 16_000,
    messages: [{ role: 'user', content: 'Hi' }],
    ...body,
  };
  const call: Call = {
    body: whole,
    bytes: Buffer.from(JSON.stringify(whole)),
    publicModel: 'm',
    upstreamModel,
    stream: false,
    includeUsage: false,
    streamUpstream: false,
    outputTokensMax,
    answerId: 'msg_1',
    created: 1,
  };
  return JSON.parse(native.ask(call).body.toString());
}

const haiku45 = 'claude-haiku-4-5';
const opus48 = 'claude-opus-4-8';
const opus55 = 'claude-opus-5-5';
const budget = { type: 'enabled', budget_tokens: 10_000 };
const tools = [{ name: 'a', input_schema: { type: 'object' } }];

describe('a request that fits', () => {
  test.each([
    [haiku45, { thinking: budget }],
    ['claude-sonnet-4-6', { thinking: budget }],
    ['claude-sonnet-4-6', { thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }],
    [opus48, { thinking: { type: 'disabled' }, tools, tool_choice: { type: 'any' } }],
    [opus48, { temperature: 1 }],
    ['claude-3-haiku-20240307', { temperature: 0.2, top_p: 0.9, top_k: 3 }],
  ])('to %s stays as it is: %j', (model, body) => expect(sent(body, model)).toMatchObject(body));
});

describe('what another generation took', () => {
  test('a budget of thinking becomes an effort, and an effort a budget', () => {
    expect(sent({ thinking: budget }, opus48)).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'medium' },
    });
    expect(
      sent(
        { thinking: { ...budget, display: 'omitted' }, output_config: { effort: 'max' } },
        opus48,
      ),
    ).toMatchObject({
      thinking: { type: 'adaptive', display: 'omitted' },
      output_config: { effort: 'max' },
    });
    expect(sent({ thinking: { type: 'adaptive' } }, haiku45).thinking).toEqual({
      type: 'enabled',
      budget_tokens: 8192,
    });
  });

  test('thinking is left out where there is none, and least where there always is some', () => {
    expect(sent({ thinking: budget }, 'claude-3-5-haiku-20241022').thinking).toBeUndefined();
    const { thinking, output_config: config } = sent({ thinking: { type: 'disabled' } }, opus55);
    expect({ thinking, config }).toEqual({ thinking: undefined, config: { effort: 'low' } });
    expect(sent({ thinking: { type: 'disabled' } }, 'claude-sonnet-5-5').thinking).toEqual({
      type: 'between_tools',
    });
  });

  test('a budget stays below a limit that is tighter than the client’s', () => {
    expect(sent({ thinking: budget }, haiku45, 4000)).toMatchObject({
      max_tokens: 4000,
      thinking: { budget_tokens: 3999 },
    });
    const { max_tokens: limit, thinking } = sent(
      { thinking: budget, temperature: 1 },
      haiku45,
      900,
    );
    expect({ limit, thinking }).toEqual({ limit: 900, thinking: undefined });
  });

  test('sampling is left out where it is refused', () => {
    const tuned = { temperature: 0.2, top_p: 0.9, top_k: 3 };
    expect(Object.keys(sent(tuned, opus48))).toEqual(['model', 'max_tokens', 'messages']);
    expect(sent({ temperature: 0.2, top_p: 0.9 }, haiku45)).toMatchObject({ temperature: 0.2 });
    expect(sent({ temperature: 0.2, top_p: 0.9 }, haiku45).top_p).toBeUndefined();
    expect(sent({ ...tuned, thinking: budget }, haiku45).temperature).toBeUndefined();
  });

  test('a call that cannot be forced is asked for in words, after the client’s own', () => {
    const named = sent(
      {
        tools,
        tool_choice: { type: 'tool', name: 'a', disable_parallel_tool_use: true },
        system: 'Be brief.',
      },
      opus55,
    );
    expect(named).toMatchObject({
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      system: [
        { type: 'text', text: 'Be brief.' },
        { type: 'text', text: 'You must call the tool "a" in your next answer.' },
      ],
    });
    expect(sent({ tools, tool_choice: { type: 'any' } }, opus55)).toMatchObject({
      tool_choice: { type: 'auto' },
      system: [{ type: 'text' }],
    });
  });
});
