import { describe, expect, test } from 'vitest';
import type { VendorCall } from '../../adapter.ts';
import { anthropicNative } from './native.ts';

const native = anthropicNative();

function asked(
  body: Record<string, unknown>,
  upstreamModel: string,
  outputTokensMax?: number,
  clientHeaders?: VendorCall['clientHeaders'],
) {
  const whole = {
    model: 'm',
    max_tokens: 16_000,
    messages: [{ role: 'user', content: 'Hi' }],
    ...body,
  };
  const call: VendorCall = {
    body: whole,
    bytes: Buffer.from(JSON.stringify(whole)),
    publicModel: 'm',
    upstreamModel,
    stream: false,
    includeUsage: false,
    streamUpstream: false,
    outputTokensMax,
    clientHeaders,
    answerId: 'msg_1',
    created: 1,
  };
  return native.ask(call);
}
const sent = (...of: Parameters<typeof asked>) => JSON.parse(asked(...of).body.toString());
const dropped = (...of: Parameters<typeof asked>) => asked(...of).dropped;

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

test('a version of the format without sampling has none sent, not even the usual values', () => {
  const body = { temperature: 1, top_p: 0.9, top_k: 3 };
  const version = (day: string) => ({ 'anthropic-version': day });
  expect(sent(body, haiku45, undefined, version('2023-06-01'))).toMatchObject({
    temperature: 1,
    top_k: 3,
  });
  const bare = sent({}, haiku45);
  expect(sent(body, haiku45, undefined, version('2026-10-21'))).toEqual(bare);
  expect(dropped(body, haiku45, undefined, version('2026-10-21'))).toEqual(['top_p', 'top_k']);
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

  test('an effort is the nearest that the model takes, or goes by name', () => {
    const effort = (level: string) => ({ output_config: { effort: level } });
    const takes = ([model, level, taken]: readonly [string, string, string | undefined]) =>
      expect(sent(effort(level), model).output_config, `${model} ${level}`).toEqual(
        taken === undefined ? undefined : { effort: taken },
      );
    (
      [
        [haiku45, 'high', undefined],
        ['claude-sonnet-4-5', 'low', undefined],
        ['claude-sonnet-4-20250514', 'xhigh', undefined],
        ['claude-opus-4-5-20251101', 'medium', 'medium'],
        ['claude-opus-4-5-20251101', 'max', 'high'],
        ['claude-opus-4-6', 'xhigh', 'high'],
        ['claude-sonnet-4-6', 'max', 'max'],
        [opus48, 'xhigh', 'xhigh'],
        ['claude-unheard-of', 'max', 'max'],
        ['another-model', 'max', 'max'],
      ] as const
    ).forEach(takes);
    expect(dropped(effort('high'), haiku45)).toEqual(['output_config.effort']);
    expect(dropped(effort('xhigh'), 'claude-opus-4-6')).toBeUndefined();
    const format = { type: 'json_schema', schema: { type: 'object' } };
    expect(sent({ output_config: { effort: 'low', format } }, haiku45).output_config).toEqual({
      format,
    });
    const adaptive = { thinking: { type: 'adaptive' }, ...effort('high') };
    expect(sent({ ...adaptive, max_tokens: 64_000 }, haiku45)).toMatchObject({
      thinking: { type: 'enabled', budget_tokens: 24_576 },
    });
    expect(sent(adaptive, haiku45).output_config).toBeUndefined();
    expect(dropped(adaptive, haiku45)).toBeUndefined();
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

  test('what is left out is named, but for what happens anyway', () => {
    expect(dropped({ temperature: 0.2, top_p: 1, top_k: 3 }, opus55)).toEqual([
      'temperature',
      'top_k',
    ]);
    expect(dropped({ temperature: 1 }, opus55)).toBeUndefined();
    expect(dropped({ temperature: 0.2, top_p: 0.9 }, haiku45)).toEqual(['top_p']);
    expect(dropped({ thinking: budget }, 'claude-3-5-haiku-20241022')).toEqual(['thinking']);
    expect(dropped({ thinking: budget }, opus48)).toBeUndefined();
    expect(dropped({ thinking: { type: 'disabled' } }, opus55)).toBeUndefined();
    const thought = {
      role: 'assistant',
      content: [{ type: 'thinking', thinking: 'Hm.', signature: '' }],
    };
    const messages = [{ role: 'user', content: 'Hi' }, thought, { role: 'user', content: 'So?' }];
    expect(dropped({ messages }, haiku45)).toEqual(['messages[].content[].thinking']);
  });

  test('an answer that the model does not go on with is followed by a request to do so', () => {
    const hi = { role: 'user', content: 'Hi' };
    const go = { role: 'user', content: 'Continue.' };
    const begun = { role: 'assistant', content: 'Sure:' };
    expect(sent({ messages: [hi, begun] }, haiku45).messages).toEqual([hi, begun]);
    expect(sent({ messages: [hi, begun] }, opus55).messages).toEqual([hi, begun, go]);
    const parts = (type: string) => ({
      role: 'assistant',
      content: [{ type: 'text', text: 'Sure:' }, { type }],
    });
    expect(sent({ messages: [hi, parts('text')] }, opus55).messages.at(-1)).toEqual(go);
    // A turn that the vendor has paused, and calls that wait for their results, stay last.
    for (const type of ['server_tool_use', 'tool_use'])
      expect(sent({ messages: [hi, parts(type)] }, opus55).messages).toHaveLength(2);
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
