import type { IncomingMessage } from 'node:http';
import type { Complaint } from '../dialect.ts';
import { list, object, objectIn, text } from '../json.ts';
import { readForm } from '../media/form.ts';
import { countTokens } from '../tokens.ts';
import { type Transcript, sentences, timed } from './transcript.ts';
import type { SoundScenario, SoundReply } from './play.ts';

/** A transcription request in a vendor's own format. */
export interface TranscriptionCall {
  readonly model: string;
  readonly file: Buffer | undefined;
  readonly complaint?: Complaint | undefined;
  /** The other parameters. */
  readonly fields: ReadonlyMap<string, string>;
}

export interface OwnTranscription {
  readonly take: (
    incoming: IncomingMessage,
    body: Buffer,
    query: URLSearchParams,
  ) => TranscriptionCall;
  readonly show: (
    transcript: Transcript,
    given: TranscriptionCall,
    scenario: SoundScenario,
  ) => SoundReply;
}

const json = (value: unknown): SoundReply => ({
  whole: JSON.stringify(value),
  type: 'application/json',
});
const nothing = { model: '', file: undefined, fields: new Map<string, string>() };
const unreadable: TranscriptionCall = {
  ...nothing,
  complaint: { message: 'the body cannot be read' },
};

function fromForm(
  incoming: IncomingMessage,
  body: Buffer,
  modelField: string,
  known: string,
): TranscriptionCall {
  const form = readForm(incoming.headers, body);
  if (form === undefined) return unreadable;
  const fields = new Map(form.parts);
  const file = form.files.at(-1);
  const stranger = form.parts.find(([name]) => !known.split(' ').includes(name))?.[0];
  const complaint =
    stranger === undefined ? undefined : { message: `unknown field ${stranger}`, param: stranger };
  return {
    model: fields.get(modelField) ?? '',
    file: file?.name === 'file' ? file.bytes : undefined,
    fields,
    complaint,
  };
}

/** docs.x.ai/docs/api-reference#speech-to-text, and recorded: the file must be the last field. */
export const xai: OwnTranscription = {
  take(incoming, body) {
    const given = fromForm(
      incoming,
      body,
      'none',
      'file url language format diarize multichannel audio_format sample_rate',
    );
    const last = [...given.fields.keys()].at(-1);
    const early = last === 'file' ? undefined : { message: 'the file has to be the last field' };
    const unformatted =
      given.fields.get('format') === 'true' && !given.fields.has('language')
        ? { message: '`format` needs a `language`' }
        : undefined;
    return { ...given, model: 'grok-stt', complaint: given.complaint ?? early ?? unformatted };
  },
  show: (transcript) =>
    json({
      text: transcript.text,
      language: 'en',
      duration: transcript.seconds,
      words: timed(transcript).map(({ word, ...times }) => ({ text: word, ...times })),
    }),
};

/** elevenlabs.io/docs/api-reference/speech-to-text/convert, and recorded. */
export const elevenlabs: OwnTranscription = {
  take(incoming, body) {
    const given = fromForm(
      incoming,
      body,
      'model_id',
      'model_id file language_code tag_audio_events num_speakers timestamps_granularity diarize temperature seed',
    );
    return given.model === ''
      ? { ...given, complaint: { message: 'Field required', param: 'model_id', status: 422 } }
      : given;
  },
  show(transcript, { fields }) {
    const speaker = fields.get('diarize') === 'true' ? { speaker_id: 'speaker_0' } : {};
    const words = timed(transcript).flatMap(({ word, start, end }, i) => [
      ...(i === 0
        ? []
        : [{ text: ' ', start, end: start, type: 'spacing', ...speaker, logprob: 0 }]),
      { text: word, start, end, type: 'word', ...speaker, logprob: 0 },
    ]);
    return json({ language_code: 'eng', language_probability: 0.97, text: transcript.text, words });
  },
};

