import type { Complaint } from '../dialect.ts';
import { type Json, list, number, object, text } from '../json.ts';
import { sounds } from '../media/sounds.ts';
import { sampleHz, samplesOf, secondsOf } from '../media/wav.ts';
import { countTokens } from '../tokens.ts';
import type { SoundScenario, SoundReply } from './play.ts';
import { inPieces } from './play.ts';

/** A vendor's own format of speech requests. */
export interface OwnSpeech {
  readonly model: (raw: Json, path: string, query: URLSearchParams) => string;
  readonly input: (raw: Json) => string | undefined;
  readonly complaint: (raw: Json, path: string, query: URLSearchParams) => Complaint | undefined;
  readonly show: (raw: Json, query: URLSearchParams, scenario: SoundScenario) => SoundReply;
}

const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const events = (all: readonly unknown[]): SoundReply => ({
  pieces: all.map(event),
  type: 'text/event-stream; charset=utf-8',
});
const strange = (raw: Json, known: string): Complaint | undefined => {
  const stranger = Object.keys(raw).find((name) => !known.split(' ').includes(name));
  return stranger === undefined
    ? undefined
    : { message: `unknown field ${stranger}`, param: stranger };
};
const audioReply = (format: string, input: string): SoundReply => {
  const { type, make } = sounds[format] ?? { type: '', make: () => Buffer.alloc(0) };
  return { pieces: inPieces(make(input)), type };
};

/** elevenlabs.io/docs/api-reference/text-to-speech/stream */
export const elevenlabs: OwnSpeech = {
  model: (raw) => text(raw['model_id']) ?? 'eleven_multilingual_v2',
  input: (raw) => text(raw['text']),
  complaint: (raw, path, query) => {
    if (!/^\/text-to-speech\/[A-Za-z0-9]{20}\/stream$/.test(path))
      return {
        message: 'A voice with that voice_id was not found.',
        code: 'voice_not_found',
        status: 404,
      };
    if (
      !/^(?:mp3_(?:22050_32|44100_(?:32|64|96|128|192))|pcm_(?:16000|22050|24000|44100)|opus_48000_(?:32|64|96|128|192))$/.test(
        query.get('output_format') ?? 'mp3_44100_128',
      )
    )
      return { message: 'Invalid output format', code: 'invalid_output_format', status: 422 };
    const speed = number(object(raw['voice_settings'])['speed']);
    if (speed !== undefined && (speed < 0.7 || speed > 1.2))
      return { message: 'speed must be between 0.7 and 1.2', code: 'invalid_voice_settings' };
    return strange(raw, 'text model_id language_code voice_settings seed previous_text next_text');
  },
  show: (raw, query) =>
    audioReply(query.get('output_format')?.split('_')[0] ?? 'mp3', text(raw['text']) ?? ''),
};

/** developers.deepgram.com/reference/text-to-speech/speak-request */
export const deepgram: OwnSpeech = {
  model: (_, __, query) => query.get('model') ?? '',
  input: (raw) => text(raw['text']),
  complaint: (raw, _, query) => {
    if ((text(raw['text']) ?? '').length > 2_000)
      return { message: 'Input text exceeds maximum character limit of 2000.', status: 413 };
    if (!/^(?:mp3|opus|aac|flac|linear16)$/.test(query.get('encoding') ?? 'mp3'))
      return { message: 'Failed to parse the encoding' };
    if (query.get('container') === 'wav' && query.get('encoding') !== 'linear16')
      return { message: 'Unsupported container for this encoding' };
    return strange(raw, 'text');
  },
  show(raw, query) {
    const encoding = query.get('encoding') ?? 'mp3';
    return audioReply(
      encoding !== 'linear16' ? encoding : query.get('container') === 'none' ? 'pcm' : 'wav',
      text(raw['text']) ?? '',
    );
  },
};

/** docs.x.ai/docs/api-reference#text-to-speech */
export const xai: OwnSpeech = {
  model: () => 'grok-tts',
  input: (raw) => text(raw['text']),
  complaint: (raw) => {
    const format = object(raw['output_format']);
    if (text(raw['language']) === undefined) return { message: 'missing field `language`' };
    if (!['mp3', 'wav', 'pcm', 'mulaw', 'alaw'].includes(String(format['codec'] ?? 'mp3')))
      return { message: 'unknown codec' };
    return strange(raw, 'text voice_id language output_format');
  },
  show: (raw) =>
    audioReply(String(object(raw['output_format'])['codec'] ?? 'mp3'), text(raw['text']) ?? ''),
};

