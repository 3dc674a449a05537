import { describe, expect, it } from 'vitest';
import { Refusal } from '../../base/refusal.ts';
import type { Call } from '../adapter.ts';
import { anthropicMessages } from './anthropic-messages.ts';

const chat = anthropicMessages();

function callOf(body: Record<string, unknown>, upstreamModel = 'claude-sonnet-4-6', over: Partial<Call> = {}): Call {
  const whole = { model: 'public/model', messages: [{ role: 'user', content: 'Hi' }], ...body };
  return {
    body: whole,
    bytes: Buffer.from(JSON.stringify(whole)),
    publicModel: 'public/model',
    upstreamModel,
    stream: false,
    includeUsage: false,
    streamUpstream: false,
    outputTokensMax: undefined,
    answerId: 'chatcmpl-abc',
    created: 1_700_000_000,
    ...over,
  };
}

const sent = (body: Record<string, unknown>, model?: string, over?: Partial<Call>): Record<string, unknown> =>
  JSON.parse(chat.ask(callOf(body, model, over)).body.toString('utf8'));

function refused(body: Record<string, unknown>, model?: string): unknown {
  try {
    chat.ask(callOf(body, model));
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.refusal, param: error.param };
    throw error;
  }
  return 'accepted';
}

const tool = (name: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }, ...more },
});
const call = (id: string, args = '{"city":"Oslo"}'): Record<string, unknown> => ({
  id,
  type: 'function',
  function: { name: 'weather', arguments: args },
});
const png = 'data:image/png;base64,iVBORw0KGgo=';

