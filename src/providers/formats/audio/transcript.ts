import {
  countOf,
  type JsonObject,
  numberOf,
  objectOf,
  type Documented,
} from '../../../base/json.ts';
import type { Quantities } from '../../../base/quantities.ts';
import { type VendorAnswer, type VendorCall, transcriptionRequestOf } from '../../adapter.ts';
import type { TranscriptFormat, TranscriptionRequest } from '../../media-request.ts';

/**
 * The counts in an answer: OpenAI's (developers.openai.com/api/reference/audio, 2026-08), and other
 * vendors' names for them.
 */
interface CountedTranscript {
  readonly duration: number;
  readonly usage: {
    readonly seconds: number;
    readonly prompt_audio_seconds: number;
    readonly input_tokens: number;
    readonly input_token_details: AudioTokens;
    readonly output_tokens: number;
    readonly prompt_tokens: number;
    readonly prompt_tokens_details: AudioTokens;
    readonly completion_tokens: number;
  };
}

/** How many of the tokens are audio (same section). */
interface AudioTokens {
  readonly audio_tokens: number;
}

/** A part of the transcript, with times in seconds. */
export interface TranscriptSegment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  readonly speaker?: string | undefined;
}

/** A transcript as vendors report it: the text and, if they know it, times and speakers. */
export interface Transcript {
  readonly text: string;
  /** A name or a code, as the vendor writes it. */
  readonly language?: string | undefined;
  readonly seconds?: number | undefined;
  readonly segments?: readonly TranscriptSegment[] | undefined;
  readonly words?: readonly TranscriptSegment[] | undefined;
}

/** The limits of a caption that viewers can read. */
const captionSecondsMax = 7;
const captionCharsMax = 84;
const pauseSeconds = 0.9;

/** The answer in the client's format. `quantities` become the `usage` of a JSON answer. */
export function answerOf(
  transcript: Transcript,
  call: VendorCall,
  quantities: Quantities | undefined,
  upstreamId?: string,
): VendorAnswer {
  const request = transcriptionRequestOf(call);
  const told = {
    quantities,
    upstreamId,
    outputText: quantities === undefined ? transcript.text : '',
  };
  const json = (value: unknown): VendorAnswer => ({
    body: Buffer.from(JSON.stringify(value)),
    ...told,
  });
  const plain = (text: string): VendorAnswer => ({
    body: Buffer.from(text),
    type: 'text/plain; charset=utf-8',
    ...told,
  });
  const { text } = transcript;
  const usage = usageOf(quantities, request.returns);
  switch (request.returns) {
    case 'text':
      return plain(`${text}\n`);
    case 'srt':
      return plain(captions(transcript, request, srtTime, (i) => `${i + 1}\n`));
    case 'vtt':
      return plain(`WEBVTT\n\n${captions(transcript, request, vttTime, () => '')}`);
    case 'verbose_json':
      return json(verbose(transcript, request, usage));
    case 'diarized_json':
      return json({
        task: 'transcribe',
        duration: transcriptSeconds(transcript, request),
        text,
        segments: bySpeaker(transcript, request),
        ...usage,
      });
    default:
      return json({ text, ...usage });
  }
}

/** The usage in OpenAI's format; `{}`: none is known. */
interface TranscriptUsage {
  readonly usage?: unknown;
}

/**
 * The usage of an answer: tokens if they were counted, else seconds. `verbose_json` has seconds
 * alone (developers.openai.com/api/reference/audio, 2026-11).
 */
export function usageOf(
  quantities: Quantities | undefined,
  returns: TranscriptFormat,
): TranscriptUsage {
  const tokens = returns === 'verbose_json' ? {} : tokenUsageOf(quantities);
  const second = quantities?.second;
  if (tokens.usage !== undefined || second === undefined) return tokens;
  return { usage: { type: 'duration', seconds: Math.ceil(second) } };
}

/** The usage in tokens, which is the only kind at the end of a stream (same page). */
export function tokenUsageOf(quantities: Quantities = {}): TranscriptUsage {
  const { input = 0, audio_input: audio = 0, output = 0 } = quantities;
  if (input + audio + output === 0) return {};
  const details = { text_tokens: input, audio_tokens: audio };
  const counts = {
    input_tokens: input + audio,
    input_token_details: details,
    output_tokens: output,
    total_tokens: input + audio + output,
  };
  return { usage: { type: 'tokens', ...counts } };
}

const transcriptSeconds = ({ seconds }: Transcript, request: TranscriptionRequest): number =>
  seconds ?? request.seconds;

function verbose(transcript: Transcript, request: TranscriptionRequest, usage: object): unknown {
  const segments = segmentsOf(transcript, request).map(({ text, start, end }, id) => ({
    id,
    seek: 0,
    start,
    end,
    text,
    tokens: [],
    ...{
      temperature: request.temperature ?? 0,
      avg_logprob: 0,
      compression_ratio: 1,
      no_speech_prob: 0,
    },
  }));
  const words = transcript.words?.map(({ text: word, start, end }) => ({ word, start, end }));
  const { text, language = request.language ?? '' } = transcript;
  return {
    task: 'transcribe',
    language,
    duration: transcriptSeconds(transcript, request),
    text,
    ...(request.timestamps.length === 0 || request.timestamps.includes('segment')
      ? { segments }
      : {}),
    ...(request.timestamps.includes('word') && words !== undefined ? { words } : {}),
    ...usage,
  };
}

