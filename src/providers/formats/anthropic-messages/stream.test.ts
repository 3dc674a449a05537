import { describe, expect, it } from 'vitest';
import type { VendorCall, StreamMeter } from '../../adapter.ts';
import { isFault } from '../fault.ts';
import { anthropicMessages } from './adapter.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';

const chat = anthropicMessages();

const plain = vendorCall(
  {},
  {
    publicModel: 'public/model',
    upstreamModel: 'claude-sonnet-4-0',
    stream: true,
    includeUsage: true,
    streamUpstream: true,
    answerId: 'chatcmpl-abc',
    created: 1_700_000_000,
  },
);
const schema = { type: 'object', properties: { name: { type: 'string' } } };
const wanting = (tools: unknown[] = []): VendorCall => ({
  ...plain,
  body: {
    tools,
    response_format: { type: 'json_schema', json_schema: { name: 'person', schema } },
  },
});

type Event = Readonly<Record<string, unknown>>;
const event = (value: Event, padding = ''): string =>
  `event: ${String(value['type'])}\ndata: ${JSON.stringify(value).slice(0, -1)}${padding}}\n\n`;
const block = (index: number, content_block: Event, ...deltas: Event[]): string =>
  event({ type: 'content_block_start', index, content_block }) +
  deltas.map((delta) => event({ type: 'content_block_delta', index, delta }, '  ')).join('') +
  event({ type: 'content_block_stop', index });
const text = (...pieces: string[]): [Event, ...Event[]] => [
  { type: 'text', text: '' },
  ...pieces.map((piece) => ({ type: 'text_delta', text: piece })),
];
const use = (name: string, ...pieces: string[]): [Event, ...Event[]] => [
  { type: 'tool_use', id: `toolu_${name}`, name, input: {} },
  ...pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
];
const start = (usage: Event = { input_tokens: 3, output_tokens: 1 }): string =>
  event({ type: 'message_start', message: { id: 'msg_1', content: [], usage } });
const end = (
  stop_reason: string | null,
  more: Event = {},
  usage: Event | undefined = { output_tokens: 5 },
): string =>
  event({
    type: 'message_delta',
    delta: { stop_reason, stop_sequence: null, ...more },
    ...(usage ? { usage } : {}),
  }) + event({ type: 'message_stop' });

interface Heard {
  readonly chunks: {
    choices: { delta: Record<string, unknown>; finish_reason: string | null }[];
    usage?: unknown;
  }[];
  readonly meter: StreamMeter;
}

function play(sse: string, call: VendorCall = plain, size = Number.POSITIVE_INFINITY): Heard {
  const translator = chat.stream(call);
  const bytes = Buffer.from(sse);
  let out = '';
  for (let at = 0; at < bytes.length; at += size)
    out += translator.push(bytes.subarray(at, at + size));
  out += translator.end();
  const events = Buffer.from(out, 'latin1').toString('utf8').split('\n\n').filter(Boolean);
  return {
    chunks: events.map((line) => JSON.parse(line.slice('data: '.length))),
    meter: translator.meter,
  };
}

const deltas = ({ chunks }: Heard): Record<string, unknown>[] =>
  chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.delta));
const said = (heard: Heard, member: string): string =>
  deltas(heard)
    .map((delta) => (typeof delta[member] === 'string' ? delta[member] : ''))
    .join('');
const finish = ({ chunks }: Heard): unknown[] =>
  chunks.flatMap((chunk) => chunk.choices.map((choice) => choice.finish_reason)).filter(Boolean);

