import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { eventFrame } from '../../test/support/event-stream.ts';
import type { Quantities } from '../base/quantities.ts';
import type { Adapter, VendorAnswer, VendorCall, StreamTranslator } from './adapter.ts';
import { isFault } from './formats/fault.ts';
import { vendors } from './index.ts';
import { vendorCall } from '../../test/support/vendor-call.ts';

/** The expected meaning of the answer to one prompt, for every vendor. */
interface Expected {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly (readonly [string, string])[];
  readonly finish: string;
  readonly quantities: Quantities;
}

interface FaultRow {
  readonly status: number;
  readonly body: unknown;
  readonly kind: string;
  readonly headers?: Record<string, string>;
  readonly param?: string;
  readonly retryAfterMs?: number;
}

interface Fixture {
  /** For a vendor whose format is not OpenAI's: the first characters of its stream's end. */
  readonly terminal?: string;
  /** The vendor's answers have no id. */
  readonly nameless?: boolean;
  readonly stream: Expected;
  readonly answer: Expected;
  readonly faults: readonly FaultRow[];
}

const folder = new URL('./fixtures/', import.meta.url);
const bytes = (vendor: string, file: string): Buffer =>
  readFileSync(new URL(`${vendor}/${file}`, folder));

/** A vendor's stream as it sends it; binary ones are stored as events, and encoded here. */
function streamOf(vendor: string): Buffer {
  if (!existsSync(new URL(`${vendor}/events.json`, folder))) return bytes(vendor, 'stream.txt');
  const events: [string, unknown][] = JSON.parse(bytes(vendor, 'events.json').toString('utf8'));
  return Buffer.concat(events.map(([type, payload]) => eventFrame(type, payload)));
}

// Members that no vendor knows, numbers that no double holds, an escaped name, a duplicate: the
// gateway must not change any of them.
const clientBody =
  '{ "model":"public/model", "messages" : [{"role":"user","content":"Grüße \\u00e9 \\/ 😀"}],\n\t"x_unknown":{"n":12345678901234567890,"f":1.0,"e":1E5},"m\\u0061x_tokens":50, "x_twice":{}, "x_twice":{"a":"b"} }';

function callOf(over: Partial<VendorCall> = {}): VendorCall {
  const text = over.bytes?.toString('utf8') ?? clientBody;
  const body: Record<string, unknown> = JSON.parse(text);
  return vendorCall(body, {
    bytes: Buffer.from(text),
    publicModel: 'public/model',
    upstreamModel: 'up-模型',
    answerId: 'chatcmpl-abc',
    created: 1_700_000_000,
    ...over,
  });
}

const streamed = callOf({ stream: true, streamUpstream: true, includeUsage: true });

function play(
  adapter: Adapter,
  pieces: readonly Buffer[],
  call: VendorCall = streamed,
): { text: string; translator: StreamTranslator } {
  const translator = adapter.stream(call);
  let text = '';
  for (const piece of pieces) text += translator.push(piece);
  text += translator.end();
  return { text, translator };
}

interface Delta {
  role?: string;
  content?: string | null;
  reasoning_content?: string | null;
  tool_calls?: {
    index: number;
    id?: string;
    type?: string;
    function: { name?: string; arguments?: string };
  }[];
}
interface Chunk {
  id: string;
  object: string;
  created: number;
  model: string;
  choices: { index: number; delta: Delta; finish_reason: string | null }[];
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number } | null;
}

const chunks = (latin1: string): Chunk[] =>
  Buffer.from(latin1, 'latin1')
    .toString('utf8')
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => {
      if (!event.startsWith('data: {')) throw new Error(`no event of data: ${event}`);
      return JSON.parse(event.slice(6));
    });

interface Said extends Omit<Expected, 'quantities'> {
  readonly finishes: number;
  /**
   * Departures from the convention: a call that does not begin with its id, type and name, or
   * repeats them.
   */
  readonly odd: readonly unknown[];
}

