import { describe, expect, it } from 'vitest';
import { Refusal } from '../../../base/refusal.ts';
import { chatCall } from '../../../../test/support/vendor-call.ts';
import type { VendorCall } from '../../adapter.ts';
import { anthropicMessages } from './adapter.ts';

const chat = anthropicMessages();

const sent = (
  body: Record<string, unknown>,
  model = 'claude-sonnet-4-6',
  over?: Partial<VendorCall>,
): Record<string, unknown> =>
  JSON.parse(chat.ask(chatCall(body, model, over)).body.toString('utf8'));

function refused(body: Record<string, unknown>): unknown {
  try {
    chat.ask(chatCall(body, 'claude-sonnet-4-6'));
  } catch (error) {
    if (error instanceof Refusal) return { refusal: error.refusal, param: error.param };
    throw error;
  }
  return 'accepted';
}

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
const png = 'data:image/png;base64,iVBORw0KGgo=';

describe('the conversation', () => {
  it('keeps instructions, roles, media and results where Anthropic wants them', () => {
    const messages = [
      {
        role: 'developer',
        content: [
          { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
        ],
      },
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
      {
        role: 'assistant',
        content: 'Let me look.',
        tool_calls: [call('toolu_1'), call('call.2:é', '')],
      },
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
      {
        role: 'user',
        content: [{ type: 'text', text: 'And?', prompt_cache_breakpoint: { mode: 'explicit' } }],
      },
    ];
    const { system, messages: turns } = sent({ messages });
    expect(system).toEqual([
      { type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'And kind.' },
    ]);
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
    };
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
          {
            type: 'tool_result',
            tool_use_id: other,
            content: [{ type: 'text', text: 'rain' }, image],
          },
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
    const text = JSON.stringify(
      sent({ messages: [{ role: 'user', content: 'Hi' }, ...turn, ...turn] }),
    );
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
    const [turn] = sent({ messages: [{ role: 'user', content: parts }] })['messages'] as {
      content: unknown[];
    }[];
    expect(turn?.content).toEqual([
      {
        type: 'document',
        source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
        title: 'a.pdf',
      },
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: 'ä;1' },
        title: 'a.csv',
      },
      { type: 'document', source: { type: 'url', url: 'https://example.com/b.pdf' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/' } },
    ]);
  });

  it.each([
    [
      'a sound',
      { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } },
      'unsupported_content',
      'messages[0].content[0]',
    ],
    [
      'a film',
      { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } },
      'unsupported_content',
      'messages[0].content[0]',
    ],
    [
      'a file of another house',
      { type: 'file', file: { file_id: 'file-1' } },
      'invalid_value',
      'messages[0].content[0].file',
    ],
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
    [
      'tools that are no functions',
      { tools: [tool('weather'), { type: 'custom', custom: { name: 'grep' } }] },
      'tools[1].type',
    ],
  ])('refuses %s and names it', (_, body, param) => {
    expect(refused(body)).toEqual({ refusal: 'unsupported_parameter', param });
  });

  it('continues the assistant where the model can, and asks it to go on where it cannot', () => {
    const messages = [
      { role: 'user', content: 'Count.' },
      { role: 'assistant', content: 'One, two, \n' },
    ];
    const last = (model: string, more = {}): unknown =>
      (sent({ messages, ...more }, model)['messages'] as unknown[]).at(-1);
    expect(last('claude-haiku-4-5')).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'One, two,' }],
    });
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
    [
      'claude-3-5-sonnet-20241022',
      { temperature: 1.5, top_p: 0.5, top_k: 3 },
      { temperature: 1, top_p: 0.5, top_k: 3 },
    ],
    ['claude-sonnet-4-5', { temperature: 0.5, top_p: 0.5 }, { temperature: 0.5 }],
    ['claude-sonnet-4-5', { top_p: 0.5 }, { top_p: 0.5 }],
    ['claude-opus-4-7', { temperature: 1, top_p: 1, top_k: 3 }, {}],
    ['claude-haiku-5-5', { temperature: 0 }, {}],
  ])('gives %s of %j what it takes', (model, body, taken) => {
    const { temperature, top_p, top_k } = sent(body, model);
    expect(JSON.parse(JSON.stringify({ temperature, top_p, top_k }))).toEqual(taken);
  });

  it('drops what only tunes by name, and white space that would stop nothing', () => {
    const body = sent({
      seed: 1,
      logprobs: false,
      logit_bias: {},
      presence_penalty: 1,
      store: true,
      stop: ['END', ' \n'],
      user: 'u1',
      service_tier: 'default',
      x: 1,
    });
    const { dropped } = chat.ask(
      chatCall(
        { seed: 1, logprobs: false, presence_penalty: 1, user: 'u1', x: 1 },
        'claude-sonnet-4-6',
      ),
    );
    expect(dropped).toEqual(['seed', 'presence_penalty', 'x']);
    const { model, max_tokens, messages, ...rest } = body;
    expect({ model, max_tokens }).toEqual({ model: 'claude-sonnet-4-6', max_tokens: 64_000 });
    expect(messages).toHaveLength(1);
    expect(rest).toEqual({
      stop_sequences: ['END'],
      metadata: { user_id: 'u1' },
      service_tier: 'standard_only',
    });
    expect(sent({ stop: '\n', user: 'x'.repeat(257), service_tier: 'flex' })).not.toHaveProperty(
      'stop_sequences',
    );
  });

  it('streams when asked to, and marks the whole prompt for the cache', () => {
    const cache_control = { type: 'ephemeral' };
    expect(sent({ cache_control }, undefined, { streamUpstream: true })).toMatchObject({
      stream: true,
      cache_control,
    });
    expect(chat.ask(chatCall({}, 'claude-sonnet-4-6')).path).toBe('/messages');
  });

  it('is said at other hosts in their way', () => {
    const vertex = anthropicMessages({
      bodyVersion: 'vertex-2023-10-16',
      path: (model, stream) => `/models/${model}:${stream ? 'streamRawPredict' : 'rawPredict'}`,
      fetches: false,
      structured: false,
    });
    const ask = vertex.ask(
      chatCall(
        {
          response_format: {
            type: 'json_schema',
            json_schema: { schema: { type: 'object', properties: {} } },
          },
        },
        'claude-sonnet-4-6',
      ),
    );
    expect(ask.path).toBe('/models/claude-sonnet-4-6:rawPredict');
    const body = JSON.parse(ask.body.toString('utf8'));
    expect(body).toMatchObject({
      anthropic_version: 'vertex-2023-10-16',
      tools: [{ name: 'json_answer' }],
    });
    expect(body).not.toHaveProperty('model');
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
    expect(() =>
      vertex.ask(chatCall({ messages: [{ role: 'user', content: [image] }] }, 'claude-sonnet-4-6')),
    ).toThrow(/not its address/);
  });
});
