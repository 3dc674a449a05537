import {
  jsonText,
  countOf,
  listOf,
  objectOf,
  textOf,
  type Documented,
} from '../../../base/json.ts';
import { type AudioAdapter, speechRequestOf } from '../../adapter.ts';
import { notSent } from '../../not-sent.ts';
import { audioContentTypes } from '../../media-request.ts';
import { faultReader, faultOf, protocolFault, type FaultRule } from '../fault.ts';
import { jsonHeaders } from '../json-request.ts';
import {
  SpeechStream,
  type SpeechEvent,
  speechMembers,
  voiceFormat,
  noVoiceFault,
  voiceOf,
} from './speech.ts';
import { secondsOf } from './transcript.ts';
import { transcriptionAdapter, transcriptMembers, textFormats } from './transcription.ts';

/** An answer (help.aliyun.com/zh/model-studio/qwen-asr-api-reference, 2026-08). */
interface QwenTranscript {
  readonly id: string;
  readonly choices: readonly { readonly message: QwenMessage }[];
  readonly usage: {
    readonly seconds: number;
    readonly prompt_tokens: number;
    readonly completion_tokens: number;
    readonly prompt_tokens_details: { readonly audio_tokens: number };
  };
}

/** A transcript, and what the vendor notes about it (same page). */
interface QwenMessage {
  readonly content: string;
  readonly annotations: readonly { readonly language: string }[];
}

/** An event (help.aliyun.com/zh/model-studio/qwen-tts-api, 2026-08). */
interface QwenSpeechEvent {
  readonly request_id: string;
  readonly code: string;
  readonly output: { readonly finish_reason: string; readonly audio: { readonly data: string } };
  readonly usage: {
    readonly characters: number;
    readonly input_tokens: number;
    readonly output_tokens: number;
  };
}

/**
 * help.aliyun.com/zh/model-studio/qwen-asr-api-reference, 2026-08: a chat about one recording in
 * base64; a system message gives context. The answer is text.
 */
export const qwenTranscriptions = (faults: readonly FaultRule[]): AudioAdapter =>
  transcriptionAdapter({
    formats: textFormats,
    faults,
    ask(call, { file, format, language, prompt }) {
      const context =
        prompt === undefined
          ? ''
          : `{"role":"system","content":[{"type":"text","text":${jsonText(prompt)}}]},`;
      const options =
        language === undefined
          ? '{"enable_itn":false}'
          : `{"enable_itn":false,"language":${jsonText(language)}}`;
      const start = `{"model":${jsonText(call.upstreamModel)},"stream":false,"asr_options":${options},"messages":[${context}`;
      const sound = `{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"data:${audioContentTypes[format]};base64,`;
      return {
        path: '/chat/completions',
        headers: jsonHeaders,
        body: Buffer.from(start + sound),
        rest: [{ file, as: 'base64' }, Buffer.from('"}}]}]}')],
        dropped: notSent(call, transcriptMembers, ['language', 'prompt']),
      };
    },
    read(answer: Documented<QwenTranscript>) {
      const message = objectOf(objectOf(listOf(answer.choices)[0])?.message);
      const text = textOf(message?.content);
      if (text === undefined) return undefined;
      const note = objectOf(listOf(message?.annotations)[0]);
      const usage = objectOf(answer.usage) ?? {};
      const second = secondsOf(usage.seconds);
      const [input, output] = [countOf(usage.prompt_tokens), countOf(usage.completion_tokens)];
      const audio = Math.min(
        input ?? 0,
        countOf(objectOf(usage.prompt_tokens_details)?.audio_tokens) ?? 0,
      );
      return {
        transcript: { text, language: textOf(note?.language), seconds: second },
        quantities: {
          ...(second === undefined ? {} : { second }),
          ...(input === undefined ? {} : { input: input - audio, audio_input: audio }),
          ...(output === undefined ? {} : { output }),
        },
        upstreamId: textOf(answer.id),
      };
    },
  });

const usualHz = 24_000;
const makes = ['wav', 'pcm'] as const;

/**
 * help.aliyun.com/zh/model-studio/qwen-tts-api, 2026-08: DashScope's own interface, beside the
 * compatible one. The events hold bare samples in base64; the last one holds the address of the
 * whole, which no client needs.
 */
export const qwenSpeech = (faults: readonly FaultRule[]): AudioAdapter => ({
  ask(call) {
    const { input } = speechRequestOf(call);
    voiceFormat(call, makes);
    const body = {
      model: call.upstreamModel,
      input: { text: input, voice: voiceOf(call, 'Cherry'), language_type: 'Auto' },
    };
    return {
      path: '/../../api/v1/services/aigc/multimodal-generation/generation',
      headers: { ...jsonHeaders, 'x-dashscope-sse': 'enable' },
      body: Buffer.from(JSON.stringify(body)),
      dropped: notSent(call, speechMembers, ['voice']),
    };
  },
  read: (reply) => noVoiceFault(reply, faults),
  stream(call, contentType) {
    const made = voiceFormat(call, makes);
    const from = contentType.startsWith('text/event-stream') ? 'events' : 'json';
    const read = (event: Documented<QwenSpeechEvent>): SpeechEvent => readEvent(event, faults);
    return new SpeechStream(
      call,
      made,
      { from, read },
      made === 'wav' ? { hz: usualHz } : undefined,
    );
  },
  fault: faultReader(faults),
});

function readEvent(event: Documented<QwenSpeechEvent>, faults: readonly FaultRule[]): SpeechEvent {
  const output = objectOf(event.output);
  if (output === undefined)
    return {
      fault: textOf(event.code)
        ? faultOf(400, {}, JSON.stringify(event), faults)
        : protocolFault('an event without output'),
    };
  const usage = objectOf(event.usage) ?? {};
  const [characters, input, spoken] = [
    countOf(usage.characters),
    countOf(usage.input_tokens),
    countOf(usage.output_tokens),
  ];
  const told = {
    ...(input === undefined ? {} : { input }),
    ...(spoken === undefined ? {} : { audio_output: spoken }),
  };
  return {
    sound: Buffer.from(textOf(objectOf(output.audio)?.data) ?? '', 'base64'),
    quantities: { ...told, ...(characters === undefined ? {} : { character: characters }) },
    upstreamId: textOf(event.request_id),
    done: output.finish_reason === 'stop',
  };
}
