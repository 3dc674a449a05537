import { objectOf, parse, textOf, type Documented, objectsOf } from '../../../base/json.ts';
import { type AudioAdapter, speechRequestOf } from '../../adapter.ts';
import { notSent } from '../../not-sent.ts';
import { faultOf, type FaultRule } from '../fault.ts';
import { recordingRequest } from '../multipart.ts';
import { jsonRequest } from '../json-request.ts';
import { saidIn, type TimedText } from './openai.ts';
import {
  SpeechStream,
  speechMembers,
  voiceFormat,
  noVoiceFault,
  soundSource,
  voiceOf,
} from './speech.ts';
import { transcriptionAdapter, transcriptMembers, speakerFormats } from './transcription.ts';

/** An error (elevenlabs.io/docs/api-reference/errors, 2026-08). */
interface ElevenlabsError {
  readonly detail: { readonly status: string; readonly message: string };
}

/** An answer (elevenlabs.io/docs/api-reference/speech-to-text/convert, 2026-08). */
interface ElevenlabsTranscript {
  readonly text: string;
  readonly language_code: string;
  readonly words: readonly (TimedText & { readonly type: string })[];
}

/**
 * elevenlabs.io/docs/api-reference/errors, 2026-08: `detail` holds the error, with a status in
 * words.
 */
const faults: readonly FaultRule[] = [
  { code: /quota_exceeded|payment_required/, kind: 'quota' },
  { code: /invalid_api_key|missing_permissions/, kind: 'credentials' },
  { code: /too_many_concurrent_requests|system_busy|rate_limit/, kind: 'rate_limited' },
  { code: /model_not_found|model_id_does_not_exist/, kind: 'unknown_model' },
  { status: 422, kind: 'bad_request' },
];

/** Turns `{detail: {status, message}}` into the error format that `faultOf` reads. */
function fault(
  status: number,
  headers: Parameters<AudioAdapter['fault']>[1],
  reply: string,
): ReturnType<AudioAdapter['fault']> {
  const told: Documented<ElevenlabsError> | undefined = objectOf(parse(reply));
  const detail = objectOf(told?.detail);
  if (detail === undefined) return faultOf(status, headers, reply, faults);
  const code = textOf(detail.status);
  const message = [code, textOf(detail.message)].filter(Boolean).join(': ');
  return faultOf(status, headers, JSON.stringify({ error: { message, code } }), faults);
}

/**
 * elevenlabs.io/docs/api-reference/speech-to-text/convert, 2026-08; the answer was recorded: words
 * and the spaces between them, with times and speakers.
 */
export const elevenlabsTranscriptions: AudioAdapter = {
  ...transcriptionAdapter({
    formats: speakerFormats,
    faults,
    ask: (call, request) => {
      const { language, temperature, returns } = request;
      const fields: [string, string][] = [
        ['model_id', call.upstreamModel],
        ['tag_audio_events', 'false'],
        ['timestamps_granularity', 'word'],
      ];
      if (language !== undefined) fields.push(['language_code', language]);
      if (temperature !== undefined) fields.push(['temperature', String(temperature)]);
      if (returns === 'diarized_json') fields.push(['diarize', 'true']);
      return {
        ...recordingRequest('/speech-to-text', call, fields, request),
        dropped: notSent(call, transcriptMembers, ['language', 'temperature']),
      };
    },
    read: (answer: Documented<ElevenlabsTranscript>) => {
      const text = textOf(answer.text);
      if (text === undefined) return undefined;
      const words = objectsOf(answer.words).filter(({ type }) => (type ?? 'word') === 'word');
      return {
        transcript: { text, language: textOf(answer.language_code), words: saidIn(words) },
      };
    },
  }),
  fault,
};

const codecs = {
  mp3: 'mp3_44100_128',
  opus: 'opus_48000_64',
  wav: 'pcm_24000',
  pcm: 'pcm_24000',
} as const;
const makes = ['mp3', 'opus', 'wav', 'pcm'] as const;
/** The voice that the vendor's own examples use. */
const usualVoice = 'JBFqnCBsd6RMkjVDRZzb';

/**
 * elevenlabs.io/docs/api-reference/text-to-speech/stream, 2026-08: the voice is in the path, the
 * format in the query, and the reply is a stream of bytes.
 */
export const elevenlabsSpeech: AudioAdapter = {
  ask(call) {
    const { input, speed } = speechRequestOf(call);
    const format = voiceFormat(call, makes);
    const codec =
      format === 'opus' || format === 'wav' || format === 'pcm' ? codecs[format] : codecs.mp3;
    // The vendor takes speeds from 0.7 to 1.2
    // (elevenlabs.io/docs/product-guides/playground/text-to-speech, 2026-08).
    const settings =
      speed === undefined ? {} : { voice_settings: { speed: Math.min(1.2, Math.max(0.7, speed)) } };
    return {
      ...jsonRequest(
        `/text-to-speech/${encodeURIComponent(voiceOf(call, usualVoice))}/stream?output_format=${codec}`,
        { text: input, model_id: call.upstreamModel, ...settings },
      ),
      dropped: notSent(call, speechMembers, ['voice', 'speed']),
    };
  },
  read: (reply) => noVoiceFault(reply, faults),
  stream(call, contentType) {
    const format = voiceFormat(call, makes);
    return new SpeechStream(
      call,
      format,
      soundSource(contentType, faults),
      format === 'wav' ? { hz: 24_000 } : undefined,
    );
  },
  fault,
};
