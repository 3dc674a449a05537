import { expect, test } from 'vitest';
import { adaptersOf } from '../../src/providers/bridges/index.ts';
import { vendors } from '../../src/providers/index.ts';
import { EventStreamFrames } from '../../src/providers/formats/bedrock-converse/stream.ts';
import { SseFrames } from '../../src/providers/stream/frames.ts';
import { chunk, streamOf } from '../support/scripted-vendor.ts';
import { eventFrame, exceptionFrame } from '../support/event-stream.ts';
import { vendorCall } from '../support/vendor-call.ts';
import { expectLinear, fuzz, inPieces, timeout } from './fuzzing.ts';

const message = (type: string, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`;
const messages = [
  message('message_start', {
    message: { id: 'msg', model: 'm', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
  }),
  message('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
  message('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hi 名' } }),
  message('content_block_stop', { index: 0 }),
  message('content_block_start', {
    index: 1,
    content_block: { type: 'tool_use', id: 't', name: 'f', input: {} },
  }),
  message('content_block_delta', {
    index: 1,
    delta: { type: 'input_json_delta', partial_json: '{"a":' },
  }),
  message('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }),
  message('message_stop', {}),
].join('');
const gemini = `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 2, candidatesTokenCount: 3 } })}\r\n\r\n`;
const plain = `: hello\n\nevent: a\r\ndata: {"x":1}\r\ndata:  2\n\nid: 7\nretry: 5\n\n${streamOf(['Hel', 'lo'])}${chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{' } }] })}`;
const samples = [plain, messages, gemini].map((text) => Buffer.from(text));
const words = [
  '\n',
  '\r',
  '\n\n',
  '\r\n',
  '\r\n\r\n',
  '\n\r\n',
  '\r\r',
  ':',
  'data:',
  'data: ',
  'event: x\n',
  'data\n',
  '[DONE]',
  '\0',
  '\ufeff',
  'null',
  '1e999',
  '-5',
].map((word) => Buffer.from(word));

/**
 * Without a byte order mark. The first line's end decides: where it is CR alone, the other lines
 * may end so, too.
 */
function unmarked(text: string): string {
  const bare = text.replace(/^\u00ef\u00bb\u00bf/, '');
  return /\r\n?|\n/.exec(bare)?.[0] === '\r' ? bare.replace(/\r\n?/g, '\n') : bare;
}

/**
 * As the standard says it, for all of a text at once; but where the first line ends in LF, no other
 * ends in CR alone.
 */
function reference(text: string): string[][] {
  const events: string[][] = [];
  const parts = unmarked(text).split(/(?<=\n\r?\n)/);
  for (const part of parts) {
    let name = '';
    const data: string[] = [];
    for (const line of part
      .split('\n')
      .map((one) => (one.endsWith('\r') ? one.slice(0, -1) : one))) {
      if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
      else if (line.startsWith('event:')) name = line.slice(6).trim();
    }
    const joined = data.join(' ');
    if (joined !== '' && /\n\r?\n$/.test(part)) events.push([name, joined]);
  }
  return events;
}

test('events are what the standard says, however they were cut', { timeout }, () =>
  fuzz('events', {
    samples,
    words,
    holds(input, random) {
      const heard: string[][] = [];
      const frames = new SseFrames((data, name) => heard.push([name, data]) > 0);
      for (const piece of inPieces(input, random)) expect(frames.push(piece)).toBeUndefined();
      expect(heard).toEqual(reference(input.toString('latin1')));
    },
  }),
);

test('an LF before a CR decides how lines end, also where a piece ends in that CR', () => {
  const heard: string[] = [];
  const frames = new SseFrames((data) => heard.push(data) > 0);
  for (const piece of ['data: a\n\r', 'b\n\n']) frames.push(Buffer.from(piece));
  expect(heard).toEqual(['a']);
});

const call = vendorCall(
  { model: 'm', messages: [] },
  { publicModel: 'm', stream: true, includeUsage: true, streamUpstream: true, answerId: 'a' },
);

function translated(vendor: string, pieces: readonly Buffer[]) {
  const adapter = adaptersOf(vendors.get(vendor) ?? noVendor(vendor)).chat;
  if (adapter === undefined) throw new Error(`${vendor} does not chat`);
  const stream = adapter.stream(call);
  let text = '';
  for (const piece of pieces) text += stream.push(piece);
  const { outputBytes, fault, quantities, done } = stream.meter;
  return {
    text: fault === undefined ? text + stream.end() : text,
    outputBytes,
    fault: fault?.kind,
    quantities,
    done,
  };
}

function noVendor(id: string): never {
  throw new Error(`there is no vendor ${id}`);
}

test.each(['openai', 'openai-compatible', 'anthropic', 'gemini'])(
  'a stream of %s is the same however it was cut, and what is told is events',
  { timeout },
  (vendor) =>
    fuzz(`streams of ${vendor}`, {
      samples,
      words,
      holds(input, random) {
        const whole = translated(vendor, [input]);
        const cut = translated(vendor, inPieces(input, random));
        expect({ ...cut, fault: whole.fault }).toEqual(whole);
        for (const event of whole.text.split('\n\n'))
          expect(event).toMatch(/^(?:(?:data|event|id|retry):|:|$|\r)/);
      },
    }),
);

const binary = [
  Buffer.concat([
    eventFrame('messageStart', { role: 'assistant' }),
    eventFrame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } }),
  ]),
  Buffer.concat([
    eventFrame('metadata', { usage: { inputTokens: 1, outputTokens: 2 } }),
    exceptionFrame('throttlingException', { message: 'no' }),
  ]),
];

test('a binary stream is the same however it was cut, or damaged', { timeout }, () =>
  fuzz('binary events', {
    samples: binary,
    words: [Buffer.alloc(4), Buffer.from([0xff, 0xff, 0xff, 0xff]), Buffer.from([0, 0, 0, 16])],
    holds(input, random) {
      const read = (pieces: readonly Buffer[]) => {
        const heard: string[][] = [];
        const frames = new EventStreamFrames((data, name) => heard.push([name, data]) > 0);
        const problem = pieces.reduce<string | undefined>(
          (before, piece) => before ?? frames.push(piece),
          undefined,
        );
        return { heard, problem };
      };
      expect(read(inPieces(input, random))).toEqual(read([input]));
    },
  }),
);

test('a stream takes time in proportion to its length', { timeout }, async () => {
  const shapes: Readonly<Record<string, (i: number) => string>> = {
    'lines without end': () => '\nx',
    'returns without end': (i) => (i % 2 === 0 ? '\r' : 'x\n'),
    'one long line': () => 'xx',
    'small events': () => 'data: {}\n\n',
    'lines of one event': () => 'data: 1\n',
  };
  for (const [name, piece] of Object.entries(shapes))
    for (const vendor of ['frames', 'openai']) {
      await expectLinear(`${name}, ${vendor}`, (times) => {
        if (vendor === 'openai')
          return void translated(
            vendor,
            Array.from({ length: times }, (_, i) => Buffer.from(piece(i))),
          );
        const frames = new SseFrames(() => true);
        for (let i = 0; i < times; i++) frames.push(Buffer.from(piece(i)));
      });
    }
});