describe('a stream', () => {
  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    [null, 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['a reason of tomorrow', 'stop'],
  ])('that ends with %s finishes with %s', (reason, word) => {
    const heard = play(start() + block(0, ...text('Hi')) + end(reason));
    expect(finish(heard)).toEqual([word]);
    expect(heard.meter).toMatchObject({
      finished: true,
      done: true,
      fault: undefined,
      quantities: { input: 3, output: 5 },
      upstreamId: 'msg_1',
    });
  });

  it('tells what the refusal was about when nothing else was said', () => {
    const stop_details = { type: 'refusal', category: 'cyber', explanation: 'No: “that”.' };
    const silent = play(start() + end('refusal', { stop_details }));
    expect(said(silent, 'refusal')).toBe('No: “that”.');
    expect(deltas(silent)[0]).toEqual({ role: 'assistant', content: null, refusal: 'No: “that”.' });
    expect(
      said(play(start() + block(0, ...text('Well')) + end('refusal', { stop_details })), 'refusal'),
    ).toBe('');
  });

  it('says the same whether its events are matched or parsed', () => {
    const words = ['Grüße "世界" \\ 🌍\n\u0007', '}}', '"', '\\', ''];
    const matched =
      start() +
      block(0, ...text(...words)) +
      block(1, ...use('f', '{"a":"\\"}', '\\u00e9"}')) +
      end('tool_use');
    // The same members in another order, and escapes beyond ASCII.
    const parsed = matched
      .split('\n\n')
      .map((one) =>
        one.replace(
          /data: (.*)/,
          (_, json: string) =>
            `data: ${JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(json)).reverse())).replace(/[\u0080-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)}`,
        ),
      )
      .join('\n\n');
    expect(play(parsed).chunks).toEqual(play(matched).chunks);
    expect(said(play(matched), 'content')).toBe(words.join(''));
    expect(play(matched, plain, 1).chunks).toEqual(play(matched).chunks);
    expect(play(parsed).meter.outputBytes).toBe(play(matched).meter.outputBytes);
  });

  it('gives arguments that came at the start, or none at all', () => {
    const early = { type: 'tool_use', id: 'a', name: 'f', input: { city: 'Köln' } };
    const heard = play(
      start() +
        block(0, early) +
        block(1, ...use('g')) +
        block(2, ...use('h', '', '')) +
        end('tool_use'),
    );
    const calls = deltas(heard).flatMap(
      (delta) =>
        (delta['tool_calls'] as { index: number; function: { arguments: string } }[] | undefined) ??
        [],
    );
    const args = ['', '', ''];
    for (const call of calls) args[call.index] += call.function.arguments;
    expect(args).toEqual(['{"city":"Köln"}', '{}', '{}']);
    expect(finish(heard)).toEqual(['tool_calls']);
  });

  it('counts cumulatively, the hour’s cache apart and the thoughts apart', () => {
    const cache = {
      cache_creation_input_tokens: 12,
      cache_read_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 7 },
    };
    const usage = {
      input_tokens: null,
      cache_read_input_tokens: 31,
      output_tokens: 40,
      output_tokens_details: { thinking_tokens: 16 },
    };
    const { meter, chunks } = play(
      start({ input_tokens: 9, ...cache, output_tokens: 1 }) + end('end_turn', {}, usage),
    );
    expect(meter.quantities).toEqual({
      input: 9,
      cached_input: 31,
      cache_write_5m: 5,
      cache_write_1h: 7,
      output: 24,
      reasoning: 16,
    });
    expect(chunks.at(-1)?.usage).toMatchObject({
      prompt_tokens: 52,
      completion_tokens: 40,
      total_tokens: 92,
      prompt_tokens_details: { cached_tokens: 31, cache_write_tokens: 12 },
      completion_tokens_details: { reasoning_tokens: 16 },
    });
  });

  it('is not counted while the vendor has not told its last count', () => {
    const { meter } = play(start() + block(0, ...text('Hello')));
    expect(meter).toMatchObject({
      quantities: undefined,
      input: { input: 3 },
      outputBytes: 5,
      finished: false,
      fault: { kind: 'protocol' },
    });
  });

  it('that breaks with an error tells its kind, and what came before is delivered', () => {
    const error = {
      type: 'error',
      error: { type: 'overloaded_error', message: 'Overloaded' },
      request_id: null,
    };
    const heard = play(
      start() + block(0, ...text('Hel')) + event(error) + block(1, ...text('lo')) + end('end_turn'),
    );
    expect(said(heard, 'content')).toBe('Hel');
    expect(heard.meter).toMatchObject({
      finished: false,
      fault: { kind: 'overloaded', message: 'Overloaded' },
    });
    expect(finish(heard)).toEqual([]);
    // Before the first text nothing was sent, so that another channel may answer.
    expect(play(start() + event(error)).chunks).toEqual([]);
    expect(play(JSON.stringify(error)).meter.fault).toMatchObject({ kind: 'overloaded' });
  });

  it('that is finished is whole, with or without its last event', () => {
    const whole = start() + block(0, ...text('Hi')) + end('end_turn');
    const cut = whole.slice(0, whole.lastIndexOf('event: message_stop'));
    expect(play(cut).chunks).toEqual(play(whole).chunks);
    expect(play(cut).meter.fault).toBeUndefined();
  });

  it('gives thoughts with their signatures, put together when it is collected', () => {
    const thoughts = [
      { type: 'thinking_delta', thinking: 'Where' },
      { type: 'thinking_delta', thinking: ' to?' },
      { type: 'signature_delta', signature: 'c2ln' },
    ];
    const hidden = block(
      1,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'signature_delta', signature: 'aGlk' },
    );
    const sse =
      start() +
      block(0, { type: 'thinking', thinking: '', signature: '' }, ...thoughts) +
      hidden +
      block(2, { type: 'redacted_thinking', data: 'EvgF' }) +
      block(3, ...text('There.')) +
      end('end_turn');
    expect(said(play(sse), 'reasoning_content')).toBe('Where to?');
    const collector = chat.collect(plain);
    collector.push(Buffer.from(sse));
    const { message } = JSON.parse(collector.answer().body.toString('utf8')).choices[0];
    const format = 'anthropic-claude-v1';
    expect(message.reasoning_details).toEqual([
      { type: 'reasoning.text', text: 'Where to?', signature: 'c2ln', format, index: 0 },
      { type: 'reasoning.text', signature: 'aGlk', format, index: 1 },
      { type: 'reasoning.encrypted', data: 'EvgF', format, index: 2 },
    ]);
    const again = {
      ...plain,
      upstreamModel: 'claude-sonnet-4-5',
      body: { messages: [{ role: 'user', content: 'x' }, message, { role: 'user', content: 'y' }] },
    };
    expect(JSON.parse(chat.ask(again).body.toString('utf8')).messages[1].content).toEqual([
      { type: 'thinking', thinking: 'Where to?', signature: 'c2ln' },
      { type: 'thinking', thinking: '', signature: 'aGlk' },
      { type: 'redacted_thinking', data: 'EvgF' },
      { type: 'text', text: 'There.' },
    ]);
  });
});

