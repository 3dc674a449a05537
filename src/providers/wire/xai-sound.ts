import type { SoundAdapter } from '../adapter.ts';
import { speakOf } from '../sound-wish.ts';
import { textOf } from './json.ts';
import { listening, whoSaid } from './listening.ts';
import { formWith } from './multipart-body.ts';
import { faultOf } from './openai-chat-fault.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { transcriptOf } from './openai-transcriptions.ts';
import { SpeechStream } from './speech-stream.ts';
import { transcriptQuantities } from './transcript-usage.ts';
import { formatOf, noVoice, soundBytes, voiceOf } from './voices.ts';

/**
 * docs.x.ai/docs/api-reference#speech-to-text, 2026-08, and recorded: one model without a name;
 * words with their times. The file is the last field.
 */
export const xaiTranscriptions = (faults: readonly FaultRule[]): SoundAdapter =>
  listening({
    formats: whoSaid,
    faults,
    ask: (call, wish) => {
      const { language, returns } = wish;
      // Its formatting needs a language; without one it is found out.
      const spoken =
        language === undefined
          ? []
          : ([
              ['language', language],
              ['format', 'true'],
            ] as const);
      return formWith(
        '/stt',
        call,
        [...spoken, ...(returns === 'diarized_json' ? ([['diarize', 'true']] as const) : [])],
        wish,
      );
    },
    read: (answer) => {
      const text = textOf(answer['text']);
      return text === undefined
        ? undefined
        : { transcript: transcriptOf(answer, text), quantities: transcriptQuantities(answer) };
    },
  });

const makes = ['mp3', 'wav', 'pcm'] as const;

/** docs.x.ai/docs/api-reference#text-to-speech, 2026-08: JSON in, bytes out. */
export const xaiSpeech = (faults: readonly FaultRule[]): SoundAdapter => ({
  ask(call) {
    const { input } = speakOf(call);
    const format = formatOf(call, makes);
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
      path: '/tts',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    };
  },
  read: (reply) => noVoice(reply, faults),
  stream: (call, contentType) =>
    new SpeechStream(call, formatOf(call, makes), soundBytes(contentType, faults)),
  fault: (status, headers, reply) => faultOf(status, headers, reply, { faults }),
});