describe('the conversation', () => {
  it('keeps instructions, roles, media and results where Anthropic wants them', () => {
    const messages = [
      { role: 'developer', content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      { role: 'system', content: 'And kind.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url: png } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          { type: 'text', text: ' ' },
        ],
      },
      { role: 'assistant', content: 'Let me look.', tool_calls: [call('toolu_1'), call('call.2:é', '')] },
      {
        role: 'tool',
        tool_call_id: 'call.2:é',
        content: [
          { type: 'text', text: 'rain' },
          { type: 'image_url', image_url: { url: png } },
        ],
      },
      { role: 'system', content: 'Use Celsius.' },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'sun' },
      { role: 'user', content: [{ type: 'text', text: 'And?', prompt_cache_breakpoint: { mode: 'explicit' } }] },
    ];
    const { system, messages: turns } = sent({ messages });
    expect(system).toEqual([
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'And kind.' },
    ]);
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } };
    const other = expect.stringMatching(/^call_[0-9a-f]{24}$/);
    expect(turns).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          image,
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
          { type: 'tool_use', id: other, name: 'weather', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: other, content: [{ type: 'text', text: 'rain' }, image] },
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'sun' },
          { type: 'text', text: '<system>\nUse Celsius.\n</system>' },
          { type: 'text', text: 'And?', cache_control: { type: 'ephemeral' } },
        ],
      },
    ]);
  });

  it('gives two calls of one id two ids, and each result to the newest call', () => {
    const turn = [
      { role: 'assistant', content: null, tool_calls: [call('call_0')] },
      { role: 'tool', tool_call_id: 'call_0', content: 'x' },
    ];
    const text = JSON.stringify(sent({ messages: [{ role: 'user', content: 'Hi' }, ...turn, ...turn] }));
    const used = [...text.matchAll(/"(?:id|tool_use_id)":"([^"]+)"/g)].map((match) => match[1]);
    expect(used[0]).toBe(used[1]);
    expect(used[2]).toBe(used[3]);
    expect(used[0]).not.toBe(used[2]);
  });

  it('carries PDFs and texts, by bytes and by address', () => {
    const file = (data: string, filename?: string): object => ({
      type: 'file',
      file: { file_data: data, ...(filename ? { filename } : {}) },
    });
    const parts = [
      file('data:application/pdf;base64,JVBERi0=', 'a.pdf'),
      file(`data:text/csv;base64,${Buffer.from('ä;1').toString('base64')}`, 'a.csv'),
      file('https://example.com/b.pdf'),
      file('data:image/jpg;base64,/9j/'),
    ];
    const [turn] = sent({ messages: [{ role: 'user', content: parts }] })['messages'] as { content: unknown[] }[];
    expect(turn?.content).toEqual([
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }, title: 'a.pdf' },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'ä;1' }, title: 'a.csv' },
      { type: 'document', source: { type: 'url', url: 'https://example.com/b.pdf' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/' } },
    ]);
  });

  it.each([
    ['a sound', { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }, 'unsupported_content', 'messages[0].content[0]'],
    ['a film', { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }, 'unsupported_content', 'messages[0].content[0]'],
    ['a file of another house', { type: 'file', file: { file_id: 'file-1' } }, 'invalid_value', 'messages[0].content[0].file'],
    [
      'a picture of another kind',
      { type: 'image_url', image_url: { url: 'data:image/tiff;base64,AA==' } },
      'invalid_value',
      'messages[0].content[0]',
    ],
    [
      'a file of another kind',
      { type: 'file', file: { file_data: 'data:application/zip;base64,AA==' } },
      'invalid_value',
      'messages[0].content[0]',
    ],
    [
      'a picture without its bytes',
      { type: 'image_url', image_url: { url: 'data:image/png,AA' } },
      'invalid_value',
      'messages[0].content[0].image_url.url',
    ],
  ])('refuses %s and names it', (_, part, refusal, param) => {
    expect(refused({ messages: [{ role: 'user', content: [part] }] })).toEqual({ refusal, param });
  });

  it.each([
    ['n', { n: 2 }, 'n'],
    ['sound as an answer', { modalities: ['text', 'audio'] }, 'modalities'],
    ['functions of old', { functions: [{ name: 'f' }] }, 'functions'],
    ['tools that are no functions', { tools: [tool('weather'), { type: 'custom', custom: { name: 'grep' } }] }, 'tools[1].type'],
  ])('refuses %s and names it', (_, body, param) => {
    expect(refused(body)).toEqual({ refusal: 'invalid_value', param });
  });

  it('continues the assistant where the model can, and asks it to go on where it cannot', () => {
    const messages = [
      { role: 'user', content: 'Count.' },
      { role: 'assistant', content: 'One, two, \n' },
    ];
    const last = (model: string, more = {}): unknown => (sent({ messages, ...more }, model)['messages'] as unknown[]).at(-1);
    expect(last('claude-haiku-4-5')).toEqual({ role: 'assistant', content: [{ type: 'text', text: 'One, two,' }] });
    const on = { role: 'user', content: [{ type: 'text', text: 'Continue.' }] };
    expect(last('claude-sonnet-4-6')).toEqual(on);
    expect(last('claude-haiku-4-5', { reasoning_effort: 'low' })).toEqual(on);
  });

  it('says instructions that stand alone', () => {
    const { system, messages } = sent({ messages: [{ role: 'system', content: 'Greet.' }] });
    expect(system).toBeUndefined();
    expect(messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Greet.' }] }]);
  });

  it('keeps arguments that are no object', () => {
    const messages = [
      { role: 'user', content: 'x' },
      { role: 'assistant', tool_calls: [call('a', '[1]'), call('b', '{"half')] },
    ];
    expect(JSON.stringify(sent({ messages }))).toContain('"input":{"arguments":"[1]"}');
    expect(JSON.stringify(sent({ messages }))).toContain('"input":{"arguments":"{\\"half"}');
  });
});

