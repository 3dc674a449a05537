import { expect, test } from 'vitest';
import type { VendorAnswer, VendorCall, StreamMeter } from '../../adapter.ts';
import { isFault } from '../fault.ts';
import { geminiChat } from './adapter.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const call = vendorCall(
  { messages: [] },
  {
    publicModel: 'public/model',
    upstreamModel: 'gemini-3-flash-preview',
    answerId: 'chatcmpl-abc',
    created: 1_700_000_000,
  },
);
const streamed: VendorCall = { ...call, stream: true, streamUpstream: true, includeUsage: true };

type Parts = readonly object[];
const event = (parts: Parts, extra: object = {}, top: object = {}): object => ({
  candidates: [{ content: { parts, role: 'model' }, ...extra }],
  ...top,
});
const counted = {
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2, totalTokenCount: 7 },
};
const whole = (parts: Parts, finishReason: unknown = 'STOP', top: object = counted): object =>
  event(parts, { finishReason }, top);

function read(reply: object): VendorAnswer {
  const answer = geminiChat.read(
    Buffer.from(JSON.stringify(reply, null, 2)),
    'application/json',
    call,
  );
  if (isFault(answer)) throw new Error(`${answer.kind}: ${answer.message}`);
  return answer;
}
const messageOf = (reply: object): Record<string, unknown> =>
  JSON.parse(read(reply).body.toString()).choices[0].message;

interface Played {
  readonly chunks: readonly {
    choices: { index: number; delta: Record<string, unknown>; finish_reason: string | null }[];
    usage?: object;
  }[];
  readonly meter: StreamMeter;
}

function play(events: readonly object[], end = '\r\n\r\n'): Played {
  const translator = geminiChat.stream(streamed);
  let text = '';
  for (const one of events)
    text += translator.push(Buffer.from(`data: ${JSON.stringify(one)}${end}`));
  text += translator.end();
  const all = Buffer.from(text, 'latin1').toString('utf8').split('\n\n').filter(Boolean);
  return { chunks: all.map((one) => JSON.parse(one.slice(6))), meter: translator.meter };
}
const finishesOf = ({ chunks }: Played): unknown[] =>
  chunks.flatMap((one) => one.choices.map((choice) => choice.finish_reason)).filter(Boolean);
const deltasOf = ({ chunks }: Played): object[] =>
  chunks.flatMap((one) => one.choices.map((choice) => choice.delta));

test.each([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['MALFORMED_FUNCTION_CALL', 'stop'],
  ['OTHER', 'stop'],
  ['UNHEARD_OF', 'stop'],
  [1, 'stop'],
  [2, 'length'],
])('an answer that ends with %s has finish reason %s', (reason, expected) => {
  const reply = whole([{ text: 'Hi' }], reason);
  expect(JSON.parse(read(reply).body.toString()).choices).toEqual([
    { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: expected },
  ]);
  expect(finishesOf(play([reply]))).toEqual([expected]);
});

test('a model that failed before it said anything is tried again elsewhere', () => {
  const thought = { text: 'Hm.', thought: true };
  for (const reason of [
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'NO_IMAGE',
    'OTHER',
  ]) {
    expect(
      geminiChat.read(Buffer.from(JSON.stringify(whole([], reason))), 'application/json', call),
    ).toMatchObject({
      kind: 'server_error',
    });
    expect(play([event([thought]), whole([], reason)]).meter).toMatchObject({
      finished: false,
      fault: { kind: 'server_error' },
    });
  }
});

test('calls make the finish reason, and have ids, made where the vendor gave none', () => {
  const reply = whole([
    { functionCall: { name: 'f', args: { a: 1 } } },
    { functionCall: { name: 'g', id: 'given' } },
  ]);
  expect(JSON.parse(read(reply).body.toString()).choices).toEqual([
    {
      index: 0,
      message: {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_abc_0', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'given', type: 'function', function: { name: 'g', arguments: '{}' } },
        ],
      },
      finish_reason: 'tool_calls',
    },
  ]);
  expect(finishesOf(play([reply]))).toEqual(['tool_calls']);
});

test('arguments keep numbers that no double holds', () => {
  const text =
    '{"candidates":[{"content":{"parts":[{"text":"é"},{"functionCall":{"name":"f","args":{ "n" : 12345678901234567890, "s": "a \\" b é" }}}]},"finishReason":"STOP"}]}';
  const translator = geminiChat.stream(streamed);
  const out = Buffer.from(translator.push(Buffer.from(`data: ${text}\n\n`)), 'latin1').toString(
    'utf8',
  );
  expect(out).toContain(JSON.stringify('{"n":12345678901234567890,"s":"a \\" b é"}'));
});

test('signatures of calls and of text find a place in the answer', () => {
  const message = messageOf(
    whole([
      { text: 'So: ' },
      { text: 'yes', thoughtSignature: 'dGV4dA==' },
      { functionCall: { name: 'f' }, thoughtSignature: 'c2ln' },
    ]),
  );
  expect(message).toMatchObject({
    content: 'So: yes',
    reasoning_details: [
      { type: 'reasoning.encrypted', data: 'dGV4dA==', format: 'google-gemini-v1', index: 0 },
    ],
    tool_calls: [{ extra_content: { google: { thought_signature: 'c2ln' } } }],
  });
});

