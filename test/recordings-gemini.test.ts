import { afterAll, describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../src/base/random.ts';
import { type Call, isFault, type StreamMeter } from '../src/providers/adapter.ts';
import { geminiChat } from '../src/providers/wire/gemini.ts';
import { answerMeaning, type Meaning, streamMeaning } from './chat-meaning.ts';
import { cuts } from './cuts.ts';
import { chatRequest, geminiMeaning, geminiSaid } from './gemini-meaning.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';

const seed = 20_261_121;
const recordings = recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, 'gemini');
const counts = new Map<string, string>();
let requests = 0;

function callOf({ request, streamed, url }: Recording): Call {
  const body = chatRequest({ ...request }, url) ?? { messages: [{ role: 'user', content: 'Go on.' }] };
  return {
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    publicModel: 'public/model',
    upstreamModel: decodeURIComponent(/\/models\/([^:/?]+)/.exec(url)?.[1] ?? 'gemini-2.5-flash'),
    stream: streamed,
    includeUsage: streamed,
    streamUpstream: streamed,
    outputTokensMax: undefined,
    answerId: 'chatcmpl-replayed',
    created: 1_700_000_000,
  };
}

function play(call: Call, pieces: Iterable<Buffer>): { text: string; meter: StreamMeter } {
  const translator = geminiChat.stream(call);
  let text = '';
  for (const piece of pieces) text += translator.push(piece);
  return { text: text + translator.end(), meter: translator.meter };
}

function expectSame(got: Meaning, want: Meaning): void {
  expect(got.calls).toEqual(want.calls);
  expect(got.reasoning).toBe(want.reasoning);
  expect(got.finish).toBe(want.finish);
  expect(got.usage).toEqual(want.usage);
  // What the convention has no word for is put into words.
  if (want.choices === 1) expect(got.text).toBe(want.text);
}

function checkStream(recording: Recording, random: Random): void {
  const call = callOf(recording);
  const want = geminiMeaning(recording.reply.toString('utf8'));
  const { text, meter } = play(call, [recording.reply]);
  if (want.finish === undefined) expect(meter.fault).toMatchObject({ kind: 'protocol' });
  else expectSame(streamMeaning(Buffer.from(text, 'latin1').toString('utf8')), want);
  for (const pieces of cuts(recording.reply, random)) if (play(call, pieces).text !== text) throw new Error('a cut changes the answer');
  const collector = geminiChat.collect(call);
  collector.push(recording.reply);
  if (meter.fault === undefined) expectSame(answerMeaning(collector.answer().body.toString('utf8')), want);
}

function checkWhole(recording: Recording): void {
  const want = geminiMeaning(recording.reply.toString('utf8'));
  const result = geminiChat.read(recording.reply, 'application/json', callOf(recording));
  if (want.error !== undefined) expect(isFault(result)).toBe(true);
  else if (isFault(result)) throw new Error(`${result.kind}: ${result.message}`);
  else expectSame(answerMeaning(result.body.toString('utf8')), { ...want, finish: want.finish ?? 'stop' });
}

const clients = new Set(['bad_request', 'context_length', 'content_policy']);

function checkFault({ status, headers, reply }: Recording): void {
  const { kind, message } = geminiChat.fault(status, headers, reply.toString('utf8'));
  expect(message).not.toBe('');
  if (status !== 400) expect(clients.has(kind)).toBe(false);
  else expect(kind).toBe(/API_KEY_INVALID/.test(reply.toString('utf8')) ? 'credentials' : 'bad_request');
}

/** The recorded request, said in chat's words, arrives as it was recorded. */
function checkRequest(recording: Recording): void {
  const native = { ...recording.request };
  const body = chatRequest(native, recording.url);
  if (body === undefined || !Array.isArray(body['messages']) || !body['messages'].some((message) => message.role === 'user')) return;
  requests += 1;
  const { path, body: sent } = geminiChat.ask(callOf(recording));
  expect(geminiSaid(JSON.parse(sent.toString('utf8')))).toEqual(geminiSaid(native));
  expect(recording.url.replace(/\$alt=[^&]*&?|alt=sse/g, '')).toContain(path.slice(0, path.indexOf(':')));
}

describe.skipIf(recordingsFolder === undefined)('recorded traffic in Gemini’s format', () => {
  afterAll(() => {
    process.stdout.write(
      `recorded generateContent (seed ${seed}): ${[...counts].map(([vendor, count]) => `${vendor} ${count}`).join(' · ')}, ${requests} of them with their requests\n`,
    );
  });

  it.each([...new Set(recordings.map(({ vendor }) => vendor))])(
    'of %s means the same after translation, at every cut',
    (vendor) => {
      const random = seededRandom(seed);
      const wrong: string[] = [];
      const all = recordings.filter((recording) => recording.vendor === vendor);
      for (const recording of all) {
        try {
          if (recording.status >= 400) checkFault(recording);
          else if (recording.streamed) checkStream(recording, random);
          else checkWhole(recording);
          if (recording.status < 400) checkRequest(recording);
        } catch (error) {
          wrong.push(`${recording.id}: ${String(error).slice(0, 600)}`);
        }
      }
      counts.set(vendor, `${all.length - wrong.length}/${all.length}`);
      expect(wrong).toEqual([]);
    },
    60_000,
  );
});