/** The message that a client's SDK builds from the chunks. */
function meaning(all: readonly Chunk[]): Said {
  let text = '';
  let reasoning = '';
  const calls: [string, string][] = [];
  const finishes: string[] = [];
  const odd: unknown[] = [];
  for (const choice of all.flatMap((chunk) => chunk.choices)) {
    text += choice.delta.content ?? '';
    reasoning += choice.delta.reasoning_content ?? '';
    for (const call of choice.delta.tool_calls ?? []) {
      const known = calls[call.index];
      if (known) known[1] += call.function.arguments ?? '';
      else calls[call.index] = [call.function.name ?? '', call.function.arguments ?? ''];
      const repeats =
        call.id !== undefined || call.type !== undefined || call.function.name !== undefined;
      const begins =
        Boolean(call.id) &&
        call.type === 'function' &&
        Boolean(call.function.name) &&
        call.index === calls.length - 1;
      if (known ? repeats : !begins) odd.push(call);
    }
    if (choice.finish_reason) finishes.push(choice.finish_reason);
  }
  return { text, reasoning, calls, finish: finishes[0] ?? '', finishes: finishes.length, odd };
}

const spent = (quantities: Quantities): number =>
  Object.values(quantities).reduce((sum, n) => sum + n, 0);

const speaking = [...vendors.values()]
  .filter((vendor) => vendor.adapters.chat !== undefined)
  .map((vendor) => vendor.id);

