import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { VendorCall } from '../../adapter.ts';
import { azure } from '../../vendors/azure.ts';
import { openai } from '../../vendors/openai.ts';
import { perplexity } from '../../vendors/perplexity.ts';
import { sanitizeVendorMessage } from '../../vendor-message.ts';
import { durationMs } from '../fault.ts';
import { isObject, listOf } from '../../../base/json.ts';
import { openaiChat } from './adapter.ts';
import { readUsage } from './response.ts';
import type { ChatQuirks } from './quirks.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

function callOf(body: Record<string, unknown>, over: Partial<VendorCall> = {}): VendorCall {
  return vendorCall(body, {
    upstreamModel: 'upstream',
    stream: true,
    includeUsage: true,
    streamUpstream: true,
    ...over,
  });
}

const whole = { stream: false, includeUsage: false, streamUpstream: false } as const;
const sent = (call: VendorCall, quirks: ChatQuirks = {}): Record<string, unknown> =>
  JSON.parse(openaiChat(quirks).ask(call).body.toString('utf8'));

describe('a request', () => {
  const tuned = {
    model: 'public',
    temperature: 0.2,
    top_p: 1,
    presence_penalty: 0,
    logit_bias: { 1: 2 },
    max_tokens: 9,
  };
  const asked = (upstreamModel: string, more: Record<string, unknown> = {}): unknown =>
    JSON.parse(
      openai.adapters.chat
        ?.ask(callOf({ ...tuned, ...more }, { ...whole, upstreamModel }))
        .body.toString('utf8') ?? '',
    );

  it('loses the sampling that a reasoning model refuses, and keeps what it accepts', () => {
    for (const model of [
      'o3',
      'o4-mini',
      'gpt-5',
      'gpt-5-nano',
      'gpt-5.6-terra',
      'gpt-6-astra',
      'gpt-6.1-sol',
    ]) {
      expect(asked(model)).toEqual({
        model,
        top_p: 1,
        max_completion_tokens: 9,
      });
    }
    // A penalty of 0 is none: leaving it out loses nothing.
    const call = callOf({ presence_penalty: 0 }, { ...whole, upstreamModel: 'gpt-5' });
    expect(openai.adapters.chat?.ask(call).dropped).toBeUndefined();
  });

  it('keeps sampling where reasoning is off, and for models that do not reason', () => {
    const { max_tokens: _, ...rest } = tuned;
    const quiet = { ...rest, model: 'gpt-5.1', max_completion_tokens: 9, reasoning_effort: 'none' };
    expect(asked('gpt-5.1', { reasoning_effort: 'none' })).toEqual(quiet);
    for (const model of [
      'gpt-4o',
      'gpt-4.1-mini',
      'gpt-35-turbo',
      'gpt-5-chat-latest',
      'chatgpt-4o-latest',
    ]) {
      expect(asked(model)).toEqual({ ...tuned, model });
    }
  });

  it('carries one output limit under the vendor’s name, ours when it is tighter', () => {
    const both = { model: 'public', max_tokens: 5, max_completion_tokens: 7 };
    const only: ChatQuirks = {
      takes: [{ source: 'a test, 2026-11', limit: { name: 'max_tokens', takesBoth: false } }],
    };
    const limit = (
      body: Record<string, unknown>,
      quirks: ChatQuirks,
      outputTokensMax?: number,
    ): unknown => {
      const { model: _, ...rest } = sent(callOf(body, { ...whole, outputTokensMax }), quirks);
      return rest;
    };
    expect(limit(both, {})).toEqual({ max_completion_tokens: 7 });
    expect(limit(both, only)).toEqual({ max_tokens: 7 });
    expect(limit({ max_completion_tokens: 7 }, only)).toEqual({ max_tokens: 7 });
    expect(limit({ max_completion_tokens: 7 }, only, 3)).toEqual({ max_tokens: 3 });
    expect(limit({ max_tokens: 7 }, {}, 3)).toEqual({ max_tokens: 3 });
    expect(limit(both, {}, 3)).toEqual({ max_completion_tokens: 3 });
    expect(limit({}, {}, 3)).toEqual({ max_completion_tokens: 3 });
    expect(limit({}, only, 3)).toEqual({ max_tokens: 3 });
  });

  it('asks for usage beside the stream options that the client set', () => {
    const body = { model: 'public', stream: true, stream_options: { include_obfuscation: false } };
    expect(sent(callOf(body, { includeUsage: false }))['stream_options']).toEqual({
      include_obfuscation: false,
      include_usage: true,
    });
    expect(
      sent(callOf({ ...body, stream_options: null }, { includeUsage: false }))['stream_options'],
    ).toEqual({ include_usage: true });
    expect(sent(callOf(body), { streamOptions: false })).not.toHaveProperty('stream_options');
  });

  it('gives foreign tool ids a form that the vendor takes, the same on call and result', () => {
    const messages = [
      { role: 'assistant', tool_calls: [{ id: 'call_foreign_1' }, { id: 'Abc123xyz' }] },
      { role: 'tool', tool_call_id: 'call_foreign_1' },
    ];
    const body = sent(callOf({ model: 'public', messages }, whole), {
      toolIds: { pattern: /^[A-Za-z0-9]{9}$/, length: 9 },
    });
    const [first, second] = Array.isArray(body['messages']) ? body['messages'] : [];
    expect(second.tool_call_id).toMatch(/^[A-Za-z0-9]{9}$/);
    expect(first.tool_calls).toEqual([{ id: second.tool_call_id }, { id: 'Abc123xyz' }]);
  });

  it('names a developer a system where nobody knows a developer', () => {
    const messages = ['developer', 'user', 'developer', 'tool'].map((role) => ({
      role,
      content: role,
    }));
    const roles = (quirks: ChatQuirks) =>
      listOf(sent(callOf({ model: 'public', messages }), quirks)['messages']).map(
        (one) => isObject(one) && one['role'],
      );
    expect(roles({})).toEqual(['developer', 'user', 'developer', 'tool']);
    expect(roles({ takes: [{ source: 'a test, 2026-11', developer: 'system' }] })).toEqual([
      'system',
      'user',
      'system',
      'tool',
    ]);
  });

  it('puts a full stop where a model that thinks would miss the thoughts of its calls', () => {
    const calls = [{ id: 'a' }];
    const messages = [
      { role: 'user', content: 'Hi', tool_calls: calls },
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'assistant', tool_calls: calls, reasoning_content: 'Hm.' },
      { role: 'assistant', content: 'Hello.' },
    ];
    const rows = (models: RegExp) => ({
      takes: [
        {
          source: 'a test, 2026-11',
          models,
          effort: { takes: [], switch: { member: 'thinking', off: { type: 'disabled' } } },
          messages: { assistant: ['reasoning_content'], needsThoughts: true },
        },
      ] satisfies ChatQuirks['takes'],
    });
    const thoughts = (body: object, models: RegExp) =>
      listOf(
        sent(callOf({ model: 'public', messages, ...body }, whole), rows(models))['messages'],
      ).map((message) => (isObject(message) ? message['reasoning_content'] : ''));
    expect(thoughts({}, /./)).toEqual([undefined, '.', 'Hm.', undefined]);
    const untouched = [undefined, undefined, 'Hm.', undefined];
    expect(thoughts({}, /other/)).toEqual(untouched);
    expect(thoughts({ thinking: { type: 'disabled' } }, /./)).toEqual(untouched);
  });

  it('finds both generations of Azure’s addresses', () => {
    expect(azure.pathFor?.('', '/chat/completions', 'm')).toBe('/openai/v1/chat/completions');
    expect(azure.pathFor?.('/openai/v1', '/chat/completions', 'm')).toBe('/chat/completions');
    expect(azure.pathFor?.('/openai', '/chat/completions', 'm 1')).toBe(
      '/deployments/m%201/chat/completions?api-version=2024-10-21',
    );
    expect(azure.pathFor?.('/openai/deployments/m', '/chat/completions', 'x')).toBe(
      '/chat/completions?api-version=2024-10-21',
    );
  });
});

