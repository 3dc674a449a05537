import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseRequest } from '../chat.ts';
import type { Complaint, Dialect } from '../dialect.ts';
import { type Json, number, text } from '../json.ts';
import { sounds } from '../media/sounds.ts';
import { secondsOf } from '../media/wav.ts';
import type { Once } from '../scenario.ts';
import { countTokens } from '../tokens.ts';
import { complain, inPieces, play, type SoundScenario, type SoundReply } from './play.ts';

/** The parameters of a vendor with OpenAI's speech. */
export interface SpeechRules {
  readonly only?: readonly string[];
  /** The first is the default. */
  readonly formats: readonly string[];
  readonly voices?: RegExp;
  readonly events?: (model: string) => boolean;
  /** Its response is JSON. */
  readonly json?: true;
}

const names = (words: string): readonly string[] => words.split(' ');
const openAiVoices =
  /^(?:alloy|ash|ballad|coral|echo|fable|nova|onyx|sage|shimmer|verse|marin|cedar|voice_\w+)$/;

/** CreateSpeechRequest of the OpenAPI description, 2026-08-21. */
const openAi: SpeechRules = {
  only: names('model input voice instructions response_format speed stream_format'),
  formats: names('mp3 opus aac flac wav pcm'),
  voices: openAiVoices,
  events: (model) => !model.startsWith('tts-'),
};

export const speechRules: Readonly<Record<string, SpeechRules>> = {
  openai: openAi,
  azure: openAi,
  // console.groq.com/docs/text-to-speech
  groq: {
    only: names('model input voice response_format sample_rate speed'),
    formats: ['wav'],
    voices: /^(?!alloy$)\w+$/,
  },
  // docs.mistral.ai/api/endpoint/audio/speech, and recorded
  mistral: {
    only: names('model input voice voice_id ref_audio response_format stream metadata'),
    formats: names('mp3 wav pcm flac opus'),
    json: true,
  },
  together: { formats: names('mp3 wav pcm') },
  siliconflow: {
    only: names('model input voice response_format sample_rate stream speed gain'),
    formats: names('mp3 opus wav pcm'),
  },
  zhipu: {
    only: names(
      'model input voice speed volume response_format encode_format stream watermark_enabled',
    ),
    formats: names('wav pcm'),
  },
};

const charactersMax = 4_096;

export async function speak(
  incoming: IncomingMessage,
  response: ServerResponse,
  body: Buffer,
  dialect: Dialect,
  rules: SpeechRules,
  once: Once,
): Promise<void> {
  const parsed = parseRequest(incoming, response, body, { dialect, deployment: undefined });
  if (parsed === undefined) return;
  const { raw, named, model } = parsed;
  const complaint = speechComplaint(raw, model, rules);
  if (complaint !== undefined) return complain(response, dialect, complaint, model);
  await play(response, once, dialect, named, text(raw['input']) ?? '', (scenario) =>
    show(raw, rules, scenario),
  );
}

function speechComplaint(
  raw: Json,
  model: string,
  { only, formats, voices, events }: SpeechRules,
): Complaint | undefined {
  const stranger = only && Object.keys(raw).find((name) => !only.includes(name));
  if (stranger !== undefined)
    return { message: `Unrecognized request argument supplied: ${stranger}`, param: stranger };
  const input = text(raw['input']);
  if (input === undefined || input === '')
    return { message: 'input must be a text', param: 'input' };
  if ([...input].length > charactersMax)
    return { message: `String should have at most ${charactersMax} characters`, param: 'input' };
  const voice = text(raw['voice']);
  if (voice === undefined || (voices !== undefined && !voices.test(voice)))
    return { message: `unknown voice ${String(voice)}`, param: 'voice' };
  const format = raw['response_format'] ?? formats[0];
  if (typeof format !== 'string' || !formats.includes(format))
    return {
      message: `response_format must be one of ${formats.join(', ')}`,
      param: 'response_format',
    };
  const speed = number(raw['speed']);
  if (speed !== undefined && (speed < 0.25 || speed > 4))
    return { message: 'speed must be between 0.25 and 4', param: 'speed' };
  if (raw['stream_format'] === 'sse' && !events?.(model))
    return { message: `stream_format sse is not supported for ${model}`, param: 'stream_format' };
  return undefined;
}

const tokensPerSecond = 20;

function show(
  raw: Json,
  { formats, json }: SpeechRules,
  { silent, empty }: SoundScenario,
): SoundReply {
  const input = text(raw['input']) ?? '';
  const { type, make } = sounds[String(raw['response_format'] ?? formats[0])] ?? {
    type: '',
    make: () => Buffer.alloc(0),
  };
  const bytes = empty ? Buffer.alloc(0) : make(input);
  if (json)
    return {
      whole: JSON.stringify({ audio_data: bytes.toString('base64') }),
      type: 'application/json',
    };
  if (raw['stream_format'] !== 'sse') return { pieces: inPieces(bytes), type };
  const output = Math.ceil(secondsOf(input) * tokensPerSecond);
  const tokens = countTokens(input);
  const usage = { input_tokens: tokens, output_tokens: output, total_tokens: tokens + output };
  const done = { type: 'speech.audio.done', ...(silent ? {} : { usage }) };
  const events = [
    ...inPieces(bytes).map((piece) => ({
      type: 'speech.audio.delta',
      audio: piece.toString('base64'),
    })),
    done,
  ];
  return {
    pieces: events.map((event) => `data: ${JSON.stringify(event)}\n\n`),
    type: 'text/event-stream; charset=utf-8',
  };
}
