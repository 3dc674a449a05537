import { describe, expect, test } from 'vitest';
import { adapterOf } from '../../../test/support/asks.ts';
import { eventFrame } from '../../../test/support/event-stream.ts';
import { isObject, type JsonObject, listOf, objectOf, parse } from '../../base/json.ts';
import type { VendorCall, Signatures } from '../adapter.ts';
import { isFault } from '../formats/fault.ts';
import { vendorCall } from '../../../test/support/vendor-call.ts';

const tools = [
  {
    type: 'function',
    function: { name: 'weather', parameters: { type: 'object', properties: {} } },
  },
];
const question = { role: 'user', content: 'How is the weather in Köln and Bonn?' };

function callOf(
  upstreamModel: string,
  body: JsonObject,
  more: Partial<VendorCall> = {},
): VendorCall {
  const whole = { model: 'm', tools, reasoning_effort: 'low', max_tokens: 4000, ...body };
  return vendorCall(whole, { publicModel: 'm', upstreamModel, created: 1_700_000_000, ...more });
}

const sse = (...events: readonly JsonObject[]): Buffer =>
  Buffer.from(
    events.map((one) => `event: ${String(one['type'])}\ndata: ${JSON.stringify(one)}\n\n`).join(''),
  );

/**
 * A vendor that calls `weather` twice and signs the calls: its whole answer, its stream, and what
 * its next request must contain.
 */
interface Case {
  readonly vendor: string;
  readonly model: string;
  readonly whole: JsonObject;
  readonly stream: Buffer;
  readonly streamType: string;
  readonly wanted: string;
}

const args = { city: 'Köln', days: 2, at: { lat: 50.9, lon: 7 } };
const gemini = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { text: 'Let me think.', thought: true },
          { functionCall: { name: 'weather', args, id: 'call_1' }, thoughtSignature: 'SIG+/1' },
          { functionCall: { name: 'weather', args: { city: 'Bonn' }, id: 'call_2' } },
        ],
      },
      finishReason: 'STOP',
      index: 0,
    },
  ],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 9, totalTokenCount: 18 },
};
const thought = { type: 'thinking', thinking: 'Zwei Städte…', signature: 'SIG+/1' };
const claude = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'c',
  content: [
    thought,
    { type: 'redacted_thinking', data: 'SEALED' },
    { type: 'tool_use', id: 'toolu_1', name: 'weather', input: args },
    { type: 'tool_use', id: 'toolu_2', name: 'weather', input: {} },
  ],
  stop_reason: 'tool_use',
  usage: { input_tokens: 9, output_tokens: 9 },
};
const pieces = (index: number, text: string, delta: (piece: string) => JsonObject): JsonObject[] =>
  [text.slice(0, 5), text.slice(5)].map((piece) => ({
    type: 'content_block_delta',
    index,
    delta: delta(piece),
  }));
