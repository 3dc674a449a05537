import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import {
  adapterOf,
  ask,
  type Body,
  callOf,
  dropped,
  refused,
  sent,
  untaken,
  user,
  weather,
} from '../../../test/support/asks.ts';
import { listOf } from '../../base/json.ts';

describe('T4, C4: a schema works on every model', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'number' } },
    required: ['a'],
    additionalProperties: false,
  };
  const response_format = { type: 'json_schema', json_schema: { name: 'x', strict: true, schema } };
  const spoken = (body: Body): string => JSON.stringify(listOf(body['messages'])[0]);

  it.each([
    ['deepseek', 'deepseek-v4-pro'],
    ['zhipu', 'glm-5.3'],
    ['groq', 'llama-3.3-70b-versatile'],
    ['moonshot', 'moonshot-v1-8k'],
    ['qwen', 'qwen3-max'],
    ['siliconflow', 'Qwen/Qwen2.5-72B-Instruct'],
  ])('%s %s is asked for an object, and told the schema', (vendor, model) => {
    const asked = sent(vendor, model, { response_format });
    expect(asked['response_format']).toEqual({ type: 'json_object' });
    expect(listOf(asked['messages'])).toHaveLength(2);
    expect(spoken(asked)).toContain(JSON.stringify(JSON.stringify(schema)).slice(1, -1));
  });

  it.each([
    ['minimax', 'MiniMax-M2.5'],
    ['hunyuan', 'hunyuan-turbos-latest'],
  ])('%s %s is told the schema alone', (vendor, model) => {
    const asked = sent(vendor, model, { response_format });
    expect(asked['response_format']).toBeUndefined();
    expect(spoken(asked)).toContain('conform to this JSON schema');
  });

  it('keeps it where the model has it, and where there is none', () => {
    for (const [vendor, model] of [
      ['openai', 'gpt-4o'],
      ['groq', 'openai/gpt-oss-120b'],
      ['mistral', 'mistral-large-2512'],
      ['xai', 'grok-4.5'],
    ] as const)
      expect(sent(vendor, model, { response_format })).toEqual({ response_format });
    expect(
      sent('deepseek', 'deepseek-v4-pro', { response_format: { type: 'json_object' } }),
    ).toEqual({
      response_format: { type: 'json_object' },
    });
  });

  it('adds to the instructions that there are, as a text or as parts', () => {
    const asked = (content: unknown): unknown[] => [
      ...listOf(
        sent('deepseek', 'deepseek-v4-pro', {
          response_format,
          messages: [{ role: 'developer', content }, user],
        })['messages'],
      ),
    ];
    const [first, ...rest] = asked('Be ü "brief".');
    expect(first).toMatchObject({
      role: 'system',
      content: expect.stringMatching(/^Be ü "brief"\.\n\nAnswer with a single JSON object/),
    });
    expect(rest).toEqual([user]);
    expect(asked([{ type: 'text', text: 'Be brief.' }])[0]).toMatchObject({
      role: 'system',
      content: [
        { type: 'text', text: expect.stringContaining('JSON schema') },
        { type: 'text', text: 'Be brief.' },
      ],
    });
  });

  it('goes in words beside tools, where the vendor refuses the two together', () => {
    const asked = sent('groq', 'openai/gpt-oss-120b', { response_format, tools: [weather] });
    expect(asked['response_format']).toBeUndefined();
    expect(spoken(asked)).toContain('When you do not call a tool');
  });

  it('reaches DeepSeek from every client format', () => {
    const messages = sent(
      'deepseek',
      'deepseek-v4-pro',
      { max_tokens: 9, output_config: { format: { type: 'json_schema', schema } } },
      'messages',
    );
    const responses = sent(
      'deepseek',
      'deepseek-v4-pro',
      { text: { format: { type: 'json_schema', name: 'x', schema } } },
      'responses',
    );
    for (const asked of [messages, responses]) {
      expect(asked['response_format']).toEqual({ type: 'json_object' });
      expect(spoken(asked)).toContain('conform to this JSON schema');
    }
  });
});

