import { describe, expect, it } from 'vitest';
import { processorMs } from '../../../../test/support/processor-time.ts';
import { chatCall } from '../../../../test/support/vendor-call.ts';
import { vendors } from '../../index.ts';
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

describe('tools', () => {
  it('writes schemas with a root that is an object', () => {
    const { tools, tool_choice } = sent({
      tools: [
        { type: 'function', function: { name: 'now', description: 'The time' } },
        tool('weather'),
      ],
    });
    expect(tools).toEqual([
      { name: 'now', description: 'The time', input_schema: { type: 'object', properties: {} } },
      {
        name: 'weather',
        input_schema: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        },
      },
    ]);
    expect(tool_choice).toBeUndefined();
  });

  it('says of a root that may be several what they are, because it has to be one', () => {
    const branch = (name: string) => ({
      properties: { [name]: { type: 'string' } },
      required: [name],
    });
    const parameters = {
      type: 'object',
      description: 'Where.',
      anyOf: [branch('city'), branch('code')],
    };
    const { tools } = sent({ tools: [tool('weather', { parameters })] });
    expect(tools).toEqual([
      {
        name: 'weather',
        input_schema: {
          type: 'object',
          properties: { city: { type: 'string' }, code: { type: 'string' } },
          description: expect.stringMatching(/^Where\. Valid by \{"anyOf":/),
        },
      },
    ]);
  });

  it('closes the root of a strict tool without parameters', () => {
    const { tools } = sent({
      tools: [{ type: 'function', function: { name: 'now', strict: true } }],
    });
    expect(tools).toMatchObject([
      { strict: true, input_schema: { type: 'object', additionalProperties: false } },
    ]);
  });

  it.each([
    ['auto', {}, { type: 'auto' }],
    ['none', {}, { type: 'none' }],
    ['required', {}, { type: 'any' }],
    ['required', { parallel_tool_calls: false }, { type: 'any', disable_parallel_tool_use: true }],
    [undefined, { parallel_tool_calls: false }, { type: 'auto', disable_parallel_tool_use: true }],
    [{ type: 'function', function: { name: 'b' } }, {}, { type: 'tool', name: 'b' }],
  ])('chooses %j %j', (tool_choice, more, choice) => {
    expect(sent({ tools: [tool('a'), tool('b')], tool_choice, ...more })['tool_choice']).toEqual(
      choice,
    );
  });

  it('leaves tools away that are not allowed, and a choice without tools', () => {
    const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'b' } }] };
    const body = sent({
      tools: [tool('a'), tool('b')],
      tool_choice: { type: 'allowed_tools', allowed_tools: allowed },
    });
    expect(body['tools']).toMatchObject([{ name: 'b' }]);
    expect(body['tool_choice']).toEqual({ type: 'any' });
    expect(
      sent({ tool_choice: 'required', parallel_tool_calls: false })['tool_choice'],
    ).toBeUndefined();
    const none = { type: 'allowed_tools', allowed_tools: allowed };
    expect(() => sent({ tools: [tool('a')], tool_choice: none })).toThrow('none of the `tools`');
  });

  it.each(['claude-opus-5-5', 'claude-fable-5-1', 'claude-mythos-5-1', 'claude-sonnet-5-5'])(
    'asks %s in words to call, because it refuses to be forced',
    (model) => {
      const body = sent(
        { tools: [tool('a')], tool_choice: { type: 'function', function: { name: 'a' } } },
        model,
      );
      expect(body['tool_choice']).toEqual({ type: 'auto' });
      expect(JSON.stringify(body['system'])).toMatch(/must call the tool \\"a\\"/);
      expect(
        JSON.stringify(sent({ tools: [tool('a')], tool_choice: 'required' }, model)['system']),
      ).toContain('at least one of your tools');
    },
  );

  it('compiles strict tools as far as the model does, and leaves out what the compiler refuses', () => {
    const schema = {
      type: 'object',
      properties: {
        n: { type: 'integer', minimum: 1 },
        kind: { oneOf: [{ const: 'a' }, { type: 'null' }] },
      },
      required: ['n', 'kind'],
    };
    const strict = {
      ...tool('a', { strict: true, parameters: schema }),
      cache_control: { type: 'ephemeral' },
    };
    expect(sent({ tools: [strict] })['tools']).toEqual([
      {
        name: 'a',
        input_schema: {
          type: 'object',
          properties: {
            n: { type: 'integer', description: '(minimum: 1)' },
            kind: { anyOf: [{ const: 'a' }, { type: 'null' }] },
          },
          required: ['n', 'kind'],
          additionalProperties: false,
        },
        strict: true,
        cache_control: { type: 'ephemeral' },
      },
    ]);
    const many = Array.from({ length: 21 }, (_, i) => tool(`t${i}`, { strict: true }));
    const node = {
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' } },
      required: ['next'],
    };
    const recursive = { ...node, $defs: { node } };
    const map = { type: 'object', additionalProperties: { type: 'string' } };
    for (const tools of [
      many,
      [tool('a', { strict: true, parameters: recursive })],
      [tool('a', { strict: true, parameters: map })],
    ])
      expect(JSON.stringify(sent({ tools }))).not.toContain('"strict"');
    expect(JSON.stringify(sent({ tools: [strict] }, 'claude-sonnet-4-0'))).not.toContain(
      '"strict"',
    );
  });
});