function bySpeaker(transcript: Transcript, request: TranscriptionRequest): unknown[] {
  const letters = new Map<string, string>();
  const letterOf = (speaker = ''): string => {
    if (!letters.has(speaker)) letters.set(speaker, String.fromCharCode(65 + (letters.size % 26)));
    return letters.get(speaker) ?? 'A';
  };
  return segmentsOf(transcript, request).map(({ text, start, end, speaker }, i) => ({
    type: 'transcript.text.segment',
    id: `seg_${i}`,
    start,
    end,
    text,
    speaker: letterOf(speaker),
  }));
}

/** The vendor's segments, or segments made of its words, or one segment with the whole text. */
export function segmentsOf(
  { text, segments, words = [], seconds }: Transcript,
  request: TranscriptionRequest,
): readonly TranscriptSegment[] {
  if (segments !== undefined && segments.length > 0) return segments;
  if (words.length === 0)
    return text === '' ? [] : [{ text, start: 0, end: seconds ?? request.seconds }];
  const made: TranscriptSegment[] = [];
  let open: TranscriptSegment | undefined;
  for (const word of words) {
    if (open !== undefined && endsBefore(open, word)) {
      made.push(open);
      open = undefined;
    }
    open =
      open === undefined ? word : { ...open, text: joined(open.text, word.text), end: word.end };
  }
  if (open !== undefined) made.push(open);
  return made;
}

const endsBefore = (open: TranscriptSegment, next: TranscriptSegment): boolean =>
  /[.!?。！？]["')\]]?$/.test(open.text) ||
  next.speaker !== open.speaker ||
  next.start - open.end > pauseSeconds ||
  next.end - open.start > captionSecondsMax ||
  open.text.length + next.text.length > captionCharsMax;

/** Chinese and Japanese have no spaces between words. */
const joined = (before: string, after: string): string =>
  /[\u3000-\u9fff\uff00-\uffef]$/.test(before) && /^[\u3000-\u9fff\uff00-\uffef]/.test(after)
    ? before + after
    : `${before} ${after}`;

function captions(
  transcript: Transcript,
  request: TranscriptionRequest,
  time: (seconds: number) => string,
  head: (i: number) => string,
): string {
  const cues = segmentsOf(transcript, request).map(
    ({ start, end, text }, i) =>
      `${head(i)}${time(start)} --> ${time(Math.max(start, end))}\n${text.trim().replace(/\s*\n\s*/g, ' ')}\n\n`,
  );
  return cues.join('');
}

const two = (value: number): string => String(value).padStart(2, '0');

function clockOf(seconds: number, point: string): string {
  const ms = Math.max(0, Math.round(seconds * 1_000));
  const [s, m, h] = [
    Math.floor(ms / 1_000) % 60,
    Math.floor(ms / 60_000) % 60,
    Math.floor(ms / 3_600_000),
  ];
  return `${two(h)}:${two(m)}:${two(s)}${point}${String(ms % 1_000).padStart(3, '0')}`;
}

const srtTime = (seconds: number): string => clockOf(seconds, ',');
const vttTime = (seconds: number): string => clockOf(seconds, '.');

/**
 * Longer than any recording that Tollgate accepts: a larger number is a vendor's mistake, which
 * must not be charged.
 */
const secondsMax = 7 * 24 * 3600;

export const secondsOf = (value: unknown): number | undefined => {
  const seconds = numberOf(value);
  return seconds !== undefined && seconds >= 0 && seconds <= secondsMax ? seconds : undefined;
};

/**
 * The usage of an answer in OpenAI's format: `usage` in tokens or seconds (OpenAI; Mistral's
 * `prompt_audio_seconds`, recorded 2026-08), or the length of the recording beside the text (Groq,
 * Venice, recorded 2026-08). Undefined when it reports none.
 */
export function transcriptQuantities(answer: JsonObject): Quantities | undefined {
  const { usage: told, duration }: Documented<CountedTranscript> = answer;
  const usage = objectOf(told) ?? {};
  const second =
    secondsOf(usage.seconds) ?? secondsOf(usage.prompt_audio_seconds) ?? secondsOf(duration);
  const all = countOf(usage.input_tokens) ?? countOf(usage.prompt_tokens);
  const output = countOf(usage.output_tokens) ?? countOf(usage.completion_tokens);
  const details =
    objectOf(usage.input_token_details) ?? objectOf(usage.prompt_tokens_details) ?? {};
  // Mistral counts its audio tokens beside the prompt's, OpenAI within them.
  const audio = countOf(details.audio_tokens) ?? 0;
  const counts = {
    ...(second === undefined ? {} : { second }),
    ...(all === undefined ? {} : { input: all >= audio ? all - audio : all, audio_input: audio }),
    ...(output === undefined ? {} : { output }),
  };
  return Object.keys(counts).length === 0 ? undefined : counts;
}