describe('T5: stop texts by our own means', () => {
  const answer = (content: string): Buffer =>
    Buffer.from(
      JSON.stringify({
        id: 'u',
        object: 'chat.completion',
        created: 5,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'length' }],
        usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      }),
    );
  const read = (vendor: string, model: string, body: Body, content: string): unknown => {
    const result = adapterOf(vendor, 'chat').read(
      answer(content),
      'application/json',
      callOf(body, model),
    );
    if ('kind' in result || 'afterMs' in result) throw new Error('no answer');
    return JSON.parse(result.body.toString('utf8')).choices[0];
  };

  it.each([
    ['openai', 'gpt-5'],
    ['openai', 'o3'],
    ['openai', 'gpt-5.1'],
    ['xai', 'grok-4-0709'],
  ])('%s %s is not asked to stop, and its answer ends there', (vendor, model) => {
    const body = { stop: ['END', 'Ünd'] };
    expect(sent(vendor, model, body)).toEqual({});
    expect(ask(vendor, model, body).dropped).toBeUndefined();
    expect(read(vendor, model, body, 'One. ENDTwo.')).toMatchObject({
      message: { content: 'One. ' },
      finish_reason: 'stop',
    });
    expect(read(vendor, model, body, 'Ein Ünd zwei')).toMatchObject({
      message: { content: 'Ein ' },
      finish_reason: 'stop',
    });
    expect(read(vendor, model, body, 'One. E')).toMatchObject({
      message: { content: 'One. E' },
      finish_reason: 'length',
    });
    expect(
      sent(vendor, model, { stop_sequences: ['END'], max_tokens: 9 }, 'messages'),
    ).not.toHaveProperty('stop');
  });

  it('gpt-4o stops at four, and we at the rest', () => {
    const stop = ['a1', 'a2', 'a3', 'a4', 'a5'];
    expect(sent('openai', 'gpt-4o', { stop })).toEqual({ stop: stop.slice(0, 4) });
    expect(read('openai', 'gpt-4o', { stop }, 'x a5 y')).toMatchObject({
      message: { content: 'x ' },
      finish_reason: 'stop',
    });
    expect(sent('openai', 'gpt-4o', { stop: 'END' })).toEqual({ stop: 'END' });
  });

  it.each([[null], [[]], ['']])('stop %j asks for nothing and is left out', (stop) => {
    expect(sent('openai', 'gpt-5', { stop })).toEqual({});
    expect(ask('openai', 'gpt-5', { stop }).dropped).toBeUndefined();
  });

  it('cuts a stream, whatever the pieces, and tells usage all the same', () => {
    const event = (delta: Body, finish: string | null, more: Body = {}): string =>
      `data: ${JSON.stringify({ id: 'u', object: 'chat.completion.chunk', created: 5, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`;
    const words = ['One. ', 'E', 'N', 'D', ' Two.', ' Three.'].map((content) =>
      event({ content }, null),
    );
    const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
    const text = [
      event({ role: 'assistant', content: '' }, null),
      ...words,
      event({}, 'length', { usage }),
      'data: [DONE]\n\n',
    ].join('');
    for (const bytes of [1, 7, 50, 10_000]) {
      const call = {
        ...callOf({ stop: 'END', stream: true }, 'gpt-5'),
        stream: true,
        streamUpstream: true,
        includeUsage: true,
      };
      const translator = adapterOf('openai', 'chat').stream(call);
      let out = '';
      for (let at = 0; at < text.length; at += bytes)
        out += translator.push(Buffer.from(text).subarray(at, at + bytes));
      out += translator.end();
      const chunks = out
        .split('\n\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line.slice(6)));
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe('One. ');
      expect(chunks.flatMap((chunk) => chunk.choices[0]?.finish_reason ?? [])).toEqual(['stop']);
      expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
      expect(translator.meter).toMatchObject({ outputBytes: 5, finished: true, fault: undefined });
    }
  });
});