test('what the gateway said is understood when it comes back', () => {
  const message = messageOf(
    whole([
      { text: 'yes', thoughtSignature: 'dGV4dA==' },
      { functionCall: { name: 'f', id: 'x' }, thoughtSignature: 'c2ln' },
    ]),
  );
  const messages = [
    { role: 'user', content: 'Hi' },
    message,
    { role: 'tool', tool_call_id: 'x', content: 'done' },
  ];
  expect(
    JSON.parse(geminiChat.ask({ ...call, body: { messages } }).body.toString()).contents[1],
  ).toEqual({
    role: 'model',
    parts: [
      { text: 'yes', thoughtSignature: 'dGV4dA==' },
      { functionCall: { id: 'x', name: 'f', args: {} }, thoughtSignature: 'c2ln' },
    ],
  });
});

test('thoughts, images, speech and code that ran are delivered', () => {
  const message = messageOf(
    whole([
      { text: 'Hm.', thought: true },
      { executableCode: { language: 'PYTHON', code: 'print(1)' } },
      { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { inlineData: { mimeType: 'audio/L16;rate=24000', data: 'BBBB' } },
    ]),
  );
  expect(message).toEqual({
    role: 'assistant',
    content: '\n```python\nprint(1)\n```\n\n```\n1\n```\n',
    reasoning_content: 'Hm.',
    images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }],
    audio: { id: 'audio_chatcmpl-abc', expires_at: 1_700_003_600, transcript: '', data: 'BBBB' },
  });
});

test('several answers are several choices, each with its own role, calls and end', () => {
  const both = (a: object, b: object): object => ({
    candidates: [
      { index: 0, ...a },
      { index: 1, ...b },
    ],
    ...counted,
  });
  const played = play([
    both(
      { content: { parts: [{ text: 'A' }] } },
      { content: { parts: [{ functionCall: { name: 'f' } }] } },
    ),
    both({ content: { parts: [{ text: 'B' }] }, finishReason: 'STOP' }, { finishReason: 'STOP' }),
  ]);
  expect(played.chunks.flatMap((one) => one.choices)).toMatchObject([
    { index: 0, delta: { role: 'assistant', content: 'A' } },
    {
      index: 1,
      delta: { role: 'assistant', content: null, tool_calls: [{ index: 0, id: 'call_abc_0' }] },
    },
    { index: 0, delta: { content: 'B' } },
    { index: 0, finish_reason: 'stop' },
    { index: 1, finish_reason: 'tool_calls' },
  ]);
  const one = both(
    { content: { parts: [{ text: 'A' }] } },
    { content: { parts: [{ text: 'B' }] } },
  );
  const translator = geminiChat.stream(streamed);
  translator.push(Buffer.from(`data: ${JSON.stringify(one)}\n\n`));
  expect(
    translator.cutShort({ input: 1, output: 1 }).match(/"finish_reason":"length"/g),
  ).toHaveLength(2);
});

test('the last of several ends is the end, and the usage follows it', () => {
  const played = play([
    event([{ text: 'One' }], { finishReason: 'MAX_TOKENS' }, counted),
    event(
      [{ text: 'Two' }],
      { finishReason: 'STOP' },
      { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 4 } },
    ),
  ]);
  expect(deltasOf(played).map((delta) => Reflect.get(delta, 'content'))).toEqual([
    'One',
    'Two',
    undefined,
  ]);
  expect(finishesOf(played)).toEqual(['stop']);
  expect(played.chunks.at(-1)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 5, completion_tokens: 4, total_tokens: 9 },
  });
  expect(played.meter).toMatchObject({ finished: true, fault: undefined });
});

test('a connection that breaks after the end and the count took nothing away', () => {
  const translator = geminiChat.stream(streamed);
  translator.push(Buffer.from(`data: ${JSON.stringify(whole([{ text: 'Hi' }]))}\n\n`));
  expect(translator.meter).toMatchObject({ finished: true, quantities: { input: 5, output: 2 } });
});

test('a stream without an end is a fault, whatever was said', () => {
  expect(play([event([{ text: 'Hi' }], {}, counted)]).meter).toMatchObject({
    finished: false,
    fault: { kind: 'protocol' },
  });
  expect(play([]).meter).toMatchObject({ fault: { kind: 'protocol' } });
});

test('a stream’s error is told and ends it', () => {
  const error = {
    error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' },
  };
  const played = play([event([{ text: 'Hi' }]), error, whole([{ text: 'more' }])]);
  expect(deltasOf(played)).toHaveLength(1);
  expect(played.meter).toMatchObject({ finished: false, fault: { kind: 'overloaded' } });
});