const claudeStream = sse(
  { type: 'message_start', message: { id: 'msg_1', usage: { input_tokens: 9, output_tokens: 1 } } },
  {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  },
  ...pieces(0, thought.thinking, (thinking) => ({ type: 'thinking_delta', thinking })),
  {
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'signature_delta', signature: 'SIG+/1' },
  },
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'redacted_thinking', data: 'SEALED' },
  },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'content_block_start',
    index: 2,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} },
  },
  ...pieces(2, JSON.stringify(args), (partial_json) => ({
    type: 'input_json_delta',
    partial_json,
  })),
  { type: 'content_block_stop', index: 2 },
  {
    type: 'content_block_start',
    index: 3,
    content_block: { type: 'tool_use', id: 'toolu_2', name: 'weather', input: {} },
  },
  { type: 'content_block_stop', index: 3 },
  { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 9 } },
  { type: 'message_stop' },
);
const converseBlocks = [
  { reasoningContent: { reasoningText: { text: thought.thinking, signature: 'SIG+/1' } } },
  { toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: args } },
];
const converseStream = Buffer.concat([
  eventFrame('messageStart', { role: 'assistant' }),
  eventFrame('contentBlockDelta', {
    contentBlockIndex: 0,
    delta: { reasoningContent: { text: 'Zwei ' } },
  }),
  eventFrame('contentBlockDelta', {
    contentBlockIndex: 0,
    delta: { reasoningContent: { text: 'Städte…' } },
  }),
  eventFrame('contentBlockDelta', {
    contentBlockIndex: 0,
    delta: { reasoningContent: { signature: 'SIG+/1' } },
  }),
  eventFrame('contentBlockStop', { contentBlockIndex: 0 }),
  eventFrame('contentBlockStart', {
    contentBlockIndex: 1,
    start: { toolUse: { toolUseId: 'tooluse_1', name: 'weather' } },
  }),
  eventFrame('contentBlockDelta', {
    contentBlockIndex: 1,
    delta: { toolUse: { input: JSON.stringify(args).slice(0, 9) } },
  }),
  eventFrame('contentBlockDelta', {
    contentBlockIndex: 1,
    delta: { toolUse: { input: JSON.stringify(args).slice(9) } },
  }),
  eventFrame('contentBlockStop', { contentBlockIndex: 1 }),
  eventFrame('messageStop', { stopReason: 'tool_use' }),
  eventFrame('metadata', { usage: { inputTokens: 9, outputTokens: 9, totalTokens: 18 } }),
]);
const sealed = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SIG+/1' };
const called = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'weather',
  arguments: JSON.stringify(args),
  status: 'completed',
};
const response = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [sealed, called],
  usage: { input_tokens: 9, output_tokens: 9 },
};

const cases: readonly Case[] = [
  {
    vendor: 'gemini',
    model: 'gemini-3-pro-preview',
    whole: gemini,
    stream: Buffer.from(`data: ${JSON.stringify(gemini)}\r\n\r\n`),
    streamType: 'text/event-stream',
    wanted: '"thoughtSignature":"SIG+/1"',
  },
  {
    vendor: 'anthropic',
    model: 'claude-sonnet-4-5',
    whole: claude,
    stream: claudeStream,
    streamType: 'text/event-stream',
    wanted: JSON.stringify(thought),
  },
  {
    vendor: 'bedrock',
    model: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    whole: {
      output: { message: { role: 'assistant', content: converseBlocks } },
      stopReason: 'tool_use',
      usage: { inputTokens: 9, outputTokens: 9, totalTokens: 18 },
    },
    stream: converseStream,
    streamType: 'application/vnd.amazon.eventstream',
    wanted: JSON.stringify(converseBlocks[0]),
  },
  {
    vendor: 'openai',
    model: 'gpt-5.6-sol',
    whole: response,
    stream: sse(
      { type: 'response.output_item.done', output_index: 0, item: sealed },
      { type: 'response.output_item.added', output_index: 1, item: { ...called, arguments: '' } },
      {
        type: 'response.function_call_arguments.delta',
        output_index: 1,
        delta: called.arguments.slice(0, 9),
      },
      {
        type: 'response.function_call_arguments.delta',
        output_index: 1,
        delta: called.arguments.slice(9),
      },
      { type: 'response.output_item.done', output_index: 1, item: called },
      { type: 'response.completed', response },
    ),
    streamType: 'text/event-stream',
    wanted: '"encrypted_content":"SIG+/1"',
  },
];

const meaning = (signatures: Signatures | undefined) =>
  new Map([...(signatures ?? [])].map(([call, text]) => [call, parse(text)]));

function answered({ vendor, model, whole }: Case): {
  readonly message: JsonObject;
  readonly signatures: Signatures | undefined;
} {
  const answer = adapterOf(vendor, 'chat').read(
    Buffer.from(JSON.stringify(whole)),
    'application/json',
    callOf(model, { messages: [question] }),
  );
  if (isFault(answer)) throw new Error(answer.message);
  const choice = objectOf(listOf(objectOf(parse(answer.body.toString('utf8')))?.['choices'])[0]);
  return { message: objectOf(choice?.['message']) ?? {}, signatures: answer.signatures };
}

