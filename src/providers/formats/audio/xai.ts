import { textOf, type Documented } from '../../../base/json.ts';
import { type AudioAdapter, speechRequestOf } from '../../adapter.ts';
import { notSent } from '../../not-sent.ts';
import { faultReader, type FaultRule } from '../fault.ts';
import { recordingRequest } from '../multipart.ts';
import { jsonRequest } from '../json-request.ts';
import { type OpenAiTranscript, transcriptOf } from './openai.ts';
import {
  SpeechStream,
  speechMembers,
  voiceFormat,
  noVoiceFault,
  soundSource,
  voiceOf,
} from './speech.ts';
import { transcriptQuantities } from './transcript.ts';
import { transcriptionAdapter, transcriptMembers, speakerFormats } from './transcription.ts';

/**
 * docs.x.ai/docs/api-reference#speech-to-text, 2026-08, and recorded: one model without a name; the
 * answer holds words with their times. The file must be the last field.
 */
export const xaiTranscriptions = (faults: readonly FaultRule[]): AudioAdapter =>
  transcriptionAdapter({
    formats: speakerFormats,
    faults,
    ask: (call, request) => {
      const { language, returns } = request;
      // `format` needs a language; without one the vendor detects it.
      const spoken =
        language === undefined
          ? []
          : ([
              ['language', language],
              ['format', 'true'],
            ] as const);
      const asked = recordingRequest(
        '/stt',
        call,
        [...spoken, ...(returns === 'diarized_json' ? ([['diarize', 'true']] as const) : [])],
        request,
      );
      return { ...asked, dropped: notSent(call, transcriptMembers, ['language']) };
    },
    read: (answer: Documented<OpenAiTranscript>) => {
      const text = textOf(answer.text);
      return text === undefined
        ? undefined
        : { transcript: transcriptOf(answer, text), quantities: transcriptQuantities(answer) };
    },
  });

const makes = ['mp3', 'wav', 'pcm'] as const;

/** docs.x.ai/docs/api-reference#text-to-speech, 2026-08: JSON in, bytes out. */
export const xaiSpeech = (faults: readonly FaultRule[]): AudioAdapter => ({
  ask(call) {
    const { input } = speechRequestOf(call);
    const format = voiceFormat(call, makes);
    const body = {
      text: input,
      voice_id: voiceOf(call, 'eve'),
      language: 'auto',
      output_format: {
        codec: format,
        sample_rate: 24_000,
        ...(format === 'mp3' ? { bit_rate: 128_000 } : {}),
      },
    };
    return {
      ...jsonRequest('/tts', body),
      dropped: notSent(call, speechMembers, ['voice']),
    };
  },
  read: (reply) => noVoiceFault(reply, faults),
  stream: (call, contentType) =>
    new SpeechStream(call, voiceFormat(call, makes), soundSource(contentType, faults)),
  fault: faultReader(faults),
});
