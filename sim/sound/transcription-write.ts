import { countTokens } from '../tokens.ts';
import { type Transcript, sentences, timed } from './transcript.ts';
import type { SoundReply } from './play.ts';

const json = (value: unknown): SoundReply => ({
  whole: JSON.stringify(value),
  type: 'application/json',
});
const plain = (whole: string): SoundReply => ({ whole, type: 'text/plain; charset=utf-8' });

const clock = (seconds: number, point: string): string =>
  new Date(Math.round(seconds * 1_000)).toISOString().slice(11, 23).replace('.', point);

const tokensPerSecond = 10;

/** Tokens as gpt-4o-transcribe counts them (recorded): ten a second of sound. */
export function tokensOf({ text, seconds }: Transcript): object {
  const audio = Math.ceil(seconds * tokensPerSecond);
  const output = countTokens(text);
  return {
    type: 'tokens',
    total_tokens: audio + output,
    input_tokens: audio,
    input_token_details: { text_tokens: 0, audio_tokens: audio },
    output_tokens: output,
  };
}

export const secondsUsage = ({ seconds }: Transcript): object => ({
  type: 'duration',
  seconds: Math.ceil(seconds),
});

/** OpenAI's response for each format. */
export function written(
  transcript: Transcript,
  format: string,
  usage: object | undefined,
  granularities: readonly string[],
): SoundReply {
  const { text, seconds } = transcript;
  const parts = sentences(transcript);
  const usageMember = usage === undefined ? {} : { usage };
  if (format === 'text') return plain(`${text}\n`);
  if (format === 'srt')
    return plain(
      parts
        .map(
          (part, i) =>
            `${i + 1}\n${clock(part.start, ',')} --> ${clock(part.end, ',')}\n${part.text}\n\n`,
        )
        .join(''),
    );
  if (format === 'vtt')
    return plain(
      `WEBVTT\n\n${parts.map((part) => `${clock(part.start, '.')} --> ${clock(part.end, '.')}\n${part.text}\n\n`).join('')}`,
    );
  if (format === 'diarized_json') {
    const segments = parts.map((part, i) => ({
      type: 'transcript.text.segment',
      text: part.text,
      speaker: i % 2 ? 'B' : 'A',
      start: part.start,
      end: part.end,
      id: `seg_${i}`,
    }));
    return json({ text, task: 'transcribe', duration: seconds, segments, ...usageMember });
  }
  if (format !== 'verbose_json') return json({ text, ...usageMember });
  const segments = parts.map((part, id) => ({
    id,
    seek: 0,
    start: part.start,
    end: part.end,
    text: ` ${part.text}`,
    tokens: [50364],
    temperature: 0,
    ...{
      avg_logprob: -0.2,
      compression_ratio: 1.1,
      no_speech_prob: 0.01,
    },
  }));
  return json({
    task: 'transcribe',
    language: 'english',
    duration: seconds,
    text,
    ...(granularities.length === 0 || granularities.includes('segment') ? { segments } : {}),
    ...(granularities.includes('word') ? { words: timed(transcript) } : {}),
    ...usageMember,
  });
}

/** The transcription as events, word by word. */
export function streamed({ text }: Transcript, usage: object | undefined): SoundReply {
  const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
  const words = text.match(/\s*\S+/g) ?? [];
  const done = { type: 'transcript.text.done', text, ...(usage === undefined ? {} : { usage }) };
  const pieces = [...words.map((delta) => ({ type: 'transcript.text.delta', delta })), done].map(
    event,
  );
  return { pieces, type: 'text/event-stream; charset=utf-8', end: 'data: [DONE]\n\n' };
}