describe('tools', () => {
  it('writes schemas with a root that is an object', () => {
    const { tools, tool_choice } = sent({
      tools: [{ type: 'function', function: { name: 'now', description: 'The time' } }, tool('weather')],
    });
    expect(tools).toEqual([
      { name: 'now', description: 'The time', input_schema: { type: 'object', properties: {} } },
      { name: 'weather', input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] } },
    ]);
    expect(tool_choice).toBeUndefined();
  });

  it.each([
    ['auto', {}, { type: 'auto' }],
    ['none', {}, { type: 'none' }],
    ['required', {}, { type: 'any' }],
    ['required', { parallel_tool_calls: false }, { type: 'any', disable_parallel_tool_use: true }],
    [undefined, { parallel_tool_calls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [{ type: 'function', function: { name: 'b' } }, {}, { type: 'tool', name: 'b' }],
  ])('chooses %j %j', (tool_choice, more, choice) => {
    expect(sent({ tools: [tool('a'), tool('b')], tool_choice, ...more })['tool_choice']).toEqual(choice);
  });

  it('leaves tools away that are not allowed, and a choice without tools', () => {
    const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] };
    const body = sent({ tools: [tool('a'), tool('b')], tool_choice: { type: 'allowed_tools', allowed_tools: allowed } });
    expect(body['tools']).toMatchObject([{ name: 'b' }]);
    expect(body['tool_choice']).toEqual({ type: 'any' });
    expect(sent({ tool_choice: 'required', parallel_tool_calls: false })['tool_choice']).toBeUndefined();
  });

  it.each(['claude-opus-5-5', 'claude-fable-5-1', 'claude-mythos-5-1', 'claude-sonnet-5-5'])(
    'asks %s in words to call, because it refuses to be forced',
    (model) => {
      const body = sent({ tools: [tool('a')], tool_choice: { type: 'function', function: { name: 'a' } } }, model);
      expect(body['tool_choice']).toEqual({ type: 'auto' });
      expect(JSON.stringify(body['system'])).toMatch(/must call the tool \\"a\\"/);
      expect(JSON.stringify(sent({ tools: [tool('a')], tool_choice: 'required' }, model)['system'])).toContain(
        'at least one of your tools',
      );
    },
  );

  it('compiles strict tools as far as the model does, and leaves out what the compiler refuses', () => {
    const schema = {
      type: 'object',
      properties: { n: { type: 'integer', minimum: 1 }, kind: { oneOf: [{ const: 'a' }, { type: 'null' }] } },
      required: ['n', 'kind'],
    };
    const strict = { ...tool('a', { strict: true, parameters: schema }), cache_control: { type: 'ephemeral' } };
    expect(sent({ tools: [strict] })['tools']).toEqual([
      {
        name: 'a',
        input_schema: {
          type: 'object',
          properties: { n: { type: 'integer', description: '(minimum: 1)' }, kind: { anyOf: [{ const: 'a' }, { type: 'null' }] } },
          required: ['n', 'kind'],
          additionalProperties: false,
        },
        strict: true,
        cache_control: { type: 'ephemeral' },
      },
    ]);
    const many = Array.from({ length: 21 }, (_, i) => tool(`t${i}`, { strict: true }));
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, required: ['next'] };
    const recursive = { ...node, $defs: { node } };
    const map = { type: 'object', additionalProperties: { type: 'string' } };
    for (const tools of [many, [tool('a', { strict: true, parameters: recursive })], [tool('a', { strict: true, parameters: map })]])
      expect(JSON.stringify(sent({ tools }))).not.toContain('"strict"');
    expect(JSON.stringify(sent({ tools: [strict] }, 'claude-sonnet-4-0'))).not.toContain('"strict"');
  });
});

