import { afterAll, describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../src/base/random.ts';
import { type Call, isFault, type StreamMeter } from '../src/providers/adapter.ts';
import { bedrockConverse as chat } from '../src/providers/wire/bedrock-converse.ts';
import { answerMeaning, type Meaning, streamMeaning } from './chat-meaning.ts';
import { chatRequest, converseMeaning, converseSaid } from './converse-meaning.ts';
import { cuts } from './cuts.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';
import { eventFrame } from './support/event-stream.ts';

const seed = 20_261_121;
const recordings = recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, 'converse').map(framed);
/** Requests that chat can say, of those that were recorded. */
let requests = 0;
let sayable = 0;
let right = 0;

/** A few streams were kept as the events that an SDK made of them: they are put on the wire again. */
function framed(recording: Recording): Recording {
  const text = recording.reply.toString('utf8');
  if (!recording.streamed || !text.startsWith('data:')) return recording;
  const events = text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .flatMap((line) => Object.entries(JSON.parse(line.slice(6))));
  return { ...recording, reply: Buffer.concat(events.map(([type, payload]) => eventFrame(type, payload))) };
}

const modelOf = ({ url }: Recording): string | undefined => /\/model\/([^/]+)\//.exec(url)?.[1];

function callOf(recording: Recording): Call {
  const body = chatRequest({ ...recording.request }) ?? { messages: [{ role: 'user', content: 'Go on.' }] };
  const { streamed } = recording;
  return {
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    publicModel: 'public/model',
    upstreamModel: decodeURIComponent(modelOf(recording) ?? 'anthropic.claude-sonnet-4-5-20250929-v1:0'),
    stream: streamed,
    includeUsage: streamed,
    streamUpstream: streamed,
    outputTokensMax: undefined,
    answerId: 'chatcmpl-replayed',
    created: 1_700_000_000,
  };
}

/** The call of an answer whose schema travels natively: what was recorded hides no answer in a tool. */
function readerOf(recording: Recording): Call {
  const call = callOf(recording);
  return { ...call, body: { ...call.body, response_format: undefined } };
}

function play(call: Call, pieces: Iterable<Buffer>): { text: string; meter: StreamMeter } {
  const translator = chat.stream(call);
  let text = '';
  for (const piece of pieces) text += translator.push(piece);
  return { text: text + translator.end(), meter: translator.meter };
}

function expectSame(got: Meaning, want: Meaning): void {
  expect(got.text).toBe(want.text);
  expect(got.calls.map(({ name, args }) => [name, JSON.parse(args)])).toEqual(want.calls.map(({ name, args }) => [name, JSON.parse(args)]));
  expect(got.reasoning).toBe(want.reasoning);
  expect(got.finish).toBe(want.finish);
  expect(got.usage).toEqual(want.usage);
}

function checkStream(recording: Recording, random: Random): void {
  const call = readerOf(recording);
  const want = converseMeaning(recording.reply);
  const { text, meter } = play(call, [recording.reply]);
  if (want.finish === undefined) expect(meter.fault).toMatchObject({ kind: 'protocol' });
  else expectSame(streamMeaning(Buffer.from(text, 'latin1').toString('utf8')), want);
  for (const pieces of cuts(recording.reply, random)) if (play(call, pieces).text !== text) throw new Error('a cut changes the answer');
  const collector = chat.collect(call);
  collector.push(recording.reply);
  if (meter.fault === undefined) expectSame(answerMeaning(collector.answer().body.toString('utf8')), want);
}

function checkWhole(recording: Recording): void {
  const result = chat.read(recording.reply, 'application/json', readerOf(recording));
  if (isFault(result)) throw new Error(`${result.kind}: ${result.message}`);
  expectSame(answerMeaning(result.body.toString('utf8')), converseMeaning(recording.reply));
}

const kinds: Readonly<Record<number, readonly string[]>> = {
  400: ['bad_request', 'context_length'],
  403: ['credentials'],
  404: ['unknown_model'],
};

function checkFault({ status, headers, reply }: Recording): void {
  const { kind, message } = chat.fault(status, headers, reply.toString('utf8'));
  expect(message).not.toBe('');
  expect(kinds[status]).toContain(kind);
}

/** The recorded request, said in chat's words, arrives as it was recorded. */
function checkRequest(recording: Recording): void {
  const native = { ...recording.request };
  if (!Array.isArray(native['messages'])) return;
  requests += 1;
  if (chatRequest(native) === undefined) return;
  sayable += 1;
  const call = callOf(recording);
  const ask = chat.ask(call);
  const sent: Record<string, unknown> = JSON.parse(ask.body.toString('utf8'));
  const structured = sent['outputConfig'] !== undefined || native['outputConfig'] === undefined;
  // A schema for a model without structured outputs travels as a tool, which nobody recorded.
  if (structured) expect(converseSaid(sent)).toEqual(converseSaid(native));
  if (modelOf(recording)) expect(decodeURIComponent(recording.url).endsWith(decodeURIComponent(ask.path))).toBe(true);
  const budget = /"budget_tokens":(\d+)/.exec(JSON.stringify(native['additionalModelRequestFields'] ?? ''))?.[1];
  if (budget) expect(sent['additionalModelRequestFields']).toMatchObject({ thinking: { type: 'enabled', budget_tokens: Number(budget) } });
}

describe.skipIf(recordingsFolder === undefined)('recorded traffic of Bedrock’s Converse', () => {
  afterAll(() => {
    process.stdout.write(
      `recorded converse (seed ${seed}): ${right}/${recordings.length}; requests that chat can say: ${sayable} of ${requests}\n`,
    );
  });

  it('means the same after translation, at every cut', () => {
    const random = seededRandom(seed);
    const wrong: string[] = [];
    for (const recording of recordings) {
      try {
        if (recording.status >= 400) checkFault(recording);
        else if (recording.streamed) checkStream(recording, random);
        else checkWhole(recording);
        if (recording.status < 400) checkRequest(recording);
        right += 1;
      } catch (error) {
        wrong.push(`${recording.id}: ${String(error).slice(0, 700)}`);
      }
    }
    expect(wrong).toEqual([]);
  }, 60_000);
});
