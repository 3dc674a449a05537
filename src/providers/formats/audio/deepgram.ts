import { listOf, objectOf, parse, textOf, type Documented } from '../../../base/json.ts';
import { type AudioAdapter, speechRequestOf } from '../../adapter.ts';
import { notSent } from '../../not-sent.ts';
import { audioContentTypes } from '../../media-request.ts';
import { faultOf, type FaultRule } from '../fault.ts';
import { jsonRequest } from '../json-request.ts';
import { saidIn, type TimedText } from './openai.ts';
import { SpeechStream, speechMembers, voiceFormat, noVoiceFault, soundSource } from './speech.ts';
import { secondsOf } from './transcript.ts';
import {
  type TranscriptionResult,
  transcriptionAdapter,
  transcriptMembers,
  speakerFormats,
} from './transcription.ts';

/** An error (developers.deepgram.com/docs/errors, 2026-08). */
interface DeepgramError {
  readonly err_code: string;
  readonly err_msg: string;
}

/** An answer (developers.deepgram.com/reference/speech-to-text/listen-pre-recorded, 2026-08). */
interface ListenResponse {
  readonly metadata: { readonly request_id: string; readonly duration: number };
  readonly results: {
    readonly channels: readonly DeepgramChannel[];
    readonly utterances: readonly TimedText[];
  };
}

/** A channel of the recording, with the best transcript first (same page). */
interface DeepgramChannel {
  readonly detected_language: string;
  readonly alternatives: readonly {
    readonly transcript: string;
    readonly words: readonly TimedText[];
  }[];
}

/** developers.deepgram.com/docs/errors, 2026-08. */
const faults: readonly FaultRule[] = [
  { code: /^(INVALID_AUTH|INSUFFICIENT_PERMISSIONS)$/, kind: 'credentials' },
  { code: /^ASR_PAYMENT_REQUIRED$/, kind: 'quota' },
  { code: /^TOO_MANY_REQUESTS$/, kind: 'rate_limited' },
  { text: /No such model|model.{0,20}not (?:found|available)/i, kind: 'unknown_model' },
];

/** Turns `{err_code, err_msg}` into the error format that `faultOf` reads. */
function fault(
  status: number,
  headers: Parameters<AudioAdapter['fault']>[1],
  reply: string,
): ReturnType<AudioAdapter['fault']> {
  const told: Documented<DeepgramError> | undefined = objectOf(parse(reply));
  const [code, message] = [textOf(told?.err_code), textOf(told?.err_msg)];
  const said =
    code === undefined && message === undefined
      ? reply
      : JSON.stringify({ error: { code, message } });
  return faultOf(status, headers, said, faults);
}

/**
 * developers.deepgram.com/reference/speech-to-text/listen-pre-recorded, 2026-08, and recorded: the
 * recording is the body, and all settings are in the query.
 */
export const deepgramTranscriptions: AudioAdapter = {
  ...transcriptionAdapter({
    formats: speakerFormats,
    faults,
    ask(call, { file, format, language, returns }) {
      const query = new URLSearchParams({ model: call.upstreamModel, smart_format: 'true' });
      if (language === undefined) query.set('detect_language', 'true');
      else query.set('language', language);
      if (returns !== 'json' && returns !== 'text') query.set('utterances', 'true');
      if (returns === 'diarized_json') query.set('diarize', 'true');
      return {
        path: `/listen?${query.toString()}`,
        headers: { 'content-type': audioContentTypes[format] },
        body: Buffer.alloc(0),
        rest: [{ file, as: 'bytes' }],
        dropped: notSent(call, transcriptMembers, ['language']),
      };
    },
    read: heard,
  }),
  fault,
};

function heard(answer: Documented<ListenResponse>): TranscriptionResult | undefined {
  const results = objectOf(answer.results);
  const channel = objectOf(listOf(results?.channels)[0]);
  const best = objectOf(listOf(channel?.alternatives)[0]);
  const text = textOf(best?.transcript);
  if (text === undefined) return undefined;
  const metadata = objectOf(answer.metadata);
  const second = secondsOf(metadata?.duration);
  const language = textOf(channel?.detected_language);
  return {
    transcript: {
      text,
      language,
      seconds: second,
      segments: saidIn(results?.utterances),
      words: saidIn(best?.words),
    },
    quantities: second === undefined ? undefined : { second },
    upstreamId: textOf(metadata?.request_id),
  };
}

const encodings = {
  mp3: 'encoding=mp3',
  opus: 'encoding=opus&container=ogg',
  aac: 'encoding=aac',
  flac: 'encoding=flac',
  wav: 'encoding=linear16&container=wav&sample_rate=24000',
  pcm: 'encoding=linear16&container=none&sample_rate=24000',
} as const;

/**
 * developers.deepgram.com/reference/text-to-speech/speak-request, 2026-08, and recorded: the voice
 * is a part of the model's name.
 */
export const deepgramSpeech: AudioAdapter = {
  ask: (call) => ({
    ...jsonRequest(
      `/speak?${encodings[voiceFormat(call, ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'])]}&model=${encodeURIComponent(call.upstreamModel)}`,
      { text: speechRequestOf(call).input },
    ),
    dropped: notSent(call, speechMembers),
  }),
  read: (reply) => noVoiceFault(reply, faults),
  stream: (call, contentType) =>
    new SpeechStream(call, speechRequestOf(call).format ?? 'mp3', soundSource(contentType, faults)),
  fault,
};