/**
 * The members of an answer that most clients keep. `respell` rewrites the arguments, as clients
 * that parse them do.
 */
function plain(
  { role, content, tool_calls }: JsonObject,
  respell = (text: string): string => text,
): JsonObject {
  const calls = listOf(tool_calls).map((call) => {
    const { id, function: fn } = objectOf(call) ?? {};
    return {
      id,
      type: 'function',
      function: {
        name: objectOf(fn)?.['name'],
        arguments: respell(String(objectOf(fn)?.['arguments'])),
      },
    };
  });
  return { role, content, tool_calls: calls };
}

const results = (message: JsonObject): JsonObject[] =>
  listOf(message['tool_calls'])
    .filter(isObject)
    .map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain.' }));

const conversation = (message: JsonObject): JsonObject => ({
  messages: [question, message, ...results(message)],
});

describe.each(cases)('$vendor', (one) => {
  const { vendor, model, stream, streamType, wanted } = one;
  const adapter = adapterOf(vendor, 'chat');
  const asked = (message: JsonObject, signatures?: Signatures): string =>
    adapter
      .ask(callOf(model, conversation(message), signatures === undefined ? {} : { signatures }))
      .body.toString('utf8');

  test('a client that dropped what was signed asks the same as one that kept it', () => {
    const { message, signatures } = answered(one);
    expect(asked(message)).toContain(wanted);
    expect(asked(plain(message))).not.toContain(wanted);
    expect(asked(plain(message), signatures)).toBe(asked(message));
    const respelled = plain(message, (text) =>
      JSON.stringify(
        Object.fromEntries(Object.entries(objectOf(parse(text)) ?? {}).reverse()),
        undefined,
        2,
      ),
    );
    expect(asked(respelled, signatures)).toContain(wanted);
  });

  test('what was dropped is named by what it is remembered by, and what was kept is not', () => {
    const { message, signatures } = answered(one);
    const unsigned = adapter.unsigned?.(callOf(model, conversation(plain(message))));
    for (const key of signatures?.keys() ?? []) expect(unsigned).toContain(key);
    expect(adapter.unsigned?.(callOf(model, conversation(message)))).toEqual([]);
    expect(adapter.unsigned?.(callOf(model, { messages: [question] }))).toEqual([]);
  });

  test('another call of the same id is another call', () => {
    const { message, signatures } = answered(one);
    const other = plain(message, () => '{"city":"Rom"}');
    expect(asked(other, signatures)).toBe(asked(other));
  });

  test('a stream is signed as the whole answer is, at every cut', () => {
    const { signatures } = answered(one);
    expect(signatures?.size).toBeGreaterThan(0);
    const call = callOf(model, { messages: [question] }, { stream: true, streamUpstream: true });
    for (let cut = 1; cut < stream.length; cut += 7) {
      const translator = adapter.stream(call);
      translator.push(stream.subarray(0, cut));
      translator.push(stream.subarray(cut));
      translator.end();
      expect(meaning(translator.meter.signatures), `cut at ${cut}`).toEqual(meaning(signatures));
    }
    const collector = adapter.collect(call);
    collector.push(stream);
    expect(meaning(collector.answer().signatures)).toEqual(meaning(signatures));
    const read = adapter.read(stream, streamType, call);
    expect(isFault(read) ? read : meaning(read.signatures)).toEqual(meaning(signatures));
  });

  test('a stream that breaks is not remembered', () => {
    const translator = adapter.stream(
      callOf(model, { messages: [question] }, { stream: true, streamUpstream: true }),
    );
    translator.push(stream.subarray(0, stream.length >> 1));
    translator.end();
    expect(translator.meter.signatures).toBeUndefined();
  });
});