describe.each(speaking)('%s', (id) => {
  const vendor = vendors.get(id);
  const chat = vendor?.adapters.chat;
  if (!vendor || !chat) throw new Error(`${id} has no chat`);
  const expected: Fixture = JSON.parse(bytes(id, 'expected.json').toString('utf8'));
  const sse = streamOf(id);
  const native = expected.terminal !== undefined;

  it('streams OpenAI’s chunks: one id, one role, one finish reason, usage at the end', () => {
    const { text, translator } = play(chat, [sse]);
    const all = chunks(text);
    const { finishes, odd, ...said } = meaning(all);
    expect({ ...said, quantities: translator.meter.quantities }).toEqual(expected.stream);
    expect({ finishes, odd }).toEqual({ finishes: 1, odd: [] });
    for (const chunk of all)
      expect(chunk).toMatchObject({
        id: 'chatcmpl-abc',
        object: 'chat.completion.chunk',
        created: all[0]?.created,
        model: 'public/model',
      });
    expect(
      all.flatMap((chunk) => chunk.choices.map((choice) => choice.delta.role)).filter(Boolean),
    ).toEqual(['assistant']);
    expect(all[0]?.choices[0]?.delta.role).toBe('assistant');
    const counted = all.filter((chunk) => chunk.usage);
    expect(counted).toEqual([all.at(-1)]);
    expect(all.at(-1)?.choices).toEqual([]);
    expect(all.at(-1)?.usage?.total_tokens).toBe(spent(expected.stream.quantities));
    const { meter } = translator;
    expect(meter).toMatchObject({
      finished: true,
      fault: undefined,
      upstreamId: expected.nameless ? undefined : 'up-1',
    });
    expect(meter.outputBytes).toBe(
      Buffer.byteLength(said.text + said.reasoning + said.calls.map(([, args]) => args).join('')),
    );
  });

  it('hides the usage that the client did not ask for, and still meters it', () => {
    const { text, translator } = play(chat, [sse], { ...streamed, includeUsage: false });
    expect(text).not.toContain('usage');
    expect(translator.meter.quantities).toEqual(expected.stream.quantities);
  });

  it('gives the same bytes for every cut, and byte by byte', () => {
    const { text } = play(chat, [sse]);
    const offsets = Array.from(sse, (_, cut) => cut);
    expect(
      offsets.filter((cut) => play(chat, [sse.subarray(0, cut), sse.subarray(cut)]).text !== text),
    ).toEqual([]);
    expect(
      play(
        chat,
        Array.from(sse, (byte) => Buffer.from([byte])),
      ).text,
    ).toBe(text);
  });

  it('delivers what came of a stream that breaks, and says that it broke', () => {
    const latin1 = sse.toString('latin1');
    const finish = latin1.lastIndexOf(
      expected.terminal ?? 'data:',
      native ? undefined : latin1.search(/"finish_reason":"/),
    );
    const whole = meaning(chunks(play(chat, [sse]).text)).text;
    const wrong: number[] = [];
    for (let cut = 1; cut < finish; cut += 7) {
      const { text, translator } = play(chat, [sse.subarray(0, cut)]);
      const { finished, fault } = translator.meter;
      const said = meaning(chunks(text));
      const isBroken = !finished && fault?.kind === 'protocol' && said.finishes === 0;
      if (!isBroken || !whole.startsWith(said.text)) wrong.push(cut);
    }
    expect(wrong).toEqual([]);
  });

  it('ends a stream cleanly when the money ends', () => {
    const translator = chat.stream(streamed);
    const begun = translator.push(sse.subarray(0, Math.floor(sse.length / 2)));
    const all = chunks(begun + translator.cutShort({ input: 7, output: 3, reasoning: 1 }));
    expect(meaning(all)).toMatchObject({ finish: 'length', finishes: 1 });
    expect(all.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 7, completion_tokens: 4, total_tokens: 11 },
    });
    expect(translator.push(sse)).toBe('');
    expect(translator.end()).toBe('');
  });

  it('reads a whole answer and keeps what it does not know', () => {
    const answer = read(chat, bytes(id, 'answer.json'));
    expect(wholeMeaning(answer)).toEqual(expected.answer);
    const body = JSON.parse(answer.body.toString('utf8'));
    expect(body).toMatchObject({
      id: 'chatcmpl-abc',
      object: 'chat.completion',
      model: 'public/model',
      created: native ? callOf().created : 1_790_000_000,
    });
    expect(body.choices[0].message).toHaveProperty('content');
    for (const call of body.choices[0].message.tool_calls ?? [])
      expect(call).toMatchObject({ type: 'function', id: expect.stringMatching(/./) });
    expect(answer.upstreamId).toBe(expected.nameless ? undefined : 'up-2');
    expect(answer.outputText).toBe('');
  });

  it('collects its stream into a whole answer', () => {
    const collector = chat.collect({ ...callOf(), streamUpstream: true });
    for (let i = 0; i < sse.length; i += 100) collector.push(sse.subarray(i, i + 100));
    expect(collector.meter.fault).toBeUndefined();
    expect(wholeMeaning(collector.answer())).toEqual(expected.stream);
    const unasked = read(chat, sse, 'text/event-stream');
    expect(wholeMeaning(unasked)).toEqual(expected.stream);
  });

  it.each(expected.faults)(
    'calls $status $body a $kind',
    ({ status, body, kind, headers = {}, ...rest }) => {
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const result =
        status === 200
          ? chat.read(Buffer.from(text), 'application/json', callOf())
          : chat.fault(status, headers, text);
      expect(result).toMatchObject({ kind, message: expect.stringMatching(/./), ...rest });
      if (status !== 200) return;
      const { text: said, translator } = play(chat, [Buffer.from(`data: ${text}\n\n`)]);
      expect(said).toBe('');
      expect(translator.meter.fault).toMatchObject({ kind });
    },
  );

  it('never blames the client for our key, our money or our haste', () => {
    for (const [status, kinds] of [
      [401, ['credentials']],
      [402, ['quota']],
      [403, ['credentials', 'quota', 'protocol']],
      [429, ['rate_limited']],
    ] as const) {
      for (const text of [
        '',
        '<html>no</html>',
        '{}',
        '{"error":{}}',
        '{"error":null}',
        '[]',
        'null',
        '{"error":{"message":"no"}}',
      ])
        expect(kinds).toContain(chat.fault(status, {}, text).kind);
    }
  });

  it('says that HTML, half an answer and an empty one cannot be read', () => {
    for (const text of [
      '<html><title>Oops</title></html>',
      '{"choices":[{"mess',
      '',
      'null',
      '[]',
      '{}',
      '{"choices":[]}',
      '{"choices":[null]}',
    ]) {
      expect(chat.read(Buffer.from(text), 'application/json', callOf())).toMatchObject({
        kind: 'protocol',
      });
      expect(play(chat, [Buffer.from(text)]).translator.meter.fault).toMatchObject({
        kind: 'protocol',
      });
    }
    expect(
      play(chat, [Buffer.from('data: {"choices":[{"ind\n\n')]).translator.meter.fault,
    ).toMatchObject({ kind: 'protocol' });
  });

  it('says where it is reached', () => {
    const local = vendor.env?.baseUrl !== undefined || vendor.baseUrl === undefined;
    expect(local || vendor.baseUrl?.startsWith('https://')).toBe(true);
    expect(vendor.baseUrl?.endsWith('/')).not.toBe(true);
    expect(JSON.stringify(vendor.sign(undefined))).not.toMatch(/authorization|key/i);
    expect(Object.values(vendor.sign('secret')).join()).toContain('secret');
  });
});

