import { scripts, voices } from '../../providers/sound-wish.ts';
import { charactersMax, fastest, slowest } from '../speech.ts';
import { translated } from '../transcriptions.ts';
import type { Operations } from './operation.ts';
import {
  answered,
  asked,
  list,
  number,
  oneOf,
  onlyBeside,
  ref,
  type Schema,
  text,
  word,
} from './schema.ts';

const recording: Schema = {
  type: 'string',
  format: 'binary',
  description: 'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to 25 MiB.',
};
const heard = (formats: readonly string[]): Readonly<Record<string, Schema>> => ({
  prompt: text('Words that may occur.'),
  response_format: word('How the text comes; `json` by default.', formats),
  temperature: number('Sampling temperature.', 0, 1),
});

const script = answered(
  { text: text('What was said.') },
  {
    language: text('Of `verbose_json`.'),
    duration: { type: 'number', description: 'Seconds.' },
    segments: list('Of `verbose_json` and `diarized_json`.', { type: 'object' }),
    words: list('Where they were asked for.', { type: 'object' }),
    usage: { type: 'object', description: 'Tokens or seconds.' },
  },
);
const captions = text('Of `text`, `srt` and `vtt`.');

export const audioOperations: Operations = {
  'POST /audio/transcriptions': {
    id: 'createTranscription',
    tag: 'Audio',
    summary: 'Write down what is said',
    schemas: {
      TranscriptionForm: {
        ...asked(
          { model: text('A model that hears.', { minLength: 1 }), file: recording },
          {
            ...heard(scripts),
            language: text('ISO 639, such as `en` or `zh`.', {
              pattern: '^[A-Za-z]+(?:[-_][A-Za-z0-9]+)*$',
            }),
            stream: word('Pieces as events.', ['true', 'false']),
            'timestamp_granularities[]': word(
              'Times of what; with `verbose_json`. May be repeated.',
              ['word', 'segment'],
            ),
            'include[]': word('What else to tell; with `json`.', ['logprobs']),
          },
        ),
        allOf: [
          onlyBeside('timestamp_granularities[]', { response_format: { const: 'verbose_json' } }),
        ],
      },
      Transcription: script,
    },
    body: { 'multipart/form-data': ref('TranscriptionForm') },
    answer: {
      'application/json': ref('Transcription'),
      'text/plain': captions,
      'text/event-stream': text('`transcript.text.delta`, `transcript.text.done`.'),
    },
  },
  'POST /audio/translations': {
    id: 'createTranslation',
    tag: 'Audio',
    summary: 'Write down in English what is said in any language',
    schemas: {
      TranslationForm: asked(
        { model: text('A model that translates.', { minLength: 1 }), file: recording },
        heard(translated),
      ),
    },
    body: { 'multipart/form-data': ref('TranslationForm') },
    answer: { 'application/json': ref('Transcription'), 'text/plain': captions },
  },
  'POST /audio/speech': {
    id: 'createSpeech',
    tag: 'Audio',
    summary: 'Read a text aloud',
    schemas: {
      SpeechRequest: asked(
        {
          model: text('A model that speaks.', { minLength: 1 }),
          input: text('The text.', { minLength: 1, maxLength: charactersMax }),
          voice: oneOf(
            'Its name, or an object with the `id` of a voice of your own.',
            { type: 'string', minLength: 1 },
            asked({ id: text('Of the voice.') }),
          ),
        },
        {
          instructions: text('How it is read.', { maxLength: charactersMax }),
          response_format: word('The sound’s format; mp3 where the vendor makes it.', voices),
          speed: number('1 by default.', slowest, fastest),
          stream_format: word('Bytes, or events.', ['audio', 'sse']),
        },
      ),
    },
    body: { 'application/json': ref('SpeechRequest') },
    answer: {
      'audio/*': { type: 'string', format: 'binary', description: 'The sound, as it is made.' },
      'text/event-stream': text('`speech.audio.delta`, `speech.audio.done`.'),
    },
  },
};
