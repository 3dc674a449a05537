import { jsonText } from '../../base/json-edit.ts';
import type { SoundAdapter } from '../adapter.ts';
import { textOf } from './json.ts';
import { listening, untimed } from './listening.ts';
import type { FaultRule } from './openai-chat-quirks.ts';
import { transcriptQuantities } from './transcript-usage.ts';

/**
 * openrouter.ai/docs/features/multimodal/audio, 2026-08, and recorded: the recording in base64 in
 * JSON, and a text with its seconds back.
 */
export const openrouterTranscriptions = (faults: readonly FaultRule[]): SoundAdapter =>
  listening({
    formats: untimed,
    faults,
    ask: (call, { file, format, language, temperature }) => {
      const beside = {
        ...(language === undefined ? {} : { language }),
        ...(temperature === undefined ? {} : { temperature }),
      };
      const members = Object.entries(beside).map(
        ([name, value]) => `,"${name}":${JSON.stringify(value)}`,
      );
      return {
        path: '/audio/transcriptions',
        headers: { 'content-type': 'application/json' },
        body: Buffer.from(
          `{"model":${jsonText(call.upstreamModel)}${members.join('')},"input_audio":{"format":"${format}","data":"`,
        ),
        rest: [{ file, as: 'base64' }, Buffer.from('"}}')],
      };
    },
    read: (answer) => {
      const text = textOf(answer['text']);
      return text === undefined
        ? undefined
        : { transcript: { text }, quantities: transcriptQuantities(answer) };
    },
  });