/** Vendors whose format is the client's own. */
const sameFormat = speaking.filter(
  (id) => JSON.parse(bytes(id, 'expected.json').toString('utf8')).terminal === undefined,
);

describe.each(sameFormat)('%s, in the client’s own format', (id) => {
  const chat = vendors.get(id)?.adapters.chat;
  if (!chat) throw new Error(`${id} has no chat`);

  it('sends the client’s bytes but for the model', () => {
    const ask = chat.ask(callOf());
    const instead = clientBody.replace('"public/model"', '"up-模型"');
    expect(ask.body.toString('utf8')).toBe(
      id === 'minimax' ? instead.replace('m\\u0061x_tokens', 'max_completion_tokens') : instead,
    );
    expect(ask.dropped).toBeUndefined();
    expect(ask.path).toBe('/chat/completions');
    expect(ask.headers['content-type']).toBe('application/json');
  });

  it('asks for a stream, its usage and our own limit when the money needs them', () => {
    const { body } = chat.ask(callOf({ streamUpstream: true, outputTokensMax: 16 }));
    const sent = JSON.parse(body.toString('utf8'));
    expect(sent.stream).toBe(true);
    expect(sent.max_tokens ?? sent.max_completion_tokens).toBe(16);
    expect(sent.stream_options).toEqual(id === 'mistral' ? undefined : { include_usage: true });
    expect(body.toString('utf8')).toContain('12345678901234567890,"f":1.0,"e":1E5');
  });
});

it('every fixture has its vendor', () => {
  expect(readdirSync(folder).sort()).toEqual([...speaking].sort());
});

function read(chat: Adapter, reply: Buffer, contentType = 'application/json'): VendorAnswer {
  const result = chat.read(reply, contentType, callOf());
  if (isFault(result)) throw new Error(`${result.kind}: ${result.message}`);
  return result;
}

function wholeMeaning(answer: VendorAnswer): unknown {
  const { choices, usage } = JSON.parse(answer.body.toString('utf8'));
  const { message, finish_reason: finish } = choices[0];
  expect(usage.total_tokens).toBe(spent(answer.quantities ?? {}));
  const calls = (message.tool_calls ?? []).map(
    (call: { function: { name: string; arguments: string } }) => [
      call.function.name,
      call.function.arguments,
    ],
  );
  return {
    text: message.content ?? '',
    reasoning: message.reasoning_content ?? '',
    calls,
    finish,
    quantities: answer.quantities,
  };
}
