import { editBytes, jsonText, type Change } from '../../base/json-edit.ts';
import type { Ask, Call, SoundAdapter } from '../adapter.ts';
import { speakOf, type VoiceFormat } from '../sound-wish.ts';
import { countOf, type JsonObject, objectOf, textOf } from './json.ts';
import { faultOf, faultWithin } from './openai-chat-fault.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { SpeechStream, type Voiced } from './speech-stream.ts';
import { formatOf, noVoice, voiceOf } from './voices.ts';

/** How a vendor departs from OpenAI's speech. Each entry cites its page and date. */
export interface SpeechQuirks {
  /** What it makes; the first is what it makes when nothing is said. */
  readonly makes?: readonly [VoiceFormat, ...VoiceFormat[]];
  /** Models that can send events, which tell the count: they are asked for them. */
  readonly counts?: (model: string) => boolean;
  /** The voice of clients that name one of OpenAI's. */
  readonly usualVoice?: string;
  readonly drop?: readonly string[];
  readonly faults?: readonly FaultRule[];
}

const all = ['mp3', 'opus', 'aac', 'flac', 'wav', 'pcm'] as const;

/**
 * The wire format of OpenAI's `/audio/speech` (wire-formats §1.5): JSON in, bytes out, or events
 * with bytes in base64.
 */
export function openaiSpeech(quirks: SpeechQuirks = {}): SoundAdapter {
  const { makes = all, faults = [] } = quirks;
  return {
    ask: (call) => ask(call, quirks),
    read: (reply) => noVoice(reply, faults),
    stream(call, contentType) {
      const read = (said: JsonObject): Voiced => readEvent(said, faults);
      const from = contentType.startsWith('text/event-stream') ? 'events' : 'json';
      const source = /^(text\/event-stream|application\/json)/.test(contentType)
        ? ({ from, read } as const)
        : 'bytes';
      return new SpeechStream(call, formatOf(call, makes), source);
    },
    fault: (status, headers, reply) => faultOf(status, headers, reply, { faults }),
  };
}

function ask(
  call: Call,
  { makes = all, counts = () => false, usualVoice, drop = [] }: SpeechQuirks,
): Ask {
  const { body, bytes, upstreamModel } = call;
  const format = formatOf(call, makes);
  const changes: Change[] = [{ path: ['model'], json: jsonText(upstreamModel) }];
  if (usualVoice !== undefined)
    changes.push({ path: ['voice'], json: jsonText(voiceOf(call, usualVoice)) });
  if (speakOf(call).format === undefined && format !== 'mp3')
    changes.push({ path: ['response_format'], json: jsonText(format) });
  if (counts(upstreamModel)) changes.push({ path: ['stream_format'], json: '"sse"' });
  else if (body['stream_format'] !== undefined) changes.push({ path: ['stream_format'] });
  for (const member of drop) if (body[member] !== undefined) changes.push({ path: [member] });
  return {
    path: '/audio/speech',
    headers: { 'content-type': 'application/json' },
    body: editBytes(bytes, changes),
  };
}

/** `audio`: OpenAI's events; `audio_data`: Mistral's whole answer (recorded 2026-08). */
function readEvent(said: JsonObject, faults: readonly FaultRule[]): Voiced {
  const fault = faultWithin(said, { faults });
  if (fault !== undefined) return { fault };
  const sound = textOf(said['audio']) ?? textOf(said['audio_data']);
  const usage = objectOf(said['usage']);
  const [input, output] = [countOf(usage?.['input_tokens']), countOf(usage?.['output_tokens'])];
  return {
    sound: sound === undefined ? undefined : Buffer.from(sound, 'base64'),
    quantities:
      input === undefined && output === undefined
        ? undefined
        : { input: input ?? 0, audio_output: output ?? 0 },
    done: said['type'] === 'speech.audio.done',
  };
}