const event = (choice: Record<string, unknown>, more: Record<string, unknown> = {}): string =>
  `data: ${JSON.stringify({ id: 'u', object: 'chat.completion.chunk', created: 5, model: 'm', choices: [{ index: 0, ...choice }], ...more })}\n\n`;

interface Choice {
  index: number;
  delta: {
    content?: string;
    reasoning_content?: string;
    tool_calls?: { index: number; id?: string; function: { arguments: string } }[];
  };
  finish_reason: string | null;
}

function replay(text: string, quirks: ChatQuirks = {}, pieceBytes = Infinity) {
  const translator = openaiChat(quirks).stream(callOf({}));
  const bytes = Buffer.from(text);
  let out = '';
  for (let i = 0; i < bytes.length; i += pieceBytes)
    out += translator.push(bytes.subarray(i, i + pieceBytes));
  out += translator.end();
  const events = Buffer.from(out, 'latin1').toString('utf8').split('\n\n').slice(0, -1);
  const chunks = events.map((line): { choices: Choice[]; usage?: unknown } =>
    JSON.parse(line.slice(6)),
  );
  const choices = chunks.flatMap((chunk) => chunk.choices);
  return {
    meter: translator.meter,
    chunks,
    choices,
    text: choices.map((choice) => choice.delta.content ?? '').join(''),
  };
}