describe('the format of the answer', () => {
  const schema = {
    type: 'object',
    properties: { name: { type: 'string', minLength: 2 } },
    required: ['name'],
  };
  const wanted = {
    response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema } },
  };

  it('is the model’s own where it has structured outputs', () => {
    const { output_config, tools } = sent(wanted);
    expect(output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          ...schema,
          properties: { name: { type: 'string', description: '(minLength: 2)' } },
          additionalProperties: false,
        },
      },
    });
    expect(tools).toBeUndefined();
  });

  it('is a hidden tool’s input where it has none, or where the schema cannot be compiled', () => {
    const hidden = { name: 'json_answer', description: expect.any(String), input_schema: schema };
    const body = sent(wanted, 'claude-sonnet-4-0');
    expect(body['tools']).toEqual([hidden]);
    expect(body['tool_choice']).toEqual({ type: 'tool', name: 'json_answer' });
    const beside = sent(
      { ...wanted, tools: [tool('a')], reasoning_effort: 'high' },
      'claude-sonnet-4-0',
    );
    expect(beside['tools']).toMatchObject([{ name: 'a' }, hidden]);
    expect(beside['tool_choice']).toEqual({ type: 'any', disable_parallel_tool_use: true });
    expect(beside['thinking']).toBeUndefined();
    const map = { type: 'object', additionalProperties: { type: 'number' } };
    const free = {
      response_format: { type: 'json_schema', json_schema: { name: 'm', schema: map } },
    };
    expect(sent(free)['tools']).toMatchObject([{ name: 'json_answer', input_schema: map }]);
    const told = sent(free, 'claude-opus-5-5');
    expect(told['output_config']).toBeUndefined();
    expect(JSON.stringify(told['system'])).toContain('must conform to this JSON schema');
  });

  it('is told in words where nothing else is left', () => {
    expect(JSON.stringify(sent({ response_format: { type: 'json_object' } })['system'])).toContain(
      'single JSON object',
    );
    const forced = sent(
      { ...wanted, tools: [tool('a')], tool_choice: 'required' },
      'claude-sonnet-4-0',
    );
    expect(JSON.stringify(forced['system'])).toContain(
      JSON.stringify(JSON.stringify(schema)).slice(1, -1),
    );
    expect(forced['tools']).toHaveLength(1);
  });

  it('never forces a call of a model that refuses it, at any host, and loses no map', () => {
    const closed = { type: 'object', properties: {}, required: [], additionalProperties: false };
    const map = { type: 'object', additionalProperties: { type: 'number' } };
    const asked = [closed, map].map((schema) => ({
      response_format: { type: 'json_schema', json_schema: { name: 'm', schema } },
    }));
    for (const host of ['anthropic', 'vertex', 'bedrock'] as const)
      for (const name of ['opus-5-5', 'sonnet-5-5', 'fable-5-1', 'mythos-5-1'])
        for (const tools of [{}, { tools: [tool('a')] }])
          for (const format of [{}, ...asked])
            for (const choice of [{}, { tool_choice: 'required' }]) {
              const model = host === 'bedrock' ? `anthropic.claude-${name}-v1:0` : `claude-${name}`;
              const chat = vendors.get(host)?.adapters.chat;
              const call = chatCall({ ...tools, ...format, ...choice }, model);
              const written = chat?.ask(call).body.toString('utf8') ?? '';
              const where = `${host} ${name} ${JSON.stringify([tools, format, choice])}`;
              expect(written, where).not.toMatch(
                /"tool_?[cC]hoice":\{"(type":"(tool|any)|tool|any)"/,
              );
              if (format === asked[1])
                expect(written, where).toMatch(/additionalProperties[\\":{]+type/);
            }
  });

  it('weighs each definition once, however many references lead to it, and ends', () => {
    const object = (properties: Record<string, unknown>) => ({
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    });
    const next = (level: number) => ({ $ref: `#/$defs/a${level}` });
    const ofLevels = (levels: number, at: (level: number) => Record<string, unknown>) => ({
      ...at(0),
      $defs: {
        ...Object.fromEntries([...Array(levels).keys()].map((n) => [`a${n}`, at(n + 1)])),
        [`a${levels}`]: { type: 'string' },
      },
    });
    const started = processorMs();
    for (const schema of [
      ofLevels(30, (level) => object({ x: next(level), y: next(level) })),
      ofLevels(20_000, (level) => object({ x: next(level) })),
    ])
      sent({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } });
    expect(processorMs() - started).toBeLessThan(500);
  });
});