test('T6: parallel calls of Together, each of which ends with a finish reason, arrive all', () => {
  const call = (index: number, name: string): string =>
    `data: ${JSON.stringify({ id: 'u', object: 'chat.completion.chunk', created: 5, model: 'm', choices: [{ index: 0, delta: { tool_calls: [{ index, id: `call_${index}`, type: 'function', function: { name, arguments: '{}' } }] }, finish_reason: 'tool_calls' }] })}\n\n`;
  const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
  const text = `${call(0, 'a')}${call(1, 'b')}${call(2, 'c')}data: ${JSON.stringify({ id: 'u', choices: [], usage })}\n\ndata: [DONE]\n\n`;
  const translator = adapterOf('together', 'chat').stream({
    ...callOf({ tools: [weather] }, 'm'),
    stream: true,
    streamUpstream: true,
    includeUsage: true,
  });
  const out = translator.push(Buffer.from(text)) + translator.end();
  const chunks = out
    .split('\n\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line.slice(6)));
  const names = chunks.flatMap((chunk) =>
    (chunk.choices[0]?.delta.tool_calls ?? []).map(
      (one: { function: { name: string } }) => one.function.name,
    ),
  );
  expect(names).toEqual(['a', 'b', 'c']);
  // One end, after the last call and before the usage.
  expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason ?? null)).toEqual([
    null,
    null,
    null,
    'tool_calls',
    null,
  ]);
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage });
});

test('T7: o3 and o4-mini are not told whether to call tools in parallel', () => {
  for (const model of ['o3', 'o4-mini', 'o1'])
    for (const parallel of [true, false]) {
      expect(
        sent('openai', model, { tools: [weather], parallel_tool_calls: parallel }),
      ).not.toHaveProperty('parallel_tool_calls');
      // Several calls at once are the default; a sentence instructs the model to make one at a
      // time.
      const left = dropped('openai', model, { tools: [weather], parallel_tool_calls: parallel });
      expect(left).toEqual(parallel ? [] : ['parallel_tool_calls']);
    }
  expect(sent('openai', 'gpt-4o', { tools: [weather], parallel_tool_calls: false })).toHaveProperty(
    'parallel_tool_calls',
    false,
  );
  const tool = { name: 'weather', input_schema: { type: 'object', properties: {} } };
  const messages = {
    max_tokens: 9,
    tools: [tool],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
  };
  expect(sent('openai', 'o3', messages, 'messages')).not.toHaveProperty('parallel_tool_calls');
  expect(dropped('openai', 'o3', messages, 'messages')).toEqual([
    'tool_choice.disable_parallel_tool_use',
  ]);
});

describe('T8, C2: what strict schemas forbid', () => {
  it('Mistral gets no member that its definition does not know', () => {
    const hints = {
      verbosity: 'low',
      safety_identifier: 's',
      user: 'u',
      store: true,
      top_logprobs: 2,
      prompt_cache_retention: '24h',
      client_metadata: {},
    };
    expect(sent('mistral', 'mistral-large-2512', hints)).toEqual({});
    expect(dropped('mistral', 'mistral-large-2512', hints)).toEqual(Object.keys(hints).sort());
    expect(untaken('mistral', 'mistral-large-2512', { modalities: ['text', 'audio'] })).toBe(
      'modalities',
    );
    // A member without an effect is left out, too: the vendor does not know the member at all.
    const idle = { modalities: ['text'], logprobs: false, verbosity: null };
    expect(sent('mistral', 'mistral-large-2512', idle)).toEqual({});
    expect(dropped('mistral', 'mistral-large-2512', idle)).toEqual([]);
    expect(sent('deepseek', 'deepseek-v4-pro', { n: 1 })).toEqual({ n: 1 });
    expect(untaken('mistral', 'mistral-large-2512', { web_search_options: {} })).toBe(
      'web_search_options',
    );
    expect(
      untaken('mistral', 'mistral-large-2512', {
        tools: [{ type: 'custom', custom: { name: 'x' } }],
      }),
    ).toBe('tools[0].type');
    const messages = [{ ...user, name: 'Ada' }];
    expect(ask('mistral', 'mistral-large-2512', { messages }).dropped).toEqual(['messages[].name']);
    expect(sent('mistral', 'mistral-large-2512', { messages })).toEqual({});
  });

  it('Codex can talk to Mistral', () => {
    const codex = {
      prompt_cache_key: 'k',
      text: { verbosity: 'low' },
      client_metadata: { a: 'b' },
      store: false,
    };
    const asked = sent('mistral', 'mistral-large-2512', codex, 'responses');
    // Mistral's own definition has this member, and it makes cached tokens cheaper.
    expect(Object.keys(asked).filter((name) => name !== 'prompt_cache_key')).toEqual([]);
    expect(dropped('mistral', 'mistral-large-2512', codex, 'responses')).toContain(
      'text.verbosity',
    );
  });

  it.each([
    'mistral',
    'perplexity',
    'moonshot',
    'together',
    'fireworks',
    'volcengine',
    'hunyuan',
    'minimax',
    'siliconflow',
    'deepseek',
    'qwen',
    'zhipu',
    'huggingface',
  ])('%s knows no developer', (vendor) => {
    expect(
      listOf(
        sent(vendor, 'm', { messages: [{ role: 'developer', content: 'x' }, user] })['messages'],
      )[0],
    ).toEqual({
      role: 'system',
      content: 'x',
    });
  });
});