test('a list instead of events is read: answers whole, errors as errors', () => {
  const list = [event([{ text: 'One, ' }]), whole([{ text: 'two' }])];
  expect(messageOf(list)).toMatchObject({ content: 'One, two' });
  const errors = JSON.stringify([
    { error: { code: 429, message: 'Slow down.', status: 'RESOURCE_EXHAUSTED' } },
  ]);
  expect(geminiChat.read(Buffer.from(errors), 'application/json', call)).toMatchObject({
    kind: 'rate_limited',
  });
  const translator = geminiChat.stream(streamed);
  translator.push(Buffer.from(errors));
  translator.end();
  expect(translator.meter.fault).toMatchObject({ kind: 'rate_limited' });
});

const blocked = {
  promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
  usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
};

test('a prompt that was blocked is a refusal, and in a stream an empty answer that was filtered', () => {
  expect(geminiChat.read(Buffer.from(JSON.stringify(blocked)), 'application/json', call)).toEqual({
    kind: 'content_policy',
    message: 'The prompt was blocked (PROHIBITED_CONTENT).',
  });
  const collector = geminiChat.collect({ ...call, streamUpstream: true });
  collector.push(Buffer.from(`data: ${JSON.stringify(blocked)}\n\n`));
  collector.answer();
  expect(collector.meter.fault).toMatchObject({ kind: 'content_policy' });
  const played = play([blocked]);
  expect(finishesOf(played)).toEqual(['content_filter']);
  expect(played.meter).toMatchObject({ fault: undefined, quantities: { input: 5 } });
});

test('logprobs have the convention’s shape', () => {
  const logprobsResult = {
    chosenCandidates: [{ token: 'é', tokenId: 7, logProbability: -0.5 }],
    topCandidates: [
      {
        candidates: [
          { token: 'é', logProbability: -0.5 },
          { token: 'e', logProbability: -1 },
        ],
      },
    ],
  };
  const reply = event([{ text: 'é' }], { finishReason: 'STOP', logprobsResult }, counted);
  expect(JSON.parse(read(reply).body.toString()).choices[0].logprobs).toEqual({
    content: [
      {
        token: 'é',
        logprob: -0.5,
        bytes: [195, 169],
        top_logprobs: [
          { token: 'é', logprob: -0.5, bytes: [195, 169] },
          { token: 'e', logprob: -1, bytes: [101] },
        ],
      },
    ],
    refusal: null,
  });
});

test.each([
  [
    'thoughts are not in the candidates',
    {
      promptTokenCount: 120,
      candidatesTokenCount: 32,
      thoughtsTokenCount: 132,
      totalTokenCount: 284,
    },
    { input: 120, output: 32, reasoning: 132 },
  ],
  [
    'cached tokens are in the prompt',
    { promptTokenCount: 100, cachedContentTokenCount: 60, candidatesTokenCount: 1 },
    { cached_input: 60, input: 40, output: 1 },
  ],
  [
    'what tools read is not',
    { promptTokenCount: 10, toolUsePromptTokenCount: 30, candidatesTokenCount: 1 },
    { input: 40, output: 1 },
  ],
  [
    'modalities are parts of the prompt, less their cached tokens',
    {
      promptTokenCount: 100,
      cachedContentTokenCount: 50,
      candidatesTokenCount: 1,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 10 },
        { modality: 'AUDIO', tokenCount: 60 },
        { modality: 'IMAGE', tokenCount: 30 },
      ],
      cacheTokensDetails: [{ modality: 'AUDIO', tokenCount: 50 }],
    },
    { cached_input: 50, audio_input: 10, image_input: 30, input: 10, output: 1 },
  ],
  [
    'images are parts of the output',
    {
      promptTokenCount: 5,
      candidatesTokenCount: 1300,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
    },
    { input: 5, image_output: 1290, output: 10 },
  ],
  [
    'contradictions never count a token twice',
    {
      promptTokenCount: 5,
      cachedContentTokenCount: 9,
      candidatesTokenCount: 2,
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 7 }],
    },
    { cached_input: 5, audio_output: 2 },
  ],
])('usage: %s', (_what, usageMetadata, quantities) => {
  const answer = read(whole([{ text: 'Hi' }], 'STOP', { usageMetadata }));
  expect(answer.quantities).toEqual(quantities);
  const { usage } = JSON.parse(answer.body.toString());
  expect(usage.total_tokens).toBe(Object.values(quantities).reduce((sum, n) => sum + n, 0));
});

test('an answer without usage has its text counted', () => {
  const answer = read(
    whole([{ text: 'Hi' }, { functionCall: { name: 'f', args: {} } }], 'STOP', {}),
  );
  expect(answer).toMatchObject({ quantities: undefined, outputText: 'Hif{}' });
});

test('counts of the prompt alone are no count of what was delivered', () => {
  const early = { usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 } };
  expect(play([event([{ text: 'Hi' }], {}, early)]).meter.quantities).toBeUndefined();
  expect(
    play([event([{ text: 'Hi' }], {}, early), event([], { finishReason: 'STOP' })]).meter
      .quantities,
  ).toBeUndefined();
  expect(
    play([event([{ text: 'Hi' }], {}, early), event([], { finishReason: 'STOP' }, early)]).meter
      .quantities,
  ).toEqual({ input: 5 });
});
