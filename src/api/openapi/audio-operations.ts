import { transcriptFormats, speechFormats } from '../../providers/media-request.ts';
import {
  speechCharactersMax,
  speechSpeedMax,
  speechSpeedMin,
  translationFormats,
} from '../audio.ts';
import {
  type Operations,
  answerSchema,
  requestSchema,
  arraySchema,
  numberSchema,
  oneOfSchema,
  onlyWith,
  schemaRef,
  type Schema,
  stringSchema,
  enumSchema,
} from './schema.ts';

const recording: Schema = {
  type: 'string',
  format: 'binary',
  description: 'flac, mp3, mp4, mpeg, mpga, m4a, ogg, wav or webm, up to 25 MiB.',
};
const transcriptionFields = (formats: readonly string[]): Readonly<Record<string, Schema>> => ({
  prompt: stringSchema('Words that may occur.'),
  response_format: enumSchema('How the text comes; `json` by default.', formats),
  temperature: numberSchema('Sampling temperature.', 0, 1),
});

const script = answerSchema(
  { text: stringSchema('What was said.') },
  {
    language: stringSchema('Of `verbose_json`.'),
    duration: { type: 'number', description: 'Seconds.' },
    segments: arraySchema('Of `verbose_json` and `diarized_json`.', { type: 'object' }),
    words: arraySchema('Where they were asked for.', { type: 'object' }),
    usage: { type: 'object', description: 'Tokens or seconds.' },
  },
);
const captions = stringSchema('Of `text`, `srt` and `vtt`.');

export const audioOperations: Operations = {
  'POST /audio/transcriptions': {
    id: 'createTranscription',
    tag: 'Audio',
    summary: 'Write down what is said',
    schemas: {
      TranscriptionForm: {
        ...requestSchema(
          { model: stringSchema('A model that hears.', { minLength: 1 }), file: recording },
          {
            ...transcriptionFields(transcriptFormats),
            language: stringSchema('ISO 639, such as `en` or `zh`.', {
              pattern: '^[A-Za-z]+(?:[-_][A-Za-z0-9]+)*$',
            }),
            stream: enumSchema('Pieces as events.', ['true', 'false']),
            'timestamp_granularities[]': enumSchema(
              'Times of what; with `verbose_json`. May be repeated.',
              ['word', 'segment'],
            ),
            'include[]': enumSchema('What else to tell; with `json`.', ['logprobs']),
          },
        ),
        allOf: [
          onlyWith('timestamp_granularities[]', { response_format: { const: 'verbose_json' } }),
        ],
      },
      Transcription: script,
    },
    body: { 'multipart/form-data': schemaRef('TranscriptionForm') },
    answer: {
      'application/json': schemaRef('Transcription'),
      'text/plain': captions,
      'text/event-stream': stringSchema('`transcript.text.delta`, `transcript.text.done`.'),
    },
  },
  'POST /audio/translations': {
    id: 'createTranslation',
    tag: 'Audio',
    summary: 'Write down in English what is said in any language',
    schemas: {
      TranslationForm: requestSchema(
        { model: stringSchema('A model that translates.', { minLength: 1 }), file: recording },
        transcriptionFields(translationFormats),
      ),
    },
    body: { 'multipart/form-data': schemaRef('TranslationForm') },
    answer: { 'application/json': schemaRef('Transcription'), 'text/plain': captions },
  },
  'POST /audio/speech': {
    id: 'createSpeech',
    tag: 'Audio',
    summary: 'Read a text aloud',
    schemas: {
      SpeechRequest: requestSchema(
        {
          model: stringSchema('A model that speaks.', { minLength: 1 }),
          input: stringSchema('The text.', { minLength: 1, maxLength: speechCharactersMax }),
          voice: oneOfSchema(
            'Its name, or an object with the `id` of a voice of your own.',
            { type: 'string', minLength: 1 },
            requestSchema({ id: stringSchema('Of the voice.') }),
          ),
        },
        {
          instructions: stringSchema('How it is read.', { maxLength: speechCharactersMax }),
          response_format: enumSchema(
            'The sound’s format; mp3 where the vendor makes it.',
            speechFormats,
          ),
          speed: numberSchema('1 by default.', speechSpeedMin, speechSpeedMax),
          stream_format: enumSchema('Bytes, or events.', ['audio', 'sse']),
        },
      ),
    },
    body: { 'application/json': schemaRef('SpeechRequest') },
    answer: {
      'audio/*': { type: 'string', format: 'binary', description: 'The sound, as it is made.' },
      'text/event-stream': stringSchema('`speech.audio.delta`, `speech.audio.done`.'),
    },
  },
};
