import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  eventFrame,
  eventStreamFrame,
  exceptionFrame,
} from '../../../../test/support/event-stream.ts';
import type { VendorCall } from '../../adapter.ts';
import { hiddenTool } from '../anthropic-messages/tools.ts';
import { isFault } from '../fault.ts';
import { bedrockConverse } from './adapter.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const nova = 'us.amazon.nova-lite-v1:0';
const schemaAsked = {
  response_format: {
    type: 'json_schema',
    json_schema: { name: 'a', schema: { type: 'object', properties: { n: { type: 'number' } } } },
  },
};

const callOf = (body: Record<string, unknown> = {}, upstreamModel = claude): VendorCall =>
  vendorCall(
    { messages: [{ role: 'user', content: 'Hi' }], ...body },
    {
      publicModel: 'public/model',
      upstreamModel,
      stream: true,
      includeUsage: true,
      streamUpstream: true,
    },
  );

interface Delta {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly reasoning_details?: unknown[];
  readonly tool_calls?: readonly {
    readonly function: { readonly name?: string; readonly arguments?: string };
  }[];
}

function play(frames: readonly Buffer[], call = callOf()) {
  const translator = bedrockConverse.stream(call);
  const text = frames.map((frame) => translator.push(frame)).join('') + translator.end();
  const chunks: { choices: { delta: Delta; finish_reason: string | null }[]; usage?: unknown }[] =
    Buffer.from(text, 'latin1')
      .toString()
      .split('\n\n')
      .filter(Boolean)
      .map((event) => JSON.parse(event.slice(6)));
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  return {
    meter: translator.meter,
    content: deltas.map(({ content }) => content ?? '').join(''),
    details: deltas.flatMap((delta) => delta.reasoning_details ?? []),
    calls: deltas
      .flatMap((delta) => delta.tool_calls ?? [])
      .map(({ function: fn }) => fn.name ?? fn.arguments),
    finish: chunks.flatMap(({ choices }) =>
      choices.flatMap((choice) => choice.finish_reason ?? []),
    ),
    usage: chunks.at(-1)?.usage,
  };
}

const start = eventFrame('messageStart', { role: 'assistant' });
const text = (said: string, contentBlockIndex = 0) =>
  eventFrame('contentBlockDelta', { contentBlockIndex, delta: { text: said } });
const toolUse = (name: string, contentBlockIndex: number, more = {}) =>
  eventFrame('contentBlockStart', {
    contentBlockIndex,
    start: { toolUse: { name, toolUseId: 't1', ...more } },
  });
const input = (json: string, contentBlockIndex: number) =>
  eventFrame('contentBlockDelta', { contentBlockIndex, delta: { toolUse: { input: json } } });
const stop = (contentBlockIndex: number) => eventFrame('contentBlockStop', { contentBlockIndex });
const end = (stopReason: string) => eventFrame('messageStop', { stopReason });
const metadata = eventFrame('metadata', {
  usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
  metrics: { latencyMs: 1 },
});

describe('the end', () => {
  test('is what metadata says, after the reason to stop', () => {
    const translator = bedrockConverse.stream(callOf());
    translator.push(Buffer.concat([start, text('Hi'), end('end_turn')]));
    expect(translator.meter).toMatchObject({ finished: true, done: false, quantities: undefined });
    translator.push(metadata);
    expect(translator.meter).toMatchObject({ done: true, quantities: { input: 3, output: 2 } });
  });

  test('without metadata is an answer without a count, and no fault', () => {
    expect(play([start, text('Hi'), end('end_turn')])).toMatchObject({
      finish: ['stop'],
      meter: { fault: undefined, quantities: undefined },
    });
  });

  test.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['guardrail_intervened', 'content_filter'],
    ['content_filtered', 'content_filter'],
  ])('%s is %s', (reason, finish) =>
    expect(play([start, text('Hi'), end(reason), metadata]).finish).toEqual([finish]),
  );

  test('of a malformed answer is the vendor’s failure', () => {
    for (const reason of ['malformed_model_output', 'malformed_tool_use'])
      expect(play([start, text('Hi'), end(reason), metadata]).meter.fault).toMatchObject({
        kind: 'server_error',
      });
  });
});

