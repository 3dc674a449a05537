import { expect, test } from 'vitest';
import type { Quantities } from '../../../base/quantities.ts';
import { SpoolPool } from '../../../http/spool.ts';
import type { VendorCall } from '../../adapter.ts';
import type { TranscriptionRequest, TranscriptFormat } from '../../media-request.ts';
import { vendorCall } from '../../../../test/support/vendor-call.ts';
import { isFault } from '../fault.ts';
import { openaiTranscriptions } from './openai.ts';
import { answerOf, type TranscriptSegment, type Transcript } from './transcript.ts';

function callFor(returns: TranscriptFormat, extra: Partial<TranscriptionRequest> = {}): VendorCall {
  const listen: TranscriptionRequest = {
    ...{
      file: new SpoolPool().open(),
      filename: 'a.wav',
      type: 'audio/wav',
      format: 'wav',
      seconds: 9.5,
      returns,
      language: undefined,
    },
    ...{ prompt: undefined, temperature: undefined, timestamps: [], fields: [] },
    ...extra,
  };
  const names = { publicModel: 'ear', answerId: 'audio-1', created: 0 };
  return vendorCall({}, { ...names, includeUsage: true, transcription: listen });
}

const written = (
  transcript: Transcript,
  returns: TranscriptFormat,
  extra: Partial<TranscriptionRequest> = {},
): string => answerOf(transcript, callFor(returns, extra), { second: 9.5 }).body.toString('utf8');

/** Words of half a second each, starting at second `from`. */
const spoken = (text: string, from = 0, speaker?: string): TranscriptSegment[] =>
  text
    .split(' ')
    .map((word, i) => ({ text: word, start: from + i / 2, end: from + i / 2 + 0.4, speaker }));

const cues = (words: readonly TranscriptSegment[]): string[] =>
  written({ text: words.map(({ text }) => text).join(' '), words }, 'srt')
    .split('\n\n')
    .filter(Boolean)
    .map((cue) => cue.split('\n').slice(2).join('\n'));

test('words become captions that end with a sentence, a pause, a speaker or their length', () => {
  expect(cues(spoken('One two. Three four?'))).toEqual(['One two.', 'Three four?']);
  expect(cues([...spoken('Before the pause'), ...spoken('after it', 9)])).toEqual([
    'Before the pause',
    'after it',
  ]);
  expect(cues([...spoken('I say', 0, 'a'), ...spoken('you say', 1, 'b')])).toEqual([
    'I say',
    'you say',
  ]);
  const long = cues(spoken('and '.repeat(40).trim()));
  expect(long.length).toBeGreaterThan(2);
  expect(Math.max(...long.map(({ length }) => length))).toBeLessThanOrEqual(84);
});

test('words of Chinese and Japanese stand beside each other', () => {
  expect(cues(spoken('你好 世界。 Tollgate 很 快'))).toEqual(['你好世界。', 'Tollgate 很快']);
});

test('times are written as players read them', () => {
  const segments = [{ text: ' It\nbegins ', start: 3_599.9996, end: 3_661.5 }];
  expect(written({ text: 'It begins', segments }, 'srt')).toBe(
    '1\n01:00:00,000 --> 01:01:01,500\nIt begins\n\n',
  );
  expect(written({ text: 'It begins', segments }, 'vtt')).toBe(
    'WEBVTT\n\n01:00:00.000 --> 01:01:01.500\nIt begins\n\n',
  );
});

test('silence is an empty text in every format', () => {
  expect(written({ text: '' }, 'text')).toBe('\n');
  expect(written({ text: '' }, 'srt')).toBe('');
  expect(written({ text: '' }, 'vtt')).toBe('WEBVTT\n\n');
  expect(JSON.parse(written({ text: '' }, 'verbose_json'))).toMatchObject({
    text: '',
    segments: [],
    duration: 9.5,
  });
});

test('JSON has the members that the convention promises, and words or segments as asked', () => {
  const transcript: Transcript = { text: 'Say it.', language: 'en', words: spoken('Say it.') };
  const all = JSON.parse(written(transcript, 'verbose_json'));
  expect(all).toMatchObject({
    task: 'transcribe',
    language: 'en',
    segments: [{ id: 0, text: 'Say it.', tokens: [] }],
    usage: { seconds: 10 },
  });
  expect('words' in all).toBe(false);
  const words = JSON.parse(written(transcript, 'verbose_json', { timestamps: ['word'] }));
  expect([words.words.length, 'segments' in words]).toEqual([2, false]);
  expect(JSON.parse(written(transcript, 'json'))).toEqual({
    text: 'Say it.',
    usage: { type: 'duration', seconds: 10 },
  });
});

test('usage is seconds in verbose JSON, and tokens or none at the end of a stream', () => {
  const tokens = { input: 2, audio_input: 95, output: 3 };
  const usage = (returns: TranscriptFormat, quantities: Quantities): unknown =>
    JSON.parse(answerOf({ text: 'a' }, callFor(returns), quantities).body.toString('utf8')).usage;
  expect(usage('json', { ...tokens, second: 9.5 })).toMatchObject({ type: 'tokens' });
  expect(usage('diarized_json', { ...tokens, second: 9.5 })).toMatchObject({ type: 'tokens' });
  expect(usage('verbose_json', { ...tokens, second: 9.5 })).toEqual({
    type: 'duration',
    seconds: 10,
  });
  expect(usage('verbose_json', tokens)).toBeUndefined();

  const counted = { type: 'tokens', input_tokens: 97, output_tokens: 3 };
  const read = (reply: object): unknown => {
    const answer = openaiTranscriptions().read(
      Buffer.from(JSON.stringify(reply)),
      'application/json',
      callFor('verbose_json'),
    );
    if (isFault(answer)) throw new Error(answer.message);
    return [JSON.parse(answer.body.toString('utf8')).usage, answer.quantities];
  };
  const all = { input: 97, audio_input: 0, output: 3 };
  expect(read({ text: 'a', duration: 9.5, usage: counted })).toEqual([
    { type: 'duration', seconds: 10 },
    { ...all, second: 9.5 },
  ]);
  expect(read({ text: 'a', usage: counted })).toEqual([undefined, all]);

  const heard = (told: object): unknown => {
    const stream = openaiTranscriptions().stream(callFor('json'), 'application/json');
    stream.push(Buffer.from(JSON.stringify({ text: 'a', usage: told })));
    return [/"usage":\{"type":"(\w+)"/.exec(stream.end())?.[1], stream.meter.quantities];
  };
  expect(heard({ type: 'duration', seconds: 10 })).toEqual([undefined, { second: 10 }]);
  expect(heard(counted)).toEqual(['tokens', all]);
});

test('speakers are letters, in the order in which they speak', () => {
  const segments = ['speaker_7', 'speaker_2', 'speaker_7'].map((speaker, i) => ({
    text: String(i),
    start: i,
    end: i + 1,
    speaker,
  }));
  const said: { segments: readonly { speaker: string; id: string }[] } = JSON.parse(
    written({ text: '0 1 2', segments }, 'diarized_json'),
  );
  expect(said.segments.map(({ speaker, id }) => `${id} ${speaker}`)).toEqual([
    'seg_0 A',
    'seg_1 B',
    'seg_2 A',
  ]);
});
