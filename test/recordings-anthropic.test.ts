import { afterAll, describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../src/base/random.ts';
import { type Call, isFault, type StreamMeter } from '../src/providers/adapter.ts';
import { anthropicMessages } from '../src/providers/wire/anthropic-messages.ts';
import { answerMeaning, type Meaning, streamMeaning } from './chat-meaning.ts';
import { cuts } from './cuts.ts';
import { chatRequest, messagesMeaning, messagesSaid } from './messages-meaning.ts';
import { type Recording, recordingsAt, recordingsFolder } from './recorded-traffic.ts';

const seed = 20_261_121;
const chat = anthropicMessages();
// OpenAI's messages of threads are something else.
const recordings =
  recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, 'messages').filter(({ vendor }) => vendor !== 'openai');
const counts = new Map<string, string>();
/** Requests that chat can say, of those that were recorded. */
let requests = 0;
let sayable = 0;

function callOf({ request, streamed, url }: Recording): Call {
  const native = Array.isArray(request?.['messages']) ? request : undefined;
  const body = (native && chatRequest({ ...native })) ?? { messages: [{ role: 'user', content: 'Go on.' }] };
  const named = typeof native?.['model'] === 'string' ? native['model'] : /\/models\/([^:/?]+)/.exec(url)?.[1];
  return {
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    publicModel: 'public/model',
    upstreamModel: named ?? 'claude-sonnet-4-5',
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

/** Arguments are compared as JSON: streamed ones keep the vendor's white space. */
function expectSame(got: Meaning, want: Meaning): void {
  expect(got.text).toBe(want.text);
  expect(got.calls.map(({ name, args }) => [name, JSON.parse(args)])).toEqual(want.calls.map(({ name, args }) => [name, JSON.parse(args)]));
  expect(got.reasoning).toBe(want.reasoning);
  expect(got.finish).toBe(want.finish);
  expect(got.usage).toEqual(want.usage);
}

function checkStream(recording: Recording, random: Random): void {
  const call = callOf(recording);
  const want = messagesMeaning(recording.reply.toString('utf8'));
  const { text, meter } = play(call, [recording.reply]);
  if (want.finish === undefined) expect(meter.fault).toBeDefined();
  else expectSame(streamMeaning(Buffer.from(text, 'latin1').toString('utf8')), want);
  for (const pieces of cuts(recording.reply, random)) if (play(call, pieces).text !== text) throw new Error('a cut changes the answer');
  const collector = chat.collect(call);
  collector.push(recording.reply);
  if (meter.fault === undefined) expectSame(answerMeaning(collector.answer().body.toString('utf8')), want);
}

function checkWhole(recording: Recording): void {
  const want = messagesMeaning(recording.reply.toString('utf8'));
  const result = chat.read(recording.reply, 'application/json', callOf(recording));
  if (want.error !== undefined || !/"content"/.test(recording.reply.toString('utf8'))) expect(isFault(result)).toBe(true);
  else if (isFault(result)) throw new Error(`${result.kind}: ${result.message}`);
  else expectSame(answerMeaning(result.body.toString('utf8')), want);
}

const kinds: Readonly<Record<number, string>> = { 400: 'bad_request', 401: 'credentials', 404: 'unknown_model' };

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
  const body = chatRequest(native);
  if (body === undefined) return;
  sayable += 1;
  const sent: Record<string, unknown> = JSON.parse(chat.ask(callOf(recording)).body.toString('utf8'));
  const { model, temperature, thinking } = native;
  expect(messagesSaid(sent)).toEqual(messagesSaid(native));
  if (model !== undefined) expect(sent['model']).toBe(model);
  // Thinking takes no temperature but the usual one.
  if (temperature !== undefined && sent['thinking'] === undefined) expect(sent['temperature']).toBe(temperature);
  if (JSON.stringify(thinking)?.includes('budget') && JSON.stringify(sent['thinking'])?.includes('budget'))
    expect(Object.entries(sent['thinking'] ?? {}).sort()).toEqual(Object.entries(thinking ?? {}).sort());
}

describe.skipIf(recordingsFolder === undefined)('recorded traffic in Anthropic’s format', () => {
  afterAll(() => {
    const all = [...counts].map(([vendor, count]) => `${vendor} ${count}`).join(' · ');
    process.stdout.write(`recorded messages (seed ${seed}): ${all}; requests that chat can say: ${sayable} of ${requests}\n`);
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