describe('the format of the answer', () => {
  const schema = { type: 'object', properties: { name: { type: 'string', minLength: 2 } }, required: ['name'] };
  const wanted = { response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } } };

  it('is the model’s own where it has structured outputs', () => {
    const { output_config, tools } = sent(wanted);
    expect(output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: { ...schema, properties: { name: { type: 'string', description: '(minLength: 2)' } }, additionalProperties: false },
      },
    });
    expect(tools).toBeUndefined();
  });

  it('is a hidden tool’s input where it has none, or where the schema cannot be compiled', () => {
    const hidden = { name: 'json_answer', description: expect.any(String), input_schema: schema };
    const body = sent(wanted, 'claude-sonnet-4-0');
    expect(body['tools']).toEqual([hidden]);
    expect(body['tool_choice']).toEqual({ type: 'tool', name: 'json_answer' });
    const beside = sent({ ...wanted, tools: [tool('a')], reasoning_effort: 'high' }, 'claude-sonnet-4-0');
    expect(beside['tools']).toMatchObject([{ name: 'a' }, hidden]);
    expect(beside['tool_choice']).toEqual({ type: 'any', disable_parallel_tool_use: true });
    expect(beside['thinking']).toBeUndefined();
    const map = { type: 'object', additionalProperties: { type: 'number' } };
    const free = { response_format: { type: 'json_schema', json_schema: { name: 'm', schema: map } } };
    expect(sent(free)['tools']).toMatchObject([{ name: 'json_answer', input_schema: map }]);
    expect(sent(free, 'claude-opus-5-5')['output_config']).toMatchObject({ format: { type: 'json_schema' } });
  });

  it('is told in words where nothing else is left', () => {
    expect(JSON.stringify(sent({ response_format: { type: 'json_object' } })['system'])).toContain('single JSON object');
    const forced = sent({ ...wanted, tools: [tool('a')], tool_choice: 'required' }, 'claude-sonnet-4-0');
    expect(JSON.stringify(forced['system'])).toContain(JSON.stringify(JSON.stringify(schema)).slice(1, -1));
    expect(forced['tools']).toHaveLength(1);
  });
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
    ['anthropic.claude-opus-5-5-v1:0', 'medium', { type: 'adaptive', display: 'summarized' }, 'medium'],
    ['claude-of-tomorrow', 'none', undefined, 'low'],
  ])('of %s at effort %s', (model, reasoning_effort, thinking, effort) => {
    const body = sent({ reasoning_effort, temperature: 0.5 }, model);
    expect(body['thinking']).toEqual(thinking);
    expect(body['output_config']).toEqual(effort === undefined ? undefined : { effort });
    if (thinking && thinking.type !== 'disabled') expect(body['temperature']).toBeUndefined();
  });

  it('leaves room for the answer inside the limit, and gives way to a limit that is too small', () => {
    const budget = (max_completion_tokens: number): unknown =>
      sent({ reasoning_effort: 'high', max_completion_tokens }, 'claude-sonnet-4-5')['thinking'];
    expect(budget(10_000)).toEqual({ type: 'enabled', budget_tokens: 8000 });
    expect(budget(1025)).toEqual({ type: 'enabled', budget_tokens: 1024 });
    expect(budget(1024)).toBeUndefined();
  });

  it('understands the objects of others', () => {
    const thinking = (body: object, model = 'claude-sonnet-4-5'): unknown => sent({ ...body }, model)['thinking'];
    expect(thinking({ thinking: { type: 'enabled', budget_tokens: 5000 } })).toEqual({ type: 'enabled', budget_tokens: 5000 });
    expect(thinking({ thinking: { type: 'disabled' } }, 'claude-opus-5')).toEqual({ type: 'disabled' });
    expect(thinking({ reasoning: { effort: 'low' } })).toEqual({ type: 'enabled', budget_tokens: 2048 });
    expect(thinking({ reasoning: { max_tokens: 3000 } }, 'claude-opus-4-7')).toMatchObject({ type: 'adaptive' });
    expect(thinking({ reasoning: { enabled: false } })).toBeUndefined();
    expect(thinking({ thinking: { type: 'adaptive' } })).toEqual({ type: 'enabled', budget_tokens: 8192 });
  });

  it('gives way to a forced call', () => {
    const body = { tools: [tool('a')], tool_choice: 'required', reasoning_effort: 'high' };
    expect(sent(body, 'claude-sonnet-4-5')).toMatchObject({ tool_choice: { type: 'any' } });
    expect(sent(body, 'claude-sonnet-4-5')['thinking']).toBeUndefined();
    expect(sent(body, 'claude-sonnet-5')).toMatchObject({ tool_choice: { type: 'any' }, thinking: { type: 'disabled' } });
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
      { role: 'assistant', content: null, reasoning_content: 'Where to?', tool_calls: [call('toolu_1')], ...more },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'sun' },
    ];
    const blocks = [
      { type: 'thinking', thinking: 'Where to?', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'EvgF' },
    ];
    const body = (more: object, model: string): Record<string, unknown> => sent({ messages: talk(more), reasoning_effort: 'low' }, model);
    const thought = (from: Record<string, unknown>): unknown => (from['messages'] as { content: object[] }[])[1]?.content.slice(0, -1);
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