test.each([
  ['throttlingException', 'rate_limited'],
  ['modelStreamErrorException', 'server_error'],
  ['internalServerException', 'server_error'],
  ['serviceUnavailableException', 'overloaded'],
  ['validationException', 'bad_request'],
  ['somethingNewException', 'server_error'],
])('%s inside a stream is %s, after what was delivered', (name, kind) => {
  const { meter, content, finish } = play([
    start,
    text('Hi'),
    exceptionFrame(name, { message: 'no' }),
  ]);
  expect({ content, finish }).toEqual({ content: 'Hi', finish: [] });
  expect(meter.fault).toMatchObject({ kind, message: 'no' });
});

test('damage on the way is a fault, and what came before it is delivered', () => {
  const broken = Buffer.from(text('lost'));
  broken.writeUInt8(broken.readUInt8(60) ^ 1, 60);
  expect(play([start, text('Hi'), broken])).toMatchObject({
    content: 'Hi',
    meter: { fault: { kind: 'protocol', message: 'a damaged event' } },
  });
});

test.each(['contentBlockDelta', 'messageStop'])('a %s that is no JSON is a fault', (name) => {
  const broken = eventStreamFrame(
    { ':event-type': name, ':message-type': 'event' },
    '{"delta":{"text":',
  );
  expect(play([start, text('Hi'), broken]).meter.fault).toMatchObject({ kind: 'protocol' });
});

test('events and deltas of tomorrow say nothing', () => {
  const { content, meter } = play([
    start,
    eventFrame('newEvent', { x: 1 }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { citation: {} } }),
    text('Hi'),
    end('end_turn'),
    metadata,
  ]);
  expect(content).toBe('Hi');
  expect(meter.fault).toBeUndefined();
});

test('whatever an event holds, nothing is thrown', () => {
  const names = fc.constantFrom(
    'messageStart',
    'contentBlockStart',
    'contentBlockDelta',
    'contentBlockStop',
    'messageStop',
    'metadata',
  );
  const keys = fc.constantFrom(
    'contentBlockIndex',
    'delta',
    'start',
    'text',
    'toolUse',
    'input',
    'reasoningContent',
    'signature',
    'redactedContent',
    'stopReason',
    'usage',
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, 0, 1, '', 'x', '{'),
      fc.array(tie('value'), { maxLength: 2 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 3 }),
    ),
  }));
  const payload = fc.oneof(
    value.map((one) => JSON.stringify(one)),
    fc.string(),
    fc.constant('{"delta":{"text":"'),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(names, payload), { maxLength: 8 }),
      fc.boolean(),
      (events, hidden) => {
        const frames = events.map(([name, json]) =>
          eventStreamFrame({ ':event-type': name, ':message-type': 'event' }, json),
        );
        const { meter, calls } = play(
          [...frames, text('Hi'), end('end_turn'), metadata],
          hidden ? callOf(schemaAsked, nova) : callOf(),
        );
        expect(meter.finished || meter.fault !== undefined).toBe(true);
        expect(calls.filter((said) => typeof said !== 'string')).toEqual([]);
      },
    ),
    { numRuns: 1000 },
  );
});

test('what the vendor’s own tools do is not the client’s', () => {
  const own = [
    toolUse('nova_grounding', 0, { type: 'server_tool_use' }),
    input('{"q":1}', 0),
    stop(0),
    text('Found.', 1),
    stop(1),
  ];
  expect(play([start, ...own, end('end_turn'), metadata], callOf({}, nova))).toMatchObject({
    content: 'Found.',
    calls: [],
    finish: ['stop'],
  });
});