/** platform.minimax.io/docs/api-reference/speech-t2a-http */
export const minimax: OwnSpeech = {
  model: (raw) => text(raw['model']) ?? '',
  input: (raw) => text(raw['text']),
  complaint: (raw) => {
    const setting = object(raw['voice_setting']);
    if (text(setting['voice_id']) === undefined)
      return { message: 'invalid params, voice_id is required' };
    const speed = number(setting['speed']);
    if (speed !== undefined && (speed < 0.5 || speed > 2))
      return { message: 'invalid params, speed' };
    if (
      !['mp3', 'pcm', 'flac', 'wav'].includes(
        String(object(raw['audio_setting'])['format'] ?? 'mp3'),
      )
    )
      return { message: 'invalid params, format' };
    return undefined;
  },
  show(raw) {
    const input = text(raw['text']) ?? '';
    const bytes =
      sounds[String(object(raw['audio_setting'])['format'] ?? 'mp3')]?.make(input) ??
      Buffer.alloc(0);
    const base = { base_resp: { status_code: 0, status_msg: '' }, trace_id: 'trace-1' };
    const parts = inPieces(bytes).map((piece) => ({
      data: { audio: piece.toString('hex'), status: 1 },
      ...base,
    }));
    const whole =
      object(raw['stream_options'])['exclude_aggregated_audio'] === true
        ? ''
        : bytes.toString('hex');
    const last = {
      data: { audio: whole, status: 2 },
      extra_info: { audio_length: secondsOf(input) * 1_000, usage_characters: [...input].length },
      ...base,
    };
    return events([...parts, last]);
  },
};

/** help.aliyun.com/zh/model-studio/qwen-tts-api */
export const dashscope: OwnSpeech = {
  model: (raw) => text(raw['model']) ?? '',
  input: (raw) => text(object(raw['input'])['text']),
  complaint: (raw) => {
    const { voice } = object(raw['input']);
    if (typeof voice !== 'string' || !/^[A-Z][a-z]+$/.test(voice))
      return { message: 'voice is not supported', code: 'InvalidParameter' };
    return strange(object(raw['input']), 'text voice language_type instructions');
  },
  show(raw, _, { silent }) {
    const input = text(object(raw['input'])['text']) ?? '';
    const request = { request_id: 'a7f3-sim' };
    const pieces = inPieces(samplesOf(input)).map((piece, i) => ({
      output: {
        audio: { data: piece.toString('base64'), expires_at: 1_795_000_000, id: `audio_${i}` },
        finish_reason: 'null',
      },
      ...request,
    }));
    const usage = silent ? {} : { usage: { characters: [...input].length } };
    const last = {
      output: {
        audio: { data: '', url: 'https://dashscope-result.example/voice.wav', id: 'audio' },
        finish_reason: 'stop',
      },
      ...usage,
      ...request,
    };
    return events([...pieces, last]);
  },
};

/** ai.google.dev/gemini-api/docs/speech-generation */
export const gemini: OwnSpeech = {
  model: (_, path) => decodeURIComponent(/\/models\/([^:/]+)/.exec(path)?.[1] ?? ''),
  input: (raw) => text(object(list(object(list(raw['contents'])[0])['parts'])[0])['text']),
  complaint: (raw) => {
    const config = object(raw['generationConfig']);
    if (JSON.stringify(config['responseModalities']) !== '["AUDIO"]')
      return {
        message:
          'The requested combination of response modalities (TEXT) is not supported by the model.',
      };
    const name = text(
      object(object(object(config['speechConfig'])['voiceConfig'])['prebuiltVoiceConfig'])[
        'voiceName'
      ],
    );
    if (name === undefined || !/^[A-Z][a-z]+$/.test(name))
      return { message: `Voice name ${String(name)} is not supported.` };
    return strange(raw, 'contents generationConfig');
  },
  show(raw, _, { silent }) {
    const input = this.input(raw) ?? '';
    const audio = Math.ceil(secondsOf(input) * 25);
    const tokens = countTokens(input);
    const usageMetadata = {
      promptTokenCount: tokens,
      candidatesTokenCount: audio,
      totalTokenCount: tokens + audio,
      promptTokensDetails: [
        {
          modality: 'TEXT',
          tokenCount: tokens,
        },
      ],
      candidatesTokensDetails: [
        {
          modality: 'AUDIO',
          tokenCount: audio,
        },
      ],
    };
    const mimeType = `audio/L16;codec=pcm;rate=${sampleHz}`;
    const pieces = inPieces(samplesOf(input), 12_000).map((piece) => ({
      candidates: [
        {
          content: {
            parts: [{ inlineData: { mimeType, data: piece.toString('base64') } }],
            role: 'model',
          },
          index: 0,
        },
      ],
      modelVersion: 'gemini-tts',
    }));
    const end = {
      candidates: [{ content: { role: 'model' }, finishReason: 'STOP', index: 0 }],
      ...(silent ? {} : { usageMetadata }),
    };
    return events([...pieces, end]);
  },
};