describe('marks and lists of OpenAI’s on other vendors', () => {
  const other = { type: 'function', function: { name: 'other', parameters: {} } };
  const allowed = {
    type: 'allowed_tools',
    allowed_tools: {
      mode: 'required',
      tools: [{ type: 'function', function: { name: 'weather' } }],
    },
  };
  const body = { tools: [weather, other], tool_choice: allowed };

  it('tools that are not allowed are left out where the vendor knows no such list', () => {
    expect(sent('openai', 'gpt-4o', body)).toEqual(body);
    for (const [vendor, model] of [
      ['mistral', 'mistral-large-2512'],
      ['vllm', 'm'],
      ['groq', 'llama-3.3-70b-versatile'],
    ] as const)
      expect(sent(vendor, model, body)).toEqual({ tools: [weather], tool_choice: 'required' });
    expect(sent('deepseek', 'deepseek-v4-pro', body)).toEqual({
      tools: [weather],
      tool_choice: 'required',
      thinking: { type: 'disabled' },
    });
  });

  it('marks of a cache and padding are left out, by name', () => {
    const content = [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }];
    const marked = {
      messages: [{ role: 'user', content }],
      stream_options: { include_obfuscation: false, include_usage: true },
    };
    const asked = sent('cerebras', 'gpt-oss-120b', marked);
    expect(asked).toEqual({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
      stream_options: { include_usage: true },
    });
    expect(dropped('cerebras', 'gpt-oss-120b', marked)).toEqual([
      'messages[].content[].cache_control',
      'stream_options.include_obfuscation',
    ]);
  });
});

it('what a vendor would read over is refused before it is sent', () => {
  expect(() => ask('zhipu', 'glm-5.3', { n: 2 })).toThrow(refused('n'));
  expect(() => ask('perplexity', 'sonar', { tools: [weather] })).toThrow(refused('tools'));
  expect(() => ask('deepseek', 'deepseek-v4-pro', { modalities: ['text', 'audio'] })).toThrow(
    refused('modalities'),
  );
});

test('T16: cached tokens that Mistral tells beyond its prompt are no tokens beside it', () => {
  const usage = {
    prompt_tokens: 10,
    completion_tokens: 142,
    total_tokens: 152,
    num_cached_tokens: 64,
  };
  const reply = {
    id: 'u',
    object: 'chat.completion',
    created: 5,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }],
    usage,
  };
  const result = adapterOf('mistral', 'chat').read(
    Buffer.from(JSON.stringify(reply)),
    'application/json',
    callOf({}, 'mistral-large-2512'),
  );
  if ('kind' in result || 'afterMs' in result) throw new Error('no answer');
  expect(JSON.parse(result.body.toString('utf8')).usage).toMatchObject({
    prompt_tokens: 10,
    completion_tokens: 142,
    total_tokens: 152,
  });
  expect(result.quantities).toEqual({ cached_input: 10, output: 142 });
});

test('T17, C7: the word "moderation" alone is no refusal of content', () => {
  const { fault } = adapterOf('openai', 'chat');
  const kind = (message: string): string =>
    fault(
      400,
      {},
      JSON.stringify({ error: { message, type: 'invalid_request_error', code: null } }),
    ).kind;
  expect(kind("Unknown parameter: 'moderation'.")).toBe('bad_request');
  expect(kind('The model gpt-x-moderation does not support images.')).toBe('bad_request');
  expect(kind('Your request was rejected by our moderation system.')).toBe('content_policy');
  expect(kind('Your input was flagged.')).toBe('content_policy');
});