describe('a hidden tool', () => {
  const answer = block(0, ...use('json_answer', '{"na', 'me":"Zoë"}'));

  it('is the answer’s text, streamed', () => {
    const heard = play(start() + answer + end('tool_use'), wanting());
    expect(JSON.parse(said(heard, 'content'))).toEqual({ name: 'Zoë' });
    expect(finish(heard)).toEqual(['stop']);
    expect(deltas(heard).some((delta) => 'tool_calls' in delta)).toBe(false);
  });

  it('stands beside the client’s own tools', () => {
    const own = { type: 'function', function: { name: 'f' } };
    const heard = play(start() + block(0, ...use('f', '{}')) + end('tool_use'), wanting([own]));
    expect(finish(heard)).toEqual(['tool_calls']);
    // If the client requested no format, it is a tool like any other.
    expect(finish(play(start() + answer + end('tool_use')))).toEqual(['tool_calls']);
  });

  it('is the whole answer’s text', () => {
    const content = [
      { type: 'tool_use', id: 'toolu_1', name: 'json_answer', input: { name: 'Zoë' } },
    ];
    const reply = {
      id: 'msg_1',
      content,
      stop_reason: 'tool_use',
      usage: { input_tokens: 1, output_tokens: 2 },
    };
    const read = chat.read(Buffer.from(JSON.stringify(reply)), 'application/json', wanting());
    if (isFault(read)) throw new Error(read.message);
    expect(JSON.parse(read.body.toString('utf8')).choices[0]).toMatchObject({
      message: { content: '{"name":"Zoë"}' },
      finish_reason: 'stop',
    });
  });
});

describe('a whole answer', () => {
  const read = (reply: object): { message: Record<string, unknown>; finish_reason: string } => {
    const answer = chat.read(Buffer.from(JSON.stringify(reply)), 'application/json', plain);
    if (isFault(answer)) throw new Error(answer.message);
    return JSON.parse(answer.body.toString('utf8')).choices[0];
  };

  it('without anything is an empty text', () => {
    expect(read({ content: [], stop_reason: 'end_turn' })).toMatchObject({
      message: { content: '' },
      finish_reason: 'stop',
    });
  });

  it('that refuses says why', () => {
    const stop_details = { type: 'refusal', category: null, explanation: 'No.' };
    expect(read({ content: [], stop_reason: 'refusal', stop_details })).toMatchObject({
      message: { content: null, refusal: 'No.' },
      finish_reason: 'content_filter',
    });
  });

  it('that is not counted is counted by its text', () => {
    const reply = {
      content: [
        { type: 'text', text: 'a' },
        { type: 'tool_use', id: 't', name: 'f', input: { b: 1 } },
      ],
      stop_reason: 'tool_use',
    };
    expect(chat.read(Buffer.from(JSON.stringify(reply)), 'application/json', plain)).toMatchObject({
      quantities: undefined,
      outputText: 'af{"b":1}',
    });
  });
});