describe('a stream', () => {
  const open = event({ delta: { role: 'assistant', content: '' }, finish_reason: null });
  const say = (content: string, more = {}): string =>
    event({ delta: { content }, finish_reason: null }, more);
  const stop = event({ delta: {}, finish_reason: 'stop' });

  it('brings any text in any mixture of shapes, whole or in pieces, and counts its bytes', () => {
    const piece = fc.record({
      member: fc.constantFrom(
        'content',
        'content',
        'content',
        'reasoning',
        'reasoning_content',
        'both',
      ),
      text: fc.string({ unit: 'binary', maxLength: 12 }),
      pad: fc.option(fc.constantFrom('a"b', 'x', '\\'), { nil: undefined }),
      escaped: fc.boolean(),
    });
    const property = fc.property(
      fc.array(piece, { maxLength: 12 }),
      fc.constantFrom(1, 7, 64, Infinity),
      (pieces, size) => {
        let stream = open;
        for (const { member, text, pad, escaped } of pieces) {
          const delta = member === 'both' ? { content: text, reasoning: text } : { [member]: text };
          const one = event(
            { delta, finish_reason: null },
            pad === undefined ? {} : { obfuscation: pad },
          );
          stream += escaped
            ? one.replace(
                /[\u007f-\uffff]/g,
                (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
              )
            : one;
        }
        const { text, choices, meter } = replay(`${stream}${stop}data: [DONE]\n\n`, {}, size);
        const content = pieces
          .map((p) => (p.member === 'content' || p.member === 'both' ? p.text : ''))
          .join('');
        const reasoning = pieces.map((p) => (p.member === 'content' ? '' : p.text)).join('');
        expect(text).toBe(content);
        expect(choices.map((choice) => choice.delta.reasoning_content ?? '').join('')).toBe(
          reasoning,
        );
        expect(meter).toMatchObject({ finished: true, done: true, fault: undefined });
        expect(meter.outputBytes).toBe(
          pieces.reduce(
            (sum, p) => sum + Buffer.byteLength(p.text) * (p.member === 'both' ? 2 : 1),
            0,
          ),
        );
      },
    );
    // Lone surrogates are excluded: JSON writes them escaped, UTF-8 cannot.
    fc.assert(property, { numRuns: 2000, seed: 20_261_121 });
  });

  it('tells a vendor’s error inside it and forwards nothing after it', () => {
    const error = {
      message: 'This model’s maximum context length is 5 tokens',
      code: 'context_length_exceeded',
    };
    for (const told of [
      `data: ${JSON.stringify({ error })}\n\n`,
      `event: error\ndata: ${JSON.stringify(error)}\n\n`,
    ]) {
      const { meter, text } = replay(open + say('a') + told + say('b') + stop);
      expect(text).toBe('a');
      expect(meter).toMatchObject({
        finished: false,
        fault: { kind: 'context_length', message: error.message },
      });
    }
  });

  it('takes a failure told as finish reason for a fault', () => {
    const { meter, choices } = replay(
      open + say('a') + event({ delta: { content: '' }, finish_reason: 'error' }),
    );
    expect(meter.fault?.kind).toBe('server_error');
    expect(choices.every((choice) => choice.finish_reason === null)).toBe(true);
  });

  it('says nothing after the finish reason', () => {
    const { text, choices } = replay(open + say('a') + stop + say('b') + stop);
    expect(text).toBe('a');
    expect(choices.filter((choice) => choice.finish_reason)).toHaveLength(1);
  });

  it('counts calls from 0 when a vendor gives every one the same index, or none', () => {
    for (const index of [{ index: 0 }, { index: 3 }, {}]) {
      const call = (id: string, args: string): string =>
        event({
          delta: { tool_calls: [{ ...index, id, function: { name: `f${id}`, arguments: args } }] },
          finish_reason: null,
        });
      const more = (args: string): string =>
        event({
          delta: { tool_calls: [{ ...index, function: { arguments: args } }] },
          finish_reason: null,
        });
      const { choices } = replay(
        open + call('a', '{') + more('}') + call('b', '') + more('[') + more(']') + stop,
      );
      const calls = choices.flatMap((choice) => choice.delta.tool_calls ?? []);
      expect(calls.map((c) => [c.index, c.id, c.function.arguments])).toEqual([
        [0, 'a', '{'],
        [0, undefined, '}'],
        [1, 'b', ''],
        [1, undefined, '['],
        [1, undefined, ']'],
      ]);
    }
  });

  it('gives every call of a whole answer an id of its own', () => {
    const call = (id?: string) => ({ id, function: { name: 'f', arguments: { a: 1 } } });
    const reply = {
      choices: [
        {
          message: { tool_calls: [call('x'), call('x'), call(), call('')] },
          finish_reason: 'tool_calls',
        },
      ],
    };
    const answer = openaiChat().read(
      Buffer.from(JSON.stringify(reply)),
      'application/json',
      callOf({}),
    );
    const calls =
      'body' in answer
        ? JSON.parse(answer.body.toString('utf8')).choices[0].message.tool_calls
        : [];
    expect(calls.map((c: { id: string }) => c.id)).toEqual([
      'x',
      'call_1_1',
      'call_1_2',
      'call_1_3',
    ]);
    expect(calls[0]).toEqual({
      id: 'x',
      type: 'function',
      function: { name: 'f', arguments: '{"a":1}' },
    });
  });

  it('is collected with the whole input of custom tools, which is counted', () => {
    const call = (more: object) =>
      event({ delta: { tool_calls: [{ index: 0, ...more }] }, finish_reason: null });
    const begin = call({ id: 'c1', type: 'custom', custom: { name: 'sh', input: 'l' } });
    const rest = call({ custom: { input: 's' } }) + call({ custom: { input: ' -la' } });
    const collector = openaiChat().collect(callOf({}, whole));
    const end = event({ delta: {}, finish_reason: 'tool_calls' });
    collector.push(Buffer.from(`${open}${begin}${rest}${end}data: [DONE]\n\n`));
    const { body, outputText } = collector.answer();
    expect(JSON.parse(body.toString()).choices[0].message.tool_calls).toEqual([
      { id: 'c1', type: 'custom', custom: { name: 'sh', input: 'ls -la' } },
    ]);
    expect(outputText).toBe('shls -la');
    const uncounted = openaiChat().read(
      Buffer.from(body.toString()),
      'application/json',
      callOf({}, whole),
    );
    expect(uncounted).toMatchObject({ outputText });
  });

  it('keeps several choices apart', () => {
    const other = (delta: Record<string, unknown>, finish: string | null = null): string =>
      event({ index: 1, delta, finish_reason: finish });
    const { choices, meter } = replay(
      open +
        other({ role: 'assistant' }) +
        say('a') +
        other({ content: 'b' }) +
        stop +
        other({ content: 'c' }, 'length'),
    );
    expect(
      choices.filter((c) => c.index === 1).map((c) => [c.delta.content ?? '', c.finish_reason]),
    ).toEqual([
      ['', null],
      ['b', null],
      ['c', 'length'],
    ]);
    expect(meter.finished).toBe(true);
    expect(replay(open + other({ role: 'assistant' }) + stop).meter.fault?.kind).toBe('protocol');
  });

  it('reads events that lost their empty line, comments, byte order marks and names', () => {
    const { text, meter } = replay(
      `\ufeff: hi\n\n${open}: ping\n${say('a').trim()}\n${say('b').trim()}\nid: 7\nretry: 1\n\n${stop.trim()}`,
    );
    expect(text).toBe('ab');
    expect(meter.finished).toBe(true);
  });

  it('passes JSON that a vendor writes on several lines on in one, since a client’s reader would lose the others', () => {
    const delta = { role: 'assistant', content: 'Hi' };
    const told = { id: 'x', choices: [{ index: 0, delta, logprobs: { content: [] } }], x_own: [1] };
    const lines = JSON.stringify(told, null, 1).split('\n');
    const translator = openaiChat().stream(callOf({}));
    const out = translator.push(
      Buffer.from(`${lines.map((line) => `data: ${line}\n`).join('')}\n`),
    );
    expect(out).toMatch(/^data: [^\n]+\n\n$/);
    expect(JSON.parse(out.slice(6))).toMatchObject({ choices: [{ delta }], x_own: [1] });
    expect(translator.meter).toMatchObject({ outputBytes: 2, fault: undefined });
  });

  it('takes reasoning out of tags, however they are cut and escaped', () => {
    for (const tagged of [
      '<think>\nab</think>\n\nc<d',
      '\\u003cthink\\u003eab\\u003c/think\\u003ec<d',
      '  <think>ab</think>c<d',
    ]) {
      const pieces = tagged.match(/\\u....|[^]/g) ?? [];
      for (let size = 1; size <= pieces.length; size++) {
        let stream = open;
        for (let i = 0; i < pieces.length; i += size) {
          const raw = pieces
            .slice(i, i + size)
            .join('')
            .replace(/\n/g, '\\n');
          stream += say('@').replace('"@"', `"${raw}"`);
        }
        const { text, choices } = replay(stream + stop, { thinkTags: true });
        expect([
          choices.map((choice) => choice.delta.reasoning_content ?? '').join(''),
          text,
        ]).toEqual(['ab', 'c<d']);
      }
    }
    expect(replay(`${open}${say('<thi')}${stop}`, { thinkTags: true }).text).toBe('<thi');
    expect(replay(`${open}${say('a<think>')}${stop}`, { thinkTags: true }).text).toBe('a<think>');
  });

  it('does not repeat reasoning that the vendor repeats', () => {
    const think = (text: string): string =>
      event({
        delta: { reasoning_details: [{ type: 'reasoning.text', text }] },
        finish_reason: null,
      });
    const { choices } = replay(open + think('a') + think('ab') + think('abc') + stop, {
      cumulativeReasoning: true,
    });
    expect(choices.map((choice) => choice.delta.reasoning_content ?? '').join('')).toBe('abc');
  });

  it('waits for a large event in linear time, and not for ever', () => {
    const image = 'A'.repeat(8_000_000);
    const started = process.cpuUsage();
    expect(replay(open + say(image) + stop, {}, 4096).text.length).toBe(image.length);
    expect(process.cpuUsage(started).user / 1000).toBeLessThan(2000);
    const translator = openaiChat().stream(callOf({}));
    for (let i = 0; i < 40; i++) translator.push(Buffer.alloc(1024 * 1024, 0x61));
    expect(translator.meter.fault?.kind).toBe('protocol');
  });
});

describe('the standard tier', () => {
  // Strict decoders know OpenAI's tiers only: async-openai 0.43, src/types/chat/chat_.rs, the
  // `enum ServiceTier`, refuses the whole answer for Groq's `on_demand`.
  const tierOf = (service_tier: string, quirks: ChatQuirks): unknown => {
    const message = { role: 'assistant', content: 'Hi' };
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    const answer = openaiChat(quirks).read(
      Buffer.from(
        JSON.stringify({
          id: 'u',
          object: 'chat.completion',
          created: 5,
          model: 'm',
          choices: [{ index: 0, message, finish_reason: 'stop' }],
          usage,
          service_tier,
        }),
      ),
      'application/json',
      callOf({}, whole),
    );
    return 'body' in answer ? JSON.parse(answer.body.toString('utf8')).service_tier : answer;
  };

  it('of a vendor has OpenAI’s name in a whole answer', () => {
    expect(tierOf('on_demand', { standardTier: 'on_demand' })).toBe('default');
    expect(tierOf('flex', { standardTier: 'on_demand' })).toBe('flex');
    expect(tierOf('on_demand', {})).toBe('on_demand');
  });

  it('of a vendor has OpenAI’s name in every chunk', () => {
    const tier = { service_tier: 'on_demand' };
    const { chunks } = replay(
      event({ delta: { role: 'assistant', content: 'Hi' } }, tier) +
        event({ delta: { content: '!' } }, tier) +
        event({ delta: {}, finish_reason: 'stop' }, tier) +
        'data: [DONE]\n\n',
      { standardTier: 'on_demand' },
    );
    const tiers = chunks.flatMap((chunk) => ('service_tier' in chunk ? [chunk.service_tier] : []));
    expect(tiers.length).toBeGreaterThan(1);
    expect(new Set(tiers)).toEqual(new Set(['default']));
  });
});

describe('usage', () => {
  it('is divided so that nothing is counted twice, whatever the vendor says', () => {
    const count = fc.option(fc.nat(1000), { nil: undefined });
    const property = fc.property(
      fc.record({
        prompt_tokens: fc.nat(1000),
        completion_tokens: fc.nat(1000),
        total_tokens: count,
      }),
      fc.record({
        cached_tokens: count,
        audio_tokens: count,
        image_tokens: count,
        cache_write_tokens: count,
      }),
      fc.record({ reasoning_tokens: count, audio_tokens: count, image_tokens: count }),
      (usage, prompt_tokens_details, completion_tokens_details) => {
        const read = readUsage(
          JSON.stringify({ ...usage, prompt_tokens_details, completion_tokens_details }),
        );
        const told: { prompt_tokens: number; completion_tokens: number } = JSON.parse(
          read?.json ?? '',
        );
        const sum = Object.values(read?.quantities ?? {}).reduce((a, b) => a + b, 0);
        expect(sum).toBe(told.prompt_tokens + told.completion_tokens);
        expect(Math.min(0, ...Object.values(read?.quantities ?? {}))).toBe(0);
      },
    );
    fc.assert(property, { numRuns: 2000, seed: 20_261_121 });
  });

  it('keeps the vendor’s text and is nothing when it counts nothing', () => {
    const text = '{"prompt_tokens":1,"completion_tokens":2,"total_tokens":3,"cost":0.10}';
    expect(readUsage(text)?.json).toBe(text);
    for (const nothing of [
      'null',
      '{}',
      '[]',
      '"x"',
      '{"prompt_tokens":null}',
      '{"prompt_tokens":-1}',
    ])
      expect(readUsage(nothing)).toBeUndefined();
  });

  it('is nothing when a count is none: negative, a fraction, more than any model reads', () => {
    for (const count of [
      '-1',
      '5.5',
      '1e308',
      '1e400',
      '9e15',
      '9007199254740993123',
      '1000000001',
      '"5"',
      '[]',
      'true',
    ]) {
      expect(
        readUsage(`{"prompt_tokens":${count},"completion_tokens":1,"total_tokens":2}`),
        count,
      ).toBeUndefined();
      expect(
        readUsage(`{"prompt_tokens":1,"completion_tokens":${count},"total_tokens":2}`),
        count,
      ).toBeUndefined();
    }
    expect(readUsage('{"prompt_tokens":1,"completion_tokens":null}')?.quantities).toEqual({
      input: 1,
    });
  });
});

it('Perplexity’s thinking aloud is reasoning, not answer', () => {
  const message = { role: 'assistant', content: '<think>\nWell.\n</think>\n\nYes.' };
  const reply = Buffer.from(
    JSON.stringify({ id: 'p', choices: [{ index: 0, message, finish_reason: 'stop' }] }),
  );
  const read = perplexity.adapters.chat?.read(
    reply,
    'application/json',
    callOf({ model: 'public' }, whole),
  );
  if (read === undefined || !('body' in read)) throw new Error('no answer');
  expect(JSON.parse(read.body.toString('utf8')).choices[0].message).toMatchObject({
    content: 'Yes.',
    reasoning_content: 'Well.\n',
  });
});

describe('a refusal', () => {
  const wait = (headers: Record<string, string>, message = '') =>
    openaiChat().fault(
      429,
      headers,
      JSON.stringify({ error: { message, code: 'rate_limit_exceeded' } }),
    ).retryAfterMs;

  it('says how long to stay away, in whatever way it is told', () => {
    expect(wait({ 'retry-after': '2' })).toBe(2000);
    expect(wait({ 'retry-after': '2', 'retry-after-ms': '1500.5' })).toBe(1500.5);
    expect(
      wait({
        'retry-after': 'Fri, 21 Nov 2026 10:00:30 GMT',
        date: 'Fri, 21 Nov 2026 10:00:00 GMT',
      }),
    ).toBe(30_000);
    expect(
      wait({
        'x-ratelimit-reset-tokens': '6m0s',
        'x-ratelimit-remaining-tokens': '0',
        'x-ratelimit-reset-requests': '12ms',
      }),
    ).toBe(360_000);
    expect(
      wait({ 'x-ratelimit-reset': '1763719230000', date: 'Fri, 21 Nov 2025 10:00:00 GMT' }),
    ).toBe(30_000);
    expect(wait({}, 'Please try again in 1m2.5s.')).toBe(62_500);
    expect(wait({})).toBeUndefined();
    expect(['1.5s', '12ms', '1h2m', '7', 'soon', ''].map(durationMs)).toEqual([
      1500,
      12,
      3_720_000,
      7000,
      undefined,
      undefined,
    ]);
  });

  it('does not tell our secrets', () => {
    const message =
      'Incorrect API key provided: sk-proj-abc***********xyz1, organization org-AbCdEfGhIjKl, Bearer abc.def';
    expect(sanitizeVendorMessage(message)).toBe(
      'Incorrect API key provided: ***, organization ***, Bearer ***',
    );
    expect(sanitizeVendorMessage('x'.repeat(5000)).length).toBeLessThanOrEqual(1001);
    expect(sanitizeVendorMessage('Unknown parameter: user_location')).toBe(
      'Unknown parameter: user_location',
    );
    expect(sanitizeVendorMessage('max_tokens is too large: key-value store, sk-1')).toBe(
      'max_tokens is too large: key-value store, sk-1',
    );
  });

  it('of HTML is named by its title', () => {
    const { kind, message } = openaiChat().fault(
      502,
      {},
      '<html><head><title>502 Bad Gateway</title></head></html>',
    );
    expect({ kind, message }).toEqual({
      kind: 'server_error',
      message: 'status 502 with an HTML page (502 Bad Gateway)',
    });
  });
});