describe('thinking', () => {
  const thought = (reasoningContent: object) =>
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { reasoningContent } });
  const all = [
    start,
    thought({ text: 'S' }),
    thought({ text: 'o' }),
    thought({ signature: 'c2ln' }),
    stop(0),
    text('Hi', 1),
    end('end_turn'),
    metadata,
  ];

  test('of Claude carries what brings it back', () => {
    expect(play(all).details).toEqual([
      { type: 'reasoning.text', text: 'S', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.text', text: 'o', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.text', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
    ]);
    const redacted = thought({ redactedContent: Buffer.from('EtkE').toString('base64') });
    expect(play([start, redacted, end('end_turn'), metadata]).details).toEqual([
      { type: 'reasoning.encrypted', data: 'EtkE', format: 'anthropic-claude-v1', index: 0 },
    ]);
  });

  test('of others is told once', () => {
    expect(play(all, callOf({}, 'openai.gpt-oss-120b-1:0')).details).toEqual([]);
  });

  test('that is collected goes back as it came', () => {
    const collector = bedrockConverse.collect(callOf());
    for (const frame of all) collector.push(frame);
    const { message } = JSON.parse(collector.answer().body.toString()).choices[0];
    const asked = JSON.parse(
      bedrockConverse
        .ask(
          callOf({
            messages: [{ role: 'user', content: 'Hi' }, message, { role: 'user', content: 'And?' }],
          }),
        )
        .body.toString(),
    );
    expect(asked.messages[1].content).toEqual([
      { reasoningContent: { reasoningText: { text: 'So', signature: 'c2ln' } } },
      { text: 'Hi' },
    ]);
  });
});

describe('a JSON answer that travels as a tool’s input', () => {
  const hidden = callOf(schemaAsked, nova);

  test('is the content, whatever was said beside it', () => {
    const frames = [
      start,
      text('Let me…'),
      stop(0),
      toolUse(hiddenTool, 1),
      input('{"n":', 1),
      input('"ü"}', 1),
      stop(1),
      end('tool_use'),
      metadata,
    ];
    expect(play(frames, hidden)).toMatchObject({
      content: '{"n":"ü"}',
      calls: [],
      finish: ['stop'],
    });
  });

  test('that does not come leaves the words', () => {
    expect(
      play([start, text('I can’t.'), stop(0), end('end_turn'), metadata], hidden),
    ).toMatchObject({
      content: 'I can’t.',
      finish: ['stop'],
    });
  });

  test('is read from a whole answer, too', () => {
    const content = [
      { text: 'Let me…' },
      { toolUse: { toolUseId: 't1', name: hiddenTool, input: { n: 1 } } },
    ];
    const reply = Buffer.from(
      JSON.stringify({
        output: { message: { role: 'assistant', content } },
        stopReason: 'tool_use',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      }),
    );
    const answer = bedrockConverse.read(reply, 'application/json', hidden);
    if (isFault(answer)) throw new Error(answer.message);
    expect(JSON.parse(answer.body.toString()).choices[0]).toMatchObject({
      message: { content: '{"n":1}' },
      finish_reason: 'stop',
    });
  });
});

test('arguments keep numbers that no double holds', () => {
  const reply =
    '{"output":{"message":{"role":"assistant","content":[{"toolUse":{"toolUseId":"t","name":"f","input":{"n":12345678901234567890}}}]}},"stopReason":"tool_use","usage":{"inputTokens":1,"outputTokens":1}}';
  const answer = bedrockConverse.read(Buffer.from(reply), 'application/json', callOf());
  if (isFault(answer)) throw new Error(answer.message);
  expect(
    JSON.parse(answer.body.toString()).choices[0].message.tool_calls[0].function.arguments,
  ).toBe('{"n":12345678901234567890}');
});

test('our own account is not quoted to anybody', () => {
  const reply = JSON.stringify({
    message:
      'User: arn:aws:iam::123456789012:user/ops is not authorized to perform: bedrock:InvokeModel on resource: arn:aws:bedrock:us-east-1::foundation-model/x',
  });
  expect(
    bedrockConverse.fault(403, { 'x-amzn-errortype': 'AccessDeniedException' }, reply).message,
  ).toBe('User: *** is not authorized to perform: bedrock:InvokeModel on resource: ***');
});

test('a subscription that cannot be paid is the account’s trouble', () => {
  const reply = JSON.stringify({
    message:
      'Model access is denied due to INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided.',
  });
  expect(
    bedrockConverse.fault(403, { 'x-amzn-errortype': 'AccessDeniedException' }, reply).kind,
  ).toBe('quota');
});