describe('everything else', () => {
  it('asks for as much output as the client, the model and the money allow', () => {
    const limit = (body: object, model?: string, outputTokensMax?: number): unknown =>
      sent({ ...body }, model, { outputTokensMax })['max_tokens'];
    expect(limit({})).toBe(64_000);
    expect(limit({}, 'claude-opus-5')).toBe(128_000);
    expect(limit({}, 'claude-3-haiku-20240307')).toBe(4096);
    expect(limit({}, 'somebody-elses-model')).toBe(4096);
    expect(limit({ max_tokens: 9000 }, 'somebody-elses-model')).toBe(9000);
    expect(limit({ max_tokens: 16_384 }, 'claude-3-haiku-20240307')).toBe(4096);
    expect(limit({ max_tokens: 5, max_completion_tokens: 50 })).toBe(50);
    expect(limit({ max_tokens: 50 }, undefined, 16)).toBe(16);
  });

  it.each([
    ['claude-3-5-sonnet-20241022', { temperature: 1.5, top_p: 0.5, top_k: 3 }, { temperature: 1, top_p: 0.5, top_k: 3 }],
    ['claude-sonnet-4-5', { temperature: 0.5, top_p: 0.5 }, { temperature: 0.5 }],
    ['claude-sonnet-4-5', { top_p: 0.5 }, { top_p: 0.5 }],
    ['claude-opus-4-7', { temperature: 1, top_p: 1, top_k: 3 }, {}],
    ['claude-haiku-5-5', { temperature: 0 }, {}],
  ])('gives %s of %j what it takes', (model, body, taken) => {
    const { temperature, top_p, top_k } = sent(body, model);
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(taken);
  });

  it('drops what only tunes, and white space that would stop nothing', () => {
    const body = sent({
      seed: 1,
      logprobs: true,
      logit_bias: {},
      presence_penalty: 1,
      store: true,
      stop: ['END', ' \n'],
      user: 'u1',
      service_tier: 'default',
      x: 1,
    });
    const { model, max_tokens, messages, ...rest } = body;
    expect({ model, max_tokens }).toEqual({ model: 'claude-sonnet-4-6', max_tokens: 64_000 });
    expect(messages).toHaveLength(1);
    expect(rest).toEqual({ stop_sequences: ['END'], metadata: { user_id: 'u1' }, service_tier: 'standard_only' });
    expect(sent({ stop: '\n', user: 'x'.repeat(257), service_tier: 'flex' })).not.toHaveProperty('stop_sequences');
  });

  it('streams when asked to, and marks the whole prompt for the cache', () => {
    const cache_control = { type: 'ephemeral' };
    expect(sent({ cache_control }, undefined, { streamUpstream: true })).toMatchObject({ stream: true, cache_control });
    expect(chat.ask(callOf({})).path).toBe('/messages');
  });

  it('is said at other hosts in their way', () => {
    const vertex = anthropicMessages({
      bodyVersion: 'vertex-2023-10-16',
      path: (model, stream) => `/models/${model}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
      fetches: false,
      structured: false,
    });
    const ask = vertex.ask(
      callOf({ response_format: { type: 'json_schema', json_schema: { schema: { type: 'object', properties: {} } } } }),
    );
    expect(ask.path).toBe('/models/claude-sonnet-4-6:rawPredict');
    const body = JSON.parse(ask.body.toString('utf8'));
    expect(body).toMatchObject({ anthropic_version: 'vertex-2023-10-16', tools: [{ name: 'json_answer' }] });
    expect(body).not.toHaveProperty('model');
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    expect(() => vertex.ask(callOf({ messages: [{ role: 'user', content: [image] }] }))).toThrow(/not its address/);
  });
});
