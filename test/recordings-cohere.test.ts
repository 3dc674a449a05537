import { afterAll, describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../src/base/random.ts';
import { type Call, isFault, type StreamMeter } from '../src/providers/adapter.ts';
import { cohereChat as chat } from '../src/providers/wire/cohere-chat.ts';
import { answerMeaning, type Meaning, streamMeaning } from './chat-meaning.ts';
import { chatRequest, cohereMeaning, cohereSaid } from './cohere-meaning.ts';
import { cuts } from './cuts.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';

const seed = 20_261_121;
const recordings = recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, 'nativechat').filter(isSecondVersion);
/** The first version of the format, whose answers have no message, is not spoken. */
function isSecondVersion({ vendor, reply }: Recording): boolean {
  return vendor === 'cohere' && !reply.includes('"generation_id"');
}

/** Requests that chat can say, of those that were recorded. */
let requests = 0;
let sayable = 0;
let right = 0;

function callOf(recording: Recording): Call {
  const body = chatRequest({ ...recording.request }) ?? { messages: [{ role: 'user', content: 'Go on.' }] };
  const { streamed } = recording;
  return {
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    publicModel: 'public/model',
    upstreamModel: typeof recording.request?.['model'] === 'string' ? recording.request['model'] : 'command-a-03-2025',
    stream: streamed,
    includeUsage: streamed,
    streamUpstream: streamed,
    outputTokensMax: undefined,
    answerId: 'chatcmpl-replayed',
    created: 1_700_000_000,
  };
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
  const call = callOf(recording);
  const want = cohereMeaning(recording.reply.toString('utf8'));
  const { text, meter } = play(call, [recording.reply]);
  if (want.finish === undefined) expect(meter.fault).toMatchObject({ kind: 'protocol' });
  else expectSame(streamMeaning(Buffer.from(text, 'latin1').toString('utf8')), want);
  for (const pieces of cuts(recording.reply, random)) if (play(call, pieces).text !== text) throw new Error('a cut changes the answer');
  const collector = chat.collect(call);
  collector.push(recording.reply);
  if (meter.fault === undefined) expectSame(answerMeaning(collector.answer().body.toString('utf8')), want);
}

function checkWhole(recording: Recording): void {
  const result = chat.read(recording.reply, 'application/json', callOf(recording));
  if (isFault(result)) throw new Error(`${result.kind}: ${result.message}`);
  expectSame(answerMeaning(result.body.toString('utf8')), cohereMeaning(recording.reply.toString('utf8')));
}

const kinds: Readonly<Record<number, string>> = { 400: 'context_length', 401: 'credentials', 404: 'unknown_model' };

function checkFault({ status, headers, reply }: Recording): void {
  const { kind, message } = chat.fault(status, headers, reply.toString('utf8'));
  expect(message).not.toBe('');
  expect(kind).toBe(kinds[status]);
}

/** The recorded request, said in chat's words, arrives as it was recorded. */
function checkRequest(recording: Recording): void {
  const native = { ...recording.request };
  if (!Array.isArray(native['messages'])) return;
  requests += 1;
  if (chatRequest(native) === undefined) return;
  sayable += 1;
  const ask = chat.ask(callOf(recording));
  expect(ask.path).toBe('/chat');
  expect(cohereSaid(JSON.parse(ask.body.toString('utf8')))).toEqual(cohereSaid(native));
}

describe.skipIf(recordingsFolder === undefined)('recorded traffic in Cohere’s own format', () => {
  afterAll(() => {
    process.stdout.write(
      `recorded nativechat (seed ${seed}): ${right}/${recordings.length}; requests that chat can say: ${sayable} of ${requests}\n`,
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
