import { afterAll, describe, expect, it } from 'vitest';
import { seededRandom } from '../src/base/random.ts';
import type { Adapter, Call, StreamTranslator } from '../src/providers/adapter.ts';
import { isFault } from '../src/providers/adapter.ts';
import { chatOverResponses } from '../src/providers/wire/openai-responses-chat.ts';
import { answerMeaning, streamMeaning } from './chat-meaning.ts';
import { type Recording, recordingsFolder, recordingsAt } from './recorded-traffic.ts';
import { asResponse, lastResponse, responseMeaning, type ResponseMeaning } from './responses-meaning.ts';

const seed = 20_261_121;
const recordings = recordingsFolder === undefined ? [] : recordingsAt(recordingsFolder, 'responses');
/** Recordings that contradict themselves, and how. */
const exceptions: Readonly<Record<string, string>> = {
  'azure-reasoning-encrypted-content.1.chunks.txt': 'several streams in one file',
  'openai-reasoning-encrypted-content.1.chunks.txt': 'several streams in one file',
  'openai-phase.1.chunks.txt': 'deltas were left out',
  'ResponsesTests/FunctionCallWorks.json#2': 'a list of input items',
};
const fit = recordings.filter(({ id }) => !Object.keys(exceptions).some((name) => id.replace(/#0$/, '').endsWith(name)));
const counts = new Map<string, string>();

function callOf({ request, streamed }: Recording): Call {
  const body = { ...request, model: 'public/model' };
  return {
    body,
    bytes: Buffer.from(JSON.stringify(body)),
    publicModel: 'public/model',
    upstreamModel: typeof request?.['model'] === 'string' ? request['model'] : 'recorded-model',
    stream: streamed,
    includeUsage: streamed,
    streamUpstream: streamed,
    outputTokensMax: undefined,
    answerId: 'resp_replayed',
    created: 1_700_000_000,
  };
}

interface Played {
  readonly text: string;
  readonly translator: StreamTranslator;
}

function play(adapter: Adapter, call: Call, pieces: Iterable<Buffer>): Played {
  const translator = adapter.stream(call);
  let text = '';
  for (const piece of pieces) text += translator.push(piece);
  return { text: Buffer.from(text + translator.end(), 'latin1').toString('utf8'), translator };
}

function* cut(bytes: Buffer, longest: number): Generator<Buffer> {
  const random = seededRandom(seed);
  for (let at = 0; at < bytes.length; ) {
    const next = at + 1 + Math.floor(random() * longest);
    yield bytes.subarray(at, next);
    at = next;
  }
}

function same(got: ResponseMeaning, want: ResponseMeaning): void {
  expect(got).toEqual({ ...want, failed: false });
}

/** A response on its way to a client of chat. */
function checkChat(recording: Recording): void {
  const adapter = chatOverResponses();
  const call = callOf(recording);
  if (recording.status >= 400) {
    expect(adapter.fault(recording.status, recording.headers, recording.reply.toString('utf8')).message).not.toBe('');
    return;
  }
  if (!recording.streamed) {
    const want = responseMeaning(JSON.parse(recording.reply.toString('utf8')));
    const got = adapter.read(recording.reply, 'application/json', call);
    if (isFault(got)) return expect(want.failed).toBe(true);
    return same(asResponse(answerMeaning(got.body.toString('utf8'))), want);
  }
  const last = lastResponse(recording.reply.toString('utf8'));
  const { text, translator } = play(adapter, call, [recording.reply]);
  if (last === undefined || responseMeaning(last).failed) return expect(translator.meter.fault).toBeDefined();
  expect(translator.meter.fault).toBeUndefined();
  same(asResponse(streamMeaning(text)), responseMeaning(last));
  for (const longest of [1, 7, 40, 300, 5000]) expect(play(adapter, call, cut(recording.reply, longest)).text === text).toBe(true);
  const collector = adapter.collect(call);
  collector.push(recording.reply);
  same(asResponse(answerMeaning(collector.answer().body.toString('utf8'))), responseMeaning(last));
}

describe.skipIf(recordingsFolder === undefined)('recorded responses', () => {
  afterAll(() => {
    process.stdout.write(`recorded responses (seed ${seed}): ${[...counts].map(([name, count]) => `${name} ${count}`).join(' · ')}\n`);
  });

  it.each([['to clients of chat', checkChat] as const])(
    '%s mean the same, at every cut',
    (name, check) => {
      const wrong: string[] = [];
      for (const recording of fit) {
        try {
          check(recording);
        } catch (error) {
          wrong.push(`${recording.id} ${recording.vendor}: ${String(error).slice(0, 500)}`);
        }
      }
      counts.set(name, `${fit.length - wrong.length}/${fit.length} (of ${recordings.length})`);
      expect(wrong).toEqual([]);
    },
    60_000,
  );
});
