import { countOf, objectOf, textOf, type Documented } from '../../../base/json.ts';
import { type AudioAdapter, speechRequestOf } from '../../adapter.ts';
import { notSent } from '../../not-sent.ts';
import { faultReader, faultWithin, type FaultRule } from '../fault.ts';
import { jsonRequest } from '../json-request.ts';
import {
  SpeechStream,
  type SpeechEvent,
  speechMembers,
  voiceFormat,
  noVoiceFault,
  voiceOf,
} from './speech.ts';

/** An event (platform.minimax.io/docs/api-reference/speech-t2a-http, 2026-08). */
interface MinimaxSpeechEvent {
  readonly trace_id: string;
  readonly data: { readonly status: number; readonly audio: string };
  readonly extra_info: { readonly usage_characters: number };
}

const makes = ['mp3', 'pcm', 'flac'] as const;
const slowest = 0.5;
const fastest = 2;

/**
 * platform.minimax.io/docs/api-reference/speech-t2a-http, 2026-08: events with the audio in
 * hexadecimal digits. The last event would repeat all of it unless the request turns that off.
 */
export const minimaxSpeech = (faults: readonly FaultRule[]): AudioAdapter => ({
  ask(call) {
    const { input, speed } = speechRequestOf(call);
    const body = {
      model: call.upstreamModel,
      text: input,
      stream: true,
      stream_options: { exclude_aggregated_audio: true },
      voice_setting: {
        voice_id: voiceOf(call, 'English_expressive_narrator'),
        ...(speed === undefined ? {} : { speed: Math.min(fastest, Math.max(slowest, speed)) }),
      },
      audio_setting: {
        format: voiceFormat(call, makes),
        sample_rate: voiceFormat(call, makes) === 'mp3' ? 32_000 : 24_000,
        channel: 1,
      },
    };
    return {
      ...jsonRequest('/t2a_v2', body),
      dropped: notSent(call, speechMembers, ['voice', 'speed']),
    };
  },
  read: (reply) => noVoiceFault(reply, faults),
  stream(call, contentType) {
    const from = contentType.startsWith('application/json') ? 'json' : 'events';
    return new SpeechStream(call, voiceFormat(call, makes), {
      from,
      read: (event) => readEvent(event, faults),
    });
  },
  fault: faultReader(faults),
});

function readEvent(
  event: Documented<MinimaxSpeechEvent>,
  faults: readonly FaultRule[],
): SpeechEvent {
  const fault = faultWithin(event, faults);
  if (fault !== undefined) return { fault };
  const data = objectOf(event.data);
  const done = data?.status === 2;
  const characters = countOf(objectOf(event.extra_info)?.usage_characters);
  return {
    sound: Buffer.from(textOf(data?.audio) ?? '', 'hex'),
    quantities: characters === undefined ? undefined : { character: characters },
    upstreamId: textOf(event.trace_id),
    done,
  };
}