/** developers.deepgram.com/reference/speech-to-text/listen-pre-recorded, and recorded. */
export const deepgram: OwnTranscription = {
  take(incoming, body, query) {
    const type = incoming.headers['content-type'] ?? '';
    const wrong = /^(?:audio|video)\//.test(type)
      ? undefined
      : { message: 'Bad Request: failed to process audio: corrupt or unsupported data' };
    const model = query.get('model') ?? '';
    return {
      model,
      file: body,
      fields: new Map(query),
      complaint: model === '' ? { message: 'a model is required' } : wrong,
    };
  },
  show(transcript, { fields }) {
    const speaker = fields.get('diarize') === 'true' ? { speaker: 0 } : {};
    const written = (of: Transcript): unknown[] =>
      timed(of).map(({ word, start, end }) => ({
        word: word.toLowerCase().replace(/\W/g, ''),
        start,
        end,
        confidence: 0.99,
        punctuated_word: word,
        ...speaker,
      }));
    const alternatives = [
      { transcript: transcript.text, confidence: 0.99, words: written(transcript) },
    ];
    const utterances = sentences(transcript).map(({ text: transcript, start, end }, i) => ({
      start,
      end,
      confidence: 0.99,
      channel: 0,
      transcript,
      ...speaker,
      id: `u${i}`,
    }));
    const found =
      fields.get('detect_language') === 'true'
        ? { detected_language: 'en', language_confidence: 0.99 }
        : {};
    return json({
      metadata: {
        transaction_key: 'deprecated',
        request_id: 'dg-sim',
        duration: transcript.seconds,
        channels: 1,
        models: ['sim'],
      },
      results: {
        channels: [{ alternatives, ...found }],
        ...(fields.get('utterances') === 'true' ? { utterances } : {}),
      },
    });
  },
};

/** help.aliyun.com/zh/model-studio/qwen-asr-api-reference: a chat request with one recording. */
export const qwen: OwnTranscription = {
  take(_, body) {
    const raw = objectIn(body) ?? {};
    const messages = list(raw['messages']).map(object);
    const part = object(list(messages.at(-1)?.['content'])[0]);
    const data = /^data:audio\/[\w.+-]+;base64,([\w+/=]+)$/.exec(
      text(object(part['input_audio'])['data']) ?? '',
    )?.[1];
    const complaint =
      part['type'] !== 'input_audio' || data === undefined
        ? { message: 'The audio is empty', code: 'invalid_parameter_error' }
        : undefined;
    return {
      model: text(raw['model']) ?? '',
      file: data === undefined ? undefined : Buffer.from(data, 'base64'),
      fields: new Map(),
      complaint,
    };
  },
  show(transcript, { model }, { silent }) {
    const audio = Math.ceil(transcript.seconds * 25);
    const output = countTokens(transcript.text);
    const usage = {
      prompt_tokens: audio + 10,
      completion_tokens: output,
      total_tokens: audio + 10 + output,
      seconds: Math.ceil(transcript.seconds),
      prompt_tokens_details: {
        audio_tokens: audio,
        text_tokens: 10,
      },
    };
    const message = {
      role: 'assistant',
      content: transcript.text,
      annotations: [{ language: 'en', type: 'audio_info', emotion: 'neutral' }],
    };
    return json({
      id: 'chatcmpl-sim',
      object: 'chat.completion',
      model,
      choices: [{ index: 0, finish_reason: 'stop', message }],
      ...(silent ? {} : { usage }),
    });
  },
};

/** Recorded: the recording in base64 in JSON. */
export const openrouter: OwnTranscription = {
  take(_, body) {
    const raw = objectIn(body) ?? {};
    const { data, format } = object(raw['input_audio']);
    const complaint =
      typeof data === 'string' && typeof format === 'string'
        ? undefined
        : { message: 'input_audio needs data and format' };
    return {
      model: text(raw['model']) ?? '',
      file: Buffer.from(text(data) ?? '', 'base64'),
      fields: new Map(),
      complaint,
    };
  },
  show: (transcript, _, { silent }) =>
    json({
      text: transcript.text,
      ...(silent ? {} : { usage: { cost: 0.0006, seconds: Math.ceil(transcript.seconds) } }),
    }),
};