describe('T19, C1: members of Codex and of OpenAI on other vendors', () => {
  it.each([
    ['openai', 'gpt-5.6-sol', ['client_metadata']],
    ['azure', 'gpt-5.6-sol', ['client_metadata']],
    ['xai', 'grok-4.5', ['client_metadata', 'text.verbosity']],
    ['minimax', 'MiniMax-M2.5', ['client_metadata', 'prompt_cache_key', 'text.verbosity']],
    [
      'volcengine',
      'doubao-seed-2-0-pro-260215',
      ['client_metadata', 'prompt_cache_key', 'text.verbosity'],
    ],
  ])('%s, in the same format', (vendor, model, expected) => {
    const codex = {
      prompt_cache_key: 'k',
      text: { verbosity: 'low' },
      client_metadata: { a: 'b' },
    };
    expect(dropped(vendor, model, codex, 'responses')).toEqual([...expected]);
    expect(JSON.stringify(sent(vendor, model, codex, 'responses'))).not.toContain(
      'client_metadata',
    );
  });

  it('a member that nobody knows passes, in the same format', () => {
    expect(sent('groq', 'llama-3.3-70b-versatile', { x_unheard_of: [1] })).toEqual({
      x_unheard_of: [1],
    });
    expect(sent('xai', 'grok-4.5', { x_unheard_of: [1] }, 'responses')).toMatchObject({
      x_unheard_of: [1],
    });
  });
});

test.each([
  ['openai', 'gpt-5'],
  ['groq', 'llama-3.3-70b-versatile'],
])('%s %s: logprobs false asks for nothing and is left out', (vendor, model) => {
  expect(sent(vendor, model, { logprobs: false })).toEqual({});
  expect(ask(vendor, model, { logprobs: false }).dropped).toBeUndefined();
});

test('each row of every table names its page, and when it was read', () => {
  const folders = ['src/providers/vendors', 'src/providers/support'];
  const files = folders
    .flatMap((folder) => readdirSync(folder).map((name) => `${folder}/${name}`))
    .filter((path) => !path.endsWith('.test.ts'));
  let rows = 0;
  for (const path of files) {
    const text = readFileSync(path, 'utf8');
    const named = new Map(
      [...text.matchAll(/const (\w+) =\s+'([^']+)';/g)].map(([, name, value]) => [name, value]),
    );
    for (const [, literal, name] of text.matchAll(/\bsource: (?:'([^']+)'|(?!string\b)(\w+)),?/g)) {
      rows++;
      expect(literal ?? named.get(name) ?? `${path}: ${name}`).toMatch(/\S+, \d{4}-\d{2}/);
    }
  }
  expect(rows).toBeGreaterThan(80);
});

test('a temperature that the vendor refuses is sent as the nearest one that it takes', () => {
  const temperatures = (vendor: string, model: string): unknown[] =>
    [0, 0.7, 2].map((temperature) => sent(vendor, model, { temperature })['temperature']);
  // Agents ask for 0, whatever the model (MiniMax: "(0.0, 1.0]").
  expect(temperatures('minimax', 'MiniMax-M2.7')).toEqual([0.01, 0.7, 1]);
  expect(temperatures('zhipu', 'glm-4.7')).toEqual([0, 0.7, 1]);
  expect(temperatures('moonshot', 'moonshot-v1-8k')).toEqual([0, 0.7, 1]);
  expect(temperatures('mistral', 'mistral-large-2512')).toEqual([0, 0.7, 1.5]);
  expect(temperatures('cerebras', 'llama-3.3-70b')).toEqual([0, 0.7, 1.5]);
  expect(temperatures('qwen', 'qwen-plus')).toEqual([0, 0.7, 1.99]);
  expect(temperatures('perplexity', 'sonar')).toEqual([0, 0.7, 1.99]);
  expect(temperatures('deepseek', 'deepseek-v4-pro')).toEqual([0, 0.7, 2]);
});
